"""Contents of an item's page: texts in the judge's own order, without names of systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grammeter.campaign.marking import edits_of
from grammeter.campaign.models import Assignment, ItemOutput, Judgment, Kind
from grammeter.campaign.services.answers import is_asked_again
from grammeter.core import Edit


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


Edits = Sequence[Sequence[Edit]]
"""The edits of each output, in the order shown."""


@dataclass(frozen=True, slots=True)
class Settled:
    """A judge's verdict on an edit, and its assignment."""

    assignment: int
    verdict: str


def settled(judge: int, sentence: int) -> dict[Edit, Settled]:
    """Return a judge's verdicts on the edits of a sentence.

    An edit belongs to the first answer with it, and to later versions of that answer. Repeats
    do not count: they measure how far judges agree with themselves.
    """
    verdicts: dict[Edit, Settled] = {}
    first = Assignment.objects.filter(judge=judge, item__sentence=sentence, turn=0)
    rows = first.exclude(answered=None).select_related("item__sentence")
    for assignment in rows.order_by("answered", "pk"):
        latest = Judgment.objects.filter(assignment=assignment, complete=True).order_by("-version")
        judgment = latest.first()
        if judgment is None or judgment.skipped or judgment.verdicts is None:
            continue
        shown = page(assignment)
        for text, words in zip(shown.outputs, judgment.verdicts, strict=True):
            for edit, word in zip(edits_of(shown.source, text), words, strict=False):
                if word is not None:
                    verdicts.setdefault(edit, Settled(assignment.pk, word))
    return verdicts


def given_elsewhere(assignment: Assignment) -> dict[Edit, str]:
    """Return the judge's verdicts on edits of the same sentence in earlier items."""
    if assignment.turn:
        return {}
    known = settled(assignment.judge_id, assignment.item.sentence_id)
    return {edit: one.verdict for edit, one in known.items() if one.assignment != assignment.pk}


def shared(
    assignment: Assignment, edits: Edits, verdicts: Sequence[Sequence[str | None]]
) -> list[list[str | None]]:
    """Copy each verdict to all outputs with the same edit."""
    known: dict[Edit, str | None] = {**given_elsewhere(assignment)}
    for output, words in zip(edits, verdicts, strict=True):
        for edit, word in zip(output, words, strict=True):
            known[edit] = known.get(edit) or word
    return [[known[edit] for edit in output] for output in edits]
