"""Outputs of a sentence -> scores, for any number of outputs, equal ones included."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grammeter.llm.calls import Estimate, Outcome, Reply
from grammeter.llm.grouping import draw_sets
from grammeter.llm.panel import Panel, PanelAnswer
from grammeter.llm.protocol import MOST, Question

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

    verdicts: tuple[PanelAnswer, ...]  # several if there are more than five distinct outputs
    shown: tuple[tuple[int, ...], ...]  # by verdict, the distinct outputs that it compares
    places: tuple[int, ...]  # by output, its place among the distinct ones

    @property
    def outcomes(self) -> list[Outcome]:
        """The outcomes of all calls."""
        return [outcome for verdict in self.verdicts for outcome in verdict.outcomes]

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
        for verdict, places in zip(self.verdicts, self.shown, strict=True):
            if verdict.scores is None:
                return None
            for place, score in zip(places, verdict.scores, strict=True):
                by_place.setdefault(place, []).append(score)
        return tuple(sum(by_place[place]) / len(by_place[place]) for place in self.places)

    @property
    def replies(self) -> list[tuple[list[int], Reply]]:
        """All replies, each with the places of the outputs in the order shown, from 0."""
        first = {place: output for output, place in reversed(list(enumerate(self.places)))}
        return [
            ([first[places[target]] for target in order], reply)
            for verdict, places in zip(self.verdicts, self.shown, strict=True)
            for outcome, order in zip(verdict.outcomes, verdict.orders, strict=True)
            for reply in outcome.replies
        ]

    @property
    def reason(self) -> str:
        """Why there are no scores."""
        lacking = [verdict.reason for verdict in self.verdicts if verdict.scores is None]
        return "; ".join(dict.fromkeys(lacking))


def ask(panel: Panel, groups: Sequence[Group]) -> list[Opinion]:
    """Ask for scores, at most five outputs at a time; see :meth:`Panel.ask` for the errors.

    A group of equal outputs needs no question; one with more than five distinct ones is shown
    in sets, drawn by the panel's seed.
    """
    plans = [_Plan.of(group, panel.seed) for group in groups]
    verdicts = iter(panel.ask([question for plan in plans for question in plan.questions]))
    return [
        Opinion(tuple(next(verdicts) for _ in plan.questions), plan.shown, plan.places)
        for plan in plans
    ]


def estimate(panel: Panel, groups: Sequence[Group]) -> Estimate:
    """Estimate the cost of :func:`ask`; nothing is sent."""
    plans = [_Plan.of(group, panel.seed) for group in groups]
    return panel.estimate([question for plan in plans for question in plan.questions])


@dataclass(frozen=True, slots=True)
class _Plan:
    """The questions about a group, with ``shown`` and ``places`` of its opinion."""

    questions: tuple[Question, ...]
    shown: tuple[tuple[int, ...], ...]
    places: tuple[int, ...]

    @classmethod
    def of(cls, group: Group, seed: int) -> _Plan:
        place = {text: number for number, text in enumerate(dict.fromkeys(group.outputs))}
        sets = [list(place)] if place else []
        if len(place) > MOST:
            sets = draw_sets(group.context[1], list(place), times=1, seed=seed)
        return cls(
            tuple(Question(*group.context, tuple(shown)) for shown in sets),
            tuple(tuple(place[text] for text in shown) for shown in sets),
            tuple(place[text] for text in group.outputs),
        )
