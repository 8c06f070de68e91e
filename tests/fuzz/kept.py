"""Readers of what our own programs keep: folders of models and runs, caches, databases, keys."""

from __future__ import annotations

import json
import sqlite3
import warnings
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fuzz import samples
from fuzz.trial import Reader, Seeds
from grammeter.engine.job import NAME, Job, Manifest
from grammeter.errant import find_pipeline
from grammeter.errant.parse import FILE as PARSES
from grammeter.errant.parse import ParseCache
from grammeter.errant.tokens import split
from grammeter.llm.cache import FILE as REPLIES
from grammeter.llm.cache import Abilities, Attempts
from grammeter.llm.reply import completion, error_of, has_message, json_object, name_of
from grammeter.llm.transport import Raw, retry_after
from grammeter.meta import parse_betas
from grammeter.metrics.bertscore import read_baseline
from grammeter.models import read_card
from grammeter.models.runtime import FILE as FIGURES
from grammeter.models.runtime import Store

SENTENCE = split("A sentence .")


def alone(path: Path, name: str) -> Path:
    """Return a folder that holds the file under another name, and nothing else."""
    folder = path.with_name("folder")
    folder.mkdir(exist_ok=True)
    for other in folder.iterdir():
        other.unlink()
    (folder / name).write_bytes(path.read_bytes())
    return folder


def _parses(path: Path) -> None:
    kept = ParseCache(alone(path, PARSES), "made up")
    kept.read([SENTENCE])
    kept.write([SENTENCE.with_columns(["a"] * 3, ["B"] * 3, ["C"] * 3)])


def _figures(path: Path) -> None:
    with warnings.catch_warnings(action="ignore"):
        store = Store(alone(path, FIGURES), "made up", 1)
        store.read(["item"])
        import numpy as np

        store.write(["item"], np.ones((1, 1)))


def _replies(path: Path) -> None:
    kept = Attempts(alone(path, REPLIES))
    try:
        kept.histories(["k"], 3)
        kept.abilities("s", "m")
        kept.add(_ATTEMPT)
    finally:
        kept.close()


def _body(path: Path) -> None:
    text = path.read_bytes().decode("utf-8", "replace")
    body = json_object(text)
    for status in (0, 200, 400, 429, 500):
        _ = Raw(status=status, text=text, headers={"retry-after": text[:40]}).failure
    error_of(body)
    if has_message(body):
        completion(body, 3)
    name_of(body, "model")


def _retry(path: Path) -> None:
    text = path.read_bytes().decode("latin-1")
    wait = retry_after({"retry-after": text, "date": text[::-1]})
    assert wait is None or wait >= 0


def _manifest(path: Path) -> None:
    folder = alone(path, NAME)
    Manifest(folder, Job(metrics=("gleu",), references=("reference",)).to_dict(), [folder / "a"])


def _mark(path: Path) -> None:
    from grammeter.training.fit import MARK, begun

    folder = alone(path, MARK)
    (folder / "pairs.jsonl").touch()
    with begun(folder, "impara", {"seed": 1}, resume=True):
        pass


def _checkpoint(path: Path) -> None:
    from safetensors.torch import save_file

    from grammeter.training.fit import FOLDER, LAST, Checkpoint

    folder = path.with_name("model")
    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    state = {"state": path.read_bytes().decode("utf-8", "replace")}
    save_file({}, folder / FOLDER / LAST, metadata=state)
    Checkpoint(folder).last()


def _weights(path: Path) -> None:
    from grammeter.training.fit import BEST, FOLDER, Checkpoint

    folder = path.with_name("model")
    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    (folder / FOLDER / BEST).write_bytes(path.read_bytes())
    Checkpoint(folder).best()


def _draws(path: Path) -> None:
    from grammeter.training import pairs

    folder = alone(path, pairs.RECORD)
    (folder / pairs.PAIRS).write_bytes(PAIR)
    pairs.load_or_draw(folder, _never, 1, 1, False)


def _never() -> Any:
    from grammeter.core import DataError

    raise DataError("nothing to measure", fix="It was damaged so that it is none.")


def _model(path: Path, name: str) -> None:
    from grammeter.models import Runtime, find_model, layer_of
    from grammeter.models.loading import load

    folder = alone(path, name)
    for other, data in _encoder().items():
        if other != name:
            (folder / other).write_bytes(data)
    files = find_model(str(folder))
    layer_of(files, 1)
    load(files, "AutoModel", Runtime(device="cpu"))


def _database(path: Path) -> None:
    from grammeter.campaign import conf

    copy = alone(path, "campaign.db") / "campaign.db"
    conf.configure(copy)
    from django.db import connections

    from grammeter.campaign.services import database

    try:
        database.open_existing(copy)
    finally:
        connections.close_all()


def _key(path: Path) -> None:
    from grammeter.campaign.conf import secret_key

    if path.is_file():  # never the mode of a device
        path.chmod(0o600)
    assert len(secret_key(path)) >= 50


def _answer(path: Path) -> None:
    from grammeter.campaign import conf

    conf.configure(path.with_name("none.db"), serve=True)
    from grammeter.campaign.tasks import Scene
    from grammeter.campaign.views.judging import read_answer

    lines = path.read_bytes().decode("utf-8", "replace").splitlines()
    read_answer(dict(line.partition("=")[::2] for line in lines), Scene([1, 2]))


PAIR = (
    b'{"source": "A b", "low": "A", "high": "B", "low_edits": [0], "high_edits": [],'
    b' "part": "train", "low_impact": 0.25, "high_impact": 0.5, "origin": "a:1"}\n'
)
_ATTEMPT = {
    **{"key": "k", "server": "s", "model": "m", "started": 1.0, "seconds": 1.0, "request": "{}"},
    **{"status": 200, "body": "{}", "state": "ok", "reply": "", "scores": "[1, 2]", "reason": ""},
}


def _kept(make: Callable[[Path], None], name: str) -> Seeds:
    """Return a file that a program of ours writes into a folder."""

    @cache
    def made() -> tuple[bytes, ...]:
        with TemporaryDirectory() as folder:
            make(Path(folder))
            return ((Path(folder) / name).read_bytes(),)

    return made


def _make_parses(folder: Path) -> None:
    ParseCache(folder, "made up").write([SENTENCE.with_columns(["a"] * 3, ["B"] * 3, ["C"] * 3)])


def _make_figures(folder: Path) -> None:
    import numpy as np

    Store(folder, "made up", 1).write(["item"], np.ones((1, 1)))


def _make_replies(folder: Path) -> None:
    kept = Attempts(folder)
    kept.add(_ATTEMPT)
    kept.remember("s", "m", Abilities())
    kept.close()
    with closing(sqlite3.connect(folder / REPLIES)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _make_manifest(folder: Path) -> None:
    Manifest(folder, Job(metrics=("gleu",), references=("reference",)).to_dict(), [])


def _make_mark(folder: Path) -> None:
    from grammeter.training.fit import begun

    with begun(folder, "impara", {"seed": 1}, resume=False):
        pass


def _make_database(folder: Path) -> None:
    from grammeter.campaign import conf

    conf.configure(folder / "campaign.db")
    from django.db import connections

    from grammeter.campaign.services import database

    database.open_or_make(folder / "campaign.db")
    connections.close_all()


@cache
def _encoder() -> dict[str, bytes]:
    import made_models

    with TemporaryDirectory() as name:
        made_models.encoder(name)
        return {path.name: path.read_bytes() for path in Path(name).iterdir()}


@cache
def _tensors() -> bytes:
    import torch
    from safetensors.torch import save

    return save({"a": torch.ones(2, 3)})


def _of_model(name: str) -> Reader:
    return Reader(partial(_model, name=name), lambda: (_encoder()[name],))


def _literal(*values: object) -> Seeds:
    found = tuple(
        value if isinstance(value, bytes) else
        value.encode() if isinstance(value, str) else json.dumps(value).encode()
        for value in values
    )  # fmt: skip
    return lambda: found


def _state() -> tuple[bytes, ...]:
    from grammeter.training.fit import Progress

    return (json.dumps(asdict(Progress())).encode(),)


_CARD = {"kind": "training-card", "metric": "impara", "results": {"test": 0.5}, "options": {}}
_TALLY = {"with_edits": 3, "edits_from": "gold"}
_REPLY = {
    "model": "tiny",
    "choices": [{"finish_reason": "stop", "message": {"content": samples.REPLY}}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 4},
}
_ERROR = {"error": {"message": "slow down", "code": "rate_limit_exceeded", "type": "x"}}
_META = {"lang": "en", "name": "made", "version": "1.0"}
_FORM = "action=submit\nkey=x\nrank-0=1\nrank-1=2\nedit-0-0=valid\nactive=2.5\nwall=3"
_BASELINE = "LAYER,P,R,F\n0,0.5,0.5,0.5\n1,0.25,0.25,0.25\n"
_DATES = ("Wed, 21 Oct 2026 07:28:00 GMT", "17", "1.5")


def _betas(path: Path) -> None:
    parse_betas(path.read_bytes().decode("utf-8", "surrogateescape"))


KEPT: dict[str, Reader] = {
    "parse cache": Reader(_parses, _kept(_make_parses, PARSES), ".sqlite"),
    "figure cache": Reader(_figures, _kept(_make_figures, FIGURES), ".sqlite"),
    "reply cache": Reader(_replies, _kept(_make_replies, REPLIES), ".sqlite"),
    "reply of a server": Reader(_body, _literal(_REPLY, _ERROR)),
    "retry-after": Reader(_retry, _literal(*_DATES)),
    "batch manifest": Reader(_manifest, _kept(_make_manifest, NAME), ".json"),
    "training mark": Reader(_mark, _kept(_make_mark, "training.json"), ".json"),
    "training card": Reader(lambda path: read_card(alone(path, "card.json")), _literal(_CARD)),
    "training draws": Reader(_draws, _literal(_TALLY), ".json"),
    "checkpoint state": Reader(_checkpoint, _state, ".json"),
    "checkpoint weights": Reader(_weights, lambda: (_tensors(),), ".safetensors"),
    "model config": _of_model("config.json"),
    "model tokenizer": _of_model("tokenizer.json"),
    "model tokenizer settings": _of_model("tokenizer_config.json"),
    "model weights": _of_model("model.safetensors"),
    "pipeline meta": Reader(
        lambda path: find_pipeline(str(alone(path, "meta.json"))), _literal(_META)
    ),
    "baseline": Reader(lambda path: read_baseline(str(path), 1), _literal(_BASELINE), ".tsv"),
    "betas": Reader(_betas, _literal("0.1:1:0.1", "0.5,1,2")),
    "campaign database": Reader(_database, _kept(_make_database, "campaign.db"), ".db"),
    "campaign key": Reader(_key, _literal("k" * 86)),
    "campaign answer": Reader(_answer, _literal(_FORM)),
}
"""As ``readers.READERS``."""

NEEDS: Sequence[tuple[str, str, tuple[str, ...]]] = (
    ("pyarrow", "records", ("parquet",)),
    ("django", "campaign", ("checks", "campaign")),
    ("torch", "neural", ("checkpoint", "model", "training")),
)
"""A package, its extra, and what the names of readers that need it have in them."""
