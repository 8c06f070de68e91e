"""A pipeline or model with a damaged file: exit 4 with folder and cause, or the same figures."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import grammeter as gm
import made_models
from grammeter.errant import shipped_pipeline

CORPUS = gm.Corpus(
    sources=["He go to school in yesterday by the bus ."],
    references=[["He went to school by bus yesterday ."]],
    systems={"A": ["He goes school at yesterday with buses ."]},
)
DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda whole: whole[: len(whole) // 2],
    "empty": lambda whole: b"",
    "garbage": lambda whole: random.Random(1).randbytes(max(64, len(whole))),
    "an empty object": lambda whole: b"{}",
}
PIPELINE = sorted(
    path.relative_to(shipped_pipeline()).as_posix()
    for path in shipped_pipeline().rglob("*")
    if path.is_file()
)
MODELS = {
    "bert-uncased": "bertscore(model={}, layer=2)",
    "bart": "bartscore(model={})",
    "gpt2": "scribendi(model={})",
}


def value(spelled: str, *, types: bool = False) -> float:
    return gm.score(CORPUS, [spelled], types=types)[spelled]["A"].value


def damaged(path: Path, kind: str) -> None:
    """Damage one file, or take it away."""
    path.chmod(0o644)
    if kind == "gone":
        path.unlink()
    else:
        path.write_bytes(DAMAGE[kind](path.read_bytes()))


@pytest.mark.parametrize("name", PIPELINE)
def test_a_damaged_pipeline(name: str, tmp_path: Path) -> None:
    pytest.importorskip("spacy", reason="the extra 'errant' is not installed")
    kind = random.Random(name).choice(["cut", "empty", "garbage"])
    shutil.copytree(shipped_pipeline(), tmp_path / "pipeline")
    damaged(tmp_path / "pipeline" / name, kind)
    with pytest.raises(gm.MissingResourceError) as caught:
        value(f"errant(pipeline={tmp_path / 'pipeline'})", types=True)
    assert caught.value.exit_code == 4
    assert str(tmp_path / "pipeline") in str(caught.value)


@pytest.mark.parametrize("name", ["config.cfg", "meta.json", "tokenizer", "parser/model"])
def test_a_pipeline_that_lacks_a_file(name: str, tmp_path: Path) -> None:
    pytest.importorskip("spacy", reason="the extra 'errant' is not installed")
    shutil.copytree(shipped_pipeline(), tmp_path / "pipeline")
    damaged(tmp_path / "pipeline" / name, "gone")
    with pytest.raises(gm.MissingResourceError, match=str(tmp_path / "pipeline")):
        value(f"errant(pipeline={tmp_path / 'pipeline'})", types=True)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    made_models.encoder(folder / "bert-uncased")
    made_models.seq2seq(folder / "bart")
    made_models.causal(folder / "gpt2")
    return folder


@pytest.mark.parametrize("words", ["tokenizer.json", "vocab"])
@pytest.mark.parametrize("kind", [*DAMAGE, "gone"])
@pytest.mark.parametrize("model", MODELS)
def test_a_damaged_model(model: str, kind: str, words: str, made: Path, tmp_path: Path) -> None:
    """``words``: in which file the tokenizer has its words, that of today or the older ones."""
    pytest.importorskip("torch", reason="the extra 'neural' is not installed")
    whole = made / model
    expected = value(MODELS[model].format(whole))
    faults: list[tuple[str, str]] = []
    for number, path in enumerate(sorted(whole.iterdir())):
        if words == "vocab" and path.name in ("tokenizer.json", "merges.txt"):
            continue
        if (path.name, kind) == ("vocab.txt", "cut"):
            continue  # half of a list of words is a list of words
        folder = shutil.copytree(whole, tmp_path / str(number))
        if words == "vocab":
            (folder / "tokenizer.json").unlink()
        damaged(folder / path.name, kind)
        try:
            assert value(MODELS[model].format(folder)) == pytest.approx(expected), path.name
        except gm.MissingResourceError as error:
            faults.append((str(folder), str(error)))
    assert all(folder in error for folder, error in faults), faults
