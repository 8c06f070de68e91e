"""Questions about the outputs of a sentence: asked in several orders and sets, read as scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

from grammeter.llm.prompt import MOST, Protocol, Question, draw_sets, reorder
from grammeter.llm.reply import Call, Estimate, Outcome, Reply


@dataclass(frozen=True, slots=True)
class PanelAnswer:
    """The answer to a question.

    Attributes
    ----------
    outcomes
        Outcomes of its calls; none for a single target, which needs no comparison.
    rounds
        Shape ``[calls][targets]``: the scores, 1 to 5, in the order of the question's targets;
        calls without scores are left out.
    orders
        By call, the places of the question's targets in the order shown.
    """

    outcomes: tuple[Outcome, ...]
    rounds: tuple[tuple[int, ...], ...]
    orders: tuple[tuple[int, ...], ...] = ()

    @property
    def scores(self) -> tuple[float, ...] | None:
        """Mean score of each target; ``None`` unless all calls have scores."""
        if not self.rounds or len(self.rounds) < len(self.outcomes):
            return None
        return tuple(sum(column) / len(column) for column in zip(*self.rounds, strict=True))

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Which model is asked, in which words, how often."""

    model: str  # as the endpoint names it
    protocol: Protocol
    orders: int = 1  # in how many orders the targets are shown, against position bias
    repeats: int = 1  # how often each order is asked
    seed: int = 1  # of the random orders

    def ask(self, questions: Sequence[Question]) -> list[PanelAnswer]:
        """Answer questions with one call for each distinct prompt; a single target needs none.

        Raises
        ------
        LimitReachedError
            If a ceiling of the endpoint is reached; the answers so far are kept.
        RemoteError, MissingResourceError
            If the endpoint fails, or the client is not installed or has no key.
        """
        from grammeter.llm import client

        orders = [self._orders(question) for question in questions]
        calls = [self._calls(q, shown) for q, shown in zip(questions, orders, strict=True)]
        answers = iter(client.ask(self.model, list(chain.from_iterable(calls))))
        return [_answer(shown, [next(answers) for _ in shown]) for shown in orders]

    def estimate(self, questions: Sequence[Question]) -> Estimate:
        """Estimate the cost of :meth:`ask`; nothing is sent."""
        from grammeter.llm import client

        calls = [call for q in questions for call in self._calls(q, self._orders(q))]
        return client.estimate(self.model, calls)

    def _orders(self, question: Question) -> list[list[int]]:
        """Return the order of the targets in each call."""
        if len(question.targets) < 2:
            return []
        orders = reorder(question.source, question.targets, orders=self.orders, seed=self.seed)
        return [order for order in orders for _ in range(self.repeats)]

    def _calls(self, question: Question, orders: Sequence[Sequence[int]]) -> list[Call]:
        """Put a question into words; ``repeat`` numbers the calls with equal prompts."""
        calls: list[Call] = []
        template = self.protocol.template
        for order in orders:
            targets = tuple(question.targets[place] for place in order)
            prompt = self.protocol.render(
                Question(question.previous, question.source, question.following, targets)
            )
            again = sum(call.prompt == prompt for call in calls)
            calls.append(Call(prompt=prompt, targets=len(targets), template=template, repeat=again))
        return calls


def _answer(orders: Sequence[Sequence[int]], outcomes: Sequence[Outcome]) -> PanelAnswer:
    rounds: list[tuple[int, ...]] = []
    for order, outcome in zip(orders, outcomes, strict=True):
        if outcome.scores is not None:
            by_place = dict(zip(order, outcome.scores, strict=True))
            rounds.append(tuple(by_place[place] for place in range(len(order))))
    return PanelAnswer(tuple(outcomes), tuple(rounds), tuple(map(tuple, orders)))


Context = tuple[str, str, str]
"""The lines before, of and after a sentence."""


@dataclass(frozen=True, slots=True)
class Group:
    """Outputs of one sentence to compare with each other; equal ones are allowed."""

    context: Context
    outputs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Opinion:
    """A judge's answers on a group."""

    answers: tuple[PanelAnswer, ...]  # several if there are more than five distinct outputs
    shown: tuple[tuple[int, ...], ...]  # by answer, the distinct outputs that it compares
    places: tuple[int, ...]  # by output, its place among the distinct ones

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
        """The score of each output, 1 to 5, a mean if it was shown more than once.

        ``None`` unless all questions were answered.
        """
        by_place: dict[int, list[float]] = {}
        for answer, places in zip(self.answers, self.shown, strict=True):
            if answer.scores is None:
                return None
            for place, score in zip(places, answer.scores, strict=True):
                by_place.setdefault(place, []).append(score)
        return tuple(sum(by_place[place]) / len(by_place[place]) for place in self.places)

    @property
    def replies(self) -> list[tuple[list[int], Reply]]:
        """All replies, each with the places of the outputs in the order shown, from 0."""
        first = {place: output for output, place in reversed(list(enumerate(self.places)))}
        return [
            ([first[places[target]] for target in order], reply)
            for answer, places in zip(self.answers, self.shown, strict=True)
            for outcome, order in zip(answer.outcomes, answer.orders, strict=True)
            for reply in outcome.replies
        ]

    @property
    def reason(self) -> str:
        """Why there are no scores."""
        lacking = [answer.reason for answer in self.answers if answer.scores is None]
        return "; ".join(dict.fromkeys(lacking))


def ask_groups(panel: Panel, groups: Sequence[Group]) -> list[Opinion]:
    """Ask for scores, at most five outputs at a time; see :meth:`Panel.ask` for the errors.

    A group of equal outputs needs no question; one with more than five distinct ones is shown
    in sets, drawn by the panel's seed.
    """
    plans = [_plan(group, panel.seed) for group in groups]
    answers = iter(panel.ask([question for questions, _ in plans for question in questions]))
    return [
        replace(opinion, answers=tuple(next(answers) for _ in questions))
        for questions, opinion in plans
    ]


def estimate_groups(panel: Panel, groups: Sequence[Group]) -> Estimate:
    """Estimate the cost of :func:`ask_groups`; nothing is sent."""
    return panel.estimate([q for group in groups for q in _plan(group, panel.seed)[0]])


def _plan(group: Group, seed: int) -> tuple[list[Question], Opinion]:
    """Return the questions about a group, and its opinion without their answers."""
    place = {text: number for number, text in enumerate(dict.fromkeys(group.outputs))}
    sets = [list(place)] if place else []
    if len(place) > MOST:
        sets = draw_sets(group.context[1], list(place), times=1, seed=seed)
    shown = tuple(tuple(place[text] for text in texts) for texts in sets)
    places = tuple(place[text] for text in group.outputs)
    return [Question(*group.context, tuple(texts)) for texts in sets], Opinion((), shown, places)
