"""Human Evaluation of Grammatical Error Correction Systems (EMNLP 2015): its tables.

Scores, shares and correlations follow from the data. Ranges of ranks, clusters and the figures of
Table 4 depend on random numbers, with seeds from 1 upwards.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from math import comb
from typing import Literal

import numpy as np

from grammeter import core, stats, study, verbs
from grammeter.formats import dataset_path, read_score_file, read_text
from grammeter.meta import parse_betas, sweep_beta
from grammeter.papers.cells import Cells, Made, Ours
from grammeter.papers.materials import Materials, by_name, in_rows
from grammeter.ranking import Pairs, Prediction, Resampling, TrueSkill, in_mean

SHOWN = 5  # largest number of outputs in an item
TRUESKILL_RUNS = 1000
SEEDS, LONG_SEEDS = 5, 46  # of cross-validations, without and with `long`
FOLDS = 100
SEEDS_OF_RANGES = 20
"""Of the ranges and clusters of single judges: how often does chance give the printed one?"""


# --- items and judges ----------------------------------------------------------------------
def _section41(materials: Materials) -> Made:
    distinct = _distinct_outputs(materials)
    shown: dict[int, dict[str | None, set[frozenset[str]]]] = {}
    for ranking in materials.judgments("gjg15"):
        if not ranking.skipped:
            shown.setdefault(ranking.segment, {})[ranking.item] = {*map(frozenset, ranking.groups)}
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
    outputs = _distinct_outputs(materials)
    bars = range(1, len(materials.conll14.systems) + 1)
    cells = {(f"{n} distinct outputs", "sentences"): float(outputs.count(n)) for n in bars}
    return {("mean", "outputs"): sum(outputs) / len(outputs), **cells}


def _figure2b(materials: Materials) -> Made:
    items = {"top graph": ("annotator03", "426"), "bottom graph": ("annotator05", "1215")}
    sizes = {
        row: len(ranking.systems)
        for ranking in materials.judgments("gjg15").rankings
        for row, item in items.items()
        if (ranking.judge, ranking.item) == item
    }
    rows = {**sizes, "usual, five outputs": SHOWN}.items()
    return in_rows({row: {"systems": float(n), "pairs": float(comb(n, 2))} for row, n in rows})


def _distinct_outputs(materials: Materials) -> list[int]:
    systems = materials.conll14.systems
    sentences = zip(*systems.values(), strict=True)
    return [len(study.group_outputs(dict(zip(systems, texts, strict=True)))) for texts in sentences]


def _table1(materials: Materials) -> Made:
    counts = verbs.agree(materials.judgments("gjg15")).to_dict()["counts"].items()
    return {(judge, of): float(n) for judge, figures in counts for of, n in figures.items()}


def _table2a(materials: Materials) -> Made:
    agreement = verbs.agree(materials.judgments("gjg15"))
    free = agreement.kappas["orientation-free"]
    note = "with better and worse equally likely by chance it is {:.4f}"
    return {
        ("inter-annotator", "kappa"): Ours(agreement.inter.value, note.format(free.inter.value)),
        ("intra-annotator", "kappa"): Ours(agreement.intra.value, note.format(free.intra.value)),
    }


def _table2b(materials: Materials) -> Made:
    cells: Cells = {}
    for (one, other), kappa in verbs.agree(materials.judgments("gjg15")).pairs.items():
        ours = Ours(kappa.value) if in_mean(kappa) else Ours("*", f"{kappa.n} comparisons")
        cells[_number(one), _number(other)] = ours
    return cells


def _table6(materials: Materials) -> Made:
    correlations = verbs.agree(materials.judgments("gjg15"), correlate=True)
    with_rest = {(judge, "others"): correlation for judge, correlation in correlations.rest.items()}
    cells: Cells = {}
    for (first, second), correlation in {**correlations.pairs, **with_rest}.items():
        cells[_number(first), _number(second)] = Ours(correlation.spearman)
        cells[_number(second), _number(first)] = Ours(correlation.pearson)
    cells["weighted mean", "rho"] = Ours(correlations.mean.spearman)
    cells["weighted mean", "r"] = Ours(correlations.mean.pearson)
    return cells


def _number(judge: str) -> str:
    return judge.removeprefix("annotator0")


# --- rankings ------------------------------------------------------------------------------
_RANKED = ("score", "ranks", "cluster")


def _table3b(materials: Materials) -> Made:
    return _ranking_cells(_expected_wins(materials))


def _table3c(materials: Materials) -> Made:
    judgments, processes = materials.judgments("gjg15"), materials.settings.processes
    ranked = verbs.rank(judgments, by=TrueSkill(), resamples=TRUESKILL_RUNS, processes=processes)
    return _ranking_cells(ranked)


def _ranking_cells(ranked: core.Ranked) -> Made:
    rows = {r.system: (r.score, core.ranks_text(r.ranks), float(r.cluster)) for r in ranked.rows}
    return in_rows({s: dict(zip(_RANKED, row, strict=True)) for s, row in rows.items()})


def _expected_wins(materials: Materials) -> core.Ranked:
    return verbs.rank(materials.judgments("gjg15"), unit="pair")


_PRINTED_MARK = {"**": "‡", "*": "†", "+": "*", "": ""}


def _table3d(materials: Materials) -> Made:
    cells: Cells = {}
    for cell in verbs.rank(materials.judgments("gjg15"), head_to_head=True).cells:
        cells[cell.row, cell.column] = Ours(cell.share)
        cells[cell.row, f"{cell.column} mark"] = Ours(_PRINTED_MARK[cell.mark])
        winner = cell.wins > cell.losses  # not by the share, which two systems may print as .50
        cells[cell.row, f"{cell.column} bold"] = Ours("bold" if winner else "plain")
    return cells


@dataclass(frozen=True, kw_only=True)
class _TrueSkillLimit(TrueSkill):
    """TrueSkill without chance: one run per fold, the limit of many."""

    def runs(self, pairs: Pairs, resampling: Resampling) -> core.FloatArray:
        return self.score(*pairs.counts())[None]


def _table4(materials: Materials) -> Made:
    predict = partial(verbs.rank, materials.judgments("gjg15"), validate=FOLDS, unit="pair")
    repeats = LONG_SEEDS if materials.settings.long else SEEDS
    # one run has no range of ranks, so that all of it, confidence 1, must do
    order = predict(resamples=1, confidence=1.0, repeats=repeats)
    held_out = predict(repeats=repeats)
    by_makefile = predict(training="makefile", repeats=repeats)
    limit = predict(by=_TrueSkillLimit(), confidence=1.0)
    cells = {
        ("total ordering", "expected wins"): _mean(order, "order"),
        ("total ordering", "trueskill"): Ours(100 * limit.order, "the limit of many runs"),
        ("clusters", "expected wins"): _mean(by_makefile, "clusters"),
        ("clusters, folds held out", "expected wins"): _mean(held_out, "clusters"),
        ("everything tied", "expected wins"): Ours(100 * held_out.all_tied),
        ("everything tied", "trueskill"): Ours(100 * limit.all_tied),
    }
    if materials.settings.long:
        slow = predict(by=TrueSkill(), training="makefile", processes=materials.settings.processes)
        cells["clusters", "trueskill"] = Ours(100 * slow.clusters, "seed 1")
    return cells


def _mean(prediction: Prediction, of: Literal["clusters", "order"]) -> Ours:
    seeds, deviation = prediction.signature["seed"], 100 * prediction.deviations[of]
    note = f"the mean of seeds {seeds}, standard deviation {deviation:.2f}"
    return Ours(100 * getattr(prediction, of), note)


def _section53(materials: Materials) -> Made:
    """Predict the judgments by clusters of systems whose scores lie near each other."""
    predict = partial(verbs.rank, materials.judgments("gjg15"), draw_radius=True)
    cells: Cells = {}
    for by in ("expected-wins", "trueskill"):
        for row in predict(by=by).radii:
            name = f"{row.clusters} cluster{'s' * (row.clusters > 1)}"
            ours = Ours(100 * row.accuracy, f"from radius {row.radius:.4f}")
            cells[name, by.replace("-", " ")] = ours
    return cells


def _table7(materials: Materials) -> Made:
    cells: Cells = {}
    for judge in _judges(materials):
        runs = [_of_judge(materials, judge, seed) for seed in range(1, 1 + SEEDS_OF_RANGES)]
        for row in runs[0].rows:
            system = row.system
            cells[system, f"{judge} score"] = Ours(round(row.score, 4), row.reason or "")
            ranks = (core.ranks_text(run[system].ranks) for run in runs)
            cells[system, f"{judge} ranks"] = Ours.over_seeds(ranks)
            clusters = (float(run[system].cluster) for run in runs)
            cells[system, f"{judge} cluster"] = Ours.over_seeds(clusters)
    return cells


def _judges(materials: Materials) -> list[str]:
    return sorted({ranking.judge for ranking in materials.judgments("gjg15").rankings})


def _of_judge(materials: Materials, judge: str, seed: int = 1) -> core.Ranked:
    """Rank as the program behind Table 7, without opponents that were never beaten; 90 % ranges."""
    judgments, divisor = materials.judgments("gjg15"), "beaten-opponents"
    by_judge = partial(verbs.rank, judgments, judge=[judge], unit="pair", divisor=divisor)
    return by_judge(confidence=0.9, seed=seed)


# --- text ----------------------------------------------------------------------------------
def _text(materials: Materials) -> Made:
    rankings, corpus = materials.judgments("gjg15").rankings, materials.conll14
    types = {edit.type for gold in corpus.gold for edits in gold.values() for edit in edits}
    annotators = {number for gold in corpus.gold for number in gold}
    ranked = [row.system for row in _expected_wins(materials).rows]
    clusters = Counter(row.cluster for row in _expected_wins(materials).rows)
    first = Counter(next(iter(_of_judge(materials, judge))) for judge in _judges(materials))
    essays = read_text(dataset_path("conll14_test", "noalt/official-2014.0.sgml"))
    counts = {
        "error types (section 3)": len(types - {"noop"}),
        "test essays": essays.count("<DOC "),
        "annotators of essays": len(annotators),
        "sentences n (4.1)": len(corpus),
        "system outputs available": len(corpus.systems) - 1,
        "systems with INPUT N": len(corpus.systems),
        "M": max(len(ranking.groups) for ranking in rankings),
        "judges (4.2)": len(_judges(materials)),
        "clusters of the final ranking (5.4)": len(clusters),
        "judges for whom AMU has the highest score": first["AMU"],
        "judges who put CAMB first": first["CAMB"],
        "systems below INPUT": len(ranked) - 1 - ranked.index("INPUT"),
        "place of CAMB by Expected Wins (5.4)": 1 + ranked.index("CAMB"),
        "systems of the second cluster (5.4)": clusters[2],
        "place of RAC (5.4)": 1 + ranked.index("RAC"),
        "place of NTHU from below (5.4)": len(ranked) - ranked.index("NTHU"),
    }
    return {(row, "value"): float(count) for row, count in counts.items()}


# --- metrics -------------------------------------------------------------------------------
_COEFFICIENTS: Mapping[str, stats.CoefficientName] = {"rho": "spearman", "r": "pearson"}


def _table3a(materials: Materials) -> Made:
    scores = materials.scored("conll14", ["m2"])["m2"]
    ranked = sorted(scores.items(), key=lambda item: -item[1].value)
    parts = {"p": "precision", "r": "recall"}
    rows: dict[str, dict[str, float]] = {}
    for place, (system, score) in enumerate(ranked, start=1):
        shares = {column: score.parts[part] for column, part in parts.items()}
        rows[system] = {"rank": float(place), "m2": score.value} | shares
    return in_rows(rows)


def _table5(materials: Materials) -> Made:
    human = _printed_wins(materials)
    betas = (1.0, 0.5, 0.25, 0.18, 0.1)
    sweep = sweep_beta(_metric(materials, "m2"), human, betas, choice="fixed")
    cells: Cells = {}
    for at, beta in enumerate(betas):
        cells[f"F{beta}", "rho"] = _stored(sweep.spearman[at])
        cells[f"F{beta}", "r"] = _stored(sweep.pearson[at])
    for row, name in (("I-WAcc", "iwacc"), ("BLEU", "bleu"), ("METEOR", "meteor")):
        column = _metric(materials, name)
        x, y = np.array([(column[system].value, score) for system, score in human.items()]).T
        for coefficient, kind in _COEFFICIENTS.items():
            cells[row, coefficient] = _stored(stats.correlate(x, y, kind).statistic)
    return cells


def _stored(value: float) -> Ours:
    return Ours(float(value), "from the scores that the authors stored", "stored")


CURVES = {"combined": "m2", "annotator 1": "m2.0", "annotator 2": "m2.1"}


def _figure3_curves(materials: Materials) -> Made:
    human, betas = _printed_wins(materials), parse_betas("0.01:1:0.01")
    cells: Cells = {}
    for row, name in CURVES.items():
        sweep = sweep_beta(_metric(materials, name), human, betas, choice="fixed")
        for coefficient, values in (("rho", sweep.spearman), ("r", sweep.pearson)):
            for beta, value in zip(betas, values, strict=True):
                cells[f"{row}, {coefficient}", f"beta {beta:.2f}"] = _stored(value)
    return cells


def _figure3(materials: Materials) -> Made:
    human, betas = _printed_wins(materials), (0.5, 0.25, 0.18, 0.1)
    column = _metric(materials, "m2")
    best, _ = sweep_beta(column, human, parse_betas("0.01:1:0.01"), choice="fixed").best("spearman")
    official, higher, greatest, low = sweep_beta(column, human, betas, choice="fixed").spearman
    cells = {
        "higher than official": _stored(0.25 if higher > official else np.nan),
        "maximum": _stored(best),
        "drops sharply at": _stored(0.1 if greatest - low > 0.05 else np.nan),
    }
    return {(row, "beta"): ours for row, ours in cells.items()}


def _printed_wins(materials: Materials) -> dict[str, float]:
    """Return Expected Wins to three decimals: the paper correlates what it prints."""
    return {row.system: round(row.score, 3) for row in _expected_wins(materials).rows}


def _metric(materials: Materials, name: str) -> core.MetricScores:
    return read_score_file(dataset_path("human_gjg15", f"metrics/scores.{name}"))[name]


TABLES = {"section4.1": _section41, "section5.3": _section53} | by_name(
    *(_figure1, _figure2b, _figure3, _figure3_curves, _table1, _table2a, _table2b, _table3a),
    *(_table3b, _table3c, _table3d, _table4, _table5, _table6, _table7, _text),
)
