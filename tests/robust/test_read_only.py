"""Folders that cannot be written, or are not there: a clear error, or done without."""

from __future__ import annotations

import pwd
import subprocess
from pathlib import Path

import pytest

from grammeter.core import MissingResourceError, cache_folder, expanded
from grammeter.formats.datasets import VARIABLE, data_folder
from robust.inside import call, listing, mounted
from robust.places import CORPUS, environment, make
from robust.test_full_disk import VERBS


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All that verbs read."""
    return make(tmp_path_factory.mktemp("readonly") / "place", ["scores", "campaign"])


@pytest.fixture
def inside(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in it."""
    monkeypatch.chdir(place)
    for name, value in environment(place).items():
        monkeypatch.setenv(name, value)
    return place


@pytest.fixture
def fixed(inside: Path):
    """A file system at ``full`` that can only be read; it holds a campaign."""
    with mounted(inside / "full", "4m") as folder:
        (folder / "campaign.db").write_bytes((inside / "campaign.db").read_bytes())
        words = ["mount", "-o", "remount,ro", str(folder)]
        if subprocess.run(words, capture_output=True).returncode:
            pytest.skip("no file system can be made read-only")
        yield folder
    (inside / "full").rmdir()


@pytest.mark.parametrize("name", VERBS)
def test_what_cannot_be_written_is_told(name: str, fixed: Path) -> None:
    pytest.importorskip("django", reason="the extra 'campaign' is not installed")
    words, made = VERBS[name]
    code, _, err = call(words)
    assert code == 3, err
    assert "Read-only file system" in err
    assert f"full/{made}" in err or "full/out" in err
    assert list(listing(fixed)) == ["campaign.db"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (f"campaign create more {CORPUS} -n 3 --judges 1", "full/campaign.db: "),
        (f"campaign create more {CORPUS} -n 3 --judges 1 --database full/new.db", "full/new.db: "),
        ("campaign serve --port 0", "full/campaign.db"),
        ("campaign close pilot", "full/campaign.db: "),
    ],
)
def test_a_campaign_that_can_only_be_read(words: str, told: str, fixed: Path) -> None:
    pytest.importorskip("django", reason="the extra 'campaign' is not installed")
    at = "" if "--database" in words else " --database full/campaign.db"
    code, _, err = call(words + at)
    assert code == 3, err
    assert told in err, err


def test_caches_that_cannot_be_written_are_done_without(fixed: Path, monkeypatch) -> None:
    monkeypatch.setenv("GRAMMETER_CACHE", str(fixed / "cache"))
    monkeypatch.setenv("HOME", str(fixed))
    code, _, err = call("edits convert -auto gold.m2 -out out.m2 --pipeline neutral")
    assert code == 0, err


def test_a_folder_of_data_that_cannot_be_written(fixed: Path, monkeypatch) -> None:
    monkeypatch.setenv(VARIABLE, str(fixed / "data"))
    assert call("data list")[0] == 0


def test_no_folder_for_temporary_files(inside: Path, monkeypatch) -> None:
    monkeypatch.setenv("TMPDIR", str(inside / "missing"))
    assert call(VERBS["score"][0].replace("full/", ""))[0] == 0


# --- nobody's home -------------------------------------------------------------------------


@pytest.fixture
def homeless(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user without a folder, as in containers."""

    def unknown(number: object) -> None:
        raise KeyError(number)

    for name in ("HOME", "GRAMMETER_CACHE", VARIABLE, "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)


def test_no_home_no_cache(homeless: None) -> None:
    assert cache_folder() is None


def test_no_home_no_data(homeless: None, monkeypatch) -> None:
    with pytest.raises(MissingResourceError, match=f"(?s)no place for data sets.*{VARIABLE}"):
        data_folder()
    monkeypatch.setenv("XDG_DATA_HOME", "/elsewhere")
    assert data_folder() == Path("/elsewhere/grammeter")


@pytest.mark.parametrize(
    "words",
    [
        f"score {CORPUS} -m gleu(iterations=2) m2",
        "edits convert -auto gold.m2 -out out.m2 --pipeline neutral",
        "doctor",
        "data list",
        "data path conll14_test",
        "reproduce grundkiewicz2015 table1",
        f"score {CORPUS} -m m2 --cache-dir ~/x",
    ],
)
def test_verbs_without_a_home(words: str, inside: Path, homeless: None) -> None:
    code, _, err = call(words)
    assert code == (4 if words.startswith(("data", "reproduce")) else 0), err


def test_the_home_of_somebody_who_is_not_there() -> None:
    assert expanded("~nobody-of-that-name/x") == Path("~nobody-of-that-name/x")
