"""A panel of one model: questions about outputs, sent unless cached, and read as scores."""

import asyncio
import contextvars
import json
import random
import time
import warnings
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence, Sized
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, closing, suppress
from dataclasses import dataclass, replace
from itertools import repeat
from pathlib import Path
from typing import Any, TypeVar

from grammeter.core import GrammeterError, MissingResourceError, cache_folder, track
from grammeter.llm import cache, cost, transport
from grammeter.llm.cache import Abilities, Request
from grammeter.llm.endpoint import Endpoint, current
from grammeter.llm.prompt import USUAL, Protocol, Question, draw_sets, reorder
from grammeter.llm.reply import Call, Estimate, Outcome, Reply
from grammeter.llm.session import Conversation, Session, UnfinishedError

_CONCURRENCY = 4
_WAITING = 256  # for a model in this process
_Result = TypeVar("_Result")
Answering = Callable[[str, Sequence[Call]], list[Outcome]]
"""Answers calls to a model, as :func:`ask` does."""


@dataclass(frozen=True, slots=True)
class Showing:
    """A call: some of a question's distinct outputs side by side, and the outcome."""

    part: int  # number of the set of outputs; there are several if there are more than ``set_size``
    order: tuple[int, ...]  # the outputs in the order shown, by their numbers
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Opinion:
    """A judge's answers to a question; without different outputs none was due."""

    showings: tuple[Showing, ...]
    places: tuple[int, ...]  # by output, its number among the distinct ones

    @property
    def due(self) -> bool:
        """Whether there were different outputs, and so a question."""
        return bool(self.showings)

    @property
    def outcomes(self) -> list[Outcome]:
        """The outcomes of all calls."""
        return [showing.outcome for showing in self.showings]

    @property
    def scores(self) -> tuple[float, ...] | None:
        """The mean score of each output, 1 to 5; ``None`` unless all calls have scores."""
        if not self.due or any(outcome.scores is None for outcome in self.outcomes):
            return None
        by_output: dict[int, list[float]] = {}
        for of_set in self._sets().values():
            for number, scores in of_set.items():
                by_output.setdefault(number, []).append(sum(scores) / len(scores))
        means = {number: sum(scores) / len(scores) for number, scores in by_output.items()}
        return tuple(means[place] for place in self.places)

    @property
    def spreads(self) -> list[float]:
        """By set whose calls all have scores, an output's highest less lowest score, mean."""
        lacking = {showing.part for showing in self.showings if showing.outcome.scores is None}
        sets = (rounds.values() for part, rounds in self._sets().items() if part not in lacking)
        return [sum(max(of) - min(of) for of in rounds) / len(rounds) for rounds in sets]

    def _sets(self) -> dict[int, dict[int, list[float]]]:
        """Return by set and output the scores of all calls."""
        sets: dict[int, dict[int, list[float]]] = {}
        for showing in self.showings:
            for number, score in zip(showing.order, showing.outcome.scores or (), strict=False):
                sets.setdefault(showing.part, {}).setdefault(number, []).append(score)
        return sets

    @property
    def replies(self) -> list[tuple[list[int], Reply]]:
        """All replies, each with the places of the outputs in the order shown, from 0."""
        return [
            ([self.places.index(number) for number in showing.order], reply)
            for showing in self.showings
            for reply in showing.outcome.replies
        ]

    @property
    def reason(self) -> str:
        """Why there are no scores."""
        lacking = [outcome for outcome in self.outcomes if outcome.scores is None]
        reasons = dict.fromkeys(f"{o.state}: {o.reason}".rstrip(": ") for o in lacking)
        return "; ".join(reasons) if self.due else "one output only"


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Which model is asked, in which words, how often."""

    model: str  # as the endpoint names it
    protocol: Protocol
    permutations: int = 1  # in how many orders the targets are shown, against position bias
    repeats: int = 1  # how often each order is asked
    seed: int = 1  # of the random orders
    set_size: int = USUAL  # how many outputs a prompt shows at most
    shuffle: bool = False  # whether the first order is random, too
    chat: Any = None  # a `models.Chat`, if the model answers in this process

    def ask(
        self, questions: Sequence[Question], answered: Answering | None = None
    ) -> list[Opinion]:
        """Ask for scores, at most ``set_size`` outputs at a time, one call for a distinct prompt.

        Equal outputs need no question; more than ``set_size`` distinct ones are shown in sets,
        drawn by the seed. Raises :class:`LimitReachedError` if a ceiling of the endpoint is
        reached; the answers so far are kept; :class:`RemoteError`, :class:`MissingResourceError` if
        the endpoint fails, or the client is not installed or has no key.
        """
        template = self.protocol.template
        plans = [[*self._showings(question, template)] for question in questions]
        calls = [call for plan in plans for *_, call in plan]
        outcomes = iter((answered or self._ask)(self.model, calls))
        return [
            Opinion(
                tuple(Showing(part, order, next(outcomes)) for part, order, _ in plan),
                tuple(_numbers(question)[text] for text in question.targets),
            )
            for question, plan in zip(questions, plans, strict=True)
        ]

    def _ask(self, model: str, calls: Sequence[Call]) -> list[Outcome]:
        return ask(model, calls, self.chat) if self.chat else ask(model, calls)

    def estimate(self, questions: Sequence[Question]) -> Estimate:
        """Estimate the cost of :meth:`ask`; nothing is sent."""
        return estimate(self.model, self.calls(questions))

    def calls(self, questions: Sequence[Question]) -> list[Call]:
        """Return the calls that :meth:`ask` makes."""
        template = self.protocol.template
        return [call for one in questions for *_, call in self._showings(one, template)]

    def _showings(
        self, question: Question, template: str
    ) -> Iterator[tuple[int, tuple[int, ...], Call]]:
        number, source = _numbers(question), question.source
        sets = [list(number)]
        if len(number) > self.set_size:
            sets = draw_sets(source, list(number), times=1, seed=self.seed, size=self.set_size)
        drawing: Any = {"orders": self.permutations, "seed": self.seed, "shuffle": self.shuffle}
        for part, texts in enumerate(sets if len(number) > 1 else ()):
            asked: Counter[str] = Counter()
            for order in reorder(source, texts, **drawing):
                targets = tuple(texts[place] for place in order)
                prompt = self.protocol.render(replace(question, targets=targets))
                call = Call(prompt=prompt, targets=len(targets), template=template)
                for _ in range(self.repeats):
                    shown = tuple(number[text] for text in targets)
                    yield part, shown, replace(call, repeat=asked[prompt])
                    asked[prompt] += 1


def _numbers(question: Question) -> dict[str, int]:
    """Return the distinct outputs of a question and their numbers."""
    return {text: number for number, text in enumerate(dict.fromkeys(question.targets))}


def ask(model: str, calls: Sequence[Call], chat: Any = None) -> list[Outcome]:
    """Answer calls from the cache, else by the endpoint of :func:`~.endpoint.current`.

    ``chat``, a :class:`~grammeter.models.Chat`, answers in the place of a server, and ``model`` is
    its identity.

    Equal calls are sent once. Every reply is stored before it is used, so the same calls continue
    where an interrupted run stopped; those with the state ``error`` are sent again the next time.
    Usage and cost are added to the endpoint's ``bill``.
    """
    endpoint = current()
    requests, folder, histories = known(endpoint, model, calls)
    done = outcomes_of(histories)
    endpoint.bill.known += len(done)
    due = {r.key: r for r in requests.values() if r.key not in done}
    if due and endpoint.offline:
        fault = f"{len(due)} of {len(requests)} calls have no answer in {folder or 'the cache'}"
        fix = "Run the same without --offline, with the same model, base URL and prompt."
        raise MissingResourceError(fault, fix=fix)
    if due:
        remote = not endpoint.in_process and not transport.is_local(endpoint.base_url)
        if endpoint.base_url.startswith("http://") and remote:
            host = transport.host(endpoint)
            text = f"{host}: the key and the texts travel unencrypted (http://)"
            warnings.warn(text, stacklevel=2)
        if chat is not None:
            with closing(cache.Attempts(folder)) as attempts:
                done |= _answers_here(Session(endpoint, model, attempts), due, chat)
        else:
            done |= _finish(_answers(endpoint, model, due, folder))
    else:
        with closing(cache.stored(folder)) as replies:
            abilities = replies.abilities(transport.host(endpoint), model)
        if abilities:
            endpoint.bill.concessions.update(abilities.concessions(endpoint.enforced))
    endpoint.bill.states.update(outcome.state for outcome in done.values())
    return [done[requests[call].key] for call in calls]


def estimate(model: str, calls: Sequence[Call]) -> Estimate:
    """Estimate tokens and cost of calls; nothing is sent."""
    endpoint = current()
    requests, _, histories = known(endpoint, model, calls)
    done = outcomes_of(histories)
    due = [request for request in requests.values() if request.key not in done]
    tokens_in, tokens_out = (sum(request.foreseen[way] for request in due) for way in (0, 1))
    prices = cost.read_prices(endpoint.prices)
    price = prices.of(model, free=endpoint.in_process)
    return Estimate(
        calls=len(requests),
        known=len(requests) - len(due),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost=None if price is None else price.of(tokens_in, tokens_out),
        currency=prices.currency,
        basis=cost.BASIS,
        date=prices.date,
    )


def _answers_here(session: Session, due: Mapping[str, Request], chat: Any) -> dict[str, Outcome]:
    """Have a model in this process answer, as many requests together as may wait."""
    chat.check([request.body(Abilities()) for request in due.values()])
    done: dict[str, Outcome] = {}
    ticks = _ticks(session, due)
    waiting = deque(Conversation(session, r, session.history(key)) for key, r in due.items())
    while waiting:
        asked: list[tuple[Conversation, dict[str, Any]]] = []
        while waiting and len(asked) < (session.endpoint.concurrency or _WAITING):
            sent = waiting[0].body()
            if not session.allows(waiting[0].request, sent):
                break
            asked.append((waiting.popleft(), sent))
        if not asked:
            raise _counted(session.limit_reached(), done, due)
        started = time.time()
        batches: Iterator[list[tuple[int, Mapping[str, Any]]]]
        batches = chat.answer([sent for _, sent in asked])
        for batch in batches:
            seconds = time.time() - started
            for place, body in batch:
                conversation, sent = asked[place]
                raw = transport.Raw(200, json.dumps(body), seconds=seconds, started=started)
                session.settle(conversation.request, sent, raw)
                if (outcome := conversation.receive(sent, raw)) is None:
                    waiting.append(conversation)
                else:
                    done[conversation.request.key] = outcome
                    next(ticks, None)
            started = time.time()
    return done


async def _answers(
    endpoint: Endpoint, model: str, due: Mapping[str, Request], folder: Path | None
) -> dict[str, Outcome]:
    """Send all requests, by key; raise the error that ended the run early, if any."""
    done: dict[str, Outcome] = {}
    async with aclosing(transport.Transport(endpoint)) as wire:
        with closing(cache.Attempts(folder)) as attempts:
            session = Session(endpoint, model, attempts, wire)
            await _ask_all(session, due, done)
    if session.error is not None and len(done) < len(due):
        raise _counted(session.error, done, due)
    return done


def _counted(error: GrammeterError, done: Sized, due: Sized) -> GrammeterError:
    count = f"{len(done)} of {len(due)} calls were answered before"
    return type(error)(f"{error.message}; {count}", fix=error.fix)


def _ticks(session: Session, due: Sized) -> Iterator[None]:
    ticks = track(repeat(None, len(due)), f"asking {session.model}", len(due))
    next(ticks)
    return ticks


async def _ask_all(session: Session, due: Mapping[str, Request], done: dict[str, Outcome]) -> None:
    ticks = _ticks(session, due)
    # at random: processes that share a cache and a list of calls should not ask the same ones
    queue = deque(random.sample(list(due), len(due)))

    async def work(most: int) -> None:
        while queue and session.error is None and most > 0:
            key, most = queue.popleft(), most - 1
            history = session.history(key)  # another process may have stored the answer
            conversation = Conversation(session, due[key], history)
            with suppress(UnfinishedError):
                done[key] = history.outcome or await conversation.outcome()
                next(ticks, None)

    if not session.proven:  # one call finds out what the endpoint accepts
        await work(1)
    endpoint = session.endpoint
    usual = 1 if transport.is_local(endpoint.base_url) else _CONCURRENCY
    count = min(endpoint.concurrency or usual, len(due))
    tasks = [asyncio.create_task(work(len(due))) for _ in range(count)]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def known(
    endpoint: Endpoint, model: str, calls: Sequence[Call]
) -> tuple[dict[Call, Request], Path | None, dict[str, cache.History]]:
    """Return the request of each distinct call, the cache folder, and its histories by key."""
    requests = {call: Request(endpoint, model, call) for call in dict.fromkeys(calls)}
    folder = cache_folder(endpoint.cache_dir)
    with closing(cache.stored(folder)) as replies:
        keys = [request.key for request in requests.values()]
        return requests, folder, replies.histories(keys, endpoint.attempts)


def outcomes_of(histories: Mapping[str, cache.History]) -> dict[str, Outcome]:
    """Return the outcomes of the calls that have one, by key."""
    return {key: h.outcome for key, h in histories.items() if h.outcome is not None}


def _finish(work: Coroutine[Any, Any, _Result]) -> _Result:
    """Run a coroutine; use another thread where this one has a running loop (notebooks)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    loops: list[asyncio.AbstractEventLoop] = []

    async def noted() -> _Result:
        loops.append(asyncio.get_running_loop())
        return await work

    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(contextvars.copy_context().run, asyncio.run, noted())
        try:
            return result.result()
        except KeyboardInterrupt:
            for loop in loops:
                for task in asyncio.all_tasks(loop):
                    loop.call_soon_threadsafe(task.cancel)
            raise
