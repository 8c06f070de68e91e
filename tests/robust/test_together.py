"""Two processes at once on what they share: nothing is lost, mixed or half written."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from grammeter.core import LOCK, UsageError, only_one
from grammeter.formats import write_text
from grammeter.training.fit import begun
from robust.inside import call
from robust.places import CORPUS, environment, make
from scripted_endpoint import ScriptedEndpoint

TIMES = 20


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All that verbs read."""
    return make(tmp_path_factory.mktemp("together") / "place")


def python(folder: Path, code: str, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *words], cwd=folder, env=environment(folder), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def verb(folder: Path, words: str) -> subprocess.Popen[str]:
    return python(folder, "import sys; from grammeter.cli.main import main; sys.exit(main())",
                  *words.split())  # fmt: skip


def ends(*processes: subprocess.Popen[str]) -> list[tuple[int, str, str]]:
    """Wait for processes; return exit code, standard output and standard error of each."""
    found = [process.communicate(timeout=120) for process in processes]
    return [(p.returncode, out, err) for p, (out, err) in zip(processes, found, strict=True)]


# --- caches --------------------------------------------------------------------------------

_PARSES = f"""
import sys
from pathlib import Path
from grammeter.errant.parse import ParseCache
from grammeter.errant.tokens import split
for number in range({TIMES}):
    texts = [split(f"w{{number}} {{who}}") for who in ("shared", sys.argv[1])]
    parses = [one.with_columns(["x", "y"], ["X", "Y"], ["X", "Y"]) for one in texts]
    cache = ParseCache(Path("cache"), "made up")
    cache.write(parses)
    assert cache.read(parses) == parses, number
"""
_FIGURES = f"""
import sys, warnings
import numpy as np
from grammeter.models.runtime import Store, check_folder
warnings.simplefilter("error")
check_folder("figures")
for number in range({TIMES}):
    items = [f"{{number}} {{who}}" for who in ("shared", sys.argv[1])]
    store = Store("figures", "made up", 1)
    store.write(items, np.full((2, 1), float(number)))
    figures, known = store.read(items)
    assert known.all() and (figures == number).all(), number
"""


@pytest.mark.parametrize("code", [_PARSES, _FIGURES], ids=["parses", "figures"])
def test_caches(code: str, tmp_path: Path) -> None:
    for code_, _, err in ends(*(python(tmp_path, code, who) for who in "abc")):
        assert code_ == 0, err


def test_replies_of_a_judge(place: Path) -> None:
    pytest.importorskip("aiohttp", reason="the extra 'llm' is not installed")
    with ScriptedEndpoint(delay=0.01) as server:
        words = f"judge {CORPUS} -m llm-s(model=tiny) --base-url {server.url} --cache-dir kept -o"
        for code, _, err in ends(*(verb(place, f"{words} out{n}.jsonl") for n in (1, 2))):
            assert code == 0, err
        asked = len(server.requests)
        (code, _, err) = ends(verb(place, f"{words} out3.jsonl"))[0]
        assert (code, len(server.requests)) == (0, asked), err
    assert len({(place / f"out{n}.jsonl").read_text() for n in (1, 2, 3)}) == 1


# --- files ---------------------------------------------------------------------------------

_WRITER = f"""
import sys
from grammeter.formats import write_text
for number in range({TIMES}):
    write_text("out.txt", sys.argv[1] * 500_000)
"""


def test_one_output_file(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    write_text(path, "c" * 500_000)
    writers = [python(tmp_path, _WRITER, letter) for letter in "ab"]
    while any(writer.poll() is None for writer in writers):
        text = path.read_text("ascii")
        assert len(text) == 500_000
        assert len(set(text)) == 1
    for code, _, err in ends(*writers):
        assert code == 0, err
    assert sorted(one.name for one in tmp_path.iterdir()) == ["out.txt", "tmp"]


# --- folders -------------------------------------------------------------------------------


def test_one_output_folder_of_batch(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    words = "batch pairs-0.jsonl --reference reference -m gleu(iterations=2) -o busy"
    with only_one(Path("busy")):
        code, out, err = call(words)
        assert (code, out) == (2, "")
        assert "another run writes to busy" in err
        assert [path.name for path in Path("busy").iterdir()] == [LOCK]
    assert call(words)[0] == 0


def test_one_folder_of_a_model(tmp_path: Path) -> None:
    with (
        begun(tmp_path, "impara", {"seed": 1}, resume=False),
        pytest.raises(UsageError, match="another run writes to"),
        begun(tmp_path, "impara", {"seed": 2}, resume=True),
    ):
        pytest.fail("two at once")
    assert [path.name for path in tmp_path.iterdir()] == ["training.json"]
    assert json.loads((tmp_path / "training.json").read_text()) == {"metric": "impara", "seed": 1}


_LOCKER = """
import time
from pathlib import Path
from grammeter.core import UsageError
from grammeter.core import only_one
for _ in range(300):
    try:
        with only_one(Path(".")):
            Path("inside").touch(exist_ok=False)
            Path("inside").unlink()
    except UsageError:
        time.sleep(0.001)
"""


def test_a_lock_lets_one_in_at_a_time(tmp_path: Path) -> None:
    for code, _, err in ends(*(python(tmp_path, _LOCKER) for _ in range(3))):
        assert code == 0, err
    (tmp_path / LOCK).touch()  # left by one that was killed
    with only_one(tmp_path):
        pass
    assert [one.name for one in tmp_path.iterdir()] == ["tmp"]


# --- campaigns -----------------------------------------------------------------------------


@pytest.fixture
def campaigns(place: Path):
    """A place without a database."""
    pytest.importorskip("django", reason="the extra 'campaign' is not installed")
    (place / "campaign.db").unlink(missing_ok=True)
    return place


def test_two_that_make_the_database(campaigns: Path) -> None:
    words = f"{CORPUS} -n 5 --judges 2"
    done = ends(*(verb(campaigns, f"campaign create {name} {words}") for name in ("a", "b", "a")))
    assert sorted(code for code, _, _ in done) == [0, 0, 2], done
    refused = next(err for code, _, err in done if code == 2)
    assert "there is a campaign called 'a'" in refused
    status = ends(verb(campaigns, "campaign status"))[0]
    assert status[0] == 0
    assert {line.split()[0] for line in status[1].splitlines()} >= {"a", "b"}
    assert not list(campaigns.glob(".campaign*"))


def test_export_while_another_is_saved_and_two_serve(campaigns: Path) -> None:
    pytest.importorskip("waitress", reason="the extra 'campaign' is not installed")
    words = f"{CORPUS} --judgments judgments.xml"
    assert ends(verb(campaigns, f"campaign import pilot {words}"))[0][0] == 0
    servers = [verb(campaigns, "campaign serve --port 0") for _ in range(2)]
    try:
        assert all(server.stderr for server in servers)
        urls = [re.match(r"http://\S+", server.stderr.readline())[0] for server in servers]
        saving = verb(campaigns, f"campaign import other {words}")
        exports = [verb(campaigns, "campaign export pilot") for _ in range(2)]
        with ThreadPoolExecutor() as pool:
            pages = list(pool.map(_status, urls * 3))
        assert pages == [200] * 6
        (saved, *exported) = ends(saving, *exports)
        assert saved[0] == 0, saved
        assert [code for code, _, _ in exported] == [0, 0], exported
        assert len({out for _, out, _ in exported}) == 1
        port = urls[0].rstrip("/").rpartition(":")[2]
        refused = ends(verb(campaigns, f"campaign serve --port {port}"))[0]
        assert refused[0] == 2, refused
        assert f"port {port}" in refused[2]
    finally:
        for server in servers:
            server.terminate()
        told = ends(*servers)
    assert all("Traceback" not in err for _, _, err in told)


def _status(url: str) -> int:
    with urllib.request.urlopen(f"{url.rstrip('/')}/login", timeout=60) as answer:
        return answer.status
