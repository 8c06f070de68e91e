"""``grammeter meta`` asks how good a metric is: how well it agrees with people."""

import argparse
from collections.abc import Callable
from typing import Any

import grammeter as gm
from grammeter.cli import flags, inputs, output


def run_system(args: argparse.Namespace) -> None:
    """Correlate and print."""
    if args.interval in ("fisher", "none"):
        why = f"--interval {args.interval} draws nothing; systems, systems-bca and sentences do"
        if not args.rankings:
            flags.remark_idle(args, why, "--resamples", "--bootstrap", "--seed")
    if args.interval == "none":
        flags.remark_idle(args, "there is no interval", "--confidence")
    output.emit(args, _correlated(args, gm.meta_system))


def run_sentence(args: argparse.Namespace) -> None:
    """Measure and print."""
    output.emit(args, flags.call(args, gm.meta_sentence, scores=[args.scores, *args.more]))


def run_edits(args: argparse.Namespace) -> None:
    """Measure and print."""
    with gm.using(inputs.runtime(args)), inputs.asking(args):
        inputs.remark_unused(args, [gm.metric(name) for name in args.metrics or ()], judging=True)
        with output.progress(args):
            result = flags.call(args, gm.meta_edits)
    output.emit(args, result)


def run_window(args: argparse.Namespace) -> None:
    """Correlate and print."""
    output.emit(args, _correlated(args, gm.meta_window))


def run_beta(args: argparse.Namespace) -> None:
    """Sweep and print."""
    output.emit(args, _correlated(args, gm.meta_beta))


def run_judge(args: argparse.Namespace) -> None:
    """Measure and print."""
    with output.progress(args):
        result = flags.call(args, gm.meta_judge)
    output.emit(args, result)


def run_attack(args: argparse.Namespace) -> None:
    """Score attacks and print."""
    with gm.using(inputs.runtime(args)), inputs.asking(args):
        metrics = [gm.metric(name) for name in args.metrics]
        corpus = inputs.corpus(args, noted=True)
        inputs.remark_unused(args, metrics, judging=True)
        if args.attack and "shuffle" not in args.attack:
            flags.remark_idle(args, "no tokens are shuffled", "--seed")
        with output.progress(args):
            result = flags.call(args, gm.meta_attack, corpus=corpus)
    output.emit(args, result)


def run_maege(args: argparse.Namespace) -> None:
    """Measure and print."""
    if args.hyps or args.names:
        fault = "MAEGE makes its outputs from the gold edits"
        raise gm.UsageError(fault, fix="Leave --hyps and --names out.")
    with gm.using(inputs.runtime(args)):
        metrics = [gm.metric(name) for name in args.metrics]
        corpus = inputs.corpus(args, noted=True)
        if corpus.gold:
            why = "MAEGE makes texts from gold edits by rules of its own"
            flags.remark_idle(args, why, "--um", "--missing-annotator")
        inputs.remark_unused(args, metrics)
        with output.progress(args):
            result = flags.call(args, gm.meta_maege, corpus=corpus)
    output.emit(args, result)


def _correlated(args: argparse.Namespace, verb: Callable[..., Any]) -> Any:
    """Call a verb; the last of several files is people's side, unless a benchmark is named."""
    human = None if args.benchmark or len(args.files) < 2 else args.files[-1]
    return flags.call(args, verb, scores=args.files[: -1 if human else None], human=human)
