"""IMPARA: Impact-Based Metric for GEC Using Parallel Data (COLING 2022)."""

from __future__ import annotations

from grammeter.meta import MaegeDesign, maege
from grammeter.metrics import metric
from grammeter.papers.cells import Made, Ours
from grammeter.papers.materials import Materials

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


TABLES = {"table3": _table3}
