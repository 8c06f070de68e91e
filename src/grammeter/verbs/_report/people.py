"""The sections about people: their ranking, their agreement, and metrics against them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from grammeter.core import Ranked, ScoreTable
from grammeter.meta import FEW_SYSTEMS, SystemMeta
from grammeter.ranking import Agreement
from grammeter.rendering import Drawing, Point, Section, draw, scatter

CAPTIONS = {
    "agreement": "Agreement between and within judges",
    "file": "Agreement in each file",
    "kappa": "Kappa of each two judges; of one judge with itself on the diagonal",
    "judge": "What each judge did",
    "metric": "Correlations of metrics with people's scores",
    "better (pearson)": "Williams' test (pearson): p that the row's metric correlates better",
    "better (spearman)": "Williams' test (spearman): p that the row's metric correlates better",
    "without": "Correlations without each system",
    "best K": "Correlations of the best systems by people",
}
"""Captions of tables by their first head."""


def ranking_section(ranked: Ranked) -> Section:
    """Show a ranking by people: scores, ranges of ranks and clusters."""
    words = (
        "The range of ranks is that of resampled judgments; systems of different clusters differ"
        " in nearly all of them.",
    )
    drawings = tuple(map(draw, ranked.figures().values()))
    caption = f"Systems by {ranked.method}"
    tables = tuple(ranked.tables())
    return Section("ranking", "Ranking by people", words, tables, drawings, (caption,))


def agreement_section(agreement: Agreement) -> Section:
    """Show the agreement of judges."""
    words = (
        "Cohen's kappa on pairs of outputs that were ranked together, and Krippendorff's alpha of"
        " the ranks.",
    )
    tables = tuple(agreement.tables())
    captions = tuple(CAPTIONS[table.columns[0].head] for table in tables)
    return Section("agreement", "Agreement", words, tables, captions=captions)


def correlation_section(
    meta: SystemMeta, table: ScoreTable, human: Mapping[str, float], left_out: Sequence[str]
) -> Section:
    """Show how metrics correlate with people.

    Parameters
    ----------
    table, human
        Scores to draw against each other; ``human`` is empty if people's scores are unknown.
    left_out
        Sentences that name the systems left out.
    """
    systems = len(meta.systems)
    few = f"{systems} systems are few: correlations vary widely by chance."
    human_scores = re.split(r"[|(]", meta.design.human)[0]  # of a signature only the method
    words = [f"{systems} systems, against people's scores ({human_scores}).", *left_out]
    words += [few] if systems < FEW_SYSTEMS else []
    tables = tuple(meta.tables())
    captions = tuple(CAPTIONS[table.columns[0].head] for table in tables)
    drawings = tuple(_scatters(meta, table, human))
    title = "Metrics and people"
    return Section("correlations", title, tuple(words), tables, drawings, captions)


def _scatters(meta: SystemMeta, table: ScoreTable, human: Mapping[str, float]) -> Iterator[Drawing]:
    for name, column in table.items() if human else ():
        points = [
            Point(system, human[system], column[system].value)
            for system in meta.systems
            if system in human and system in column.scores
        ]
        words = f": {meta[name].caption()}" if name in meta else ""
        yield scatter(
            points,
            title=f"{name} against people",
            caption=f"{name} against people's scores{words}.",
            x_label="people's score",
            y_label=name if column.higher_is_better else f"{name} (lower is better)",
        )
