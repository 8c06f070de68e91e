"""``grammeter agree``: how far judges agree, with each other and with themselves."""

import argparse

import grammeter as gm
from grammeter.cli import inputs
from grammeter.cli.flags import call
from grammeter.cli.output import check_figures, emit


def run(args: argparse.Namespace) -> None:
    """Measure and print."""
    from grammeter.core import check_home
    from grammeter.formats import read_outputs
    from grammeter.rendering import save_figures

    check_home(not args.correlate, "results other than --correlate's", figure=args.figure)
    check_figures(args.figure)
    judgments = inputs.judgments(args)
    outputs = read_outputs(args.hyps) if args.hyps else None
    result = call(args, gm.agree, rankings=judgments, outputs=outputs)
    save_figures(result, dict.fromkeys(result.figures(), args.figure))
    emit(args, result)
