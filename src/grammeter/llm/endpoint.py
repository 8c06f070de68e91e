"""An endpoint of language models, and the limits of its use."""

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, get_args

from grammeter.core import DataError, UsageError, expanded, in_force
from grammeter.llm.cost import Bill, Price
from grammeter.llm.reply import object_of

OPENAI = "https://api.openai.com/v1"

Structured = Literal["json_schema", "json_object", "off"]
"""The form of replies that the endpoint is asked to enforce; ``off``: the prompt alone says it."""

Backend = Literal["openai", "transformers"]
Reading = Literal["text", "likelihood"]
_ADVICE = files("grammeter.llm").joinpath("advice.json").read_text("utf-8")
ADVICE: Mapping[str, Mapping[str, str]] = json.loads(_ADVICE)
"""What a user can do instead of setting a field of the ``body``, and about an HTTP ``status``."""

_AS_IN = """Write one as in --body '{"reasoning_effort": "low"}'."""


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """An OpenAI-compatible endpoint and the limits of its use.

    - ``backend``: where models answer: ``openai``, on a server that speaks OpenAI's protocol;
      ``transformers``, in this process. There ``model`` is a folder or a name on the hub, and
      address, key, rates, timeout, patience, prices, ``max_cost`` and ``structured`` have no
      effect.
    - ``read``: ``text``: the scores that the model writes; ``likelihood`` (``transformers``
      alone): the expectation over the digits 1 to 5, by the probabilities that the model gives them
      in place of each score; the sampling and ``max_output`` have no effect.
    - ``base_url``: up to and with ``/v1``.
    - ``key_variable``: the environment variable that holds the key; the key itself is stored
      nowhere.
    - ``concurrency``: calls in flight at once; ``None``: 4, or 1 for a server on this machine, or
      256 that wait for a model in this process, which answers them in batches.
    - ``requests_per_minute``, ``tokens_per_minute``: maximum rates; ``None``: no limit.
    - ``timeout``, ``patience``: seconds to wait for one reply; seconds for one call, including
      all repetitions.
    - ``max_requests``, ``max_tokens``, ``max_cost``: ceilings of this run, money in the currency
      of ``prices``; all replies stay in the cache.
    - ``cache_dir``, ``offline``: folder of the replies, ``None``: the user's cache folder;
      whether to answer from it alone.
    - ``prices``: a price table to use instead of the one in the package.
    - ``attempts``: maximum replies to a call, sent again while they are invalid; those in the
      cache count.
    - ``max_output``: maximum tokens of one reply, including hidden reasoning; twice as many after
      a reply was cut. The cache treats a request with another limit as another request.
    - ``temperature``, ``top_p``: how replies are sampled: 0 to 2; above 0, up to 1.
    - ``system_message``: sent before the prompt; ``@FILE``: the text of a file.
    - ``structured``: the form of replies that the endpoint is asked to enforce; less if it
      refuses that.
    - ``body``: more fields of every request, as a mapping or JSON: ``{"reasoning_effort":
      "low"}``; ``seed`` is the seed of the first repeat, 1 if it is not there.
    - ``backoff``: maximum seconds before the first repetition of a request; the time doubles with
      each.
    - ``bill``: counts the usage of this endpoint; the ceilings apply to it.
    """

    backend: Backend = "openai"
    read: Reading = "text"
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
    temperature: float = 0.0
    top_p: float = 1.0
    system_message: str | None = None
    structured: Structured = "json_schema"
    body: Mapping[str, Any] | str | None = None
    backoff: float = 0.5
    bill: Bill = field(default_factory=Bill, init=False, compare=False)

    def __post_init__(self) -> None:
        if not self.base_url.startswith(("http://", "https://")):
            raise UsageError(f"base_url={self.base_url}", fix="Write http://localhost:8000/v1")
        if not 0 <= self.temperature <= 2 or not self.top_p <= 1:
            fix = "A temperature is 0 to 2, top_p above 0 and up to 1."
            raise UsageError(f"temperature={self.temperature:g}, top_p={self.top_p:g}", fix=fix)
        for name, kind in (("backend", Backend), ("read", Reading)):
            if getattr(self, name) not in get_args(kind):
                choices = ", ".join(get_args(kind))
                raise UsageError(f"{name}={getattr(self, name)}", fix=f"Use {choices}.")
        if self.read == "likelihood" and self.backend != "transformers":
            fault = f"read=likelihood, backend={self.backend}: a server tells no probabilities"
            raise UsageError(fault, fix="Let it answer in this process: backend=transformers.")
        for name, value in vars(self).items():
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if number and not value > 0 and name != "temperature":
                raise UsageError(f"{name}={value}", fix=f"{name} is greater than 0.")
        for name in ("cache_dir", "prices"):
            if path := getattr(self, name):
                object.__setattr__(self, name, expanded(path))
        object.__setattr__(self, "system_message", _text_of(self.system_message))
        object.__setattr__(self, "body", _fields(self.body))

    @property
    def in_process(self) -> bool:
        """Whether models answer in this process."""
        return self.backend == "transformers"

    @property
    def enforced(self) -> Structured:
        """The form of replies to enforce; in this process only the prompt says it."""
        return "off" if self.in_process else self.structured

    @property
    def extra(self) -> dict[str, Any]:
        """The fields of ``body``."""
        return object_of(self.body)


def _text_of(text: str | None) -> str | None:
    if not (text or "").startswith("@"):
        return text
    path = expanded((text or "")[1:])
    try:
        return path.read_text(encoding="utf-8").removesuffix("\n")
    except (OSError, UnicodeDecodeError) as error:
        fix = "Name a text file in UTF-8 after the @."
        raise DataError(f"no text: {error}", where=str(path), fix=fix) from None


def _fields(body: Mapping[str, Any] | str | None) -> dict[str, Any]:
    """Return the fields of a body; raise :class:`UsageError` if they are none, or not for users."""
    try:
        value: Any = json.loads(_text_of(body) or "") if isinstance(body, str) else body or {}
        json.dumps(value)
    except (ValueError, TypeError, RecursionError) as error:
        raise UsageError(f"body: no JSON object: {error}", fix=_AS_IN) from None
    if (fields := object_of(value)) is not value and value:
        raise UsageError(f"body: no JSON object: {value!r}", fix=_AS_IN)
    if reserved := sorted(ADVICE["body"].keys() & fields):
        fix = "; ".join(f"{name}: {ADVICE['body'][name]}" for name in reserved)
        raise UsageError(f"body: {', '.join(reserved)} cannot be set here", fix=fix)
    seed = fields.get("seed", 1)
    if not isinstance(seed, int):
        raise UsageError(f"body: seed={seed!r}", fix="A seed is a whole number.")
    return fields


_DEFAULT = Endpoint()
_current: ContextVar[Endpoint] = ContextVar("endpoint", default=_DEFAULT)


def current() -> Endpoint:
    """Return the endpoint of the innermost :func:`using`, else the default one."""
    return _current.get()


def using(endpoint: Endpoint) -> AbstractContextManager[Endpoint]:
    """Send all questions inside the block to ``endpoint``."""
    return in_force(_current, endpoint)


Permission = Literal["go", "wait", "never"]
Worst = tuple[int, float]
"""The most tokens and money that a request can use; 0 money if the price is unknown."""


class Ceilings:
    """Ceilings and bill; requests in flight count as worst cases. Money needs a known price."""

    def __init__(self, endpoint: Endpoint, model: str, price: Price | None) -> None:
        if endpoint.max_cost is not None and price is None:
            fault = f"max_cost={endpoint.max_cost:g}, but the price of {model!r} is not known"
            fix = "Give a table of prices that has it (--prices FILE), or limit requests or tokens."
            raise UsageError(fault, fix=fix)
        self._endpoint = endpoint
        self._flying: Worst = 0, 0.0

    def take(self, worst: Worst) -> Permission:
        """Reserve a request: ``go``; ``wait`` for those in flight; ``never``: ceiling reached."""
        if not self._fits(worst):
            return "never"
        tokens, cost = self._flying[0] + worst[0], self._flying[1] + worst[1]
        if not self._fits((tokens, cost)):
            return "wait"
        self._endpoint.bill.requests += 1
        self._flying = tokens, cost
        return "go"

    def release(self, worst: Worst) -> None:
        """Release a reservation, after the bill has the true figures."""
        self._flying = self._flying[0] - worst[0], self._flying[1] - worst[1]

    def _fits(self, worst: Worst) -> bool:
        bill, most = self._endpoint.bill, self._endpoint
        sums = bill.requests + 1, bill.tokens + worst[0], bill.spent + worst[1]
        limits = zip(sums, (most.max_requests, most.max_tokens, most.max_cost), strict=True)
        return all(limit is None or value <= limit for value, limit in limits)

    @property
    def reached(self) -> str:
        """The ceilings that are set, for people; the number of requests alone if it is reached."""
        bill, most = self._endpoint.bill, self._endpoint
        if most.max_requests is not None and bill.requests >= most.max_requests:
            return f"max_requests={most.max_requests}"
        named = {"max_tokens": most.max_tokens, "max_cost": most.max_cost}
        return " or ".join(f"{name}={value:g}" for name, value in named.items() if value)


class Pace:
    """Spread requests over time (monotonic seconds), so that rates hold from the first second."""

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
