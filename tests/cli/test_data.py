"""``grammeter data``, called as the shell calls it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from grammeter.cli.parser import parser_of
from grammeter.core import MissingResourceError
from grammeter.formats import datasets
from grammeter.formats.datasets import DataFile, Dataset
from grammeter.version import __version__

TEXT = b"A test .\n"
OTHER = b"Another test .\n"


def file(path: str, content: bytes) -> DataFile:
    digest = hashlib.sha256(content).hexdigest()
    return DataFile(path, digest, len(content), "a text", "https://example.org/x", None, False)


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    files = (file("a.txt", TEXT), file("b.txt", OTHER))
    entry = Dataset(
        "small", "Two texts", "https://example.org/", "free", "Doe 2020.", files, ("et",)
    )
    monkeypatch.setattr(datasets, "_catalogue", lambda: {"small": entry})
    monkeypatch.setenv("GRAMMETER_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def call(*words: str) -> int:
    args = parser_of("data").parse_args(words)
    return args.run(args) or 0


def test_list_as_a_table(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("list") == 0
    out, err = capsys.readouterr()
    assert out == (
        f"folder: {root}\n"
        "name   languages  state   get      what\n"
        "-----  ---------  ------  -------  ---------\n"
        "small  et         absent  by hand  Two texts\n"
    )  # fmt: skip
    assert err == ""


def test_list_as_json(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("list", "--format", "json", "-o", str(tmp_path / "l.json")) == 0
    out = capsys.readouterr().out
    assert (tmp_path / "l.json").read_text(encoding="utf-8") == out
    assert json.loads(out) == {
        "kind": "data-sets",
        "grammeter": __version__,
        "notes": [],
        "folder": str(root),
        "datasets": [
            {
                "name": "small",
                "state": "absent",
                "path": str(root / "small"),
                "missing": ["a.txt", "b.txt"],
                "title": "Two texts",
                "page": "https://example.org/",
                "licence": "free",
                "citation": "Doe 2020.",
                "languages": ["et"],
                "form": "unknown",
                "scored": "unknown",
                "benchmarks": [],
                "download": False,
            }
        ],
    }


def test_get_from_a_file_then_from_a_folder(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "x").write_bytes(TEXT)
    (tmp_path / "in" / "b.txt").write_bytes(b"another version\n")
    assert call("get", "small", "--from", str(tmp_path / "in")) == 0
    out, err = capsys.readouterr()
    assert out == f"{root / 'small'}\n"
    for note in (
        "licence of small: free",
        "files copied: 1",
        "still missing: b.txt",
        "see https://example.org/x",
    ):
        assert f"note: {note}" in err
    (tmp_path / "in" / "b.txt").write_bytes(OTHER)
    words = ("get", "small", "--from", str(tmp_path / "in"), "--format", "json", "--quiet")
    assert call(*words) == 0
    out, err = capsys.readouterr()
    answer = json.loads(out)
    assert answer["kind"] == "data-set"
    assert (answer["state"], answer["copied"], answer["missing"]) == ("present", ["b.txt"], [])
    assert err == ""


def test_get_without_from_says_where_to_look() -> None:
    with pytest.raises(MissingResourceError, match="grammeter data get small --from"):
        call("get", "small")


def test_path(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "small").mkdir(parents=True)
    (root / "small" / "a.txt").write_bytes(TEXT)
    assert call("path", "small", "a.txt") == 0
    assert capsys.readouterr().out == f"{root / 'small' / 'a.txt'}\n"
    with pytest.raises(MissingResourceError, match=r"not here: b\.txt missing"):
        call("path", "small")
    (root / "small" / "b.txt").write_bytes(OTHER)
    assert call("path", "small", "--format", "json") == 0
    assert json.loads(capsys.readouterr().out) == {
        "kind": "data-path",
        "grammeter": __version__,
        "notes": [],
        "name": "small",
        "file": None,
        "path": str(root / "small"),
    }


def test_verify(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "small").mkdir(parents=True)
    (root / "small" / "a.txt").write_bytes(TEXT)
    assert call("list", "--verify") == 0
    (root / "small" / "a.txt").write_bytes(b"damaged")
    capsys.readouterr()
    assert call("list", "--verify", "--format", "json") == 3
    out, err = capsys.readouterr()
    assert json.loads(out)["datasets"][0]["damaged"] == ["a.txt"]
    assert err == "small: wrong checksum: a.txt\n"


def test_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], ["fetch"], ["get"]):
        with pytest.raises(SystemExit) as caught:
            call(*words)
        assert caught.value.code == 2
    capsys.readouterr()
