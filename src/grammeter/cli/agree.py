"""``grammeter agree``: how far judges agree, with each other and with themselves."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from dataclasses import astuple
from typing import TYPE_CHECKING

from grammeter.cli import inputs
from grammeter.cli.flags import add_options, call
from grammeter.cli.output import (
    TSV_DIGITS,
    add_numbers,
    add_output,
    check_figures,
    decimals,
    drawn,
    emit,
)

if TYPE_CHECKING:
    from grammeter.ranking import Agreement, Correlation, JudgeCorrelations
    from grammeter.rendering import Table
    from grammeter.stats import Alpha, Interval, Kappa

WIDEST = 20
"""Judges that a matrix has room for."""

NONE = "-"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments; nothing heavy is imported for it."""
    parser.description = (
        "Measure the agreement of judges: Cohen's kappa between and within judges and for each"
        " pair of them, Krippendorff's alpha of the ranks, and how much each judge did."
    )
    parser.epilog = (
        "examples:\n"
        "  grammeter agree judgments.xml\n"
        "  grammeter agree judgments.xml --judge ann bob\n"
        "  grammeter agree people.xml llms.jsonl\n"
        "  grammeter agree judgments.xml --correlate\n"
        "  grammeter agree judgments.xml --hyps out/* --format json -o agreement.json"
    )
    inputs.add_judgments(parser)
    add_options(parser, "verbs.agree", {
        "correlate": "correlate each judge's ranking of the systems with the others' instead",
        "kappa": "chance agreement as the script of Grundkiewicz et al. (2015) takes it, or with"
        " 'better' and 'worse' equally likely",
        **inputs.JUDGES,
        "resamples": "of the sentences, for intervals; 0: none",
        "seed": "where the random numbers start",
        "confidence": "share of the resamples that an interval covers",
    })  # fmt: skip
    parser.add_argument(
        "--figure", metavar="FILE", help="draw the kappa of each two judges: .svg or .png"
    )
    add_numbers(parser.add_argument, percent=False)
    add_output(parser)


def run(args: argparse.Namespace) -> int:
    """Measure and print; return the exit code."""
    from grammeter.core import check_home
    from grammeter.formats import read_outputs
    from grammeter.ranking import Agreement
    from grammeter.verbs import agree

    check_home(not args.correlate, "results other than --correlate's", figure=args.figure)
    check_figures(args.figure)
    judgments = inputs.judgments(args)
    outputs = read_outputs(args.hyps) if args.hyps else None
    result = call(args, agree, rankings=judgments, outputs=outputs)
    if not isinstance(result, Agreement):
        emit(args, result.to_dict(), lambda: drawn(args, *correlation_tables(result, args)))
        return 0
    if args.figure:
        _save_figure(result, args.figure)
    emit(args, result.to_dict(), lambda: drawn(args, *agreement_tables(result, args)))
    return 0


def _save_figure(agreement: Agreement, path: str) -> None:
    import numpy as np

    from grammeter.rendering import agreement_matrix, save_figure

    judges = tuple(agreement.counts)
    values = [
        [math.nan if pair is None else pair.value for pair in row]
        for row in ([agreement.pairs.get((min(a, b), max(a, b))) for b in judges] for a in judges)
    ]
    save_figure(agreement_matrix(judges, np.array(values)), path)


def agreement_tables(agreement: Agreement, args: argparse.Namespace) -> Iterator[Table]:
    """Lay out agreement: the means, the pairs of judges as a matrix, what each judge did.

    For TSV, which is for programs: one table with a row for each mean and each pair.
    """
    digits = decimals(args)
    if args.format == "tsv":
        yield _long_table(agreement, digits)
        return
    yield _summary(agreement, digits)
    if agreement.by_file:
        yield _file_table(agreement, digits)
    if len(agreement.counts) <= WIDEST:
        yield _kappa_matrix(agreement, digits)
    yield _count_table(agreement)


def correlation_tables(
    correlations: JudgeCorrelations, args: argparse.Namespace
) -> Iterator[Table]:
    """Lay out correlations: a matrix, Spearman's above the diagonal and Pearson's below.

    For TSV and for many judges: a row for each pair.
    """
    if args.format == "tsv" or len(correlations.weights) > WIDEST:
        yield _pair_table(correlations, decimals(args, TSV_DIGITS))
    else:
        yield _correlation_matrix(correlations, decimals(args))


def _summary(agreement: Agreement, digits: int) -> Table:
    from grammeter.rendering import Table, format_number

    chosen, beside = agreement.kappas[agreement.kind], agreement.kappas[agreement.beside]
    level = f"{float(dict(agreement.signature).get('confidence', 0.95)) * 100:g}%"
    header = ("agreement", "kappa", level, "observed", "chance", "comparisons", "pooled kappa")
    rows: list[tuple[str, ...]] = []
    for name, kappa, pooled, other, alpha in (
        ("between", agreement.inter, chosen.pooled_inter, beside.inter, agreement.alpha_inter),
        ("within", agreement.intra, chosen.pooled_intra, beside.intra, agreement.alpha_intra),
    ):
        value, *rest = _kappa_cells(kappa, digits)
        cells = [format_number(figure.value, digits) for figure in (pooled, other, alpha)]
        bounds, alpha_bounds = (_bounds(figure.interval, digits) for figure in (kappa, alpha))
        rows.append((f"{name} judges", value, bounds, *rest, *cells, alpha_bounds))
    return Table(
        (*header, f"{agreement.beside} kappa", "alpha", level),
        tuple(rows),
        "lrrrrrrrrr",
        (str(agreement.signature), *_missing(agreement)),
    )


def _bounds(interval: Interval | None, digits: int) -> str:
    from grammeter.rendering import format_number

    if interval is None or math.isnan(interval.low):
        return NONE
    return f"[{format_number(interval.low, digits)}, {format_number(interval.high, digits)}]"


def _file_table(agreement: Agreement, digits: int) -> Table:
    from grammeter.rendering import Table, format_number

    rows: list[tuple[str, ...]] = []
    for path, part in agreement.by_file.items():
        chosen = part.kappas[part.kind]
        numbers = (
            part.inter.value, chosen.pooled_inter.value, part.intra.value,
            chosen.pooled_intra.value, part.alpha_inter.value, part.alpha_intra.value,
        )  # fmt: skip
        counts = (str(len(part.counts)), str(part.total.items))
        rows.append((path, *counts, *(format_number(number, digits) for number in numbers)))
    header = ("file", "judges", "items", "between", "pooled", "within", "pooled")
    return Table((*header, "alpha between", "alpha within"), tuple(rows), "lrrrrrrrr")


def _missing(agreement: Agreement) -> Iterator[str]:
    """Yield why a figure is missing."""
    figures: dict[str, Kappa | Alpha] = {
        "kappa between judges": agreement.inter,
        "kappa within judges": agreement.intra,
        "alpha between judges": agreement.alpha_inter,
        "alpha within judges": agreement.alpha_intra,
    }
    for name, figure in figures.items():
        if figure.reason:
            yield f"no {name}: {figure.reason}"
    for name, figure in figures.items():
        if figure.interval and figure.interval.reason:
            yield f"no interval of {name}: {figure.interval.reason}"


def _kappa_matrix(agreement: Agreement, digits: int) -> Table:
    from grammeter.ranking import LEAST, in_mean
    from grammeter.rendering import Table, format_number

    judges = tuple(agreement.counts)
    cells = dict[tuple[str, str], str]()
    marks = dict[tuple[int, int], str]()
    for pair, kappa in agreement.pairs.items():
        cells[pair] = NONE if kappa.reason else format_number(kappa.value, digits)
        if not kappa.reason and not in_mean(kappa):
            marks[judges.index(pair[0]), 1 + judges.index(pair[1])] = "*"
    rows = tuple((row, *(cells.get((row, column), "") for column in judges)) for row in judges)
    notes = (f"* fewer than {LEAST} comparisons; not in the mean", f"{NONE} nothing to compare")
    return Table(("kappa", *judges), rows, "l" + "r" * len(judges), notes, marks=marks)


def _count_table(agreement: Agreement) -> Table:
    from grammeter.rendering import Table

    counts = {**agreement.counts, "total": agreement.total}
    return Table(
        ("judge", "items", "unexpanded", "ties", "expanded", "ties"),
        tuple((judge, *map(str, astuple(done))) for judge, done in counts.items()),
        "lrrrrr",
        (
            "unexpanded: pairs of outputs; expanded: pairs of systems, those that wrote the"
            " same tied",
        ),
    )


def _long_table(agreement: Agreement, digits: int) -> Table:
    from grammeter.rendering import Table, format_number

    chosen, other = agreement.kappas[agreement.kind], agreement.kappas[agreement.beside]

    def row(
        names: tuple[str, ...], figure: Kappa | Alpha, beside: Kappa | None = None
    ) -> tuple[str, ...]:
        ends = (figure.interval.low, figure.interval.high) if figure.interval else ()
        return (
            *names,
            *_kappa_cells(figure, digits),
            format_number(beside.value, digits) if beside else "",
            *([format_number(end, digits) for end in ends] or ("", "")),
        )

    rows = [
        row(("inter", "", ""), agreement.inter, other.inter),
        row(("intra", "", ""), agreement.intra, other.intra),
        row(("inter pooled", "", ""), chosen.pooled_inter),
        row(("intra pooled", "", ""), chosen.pooled_intra),
        row(("inter alpha", "", ""), agreement.alpha_inter),
        row(("intra alpha", "", ""), agreement.alpha_intra),
        *(
            row(("pair", *judges), kappa, other.pairs[judges])
            for judges, kappa in agreement.pairs.items()
        ),
    ]
    head = ("of", "first", "second", "kappa", "observed", "chance", "n")
    return Table((*head, f"{agreement.beside} kappa", "low", "high"), tuple(rows), "lllrrrrrrr")


def _correlation_matrix(correlations: JudgeCorrelations, digits: int) -> Table:
    from grammeter.rendering import Table, format_number

    judges = tuple(correlations.rest)
    names = (*judges, "rest")
    cells = [[NONE] * len(names) for _ in names]
    for pair, correlation in _correlation_rows(correlations):
        row = judges.index(pair[0])
        column = judges.index(pair[1]) if pair in correlations.pairs else len(judges)
        cells[row][column] = format_number(correlation.spearman, digits)
        cells[column][row] = format_number(correlation.pearson, digits)
    mean = correlations.mean
    notes = (
        "above the diagonal: Spearman's rho; below: Pearson's r; rest: all other judges together",
        f"mean with the rest, weighted by pairs: rho {format_number(mean.spearman, digits)},"
        f" r {format_number(mean.pearson, digits)}",
        str(correlations.signature),
        *(
            f"no figure: {'|'.join(pair)}: {correlation.reason}"
            for pair, correlation in _correlation_rows(correlations)
            if correlation.reason
        ),
    )
    rows = tuple((name, *row) for name, row in zip(names, cells, strict=True))
    return Table(("judge", *names), rows, "l" + "r" * len(names), notes)


def _correlation_rows(
    correlations: JudgeCorrelations,
) -> Iterator[tuple[tuple[str, str], Correlation]]:
    """Yield the correlation of each two judges, then of each judge with the rest."""
    yield from correlations.pairs.items()
    for judge, correlation in correlations.rest.items():
        yield (judge, "rest"), correlation


def _pair_table(correlations: JudgeCorrelations, digits: int) -> Table:
    from grammeter.rendering import Table, format_number

    rows = tuple(
        (
            *pair,
            format_number(correlation.spearman, digits),
            format_number(correlation.pearson, digits),
            str(correlation.n),
            str(correlations.weights[pair[0]]),
        )
        for pair, correlation in _correlation_rows(correlations)
    )
    header = ("first", "second", "spearman", "pearson", "n", "weight of first")
    return Table(header, rows, "llrrrr")


def _kappa_cells(figure: Kappa | Alpha, digits: int) -> tuple[str, ...]:
    from grammeter.rendering import format_number
    from grammeter.stats import Alpha

    value, count = format_number(figure.value, digits), str(figure.n)
    if isinstance(figure, Alpha):
        return value, "", "", count
    return (
        value,
        format_number(figure.observed, digits),
        format_number(figure.chance, digits),
        count,
    )
