"""``grammeter demo``."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from grammeter.cli.main import main
from grammeter.resources import sample_corpus

PAGE = "grammeter-demo-report.html"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in an empty folder, where the page is left."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_the_whole_loop(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores = tmp_path / "scores.json"
    assert main(["demo", "-o", str(scores)]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    for verb in ("score", "compare", "explain", "report"):
        assert f"\n$ grammeter {verb} " in printed.out
    assert "Next: " in printed.out
    assert len(json.loads(scores.read_text(encoding="utf-8"))["systems"]) == 6


def test_it_leaves_a_page_and_says_where(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo"]) == 0
    assert [path.name for path in folder.iterdir()] == [PAGE]
    assert str(folder / PAGE) in capsys.readouterr().out
    page = (folder / PAGE).read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    for section in ("scores", "types", "ranking", "agreement", "correlations", "signatures"):
        assert f'<section id="{section}"' in page


def test_its_own_page_is_overwritten_and_no_other(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo"]) == 0
    first = (folder / PAGE).read_bytes()
    (folder / PAGE).write_bytes(first + b"<!-- old -->")
    assert main(["demo"]) == 0
    assert (folder / PAGE).read_bytes() == first
    (folder / PAGE).write_text("<title>my thesis</title>", encoding="utf-8")
    capsys.readouterr()
    assert main(["demo"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert f"{PAGE} is there already" in printed.err
    assert (folder / PAGE).read_text(encoding="utf-8") == "<title>my thesis</title>"


def test_the_commands_it_shows_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["demo"])
    shown = re.findall(r"^\$ grammeter (.*)$", capsys.readouterr().out, re.MULTILINE)
    page = (folder / PAGE).read_bytes()
    (folder / PAGE).unlink()
    (folder / "sample").symlink_to(sample_corpus())
    for command in shown:
        words = [
            str(path)
            for word in shlex.split(command)
            for path in (sorted(folder.glob(word)) if "*" in word else [word])
        ]
        assert main(words) == 0, command
    assert (folder / PAGE).read_bytes() == page


def test_a_place_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "-o", str(tmp_path / "no" / "s.json")]) == 3
    assert "cannot be written" in capsys.readouterr().err
