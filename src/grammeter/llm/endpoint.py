"""The endpoint of a language model: limits of its use, its responses, what its failures mean."""

from __future__ import annotations

import email.utils
import re
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from grammeter.core import UsageError, expanded
from grammeter.llm.cost import Bill, Price
from grammeter.llm.reply import error_of, has_message

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


Permission = Literal["go", "wait", "never"]


@dataclass(frozen=True, slots=True)
class Worst:
    """The most that a request can use; ``cost`` is 0 if the price is unknown."""

    tokens: int
    cost: float


class Ceilings:
    """The ceilings of an endpoint, compared with its bill; requests in flight count as worst cases.

    Raises
    ------
    UsageError
        If money is limited and the price of the model is unknown.
    """

    def __init__(self, endpoint: Endpoint, model: str, price: Price | None) -> None:
        if endpoint.max_cost is not None and price is None:
            raise UsageError(
                f"max_cost={endpoint.max_cost:g}, but the price of {model!r} is not known",
                fix="Give a table of prices that has it (--prices FILE), or limit requests or"
                " tokens.",
            )
        self._endpoint = endpoint
        self._tokens = 0
        self._cost = 0.0

    def take(self, worst: Worst) -> Permission:
        """Reserve a request and count it as sent, if it fits.

        ``go``: it is reserved; ``wait``: it fits if requests in flight use less than their worst
        case; ``never``: a ceiling is reached.
        """
        if not self._fits(worst, 0, 0.0):
            return "never"
        if not self._fits(worst, self._tokens, self._cost):
            return "wait"
        self._endpoint.bill.requests += 1
        self._tokens += worst.tokens
        self._cost += worst.cost
        return "go"

    def release(self, worst: Worst) -> None:
        """Release a reservation, after the bill has the true figures."""
        self._tokens -= worst.tokens
        self._cost -= worst.cost

    def _fits(self, worst: Worst, tokens: int, cost: float) -> bool:
        """Whether a request fits beside these reservations."""
        bill, most = self._endpoint.bill, self._endpoint
        return not (
            _over(bill.requests + 1, most.max_requests)
            or _over(bill.tokens + tokens + worst.tokens, most.max_tokens)
            or _over(bill.spent + cost + worst.cost, most.max_cost)
        )

    @property
    def reached(self) -> str:
        """The ceiling that the next request would exceed, for people."""
        bill, most = self._endpoint.bill, self._endpoint
        if _over(bill.requests + 1, most.max_requests):
            return f"max_requests={most.max_requests}"
        named = {"max_tokens": most.max_tokens, "max_cost": most.max_cost}
        return " or ".join(f"{name}={value:g}" for name, value in named.items() if value)


class Pace:
    """Spread requests over time, so that rates hold from the first second on.

    All times are seconds of one monotonic clock.
    """

    def __init__(self, requests_per_minute: float | None, tokens_per_minute: float | None) -> None:
        self._per_request = 60 / requests_per_minute if requests_per_minute else 0.0
        self._per_token = 60 / tokens_per_minute if tokens_per_minute else 0.0
        self._free = 0.0

    def reserve(self, now: float, tokens: int) -> float:
        """Return the seconds to wait before a request of about this many tokens."""
        start = max(now, self._free)
        self._free = start + max(self._per_request, tokens * self._per_token)
        return start - now

    def correct(self, foreseen: int, taken: int) -> None:
        """Delay the next requests for tokens that were not foreseen."""
        self._free += max(0, taken - foreseen) * self._per_token

    def hold(self, until: float) -> None:
        """Send nothing before this time: the server asked for a pause."""
        self._free = max(self._free, until)


def _over(value: float, most: float | None) -> bool:
    return most is not None and value > most


Then = Literal["again", "again-briefly", "leave", "refused", "end"]
"""``again``: repeat within the patience; ``again-briefly``: repeat a few times; ``leave`` this
call; ``refused``: the model will not answer it; ``end`` the run: any other call would fail too."""

_AGAIN = {408, 409, 429}
_END: Mapping[int, str] = {
    401: "Check the key.",
    402: "Check the account: it has no money left.",
    403: "Check what the key's account may use.",
    404: "Check the base URL (it ends in /v1 as a rule) and the name of the model.",
    405: "Check the base URL: it ends in /v1 as a rule.",
    **dict.fromkeys((301, 302, 303, 307, 308), "Check the base URL: the server has moved."),
}
_NO_MONEY = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active",
             "insufficient_balance"}  # fmt: skip
_FILTERED = re.compile(r"content_filter|content_policy|ResponsibleAI|moderation|flagged",
                       re.IGNORECASE)  # fmt: skip
_SHOWN = 300


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a request brought no completion."""

    reason: str  # for people
    then: Then  # what the client does
    wait: float | None = None  # seconds that the server asks to wait
    charged: bool = False  # whether the provider may have charged it
    # what the user can do
    fix: str = "Run the same command again later: it goes on where it stopped."


def failure(raw: Raw, body: Mapping[str, Any]) -> Failure | None:
    """Say why a request failed; ``None`` if ``body``, its JSON object, is a completion."""
    if raw.trouble:
        return _without_reply(raw)
    error = error_of(body)
    if raw.status == 200 and not error:
        if has_message(body):
            return None
        return Failure(
            f"no chat completion: {_shown(raw.text)}", "again-briefly", charged=True,
            fix="Check the base URL: something else answers there.",
        )  # fmt: skip
    status = _status(raw.status, error)
    message = error.get("message")
    text = message if isinstance(message, str) and message else raw.text
    reason = f"HTTP {status}: {_shown(text)}".rstrip(": ")
    return _by_status(status, reason, raw, error)


def _without_reply(raw: Raw) -> Failure:
    if raw.trouble == "unreachable":
        return Failure(
            f"no connection: {_shown(raw.text)}", "again",
            fix="Check the base URL, and whether the server is running.",
        )  # fmt: skip
    if raw.trouble == "timeout":
        return Failure("no reply in time", "again", charged=True)
    return Failure(f"the connection broke off: {_shown(raw.text)}", "again", charged=True)


def _status(status: int, error: Mapping[str, Any]) -> int:
    """Return the status to act on: gateways put that of their provider into the body."""
    code = error.get("code")
    if status != 200:
        return status
    return code if isinstance(code, int) and 400 <= code < 600 else 502


def _by_status(status: int, reason: str, raw: Raw, error: Mapping[str, Any]) -> Failure:
    names = {str(error.get(name)) for name in ("code", "type")}
    if names & _NO_MONEY:
        return Failure(reason, "end", fix=_END[402])
    if status in (400, 403) and _FILTERED.search(raw.text):
        return Failure(reason, "refused")
    if status in _END:
        return Failure(reason, "end", fix=_END[status])
    wanted = raw.headers.get("x-should-retry", "").lower()
    if status in _AGAIN or status >= 500 or wanted == "true":
        if wanted == "false":
            return Failure(f"{reason} (and not to be repeated)", "end")
        return Failure(reason, "again", wait=retry_after(raw.headers))
    return Failure(reason, "leave")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a server asks to wait; ``None`` if it asks for none."""
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        text = headers.get(name, "").strip()
        if re.fullmatch(r"\d{1,9}(\.\d*)?", text, re.ASCII):
            return float(text) * unit
    moment = _time(headers, "retry-after")
    if moment is None:
        return None
    sent = _time(headers, "date")  # by the same clock as the first time
    return max(0.0, moment - (time.time() if sent is None else sent))


def _time(headers: Mapping[str, str], name: str) -> float | None:
    """Return a date in a header as seconds since 1970, ``None`` if there is none."""
    try:
        return email.utils.parsedate_to_datetime(headers.get(name, "")).timestamp()
    except (TypeError, ValueError, IndexError, OverflowError):
        return None


def _shown(text: str) -> str:
    """Return a text as one short line."""
    line = " ".join(text.split())
    return f"{line[:_SHOWN]}..." if len(line) > _SHOWN else line or "an empty reply"
