"""Tables on the CoNLL-2014 systems: PT-M2 (EMNLP 2022), IMPARA (COLING 2022), public programs.

Gong, Liu, Huang and Zhang 2022; Maeda, Kaneko and Okazaki 2022, whose metrics need pretrained
models, but MAEGE itself does not, so Table 3 also has rows of metrics without models; and programs
whose figures differ from their own rules.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial

from grammeter.core import MissingResourceError
from grammeter.errant import find_pipeline
from grammeter.formats import TextRule, reference_texts
from grammeter.meta import MaegeDesign, maege
from grammeter.metrics import metric
from grammeter.papers.cells import Made, Ours
from grammeter.papers.materials import COLUMNS, Materials, correlation_cells

MODEL = "bert-base-uncased"
"""The model that weighs edits in Gong et al.; the released program's default."""

PLAIN = {"m2": "M2", "sentm2": "SentM2"}
EXTRACTED = {"errant": "ERRANT", "senterrant": "SentERRANT"}

_Cells = dict[tuple[str, str], Ours | float | str]


# --- Gong et al. ---------------------------------------------------------------------------


def _without_models(materials: Materials) -> _Cells:
    scores = materials.scored("conll14", list(PLAIN))
    return {**correlation_cells(scores, PLAIN, materials.people)}


def _extracted(
    materials: Materials, rows: Mapping[str, str], *, who: str = "", drop: tuple[str, ...] = ()
) -> _Cells:
    """Score metrics that extract edits from reference texts with ``Um`` edits applied."""
    scores = materials.scored("conll14_texts", list(rows))
    note = f"edits by the pipeline {find_pipeline().name}"
    people = {who: materials.people[who]} if who else materials.people
    cells = correlation_cells(scores, rows, people, drop=drop)
    return {key: Ours(value, note) for key, value in cells.items()}


def _corpora(model: str) -> dict[str, dict[str, str]]:
    """Return, by corpus, the spellings of the metrics and their rows."""
    return {
        "conll14": {
            f"sent-pt-m2(model={model})": "SentPT-M2",
            f"sent-pt-m2(model={model}, inverse=true)": "SentPT-M2, weights inverted",
        },
        "conll14_texts": {
            f"sent-pt-errant(model={model})": "PT-ERRANT",
            f"bertscore(model={model})": "BERTScore",
        },
    }


def _modelled(materials: Materials, *rows: str) -> _Cells:
    """Return some rows that need a model; nothing without ``--models``."""
    if materials.settings.models is None:
        return {}
    try:
        model, stands_in = materials.model(MODEL)
        made = [
            _weighed(materials, corpus, metrics, stands_in)
            for corpus, metrics in _corpora(model).items()
            if not set(rows).isdisjoint(metrics.values())
        ]
    except MissingResourceError as error:
        reason = " ".join(str(error).split())
        return {(row, column): Ours(math.nan, reason) for row in rows for column in COLUMNS}
    return {key: ours for cells in made for key, ours in cells.items() if key[0] in rows}


def _weighed(
    materials: Materials, corpus: str, metrics: Mapping[str, str], stands_in: str | None
) -> _Cells:
    # all metrics of a corpus at once, so that each text is encoded once for all tables
    scores = materials.scored(corpus, list(metrics))
    spelled = {row: spelling for spelling, row in metrics.items()}
    cells = correlation_cells(scores, metrics, materials.people)
    return {
        key: Ours(value, f"by {spelled[key[0]]}", stands_in=stands_in)
        for key, value in cells.items()
    }


def _table4(materials: Materials) -> Made:
    extracted = _extracted(materials, EXTRACTED)
    return {**_without_models(materials), **extracted, **_modelled(materials, "SentPT-M2")}


def _table5(materials: Materials) -> Made:
    weighed = _modelled(materials, "SentPT-M2", "PT-ERRANT", "BERTScore")
    return {**_without_models(materials), **weighed}


def _figure3(materials: Materials) -> Made:
    return _modelled(materials, "SentPT-M2, weights inverted")


GONG = {"table4": _table4, "table5": _table5, "figure3": _figure3}


# --- Maeda et al. --------------------------------------------------------------------------

_NOT_PRINTED = (
    "no figure of the paper is at hand; held against the edits of the annotators other than the"
    " text's own, source sentence given, a tie is half right"
)


def _table3(materials: Materials) -> Made:
    corpus = materials.conll14_alternatives
    metrics = {"GLEU": metric("gleu"), "M2": metric("m2")}
    results = maege(corpus.sources, corpus.gold, metrics, design=MaegeDesign(seed=1))
    short = {"pearson": "r", "spearman": "rho", "kendall": "tau"}
    return {
        (row, f"{level} {short[kind]}"): Ours(value, _NOT_PRINTED)
        for row, result in results.items()
        for level, kind, value, _ in result.rows()
    }


MAEDA = {"table3": _table3}


# --- programs ------------------------------------------------------------------------------

_CONSTANTS = {
    "cleme(level=sentence)": "constants of the sentence level",
    "cleme(level=sentence, weights=length-corpus)": "constants of the corpus level",
}
"""Rows by spelling: the documented and the actual constants of release 1.1."""

_SECOND = 1
"""The annotator that the combined file lists only where both differ."""


def _ref1(materials: Materials) -> Made:
    """Count sentences where a rule takes the source as the text of an absent annotator."""
    corpus = materials.conll14
    # sentences that nobody edits have no annotator at all, and are read as an empty list of edits
    absent = [line for line, gold in enumerate(corpus.gold) if set(gold) == {0} and gold[0]]
    row = "second reference equal to the source, where only the first annotator is listed"
    cells: _Cells = {}
    for name, rule in (
        ("by its rule", TextRule(um="apply", missing="source")),
        ("as annotator 0", TextRule(um="apply", missing="other")),
    ):
        texts = reference_texts(corpus.sources, corpus.gold, rule)[0][_SECOND]
        cells[row, name] = float(sum(texts[line] == corpus.sources[line] for line in absent))
    return cells


PROGRAMS = {
    "gec-metrics": _ref1,
    "cleme": partial(_extracted, rows=_CONSTANTS, who="EW", drop=("INPUT",)),
}
