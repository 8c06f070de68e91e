"""``grammeter meta beta``: which weight of recall agrees best with people."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from grammeter.cli import meta_arguments
from grammeter.cli.output import add_numbers, add_output, check_figures, decimals, drawn, emit

if TYPE_CHECKING:
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
    from grammeter.meta import parse_betas, sweep_beta, swept_metric
    from grammeter.verbs import rescored

    check_figures(args.figure)
    betas = parse_betas(args.beta)
    inputs = meta_arguments.read_inputs(args)
    table, human = inputs.table, inputs.human
    name = args.metric or swept_metric(table)
    sweep = sweep_beta(
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

        columns = (column.tolist() for column in (sweep.betas, sweep.pearson, sweep.spearman))
        figures.save(meta_figures.beta_curve(*columns), args.figure)
    emit(args, sweep.to_json(), lambda: drawn(args, sweep_table(sweep, digits=decimals(args))))
    return 0


def sweep_table(sweep: BetaSweep, *, digits: int = 4) -> Table:
    """Lay out a sweep: a row for each beta."""
    from grammeter.rendering import Table, best_rows, format_number

    columns = (sweep.pearson.tolist(), sweep.spearman.tolist())
    rows = tuple(
        (f"{beta:g}", *(format_number(value, digits) for value in values))
        for beta, *values in zip(sweep.betas.tolist(), *columns, strict=True)
    )
    best = {
        (row, place)
        for place, values in enumerate(columns, start=1)
        for row in best_rows(values, higher_is_better=True)
    }
    notes = (
        *(_best_note(sweep, kind) for kind in ("pearson", "spearman")),
        f"{len(sweep.systems)} systems against {sweep.human}",
        f"{sweep.metric}: {sweep.signature}",
    )
    return Table(("beta", "pearson", "spearman"), rows, "rrr", notes, frozenset(best))


def _best_note(sweep: BetaSweep, kind: str) -> str:
    beta, value = sweep.best(kind)
    return f"best {kind}: {value:.4f} at beta {beta:g}"
