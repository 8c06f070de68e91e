"""Send calls, return outcomes; calls that the cache answers are not sent."""

from __future__ import annotations

import asyncio
import contextvars
import random
import warnings
from collections import deque
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, closing
from itertools import repeat
from pathlib import Path
from typing import Any, TypeVar

from grammeter.core import MissingResourceError, cache_folder, track
from grammeter.llm.cache import Attempts, concessions, known
from grammeter.llm.cost import BASIS, guess_in, guess_out, read_prices
from grammeter.llm.endpoint import Endpoint, current
from grammeter.llm.reply import Call, Estimate, Outcome
from grammeter.llm.request import Request, Transport, is_local, server
from grammeter.llm.session import Conversation, Session, UnfinishedError

_CONCURRENCY = 4

_Result = TypeVar("_Result")


def ask(model: str, calls: Sequence[Call]) -> list[Outcome]:
    """Answer calls from the cache, else by the endpoint of :func:`~.runtime.current`.

    Equal calls are sent once. Every reply is stored before it is used, so the same calls continue
    where an interrupted run stopped. Usage and cost are added to the endpoint's ``bill``.

    Parameters
    ----------
    model
        As the endpoint names it.
    calls
        Any number.

    Returns
    -------
    list
        One outcome for each call. Those with the state ``error`` are sent again the next time.

    Raises
    ------
    LimitReachedError
        If a ceiling is reached; requests in flight are completed first.
    RemoteError
        If the endpoint cannot be reached, is down, or refuses this account.
    MissingResourceError
        If there is no key, or ``offline`` is set and the cache lacks an answer.
    DataError
        If the file of replies is damaged or cannot be written.
    UsageError
        If money is limited and the model has no price.
    """
    endpoint = current()
    requests, folder, done = _known(endpoint, model, calls)
    endpoint.bill.known += len(done)
    due = {r.key: r for r in requests.values() if r.key not in done}
    if due and endpoint.offline:
        raise MissingResourceError(
            f"{len(due)} of {len(requests)} calls have no answer in {folder or 'the cache'}",
            fix="Run the same without --offline, with the same model, base URL and prompt.",
        )
    if due:
        _warn(endpoint)
        done |= _finish(_Run(endpoint, model, due).results(folder))
    else:
        endpoint.bill.concessions.update(concessions(folder, server(endpoint.base_url), model))
    endpoint.bill.states.update(outcome.state for outcome in done.values())
    return [done[requests[call].key] for call in calls]


def estimate(model: str, calls: Sequence[Call]) -> Estimate:
    """Estimate tokens and cost of calls; nothing is sent."""
    endpoint = current()
    requests, _, done = _known(endpoint, model, calls)
    due = [call for call, request in requests.items() if request.key not in done]
    tokens_in = sum(guess_in(call.prompt) for call in due)
    tokens_out = sum(guess_out(call.targets) for call in due)
    prices = read_prices(endpoint.prices)
    price = prices.of(model)
    return Estimate(
        calls=len(requests),
        known=len(requests) - len(due),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost=None if price is None else price.of(tokens_in, tokens_out),
        currency=prices.currency,
        basis=BASIS,
        date=prices.date,
    )


class _Run:
    """Concurrent calls to one model; ``due`` holds their requests by key."""

    def __init__(self, endpoint: Endpoint, model: str, due: Mapping[str, Request]) -> None:
        self._endpoint = endpoint
        self._model = model
        self._due = due
        # at random: processes that share a cache and a list of calls should not ask the same ones
        self._queue = deque(random.sample(list(due), len(due)))
        self._done: dict[str, Outcome] = {}

    async def results(self, folder: Path | None) -> dict[str, Outcome]:
        """Send all requests; raise the error that ended the run early, if any."""
        async with aclosing(Transport(self._endpoint)) as transport:
            with closing(Attempts(folder)) as attempts:
                session = Session(self._endpoint, self._model, attempts, transport)
                await self._ask_all(session)
        if session.error is not None and len(self._done) < len(self._due):
            error = session.error
            count = f"{len(self._done)} of {len(self._due)} calls were answered before"
            raise type(error)(f"{error.message}; {count}", fix=error.fix)
        return self._done

    async def _ask_all(self, session: Session) -> None:
        ticks = track(repeat(None, len(self._due)), f"asking {self._model}", len(self._due))
        next(ticks)
        if not session.proven:  # one call finds out what the endpoint accepts
            await self._work(session, ticks, most=1)
        usual = 1 if is_local(self._endpoint.base_url) else _CONCURRENCY
        count = min(self._endpoint.concurrency or usual, len(self._due))
        tasks = [asyncio.create_task(self._work(session, ticks)) for _ in range(count)]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _work(self, session: Session, ticks: Iterator[None], most: int | None = None) -> None:
        """Take calls from the queue, one at a time."""
        taken = 0
        while self._queue and not session.closing and (most is None or taken < most):
            key = self._queue.popleft()
            taken += 1
            try:
                history = session.history(key)  # another process may have stored the answer
                conversation = Conversation(session, self._due[key], history)
                self._done[key] = history.outcome or await conversation.outcome()
            except UnfinishedError:
                continue
            next(ticks, None)


def _known(
    endpoint: Endpoint, model: str, calls: Sequence[Call]
) -> tuple[dict[Call, Request], Path | None, dict[str, Outcome]]:
    """Return the request of each distinct call, the cache folder, and its outcomes by key."""
    host = server(endpoint.base_url)
    limit = endpoint.max_output
    requests = {call: Request(host, model, call, limit) for call in dict.fromkeys(calls)}
    folder = cache_folder(endpoint.cache_dir)
    histories = known(folder, [request.key for request in requests.values()], endpoint.attempts)
    done = {key: h.outcome for key, h in histories.items() if h.outcome is not None}
    return requests, folder, done


def _warn(endpoint: Endpoint) -> None:
    if endpoint.base_url.startswith("http://") and not is_local(endpoint.base_url):
        warnings.warn(
            f"{server(endpoint.base_url)}: the key and the texts travel unencrypted (http://)",
            stacklevel=3,
        )


def _finish(work: Coroutine[Any, Any, _Result]) -> _Result:
    """Run a coroutine; use another thread where this one has a running loop (notebooks)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    return _in_thread(work)


def _in_thread(work: Coroutine[Any, Any, _Result]) -> _Result:
    runners: list[asyncio.Runner] = []

    def run() -> _Result:
        with asyncio.Runner() as runner:
            runners.append(runner)
            return runner.run(work)

    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(contextvars.copy_context().run, run)
        try:
            return result.result()
        except KeyboardInterrupt:
            for loop in (runner.get_loop() for runner in runners):
                for task in asyncio.all_tasks(loop):
                    loop.call_soon_threadsafe(task.cancel)
            raise
