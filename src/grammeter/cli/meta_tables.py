"""Tables of ``grammeter meta``, for people and for programs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from grammeter.meta import TESTED
from grammeter.rendering import (
    Column,
    Table,
    best_rows,
    format_number,
    interval_text,
    number_column,
    of_columns,
    pvalue_text,
    six_digits,
)
from grammeter.stats import KINDS

if TYPE_CHECKING:
    from grammeter.meta import (
        BetaSweep,
        Maege,
        MetricAgreement,
        Pair,
        SentenceLevel,
        SystemMeta,
        Windows,
    )

# --- systems -------------------------------------------------------------------------------


def system_tables(result: SystemMeta, digits: int = 3) -> Iterator[Table]:
    """Lay out a row for each metric, the best of each kind marked; then tests and curves."""
    columns = [Column("metric", list(result), "l")]
    share = f"{result.design.confidence * 100:g}%"
    for kind in KINDS:
        of_kind = [metric[kind] for metric in result.values()]
        columns += [
            number_column(kind, [c.value for c in of_kind], digits, higher=True),
            Column(share, [interval_text(c.low, c.high, digits) for c in of_kind]),
            Column("p", [pvalue_text(c.pvalue) for c in of_kind]),
        ]
    accuracies = [metric.pairwise.value for metric in result.values()]
    columns.append(number_column("pairwise", accuracies, digits, higher=True))
    yield of_columns(columns, _system_notes(result))
    if len(result) > 1:
        yield from (_williams(result, kind) for kind in TESTED)
    if any(metric.leave_one_out for metric in result.values()):
        without = [metric.leave_one_out for metric in result.values()]
        yield _pairs(
            result, "without", {s: [w[s] for w in without] for s in result.systems}, digits
        )
    if sizes := sorted({k for metric in result.values() for k in metric.top}):
        rows = {str(k): [metric.top[k] for metric in result.values()] for k in sizes}
        yield _pairs(result, "best K", rows, digits)


def system_rows(result: SystemMeta, digits: int = 6) -> Table:
    """Lay out a row for each metric and coefficient or accuracy, for programs."""
    rows: list[tuple[str, ...]] = []
    for name, metric in result.items():
        for kind, c in metric.items():
            figures = (format_number(x, digits) for x in (c.value, c.low, c.high))
            rows.append((name, kind, *figures, six_digits(c.pvalue), str(c.n)))
        accuracy = metric.pairwise
        value = format_number(accuracy.value, digits)
        rows.append((name, "pairwise-accuracy", value, *("NaN",) * 3, str(accuracy.pairs)))
    header = ("metric", "correlation", "value", "low", "high", "pvalue", "n")
    return Table(header, tuple(rows), "llrrrrr")


def _system_notes(result: SystemMeta) -> Iterator[str]:
    yield f"{len(result.systems)} systems against {result.design.human}"
    yield "pairwise: share of the pairs of systems that people tell apart, ordered as by people"
    for name, metric in result.items():
        yield f"{name}: {metric.signature}"
        reasons = {correlation.reason for correlation in metric.values() if correlation.reason}
        yield from (f"{name}: NaN: {reason}" for reason in sorted(reasons))


def _williams(result: SystemMeta, kind: str) -> Table:
    """Lay out one-sided p-values: whether the row's metric correlates better than the column's."""
    cells = next(rows for name, rows in result.williams.items() if name == kind)
    columns = [Column(f"better ({kind})", list(result), "l")]
    for second in result:
        tested = (cells[first].get(second) for first in result)
        columns.append(
            Column(second, ["-" if c is None else pvalue_text(c.pvalue) for c in tested])
        )
    note = f"Williams' test ({kind}): p that the row's metric correlates better (one-sided)"
    return of_columns(columns, [note])


def _pairs(result: SystemMeta, what: str, rows: Mapping[str, Sequence[Pair]], digits: int) -> Table:
    """Lay out two coefficients of each metric in each row."""
    columns = [Column(what, list(rows), "l")]
    for at, name in enumerate(result):
        for kind in TESTED:
            values = [pairs[at][kind] for pairs in rows.values()]
            columns.append(number_column(f"{name} {kind}", values, digits))
    return of_columns(columns)


# --- sentences -----------------------------------------------------------------------------


def sentence_tables(result: SentenceLevel, digits: int = 4) -> Iterator[Table]:
    """Lay out a row for each metric, with all that it rests on; then judges and tests."""
    metrics = list(result.values())
    columns = [Column("metric", list(result), "l")]
    for name in ("tau", "accuracy"):
        estimates = [getattr(metric, name) for metric in metrics]
        columns.append(number_column(name, [e.value for e in estimates], digits, higher=True))
        if result.design.resamples:
            bounds = [(e.low, e.high) for e in estimates]
            texts = ["" if None in pair else _interval(*pair, digits) for pair in bounds]
            columns.append(Column("interval", texts))
    for head, name in (
        ("pairs", "total"),
        ("concordant", "concordant"),
        ("discordant", "discordant"),
        ("metric ties", "metric_ties"),
        ("human ties", "human_ties"),
        ("both tie", "both_ties"),
    ):
        columns.append(Column(head, [str(getattr(metric.counts, name)) for metric in metrics]))
    shares = [format_number(metric.counts.tie_share, percent=True) + "%" for metric in metrics]
    columns.append(Column("metric's ties", shares))
    yield of_columns(columns, _sentence_notes(result))
    if result.by_judge:
        yield _by_judge(result, digits)
    if result.pvalues:
        yield _permutations(result)


def sentence_rows(result: SentenceLevel, digits: int = 6) -> Table:
    """Lay out a row for each judge, or all, and metric, for programs."""
    header = ("judge", "metric", "tau", "tau_low", "tau_high", "accuracy", "accuracy_low")
    counts = ("n", "missing", "concordant", "discordant", "ties_metric", "ties_human", "ties_both")
    header = (*header, "accuracy_high", *counts)
    rows = tuple(
        (judge, name, *_agreement_cells(metric, digits))
        for judge, metrics in {"all": result.metrics, **result.by_judge}.items()
        for name, metric in metrics.items()
    )
    return Table(header, rows, "ll" + "r" * (len(header) - 2))


def _interval(low: float, high: float, digits: int) -> str:
    return f"[{format_number(low, digits)}, {format_number(high, digits)}]"


def _agreement_cells(metric: MetricAgreement, digits: int) -> Iterator[str]:
    for e in (metric.tau, metric.accuracy):
        yield from ("" if x is None else format_number(x, digits) for x in (e.value, e.low, e.high))
    counts = metric.counts
    yield from map(str, (counts.total, counts.missing, counts.concordant, counts.discordant))
    yield from map(str, (counts.metric_ties, counts.human_ties, counts.both_ties))


def _by_judge(result: SentenceLevel, digits: int) -> Table:
    """Lay out what each judge's pairs say: tau and accuracy by metric."""
    judges = result.by_judge
    pairs = [max(m.counts.total for m in metrics.values()) for metrics in judges.values()]
    columns = [Column("judge", list(judges), "l"), Column("pairs", [str(n) for n in pairs])]
    for name in next(iter(judges.values())):
        for figure in ("tau", "accuracy"):
            values = [getattr(metrics[name], figure).value for metrics in judges.values()]
            columns.append(number_column(f"{name} {figure}", values, digits))
    return of_columns(columns)


def _permutations(result: SentenceLevel) -> Table:
    """Lay out the tests between metrics: a row for each two of them."""
    first, second = zip(*next(iter(result.pvalues.values())), strict=True)
    columns = [Column("metric", first, "l"), Column("against", second, "l")]
    for figure, pvalues in result.pvalues.items():
        columns.append(Column(f"p ({figure})", [f"{p:.4f}" for p in pvalues.values()]))
    note = f"two-sided p of equal metrics; answers swapped by {result.design.unit}"
    return of_columns(columns, [note])


def _sentence_notes(result: SentenceLevel) -> Iterator[str]:
    design = result.design
    yield f"{design.pairs} pairs of {result.rankings} rankings; ties: {design.ties}"
    if design.resamples:
        yield f"interval: {design.confidence * 100:g}%, bootstrap by {design.unit}"
    for name, metric in result.items():
        accuracy, epsilon = metric.calibrated
        if not math.isnan(accuracy):
            yield (
                f"{name}: tie-calibrated accuracy {format_number(accuracy)}, scores within"
                f" {epsilon:.4g} as ties (chosen on these data)"
            )
        reasons = (metric.tau.reason, metric.accuracy.reason)
        yield from (f"{name}: {reason}" for reason in dict.fromkeys(reasons) if reason)
        if soft := result.soft.get(name):
            reason = f" ({soft.reason})" if soft.reason else ""
            yield f"{name}: soft pairwise accuracy {format_number(soft.value)}{reason}"
        if metric.counts.missing:
            yield f"{name}: {metric.counts.missing} pairs lack a score"
    yield from (f"{name}: {metric.signature}" for name, metric in result.items())


# --- windows -------------------------------------------------------------------------------


def window_table(windows: Windows, digits: int = 4, bounds: int = 2) -> Table:
    """Lay out a row for each window; of several metrics the best in a window is marked.

    ``digits`` are those of coefficients, ``bounds`` those of intervals.
    """
    columns = [Column("ranks", [f"{w.first}-{w.last}" for w in windows], "l")]
    if any(window.clusters is not None for window in windows):
        columns.append(Column("clusters", [_clusters(w.clusters) for w in windows], "l"))
    rivals = {
        kind: [[m[kind].value for m in window.metrics.values()] for window in windows]
        for kind in TESTED
    }
    for at, name in enumerate(windows.signatures):
        for kind in TESTED:
            estimates = [window.metrics[name][kind] for window in windows]
            texts = [format_number(c.value, digits) for c in estimates]
            wins = [
                r
                for r, row in enumerate(rivals[kind])
                if at in best_rows(row, higher_is_better=True)
            ]
            best = wins if len(windows.signatures) > 1 else ()
            head = f"{name} {kind}"
            columns.append(Column(head, texts, best=best))
            columns.append(
                Column("interval", [interval_text(c.low, c.high, bounds) or "-" for c in estimates])
            )
    columns.append(Column("systems", [" ".join(window.systems) for window in windows], "l"))
    return of_columns(columns, _window_notes(windows))


def window_rows(windows: Windows, digits: int = 6) -> Table:
    """Lay out a row for each window and metric, for programs."""
    figures = tuple(kind + end for kind in TESTED for end in ("", "_low", "_high"))
    rows = tuple(
        (
            *(str(window.first), str(window.last), _clusters(window.clusters), name),
            *(
                format_number(x, digits)
                for c in coefficients.values()
                for x in (c.value, c.low, c.high)
            ),
        )
        for window in windows
        for name, coefficients in window.metrics.items()
    )
    return Table(("first", "last", "clusters", "metric", *figures), rows, "rrll" + "r" * 6)


def _clusters(clusters: tuple[int, ...] | None) -> str:
    return "-".join(map(str, sorted({min(clusters), max(clusters)}))) if clusters else ""


def _window_notes(windows: Windows) -> Iterator[str]:
    yield "ranks and clusters are people's; intervals by Fisher's z"
    yield from sorted(
        {
            f"{name}: {correlation.reason}"
            for window in windows
            for name, coefficients in window.metrics.items()
            for correlation in coefficients.values()
            if correlation.reason
        }
    )
    yield from (f"{name}: {signature}" for name, signature in windows.signatures.items())


# --- betas ---------------------------------------------------------------------------------


def beta_table(sweep: BetaSweep, digits: int = 4) -> Table:
    """Lay out a row for each beta."""
    columns = [Column("beta", [f"{beta:g}" for beta in sweep.betas.tolist()])]
    columns += [number_column(k, getattr(sweep, k).tolist(), digits, higher=True) for k in TESTED]
    best = {kind: sweep.best(kind) for kind in TESTED}
    notes = [f"best {kind}: {value:.4f} at beta {beta:g}" for kind, (beta, value) in best.items()]
    notes += [f"{len(sweep.systems)} systems against {sweep.human}"]
    return of_columns(columns, [*notes, f"{sweep.metric}: {sweep.signature}"])


# --- partial corrections -------------------------------------------------------------------


def maege_table(result: Maege, digits: int = 4) -> Table:
    """Lay out a row for each metric, the best of each kind marked."""
    heads = ("corpus r", "corpus rho", "sentence r", "sentence rho", "chain tau")
    figures = [[value for *_, value, _ in metric.figures()] for metric in result.values()]
    columns = [Column("metric", list(result), "l")]
    for head, *values in zip(heads, *figures, strict=True):
        columns.append(number_column(head, values, digits, higher=True))
    shares = [metric.chain.tie_share for metric in result.values()]
    columns.append(Column("ties", [format_number(x, percent=True) + " %" for x in shares]))
    return of_columns(columns, _maege_notes(result))


def maege_rows(result: Maege, digits: int = 6) -> Table:
    """Lay out a row for each figure, for programs."""
    rows = tuple(
        (name, level, kind, format_number(value, digits), six_digits(p))
        for name, metric in result.items()
        for level, kind, value, p in metric.figures()
    )
    return Table(("metric", "level", "statistic", "value", "pvalue"), rows, "lllrr")


def _maege_notes(result: Maege) -> Iterator[str]:
    yield str(result.signature)
    yield f"mean edits applied in the corpora: {' '.join(f'{x:.2f}' for x in result.applied)}"
    dropped = [f"{count} {reason}" for reason, count in result.dropped.items() if count]
    if dropped:
        yield f"sentences without chains: {', '.join(dropped)}"
    whole = (int(result.signature["sentences"]), int(result.signature["lines"]))
    for name, metric in result.items():
        yield f"{name}: {metric.signature}"
        yield from (f"{name}: NaN: {reason}" for reason in dict.fromkeys(metric.reasons.values()))
        if (metric.sentences, metric.lines) != whole:
            yield (
                f"{name}: only {metric.sentences} sentences with chains and {metric.lines} lines a"
                " corpus have something to be held against"
            )
