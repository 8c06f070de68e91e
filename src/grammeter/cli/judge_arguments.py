"""Arguments of verbs that ask language models: the endpoint and the limits of its use."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from grammeter.cli.homes import remark_idle
from grammeter.cli.output import notice

if TYPE_CHECKING:
    from grammeter.llm import Bill, Endpoint
    from grammeter.metrics import Metric


_OPTIONS = (
    "base_url", "key_variable", "concurrency", "requests_per_minute", "tokens_per_minute",
    "timeout", "patience", "attempts", "max_output", "offline", "prices", "max_cost",
    "max_requests", "max_tokens",
)  # fmt: skip


def add_endpoint(parser: argparse.ArgumentParser, *, cache: bool) -> None:
    """Declare the endpoint and its limits and, with ``cache``, the folder of replies."""
    group = parser.add_argument_group(
        "language models that judge", "llm-s and llm-e; any server that speaks OpenAI's protocol"
    )
    group.add_argument(
        "--base-url",
        metavar="URL",
        help="up to and with /v1, such as http://localhost:8000/v1; default: OpenAI's",
    )
    group.add_argument(
        "--key-variable",
        default="OPENAI_API_KEY",
        metavar="NAME",
        help="the environment variable that holds the key; default: %(default)s",
    )
    group.add_argument(
        "--concurrency",
        type=int,
        metavar="N",
        help="calls at once; default: 4, or 1 for a server on this machine",
    )
    for what in ("requests", "tokens"):
        group.add_argument(
            f"--{what}-per-minute", type=float, metavar="N", help=f"{what} a minute at most"
        )
    _add_waiting(group.add_argument)
    group.add_argument(
        "--offline", action="store_true", help="answer from the cache alone; a gap is an error"
    )
    group.add_argument(
        "--prices", metavar="FILE", help="a table of prices to use in place of the one that ships"
    )
    if cache:
        group.add_argument(
            "--cache-dir", metavar="DIR", help="where replies are kept; default: the user's cache"
        )
    _add_limits(group.add_argument)


def _add_waiting(add: Callable[..., Any]) -> None:
    """Declare the times to wait, and the size and number of replies."""
    add(
        "--timeout",
        type=float,
        default=60.0,
        metavar="SECONDS",
        help="wait so long for one reply; default: 60",
    )
    add(
        "--patience",
        type=float,
        default=300.0,
        metavar="SECONDS",
        help="try so long to get one question answered; default: 300",
    )
    add(
        "--attempts",
        type=int,
        default=3,
        metavar="N",
        help="replies that may come to one question: an invalid one is asked for again; more than"
        " before go on where the replies in the cache end; default: %(default)s",
    )
    add(
        "--max-output",
        type=int,
        default=256,
        metavar="N",
        help="tokens of one reply at most, hidden reasoning included; more for models that reason;"
        " default: %(default)s",
    )


def _add_limits(add: Callable[..., Any]) -> None:
    """Declare the ceilings of a run."""
    at_limit = "stop there (exit 1); all is kept, and the same command goes on"
    money = f"money, in the price table's currency; {at_limit}"
    add("--max-cost", type=float, metavar="X", help=money)
    add("--max-requests", type=int, metavar="N", help=f"requests sent; {at_limit}")
    add("--max-tokens", type=int, metavar="N", help=f"tokens in and out; {at_limit}")


@contextmanager
def asking(args: argparse.Namespace, *, concessions: bool = True) -> Generator[None, None, None]:
    """Send questions to the endpoint of the arguments; at the end, always print the usage.

    ``concessions``: also print the settings that the endpoint refused.
    """
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


def remark_unused(args: argparse.Namespace, metrics: Iterable[Metric]) -> None:
    """Say which options about language models do nothing, as no metric asks one."""
    if not any(metric.asks_language_model for metric in metrics):
        why = "no metric here asks a language model"
        remark_idle(args, why, *(f"--{name.replace('_', '-')}" for name in _OPTIONS))


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

    options: dict[str, Any] = {name: getattr(args, name) for name in (*_OPTIONS, "cache_dir")}
    for name in ("cache_dir", "prices"):
        options[name] = options[name] or None
    options["base_url"] = args.base_url or OPENAI
    return Endpoint(**options)
