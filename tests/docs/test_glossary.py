"""A word of the glossary that is a class is one class."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WORDS = re.findall(r"\| `(\w+)` \|$", (ROOT / "docs" / "glossary.md").read_text("utf-8"), re.M)
DATABASE = ROOT / "src" / "grammeter" / "campaign" / "models.py"


def definitions(name: str) -> list[str]:
    return [
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / "src").rglob("*.py"))
        if path != DATABASE
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if (isinstance(node, ast.ClassDef) and node.name == name)
        or (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name)
    ]


@pytest.mark.parametrize("name", WORDS)
def test_a_class_of_the_glossary_is_one(name: str) -> None:
    assert len(definitions(name)) == 1, definitions(name)
