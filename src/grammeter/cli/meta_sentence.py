"""``grammeter meta sentence``: metrics that order the outputs of one sentence as people do."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from grammeter.cli import judgment_arguments, sentence_arguments
from grammeter.cli.chance_arguments import add_confidence, add_resamples, add_seed
from grammeter.cli.output import add_numbers, add_output, decimals, drawn, emit

if TYPE_CHECKING:
    from grammeter.meta import Estimate, MetricAgreement, SentenceLevel
    from grammeter.rendering import Table

TIE_RULES = ("no-ties", "h-ties", "three-way", "seeda-script", "half", "drop", "wrong")
UNITS = ("sentence", "ranking", "pair")
MISSING = ("refuse", "drop")

EVERYBODY = "all"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments; nothing heavy is imported for it."""
    parser.description = (
        "Hold the sentence scores of metrics against judgments of the same sentences: Kendall's"
        " tau and accuracy over all pairs of outputs, with every count that they are made of."
    )
    parser.epilog = (
        "examples:\n"
        "  grammeter meta sentence scores.json judgments.xml --ties h-ties\n"
        "  grammeter meta sentence scores.json judgments.xml --extraction unexpanded --unit pair\n"
        "  grammeter meta sentence scores.tsv judgments.xml --drop IPN --permutations 1000\n"
        "  grammeter meta sentence gpt.jsonl people.xml --scores scores.json"
    )
    sentence_arguments.add_inputs(parser)
    _add_question(parser)
    _add_chance(parser)
    _add_selection(parser)
    add_numbers(parser.add_argument, percent=False)
    add_output(parser)


def run(args: argparse.Namespace) -> int:
    """Measure and print; return the exit code."""
    from grammeter.meta import SentenceDesign, correlate_sentences

    table, judgments = sentence_arguments.read_sides(args)
    result = correlate_sentences(
        table,
        judgments,
        design=SentenceDesign(
            pairs=args.extraction,
            ties=args.ties,
            missing=args.missing,
            resamples=args.resamples,
            seed=args.seed,
            unit=args.unit,
            confidence=args.confidence,
            permutations=args.permutations,
        ),
        systems=args.systems,
        drop=args.drop,
        metrics=args.metrics,
        judges=args.judge,
        per_judge=args.by_judge,
    )
    emit(args, result.to_json(), lambda: _drawn(result, args))
    return 0


def agreement_table(result: SentenceLevel, *, digits: int = 4) -> Table:
    """Lay out the result for people: a row for each metric, notes with all that it rests on."""
    from grammeter.rendering import Table, best_rows

    percent = f"{result.design.confidence * 100:g}%"
    interval = ("interval",) if result.design.resamples else ()
    header = (
        "metric",
        *("tau", *interval, "accuracy", *interval),
        *("pairs", "concordant", "discordant"),
        *("metric ties", "human ties", "both tie", "metric's ties"),
    )
    rows = tuple(
        (name, *_cells(agreement, bool(interval), digits)) for name, agreement in result.items()
    )
    best = {
        (row, column)
        for column, values in (
            (1, [agreement.tau.value for agreement in result.values()]),
            (2 + len(interval), [agreement.accuracy.value for agreement in result.values()]),
        )
        for row in best_rows(values, higher_is_better=True)
    }
    notes = (*_notes(result, percent), *_signatures(result))
    return Table(header, rows, "l" + "r" * (len(header) - 1), notes, frozenset(best))


def judge_table(result: SentenceLevel, *, digits: int = 4) -> Table:
    """Lay out what each judge's pairs say: a row for each judge, tau and accuracy by metric."""
    from grammeter.rendering import Table

    first = next(iter(result.by_judge.values()))
    rows = tuple(
        (
            judge,
            str(max(agreement.counts.total for agreement in metrics.values())),
            *_pair_cells(metrics, digits),
        )
        for judge, metrics in result.by_judge.items()
    )
    heads = tuple(f"{name} {figure}" for name in first for figure in ("tau", "accuracy"))
    return Table(("judge", "pairs", *heads), rows, "lr" + "r" * len(heads))


def permutation_table(result: SentenceLevel) -> Table:
    """Lay out the tests between metrics: a row for each two of them."""
    from grammeter.rendering import Table

    figures = tuple(result.pvalues)
    rows = tuple(
        (*names, *(f"{result.pvalues[figure][names]:.4f}" for figure in figures))
        for names in result.pvalues[figures[0]]
    )
    note = f"two-sided p of equal metrics; answers swapped by {result.design.unit}"
    heads = tuple(f"p ({figure})" for figure in figures)
    return Table(("metric", "against", *heads), rows, "ll" + "r" * len(heads), (note,))


def long_table(result: SentenceLevel, *, digits: int = 6) -> Table:
    """Lay out the result for programs: a row for each judge, or all, and metric."""
    from grammeter.rendering import Table

    header = ("judge", "metric", "tau", "tau_low", "tau_high", "accuracy", "accuracy_low")
    counts = ("n", "missing", "concordant", "discordant", "ties_metric", "ties_human", "ties_both")
    everybody: Mapping[str, Mapping[str, MetricAgreement]] = {EVERYBODY: result.metrics}
    rows = tuple(
        (judge, name, *_long_cells(agreement, digits))
        for judge, metrics in {**everybody, **result.by_judge}.items()
        for name, agreement in metrics.items()
    )
    header = (*header, "accuracy_high", *counts)
    return Table(header, rows, "ll" + "r" * (len(header) - 2))


def _add_question(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what is counted")
    judgment_arguments.add_extraction(group.add_argument)
    group.add_argument(
        "--ties",
        choices=TIE_RULES,
        default="no-ties",
        help="no-ties, h-ties: Chollampatt & Ng (2018); three-way, seeda-script: the two rules"
        " beside SEEDA; half, drop, wrong: a tie of the metric is half right, left out, a"
        " mistake; default: %(default)s",
    )
    group.add_argument(
        "--missing",
        choices=MISSING,
        default="refuse",
        help="a metric that lacks a judged output's score has no value, or is measured without"
        " these pairs; default: %(default)s",
    )


def _add_chance(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("intervals and tests")
    add = group.add_argument
    add_resamples(add, help_="for the intervals, 0 for none; default: %(default)s")
    add(
        "--unit",
        choices=UNITS,
        default="sentence",
        help="what is drawn as a whole; pair is that of Chollampatt & Ng (2018) and makes"
        " intervals too narrow; default: %(default)s",
    )
    add_seed(add)
    add_confidence(add)
    add(
        "--permutations",
        type=int,
        default=0,
        metavar="N",
        help="test the difference of every two metrics by N rounds of swaps, and give the soft"
        " pairwise accuracy; default: no test",
    )


def _add_selection(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("who and what")
    add = group.add_argument
    add("-m", "--metrics", nargs="+", metavar="METRIC", help="default: all in the file")
    add(
        "--systems",
        nargs="+",
        metavar="NAME",
        help="use these alone; base, +input, +fluent are the sets of SEEDA; default: all",
    )
    add("--drop", nargs="+", default=[], metavar="NAME", help="leave these systems out")
    add("--judge", nargs="+", metavar="NAME", help="only these judges'")
    add("--by-judge", action="store_true", help="measure each judge's pairs apart, too")


def _drawn(result: SentenceLevel, args: argparse.Namespace) -> str:
    digits = decimals(args)
    if args.format == "tsv":
        return drawn(args, long_table(result, digits=digits))
    tables = [agreement_table(result, digits=digits)]
    tables += [judge_table(result, digits=digits)] if result.by_judge else []
    tables += [permutation_table(result)] if result.pvalues else []
    return drawn(args, *tables)


def _cells(agreement: MetricAgreement, interval: bool, digits: int) -> Iterator[str]:
    from grammeter.rendering import format_number

    for estimate in (agreement.tau, agreement.accuracy):
        yield format_number(estimate.value, digits)
        if interval:
            yield _interval(estimate, digits)
    counts = agreement.counts
    yield from map(str, (counts.total, counts.concordant, counts.discordant))
    yield from map(str, (counts.metric_ties, counts.human_ties, counts.both_ties))
    yield format_number(counts.tie_share, percent=True) + "%"


def _interval(estimate: Estimate, digits: int) -> str:
    from grammeter.rendering import format_number

    if estimate.low is None or estimate.high is None:
        return ""
    return f"[{format_number(estimate.low, digits)}, {format_number(estimate.high, digits)}]"


def _pair_cells(metrics: Mapping[str, MetricAgreement], digits: int) -> Iterator[str]:
    from grammeter.rendering import format_number

    for agreement in metrics.values():
        yield format_number(agreement.tau.value, digits)
        yield format_number(agreement.accuracy.value, digits)


def _long_cells(agreement: MetricAgreement, digits: int) -> Iterator[str]:
    from grammeter.rendering import format_number

    for estimate in (agreement.tau, agreement.accuracy):
        for number in (estimate.value, estimate.low, estimate.high):
            yield "" if number is None else format_number(number, digits)
    counts = agreement.counts
    yield from map(str, (counts.total, counts.missing, counts.concordant, counts.discordant))
    yield from map(str, (counts.metric_ties, counts.human_ties, counts.both_ties))


def _notes(result: SentenceLevel, percent: str) -> Iterator[str]:
    from grammeter.rendering import format_number

    design = result.design
    yield f"{design.pairs} pairs of {result.rankings} rankings; ties: {design.ties}"
    if design.resamples:
        yield f"interval: {percent}, bootstrap by {design.unit}"
    for name, agreement in result.items():
        accuracy, epsilon = agreement.calibrated
        if not math.isnan(accuracy):
            yield (
                f"{name}: tie-calibrated accuracy {format_number(accuracy)}, scores within"
                f" {epsilon:.4g} as ties (chosen on these data)"
            )
        reasons = (agreement.tau.reason, agreement.accuracy.reason)
        yield from (f"{name}: {reason}" for reason in dict.fromkeys(reasons) if reason)
        if name in result.soft:
            soft = result.soft[name]
            reason = f" ({soft.reason})" if soft.reason else ""
            yield f"{name}: soft pairwise accuracy {format_number(soft.value)}{reason}"
        if agreement.counts.missing:
            yield f"{name}: {agreement.counts.missing} pairs lack a score"


def _signatures(result: SentenceLevel) -> Iterator[str]:
    for name, agreement in result.items():
        yield f"{name}: {agreement.signature}"
