"""Public programs whose figures differ from their own rules; these are no paper's tables."""

from __future__ import annotations

from grammeter.errant import find_pipeline
from grammeter.formats import TextRule, reference_texts
from grammeter.papers.cells import Ours
from grammeter.papers.chollampatt2018 import CONLL14, SCORES
from grammeter.papers.materials import Materials
from grammeter.papers.recipe import Made, Recipe, correlation_cells

SECOND = 1
"""The annotator of CoNLL-2014 that the combined file lists only where both differ."""

CONSTANTS = {
    "cleme(level=sentence)": "constants of the sentence level",
    "cleme(level=sentence, weights=length-corpus)": "constants of the corpus level",
}
"""Rows by spelling: the documented and the actual constants of release 1.1."""

_REF1 = "second reference equal to the source, where only the first annotator is listed"


def _ref1(materials: Materials) -> Made:
    """Count sentences where a rule takes the source as the text of an absent annotator."""
    corpus = materials.conll14
    # sentences that nobody edits have no annotator at all, and are read as an empty list of edits
    absent = [line for line, gold in enumerate(corpus.gold) if set(gold) == {0} and gold[0]]
    rules = {
        "by its rule": TextRule(um="apply", missing="source"),
        "as annotator 0": TextRule(um="apply", missing="other"),
    }
    texts = {
        name: reference_texts(corpus.sources, corpus.gold, rule)[0][SECOND]
        for name, rule in rules.items()
    }
    return {
        (_REF1, name): float(sum(column[line] == corpus.sources[line] for line in absent))
        for name, column in texts.items()
    }


def _cleme(materials: Materials) -> Made:
    """CLEME by sentence, against reference texts with ``Um`` edits applied."""
    scores = materials.scored("conll14_texts", list(CONSTANTS))
    people = {"EW": materials.people["EW"]}
    cells = correlation_cells(scores, CONSTANTS, people, drop=["INPUT"])
    note = f"edits by the pipeline {find_pipeline().name}"
    return {key: Ours(value, note) for key, value in cells.items()}


RECIPES = (
    Recipe(table="gec-metrics", make=_ref1, data=(CONLL14,)),
    Recipe(table="cleme", make=_cleme, data=(CONLL14, SCORES)),
)
