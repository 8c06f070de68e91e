"""Human Evaluation of Grammatical Error Correction Systems (EMNLP 2015): its tables.

Scores, shares and correlations follow from the data. Ranges of ranks, clusters and the figures of
Table 4 depend on random numbers, always with seed 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from math import comb

import numpy as np

from grammeter.core import FloatArray, MetricScores, Ranked, ranks_text
from grammeter.formats import dataset_path, read_score_file
from grammeter.meta import parse_betas, sweep_beta
from grammeter.papers.cells import Made, Ours, Value
from grammeter.papers.materials import Materials
from grammeter.ranking import Pairs, Resampling, TrueSkill, Unit, in_mean
from grammeter.stats import CoefficientName, correlate
from grammeter.study import group_outputs
from grammeter.verbs import agree, rank

SHOWN = 5
"""Largest number of outputs in an item."""

TRUESKILL_RUNS = 1000

Cells = dict[tuple[str, str], Ours | Value]


# --- items and judges ----------------------------------------------------------------------


def _section41(materials: Materials) -> Made:
    """Compare the outputs of different items of one sentence with more than five outputs."""
    distinct = _distinct_outputs(materials)
    shown: dict[int, dict[str | None, frozenset[frozenset[str]]]] = {}
    for ranking in materials.judgments("gjg15"):
        if not ranking.skipped:
            outputs = frozenset(map(frozenset, ranking.groups))
            shown.setdefault(ranking.segment, {})[ranking.item] = outputs
    compared = [
        (distinct[segment - 1], first == second)
        for segment, items in shown.items()
        for first, second in combinations(items.values(), 2)
        if distinct[segment - 1] > SHOWN
    ]
    row = "two items of one sentence of more than five outputs"
    return {
        (row, "pairs"): float(len(compared)),
        (row, "same outputs"): float(sum(same for _, same in compared)),
        (row, "by chance"): sum(1 / comb(outputs, SHOWN) for outputs, _ in compared),
    }


def _figure1(materials: Materials) -> Made:
    counts = Counter(_distinct_outputs(materials))
    bars = " ".join(str(counts[number]) for number in range(1, max(counts) + 1))
    mean = sum(number * count for number, count in counts.items()) / counts.total()
    return {("1 to 13 outputs", "sentences"): bars, ("mean", "outputs"): mean}


def _distinct_outputs(materials: Materials) -> list[int]:
    """Count the distinct outputs of each sentence, the input being one of 13 systems."""
    systems = materials.conll14.systems
    sentences = zip(*systems.values(), strict=True)
    return [len(group_outputs(dict(zip(systems, texts, strict=True)))) for texts in sentences]


def _table1(materials: Materials) -> Made:
    counts = agree(materials.judgments("gjg15")).to_dict()["counts"]
    return {
        (judge, column): float(figure)
        for judge, figures in counts.items()
        for column, figure in figures.items()
    }


def _table2a(materials: Materials) -> Made:
    agreement = agree(materials.judgments("gjg15"))
    free = agreement.kappas["orientation-free"]
    note = "with better and worse equally likely by chance it is {:.4f}"
    return {
        ("inter-annotator", "kappa"): Ours(agreement.inter.value, note.format(free.inter.value)),
        ("intra-annotator", "kappa"): Ours(agreement.intra.value, note.format(free.intra.value)),
    }


def _table2b(materials: Materials) -> Made:
    cells: Cells = {}
    for (first, second), kappa in agree(materials.judgments("gjg15")).pairs.items():
        few = Ours("*", f"{kappa.n} comparisons")
        cells[_number(first), _number(second)] = kappa.value if in_mean(kappa) else few
    return cells


def _table6(materials: Materials) -> Made:
    correlations = agree(materials.judgments("gjg15"), correlate=True)
    with_rest = {(judge, "others"): correlation for judge, correlation in correlations.rest.items()}
    cells: Cells = {}
    for (first, second), correlation in {**correlations.pairs, **with_rest}.items():
        cells[_number(first), _number(second)] = correlation.spearman
        cells[_number(second), _number(first)] = correlation.pearson
    cells["weighted mean", "rho"] = correlations.mean.spearman
    cells["weighted mean", "r"] = correlations.mean.pearson
    return cells


def _number(judge: str) -> str:
    return judge.removeprefix("annotator0")


# --- rankings ------------------------------------------------------------------------------


def _table3b(materials: Materials) -> Made:
    cells = _ranking_cells(_expected_wins(materials))
    units: tuple[Unit, ...] = ("pair", "ranking", "sentence")
    for name, unit in zip(("comparisons", "judgments", "sentences"), units, strict=True):
        clusters = max(row.cluster for row in _expected_wins(materials, unit).rows)
        cells[f"clusters, {name} resampled", "cluster"] = float(clusters)
    return cells


def _table3c(materials: Materials) -> Made:
    judgments, processes = materials.judgments("gjg15"), materials.settings.processes
    return _ranking_cells(
        rank(judgments, by=TrueSkill(), resamples=TRUESKILL_RUNS, processes=processes)
    )


def _ranking_cells(ranked: Ranked) -> Cells:
    cells: Cells = {}
    for row in ranked.rows:
        cells[row.system, "score"] = row.score
        cells[row.system, "ranks"] = ranks_text(row.ranks)
        cells[row.system, "cluster"] = float(row.cluster)
    return cells


def _expected_wins(materials: Materials, unit: Unit = "pair") -> Ranked:
    return rank(materials.judgments("gjg15"), unit=unit)


_PRINTED_MARK = {"**": "‡", "*": "†", "+": "*", "": ""}


def _table3d(materials: Materials) -> Made:
    cells: Cells = {}
    for cell in rank(materials.judgments("gjg15"), head_to_head=True).cells:
        cells[cell.row, cell.column] = cell.share
        cells[cell.row, f"{cell.column} mark"] = _PRINTED_MARK[cell.mark]
    return cells


@dataclass(frozen=True, kw_only=True)
class _TrueSkillLimit(TrueSkill):
    """TrueSkill without chance: one run per fold, the limit of many."""

    def runs(self, pairs: Pairs, resampling: Resampling) -> FloatArray:
        """Return the limit as the only run, shape ``(1, n)``."""
        return self.score(*pairs.counts())[None]


def _table4(materials: Materials) -> Made:
    predict = partial(rank, materials.judgments("gjg15"), validate=100, unit="pair")
    published, held_out = predict(training="makefile"), predict()
    # one run has no range of ranks, so that all of it, confidence 1, must do
    single = predict(resamples=1, confidence=1.0)
    limit = predict(by=_TrueSkillLimit(), confidence=1.0)
    shares = {
        ("total ordering", "expected wins"): single.order,
        ("total ordering", "trueskill"): limit.order,
        ("clusters", "expected wins"): published.clusters,
        ("clusters, folds held out", "expected wins"): held_out.clusters,
        ("everything tied", "expected wins"): held_out.all_tied,
        ("everything tied", "trueskill"): limit.all_tied,
    }
    return {key: 100 * share for key, share in shares.items()}


def _table7(materials: Materials) -> Made:
    rankings = materials.judgments("gjg15")
    cells: Cells = {}
    for judge in sorted({ranking.judge for ranking in rankings}):
        # the program behind this table leaves out opponents never beaten, has ranges of 90 %
        # and gives four decimals, of which the table prints three
        ranked = rank(
            rankings, judge=[judge], unit="pair", divisor="beaten-opponents", confidence=0.9
        )
        for row in ranked.rows:
            cells[row.system, f"{judge} score"] = Ours(round(row.score, 4), row.reason or "")
            cells[row.system, f"{judge} ranks"] = ranks_text(row.ranks)
        sizes = Counter(row.cluster for row in ranked.rows)
        cells["clusters", f"{judge} sizes"] = " ".join(map(str, sizes.values()))
    return cells


# --- metrics -------------------------------------------------------------------------------

_COEFFICIENTS: Mapping[str, CoefficientName] = {"rho": "spearman", "r": "pearson"}


def _table3a(materials: Materials) -> Made:
    return {("CAMB", "m2"): materials.scored("conll14", ["m2"])["m2"]["CAMB"].value}


def _table5(materials: Materials) -> Made:
    human = _printed_wins(materials)
    betas = (1.0, 0.5, 0.25, 0.18, 0.17, 0.1)
    sweep = sweep_beta(_metric(materials, "m2"), human, betas, choice="fixed")
    cells: Cells = {}
    for at, beta in enumerate(betas):
        cells[f"F{beta}", "rho"] = float(sweep.spearman[at])
        cells[f"F{beta}", "r"] = float(sweep.pearson[at])
    del cells["F0.17", "rho"]
    for row, name in (("I-WAcc", "iwacc"), ("BLEU", "bleu"), ("METEOR", "meteor")):
        column = _metric(materials, name)
        x, y = np.array([(column[system].value, score) for system, score in human.items()]).T
        for coefficient, kind in _COEFFICIENTS.items():
            cells[row, coefficient] = correlate(x, y, kind).statistic
    return cells


def _figure3(materials: Materials) -> Made:
    human = _printed_wins(materials)
    cells: Cells = {}
    rows = {"both annotators": "m2", "annotator 1": "m2.0", "annotator 2": "m2.1"}
    for row, name in rows.items():
        betas = parse_betas("0.01:1:0.01")
        sweep = sweep_beta(_metric(materials, name), human, betas, choice="fixed")
        for coefficient, kind in _COEFFICIENTS.items():
            beta, greatest = sweep.best(kind)
            cells[row, coefficient] = greatest
            cells[row, f"{coefficient} beta"] = beta
    return cells


def _printed_wins(materials: Materials) -> dict[str, float]:
    """Return Expected Wins to three decimals: the paper correlates what it prints."""
    return {row.system: round(row.score, 3) for row in _expected_wins(materials).rows}


def _metric(materials: Materials, name: str) -> MetricScores:
    return read_score_file(dataset_path("human_gjg15", f"metrics/scores.{name}"))[name]


TABLES = {
    "section4.1": _section41,
    "figure1": _figure1,
    "table1": _table1,
    "table2a": _table2a,
    "table2b": _table2b,
    "table3a": _table3a,
    "table3b": _table3b,
    "table3c": _table3c,
    "table3d": _table3d,
    "table4": _table4,
    "table5": _table5,
    "table6": _table6,
    "table7": _table7,
    "figure3": _figure3,
}
