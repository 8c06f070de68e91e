"""``grammeter demo``."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from grammeter.cli.main import main
from grammeter.resources import sample_corpus


def test_the_whole_loop(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores = tmp_path / "scores.json"
    assert main(["demo", "-o", str(scores)]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    for verb in ("score", "compare", "explain"):
        assert f"\n$ grammeter {verb} " in printed.out
    assert "Next: " in printed.out
    assert len(json.loads(scores.read_text(encoding="utf-8"))["systems"]) == 6


def test_it_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["demo"]) == 0
    assert list(tmp_path.iterdir()) == []
    assert capsys.readouterr().out


def test_the_commands_it_shows_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["demo"])
    shown = re.findall(r"^\$ grammeter (.*)$", capsys.readouterr().out, re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sample").symlink_to(sample_corpus())
    for command in shown:
        words = [
            str(path)
            for word in shlex.split(command)
            for path in (sorted(tmp_path.glob(word)) if "*" in word else [word])
        ]
        assert main(words) == 0, command


def test_a_place_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "-o", str(tmp_path / "no" / "s.json")]) == 3
    assert "cannot be written" in capsys.readouterr().err
