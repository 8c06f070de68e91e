"""IMPARA: Impact-Based Metric for GEC Using Parallel Data (COLING 2022): its tables.

The paper's metrics need pretrained models. MAEGE itself does not, so Table 3 also has rows of
metrics without models.
"""

from __future__ import annotations

from grammeter.papers.cells import Ours
from grammeter.papers.materials import Materials
from grammeter.papers.recipe import Made, Recipe

BESIDE = {"GLEU": "gleu", "M2": "m2"}
"""Rows of our own."""

NOT_PRINTED = (
    "no figure of the paper is at hand; held against the edits of the annotators other than the"
    " text's own, source sentence given, a tie is half right"
)
TRAINED = "needs bert-base-cased and a quality model on it (grammeter train impara)"


def _table3(materials: Materials) -> Made:
    from grammeter.meta import MaegeDesign, maege
    from grammeter.metrics import metric

    corpus = materials.conll14_alternatives
    metrics = {row: metric(spelled) for row, spelled in BESIDE.items()}
    results = maege(corpus.sources, corpus.gold, metrics, design=MaegeDesign(seed=1))
    short = {"pearson": "r", "spearman": "rho", "kendall": "tau"}
    return {
        (row, f"{level} {short[kind]}"): Ours(value, NOT_PRINTED)
        for row, result in results.items()
        for level, kind, value, _ in result.figures()
    }


MODELS = ("bert-base-cased",)

RECIPES = (
    Recipe(
        table="table2",
        models=MODELS,
        gaps={
            "IMPARA": f"{TRAINED}; weights that others trained came to .959 and .930",
            "Scribendi": "needs gpt2",
        },
    ),
    Recipe(
        table="table3",
        make=_table3,
        data=("conll14_test",),
        gaps={
            "IMPARA": TRAINED,
            "chain tau": "needs gpt2; probably raised by pairs that the metric ties (42.5 %):"
            " the public program may count them as concordant",
        },
    ),
    *(
        Recipe(
            table=table,
            models=MODELS,
            gaps={"*": f"needs bert-base-cased{how}, and the printed figures"},
        )
        for table, how in (
            ("table4", " (grammeter train cross-domain)"),
            ("table5", ""),
            ("table6", " (grammeter train impacts)"),
        )
    ),
)
