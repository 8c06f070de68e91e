"""State that the calls of one run share: connection, cache, limits, bill, reasons to stop."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any, NoReturn

from grammeter.core import GrammeterError, LimitReachedError, RemoteError
from grammeter.llm.attempts import Attempts, History
from grammeter.llm.calls import json_object
from grammeter.llm.cost import Usage, guess_in, guess_out, most_in, read_prices
from grammeter.llm.faults import Failure, failure
from grammeter.llm.ladder import Abilities
from grammeter.llm.limits import Ceilings, Pace, Worst
from grammeter.llm.request import Request, server
from grammeter.llm.runtime import OPENAI, Endpoint, Raw
from grammeter.llm.transport import Transport

MOST_FAILURES = 5
"""Number of consecutive failed calls after which the endpoint counts as down."""

_LIMIT_FIELDS = ("max_tokens", "max_completion_tokens")


class UnfinishedError(Exception):
    """A call ends without an outcome because the run ends."""


@dataclass(frozen=True, slots=True)
class Received:
    """The response to one request."""

    raw: Raw
    body: Mapping[str, Any]  # its JSON object
    failure: Failure | None  # why there is no completion
    usage: Usage


class Session:
    """One run against one model of one endpoint."""

    def __init__(
        self, endpoint: Endpoint, model: str, attempts: Attempts, transport: Transport
    ) -> None:
        prices = read_prices(endpoint.prices)
        self.endpoint: Endpoint = endpoint
        self.model: str = model
        self.attempts: Attempts = attempts
        self.server: str = server(endpoint.base_url)
        self._transport = transport
        self._price = prices.of(model)
        self._ceilings = Ceilings(endpoint, model, self._price)
        self._pace = Pace(endpoint.requests_per_minute, endpoint.tokens_per_minute)
        endpoint.bill.currency = prices.currency
        stored = attempts.abilities(self.server, model)
        self.proven: bool = stored is not None  # whether it has ever returned a completion
        self.abilities: Abilities = stored or Abilities.at_first(
            openai=endpoint.base_url.startswith(OPENAI)
        )
        self.reached: bool = False  # whether it has replied in this run at all
        self.error: GrammeterError | None = None  # why the run ends early
        self.closing: bool = False  # whether no other call may begin
        self._failures = 0
        self._ended = asyncio.Event()
        self._released = asyncio.Condition()

    async def send(self, request: Request, body: Mapping[str, Any], seconds: float) -> Received:
        """Send the body of a request when limits allow it, and add its usage to the bill.

        ``seconds`` limits the time of the reply; waiting for limits does not count.

        Raises
        ------
        UnfinishedError
            If the run ends before it is sent.
        """
        await self.sleep(self._pace.reserve(monotonic(), self._foreseen(request)))
        worst = self._worst(request, body)
        await self._admit(worst)
        try:
            raw = await self._transport.send(body, min(self.endpoint.timeout, seconds))
            return self._counted(request, body, raw)
        finally:
            self._ceilings.release(worst)
            async with self._released:
                self._released.notify_all()

    def history(self, key: str) -> History:
        """Return what the cache knows about a call."""
        known = self.attempts.histories([key], self.endpoint.attempts)
        return known.get(key, History())

    def pause(self, seconds: float) -> None:
        """Send nothing for some seconds, as the server asks."""
        self._pace.hold(monotonic() + seconds)

    async def sleep(self, seconds: float) -> None:
        """Wait; raise :class:`UnfinishedError` as soon as the run ends."""
        if seconds > 0:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._ended.wait()
        if self._ended.is_set():
            raise UnfinishedError

    def learn(self, abilities: Abilities) -> None:
        """Record a completion, and the abilities that it proves."""
        self._failures = 0
        if not self.proven or abilities != self.abilities:
            self.abilities, self.proven = abilities, True
            self.attempts.remember(self.server, self.model, abilities)
        self.endpoint.bill.concessions.update(abilities.concessions)

    def lose(self, reason: Failure, *, dead: bool) -> None:
        """Record a failed call; end the run if the endpoint is ``dead`` or all calls fail.

        Raises
        ------
        UnfinishedError
            If the run ends.
        """
        self._failures += 1
        fault_of_call = reason.then == "leave" and self.proven
        if dead or (self._failures >= MOST_FAILURES and not fault_of_call):
            self.end(reason)

    def end(self, reason: Failure) -> NoReturn:
        """End the run by :class:`UnfinishedError`; requests in flight are completed."""
        if self.error is None:
            self.error = RemoteError(f"{self.server}: {reason.reason}", fix=reason.fix)
        self.closing = True
        self._ended.set()
        raise UnfinishedError

    async def _admit(self, worst: Worst) -> None:
        async with self._released:
            while True:
                if self._ended.is_set():
                    raise UnfinishedError
                verdict = self._ceilings.take(worst)
                if verdict == "go":
                    return
                if verdict == "never":
                    self._reach_limit()
                await self._released.wait()

    def _reach_limit(self) -> NoReturn:
        if self.error is None:
            self.error = LimitReachedError(
                f"{self._ceilings.reached}: one more call could go beyond; so far"
                f" {self.endpoint.bill}",
                fix="All replies are kept. Allow more and run the same command: it goes on where"
                " it stopped.",
            )
        self.closing = True
        raise UnfinishedError

    def _counted(self, request: Request, sent: Mapping[str, Any], raw: Raw) -> Received:
        body = json_object(raw.text)
        failed = failure(raw, body)
        usage = Usage.of(body)
        self.reached = self.reached or raw.status > 0
        if failed is None or failed.charged:
            out = guess_out(request.call.targets) if failed is None else self._limit(request, sent)
            guess = guess_in(_content(sent)), out
            before = self.endpoint.bill.tokens
            self.endpoint.bill.add(usage, self._price, guess=guess)
            self._pace.correct(self._foreseen(request), self.endpoint.bill.tokens - before)
        return Received(raw, body, failed, usage)

    def _foreseen(self, request: Request) -> int:
        return guess_in(request.call.prompt) + guess_out(request.call.targets)

    def _worst(self, request: Request, sent: Mapping[str, Any]) -> Worst:
        tokens_in, tokens_out = most_in(_content(sent)), self._limit(request, sent)
        cost = self._price.of(tokens_in, tokens_out) if self._price else 0.0
        return Worst(tokens_in + tokens_out, cost)

    def _limit(self, request: Request, sent: Mapping[str, Any]) -> int:
        """Return the maximum tokens of a reply; if the endpoint takes no limit, ours."""
        return next((sent[name] for name in _LIMIT_FIELDS if name in sent), request.max_output)


def _content(sent: Mapping[str, Any]) -> str:
    return sent["messages"][0]["content"]
