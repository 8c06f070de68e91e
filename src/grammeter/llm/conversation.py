"""One call from its first request to its outcome: retries, repeated questions, concessions."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from typing import Any

from grammeter.llm.attempts import Attempt, History
from grammeter.llm.calls import Outcome, error_of
from grammeter.llm.completion import Completion, completion, name_of
from grammeter.llm.faults import Failure
from grammeter.llm.ladder import Abilities, refused_field
from grammeter.llm.request import Request
from grammeter.llm.session import Received, Session

_STEEPEST = 6
_BRIEF = 3
_TRIES_TO_REACH = 3
_COMPLAINTS = (400, 422)
_TOO_SLOW = Failure("no time is left to ask again", "again", fix="Raise 'patience'.")


class Conversation:
    """One call to a model; its history from earlier runs has no outcome yet."""

    def __init__(self, session: Session, request: Request, history: History) -> None:
        self._session = session
        self._request = request
        self._history = history
        self._abilities: Abilities = session.abilities
        self._patience = session.endpoint.patience
        self._failed = 0
        self._brief = 0

    async def outcome(self) -> Outcome:
        """Ask until there is an outcome.

        Raises
        ------
        UnfinishedError
            If the run ends first; the replies so far are stored.
        """
        while True:
            sent = self._body()
            received = await self._session.send(self._request, sent, self._patience)
            self._patience -= received.raw.seconds
            if received.failure is None:
                outcome = self._read(sent, received)
            else:
                outcome = await self._fail(sent, received, received.failure)
            if outcome is None and self._patience <= 0:
                outcome = self._give_up(_TOO_SLOW)
            if outcome is not None:
                return outcome

    def _body(self) -> dict[str, Any]:
        """Return the next request; the last attempt tells the model what was wrong."""
        last = self._history.bad == self._session.endpoint.attempts - 1
        return self._request.body(
            self._abilities,
            remark=self._history.reason if last else "",
            doubled=self._history.cut,
        )

    def _read(self, sent: Mapping[str, Any], received: Received) -> Outcome | None:
        """Store a completion, then use it."""
        self._session.learn(self._abilities)
        self._failed = self._brief = 0
        answer = completion(received.body, self._request.call.targets)
        return self._write(sent, received, answer, answer.reason)

    async def _fail(
        self, sent: Mapping[str, Any], received: Received, failure: Failure
    ) -> Outcome | None:
        """Store a failure; then concede, wait, give up, or end the run."""
        lost = Completion("refused" if failure.then == "refused" else "failed", "")
        outcome = self._write(sent, received, lost, failure.reason)
        if outcome is not None:
            return outcome
        if failure.then == "end":
            self._session.end(failure)
        if failure.then == "leave":
            return None if self._concede(sent, received) else self._give_up(failure)
        return await self._wait(received, failure)

    def _concede(self, sent: Mapping[str, Any], received: Received) -> bool:
        """Drop the field that the endpoint refuses; return whether it refuses one."""
        if received.raw.status not in _COMPLAINTS:
            return False
        field = refused_field(received.raw.text, error_of(received.body).get("param"), sent)
        if field is not None:
            self._abilities = self._abilities.without(field)
        return field is not None

    async def _wait(self, received: Received, failure: Failure) -> Outcome | None:
        """Wait before the next request; give up if that exceeds the patience."""
        self._failed += 1
        self._brief += failure.then == "again-briefly"
        unreachable = received.raw.trouble == "unreachable"
        if unreachable and not self._session.reached and self._failed >= _TRIES_TO_REACH:
            self._session.end(failure)
        delay = self._delay(failure)
        self._patience -= delay
        if self._brief >= _BRIEF or self._patience <= 0:
            return self._give_up(failure, dead=unreachable)
        if failure.wait and received.raw.status == 429:
            self._session.pause(failure.wait)
        await self._session.sleep(delay)
        return None

    def _delay(self, failure: Failure) -> float:
        """Return the seconds to wait, randomized so that calls do not return together."""
        steepness = min(self._failed - 1, _STEEPEST)
        jitter = random.random() * self._session.endpoint.backoff * 2**steepness  # noqa: S311
        return max(jitter, failure.wait or 0.0)

    def _give_up(self, failure: Failure, *, dead: bool = False) -> Outcome:
        self._session.lose(failure, dead=dead)
        reason = failure.reason
        if failure.wait:
            reason += f" (the server wants {failure.wait:g} s of patience)"
        return Outcome(
            state="error",
            reason=reason,
            attempts=self._history.attempts,
            replies=self._history.replies,
        )

    def _write(
        self,
        sent: Mapping[str, Any],
        received: Received,
        answer: Completion,
        reason: str,
    ) -> Outcome | None:
        """Store a reply; return the outcome of the call according to the cache, if it has ended.

        If another process was faster, its outcome holds.
        """
        raw = received.raw
        self._session.attempts.add(
            Attempt(
                key=self._request.key,
                server=self._request.server,
                model=self._request.model,
                started=raw.started,
                seconds=raw.seconds,
                request=json.dumps(sent, sort_keys=True),
                status=raw.status,
                body=raw.text,
                state=answer.came,
                reply=answer.text,
                answered_by=name_of(received.body, "model"),
                fingerprint=name_of(received.body, "system_fingerprint"),
                tokens_in=received.usage.tokens_in,
                tokens_out=received.usage.tokens_out,
                scores=answer.scores,
                reason=reason,
            )
        )
        self._history = self._session.history(self._request.key)
        return self._history.outcome
