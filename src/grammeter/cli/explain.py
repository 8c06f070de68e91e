"""``grammeter explain``: why one output got its scores."""

from __future__ import annotations

import argparse

from grammeter.cli import models
from grammeter.cli.flags import call
from grammeter.cli.output import emit, progress


def run(args: argparse.Namespace) -> int:
    """Explain and print; return the exit code."""
    from grammeter.models import using

    with using(models.runtime(args)):
        return _explain(args)


def _explain(args: argparse.Namespace) -> int:
    from grammeter.formats import read_scores
    from grammeter.metrics import metric
    from grammeter.verbs import explain

    scores = read_scores(args.scores)
    names = [scores[name].metric if name in scores else name for name in args.metrics or scores]
    models.remark_unused(args, [metric(name) for name in names])
    with progress(args):
        explained = call(args, explain, scores=scores)
    emit(args, explained)
    return 0
