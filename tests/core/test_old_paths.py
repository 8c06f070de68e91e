"""Modules that the pages of 0.1.0 named are found, with a warning; others are not."""

from __future__ import annotations

import importlib

import pytest

import grammeter as gm


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("attribution", "attribute"),
        ("corpus.foreign", "read_score_file"),
        ("corpus.judgments", "read_judgments"),
        ("edits.arcs", "Proposal"),
        ("edits.pipelines", "shipped_pipeline"),
        ("judging", "judge"),
        ("neural.measures", "TokenSimilarity"),
        ("ranking.planning", "learning_curve"),
        ("ranking.sampling", "sample"),
    ],
)
def test_an_old_path_leads_to_the_door(module: str, name: str) -> None:
    old = importlib.import_module(f"grammeter.{module}")
    with pytest.warns(DeprecationWarning, match=f"will go: import {name} from grammeter"):
        assert callable(getattr(old, name))


def test_nothing_else_is_found() -> None:
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("grammeter.formats.no_such_file")
    with pytest.raises(ImportError, match="cannot import name 'nothing'"):
        from grammeter.corpus import nothing  # noqa: F401
    assert not hasattr(gm, "corpora")
