"""Verdicts on edits: each judge judges an edit of a sentence once, in however many outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grammeter.campaign.marking import edits_of
from grammeter.campaign.models import Assignment, Judgment
from grammeter.campaign.services import pages
from grammeter.core import Edit

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
        page = pages.page(assignment)
        for text, words in zip(page.outputs, judgment.verdicts, strict=True):
            for edit, word in zip(edits_of(page.source, text), words, strict=False):
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
