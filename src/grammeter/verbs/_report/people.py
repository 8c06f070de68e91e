"""The sections about people: ranking, agreement, and correlations of metrics with people."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from grammeter.core import Ranked, ScoreTable, ranks_text
from grammeter.rendering import (
    Column,
    Drawing,
    Point,
    Section,
    Table,
    format_number,
    number_column,
    of_columns,
    rank_ranges,
    scatter,
)
from grammeter.verbs._report.scores import Shape, finite, interval, number, pvalue

KINDS = ("pearson", "spearman", "kendall")
FEW_SYSTEMS = 10
WIDEST = 20
"""Largest number of judges in a matrix."""


def ranking_section(ranked: Ranked) -> Section:
    """Lay out a ranking by people: scores, ranges of ranks and clusters."""
    rows = tuple(
        (row.system, format_number(row.score), ranks_text(row.ranks), str(row.cluster))
        for row in ranked.values()
    )
    notes = [f"{row.system}: {row.reason}" for row in ranked.values() if row.reason]
    words = (
        "The range of ranks is that of resampled judgments; systems of different clusters differ"
        " in nearly all of them.",
    )
    table = Table(("system", "score", "ranks", "cluster"), rows, "lrrr", tuple(notes))
    return Section(
        "ranking",
        "Ranking by people",
        words,
        (table,),
        (rank_ranges(ranked),),
        (f"Systems by {ranked.method}",),
    )


def agreement_section(shape: Shape) -> Section:
    """Lay out the agreement of judges; ``shape`` is the public JSON of ``agree``."""
    words = (
        "Cohen's kappa on pairs of outputs that were ranked together, and Krippendorff's alpha of"
        " the ranks.",
    )
    tables = {
        "Agreement between and within judges": _agreement_summary(shape),
        "What each judge did": _judge_counts(shape),
    }
    judges = [judge for judge in shape["counts"] if judge != "total"]
    if len(judges) <= WIDEST:
        tables["Kappa of each two judges; of one judge with itself on the diagonal"] = (
            _kappa_matrix(shape, judges)
        )
    return Section("agreement", "Agreement", words, tuple(tables.values()), captions=tuple(tables))


def correlation_section(
    shape: Shape, table: ScoreTable, human: Mapping[str, float], left_out: Sequence[str]
) -> Section:
    """Lay out how metrics correlate with people; ``shape`` is the public JSON of ``meta system``.

    Parameters
    ----------
    table, human
        Scores to draw against each other; ``human`` is empty if people's scores are unknown.
    left_out
        Sentences that name the systems left out.
    """
    systems = len(shape["systems"])
    few = f"{systems} systems are few: correlations vary widely by chance."
    human_scores = re.split(r"[|(]", shape["human"])[0]  # of a signature only the method
    words = [f"{systems} systems, against people's scores ({human_scores}).", *left_out]
    words += [few] if systems < FEW_SYSTEMS else []
    tables = {"Correlations of metrics with people's scores": correlation_table(shape)}
    if len(shape["metrics"]) > 1:
        for kind in shape["williams"]:
            caption = f"Williams' test ({kind}): p that the row's metric correlates better"
            tables[caption] = williams_table(shape, kind)
    return Section(
        "correlations",
        "Metrics and people",
        tuple(words),
        tuple(tables.values()),
        tuple(_scatters(shape, table, human)),
        tuple(tables),
    )


def correlation_table(shape: Shape) -> Table:
    """Lay out a row for each metric: coefficients, intervals, p-values."""
    metrics: Shape = shape["metrics"]
    columns = [Column("metric", list(metrics), "l")]
    for kind in KINDS:
        results = [metric[kind] for metric in metrics.values()]
        columns += [
            number_column(kind, [finite(result["value"]) for result in results], 3, higher=True),
            Column("interval", [interval(result) for result in results]),
            Column("p", [pvalue(result["pvalue"]) for result in results]),
        ]
    return of_columns(columns, _reasons(metrics))


def williams_table(shape: Shape, kind: str) -> Table:
    """Lay out one-sided p-values; a dash where the row's metric correlates no better."""
    names, cells = list(shape["metrics"]), shape["williams"][kind]

    def cell(first: str, second: str) -> str:
        return pvalue(cells[first][second]["pvalue"]) if second in cells[first] else "-"

    return _square(f"better ({kind})", names, cell)


# --- parts ---------------------------------------------------------------------------------


def _square(
    head: str, names: Sequence[str], cell: Callable[[str, str], str], notes: Sequence[str] = ()
) -> Table:
    """Lay out a cell for each row and column of the same names."""
    columns = (Column(column, [cell(row, column) for row in names]) for column in names)
    return of_columns([Column(head, names, "l"), *columns], notes)


def _reasons(metrics: Shape) -> Iterator[str]:
    for name, metric in metrics.items():
        reasons = {metric[kind].get("reason") for kind in KINDS} - {None}
        yield from (f"{name}: {reason}" for reason in sorted(reasons))


def _agreement_summary(shape: Shape) -> Table:
    names = {"inter": "between judges", "intra": "within judges"}
    keys = ("kappa", "observed", "chance")
    rows = tuple(
        (
            label,
            *(number(shape[name][key]) for key in keys),
            str(shape[name]["n"]),
            number(shape.get("alpha", {}).get(name, {}).get("value")),
        )
        for name, label in names.items()
    )
    notes = [
        f"{label}: {shape[name]['reason']}"
        for name, label in names.items()
        if "reason" in shape[name]
    ]
    return Table(("agreement", *keys, "comparisons", "alpha"), rows, "lrrrrr", tuple(notes))


def _judge_counts(shape: Shape) -> Table:
    keys = ("items", "unexpanded", "unexpanded_ties", "expanded", "expanded_ties")
    rows = tuple(
        (judge, *(str(counts[key]) for key in keys)) for judge, counts in shape["counts"].items()
    )
    note = (
        "unexpanded: pairs of outputs; expanded: pairs of systems, those that wrote the same tied"
    )
    return Table(("judge", *(key.replace("_", " ") for key in keys)), rows, "lrrrrr", (note,))


def _kappa_matrix(shape: Shape, judges: Sequence[str]) -> Table:
    pairs: Shape = shape["pairs"]

    def cell(row: str, column: str) -> str:
        pair = pairs.get(f"{row}|{column}", pairs.get(f"{column}|{row}"))
        if pair is None or pair["kappa"] is None:
            return "-"
        return number(pair["kappa"]) + ("" if pair.get("in_mean", True) else "*")

    notes = ("* too few comparisons to count in the mean", "- nothing to compare")
    return _square("kappa", judges, cell, notes)


def _scatters(shape: Shape, table: ScoreTable, human: Mapping[str, float]) -> Iterator[Drawing]:
    for name, column in table.items() if human else ():
        points = [
            Point(system, human[system], column[system].value)
            for system in shape["systems"]
            if system in human and system in column.scores
        ]
        metric = shape["metrics"].get(name)
        coefficients = ", ".join(
            f"{kind} {number(metric[kind]['value'], 3)}" for kind in (KINDS[:2] if metric else ())
        )
        yield scatter(
            points,
            title=f"{name} against people",
            caption=f"{name} against people's scores{': ' if metric else ''}{coefficients}.",
            x_label="people's score",
            y_label=name if column.higher_is_better else f"{name} (lower is better)",
        )
