"""One run against one model: what its calls share, and each call from request to outcome."""

import asyncio
import contextlib
import json
import random
from collections.abc import Mapping
from time import monotonic
from typing import Any, NoReturn

from grammeter.core import GrammeterError, LimitReachedError, RemoteError
from grammeter.llm import cache
from grammeter.llm.cache import LIMIT_FIELDS, Abilities, Attempts, History, Request
from grammeter.llm.cost import guess_in, guess_out, most_in, read_prices
from grammeter.llm.endpoint import OPENAI, Ceilings, Endpoint, Pace, Worst
from grammeter.llm.reply import Completion, Outcome, completion, error_of, name_of
from grammeter.llm.transport import Failure, Raw, Transport, host

_POLL = 0.02  # seconds between looks at the ceilings
MOST_FAILURES = 5  # number of consecutive failed calls after which the endpoint counts as down


class UnfinishedError(Exception):
    """A call ends without an outcome because the run ends."""


class Session:
    """One run against one model of one endpoint; without a transport it cannot send."""

    def __init__(
        self, endpoint: Endpoint, model: str, attempts: Attempts, transport: Transport | None = None
    ) -> None:
        prices = read_prices(endpoint.prices)
        self.endpoint: Endpoint = endpoint
        self.model: str = model
        self.attempts: Attempts = attempts
        self.server: str = host(endpoint)
        self._transport = transport
        self._price = prices.of(model, free=endpoint.in_process)
        self._ceilings = Ceilings(endpoint, model, self._price)
        self._pace = Pace(endpoint.requests_per_minute, endpoint.tokens_per_minute)
        endpoint.bill.currency = prices.currency
        stored = attempts.abilities(self.server, model)
        self.proven: bool = stored is not None  # whether it has ever returned a completion
        newer = not endpoint.in_process and endpoint.base_url.startswith(OPENAI)
        refused = frozenset({"max_tokens"} if newer else ())  # as OpenAI's own service does
        self.abilities: Abilities = stored or Abilities(refused)
        self.reached: bool = False  # whether it has replied in this run at all
        self.error: GrammeterError | None = None  # why no other call may begin
        self._failures = 0
        self._ended = asyncio.Event()

    async def send(self, request: Request, body: Mapping[str, Any], seconds: float) -> Raw:
        """Send a body when limits allow, and bill it; ``seconds`` limit the reply, not the wait."""
        assert self._transport is not None
        await self.sleep(self._pace.reserve(monotonic(), sum(request.foreseen)))
        worst = self._worst(request, body)
        await self._admit(worst)
        try:
            raw = await self._transport.send(body, min(self.endpoint.timeout, seconds))
            self.count(request, body, raw)
            return raw
        finally:
            self._ceilings.release(worst)

    def allows(self, request: Request, body: Mapping[str, Any]) -> bool:
        """Reserve a request that other means answer; return whether the ceilings allow it."""
        return self._ceilings.take(self._worst(request, body)) == "go"

    def settle(self, request: Request, body: Mapping[str, Any], raw: Raw) -> None:
        """Bill a request that other means have answered, and release what :meth:`allows` took."""
        self.count(request, body, raw)
        self._ceilings.release(self._worst(request, body))

    def history(self, key: str) -> History:
        """Return what the cache knows about a call."""
        return self.attempts.histories([key], self.endpoint.attempts).get(key, History())

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
        self.endpoint.bill.concessions.update(abilities.concessions(self.endpoint.enforced))

    def lose(self, reason: Failure, *, dead: bool) -> None:
        """Record a failed call; end the run if the endpoint is ``dead`` or all calls fail."""
        self._failures += 1
        fault_of_call = reason.then == "leave" and self.proven
        if dead or (self._failures >= MOST_FAILURES and not fault_of_call):
            self.end(reason)

    def end(self, reason: Failure) -> NoReturn:
        """End the run by :class:`UnfinishedError`; requests in flight are completed."""
        self._ended.set()
        self._close(RemoteError(f"{self.server}: {reason.reason}", fix=reason.fix))

    def _close(self, error: GrammeterError) -> NoReturn:
        self.error = self.error or error
        raise UnfinishedError

    async def _admit(self, worst: Worst) -> None:
        """Wait until the ceilings allow a request whatever those in flight take."""
        while (permission := self._ceilings.take(worst)) == "wait":
            await self.sleep(_POLL)
        if permission == "never":
            self._close(self.limit_reached())

    def limit_reached(self) -> LimitReachedError:
        """Return the error for a request that the ceilings do not allow."""
        reached = f"{self._ceilings.reached}: one more call could go beyond"
        fix = "All replies are kept. Allow more and run the same command: it goes on"
        fault = f"{reached}; so far {self.endpoint.bill}"
        return LimitReachedError(fault, fix=f"{fix} where it stopped.")

    def count(self, request: Request, sent: Mapping[str, Any], raw: Raw) -> None:
        """Bill a request."""
        self.reached = self.reached or raw.status > 0
        if raw.failure is None or raw.failure.charged:
            out = self._limit(request, sent) if raw.failure else guess_out(request.call.targets)
            bill = self.endpoint.bill
            before = bill.tokens
            bill.add(raw.usage, self._price, guess=(guess_in(_content(sent)), out))
            self._pace.correct(sum(request.foreseen), bill.tokens - before)

    def _worst(self, request: Request, body: Mapping[str, Any]) -> Worst:
        tokens_in, tokens_out = most_in(_content(body)), self._limit(request, body)
        return tokens_in + tokens_out, self._price.of(tokens_in, tokens_out) if self._price else 0.0

    def _limit(self, request: Request, sent: Mapping[str, Any]) -> int:
        most = request.endpoint.max_output
        return next((sent[name] for name in LIMIT_FIELDS if name in sent), most)


def _content(sent: Mapping[str, Any]) -> str:
    return "\n".join(message["content"] for message in sent["messages"])


_STEEPEST = 6
_BRIEF = 3
_TRIES_TO_REACH = 3
_COMPLAINTS = (400, 422)
_TOO_SLOW = Failure("no time is left to ask again", "again", fix="Raise 'patience'.")


class Conversation:
    """One call to a model; its history from earlier runs has no outcome yet."""

    def __init__(self, session: Session, request: Request, history: History) -> None:
        self._session, self._history = session, history
        self.request: Request = request
        self.abilities: Abilities = session.abilities
        self._patience = session.endpoint.patience
        self._failed = self._brief = 0

    async def outcome(self) -> Outcome:
        """Ask until there is an outcome."""
        while True:
            sent = self.body()
            raw = await self._session.send(self.request, sent, self._patience)
            self._patience -= raw.seconds
            if (outcome := self.receive(sent, raw)) is None and (failure := raw.failure):
                if failure.then == "end":
                    self._session.end(failure)
                if failure.then != "leave":
                    outcome = await self._wait(raw, failure)
                elif not self.concede(sent, raw):
                    outcome = self._give_up(failure)
            if outcome is None and self._patience <= 0:
                outcome = self._give_up(_TOO_SLOW)
            if outcome is not None:
                return outcome

    def body(self) -> dict[str, Any]:
        """Return the request that is due."""
        last = self._history.bad == self._session.endpoint.attempts - 1
        remark = self._history.reason if last else ""  # what was wrong with the replies
        return self.request.body(self.abilities, remark=remark, doubled=self._history.cut)

    def receive(self, sent: Mapping[str, Any], raw: Raw) -> Outcome | None:
        """Store what came back for a request; return the call's outcome if it has one now."""
        if raw.failure is None:
            self._session.learn(self.abilities)
            self._failed = self._brief = 0
            likelihood = self._session.endpoint.read == "likelihood"
            read = completion(raw.body, self.request.call.targets, likelihood=likelihood)
            return self._write(sent, raw, read)
        came = "refused" if raw.failure.then == "refused" else "failed"
        return self._write(sent, raw, Completion(came, "", reason=raw.failure.reason))

    def concede(self, sent: Mapping[str, Any], raw: Raw) -> bool:
        """Drop the field that the endpoint refuses; return whether it refuses one."""
        if raw.status not in _COMPLAINTS:
            return False
        named = error_of(raw.body).get("param")
        if (field := cache.refused_field(raw.text, named, sent)) is not None:
            self.abilities = self.abilities.without(field, self._session.endpoint.enforced)
        return field is not None

    async def _wait(self, raw: Raw, failure: Failure) -> Outcome | None:
        """Wait before the next request; give up if that exceeds the patience."""
        self._failed += 1
        self._brief += failure.then == "again-briefly"
        unreachable = raw.trouble == "unreachable"
        if unreachable and not self._session.reached and self._failed >= _TRIES_TO_REACH:
            self._session.end(failure)
        steepness = min(self._failed - 1, _STEEPEST)
        jitter = random.random() * self._session.endpoint.backoff * 2**steepness  # noqa: S311
        delay = max(jitter, failure.wait or 0.0)
        self._patience -= delay
        if self._brief >= _BRIEF or self._patience <= 0:
            return self._give_up(failure, dead=unreachable)
        if failure.wait and raw.status == 429:
            self._session.pause(failure.wait)
        await self._session.sleep(delay)
        return None

    def _give_up(self, failure: Failure, *, dead: bool = False) -> Outcome:
        self._session.lose(failure, dead=dead)
        reason = failure.reason
        if failure.wait:
            reason += f" (the server wants {failure.wait:g} s of patience)"
        return self._history.ended("error", reason)

    def _write(self, sent: Mapping[str, Any], raw: Raw, answer: Completion) -> Outcome | None:
        """Store a reply; return the call's outcome, another process's if that was faster."""
        row = {name: getattr(self.request, name) for name in ("key", "server", "model")}
        row |= {name: getattr(raw, name) for name in ("started", "seconds", "status")}
        row |= {name: getattr(raw.usage, name) for name in ("tokens_in", "tokens_out")}
        row |= {
            "request": raw.sent or json.dumps(sent, sort_keys=True),
            "body": raw.text,
            "state": answer.came,
            "reply": answer.text,
            "answered_by": name_of(raw.body, "model"),
            "fingerprint": name_of(raw.body, "system_fingerprint"),
            "scores": answer.scores and json.dumps(answer.scores),
            "reason": answer.reason,
        }
        self._session.attempts.add(row)
        self._history = self._session.history(self.request.key)
        return self._history.outcome
