"""``grammeter train``: fit learned metrics."""

import argparse
import sys
from collections.abc import Generator
from contextlib import contextmanager

import grammeter as gm
from grammeter import core, models, training
from grammeter.cli import flags, output


def run_impara(args: argparse.Namespace) -> None:
    """Train IMPARA's quality estimator."""
    with _at_work(args):
        card = flags.call(args, gm.train_impara)
    if args.format == "json":
        output.print_json(card)
    else:
        sys.stdout.write(training.card_page(card))


def run_some(args: argparse.Namespace) -> None:
    """Train SOME's regressors."""
    with _at_work(args):
        cards = flags.call(args, gm.train_some)
    if args.format == "json":
        output.print_json({"kind": "training-cards", "cards": cards})
    else:
        sys.stdout.write("\n".join(training.card_page(card) for card in cards.values()))


def run_cross_domain(args: argparse.Namespace) -> None:
    """Train on each corpus, test on each."""
    with _at_work(args):
        corpora: dict[str, list[str]] = {}
        for text in args.parallel:
            name, equals, data = text.partition("=")
            if not (name and equals and data):
                raise gm.UsageError(f"--parallel {text}", fix="Write NAME=DATA: conll13=conll13.m2")
            corpora.setdefault(name, []).append(data)
        crossed = flags.call(args, gm.train_cross_domain, corpora=corpora)
    output.print_result(args, crossed)


def run_impacts(args: argparse.Namespace) -> None:
    """Print the impacts of error types and edits."""
    with _at_work(args):
        impacts = flags.call(args, gm.train_impacts)
    output.print_result(args, impacts, show=args.show)


@contextmanager
def _at_work(args: argparse.Namespace) -> Generator[None]:
    """Show progress, run models as the arguments say; after Ctrl-C, say how to go on."""
    folder = core.expanded(args.cache_dir) if args.cache_dir else None
    runtime = models.Runtime(device=args.device, download=args.download, cache_dir=folder)
    with output.progress(args) as shown:
        try:
            with models.using(runtime), training.listening(output.teller(args, shown)):
                yield
        except KeyboardInterrupt:
            shown.clear()
            if hasattr(args, "output"):
                flag = " with --resume" * (getattr(args, "resume", None) is False)
                kept = f"{args.output} keeps what is done"
                output.notice(args, f"{kept}; to go on: the same command{flag}")
            raise
