"""``grammeter score``: score system outputs with any metrics."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable

import grammeter as gm
from grammeter import formats, rendering, verbs
from grammeter.cli import flags, inputs, models, output


def run(args: argparse.Namespace) -> int:
    """Score and print; return the exit code."""
    with gm.using(models.runtime(args)), models.asking(args):
        return _score(args)


def _score(args: argparse.Namespace) -> int:
    if args.benchmark and not args.metrics:
        args.metrics = formats.recipe(args.benchmark).metrics
    limits = _limits(args.fail_under)
    verbs.check_limits(limits, args.metrics)
    for path in (args.output, args.segments):  # before the work, not after it
        formats.check_folder(path)
    metrics = [_named(spelled) for spelled in args.metrics]  # refuses wrong spellings at once
    corpus = inputs.corpus(args, noted=True)
    verbs.check_limits(limits, args.metrics, corpus.group_labels)
    models.remark_unused(args, metrics, judging=True)
    with output.progress(args):
        table = flags.call(args, verbs.score, corpus=corpus, source=(), references=())
    if args.output:
        formats.write_scores(table, args.output)
    if args.segments:
        output.put(args.segments, rendering.segments_tsv(table))
    if args.segments != formats.STDIN:
        output.print_result(args, table, parts=args.parts)
    missed = verbs.fail_under(table, limits)
    for text in missed:
        print(text, file=sys.stderr)
    return 1 if missed else 0


def _named(spelled: str) -> gm.Metric:
    from pathlib import Path

    try:
        return gm.metric(spelled)
    except gm.UsageError:
        if not Path(spelled).is_file():
            raise
    fix = "System outputs stand behind --hyps, gold edits and texts behind -r."
    raise gm.UsageError(f"{spelled} is a file, no metric", fix=fix)


def _limits(spelled: Iterable[str]) -> dict[str, float]:
    limits: dict[str, float] = {}
    for text in spelled:
        name, _, value = text.rpartition("=")
        try:
            limits[name] = float(value)
        except ValueError:
            name = ""
        if not name:
            fix = "Write METRIC=VALUE: m2=0.35, m2@GROUP=0.3"
            raise gm.UsageError(f"--fail-under {text}", fix=fix)
    return limits
