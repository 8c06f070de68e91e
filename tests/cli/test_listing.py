"""``grammeter list``."""

from __future__ import annotations

import json

import pytest

from grammeter.cli.main import main
from grammeter.metrics import BUILT_IN, describe
from grammeter.version import __version__


def test_table_has_a_row_for_each_metric(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:2] == ["metric", "needs"]
    assert [line.split()[0] for line in lines[2:]] == list(BUILT_IN)


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data.pop("grammeter") == __version__
    assert data.pop("notes") == []
    assert data == {"kind": "metrics", "metrics": [describe(name) for name in BUILT_IN]}


@pytest.mark.parametrize("form", ["tsv", "markdown"])
def test_one_metric(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "gleu", "--format", form]) == 0
    out = capsys.readouterr().out
    assert "order (4)" in out
    assert "iterations (500)" in out
    assert "imeasure" not in out


def test_unknown_metric(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "gleo"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "Did you mean 'gleu'" in printed.err
