"""Ask each question in several orders and several times, and read the replies as one verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from grammeter.llm.calls import Call, Estimate, Outcome
from grammeter.llm.grouping import reorder
from grammeter.llm.protocol import Protocol, Question


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
        return [_verdict(shown, [next(answers) for _ in shown]) for shown in orders]

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


def _verdict(orders: Sequence[Sequence[int]], outcomes: Sequence[Outcome]) -> PanelAnswer:
    rounds: list[tuple[int, ...]] = []
    for order, outcome in zip(orders, outcomes, strict=True):
        if outcome.scores is not None:
            by_place = dict(zip(order, outcome.scores, strict=True))
            rounds.append(tuple(by_place[place] for place in range(len(order))))
    return PanelAnswer(tuple(outcomes), tuple(rounds), tuple(map(tuple, orders)))
