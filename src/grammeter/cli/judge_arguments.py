"""The arguments of verbs that ask language models: where they answer, and how much may be asked."""

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
    """Declare the endpoint and the limits of its use; ``cache``: and the folder of replies."""
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
    """Declare how long to wait, and for how much."""
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
    """Declare how much may be asked in all."""
    kept = "stop there (exit 1); all is kept, and the same command goes on"
    add("--max-cost", type=float, metavar="X", help=f"money, in the price table's currency; {kept}")
    add("--max-requests", type=int, metavar="N", help=f"requests sent; {kept}")
    add("--max-tokens", type=int, metavar="N", help=f"tokens in and out; {kept}")


@contextmanager
def asking(args: argparse.Namespace, *, concessions: bool = True) -> Generator[None, None, None]:
    """Send questions where the arguments say, and tell at the end what it took, come what may.

    ``concessions``: tell what the endpoint does not take, too.
    """
    from grammeter.llm import using

    endpoint = _endpoint(args)
    try:
        with using(endpoint):
            yield
    finally:
        for text in _told(endpoint.bill):
            notice(args, text)
        if concessions and endpoint.bill.concessions:
            names = ", ".join(sorted(endpoint.bill.concessions))
            notice(args, f"the endpoint does not take: {names}")


def remark_unused(args: argparse.Namespace, metrics: Iterable[Metric]) -> None:
    """Say which options about language models do nothing, as no metric asks one."""
    if not any(metric.asks_language_model for metric in metrics):
        why = "no metric here asks a language model"
        remark_idle(args, why, *(f"--{name.replace('_', '-')}" for name in _OPTIONS))


def _told(bill: Bill) -> Iterator[str]:
    if bill.requests:
        yield f"sent: {bill}"
    if bill.known:
        yield f"from the cache: {bill.known} calls"
    if bill.states:
        ends = ", ".join(f"{count} {state}" for state, count in bill.states.most_common())
        yield f"calls ended: {ends}"


def _endpoint(args: argparse.Namespace) -> Endpoint:
    from grammeter.core import expanded
    from grammeter.llm import OPENAI, Endpoint

    return Endpoint(
        base_url=args.base_url or OPENAI,
        key_variable=args.key_variable,
        concurrency=args.concurrency,
        requests_per_minute=args.requests_per_minute,
        tokens_per_minute=args.tokens_per_minute,
        timeout=args.timeout,
        patience=args.patience,
        max_requests=args.max_requests,
        max_tokens=args.max_tokens,
        max_cost=args.max_cost,
        max_output=args.max_output,
        attempts=args.attempts,
        cache_dir=expanded(args.cache_dir) if args.cache_dir else None,
        offline=args.offline,
        prices=expanded(args.prices) if args.prices else None,
    )
