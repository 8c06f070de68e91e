"""What the page of an item shows, put together from what the services let out."""

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
from grammeter.campaign.services import answers, order, pages, verdicts
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
"""Shown in place of an output without any word."""

_CLOSED = (State.DONE, State.SKIPPED)


@dataclass(frozen=True, slots=True)
class MarkedEdit:
    """One change, to be judged."""

    place: int
    number: int
    pieces: tuple[Piece, ...]
    verdict: bool | None
    letter: str = ""
    """The correction above in which the same change is judged."""
    before: bool = False
    """Whether it was judged in an earlier item."""

    @property
    def asked(self) -> bool:
        """Whether it is to be judged here."""
        return not self.letter and not self.before


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
    edits = edits_shown(assignment, page)
    before = verdicts.given_elsewhere(assignment) if any(edits) else {}
    last = answers.latest(assignment)
    given = Given.sent(sent) if sent else Given.kept(last)
    told = _feedback(assignment, last)
    way = _way(assignment)
    return {
        "id": assignment.pk,
        "title": f"Item {way.done + 1}" if assignment.state == State.OPEN else "An earlier item",
        "kind": assignment.item.kind if page.tutorial else "",
        "done": way.done,
        "total": way.total,
        "before": page.before,
        "source": page.source or EMPTY,
        "after": page.after,
        "cards": list(cards(page, edits, given, before, judged=bool(sent))),
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
        "back": way.back,
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
    page: ItemPage,
    edits: Sequence[Sequence[Edit]],
    given: Given,
    before: Mapping[Edit, str],
    *,
    judged: bool,
) -> Iterator[Card]:
    """Draw each output.

    Parameters
    ----------
    before
        Verdicts from earlier items, which are not asked for again.
    judged
        Whether an answer was refused, so that what it lacks is marked.
    """
    letters: dict[Edit, str] = {}
    for place, (text, own) in enumerate(zip(page.outputs, edits, strict=True)):
        rank = given.ranks[place] if place < len(given.ranks) else None
        words = given.verdicts[place] if place < len(given.verdicts) else ()
        marked = tuple(_marked(page.source, own, words, before, letters))
        letters |= {edit: letters.get(edit, letter(place)) for edit in own}
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
    """Draw the edits of an output; ``letters``: the corrections above that have them, too."""
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


@dataclass(frozen=True, slots=True)
class Way:
    """Where an item stands among those of its judge.

    Attributes
    ----------
    done
        How many items the judge has answered.
    total
        How many there will be; ``None`` for a pool without an end.
    back
        The address of the item before; empty for the first one.
    """

    done: int
    total: int | None
    back: str


def _way(assignment: Assignment) -> Way:
    campaign = assignment.item.campaign
    own = order.compared(Assignment.objects.filter(judge=assignment.judge_id)).order_by("position")
    rows = list(own.values_list("pk", "position", "state"))
    before = [
        number
        for number, position, state in rows
        if position < assignment.position and state != State.PLANNED
    ]
    return Way(
        done=sum(state in _CLOSED for _, _, state in rows),
        total=_total(campaign, len(rows)),
        back=reverse("item", args=(before[-1],)) if before else "",
    )


def _total(campaign: Campaign, listed: int) -> int | None:
    """Return how many items a judge will have; a total that grew would tell attention items."""
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
    last.assignment = assignment  # it is at hand, and needs no query
    return pages.feedback(last)


def _drawn(told: Feedback) -> dict[str, str]:
    ranks = " · ".join(f"{letter(place)}: {rank}" for place, rank in enumerate(told.ranks))
    return {
        "tone": "good" if told.right else "bad",
        "head": "Right." if told.right else "Not quite.",
        "expected": f"A right ranking: {ranks}. Equal numbers here may be ranked in any way.",
    }
