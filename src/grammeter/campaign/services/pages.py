"""Contents of an item's page: texts in the judge's own order, without names of systems."""

from __future__ import annotations

from dataclasses import dataclass

from grammeter.campaign.models import Assignment, ItemOutput, Judgment, Kind
from grammeter.campaign.services.answers import is_asked_again


@dataclass(frozen=True, slots=True)
class ItemPage:
    """The page of an item.

    Attributes
    ----------
    assignment
        Number of the assignment.
    outputs
        The distinct corrections in the order shown, as in the answer.
    tutorial
        Whether there is feedback. Attention items look like normal ones.
    """

    assignment: int
    before: str
    source: str
    after: str
    outputs: tuple[str, ...]
    tutorial: bool


@dataclass(frozen=True, slots=True)
class Feedback:
    """Feedback on a tutorial item, or on a wrong answer to a loud attention item.

    Attributes
    ----------
    right
        Whether the answer agrees with the expected ranks.
    ranks
        The right ranks in the order shown; equal ones may be ranked in any way.
    again
        Whether the judge must try again.
    """

    right: bool
    explanation: str
    ranks: tuple[int, ...]
    again: bool


def page(assignment: Assignment) -> ItemPage:
    """Return the page of an assignment."""
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
    """Return the feedback on a judgment; ``None`` for most items."""
    item = judgment.assignment.item
    if judgment.correct is None or not judgment.complete:
        return None
    again = is_asked_again(judgment)
    if item.kind != Kind.TUTORIAL and not again:
        return None
    ranks = tuple(item.expected[place] for place in judgment.assignment.shown_order)
    return Feedback(judgment.correct, item.explanation, ranks, again)
