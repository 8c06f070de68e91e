"""Limits on how much is sent, and how fast: ceilings and rates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from grammeter.core import UsageError
from grammeter.llm.cost import Price
from grammeter.llm.runtime import Endpoint

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
