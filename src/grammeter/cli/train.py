"""``grammeter train``: fit learned metrics. One module for each metric."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from grammeter.cli.actions import add_actions, run_action
from grammeter.cli.chance_arguments import add_seed
from grammeter.cli.output import add_output, notice, progress

METRICS = {
    "impara": "IMPARA's quality estimator, from parallel data alone",
    "some": "SOME's three regressors, from human scores",
    "cross-domain": "IMPARA trained on each of several corpora, tested on each",
    "impacts": "which error types, and which edits, have the greatest impact",
}
"""Actions with a short description; the module of each is ``grammeter.cli.train_NAME``."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the metrics and their arguments; nothing heavy is imported for it."""
    add_actions(parser, "train", METRICS)


def run(args: argparse.Namespace) -> int:
    """Train; return the exit code."""
    return run_action(args)


# --- arguments of several actions ----------------------------------------------------------


def add_parallel(parser: argparse.ArgumentParser, *, named: bool = False) -> None:
    """Declare the parallel data; ``named``: ``NAME=DATA`` for each corpus."""
    add = parser.add_argument_group("data").add_argument
    add(
        "--parallel",
        nargs="+",
        required=True,
        metavar="NAME=DATA" if named else "DATA",
        help="an M2 file, source.txt:reference.txt, or a table (tsv, csv, jsonl, parquet)",
    )
    add("--source-column", metavar="NAME", help="of tables; default: source")
    add("--target-column", metavar="NAME", help="of tables; default: target")
    add("--pipeline", metavar="NAME", help="the spaCy pipeline that extracts edits from texts")
    add(
        "--lenient",
        action="store_true",
        help="pass over M2 edits outside their sentence and unknown lines, and count them",
    )


def add_encoder(parser: argparse.ArgumentParser) -> None:
    """Declare the encoder."""
    parser.add_argument(
        "--encoder",
        default="bert-base-cased",
        metavar="MODEL",
        help="name or folder of the encoder to start from; default: %(default)s",
    )


def add_preference(parser: argparse.ArgumentParser, *, seeds: bool = False) -> None:
    """Declare pairs, encoder and fitting of a quality estimator; ``seeds``: of several."""
    add = parser.add_argument_group("pairs").add_argument
    add(
        "--pairs",
        type=int,
        default=4096,
        metavar="N",
        help="for training, validation and test, 8:1:1; default: %(default)s",
    )
    add(
        "--parallel-only",
        action="store_true",
        help="only pairs of source and correction: the paper's ablation",
    )
    add(
        "--loss",
        choices=["sigmoid", "logistic"],
        default="sigmoid",
        help="equation 4 of the paper, or the logistic ranking loss; default: %(default)s",
    )
    add_encoder(parser)
    add_fitting(parser, rate=1e-5, decay="none", warmup=0.0, seeds=seeds)
    add_running(parser)


def add_fitting(
    parser: argparse.ArgumentParser, *, rate: float, decay: str, warmup: float, seeds: bool = False
) -> None:
    """Declare how a model is fitted; the defaults are the metric's. ``seeds``: several models."""
    group = parser.add_argument_group("fitting")
    add = group.add_argument
    add(
        "--epochs",
        type=int,
        default=10,
        metavar="N",
        help="the best of so many is kept; 0 writes the untrained head; default: %(default)s",
    )
    add(
        "--batch-size",
        type=int,
        default=32,
        metavar="N",
        help="examples a step; default: %(default)s",
    )
    add("--learning-rate", type=float, default=rate, metavar="X", help="default: %(default)s")
    add(
        "--decay",
        choices=["none", "linear"],
        default=decay,
        help="of the learning rate; default: %(default)s",
    )
    add(
        "--warmup",
        type=float,
        default=warmup,
        metavar="SHARE",
        help="of all steps; default: %(default)s",
    )
    add(
        "--dtype",
        choices=["auto", "float32", "bfloat16"],
        default="auto",
        help="of the steps; auto: bfloat16 where the processor has it; weights stay float32",
    )
    if seeds:
        add(
            "--seeds",
            nargs="+",
            type=int,
            default=(1, 2, 3),
            metavar="N",
            help="a model of each corpus for each; default: 1 2 3",
        )
    else:
        add_seed(add)


def add_running(parser: argparse.ArgumentParser) -> None:
    """Declare where models run."""
    add = parser.add_argument_group("running").add_argument
    add("--device", default="cpu", help="cpu, cuda, cuda:1 or mps")
    add("--cache-dir", metavar="DIR", help="keep measured impacts here for other seeds")
    add("--download", action="store_true", help="fetch the encoder from its hub if it is not here")


def add_run(parser: argparse.ArgumentParser) -> None:
    """Declare where the model goes."""
    add = parser.add_argument_group("output").add_argument
    add("-o", "--output", required=True, metavar="DIR", help="folder of the model and its card")
    add("--resume", action="store_true", help="go on where an interrupted training stopped")
    add_output(parser, formats=("table", "json"), file=None)


# --- work ----------------------------------------------------------------------------------


def options(args: argparse.Namespace, verb: Callable[..., Any]) -> dict[str, Any]:
    """Return the keyword arguments of a verb: its flags have the same names."""
    from inspect import Parameter, signature

    parameters = signature(verb).parameters.values()
    return {p.name: getattr(args, p.name) for p in parameters if p.kind is Parameter.KEYWORD_ONLY}


@contextmanager
def at_work(args: argparse.Namespace) -> Generator[None]:
    """Show progress, run models as the arguments say; after Ctrl-C, say how to go on."""
    from grammeter.core import expanded
    from grammeter.models import Runtime, using
    from grammeter.training import listening

    folder = expanded(args.cache_dir) if args.cache_dir else None
    runtime = Runtime(device=args.device, download=args.download, cache_dir=folder)
    with progress(args) as shown:

        def tell(text: str) -> None:
            shown.clear()
            notice(args, text)

        try:
            with using(runtime), listening(tell):
                yield
        except KeyboardInterrupt:
            shown.clear()
            if hasattr(args, "output"):
                notice(args, f"{args.output} keeps what is done; to go on: {_again(args)}")
            raise


def _again(args: argparse.Namespace) -> str:
    """Return the command that goes on where this one stopped."""
    flag = ["--resume"] if getattr(args, "resume", None) is False else []
    if sys.argv[1:2] != ["train"]:  # called from Python
        return " ".join(["the same command", *(["with --resume"] if flag else [])])
    return shlex.join(["grammeter", *sys.argv[1:], *flag])
