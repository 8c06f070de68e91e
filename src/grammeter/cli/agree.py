"""``grammeter agree``: how far judges agree, with each other and with themselves."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from grammeter.cli import judgment_arguments
from grammeter.cli.chance_arguments import add_confidence, add_resamples, add_seed
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
    from grammeter.ranking import Agreement, Correlation, Interval, JudgeCorrelations, JudgeCounts
    from grammeter.rendering import Table
    from grammeter.stats import Alpha, Kappa

KAPPAS = ("script", "orientation-free")
RESAMPLES, CONFIDENCE = 1000, 0.95
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
    judgment_arguments.add_judgments(parser)
    parser.add_argument(
        "--correlate",
        action="store_true",
        help="correlate each judge's ranking of the systems with the others' instead",
    )
    parser.add_argument(
        "--kappa",
        choices=KAPPAS,
        default="script",
        help="chance agreement as the script of Grundkiewicz et al. (2015) takes it, or with"
        " 'better' and 'worse' equally likely; default: %(default)s",
    )
    parser.add_argument("--judge", nargs="+", metavar="NAME", help="only these judges")
    parser.add_argument("--without-judge", nargs="+", metavar="NAME", help="all but these judges")
    add_resamples(
        parser.add_argument,
        help_="of the sentences, for intervals; 0: none; default: %(default)s",
    )
    add_seed(parser.add_argument)
    add_confidence(parser.add_argument)
    parser.add_argument(
        "--figure", metavar="FILE", help="draw the kappa of each two judges: .svg or .png"
    )
    add_numbers(parser.add_argument, percent=False)
    add_output(parser)


def run(args: argparse.Namespace) -> int:
    """Measure and print; return the exit code."""
    _check(args)
    judgments = judgment_arguments.read(args)
    who = {"judges": args.judge, "without_judges": args.without_judge}
    if args.correlate:
        from grammeter.ranking import judge_correlations

        found = judge_correlations(judgments, **who)
        emit(args, found.to_json(), lambda: drawn(args, *correlation_tables(found, args)))
        return 0
    from grammeter.formats import read_outputs
    from grammeter.ranking import agree

    agreement = agree(
        judgments,
        kappa=args.kappa,
        resamples=args.resamples,
        seed=args.seed,
        confidence=args.confidence,
        outputs=read_outputs(args.hyps) if args.hyps else None,
        **who,
    )
    if args.figure:
        _save_figure(agreement, args.figure)
    emit(args, agreement.to_json(), lambda: drawn(args, *agreement_tables(agreement, args)))
    return 0


def _check(args: argparse.Namespace) -> None:
    """Refuse options that would change nothing."""
    from grammeter.core import UsageError

    check_figures(args.figure)
    asked = {
        "--kappa": args.kappa != KAPPAS[0],
        "--figure": args.figure,
        "--resamples": args.resamples != RESAMPLES,
        "--seed": args.seed != 1,
        "--confidence": args.confidence != CONFIDENCE,
    }
    for option in asked if args.correlate else ():
        if asked[option]:
            raise UsageError(
                f"{option} would change nothing with --correlate", fix=f"Leave out {option}."
            )


def _save_figure(agreement: Agreement, path: str) -> None:
    import numpy as np

    from grammeter.rendering import figures

    judges = tuple(agreement.counts)
    values = [
        [math.nan if pair is None else pair.value for pair in row]
        for row in ([agreement.pairs.get((min(a, b), max(a, b))) for b in judges] for a in judges)
    ]
    figures.save(figures.agreement_matrix(judges, np.array(values)), path)


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


def correlation_tables(found: JudgeCorrelations, args: argparse.Namespace) -> Iterator[Table]:
    """Lay out correlations: a matrix, Spearman's above the diagonal and Pearson's below.

    For TSV and for many judges: a row for each pair.
    """
    if args.format == "tsv" or len(found.weights) > WIDEST:
        yield _pair_table(found, decimals(args, TSV_DIGITS))
    else:
        yield _correlation_matrix(found, decimals(args))


def _summary(agreement: Agreement, digits: int) -> Table:
    from grammeter.rendering import Table

    kind = agreement.beside
    chosen, beside = agreement.kappas[agreement.kind], agreement.kappas[kind]
    level = f"{float(dict(agreement.signature).get('confidence', CONFIDENCE)) * 100:g}%"
    header = ("agreement", "kappa", level, "observed", "chance", "comparisons", "pooled kappa")
    rows = (
        ("between judges", agreement.inter, chosen.inter_interval, chosen.pooled_inter,
         beside.inter, agreement.alpha_inter, agreement.alpha_inter_interval),
        ("within judges", agreement.intra, chosen.intra_interval, chosen.pooled_intra,
         beside.intra, agreement.alpha_intra, agreement.alpha_intra_interval),
    )  # fmt: skip
    return Table(
        (*header, f"{kind} kappa", "alpha", level),
        tuple(_summary_row(*row, digits) for row in rows),
        "lrrrrrrrrr",
        (str(agreement.signature), *_missing(agreement)),
    )


def _summary_row(
    name: str, kappa: Kappa, interval: Interval, pooled: Kappa, beside: Kappa, alpha: Alpha,
    alpha_interval: Interval, digits: int,
) -> tuple[str, ...]:  # fmt: skip
    value, *rest = _kappa_cells(kappa, digits)
    numbers = (pooled.value, beside.value, alpha.value)
    cells = (_number(number, digits) for number in numbers)
    return name, value, _bounds(interval, digits), *rest, *cells, _bounds(alpha_interval, digits)


def _bounds(interval: Interval, digits: int) -> str:
    if math.isnan(interval.low):
        return NONE
    return f"[{_number(interval.low, digits)}, {_number(interval.high, digits)}]"


def _file_table(agreement: Agreement, digits: int) -> Table:
    from grammeter.rendering import Table

    rows: list[tuple[str, ...]] = []
    for path, part in agreement.by_file.items():
        chosen = part.kappas[part.kind]
        numbers = (
            part.inter.value, chosen.pooled_inter.value, part.intra.value,
            chosen.pooled_intra.value, part.alpha_inter.value, part.alpha_intra.value,
        )  # fmt: skip
        counts = (str(len(part.counts)), str(part.total.items))
        rows.append((path, *counts, *(_number(number, digits) for number in numbers)))
    header = ("file", "judges", "items", "between", "pooled", "within", "pooled")
    return Table((*header, "alpha between", "alpha within"), tuple(rows), "lrrrrrrrr")


def _missing(agreement: Agreement) -> Iterator[str]:
    """Say why a figure is missing."""
    figures: dict[str, Kappa | Alpha] = {
        "kappa between judges": agreement.inter,
        "kappa within judges": agreement.intra,
        "alpha between judges": agreement.alpha_inter,
        "alpha within judges": agreement.alpha_intra,
    }
    for name, figure in figures.items():
        if figure.reason:
            yield f"no {name}: {figure.reason}"
    chosen = agreement.kappas[agreement.kind]
    intervals = {
        "kappa between judges": chosen.inter_interval,
        "kappa within judges": chosen.intra_interval,
        "alpha between judges": agreement.alpha_inter_interval,
        "alpha within judges": agreement.alpha_intra_interval,
    }
    for name, interval in intervals.items():
        if interval.reason:
            yield f"no interval of {name}: {interval.reason}"


def _kappa_matrix(agreement: Agreement, digits: int) -> Table:
    from grammeter.ranking import LEAST, in_mean
    from grammeter.rendering import Table

    judges = tuple(agreement.counts)
    rows = tuple(
        (row, *(_pair_cell(agreement.pairs.get((row, column)), digits) for column in judges))
        for row in judges
    )
    marks = {
        (judges.index(first), 1 + judges.index(second)): "*"
        for (first, second), found in agreement.pairs.items()
        if not found.reason and not in_mean(found)
    }
    notes = (f"* fewer than {LEAST} comparisons; not in the mean", f"{NONE} nothing to compare")
    return Table(("kappa", *judges), rows, "l" + "r" * len(judges), notes, marks=marks)


def _pair_cell(found: Kappa | None, digits: int) -> str:
    if found is None:
        return ""
    return NONE if found.reason else _number(found.value, digits)


def _count_table(agreement: Agreement) -> Table:
    from grammeter.rendering import Table

    counts = {**agreement.counts, "total": agreement.total}
    return Table(
        ("judge", "items", "unexpanded", "ties", "expanded", "ties"),
        tuple((judge, *_count_cells(each)) for judge, each in counts.items()),
        "lrrrrr",
        (
            "unexpanded: pairs of outputs; expanded: pairs of systems, those that wrote the"
            " same tied",
        ),
    )


def _count_cells(counts: JudgeCounts) -> tuple[str, ...]:
    return (
        str(counts.items),
        str(counts.unexpanded),
        str(counts.unexpanded_ties),
        str(counts.expanded),
        str(counts.expanded_ties),
    )


def _long_table(agreement: Agreement, digits: int) -> Table:
    from grammeter.rendering import Table

    chosen, other = agreement.kappas[agreement.kind], agreement.kappas[agreement.beside]
    means = (
        ("inter", agreement.inter, other.inter, chosen.inter_interval),
        ("intra", agreement.intra, other.intra, chosen.intra_interval),
    )
    rows = [
        (name, "", "", *_kappa_cells(k, digits), _number(o.value, digits),
         _number(interval.low, digits), _number(interval.high, digits))
        for name, k, o, interval in means
    ]  # fmt: skip
    rows += [
        (name, "", "", *_kappa_cells(k, digits), "", "", "")
        for name, k in (
            ("inter pooled", chosen.pooled_inter), ("intra pooled", chosen.pooled_intra)
        )
    ]  # fmt: skip
    rows += [
        (name, "", "", _number(alpha.value, digits), "", "", str(alpha.n), "",
         _number(interval.low, digits), _number(interval.high, digits))
        for name, alpha, interval in (
            ("inter alpha", agreement.alpha_inter, agreement.alpha_inter_interval),
            ("intra alpha", agreement.alpha_intra, agreement.alpha_intra_interval),
        )
    ]  # fmt: skip
    rows += [
        ("pair", *judges, *_kappa_cells(found, digits),
         _number(other.pairs[judges].value, digits), "", "")
        for judges, found in agreement.pairs.items()
    ]  # fmt: skip
    head = ("of", "first", "second", "kappa", "observed", "chance", "n")
    return Table((*head, f"{agreement.beside} kappa", "low", "high"), tuple(rows), "lllrrrrrrr")


def _correlation_matrix(found: JudgeCorrelations, digits: int) -> Table:
    from grammeter.rendering import Table

    judges = tuple(found.rest)
    names = (*judges, "rest")
    rows = tuple(
        (
            names[row],
            *(_correlation_cell(found, row, column, digits) for column in range(len(names))),
        )
        for row in range(len(names))
    )
    mean = found.mean
    notes = (
        "above the diagonal: Spearman's rho; below: Pearson's r; rest: all other judges together",
        f"mean with the rest, weighted by pairs: rho {_number(mean.spearman, digits)},"
        f" r {_number(mean.pearson, digits)}",
        str(found.signature),
        *(f"no figure: {text}" for text in _reasons(found)),
    )
    return Table(("judge", *names), rows, "l" + "r" * len(names), notes)


def _reasons(found: JudgeCorrelations) -> Iterator[str]:
    pairs = {"|".join(judges): each for judges, each in found.pairs.items()}
    for name, each in (
        pairs | {f"{judge}|rest": each for judge, each in found.rest.items()}
    ).items():
        if each.reason:
            yield f"{name}: {each.reason}"


def _correlation_cell(found: JudgeCorrelations, row: int, column: int, digits: int) -> str:
    if row == column:
        return NONE
    judges = tuple(found.rest)
    first, second = sorted((row, column))
    last = second == len(judges)
    each = found.rest[judges[first]] if last else found.pairs[judges[first], judges[second]]
    return _number(each.spearman if row < column else each.pearson, digits)


def _pair_table(found: JudgeCorrelations, digits: int) -> Table:
    from grammeter.rendering import Table

    rows = [
        (*judges, *_correlation_cells(each, digits), str(found.weights[judges[0]]))
        for judges, each in found.pairs.items()
    ]
    rows += [
        (judge, "rest", *_correlation_cells(each, digits), str(found.weights[judge]))
        for judge, each in found.rest.items()
    ]
    header = ("first", "second", "spearman", "pearson", "n", "weight of first")
    return Table(header, tuple(rows), "llrrrr")


def _correlation_cells(found: Correlation, digits: int) -> tuple[str, ...]:
    return _number(found.spearman, digits), _number(found.pearson, digits), str(found.n)


def _kappa_cells(found: Kappa, digits: int) -> tuple[str, ...]:
    figures = (found.value, found.observed, found.chance)
    return (*(_number(figure, digits) for figure in figures), str(found.n))


def _number(value: float, digits: int) -> str:
    from grammeter.rendering import format_number

    return format_number(value, digits)
