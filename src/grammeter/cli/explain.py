"""``grammeter explain``: why one output got its scores."""

import argparse

import grammeter as gm
from grammeter.cli import flags, models, output


def run(args: argparse.Namespace) -> None:
    """Explain and print."""
    from grammeter.models import using

    with using(models.runtime(args)):
        scores = gm.read_scores(args.scores)
        names = [scores[name].metric if name in scores else name for name in args.metrics or scores]
        models.remark_unused(args, [gm.metric(name) for name in names])
        with output.progress(args):
            explained = flags.call(args, gm.explain, scores=scores)
        output.emit(args, explained)
