"""Large Language Models Are State-of-the-Art Evaluator for Grammatical Error Correction.

Its tables (BEA 2024). The judgments of its LLM evaluators were not released, and their models are
shut down; but Appendix B prints their scores, and these are correlated with people's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from grammeter.core import MetricScores, Ranking, Score, ScoreTable, Signature
from grammeter.formats import benchmark
from grammeter.papers.cells import Ours, Tolerance, read_tables
from grammeter.papers.materials import Materials
from grammeter.papers.recipe import Made, Recipe

if TYPE_CHECKING:
    from grammeter.meta import TieRule, Window

PAPER = "kobayashi2024"
DATA = ("conll14_test", "seeda")
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

NO_ANSWERS = "needs the evaluators' answers, which were not released; their models are shut down"
BY_NAME = (
    "not printed: a tie of the metric is decided by the names of the systems, as in the rows of"
    " the LLM evaluators; in the paper's row of this metric it is no answer"
)
NOT_KNOWN = "which edits the paper extracted, with which pipeline, is not known"
GAPS = {
    "PT-M2": "needs bert-base-uncased",
    "Scribendi Score": "needs gpt2",
    "SOME": "needs SOME's three models, which are BERT-base",
    "IMPARA": "needs IMPARA's quality model and bert-base-cased",
}

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
    from grammeter.meta import Design, correlate_systems

    table, design = _scores(materials), Design(interval="none")
    for (judged, name), chosen in product(JUDGED.items(), SETS):
        human = materials.seeda_people[name]
        result = correlate_systems(table, human, systems=[chosen], design=design)
        for row, metric in result.items():
            yield row, f"{judged} {chosen} r", metric["pearson"].value
            yield row, f"{judged} {chosen} rho", metric["spearman"].value


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
    """Return the scores of Appendix B by evaluator."""
    scores: dict[str, dict[str, Score]] = {}
    signature = Signature.of("trueskill", {"printed": f"{PAPER} appendix B"})
    for (row, column), printed in read_tables(PAPER)["table2"].cells.items():
        if column == "score" and isinstance(printed.value, int | float):
            evaluator, system = _evaluator_and_system(row)
            scores.setdefault(evaluator, {})[system] = Score(printed.value, signature, 0)
    return {
        name: MetricScores(name, signature, True, by_system) for name, by_system in scores.items()
    }


def _evaluator_and_system(row: str) -> tuple[str, str]:
    evaluator, _, system = row.partition(": ")
    return evaluator, system


def _extracted(row: str, *more: str) -> Say:
    """Return a note that names the pipeline and the gold edits of a metric that extracts edits."""
    from grammeter.errant import find_pipeline

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
    from grammeter.meta import SentenceDesign, correlate_sentences

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
    from grammeter.ranking import cluster_numbers

    cells: dict[tuple[str, str], Ours] = {}
    for rows in _printed_ranges().values():
        numbers = cluster_numbers(list(rows.values()))
        for row, number in zip(rows, numbers, strict=True):
            cells[row, "cluster"] = Ours(float(number), "from the printed ranges")
    return cells


def _printed_ranges() -> Mapping[str, Mapping[str, tuple[int, int]]]:
    """Return first and last rank by evaluator and row, best first as printed."""
    ranges: dict[str, dict[str, tuple[int, int]]] = {}
    for (row, column), printed in read_tables(PAPER)["table2"].cells.items():
        if column == "range":
            first, _, last = str(printed.value).partition("-")
            evaluator, _ = _evaluator_and_system(row)
            ranges.setdefault(evaluator, {})[row] = (int(first), int(last or first))
    return ranges


# --- the window analysis -------------------------------------------------------------------


def _figure_window(materials: Materials) -> Made:
    from grammeter.meta import correlate_windows

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


_CLOSE = Tolerance(0.01, NOT_KNOWN)

RECIPES = (
    Recipe(
        table="table1",
        make=_table1,
        data=DATA,
        tolerances=dict.fromkeys(EXTRACTED, _CLOSE),
        gaps=GAPS,
    ),
    Recipe(
        table="table1_sentence",
        make=_table1_sentence,
        data=DATA,
        gaps={
            **GAPS,
            "*": f"{NO_ANSWERS}; a tie of the metric counts as an answer here (tau is 2 accuracy"
            " - 1), in the conventional rows it does not",
        },
    ),
    Recipe(
        table="table2",
        make=_table2,
        gaps={"*": f"{NO_ANSWERS}; the scores go into table1 and figure_window"},
    ),
    Recipe(table="figure_window", make=_figure_window, data=DATA),
)
