"""``grammeter meta maege``: whether a metric orders partial corrections by their gold edits."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from grammeter.cli import corpus_arguments, model_arguments
from grammeter.cli.chance_arguments import add_seed
from grammeter.cli.homes import remark_idle
from grammeter.cli.metric_arguments import add_metrics
from grammeter.cli.output import (
    add_numbers,
    add_output,
    decimals,
    drawn,
    emit,
    progress,
)

if TYPE_CHECKING:
    from grammeter.formats import Corpus
    from grammeter.meta import Maege, MaegeDesign, MetricResult
    from grammeter.metrics import Metric
    from grammeter.rendering import Table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments; nothing heavy is imported for it."""
    parser.description = (
        "MAEGE (Choshen & Abend 2018): apply gold edits one after the other, and ask whether a"
        " metric follows. Needs no human judgments and no system outputs."
    )
    parser.epilog = "example:\n  grammeter meta maege -s src.txt -r gold.m2 -m m2 gleu --seed 1"
    corpus_arguments.add_corpus(parser)
    add_metrics(parser.add_argument)
    _add_design(parser)
    model_arguments.add_models(parser)
    add_numbers(parser.add_argument, percent=False)
    add_output(parser)


def _add_design(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("partial corrections")
    add_seed(group.add_argument)
    group.add_argument(
        "--chains",
        type=int,
        default=1,
        metavar="N",
        help="orders of each annotator's edits; all, where there are fewer; default: %(default)s",
    )
    group.add_argument(
        "--given",
        choices=["source", "random", "reference"],
        default="source",
        help="what metrics are given as the source: the sentence, a random text of the same"
        " chain as in the public program, or the corrected text; default: %(default)s",
    )
    group.add_argument(
        "--against",
        choices=["others", "all", "given"],
        default="others",
        help="what texts are held against: the edits of the other annotators, of all, or the"
        " texts given with -r beside the M2; default: %(default)s",
    )
    group.add_argument(
        "--ties",
        choices=["half", "concordant", "drop"],
        default="half",
        help="pairs that a metric ties, inside chains; default: %(default)s",
    )
    group.add_argument(
        "--pseudo",
        choices=["released", "intended"],
        default="released",
        help="worth of a sentence without edits; default: %(default)s",
    )
    group.add_argument(
        "--target",
        choices=["nominal", "applied"],
        default="nominal",
        help="what corpus scores are held against: 0 to 10, or the mean number of edits that"
        " were applied; default: %(default)s",
    )


def run(args: argparse.Namespace) -> int:
    """Measure and print; return the exit code."""
    from grammeter.models import using

    with using(model_arguments.runtime(args)):
        return _run(args)


def _run(args: argparse.Namespace) -> int:
    design = _design(args)
    metrics = _metrics(args.metrics)
    corpus = _corpus(args)
    model_arguments.remark_unused(args, metrics.values())
    notes = dict.fromkeys([*corpus.notes, *(metric.notice for metric in metrics.values())])
    with progress(args):
        result = replace(_measured(corpus, metrics, design), notes=tuple(filter(None, notes)))
    emit(args, result.to_json(), lambda: _drawn(result, args))
    return 0


def _design(args: argparse.Namespace) -> MaegeDesign:
    from grammeter.meta import MaegeDesign

    return MaegeDesign(
        seed=args.seed,
        max_orders=args.chains,
        pseudo=args.pseudo,
        ties=args.ties,
        target=args.target,
        given=args.given,
        against=args.against,
    )


def _metrics(spelled: list[str]) -> dict[str, Metric]:
    from grammeter.core import UsageError
    from grammeter.metrics import metric

    metrics = {name: metric(name) for name in spelled}
    if len(metrics) != len(spelled):
        raise UsageError("a metric is named twice", fix="Name each metric once.")
    return metrics


def _corpus(args: argparse.Namespace) -> Corpus:
    from grammeter.core import UsageError

    if args.hyps or args.names:
        raise UsageError(
            "MAEGE makes its outputs from the gold edits", fix="Leave --hyps and --names out."
        )
    corpus = corpus_arguments.read(args, noted=True)
    if corpus.gold:
        why = "MAEGE makes texts from gold edits by rules of its own"
        remark_idle(args, why, "--um", "--missing-annotator")
    return corpus


def _measured(corpus: Corpus, metrics: dict[str, Metric], design: MaegeDesign) -> Maege:
    from grammeter.formats import GIVEN
    from grammeter.meta import maege

    texts = corpus.references if corpus.text_rule == GIVEN else ()
    return maege(corpus.sources, corpus.gold, metrics, references=texts, design=design)


def maege_table(result: Maege, *, digits: int = 4) -> Table:
    """Lay out the results: a row for each metric, the best of each kind marked."""
    from grammeter.rendering import Table, best_rows, format_number

    header = ("metric", "corpus r", "corpus rho", "sentence r", "sentence rho", "chain tau", "ties")
    figures = [_coefficients(metric) for metric in result.values()]
    rows = tuple(
        (
            name,
            *(format_number(number, digits) for number in numbers),
            format_number(metric.chain.tie_share, percent=True) + " %",
        )
        for (name, metric), numbers in zip(result.items(), figures, strict=True)
    )
    best = {
        (row, column)
        for column, values in enumerate(zip(*figures, strict=True), start=1)
        for row in best_rows(values, higher_is_better=True)
    }
    return Table(header, rows, "l" + "r" * 6, tuple(_notes(result)), frozenset(best))


def _coefficients(metric: MetricResult) -> list[float]:
    levels = (metric.corpus, metric.sentence)
    numbers = [level[kind].statistic for level in levels for kind in ("pearson", "spearman")]
    return [*numbers, metric.chain.kendall]


def _notes(result: Maege) -> list[str]:
    applied = " ".join(f"{mean:.2f}" for mean in result.applied)
    notes = [str(result.signature), f"mean edits applied in the corpora: {applied}"]
    dropped = ", ".join(f"{count} {reason}" for reason, count in result.dropped.items() if count)
    if dropped:
        notes.append(f"sentences without chains: {dropped}")
    for name, metric in result.items():
        notes.append(f"{name}: {metric.signature}")
        notes += [f"{name}: NaN: {reason}" for reason in dict.fromkeys(metric.reasons.values())]
        counted = (metric.sentences, metric.lines)
        if counted != (int(result.signature["sentences"]), int(result.signature["lines"])):
            notes.append(
                f"{name}: only {metric.sentences} sentences with chains and {metric.lines} lines a"
                " corpus have something to be held against"
            )
    return notes


def long_table(result: Maege, *, digits: int = 6) -> Table:
    """Lay out the results for programs: a row for each figure."""
    from grammeter.rendering import Table, format_number

    rows = [
        (name, level, kind, format_number(value, digits), f"{p:.6g}".replace("nan", "NaN"))
        for name, metric in result.items()
        for level, kind, value, p in metric.figures()
    ]
    return Table(("metric", "level", "statistic", "value", "pvalue"), tuple(rows), "lllrr")


def _drawn(result: Maege, args: argparse.Namespace) -> str:
    lay_out = long_table if args.format == "tsv" else maege_table
    return drawn(args, lay_out(result, digits=decimals(args)))
