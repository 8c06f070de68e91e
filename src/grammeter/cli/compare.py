"""``grammeter compare``: paired significance between systems from stored scores."""

import argparse

import grammeter as gm
from grammeter.cli.flags import call
from grammeter.cli.output import emit, progress


def run(args: argparse.Namespace) -> None:
    """Compare and print."""
    with progress(args):
        result = call(args, gm.compare, table=args.scores)
    emit(args, result)
