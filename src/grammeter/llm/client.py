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
from grammeter.llm.endpoint import Endpoint, current
from grammeter.llm.prompt import USUAL, Protocol, Question, draw_sets, reorder
from grammeter.llm.reply import Call, Estimate, Outcome, Reply
from grammeter.llm.request import Abilities, Request
from grammeter.llm.session import Conversation, Session, UnfinishedError

_CONCURRENCY = 4
_WAITING = 256  # for a model in this process
_Result = TypeVar("_Result")
Answering = Callable[[str, Sequence[Call]], list[Outcome]]
"""Answers calls to a model, as :func:`ask` does."""

Context = tuple[str, str, str]  # the lines before, of and after a sentence


@dataclass(frozen=True, slots=True)
class Group:
    """Outputs of one sentence to compare with each other; equal ones are allowed."""

    context: Context
    outputs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a question about some of a group's distinct outputs, its targets."""

    shown: tuple[int, ...]  # the targets, by their numbers among the distinct outputs
    orders: tuple[tuple[int, ...], ...]  # by call, the places of the targets in the order shown
    outcomes: tuple[Outcome, ...] = ()  # by call; a single target needs no comparison and no call

    @property
    def rounds(self) -> list[list[float]]:
        """The scores of the targets, 1 to 5, by call; calls without scores are left out."""
        shown = zip(self.orders, (outcome.scores for outcome in self.outcomes), strict=True)
        rounds = (sorted(zip(order, of, strict=True)) for order, of in shown if of is not None)
        return [[score for _, score in pairs] for pairs in rounds]

    @property
    def scores(self) -> tuple[float, ...] | None:
        """Mean score of each target; ``None`` unless all calls have scores."""
        if not (rounds := self.rounds) or len(rounds) < len(self.outcomes):
            return None
        return tuple(sum(column) / len(column) for column in zip(*rounds, strict=True))

    @property
    def spread(self) -> float:
        """Difference between a target's highest and lowest score, mean over targets."""
        columns = list(zip(*self.rounds, strict=True))
        return sum(max(c) - min(c) for c in columns) / len(columns) if columns else 0.0

    @property
    def reason(self) -> str:
        """Why there are no scores."""
        if not self.outcomes:
            return "one output only"
        lacking = [outcome for outcome in self.outcomes if outcome.scores is None]
        return "; ".join(dict.fromkeys(f"{o.state}: {o.reason}".rstrip(": ") for o in lacking))


@dataclass(frozen=True, slots=True)
class Opinion:
    """A judge's answers on a group."""

    answers: tuple[Answer, ...]  # several if there are more than ``size`` distinct outputs
    places: tuple[int, ...]  # by output, its number among the distinct ones

    @property
    def outcomes(self) -> list[Outcome]:
        """The outcomes of all calls."""
        return [outcome for answer in self.answers for outcome in answer.outcomes]

    @property
    def due(self) -> bool:
        """Whether there were different outputs, and so a question."""
        return bool(self.outcomes)

    @property
    def scores(self) -> tuple[float, ...] | None:
        """The mean score of each output, 1 to 5; ``None`` unless all questions were answered."""
        by_place: dict[int, list[float]] = {}
        for answer in self.answers:
            if answer.scores is None:
                return None
            for place, score in zip(answer.shown, answer.scores, strict=True):
                by_place.setdefault(place, []).append(score)
        return tuple(sum(by_place[place]) / len(by_place[place]) for place in self.places)

    @property
    def replies(self) -> list[tuple[list[int], Reply]]:
        """All replies, each with the places of the outputs in the order shown, from 0."""
        return [
            ([self.places.index(answer.shown[target]) for target in order], reply)
            for answer in self.answers
            for outcome, order in zip(answer.outcomes, answer.orders, strict=True)
            for reply in outcome.replies
        ]

    @property
    def reason(self) -> str:
        """Why there are no scores."""
        lacking = [answer.reason for answer in self.answers if answer.scores is None]
        return "; ".join(dict.fromkeys(lacking))


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Which model is asked, in which words, how often."""

    model: str  # as the endpoint names it
    protocol: Protocol
    orders: int = 1  # in how many orders the targets are shown, against position bias
    repeats: int = 1  # how often each order is asked
    seed: int = 1  # of the random orders
    size: int = USUAL  # how many outputs a prompt shows at most
    shuffle: bool = False  # whether the first order is random, too
    chat: transport.Chat | None = None  # the model itself, if it answers in this process

    def ask(self, groups: Sequence[Group], answered: Answering | None = None) -> list[Opinion]:
        """Ask for scores, at most ``size`` outputs at a time, one call for each distinct prompt.

        A group of equal outputs needs no question; one with more distinct ones is shown
        in sets, drawn by the seed. Raises :class:`LimitReachedError` if a ceiling of the endpoint
        is reached; the answers so far are kept; :class:`RemoteError`, :class:`MissingResourceError`
        if the endpoint fails, or the client is not installed or has no key.
        """
        plans = self._plans(groups)
        calls = [call for _, of_group in plans for call in of_group]
        outcomes = iter((answered or self._ask)(self.model, calls))
        opinions: list[Opinion] = []
        for opinion, _ in plans:
            ended = ([next(outcomes) for _ in answer.orders] for answer in opinion.answers)
            pairs = zip(opinion.answers, ended, strict=True)
            answers = tuple(replace(answer, outcomes=tuple(of)) for answer, of in pairs)
            opinions.append(replace(opinion, answers=answers))
        return opinions

    def _ask(self, model: str, calls: Sequence[Call]) -> list[Outcome]:
        return ask(model, calls, self.chat) if self.chat else ask(model, calls)

    def estimate(self, groups: Sequence[Group]) -> Estimate:
        """Estimate the cost of :meth:`ask`; nothing is sent."""
        return estimate(self.model, self.calls(groups))

    def calls(self, groups: Sequence[Group]) -> list[Call]:
        """Return the calls that :meth:`ask` makes."""
        return [call for _, of_group in self._plans(groups) for call in of_group]

    def _plans(self, groups: Sequence[Group]) -> list[tuple[Opinion, list[Call]]]:
        template = self.protocol.template
        return [self._plan(group, template) for group in groups]

    def _plan(self, group: Group, template: str) -> tuple[Opinion, list[Call]]:
        number = {text: number for number, text in enumerate(dict.fromkeys(group.outputs))}
        sets = [list(number)] if number else []
        source = group.context[1]
        if len(number) > self.size:
            sets = draw_sets(source, list(number), times=1, seed=self.seed, size=self.size)
        answers: list[Answer] = []
        calls: list[Call] = []
        for texts in sets:
            question, orders = Question(*group.context, tuple(texts)), list[list[int]]()
            if len(texts) > 1:
                count, seed, shuffle = self.orders, self.seed, self.shuffle
                orders = reorder(source, texts, orders=count, seed=seed, shuffle=shuffle)
            shown = tuple(tuple(order) for order in orders for _ in range(self.repeats))
            asked: Counter[str] = Counter()
            for order in shown:
                targets = tuple(texts[place] for place in order)
                prompt = self.protocol.render(replace(question, targets=targets))
                call = Call(prompt=prompt, targets=len(targets), template=template)
                calls.append(replace(call, repeat=asked[prompt]))
                asked[prompt] += 1
            answers.append(Answer(tuple(number[text] for text in texts), shown))
        return Opinion(tuple(answers), tuple(number[text] for text in group.outputs)), calls


def ask(model: str, calls: Sequence[Call], chat: transport.Chat | None = None) -> list[Outcome]:
    """Answer calls from the cache, else by the endpoint of :func:`~.endpoint.current`.

    ``chat`` answers in the place of a server, and ``model`` is its identity.

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


def _answers_here(
    session: Session, due: Mapping[str, Request], chat: transport.Chat
) -> dict[str, Outcome]:
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
        for batch in chat.answer([sent for _, sent in asked]):
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
