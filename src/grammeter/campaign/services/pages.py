"""What of an item may leave the server: texts in the judge's own order, and no system's name."""

from __future__ import annotations

from dataclasses import dataclass

from grammeter.campaign.models import Assignment, ItemOutput, Judgment, Kind
from grammeter.campaign.services.answers import is_asked_again


@dataclass(frozen=True, slots=True)
class ItemPage:
    """What a judge sees.

    Attributes
    ----------
    assignment
        Its number, by which the answer comes back.
    outputs
        The distinct corrections in the order shown; ranks come back in the same order.
    tutorial
        Whether the answer is answered. Attention items look like all others.
    """

    assignment: int
    before: str
    source: str
    after: str
    outputs: tuple[str, ...]
    tutorial: bool


@dataclass(frozen=True, slots=True)
class Feedback:
    """What a tutorial item, or a loud attention item after a wrong answer, answers.

    Attributes
    ----------
    right
        Whether the answer tells apart what must be told apart.
    ranks
        The right ranks in the order shown; those that are equal may be ranked in any way.
    again
        Whether the item is asked again.
    """

    right: bool
    explanation: str
    ranks: tuple[int, ...]
    again: bool


def page(assignment: Assignment) -> ItemPage:
    """Return what the judge of an assignment sees."""
    item = assignment.item
    places = ItemOutput.objects.filter(item=item).order_by()
    texts: dict[int, str] = dict(places.values_list("place", "output__text"))
    return ItemPage(
        assignment=assignment.pk,
        before=item.sentence.before,
        source=item.sentence.text,
        after=item.sentence.after,
        outputs=tuple(texts[place] for place in assignment.shown_order),
        tutorial=item.kind == Kind.TUTORIAL,
    )


def feedback(judgment: Judgment) -> Feedback | None:
    """Return what to answer a judgment; ``None`` for nothing, as most items do."""
    item = judgment.assignment.item
    if judgment.correct is None or not judgment.complete:
        return None
    again = is_asked_again(judgment)
    if item.kind != Kind.TUTORIAL and not again:
        return None
    ranks = tuple(item.expected[place] for place in judgment.assignment.shown_order)
    return Feedback(judgment.correct, item.explanation, ranks, again)
