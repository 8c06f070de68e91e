"""The seven journeys of a new user run: benchmarks/journeys/*.sh; docs/journeys.md counts them."""

from __future__ import annotations

import re
import shlex
from contextlib import ExitStack

import pytest

import made_models
from page_examples import ROOT, answering, blocks, lay_out, module_of, run, run_python

JOURNEYS = sorted((ROOT / "benchmarks" / "journeys").glob("*.sh"))
JUDGES = ROOT / "docs" / "tutorials" / "judge-with-a-language-model.md"
PLUGIN = ROOT / "docs" / "plugins.md"
TABLE = (ROOT / "docs" / "journeys.md").read_text("utf-8")


def steps(path):
    """Return the commands of a journey."""
    return [line for line in path.read_text("utf-8").splitlines() if not line.startswith("#")]


@pytest.mark.parametrize("path", JOURNEYS, ids=lambda path: path.stem)
def test_journey(path, tmp_path, monkeypatch, request):
    lay_out(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    text = path.read_text("utf-8")
    if "reproduce" in text:
        monkeypatch.setenv("GRAMMETER_DATA", str(request.getfixturevalue("shared") / "data"))
    with ExitStack() as stack:
        if "$JUDGE" in text:
            monkeypatch.setenv("JUDGE", stack.enter_context(answering(JUDGES)))
        if "$ENCODER" in text:
            pytest.importorskip("torch")
            made_models.encoder("encoder")
            monkeypatch.setenv("ENCODER", "encoder")
        if "plug-in" in path.stem:
            module = stack.enter_context(module_of(PLUGIN, monkeypatch))
            forty_lines = next(block for block in blocks(PLUGIN) if block.language == "python")
            run_python(forty_lines, module)
        for command in steps(path):
            code, printed = run(command)
            assert code == 0, f"{command}\n{printed}"
            assert "Traceback" not in printed
            assert printed.strip() or "-o" in command, f"{command} is silent"


def test_the_page_counts_what_stands_there():
    rows = re.findall(r"^\| (\d)\b.*?\| (\d+) \| (\d+) \|", TABLE, re.M)
    counted = [
        (path.stem[0], str(len(steps(path))), str(sum(len(shlex.split(x)) for x in steps(path))))
        for path in JOURNEYS
    ]
    assert rows == counted
