"""A disk that is full: the error names the file, which is whole or what it was."""

from __future__ import annotations

import gzip
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import made_models
from grammeter.cli.main import main
from grammeter.cli.parser import VERBS as ALL
from grammeter.cli.parser import parser_of
from grammeter.errant.parse import ParseCache
from grammeter.errant.tokens import split
from grammeter.models.runtime import Store
from robust.data import FILES
from robust.inside import call, fill, listing, mounted
from robust.places import CORPUS, environment, make
from robust.stops import CASES
from scripted_endpoint import ScriptedEndpoint

pytest.importorskip("django", reason="the extra 'campaign' is not installed")

SIZE = "4m"
LEFT = [0, 4096]
"""Bytes that are free: none, or a page, which not all of these need more than."""

VERBS = {
    "score": (f"score {CORPUS} -m m2 gleu(iterations=2) -o full/a.json", "a.json"),
    "segments": (f"score {CORPUS} -m m2 gleu(iterations=2) --segments full/a.tsv", "a.tsv"),
    "packed": (f"score {CORPUS} -m m2 gleu(iterations=2) -o full/a.json.gz", "a.json.gz"),
    "compare": ("compare scores.json --resamples 9 -o full/a.json", "a.json"),
    "sample": (f"sample {CORPUS} -n 64 --judges a b -o full/a.jsonl", "a.jsonl"),
    "rank": ("rank judgments.xml --bootstrap 9 -o full/a.json", "a.json"),
    "agree": ("agree judgments.xml -o full/a.json", "a.json"),
    "meta": ("meta system scores.json judgments.xml --interval none -o full/a.json", "a.json"),
    "window": ("meta window scores.json judgments.xml --size 3 -o full/a.json", "a.json"),
    "report": ("report scores.json -o full/a.html --resamples 9", "a.html"),
    "reproduce": ("reproduce grundkiewicz2015 table1 -o full/a.json", "a.json"),
    "edits": ("edits convert -auto gold.m2 -out full/a.m2 --pipeline neutral", "a.m2"),
    "export": ("campaign export pilot -o full/a.xml", "a.xml"),
    "details": ("campaign export pilot --details full/a.jsonl", "a.jsonl"),
    "backup": ("campaign backup full/a.db", "a.db"),
    "batch": (
        "batch pairs-0.jsonl --reference reference -m green -o full/out",
        "out/pairs-0.jsonl",
    ),
    "parquet": (
        "batch pairs.tsv --reference reference -m gleu(iterations=2) -o full/out"
        " --output-form parquet",
        "out/pairs.parquet",
    ),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All that verbs read."""
    return make(tmp_path_factory.mktemp("full") / "place", ["scores", "campaign"])


@pytest.fixture
def full(place: Path, monkeypatch: pytest.MonkeyPatch):
    """A small file system at ``full`` in the current folder."""
    monkeypatch.chdir(place)
    for name, value in environment(place).items():
        monkeypatch.setenv(name, value)
    with mounted(place / "full", SIZE) as folder:
        yield folder
    (place / "full").rmdir()


@pytest.mark.parametrize("name", VERBS)
def test_what_is_written_is_whole_or_absent(name: str, full: Path) -> None:
    words, made = VERBS[name]
    if "parquet" in words:
        pytest.importorskip("pyarrow", reason="the extra 'records' is not installed")
    for left in LEFT:
        fill(full, left)
        code, _, err = call(words)
        if left and not code and (full / made).stat().st_size <= left:
            (full / made).unlink()
            (full / "filler").unlink()
            continue
        assert code == 3, (left, err)
        assert "No space left" in err or "full" in err, err
        assert f"full/{made}" in err or "full/out" in err, err
        remains = [one for one in listing(full) if one != "out/.lock"]
        assert remains in ([], ["out/manifest.json"]), remains
        (full / "filler").unlink()
    assert call(words)[0] == 0
    assert (full / made).stat().st_size


def test_an_older_file_stays_what_it_was(full: Path) -> None:
    (full / "a.json").write_text("the older one", "utf-8")
    fill(full, 0)
    code, _, err = call(VERBS["score"][0])
    assert code == 3, err
    assert listing(full) == {"a.json": b"the older one"}


def test_a_campaign_is_whole_or_absent(full: Path) -> None:
    pytest.importorskip("django", reason="the extra 'campaign' is not installed")
    words = f"campaign create more {CORPUS} -n 30 --judges 2 --database full/campaign.db"
    fill(full, 100_000)
    code, _, err = call(words)
    assert (code, "full/campaign.db: " in err) == (3, True), err
    assert listing(full) == {}
    (full / "filler").unlink()
    assert call(words.replace("more", "pilot"))[0] == 0
    fill(full, 0)
    code, _, err = call(words)  # a second one, in a file that cannot grow
    assert (code, "full/campaign.db: " in err) == (3, True), err
    (full / "filler").unlink()
    code, out, _ = call("campaign status --database full/campaign.db")
    assert (code, "pilot" in out, "more" in out) == (0, True, False), out


def test_caches_that_cannot_grow_are_done_without(full: Path) -> None:
    parses = [split(f"word{number} .") for number in range(3000)]
    parses = [one.with_columns(["x", "y"], ["X", "Y"], ["X", "Y"]) for one in parses]
    fill(full, 40_000)
    cache = ParseCache(full / "cache", "made up")
    cache.write(parses)
    assert cache.read(parses) == [None] * len(parses)
    (full / "figures").mkdir()
    store = Store(full / "figures", "made up", 1)
    with pytest.warns(UserWarning, match="figures are not kept any more"):
        store.write([f"item {number}" for number in range(3000)], np.ones((3000, 1)))
    (full / "filler").unlink()
    cache = ParseCache(full / "cache", "made up")  # what is left of the file is a sound one
    cache.write(parses)
    assert cache.read(parses) == parses
    assert not Store(full / "figures", "made up", 1).read(["item 1"])[1].any()


def test_replies_that_cannot_be_kept_end_the_asking(full: Path) -> None:
    pytest.importorskip("aiohttp", reason="the extra 'llm' is not installed")
    with ScriptedEndpoint() as server:
        words = (
            f"judge {CORPUS} -m llm-s(model=tiny) -o out.jsonl --base-url {server.url}"
            " --cache-dir full/kept"
        )
        (full / "kept").mkdir()
        fill(full, 200_000)
        code, out, err = call(words)
        assert (code, out) == (3, ""), err
        assert "full/kept/replies-1.sqlite: the replies cannot be kept" in err
        assert not Path("out.jsonl").exists()
        asked = len(server.requests)
        (full / "filler").unlink()
        assert call(words)[0] == 0
        assert 0 < asked < 75
        assert len(server.requests) < 75 + 20  # what was kept is not asked again


def test_a_training_goes_on_when_there_is_room(full: Path) -> None:
    made_models.encoder("encoder")
    words = (
        "train impara --parallel training.m2 --encoder encoder --pairs 60 --epochs 1"
        " --batch-size 16 --device cpu -o full/model"
    )
    fill(full, 150_000)
    code, out, err = call(words)
    assert (code, out) == (3, ""), err
    assert "full/model" in err
    assert not (full / "model" / "card.json").exists()


def test_files_of_data_sets_are_whole_or_absent(full: Path, monkeypatch) -> None:
    environment_of = environment(full.parent, GRAMMETER_DATA=str(full / "data"))
    program = CASES["data get"].program
    words = CASES["data get"].words.split()

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *program, *words], capture_output=True, text=True, env=environment_of
        )

    fill(full, 1_000_000)
    done = run()
    assert done.returncode == 3, done.stderr
    assert "full/data/made" in done.stderr
    assert "cannot be written: No space left on device" in done.stderr
    for name, content in listing(full).items():
        assert gzip.decompress(content) == FILES[Path(name).stem]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("words", ["list", "list --format json", "cite m2", "data list"])
def test_standard_output_that_is_full(words: str) -> None:
    done = _into("/dev/full", words)
    assert done.returncode == 3
    assert done.stderr.startswith("grammeter: standard output: cannot be written: No space left")
    assert "Traceback" not in done.stderr


HELP = [
    "",
    "--version",
    "--help",
    *(f"{parser.prog.partition(' ')[2]} --help" for v in ALL for parser in parser_of(v).parsers()),
]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("words", HELP)
def test_help_that_cannot_be_printed_is_a_fault(words: str, monkeypatch, capsys) -> None:
    with suppress(OSError), open("/dev/full", "w") as full:
        monkeypatch.setattr("sys.stdout", full)
        assert main(words.split()) == 3
    assert "standard output: cannot be written: No space left" in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_standard_error_that_is_full() -> None:
    command = [sys.executable, "-m", "grammeter", "list", "gleo"]
    with open("/dev/full", "w") as full:
        assert subprocess.run(command, stdout=full, stderr=full).returncode == 2


def test_a_reader_that_goes() -> None:
    line = f"{sys.executable} -m grammeter list --format json | head -c 1"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("{", "")


def test_streams_that_are_closed(tmp_path: Path) -> None:
    command = f"{sys.executable} -m grammeter"
    for line, code in ((f"{command} list >&-", 0), (f"{command} list gleo 2>&-", 2)):
        assert subprocess.run(["sh", "-c", line], capture_output=True).returncode == code
    line = f"{command} rank - <&-"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True)
    assert (done.returncode, "Traceback" in done.stderr) == (3, False)


def _into(target: str, words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "grammeter", *words.split()]
    with open(target, "w") as stream:
        return subprocess.run(command, stdout=stream, stderr=subprocess.PIPE, text=True)
