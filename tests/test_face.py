"""The public face: what ``import grammeter`` promises, name by name."""

from __future__ import annotations

import ast
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import grammeter

NAMES = grammeter.__all__
SOURCE = Path(str(grammeter.__file__))
PROMISED = {"Corpus", "Metric", "Score", "ScoreTable", "compare", "explain", "metric",
            "read_corpus", "read_scores", "score", "write_scores"}  # fmt: skip


def homes() -> dict[str, str]:
    """Return where each name of the face is defined, as type checkers see it."""
    statements = ast.parse(SOURCE.with_suffix(".pyi").read_text(encoding="utf-8")).body
    return {
        name.asname or name.name: statement.module or ""
        for statement in statements
        if isinstance(statement, ast.ImportFrom)
        for name in statement.names
    }


_HOMES = {
    name: home for name, home in homes().items() if home not in ("grammeter", "grammeter.version")
}


def test_what_type_checkers_see_is_there() -> None:
    assert sorted(homes()) == NAMES == dir(grammeter)
    assert set(NAMES) >= PROMISED


def test_metric_classes_stand_beside_their_spellings() -> None:
    assert grammeter.metrics.M2(beta=1.0) == grammeter.metric("m2(beta=1.0)")


@pytest.mark.parametrize("name", sorted(_HOMES))
def test_names_come_from_their_homes_and_are_described(name: str) -> None:
    value = getattr(grammeter, name)
    assert value is getattr(importlib.import_module(_HOMES[name]), name)
    assert getattr(grammeter, name) is value
    doc = inspect.getdoc(value)
    assert doc
    assert doc[0].isupper()
    assert "." in doc


@pytest.mark.parametrize("name", sorted(_HOMES))
def test_parameters_of_verbs_are_described(name: str) -> None:
    value = getattr(grammeter, name)
    if not inspect.isfunction(value):
        return
    doc = inspect.getdoc(value) or ""
    parameters = inspect.signature(value).parameters
    if len(parameters) < 3:
        return
    assert "Parameters" in doc
    for parameter in parameters:
        assert parameter in doc, f"{name} does not describe {parameter}"


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'grammeter' has no attribute 'scor'"):
        grammeter.scor  # noqa: B018
    assert not hasattr(grammeter, "__wrapped__")


def test_star_import_gives_all_and_names_load_when_used() -> None:
    code = (
        "import sys, grammeter\n"
        "before = {m for m in sys.modules if m.startswith('grammeter.')}\n"
        "assert before == {'grammeter.version'}, before\n"
        "grammeter.Edit\n"
        "assert 'grammeter.core.edit' in sys.modules\n"
        "assert 'grammeter.verbs._rank' not in sys.modules\n"
        "space = {}\n"
        "exec('from grammeter import *', space)\n"
        "missing = set(grammeter.__all__) - set(space)\n"
        "assert not missing, missing\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_version_is_that_of_the_package() -> None:
    from importlib.metadata import version

    assert grammeter.__version__ == version("grammeter")
