"""How models run and language models are asked: the arguments, and the settings they make."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Generator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from grammeter.cli.flags import add_options, options, remark_idle
from grammeter.cli.output import notice

if TYPE_CHECKING:
    from grammeter.llm import Bill, Endpoint
    from grammeter.metrics import Metric
    from grammeter.models import Runtime

AT_LIMIT = "stop there (exit 1); all is kept, and the same command goes on"
ENDPOINT = {
    "base_url": "up to and with /v1, such as http://localhost:8000/v1; default: OpenAI's",
    "key_variable": "the environment variable that holds the key",
    "concurrency": "calls at once; default: 4, or 1 for a server on this machine",
    "requests_per_minute": "requests a minute at most",
    "tokens_per_minute": "tokens a minute at most",
    "timeout": "wait so long for one reply",
    "patience": "try so long to get one question answered",
    "attempts": "replies that may come to one question: an invalid one is asked for again; more"
    " than before go on where the replies in the cache end",
    "max_output": "tokens of one reply at most, hidden reasoning included; more for models that"
    " reason",
    "offline": "answer from the cache alone; a gap is an error",
    "prices": "a table of prices to use in place of the one that ships",
    "cache_dir": "where replies are kept; default: the user's cache",
    "max_cost": f"money, in the price table's currency; {AT_LIMIT}",
    "max_requests": f"requests sent; {AT_LIMIT}",
    "max_tokens": f"tokens in and out; {AT_LIMIT}",
}


def add_models(parser: argparse.ArgumentParser) -> None:
    """Declare how models run."""
    add_options(parser, "models.Runtime", {
        "device": "cpu, cuda, cuda:1 or mps",
        "dtype": "number type; the shorter ones are faster and differ in the fourth digit",
        "batch_tokens": "tokens that go through a model at once; default: 2048 on a CPU, else"
        " 16384",
        "cache_dir": "keep what models answered here, so that a second run asks only what is new",
        "download": "fetch models that are not here from their hub",
    }, "pretrained models")  # fmt: skip


def add_endpoint(parser: argparse.ArgumentParser, *, cache: bool) -> None:
    """Declare the endpoint and its limits and, with ``cache``, the folder of replies."""
    group = parser.add_argument_group(
        "language models that judge", "llm-s and llm-e; any server that speaks OpenAI's protocol"
    )
    wanted = {name: text for name, text in ENDPOINT.items() if cache or name != "cache_dir"}
    add_options(group, "llm.Endpoint", wanted)


def runtime(args: argparse.Namespace) -> Runtime:
    """Return how models shall run."""
    from grammeter.core import expanded
    from grammeter.models import Runtime

    folder = expanded(args.cache_dir) if args.cache_dir else None
    return Runtime(**options(args, Runtime, cache_dir=folder))


@contextmanager
def asking(args: argparse.Namespace, *, concessions: bool = True) -> Generator[None]:
    """Use the arguments' endpoint; then print usage and, with ``concessions``, refused settings."""
    from grammeter.llm import using

    endpoint = _endpoint(args)
    try:
        with using(endpoint):
            yield
    finally:
        for text in _usage(endpoint.bill):
            notice(args, text)
        if concessions and endpoint.bill.concessions:
            names = ", ".join(sorted(endpoint.bill.concessions))
            notice(args, f"the endpoint does not take: {names}")


def remark_unused(
    args: argparse.Namespace, metrics: Collection[Metric], *, judging: bool = False
) -> None:
    """Say which options do nothing, as no metric runs a model or, if ``judging``, asks one."""
    language = any(metric.asks_language_model for metric in metrics)  # which keeps replies
    if not any(metric.models() for metric in metrics):
        cache = () if language else ("--cache-dir",)
        names = ("--device", "--dtype", "--batch-tokens", "--download", *cache)
        remark_idle(args, "no metric here runs a pretrained model", *names)
    if judging and not language:
        names = [f"--{name.replace('_', '-')}" for name in ENDPOINT if name != "cache_dir"]
        remark_idle(args, "no metric here asks a language model", *names)


def _usage(bill: Bill) -> Iterator[str]:
    if bill.requests:
        yield f"sent: {bill}"
    if bill.known:
        yield f"from the cache: {bill.known} calls"
    if bill.states:
        ends = ", ".join(f"{count} {state}" for state, count in bill.states.most_common())
        yield f"calls ended: {ends}"


def _endpoint(args: argparse.Namespace) -> Endpoint:
    from grammeter.llm import OPENAI, Endpoint

    values: dict[str, Any] = {name: getattr(args, name) or None for name in ("cache_dir", "prices")}
    return Endpoint(**options(args, Endpoint, base_url=args.base_url or OPENAI, **values))
