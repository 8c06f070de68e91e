"""``grammeter rank``: judgments to a ranking with rank ranges and clusters."""

import argparse

import grammeter as gm
from grammeter import rendering
from grammeter.cli import flags, inputs
from grammeter.cli.output import check_figures, emit, notice, progress


def run(args: argparse.Namespace) -> None:
    """Rank and print."""
    if args.figure and (args.draw_radius or args.validate is not None):
        fault = "--figure belongs to results other than those of --validate and --draw-radius"
        raise gm.UsageError(fault, fix="Leave it out.")
    check_figures(args.figure)
    if args.processes != 1 and args.by != "trueskill":
        notice(args, "--processes changes nothing here: only runs of TrueSkill are shared out")
    judgments = inputs.judgments(args)
    if args.unit != "document":
        flags.remark_idle(args, "documents are drawn with --unit document", "--documents")
    with progress(args):
        result = flags.call(args, gm.rank, rankings=judgments)
    rendering.save_figures(result, dict.fromkeys(result.figures(), args.figure))
    emit(args, result)
