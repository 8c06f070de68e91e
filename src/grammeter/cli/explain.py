"""``grammeter explain``: why one output got its scores."""

from __future__ import annotations

import argparse

import grammeter as gm
from grammeter.cli import models
from grammeter.cli.flags import call
from grammeter.cli.output import emit, progress


def run(args: argparse.Namespace) -> int:
    """Explain and print; return the exit code."""
    from grammeter.models import using

    with using(models.runtime(args)):
        return _explain(args)


def _explain(args: argparse.Namespace) -> int:
    scores = gm.read_scores(args.scores)
    names = [scores[name].metric if name in scores else name for name in args.metrics or scores]
    models.remark_unused(args, [gm.metric(name) for name in names])
    with progress(args):
        explained = call(args, gm.explain, scores=scores)
    emit(args, explained)
    return 0
