"""What the page of an item shows, put together from what the services let out."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from string import ascii_uppercase

from django.db.models import Count, Q, QuerySet
from django.urls import reverse

from grammeter.campaign.marking import Piece, edits_of, in_context, pieces
from grammeter.campaign.models import Assignment, Judgment, State, Strategy, Task
from grammeter.campaign.services import answers, pages
from grammeter.campaign.services.pages import Feedback, ItemPage
from grammeter.campaign.views.answer_form import Answer, served_now
from grammeter.core.edit import Edit

REASONS = (
    "The sentence makes no sense to me",
    "The context is needed, and it is not enough",
    "The content is offensive or private",
    "Something on this page is broken",
    "Another reason, see my comment",
)
EMPTY = "[EMPTY]"
"""Shown in place of an output without any word."""

_CLOSED = (State.DONE, State.SKIPPED)


@dataclass(frozen=True, slots=True)
class MarkedEdit:
    """One change, to be judged."""

    place: int
    number: int
    text: str
    pieces: tuple[Piece, ...]
    verdict: bool | None


@dataclass(frozen=True, slots=True)
class Card:
    """One output, and what the judge said of it so far."""

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
        """Whether changes bear numbers, because each of them is judged."""
        return bool(self.edits)


@dataclass(frozen=True, slots=True)
class Given:
    """What the judge said so far: kept by the server, or just sent and refused."""

    ranks: Sequence[int | None] = ()
    verdicts: Sequence[Sequence[str | None]] = ()
    reason: str = ""
    comment: str = ""
    active: float = 0.0
    wall: float = 0.0

    @classmethod
    def kept(cls, judgment: Judgment | None) -> Given:
        """Return what the newest version says."""
        if judgment is None:
            return cls()
        seconds = judgment.active_seconds or 0.0, judgment.wall_seconds or 0.0
        words = judgment.reason, judgment.comment
        return cls(judgment.ranks, judgment.verdicts or (), *words, *seconds)

    @classmethod
    def sent(cls, answer: Answer) -> Given:
        """Return what an answer says."""
        words = answer.reason, answer.comment
        return cls(answer.ranks, answer.verdicts, *words, answer.active or 0.0, answer.wall or 0.0)


def edits_shown(assignment: Assignment, page: ItemPage) -> list[tuple[Edit, ...]]:
    """Return the edits that the judge is to judge, of each output in the order shown."""
    if assignment.item.campaign.task != Task.EDITS:
        return [()] * len(page.outputs)
    return [edits_of(page.source, text) for text in page.outputs]


def edit_counts(assignment: Assignment) -> list[int]:
    """Return how many edits of each output are to be judged, in the order shown."""
    if assignment.item.campaign.task != Task.EDITS:
        return [0] * len(assignment.shown_order)
    return [len(own) for own in edits_shown(assignment, pages.page(assignment))]


def shown(
    assignment: Assignment, *, sent: Answer | None = None, faults: Sequence[str] = ()
) -> dict[str, object]:
    """Return all that the template draws.

    Parameters
    ----------
    sent
        An answer that was refused: what it says is shown again.
    faults
        Why it was.
    """
    page = pages.page(assignment)
    last = answers.latest(assignment)
    given = Given.sent(sent) if sent else Given.kept(last)
    told = _feedback(assignment, last)
    done, total = progress(assignment)
    return {
        "id": assignment.pk,
        "title": f"Item {done + 1}" if assignment.state == State.OPEN else "An earlier item",
        "kind": assignment.item.kind if page.tutorial else "",
        "done": done,
        "total": total,
        "before": page.before,
        "source": page.source or EMPTY,
        "after": page.after,
        "cards": list(cards(page, edits_shown(assignment, page), given, judged=bool(sent))),
        "scale": range(1, len(page.outputs) + 1),
        "reasons": REASONS,
        "reason": given.reason,
        "comment": given.comment,
        "comment_limit": answers.LONGEST_TEXT,
        "active": f"{given.active:.2f}",
        "wall": f"{given.wall:.2f}",
        "idle": assignment.item.campaign.idle_seconds,
        "key": secrets.token_hex(16),
        "served": served_now(),
        "back": _back(assignment),
        "faults": faults,
        "skip_open": bool(sent and sent.action == "skip"),
        "was_complete": assignment.state in _CLOSED,
        "skipped": assignment.state == State.SKIPPED,
        "changed": last is not None and not last.complete,
        "again": told is not None and told.again,
        "feedback": _drawn(told) if told and not told.again else None,
        "explanation": told.explanation if told else "",
    }


def cards(
    page: ItemPage, edits: Sequence[Sequence[Edit]], given: Given, *, judged: bool
) -> Iterator[Card]:
    """Draw each output; ``judged``: an answer was refused, so that what it lacks is marked."""
    words = page.source.split()
    for place, (text, own) in enumerate(zip(page.outputs, edits, strict=True)):
        rank = given.ranks[place] if place < len(given.ranks) else None
        verdicts = given.verdicts[place] if place < len(given.verdicts) else ()
        marked = tuple(
            MarkedEdit(
                at, at + 1, _named(edit), tuple(in_context(words, edit)), _verdict(verdicts, at)
            )
            for at, edit in enumerate(own)
        )
        lacks = rank is None or any(edit.verdict is None for edit in marked)
        drawn = tuple(pieces(page.source, edits_of(page.source, text)))
        yield Card(place, letter(place), text or EMPTY, drawn, marked, rank, judged and lacks)


def letter(place: int) -> str:
    """Return the letter of a correction: A for the first one shown."""
    turn, at = divmod(place, len(ascii_uppercase))
    return ascii_uppercase[at] * (turn + 1)


def progress(assignment: Assignment) -> tuple[int, int]:
    """Return how many items the judge has answered, and how many there will be as far as known."""
    campaign = assignment.item.campaign
    rows = _seen_by_people(Assignment.objects.filter(judge=assignment.judge_id))
    states = rows.values_list("state", "item__kind")
    done = sum(state in _CLOSED for state, _ in states)
    if campaign.strategy == Strategy.PLANNED or campaign.per_judge is None:
        return done, len(states)
    beside = sum(kind != "normal" for _, kind in states)
    return done, max(len(states), campaign.per_judge + beside)


def _seen_by_people(rows: QuerySet[Assignment]) -> QuerySet[Assignment]:
    """Leave out items with one output, which answer themselves."""
    return rows.annotate(outputs=Count("item__places")).filter(outputs__gt=1)


def _back(assignment: Assignment) -> str:
    rows = Assignment.objects.filter(
        ~Q(state=State.PLANNED), judge=assignment.judge_id, position__lt=assignment.position
    )
    found = _seen_by_people(rows).order_by("-position").first()
    return reverse("item", args=(found.pk,)) if found else ""


def _named(edit: Edit) -> str:
    return f"{edit.start} {edit.end} {edit.correction}"


def _verdict(verdicts: Sequence[str | None], at: int) -> bool | None:
    word = verdicts[at] if at < len(verdicts) else None
    return None if word is None else word == "valid"


def _feedback(assignment: Assignment, last: Judgment | None) -> Feedback | None:
    if last is None:
        return None
    last.assignment = assignment  # it is at hand, and needs no query
    return pages.feedback(last)


def _drawn(told: Feedback) -> dict[str, str]:
    ranks = " · ".join(f"{letter(place)}: {rank}" for place, rank in enumerate(told.ranks))
    return {
        "tone": "good" if told.right else "bad",
        "head": "Right." if told.right else "Not quite.",
        "expected": f"A right ranking: {ranks}. Equal numbers here may be ranked in any way.",
    }
