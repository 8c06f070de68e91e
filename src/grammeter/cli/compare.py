"""``grammeter compare``: paired significance between systems from stored scores."""

import argparse

import grammeter as gm
from grammeter.cli import flags, output


def run(args: argparse.Namespace) -> None:
    """Compare and print."""
    with output.progress(args):
        result = flags.call(args, gm.compare, table=args.scores)
    output.emit(args, result)
