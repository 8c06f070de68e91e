"""The notebooks run from top to bottom, and are stored without outputs."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))


def test_there_are_three():
    assert len(NOTEBOOKS) == 3


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_runs_and_is_stored_without_outputs(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, shown = {}, []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        assert not cell["outputs"]
        assert cell["execution_count"] is None
        *body, last = ast.parse("".join(cell["source"])).body
        exec(compile(ast.Module(body, []), path.name, "exec"), names)
        if isinstance(last, ast.Expr):  # what a notebook shows below the cell
            shown.append(eval(compile(ast.Expression(last.value), path.name, "eval"), names))
        else:
            exec(compile(ast.Module([last], []), path.name, "exec"), names)
    tables = [value._repr_html_() for value in shown if hasattr(value, "_repr_html_")]
    assert any("<table" in table for table in tables)
