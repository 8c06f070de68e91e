"""The endpoint of the judging model, and the limits of its use.

No metric has fields for these: they change cost and speed, not the questions.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from grammeter.core import UsageError, expanded
from grammeter.llm.cost import Bill

OPENAI = "https://api.openai.com/v1"


Trouble = Literal["", "unreachable", "timeout", "broken"]
"""Why there is no reply: no server, too late, or a broken connection."""


@dataclass(frozen=True, slots=True)
class Raw:
    """The response to a request, if there is one."""

    status: int = 0  # of HTTP; 0: no response
    text: str = ""  # the body without keys; if there is no response, the reason
    headers: Mapping[str, str] = field(default_factory=dict[str, str])  # names in lower case
    trouble: Trouble = ""  # why there is no response
    seconds: float = 0.0  # from the request to the response
    started: float = 0.0  # seconds since 1970


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """An OpenAI-compatible endpoint and the limits of its use.

    Attributes
    ----------
    base_url
        Up to and with ``/v1``.
    key_variable
        The environment variable that holds the key; the key itself is stored nowhere.
    concurrency
        Calls in flight at once; ``None``: 4, or 1 for a server on this machine.
    requests_per_minute, tokens_per_minute
        Maximum rates; ``None``: no limit.
    timeout
        Seconds to wait for one reply.
    patience
        Seconds for one call, including all repetitions.
    max_requests, max_tokens, max_cost
        Ceilings of this run: requests sent, tokens in and out, money in the price table's
        currency; a run that reaches one ends, and all replies stay in the cache.
    cache_dir
        Folder of the replies; ``None``: the user's cache folder.
    offline
        Answer from the cache alone.
    prices
        A price table to use instead of the one in the package.
    attempts
        Maximum number of replies to one call: it is sent again while they are invalid. With a
        greater number the same calls continue after the replies in the cache.
    max_output
        Maximum tokens of one reply, including hidden reasoning; twice as many after a reply was
        cut. The cache treats a request with another limit as another request.
    backoff
        Maximum seconds before the first repetition of a request; the time doubles with each.
    bill
        Counts the usage of this endpoint; the ceilings apply to it.
    """

    base_url: str = OPENAI
    key_variable: str = "OPENAI_API_KEY"
    concurrency: int | None = None
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    timeout: float = 60.0
    patience: float = 300.0
    max_requests: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    cache_dir: str | Path | None = None
    offline: bool = False
    prices: str | Path | None = None
    attempts: int = 3
    max_output: int = 256
    backoff: float = 0.5
    bill: Bill = field(default_factory=Bill, init=False, compare=False)

    def __post_init__(self) -> None:
        if not self.base_url.startswith(("http://", "https://")):
            raise UsageError(
                f"base_url={self.base_url}", fix="Write it as http://localhost:8000/v1"
            )
        for name in ("concurrency", "requests_per_minute", "tokens_per_minute", "timeout",
                     "patience", "max_requests", "max_tokens", "max_cost", "max_output",
                     "attempts", "backoff"):  # fmt: skip
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise UsageError(f"{name}={value}", fix=f"{name} is greater than 0.")
        for name in ("cache_dir", "prices"):
            if path := getattr(self, name):
                object.__setattr__(self, name, expanded(path))


_current: ContextVar[Endpoint | None] = ContextVar("endpoint", default=None)
_DEFAULT = Endpoint()


def current() -> Endpoint:
    """Return the endpoint of the innermost :func:`using`, else the default one."""
    return _current.get() or _DEFAULT


@contextmanager
def using(endpoint: Endpoint) -> Generator[Endpoint, None, None]:
    """Send all questions inside the block to ``endpoint``."""
    token = _current.set(endpoint)
    try:
        yield endpoint
    finally:
        _current.reset(token)
