"""``grammeter agree``: how far judges agree, with each other and with themselves."""

import argparse

import grammeter as gm
from grammeter import core, formats, rendering
from grammeter.cli import flags, inputs, output


def run(args: argparse.Namespace) -> None:
    """Measure and print."""
    core.check_home(not args.correlate, "results other than --correlate's", figure=args.figure)
    output.check_figures(args.figure)
    judgments = inputs.judgments(args)
    outputs = formats.read_outputs(args.hyps) if args.hyps else None
    result = flags.call(args, gm.agree, rankings=judgments, outputs=outputs)
    rendering.save_figures(result, dict.fromkeys(result.figures(), args.figure))
    output.emit(args, result)
