"""The arguments of verbs that run pretrained models."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from grammeter.cli.homes import remark_idle

if TYPE_CHECKING:
    from collections.abc import Collection

    from grammeter.metrics import Metric
    from grammeter.models import Runtime


def add_models(parser: argparse.ArgumentParser) -> None:
    """Declare how models run."""
    group = parser.add_argument_group("pretrained models")
    group.add_argument(
        "--device", default="cpu", help="cpu, cuda, cuda:1 or mps; default: %(default)s"
    )
    group.add_argument(
        "--dtype",
        choices=["float32", "bfloat16", "float16"],
        default="float32",
        help="number type; the shorter ones are faster and differ in the fourth digit;"
        " default: %(default)s",
    )
    group.add_argument(
        "--batch-tokens",
        type=int,
        metavar="N",
        help="tokens that go through a model at once; default: 2048 on a CPU, else 16384",
    )
    group.add_argument(
        "--cache-dir",
        metavar="DIR",
        help="keep what models answered here, so that a second run asks only what is new",
    )
    group.add_argument(
        "--download", action="store_true", help="fetch models that are not here from their hub"
    )


def runtime(args: argparse.Namespace) -> Runtime:
    """Return how models shall run."""
    from grammeter.core import expanded
    from grammeter.models import Runtime

    return Runtime(
        device=args.device,
        dtype=args.dtype,
        batch_tokens=args.batch_tokens,
        cache_dir=expanded(args.cache_dir) if args.cache_dir else None,
        download=args.download,
    )


def remark_unused(args: argparse.Namespace, metrics: Collection[Metric]) -> None:
    """Say which options about models do nothing, as no metric asks one."""
    if any(metric.models() for metric in metrics):
        return
    language = any(metric.asks_language_model for metric in metrics)  # which keeps replies
    options = ("--device", "--dtype", "--batch-tokens", "--download")
    cache = () if language else ("--cache-dir",)
    remark_idle(args, "no metric here runs a pretrained model", *options, *cache)
