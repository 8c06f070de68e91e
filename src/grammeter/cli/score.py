"""``grammeter score``: score system outputs with any metrics."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from grammeter.cli import inputs, models
from grammeter.cli.flags import call
from grammeter.cli.output import notice, print_result, progress

if TYPE_CHECKING:
    from grammeter.core import ScoreTable
    from grammeter.metrics import Metric

STDOUT = "-"


def run(args: argparse.Namespace) -> int:
    """Score and print; return the exit code."""
    from grammeter.models import using

    with using(models.runtime(args)), models.asking(args):
        return _score(args)


def _score(args: argparse.Namespace) -> int:
    from grammeter.formats import check_folder, write_scores
    from grammeter.verbs import check_limits, fail_under, score

    limits = _limits(args.fail_under)
    check_limits(limits, args.metrics)
    for path in (args.output, args.segments):  # before the work, not after it
        check_folder(path)
    metrics = [_named(spelled) for spelled in args.metrics]  # refuses wrong spellings at once
    corpus = inputs.corpus(args, noted=True)
    models.remark_unused(args, metrics, judging=True)
    for text in dict.fromkeys(metric.hint for metric in metrics if metric.hint):
        notice(args, text)
    with progress(args):
        table = call(args, score, corpus=corpus)
    if args.output:
        write_scores(table, args.output)
    if args.segments:
        _write_segments(table, args.segments)
    if args.segments != STDOUT:
        print_result(args, table, parts=args.parts)
    missed = fail_under(table, limits)
    for text in missed:
        print(text, file=sys.stderr)
    return 1 if missed else 0


def _write_segments(table: ScoreTable, path: str) -> None:
    from grammeter.formats import write_text
    from grammeter.rendering import segments_tsv

    if path == STDOUT:
        sys.stdout.write(segments_tsv(table))
    else:
        write_text(path, segments_tsv(table))


def _named(spelled: str) -> Metric:
    """Return a metric; a file among the metrics gets a message of its own."""
    from pathlib import Path

    from grammeter.core import UsageError
    from grammeter.metrics import metric

    try:
        return metric(spelled)
    except UsageError:
        if not Path(spelled).is_file():
            raise
    raise UsageError(
        f"{spelled} is a file, no metric",
        fix="System outputs stand behind --hyps, gold edits and texts behind -r.",
    )


def _limits(spelled: Iterable[str]) -> dict[str, float]:
    from grammeter.core import UsageError

    limits: dict[str, float] = {}
    for text in spelled:
        name, _, value = text.rpartition("=")
        try:
            limits[name] = float(value)
        except ValueError:
            name = ""
        if not name:
            raise UsageError(f"--fail-under {text}", fix="Write it as METRIC=VALUE: m2=0.35")
    return limits
