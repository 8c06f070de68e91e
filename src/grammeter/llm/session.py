"""What the calls of one run share: the wire, the cache, limits, the bill, the reasons to stop."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any, NoReturn

from grammeter.core import GrammeterError, LimitReachedError, RemoteError
from grammeter.llm.attempts import Attempts, History
from grammeter.llm.cost import Usage, guess_in, guess_out, most_in, read_prices
from grammeter.llm.faults import Failure, failure, json_object
from grammeter.llm.ladder import Abilities
from grammeter.llm.limits import Ceilings, Pace, Worst
from grammeter.llm.request import Request, server
from grammeter.llm.runtime import OPENAI, Endpoint
from grammeter.llm.transport import Raw, Transport

MOST_FAILURES = 5
"""Calls that fail one after the other before the endpoint is taken to be down."""

_LIMIT_FIELDS = ("max_tokens", "max_completion_tokens")


class UnfinishedError(Exception):
    """A call ends without an outcome because the run ends."""


@dataclass(frozen=True, slots=True)
class Received:
    """What came of one request.

    Attributes
    ----------
    raw
        As it came.
    body
        Its JSON object.
    failure
        Why there is no completion; ``None``: there is one.
    usage
        What it took, as far as the reply tells.
    """

    raw: Raw
    body: Mapping[str, Any]
    failure: Failure | None
    usage: Usage


class Session:
    """One run against one model of one endpoint.

    Attributes
    ----------
    endpoint, model, server, attempts
        What is asked, and where it is kept.
    abilities
        What the endpoint takes, as far as it is known.
    proven
        Whether it has ever brought a completion.
    reached
        Whether it has replied in this run, with whatever.
    error
        Why the run ends early.
    closing
        Whether no other call may begin.
    """

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
        self.proven: bool = stored is not None
        self.abilities: Abilities = stored or Abilities.at_first(
            openai=endpoint.base_url.startswith(OPENAI)
        )
        self.reached: bool = False
        self.error: GrammeterError | None = None
        self.closing: bool = False
        self._failures = 0
        self._ended = asyncio.Event()
        self._released = asyncio.Condition()

    async def send(self, request: Request, body: Mapping[str, Any], seconds: float) -> Received:
        """Send one request when limits allow it, and put it on the bill.

        Parameters
        ----------
        request
            What is meant.
        body
            What is sent.
        seconds
            How long the reply may take at most; waiting for limits does not count.

        Raises
        ------
        UnfinishedError
            If it may not be sent any more.
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
        """Return what is known of a call."""
        known = self.attempts.histories([key], self.endpoint.attempts)
        return known.get(key, History())

    def pause(self, seconds: float) -> None:
        """Send nothing for some seconds: the server asked for it."""
        self._pace.hold(monotonic() + seconds)

    async def sleep(self, seconds: float) -> None:
        """Wait, but not beyond the end of the run.

        Raises
        ------
        UnfinishedError
            If the run has ended.
        """
        if seconds > 0:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._ended.wait()
        if self._ended.is_set():
            raise UnfinishedError

    def learn(self, abilities: Abilities) -> None:
        """Take note of a completion, and of what the endpoint took for it."""
        self._failures = 0
        if not self.proven or abilities != self.abilities:
            self.abilities, self.proven = abilities, True
            self.attempts.remember(self.server, self.model, abilities)
        self.endpoint.bill.concessions.update(abilities.concessions)

    def lose(self, reason: Failure, *, dead: bool) -> None:
        """Take note of a call that failed; end the run if the others would, too.

        Parameters
        ----------
        reason
            Why the last request failed.
        dead
            Whether the fault is sure to lie with the endpoint.

        Raises
        ------
        UnfinishedError
            If the run ends.
        """
        self._failures += 1
        own_fault = reason.then == "leave" and self.proven
        if dead or (self._failures >= MOST_FAILURES and not own_fault):
            self.end(reason)

    def end(self, reason: Failure) -> NoReturn:
        """End the run: nothing is sent any more, what is in flight comes in.

        Raises
        ------
        UnfinishedError
            Always.
        """
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
        """Return the most tokens of a reply; where no limit is taken, what we would set."""
        return next((sent[name] for name in _LIMIT_FIELDS if name in sent), request.max_output)


def _content(sent: Mapping[str, Any]) -> str:
    return sent["messages"][0]["content"]
