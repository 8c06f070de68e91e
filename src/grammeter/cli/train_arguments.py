"""What the trainings have in common: how a model is fitted, and what is said at the end."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from grammeter.cli.chance_arguments import add_seed
from grammeter.cli.output import notice, print_json, progress

if TYPE_CHECKING:
    from grammeter.training import Settings
    from grammeter.verbs import Reading


def add_parallel(parser: argparse.ArgumentParser, *, named: bool = False) -> None:
    """Declare where parallel data come from; ``named``: ``NAME=DATA`` for each corpus."""
    group = parser.add_argument_group("data")
    group.add_argument(
        "--parallel",
        nargs="+",
        required=True,
        metavar="NAME=DATA" if named else "DATA",
        help="an M2 file, source.txt:reference.txt, or a table (tsv, csv, jsonl, parquet)",
    )
    group.add_argument("--source-column", metavar="NAME", help="of tables; default: source")
    group.add_argument("--target-column", metavar="NAME", help="of tables; default: target")
    group.add_argument(
        "--pipeline", metavar="NAME", help="the spaCy pipeline that extracts edits from texts"
    )
    group.add_argument(
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


def add_fitting(
    parser: argparse.ArgumentParser, *, rate: float, decay: str, warmup: float, seeds: bool = False
) -> None:
    """Declare how a model is fitted; the defaults are the metric's. ``seeds``: several models."""
    group = parser.add_argument_group("fitting")
    group.add_argument(
        "--epochs",
        type=int,
        default=10,
        metavar="N",
        help="the best of so many is kept; 0 writes the untrained head; default: %(default)s",
    )
    group.add_argument(
        "--batch-size",
        type=int,
        default=32,
        metavar="N",
        help="examples a step; default: %(default)s",
    )
    group.add_argument(
        "--learning-rate", type=float, default=rate, metavar="X", help="default: %(default)s"
    )
    group.add_argument(
        "--decay",
        choices=["none", "linear"],
        default=decay,
        help="of the learning rate; default: %(default)s",
    )
    group.add_argument(
        "--warmup",
        type=float,
        default=warmup,
        metavar="SHARE",
        help="of all steps; default: %(default)s",
    )
    group.add_argument(
        "--dtype",
        choices=["auto", "float32", "bfloat16"],
        default="auto",
        help="of the steps; auto: bfloat16 where the processor has it; weights stay float32",
    )
    if seeds:
        group.add_argument(
            "--seeds",
            nargs="+",
            type=int,
            default=[1, 2, 3],
            metavar="N",
            help="a model of each corpus for each; default: 1 2 3",
        )
    else:
        add_seed(group.add_argument)


def add_running(parser: argparse.ArgumentParser) -> None:
    """Declare where models run."""
    group = parser.add_argument_group("running")
    group.add_argument("--device", default="cpu", help="cpu, cuda, cuda:1 or mps")
    group.add_argument(
        "--cache-dir", metavar="DIR", help="keep measured impacts here for other seeds"
    )
    group.add_argument(
        "--download", action="store_true", help="fetch the encoder from its hub if it is not here"
    )


def settings(args: argparse.Namespace, *, seed: int | None = None) -> Settings:
    """Return how a model shall be fitted."""
    from grammeter.training import Settings

    return Settings(
        encoder=args.encoder,
        epochs=args.epochs,
        batch_size=args.batch_size,
        rate=args.learning_rate,
        decay=args.decay,
        warmup=args.warmup,
        dtype=args.dtype,
        device=args.device,
        seed=args.seed if seed is None else seed,
    )


def reading(args: argparse.Namespace) -> Reading:
    """Return how parallel data shall be read."""
    from grammeter.verbs import Reading

    return Reading(
        source=args.source_column,
        target=args.target_column,
        pipeline=args.pipeline,
        lenient=args.lenient,
    )


@contextmanager
def at_work(args: argparse.Namespace) -> Generator[None]:
    """Show progress, run models as the arguments say, tell after Ctrl-C how to go on."""
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


def print_card(args: argparse.Namespace, card: dict[str, Any]) -> None:
    """Print what a training came to: its card as JSON, or the page."""
    from grammeter.training import card_page

    if args.format == "json":
        print_json(card)
    else:
        sys.stdout.write(card_page(card))
