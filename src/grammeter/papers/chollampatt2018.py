"""A Reassessment of Reference-Based GEC Metrics (COLING 2018): its tables and figures."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from grammeter.core import ScoreTable
from grammeter.formats import dataset_path, read_score_file
from grammeter.meta import MetricAgreement, SentenceDesign, TieRule, correlate_sentences
from grammeter.papers.cells import Made, Ours
from grammeter.papers.materials import Materials, correlated, correlation_cells
from grammeter.ranking import ExpectedWins, Extraction, TrueSkill, extract_pairs

SCORES = "meta_chollampatt_ng_2018"

STORED = {"gleu": "GLEU", "imeasure": "I-measure", "m2score": "M2"}
"""The metrics as the authors' files name them, and as the paper does."""

BEST = "sentm2"
"""Our sentence-level M2 of the best annotator, as the paper words it."""

_LAST = "from the sentence scores that the authors distribute, of the annotator listed last"
_OWN = "not printed: published is the score that the authors distribute"
_R = "not printed: published is what the authors' program gives on the scores they distribute"


def stored_scores(materials: Materials, level: str) -> ScoreTable:
    """Read the scores that the authors distribute, of each ``system`` or ``sentence``."""
    files = [dataset_path(SCORES, f"scores/{level}_scores_metrics/{m}.txt.gz") for m in STORED]
    tables = [read_score_file(file) for file in files]
    columns = {name: column for table in tables for name, column in table.items()}
    return ScoreTable(tables[0].systems, tables[0].segments, columns)


# --- systems -------------------------------------------------------------------------------


def _table2(materials: Materials) -> Made:
    return correlation_cells(stored_scores(materials, "system"), STORED, materials.people)


def _figure1(materials: Materials) -> Made:
    pairs = extract_pairs(materials.judgments("gjg15").rankings)
    cells: dict[tuple[str, str], Ours] = {}
    for column, method in (("EW", ExpectedWins()), ("TS", TrueSkill())):
        scores = method.score(*pairs.counts()).tolist()
        for system, score in zip(pairs.systems, scores, strict=True):
            cells[system, column] = Ours(score, _OWN)
    made = materials.scored("conll14", ["gleu", "imeasure", "m2"])
    for spelling, column in (("gleu", "GLEU"), ("imeasure", "I-measure"), ("m2", "M2")):
        unit = 100 if spelling == "imeasure" else 1  # the authors' files have it in percent
        for system, score in made[spelling].items():
            cells[system, column] = Ours(unit * score.value, _OWN)
    return cells


def _figure2(materials: Materials) -> Made:
    return {
        (row, column): Ours(pvalue, f"{better} is better; {_R}")
        for row, tests in _williams(materials).items()
        for column, (better, pvalue) in tests.items()
    }


def _text(materials: Materials) -> Made:
    cells: dict[tuple[str, str], Ours | float | str] = {}
    named = {name: f"{STORED[name]} without IPN" for name in ("gleu", "m2score")}
    scores = stored_scores(materials, "system")
    cells |= correlation_cells(scores, named, materials.people, drop=["IPN"])
    for column, tests in _williams(materials).items():
        better, pvalue = tests["GLEU against M2"]
        words = f"{'below' if pvalue < 0.10 else 'not below'} 0.10"
        shown = words if column.endswith("Spearman") else f"{pvalue:.2f}"
        note = f"{better} is better, p = {pvalue:.5f}"
        cells["GLEU against M2, p", column] = Ours(shown, note)
    return cells


def _williams(materials: Materials) -> dict[str, dict[str, tuple[str, float]]]:
    """Test every two metrics: which is better, and the p-value, by ranking and coefficient."""
    compared = {
        "GLEU over I-measure": ("gleu", "imeasure"),
        "M2 over I-measure": ("m2score", "imeasure"),
        "GLEU against M2": ("gleu", "m2score"),
    }
    results = correlated(stored_scores(materials, "system"), materials.people)
    tests: dict[str, dict[str, tuple[str, float]]] = {}
    for who, kind in product(results, ("pearson", "spearman")):
        cells = results[who].williams[kind]
        tests[f"{who} {kind.capitalize()}"] = {
            column: (STORED[a], cells[a][b].pvalue)
            for column, pair in compared.items()
            for a, b in (pair, pair[::-1])
            if b in cells[a]
        }
    return tests


# --- sentences -----------------------------------------------------------------------------

_RULES: Mapping[str, TieRule] = {"HTies": "h-ties", "NoTies": "no-ties"}
_EXTRACTIONS: tuple[Extraction, ...] = ("expanded", "unexpanded")


def _table3(materials: Materials) -> Made:
    stored = stored_scores(materials, "sentence")
    best = materials.scored("conll14", [BEST])[BEST]
    scores = ScoreTable(stored.systems, stored.segments, {**stored, BEST: best})
    rankings = materials.judgments("gjg15").rankings
    cells: dict[tuple[str, str], Ours | float | str] = {}
    for pairs, (name, rule) in product(_EXTRACTIONS, _RULES.items()):
        design = SentenceDesign(pairs=pairs, ties=rule, unit="pair")
        results = correlate_sentences(scores, rankings, design=design)
        row = f"{pairs}, {name}"
        for metric, column in STORED.items():
            note = _LAST if column == "M2" else ""
            cells[row, column] = Ours(results[metric].tau.value, note)
        cells[row, "M2, best annotator"] = Ours(results[BEST].tau.value, "ours, scored anew")
        cells[row, "pairs"] = float(_counted(results["gleu"], rule))
        cells[row, "star"] = _star({m: results[m] for m in STORED})
    return cells


def _counted(agreement: MetricAgreement, rule: TieRule) -> int:
    """Return the number of pairs in the coefficient: people's ties count under one rule only."""
    counts = agreement.counts
    tied = counts.human_ties + counts.both_ties
    return counts.total - (tied if rule == "no-ties" else 0)


def _star(agreements: Mapping[str, MetricAgreement]) -> str:
    """Return the metric whose interval lies above those of all others, ``-`` if none does."""
    for metric, agreement in agreements.items():
        low = agreement.tau.low
        highs = [other.tau.high for name, other in agreements.items() if name != metric]
        if low is not None and all(high is not None and low > high for high in highs):
            return STORED[metric]
    return "-"


TABLES = {
    "table2": _table2,
    "table3": _table3,
    "figure1": _figure1,
    "figure2": _figure2,
    "text": _text,
}
