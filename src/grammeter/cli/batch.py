"""``grammeter batch``: score, filter and annotate tables of any length."""

from __future__ import annotations

import argparse
import sys

import grammeter as gm
from grammeter import engine, formats
from grammeter.cli import inputs
from grammeter.cli.flags import call
from grammeter.cli.output import notice, print_json, progress, remark

FIRST = 5  # files whose line ends are checked before the run: the others will be like them


def run(args: argparse.Namespace) -> None:
    """Score and print the counts."""
    shards = formats.find_shards(args.inputs)[:FIRST]
    for text in [text for shard in shards for text in formats.odd_ends(shard)]:
        notice(args, text)

    def told(note: str) -> None:
        remark([note])

    with gm.using(inputs.runtime(args)):
        inputs.remark_unused(args, list(map(gm.metric, args.metrics)))
        with progress(args) as shown:
            try:
                summary = call(args, gm.batch, on_note=told)
            except KeyboardInterrupt:
                shown.clear()
                notice(args, f"{args.output} keeps the finished files; the same command goes on")
                raise
    _tell(args, summary)


def _tell(args: argparse.Namespace, summary: engine.Summary) -> None:
    """Print the counts and, even if quiet, rows with an error; times go to standard error."""
    totals = summary.all
    if totals.errors:
        more = totals.errors - len(summary.faults)
        print(f"{totals.errors} of {totals.rows} rows have an error:", file=sys.stderr)
        for text in summary.faults:
            print(f"  {text}", file=sys.stderr)
        if more > 0:
            print(f"  and {more} more; all in {args.output}/{engine.ERRORS}", file=sys.stderr)
    count = len(summary.totals)
    files = f"{count} file" + "s" * (count != 1)
    if summary.earlier:
        notice(args, f"{len(summary.earlier)} of {files} finished already")
    if summary.fresh:
        rate = summary.fresh / summary.seconds
        notice(args, f"{summary.fresh} rows in {summary.seconds:.1f} s, {rate:.0f} a second")
    if args.format == "json":
        print_json(summary.to_dict())
        return
    filtered = f", {totals.kept} kept" if args.keep else ""
    print(f"{totals.rows} rows of {files}{filtered}, {totals.errors} with an error: {args.output}")
