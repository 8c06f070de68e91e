"""The contents of an item's page."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase

from django.urls import reverse

from grammeter.campaign.marking import Piece, edits_of, in_context, pieces
from grammeter.campaign.models import (
    Assignment,
    Campaign,
    Item,
    Judgment,
    Kind,
    State,
    Strategy,
    Task,
)
from grammeter.campaign.services import answers, order, pages
from grammeter.campaign.services.pages import Feedback, ItemPage
from grammeter.campaign.views.answer_form import Answer, served_now
from grammeter.core import Edit

REASONS = (
    "The sentence makes no sense to me",
    "The context is needed, and it is not enough",
    "The content is offensive or private",
    "Something on this page is broken",
    "Another reason, see my comment",
)
EMPTY = "[EMPTY]"
"""Shown instead of an empty output."""

_CLOSED = (State.DONE, State.SKIPPED)


@dataclass(frozen=True, slots=True)
class MarkedEdit:
    """One change, to be judged."""

    place: int
    number: int
    pieces: tuple[Piece, ...]
    verdict: bool | None
    letter: str = ""
    """The correction above with the same change."""
    before: bool = False
    """Whether it was judged in an earlier item."""

    @property
    def asked(self) -> bool:
        """Whether it must be judged here."""
        return not self.letter and not self.before


@dataclass(frozen=True, slots=True)
class Card:
    """One output, with the judge's answer so far."""

    place: int
    letter: str
    text: str
    pieces: tuple[Piece, ...]
    edits: tuple[MarkedEdit, ...]
    rank: int | None
    fault: bool = False

    @property
    def unchanged(self) -> bool:
        """Whether it is the source itself."""
        return all(piece.kind == "same" for piece in self.pieces)

    @property
    def numbered(self) -> bool:
        """Whether changes have numbers, because each of them is judged."""
        return bool(self.edits)


def edits_shown(assignment: Assignment, page: ItemPage) -> list[tuple[Edit, ...]]:
    """Return the edits of each output in the order shown; none unless the task is ``edits``."""
    if assignment.item.campaign.task != Task.EDITS:
        return [()] * len(page.outputs)
    return [edits_of(page.source, text) for text in page.outputs]


def edit_counts(assignment: Assignment) -> list[int]:
    """Return the number of edits to be judged in each output, in the order shown."""
    if assignment.item.campaign.task != Task.EDITS:
        return [0] * len(assignment.shown_order)
    return [len(edits) for edits in edits_shown(assignment, pages.page(assignment))]


def shown(
    assignment: Assignment, *, sent: Answer | None = None, faults: Sequence[str] = ()
) -> dict[str, object]:
    """Return the template's variables; ``sent`` is a refused answer, ``faults`` say why."""
    page = pages.page(assignment)
    edits = edits_shown(assignment, page)
    before = pages.given_elsewhere(assignment) if any(edits) else {}
    last = answers.latest(assignment)
    answer = sent or last or Judgment()
    feedback = _feedback(assignment, last)
    done, total, back = _way(assignment)
    return {
        "id": assignment.pk,
        "title": f"Item {done + 1}" if assignment.state == State.OPEN else "An earlier item",
        "kind": assignment.item.kind if page.tutorial else "",
        "done": done,
        "total": total,
        "before": page.before,
        "source": page.source or EMPTY,
        "after": page.after,
        "cards": list(cards(page, edits, answer, before, judged=bool(sent))),
        "scale": range(1, len(page.outputs) + 1),
        "reasons": REASONS,
        "reason": answer.reason,
        "comment": answer.comment,
        "comment_limit": answers.LONGEST_TEXT,
        "active": f"{answer.active_seconds or 0.0:.2f}",
        "wall": f"{answer.wall_seconds or 0.0:.2f}",
        "idle": assignment.item.campaign.idle_seconds,
        "key": secrets.token_hex(16),
        "served": served_now(),
        "back": back,
        "faults": faults,
        "skip_open": bool(sent and sent.action == "skip"),
        "was_complete": assignment.state in _CLOSED,
        "skipped": assignment.state == State.SKIPPED,
        "changed": last is not None and not last.complete,
        "again": feedback is not None and feedback.again,
        "feedback": _drawn(feedback) if feedback and not feedback.again else None,
        "explanation": feedback.explanation if feedback else "",
    }


def cards(
    page: ItemPage,
    edits: Sequence[Sequence[Edit]],
    answer: Answer | Judgment,
    before: Mapping[Edit, str],
    *,
    judged: bool,
) -> Iterator[Card]:
    """Yield the card of each output.

    Parameters
    ----------
    before
        Verdicts from earlier items.
    judged
        Whether missing answers are marked.
    """
    letters: dict[Edit, str] = {}
    verdicts = answer.verdicts or ()
    for place, (text, changes) in enumerate(zip(page.outputs, edits, strict=True)):
        rank = answer.ranks[place] if place < len(answer.ranks) else None
        words = verdicts[place] if place < len(verdicts) else ()
        marked = tuple(_marked(page.source, changes, words, before, letters))
        letters |= {edit: letters.get(edit, letter(place)) for edit in changes}
        lacks = rank is None or any(edit.verdict is None for edit in marked if edit.asked)
        drawn = tuple(pieces(page.source, edits_of(page.source, text)))
        yield Card(place, letter(place), text or EMPTY, drawn, marked, rank, judged and lacks)


def _marked(
    source: str,
    edits: Sequence[Edit],
    words: Sequence[str | None],
    before: Mapping[Edit, str],
    letters: Mapping[Edit, str],
) -> Iterator[MarkedEdit]:
    """Yield the edits of an output; ``letters``: the corrections above with the same edits."""
    for at, edit in enumerate(edits):
        known = before.get(edit)
        yield MarkedEdit(
            at,
            at + 1,
            tuple(in_context(source.split(), edit)),
            _verdict([known], 0) if known else _verdict(words, at),
            "" if known else letters.get(edit, ""),
            known is not None,
        )


def letter(place: int) -> str:
    """Return the letter of a correction: A for the first one shown."""
    turn, at = divmod(place, len(ascii_uppercase))
    return ascii_uppercase[at] * (turn + 1)


def _way(assignment: Assignment) -> tuple[int, int | None, str]:
    """Return the judge's numbers of answered items and of all items, and the address to go back."""
    shown = Assignment.objects.filter(judge=assignment.judge_id)
    rows = list(order.compared(shown).order_by("position").values_list("pk", "position", "state"))
    before = [
        number
        for number, position, state in rows
        if position < assignment.position and state != State.PLANNED
    ]
    done = sum(state in _CLOSED for _, _, state in rows)
    back = reverse("item", args=(before[-1],)) if before else ""
    return done, _total(assignment.item.campaign, len(rows)), back


def _total(campaign: Campaign, listed: int) -> int | None:
    """Return the judge's number of items; it must not grow when an attention item comes."""
    if campaign.strategy == Strategy.PLANNED:
        return listed
    if campaign.longest_list is None:
        return None
    beside = Item.objects.filter(campaign=campaign).exclude(kind=Kind.NORMAL).count()
    return max(listed, campaign.longest_list + beside)


def _verdict(verdicts: Sequence[str | None], at: int) -> bool | None:
    word = verdicts[at] if at < len(verdicts) else None
    return None if word is None else word == "valid"


def _feedback(assignment: Assignment, last: Judgment | None) -> Feedback | None:
    if last is None:
        return None
    last.assignment = assignment  # saves a query
    return pages.feedback(last)


def _drawn(feedback: Feedback) -> dict[str, str]:
    ranks = " · ".join(f"{letter(place)}: {rank}" for place, rank in enumerate(feedback.ranks))
    return {
        "tone": "good" if feedback.right else "bad",
        "head": "Right." if feedback.right else "Not quite.",
        "expected": f"A right ranking: {ranks}. Equal numbers here may be ranked in any way.",
    }
