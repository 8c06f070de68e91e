"""Large Language Models Are State-of-the-Art Evaluator for Grammatical Error Correction.

Its tables (BEA 2024). The judgments of its LLM evaluators were not released, and their models are
shut down; but Appendix B prints their scores, and these are correlated with people's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np

from grammeter.core import MetricScores, Ranking, Score, ScoreTable, Signature
from grammeter.errant import find_pipeline
from grammeter.formats import benchmark
from grammeter.meta import (
    TESTED,
    Design,
    SentenceDesign,
    TieRule,
    Window,
    correlate_sentences,
    correlate_systems,
    correlate_windows,
)
from grammeter.papers.cells import Made, Ours, Value, read_tables
from grammeter.papers.materials import Materials
from grammeter.ranking import cluster_numbers

PAPER = "kobayashi2024"
JUDGED = {"SEEDA-E": "seeda-e", "SEEDA-S": "seeda-s"}
SETS = ("base", "+fluent")

CONVENTIONAL = {"M2": "m2", "GLEU": "gleu"}
"""Metrics whose rows of Table 1 can be reproduced to the last digit."""

EXTRACTED = {"ERRANT": "errant", "GoToScorer": "gotoscorer(annotator=1)"}
"""Metrics that extract edits."""

TAKEN = {
    "ERRANT": "gold edits taken from the two reference texts",
    "GoToScorer": "gold edits taken from the second reference text",
}

COPY = ", PIE's outputs for LM-Critic's"
"""Suffix of a row that uses the outputs as they were released until December 2024."""

BY_NAME = (
    "not printed: a tie of the metric is decided by the names of the systems, as in the rows of"
    " the LLM evaluators; in the paper's row of this metric it is no answer"
)
NOT_KNOWN = "which edits the paper extracted, with which pipeline, is not known"
Say = Callable[[float], Ours]
"""Makes a figure of a value, with a note."""


# --- Table 1, system level -----------------------------------------------------------------


def _table1(materials: Materials) -> Made:
    copied = partial(Ours, note="with PIE's outputs, as LM-Critic's were until December 2024")
    said: dict[str, Say] = {row + COPY: copied for row in CONVENTIONAL}
    said |= {row: partial(Ours, note="from the scores of appendix B") for row in _evaluators()}
    nearest = "today's outputs; of what was tried this came nearest"
    said |= {row: _extracted(row, nearest) for row in EXTRACTED}
    return {
        (row, column): said.get(row, Ours)(value) for row, column, value in _correlations(materials)
    }


def _correlations(materials: Materials) -> Iterator[tuple[str, str, float]]:
    """Yield row, column and Pearson's or Spearman's coefficient."""
    table, design = _scores(materials), Design(interval="none")
    for (judged, name), chosen in product(JUDGED.items(), SETS):
        human = materials.seeda_people[name]
        result = correlate_systems(table, human, systems=[chosen], design=design)
        for row, metric in result.items():
            for short, kind in zip(("r", "rho"), TESTED, strict=True):
                yield row, f"{judged} {chosen} {short}", metric[kind].value


def _scores(materials: Materials) -> ScoreTable:
    """Return the scores of all systems by the available metrics of Table 1, by row."""
    judged = materials.scored("seeda_judged", list(CONVENTIONAL.values()))
    texts = materials.scored("seeda_texts", list(EXTRACTED.values()))
    published = benchmark("seeda-e").as_published(judged)
    columns = _evaluators()
    for row, metric in CONVENTIONAL.items():
        columns[row] = judged[metric]
        columns[row + COPY] = published[metric]
    columns |= {row: texts[metric] for row, metric in EXTRACTED.items()}
    return ScoreTable(judged.systems, judged.segments, columns)


def _evaluators() -> dict[str, MetricScores]:
    signature = Signature.of("trueskill", {"printed": f"{PAPER} appendix B"})
    scores: dict[str, dict[str, Score]] = {}
    for row, value in _appendix("score").items():
        evaluator, _, system = row.partition(": ")
        scores.setdefault(evaluator, {})[system] = Score(float(value), signature, 0)
    return {
        name: MetricScores(name, signature, True, by_system) for name, by_system in scores.items()
    }


def _appendix(column: str) -> dict[str, Value]:
    """Return what Appendix B prints, by evaluator and system, best first."""
    cells = read_tables(PAPER)["table2"].cells.items()
    return {row: p.value for (row, name), p in cells if name == column and p.value is not None}


def _extracted(row: str, *more: str) -> Say:
    """Return a note that names the pipeline and the gold edits of a metric that extracts edits."""
    by = f"edits by the pipeline {find_pipeline().name}"
    return partial(Ours, note="; ".join([by, TAKEN[row], *more]))


# --- Table 1, sentence level ---------------------------------------------------------------


def _table1_sentence(materials: Materials) -> Made:
    judged = materials.scored("seeda_judged", ["sentm2", "gleu"])
    texts = materials.scored("seeda_texts", ["senterrant", EXTRACTED["GoToScorer"]])
    unknown = "how the paper scored single sentences is not known"
    gotoscorer = _extracted("GoToScorer", unknown)
    by_name = partial(Ours, note=BY_NAME)
    # as printed GoToScorer's tau is twice its accuracy less 1: no tie of the metric is neutral
    rows: tuple[tuple[str, MetricScores, TieRule, Say], ...] = (
        ("M2", judged["sentm2"], "three-way", Ours),
        ("M2, ties as in the LLM rows", judged["sentm2"], "seeda-script", by_name),
        ("ERRANT", texts["senterrant"], "three-way", _extracted("ERRANT", NOT_KNOWN)),
        ("GoToScorer", texts[EXTRACTED["GoToScorer"]], "seeda-script", gotoscorer),
        ("GLEU", judged["gleu"], "three-way", Ours),
        ("GLEU, ties as in the LLM rows", judged["gleu"], "seeda-script", by_name),
    )
    return {
        (row, name): say(value)
        for row, column, ties, say in rows
        for name, value in _agreement(materials, column, ties)
    }


def _agreement(
    materials: Materials, column: MetricScores, ties: TieRule
) -> Iterator[tuple[str, float]]:
    """Yield column and value: accuracy and tau over all pairs of systems of each judgment."""
    design = SentenceDesign(pairs="expanded", ties=ties, resamples=0)
    table = ScoreTable(tuple(column), len(materials.seeda_judged), {column.metric: column})
    for (judged, name), chosen in product(JUDGED.items(), SETS):
        rankings = _rankings(materials, name)
        (agreement,) = correlate_sentences(
            table, rankings, design=design, systems=[chosen]
        ).metrics.values()
        yield f"{judged} {chosen} accuracy", agreement.accuracy.value
        yield f"{judged} {chosen} tau", agreement.tau.value


def _rankings(materials: Materials, name: str) -> Sequence[Ranking]:
    """Return judgments with sentence numbers of the corpus of judged sentences."""
    place = {segment: at for at, segment in enumerate(materials.seeda_segments, start=1)}
    rankings = materials.judgments(name).rankings
    return [replace(ranking, segment=place[ranking.segment]) for ranking in rankings]


# --- Appendix B ----------------------------------------------------------------------------


def _table2(materials: Materials) -> Made:
    """Compute the clusters from the printed ranges of ranks."""
    ranges: dict[str, dict[str, tuple[int, int]]] = {}
    for row, value in _appendix("range").items():
        first, _, last = str(value).partition("-")
        ranges.setdefault(row.partition(": ")[0], {})[row] = (int(first), int(last or first))
    return {
        (row, "cluster"): Ours(float(number), "from the printed ranges")
        for rows in ranges.values()
        for row, number in zip(rows, cluster_numbers(list(rows.values())), strict=True)
    }


# --- the window analysis -------------------------------------------------------------------


def _figure_window(materials: Materials) -> Made:
    table = _scores(materials)
    cells: dict[tuple[str, str], Ours] = {}
    for judged, name in JUDGED.items():
        human = materials.seeda_people[name]
        windows = correlate_windows(table, human, size=4, systems=["base"])
        for row, window in product([*_evaluators(), *CONVENTIONAL], windows):
            best, worst = human[window.systems[0]], human[window.systems[-1]]
            note = f"no number is printed; people's scores of the four span {best - worst:.3f}"
            value = window.metrics[row]["pearson"].value
            cells[f"{row}, {judged}", f"x={window.last}"] = Ours(value, note)
        if judged == "SEEDA-S":
            cells["mean of the LLM evaluators, SEEDA-S", "lowest at x"] = _lowest(windows)
    return cells


def _lowest(windows: Sequence[Window]) -> Ours:
    """Return the window with the lowest mean correlation of the evaluators."""
    means = {
        window.last: float(np.mean([window.metrics[row]["pearson"].value for row in _evaluators()]))
        for window in windows
    }
    lowest = min(means, key=lambda last: means[last])
    return Ours(float(lowest), f"the mean of the ten is {means[lowest]:.3f} there")


TABLES = {
    "table1": _table1,
    "table1_sentence": _table1_sentence,
    "table2": _table2,
    "figure_window": _figure_window,
}
