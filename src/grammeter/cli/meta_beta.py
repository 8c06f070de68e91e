"""``grammeter meta beta``: which weight of recall agrees best with people."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from grammeter.cli import meta_arguments
from grammeter.cli.output import add_numbers, add_output, check_figures, decimals, drawn, emit

if TYPE_CHECKING:
    from grammeter.core import ScoreTable
    from grammeter.meta import BetaSweep
    from grammeter.rendering import Table

BETAS = "0.01:1.0:0.01"
CHOICES = ("anew", "fixed")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the question's arguments; nothing heavy is imported for it."""
    parser.description = (
        "Score with all betas, and correlate with people's scores: which weight of recall agrees"
        " best with people? (Grundkiewicz et al. 2015, Figure 3: --choice fixed)"
    )
    parser.epilog = (
        "examples:\n"
        "  grammeter meta beta scores.json ranking.json --beta 0.01:1.0:0.01\n"
        "  grammeter meta beta scores.json judgments.xml -m m2 --beta 0.1,0.25,0.5,1"
    )
    meta_arguments.add_inputs(parser)
    parser.add_argument(
        "-m", "--metric", metavar="METRIC", help="which metric of the file, if several have parts"
    )
    parser.add_argument(
        "--beta",
        default=BETAS,
        metavar="BETAS",
        help="FIRST:LAST:STEP, or betas between commas; default: %(default)s",
    )
    parser.add_argument(
        "--choice",
        choices=CHOICES,
        help="anew: the metric is scored again at each beta, its choice of annotators too; fixed: F"
        " of precision and recall as measured; default: anew where the file holds statistics",
    )
    parser.add_argument(
        "--figure", metavar="FILE", help="draw both correlations over beta: .svg or .png"
    )
    add_numbers(parser.add_argument, percent=False)
    add_output(parser)


def run(args: argparse.Namespace) -> int:
    """Sweep and print; return the exit code."""
    from grammeter.meta import parse_betas, sweep_beta
    from grammeter.verbs import rescored

    check_figures(args.figure)
    betas = parse_betas(args.beta)
    inputs = meta_arguments.read_inputs(args)
    table, human = inputs.table, inputs.human
    name = _metric(table, args.metric)
    found = sweep_beta(
        table[name],
        human.scores,
        betas,
        metric=name,
        human_name=human.name,
        systems=args.systems,
        drop=args.drop,
        choice=args.choice,
        rescorer=rescored,
        notes=(*table.notes_on([name]), *human.notes),
    )
    if args.figure:
        from grammeter.rendering import figures, meta_figures

        columns = (column.tolist() for column in (found.betas, found.pearson, found.spearman))
        figures.save(meta_figures.beta_curve(*columns), args.figure)
    emit(args, found.to_json(), lambda: drawn(args, sweep_table(found, digits=decimals(args))))
    return 0


def _metric(table: ScoreTable, asked: str | None) -> str:
    """Return the metric asked for, or the only one that can be swept."""
    from grammeter.core import DataError, UsageError
    from grammeter.meta import sweepable

    if asked is not None:
        return asked
    fit = sweepable(table)
    if not fit:
        raise DataError(
            "no metric of this file has precision and recall",
            fix="Score with one that has, such as m2, or add the columns 'precision recall'.",
        )
    if len(fit) > 1:
        raise UsageError(
            f"several metrics have a weight of recall: {', '.join(fit)}",
            fix="Say which: -m METRIC",
        )
    return fit[0]


def sweep_table(found: BetaSweep, *, digits: int = 4) -> Table:
    """Lay out a sweep: a row for each beta."""
    from grammeter.rendering import Table, best_rows, format_number

    columns = (found.pearson.tolist(), found.spearman.tolist())
    rows = tuple(
        (f"{beta:g}", *(format_number(value, digits) for value in values))
        for beta, *values in zip(found.betas.tolist(), *columns, strict=True)
    )
    best = {
        (row, place)
        for place, values in enumerate(columns, start=1)
        for row in best_rows(values, higher_is_better=True)
    }
    notes = (
        *(_best_note(found, kind) for kind in ("pearson", "spearman")),
        f"{len(found.systems)} systems against {found.human}",
        f"{found.metric}: {found.signature}",
    )
    return Table(("beta", "pearson", "spearman"), rows, "rrr", notes, frozenset(best))


def _best_note(found: BetaSweep, kind: str) -> str:
    beta, value = found.best(kind)
    return f"best {kind}: {value:.4f} at beta {beta:g}"
