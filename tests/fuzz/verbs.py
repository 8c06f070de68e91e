"""Every verb of the command line: damaged files and options of any value."""

from __future__ import annotations

import argparse
import io
import json
import os
import shutil
import sys
import traceback
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from importlib.util import find_spec
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, cast

import made_models
import made_training
from fuzz import samples
from fuzz.mutations import mutate, packed
from fuzz.trial import Failure, limits
from grammeter.cli.main import main
from grammeter.cli.parser import VERBS, parser_of

CODES = {0, 1, 2, 3, 4, 5, 130}
DATABASE = "campaign.db"

_CORPUS = "-s source.txt -r gold.m2 ref.txt --hyps ALPHA.txt BETA.txt GAMMA.txt"
_JUDGED = f"{_CORPUS} --judgments judgments.jsonl"
_COLUMN = "--reference reference"
_FIT = "--encoder model --epochs 1 --device cpu -o fitted"
LINES: dict[str, Sequence[str]] = {
    "demo": ("demo", "demo -o out.json"),
    "score": (
        f"score {_CORPUS} -m m2 gleu(iterations=3) --format json",
        f"score {_CORPUS} -m errant green imeasure bleu chrf --types --segments - -o out.json",
        f"score {_CORPUS} -m gotoscorer cleme sentm2 --fail-under cleme=0.5 --normalise NFC",
        "score --corpus records.jsonl -m gleu(iterations=2) --segments out.tsv",
        "score --corpus records.jsonl -m bleu green",
    ),
    "compare": (
        "compare score.json --resamples 9 --format json",
        "compare score.json --baseline ALPHA --resamples 9 --test randomisation -o out.json",
    ),
    "explain": ("explain score.json --system BETA --line 2 --format json",),
    "judge": (
        f"judge {_CORPUS} -m llm-s(model=tiny) --dry-run --prices prices.json --format json",
        f"judge {_CORPUS} -m llm-e(model=tiny) --items items.jsonl --offline --cache-dir c",
        f"judge {_CORPUS} -m llm-s(model=tiny) --items judgments.xml --dry-run",
    ),
    "rank": (
        "rank judgments.jsonl --bootstrap 9 --format json -o out.json",
        "rank judgments.xml judgments.csv --by trueskill --bootstrap 3",
        "rank judgments.jsonl --by bradley-terry --bootstrap 9 --hyps ALPHA.txt BETA.txt GAMMA.txt",
        "rank judgments.csv --head-to-head --format json",
        "rank judgments.jsonl --validate 2",
        "rank judgments.jsonl --learning-curve",
    ),
    "agree": (
        "agree judgments.jsonl --format json",
        "agree judgments.xml --correlate -o out.json",
        "agree judgments.csv --kappa orientation-free --format latex",
    ),
    "sample": (
        f"sample {_CORPUS} -n 2 --per-item 2 --judges a b --overlap 1",
        f"sample {_CORPUS} -n 2 --select spread --scores score.json --metric m2 -o out.jsonl",
    ),
    "campaign": (
        f"campaign create fresh {_CORPUS} -n 2 --judges 2",
        f"campaign create fresh {_CORPUS} --items items.jsonl --tutorial checks.jsonl",
        f"campaign create fresh {_CORPUS} -n 2 --task rating --criteria criteria.toml",
        f"campaign import fresh {_JUDGED}",
        f"campaign import fresh {_CORPUS} --judgments judgments.xml",
        "campaign status pilot --format json",
        "campaign status",
        "campaign export pilot",
        "campaign export pilot -o out.xml --details out.jsonl",
        "campaign invite pilot --judges 1 --base-url https://a.example",
        "campaign close pilot",
        "campaign reopen pilot",
        "campaign forget pilot ann",
        "campaign change pilot --rename b",
        "campaign delete pilot",
        "campaign exclude pilot ann --reason x",
        "campaign include pilot ann",
        "campaign backup copy.db",
        "campaign upgrade",
        "campaign organiser olga",
        "campaign status --database campaign.db",
        "campaign export pilot --database campaign.db",
        "campaign serve --port x",
        "campaign serve --database judgments.xml",
    ),
    "meta": (
        "meta system system-scores.tsv human.tsv --format json --resamples 9",
        "meta system score.json rank.json --interval none",
        "meta system score.json judgments.jsonl -o out.json",
        "meta sentence score.json judgments.jsonl --bootstrap 9 --format json",
        "meta sentence segments.tsv judgments.xml --bootstrap 9 --systems ALPHA BETA",
        "meta sentence segments.tsv rated.csv --resamples 9 --missing drop --format json",
        "meta system system-scores.tsv rated.csv --by z-score --drop GAMMA -o out.json",
        f"meta edits edits.csv {_CORPUS} -m m2 gleu --resamples 9 --missing drop",
        "meta edits edits.jsonl -r gold.m2 --resamples 9 --format json",
        "meta edits edits.csv --values values.tsv --missing drop --resamples 9",
        "meta window system-scores.tsv human.tsv --size 2 --format json",
        "meta beta score.json human.tsv -m m2 --beta 0.1:1:0.1 --format json",
        f"meta attack {_CORPUS} -m m2 --attack constant foreign --attacked ref.txt -o out.json",
        "meta maege -r gold.m2 -m gleu(iterations=2) --chains 2 --format json",
    ),
    "report": (
        "report score.json -o out.html --resamples 9",
        "report score.json judgments.jsonl rank.json meta.json -o out.html --resamples 9",
        "report score.json compare.json agree.json -o out.html",
    ),
    "reproduce": ("reproduce", "reproduce grundkiewicz2015 table1", "reproduce none --format json"),
    "combine": (
        f"combine {_CORPUS} --least 2 --edit-rule errant --pipeline plain -o out.txt",
        f"combine {_CORPUS} --by minimum-risk -m gleu(iterations=2) --weights ALPHA=2 -o -",
        f"combine {_CORPUS} -m m2 --oracle edits --format json",
        f"combine {_CORPUS} -m gleu(iterations=2) --oracle sentence -o out.txt",
    ),
    "robustness": (
        "robustness para.txt --hyps variants.txt -m errant(pipeline=plain) --beta 1",
        "robustness para.txt --hyps variants.txt -m errant(pipeline=plain) --resamples 0 -o o.json",
    ),
    "edits": (
        "edits extract -orig source.txt -cor ref.txt ALPHA.txt -out out.m2",
        "edits convert -auto gold.m2 -out out.m2",
        "edits convert -gold gold.m2 -out out.m2",
        "edits compare -hyp gold.m2 -ref gold.m2 -cat 3",
    ),
    "train": (
        f"train impara --parallel gold.m2 {_FIT}",
        f"train impara --parallel source.txt:ref.txt {_FIT}",
        f"train some --scores ratings.csv {_FIT}",
        f"train cross-domain --parallel gold.m2 pairs.tsv {_FIT}",
        "train impacts --parallel gold.m2 --encoder model",
        f"train impara --parallel training.m2 --pairs 40 {_FIT} --format json",
    ),
    "batch": (
        f"batch pairs.jsonl {_COLUMN} -m gleu(iterations=2) --keep gleu(iterations=2)>=0.1 -o out",
        f"batch pairs.tsv pairs.csv {_COLUMN} -m bleu --edits list -o out --format json",
        "batch source.txt:ALPHA.txt:ref.txt -m m2 chrf -o out --output-form jsonl",
    ),
    "data": (
        "data list",
        "data get conll14_test --from archive.zip",
        "data path conll14_test",
        "data get a",
    ),
    "list": ("list", "list gleu --format json", "list nonsense"),
    "cite": ("cite", "cite m2 gleu", "cite nonsense"),
    "completion": ("completion bash", "completion tcsh"),
    "doctor": ("doctor --format json",),
}
"""Verb -> command lines that are right, or nearly."""

assert set(LINES) == set(VERBS)

_ALONE = {
    *("--jobs", "--processes", "--concurrency", "--engine"),
    *("--gpus-per-worker", "--download", "--address", "--device", "--models", "--offline"),
    *("--dry-run", "--debug", "--encoder", "--owner"),
}
"""Not played with: they start processes, call somebody, or show tracebacks."""

_HUGE = str(2**63)
_VALUES = (
    *("0", "-1", "1", "2", "3", "0.5", "nan", "inf", "-inf", "1e400", "1" * 5000, "\x00", "\udcff"),
    *("", " ", "\u0661", "\u2028", "-", "--", "none", "a=b", "m2(", "gleu(order=0)", "10%", "200%"),
    *("ALPHA", "ALPHA.txt", "gold.m2", "score.json", "judgments.xml", ".", "missing/x", "*"),
    *("m2(beta=nan)", "bleu=0.5", "errant(categories=full)", "/dev/null", "'", "[red]", "a\nb"),
)
_SMALL = ("--seed", "--line", "--digits", "--size", "--first-segment", "--port", "-cat", "--edits")
"""A huge number there is no more work."""


def tried(verb: str, inputs: int, *, seed: int = 1) -> list[Failure]:
    """Try a verb so many times."""
    failures: list[Failure] = []
    with _workplace() as whole:
        for number in range(inputs):
            random = Random(f"{verb}-{seed}-{number}")
            words = random.choice(LINES[verb]).split()
            with TemporaryDirectory() as name, _inside(Path(name)):
                shutil.copytree(whole, name, dirs_exist_ok=True)
                damaged = damage(words, random)
                words = varied(words, random)
                told = run(words)
            if told:
                shown = " ".join(map(ascii, words))[:600]
                failures.append(Failure(shown, f"{seed}-{number}", told, damaged))
    return failures


def run(words: Sequence[str]) -> str:
    """Call the main program; return what is wrong with how it ended, or nothing."""
    out, err = io.StringIO(), io.StringIO()
    try:
        with limits(), redirect_stdout(out), redirect_stderr(err):
            code: Any = main(words)
    except SystemExit as error:
        code = error.code
    except BaseException:
        return traceback.format_exc(limit=-8)
    if code not in CODES:
        return f"exit code {code!r}"
    if "Traceback" in err.getvalue() or "not enough memory" in err.getvalue():
        return err.getvalue()
    if code and not err.getvalue().strip() and code != 1:
        return f"exit code {code} without a word"
    is_json = code == 0 and words[-2:] == ["--format", "json"]
    is_json = is_json and not {"-h", "--help"} & set(words)
    return _no_json(out.getvalue()) if is_json else ""


def _no_json(text: str) -> str:
    try:
        json.loads(text, parse_constant=_refused)
    except ValueError as error:
        return f"standard output is no JSON: {error}: {text[:300]!r}"
    return ""


def _refused(word: str) -> None:
    raise ValueError(f"{word} in JSON")


def damage(words: Sequence[str], random: Random) -> dict[str, bytes]:
    """Damage some of the files that a command line names."""
    named = [part for word in words for part in word.split(":") if Path(part).is_file()]
    if "model" in words and Path("model").is_dir():
        named += sorted(str(path) for path in Path("model").iterdir())
    count = random.choice((0, 1, 1, 1, 2))
    found: dict[str, bytes] = {}
    for name in random.sample(named, min(count, len(named))):
        data = mutate(Path(name).read_bytes(), random)
        found[name] = packed(data, random) if random.random() < 0.05 else data
        Path(name).write_bytes(found[name])
    return found


def varied(words: Sequence[str], random: Random) -> list[str]:
    """Change a command line: options added, values changed, words lost."""
    changed = list(words)
    for _ in range(random.choice((0, 0, 1, 1, 2))):
        random.choice((_with_option, _with_option, _with_option, _with_value, _less))(
            changed, random
        )
    return changed


def _with_option(words: list[str], random: Random) -> None:
    options = [
        a for a in _actions(words) if a.option_strings and a.option_strings[-1] not in _ALONE
    ]
    if not options:
        return
    action = random.choice(options)
    words.append(random.choice(action.option_strings))
    if action.nargs != 0:
        words += [_value(action, random) for _ in range(random.choice((1, 1, 1, 2, 0)))]


def _value(action: argparse.Action, random: Random) -> str:
    if action.choices and random.random() < 0.7:
        return str(random.choice(list(action.choices)))
    if action.type is int and random.random() < 0.6:
        small = action.option_strings[-1] in _SMALL
        return random.choice(("-1", "0", "1", "2", "3", _HUGE if small else "9"))
    return random.choice(_VALUES)


def _with_value(words: list[str], random: Random) -> None:
    """Change a word, unless it belongs to an option that is not played with."""
    at = random.randrange(len(words))
    if at and not _ALONE & {words[at], words[at - 1]}:
        words[at] = random.choice(_VALUES)


def _less(words: list[str], random: Random) -> None:
    at = random.randrange(len(words))
    if at and not _ALONE & {words[at], words[at - 1]}:
        del words[at]


def _actions(words: Sequence[str]) -> list[argparse.Action]:
    """Return the options of the verb and action that a command line names."""
    parser = parser_of(words[0])
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            choices = cast("dict[str, argparse.ArgumentParser]", action.choices)
            parser = choices[words[1]] if words[1:] and words[1] in choices else parser
    return list(parser._actions)


@contextmanager
def _workplace() -> Generator[Path]:
    """Make a folder with all files that the command lines name."""
    with TemporaryDirectory() as name, _inside(Path(name)):
        folder = Path(name)
        samples.lay_out(folder)
        for verb, data in samples.stored().items():
            (folder / f"{verb}.json").write_bytes(data)
        made_training.write_m2(folder / "training.m2")
        _write_model(folder / "model")
        (folder / "archive.zip").write_bytes(samples.archives()[0])
        told = run(["campaign", "import", "pilot", *_JUDGED.split()])
        assert not told, told
        yield folder


def _write_model(folder: Path) -> None:
    """Write a tiny model, if that is possible here: without it, verbs say that it is missing."""
    if find_spec("torch") and find_spec("transformers"):
        made_models.encoder(folder)


@contextmanager
def _inside(folder: Path) -> Generator[None]:
    """Work in a folder, without network, standard input or anything of the user's."""
    import socket

    before, places = Path.cwd(), dict(os.environ)
    stdin, connect = sys.stdin, socket.socket.connect
    os.environ |= {"GRAMMETER_DATA": str(folder / "data"), "GRAMMETER_CACHE": str(folder / "cache")}
    os.environ.pop("OPENAI_API_KEY", None)
    os.chdir(folder)
    sys.stdin = io.TextIOWrapper(io.BytesIO(samples.SOURCE.encode()))
    socket.socket.connect = cast("Callable[..., None]", _no_network)
    try:
        yield
    finally:
        socket.socket.connect = connect
        sys.stdin = stdin
        os.chdir(before)
        os.environ.clear()
        os.environ.update(places)


def _no_network(*address: object) -> None:
    raise OSError("no network here")
