"""Judges' answers: every version is stored once; what pages show of an item and its answers.

Texts come in the judge's own order, without systems' names; edits are cut by words, without models.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any, Literal, cast

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from grammeter.campaign.models import Assignment, ItemOutput, Judge, Judgment, compared
from grammeter.campaign.tasks import JOBS, LONGEST_TEXT, Kind, Parts, Scene, State
from grammeter.core import DataError, Edit

LONGEST_SECONDS = 10**7
SEEN_EVERY = timedelta(minutes=1)  # between updates of `Judge.seen`: a write less for most answers
TRIES = 3  # most attempts at a tutorial or loud attention item
_KEY = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
Settled = dict[Edit, tuple[int, str]]  # edit -> the first assignment with it, the verdict


@dataclass(frozen=True, slots=True)
class TextPiece:
    """Some words of a sentence in the source and in the correction; ``number`` of a change or 0."""

    kind: Literal["same", "insert", "delete", "replace"]
    old: str
    new: str
    number: int = 0


@dataclass(frozen=True, slots=True)
class Feedback:
    """Feedback on a check: right ``ranks`` as shown; ``again``: the judge must try again."""

    right: bool
    explanation: str
    ranks: tuple[int, ...]
    again: bool


# --- storing -------------------------------------------------------------------------------
def save(
    judge: Judge, assignment: Assignment,
    *, key: str, ranks: Sequence[int | None] = (),
    verdicts: Sequence[Sequence[str | None]] | None = None,
    answer: Sequence[Mapping[str, Any]] | None = None, skipped: bool = False, reason: str = "",
    comment: str = "", active_seconds: float | None = None, wall_seconds: float | None = None,
    complete: bool = True,
) -> Judgment:  # fmt: skip
    """Store an answer; it is on disk when this returns.

    ``key``: 1 to 64 letters, digits, ``_`` and ``-``, chosen by the page for each submission; of
    several with one key, the first is stored and returned. ``ranks``: of each output in the order
    shown, from 1 (best) to the number of outputs, ``None`` where missing. ``verdicts`` (tasks
    ``edits``, ``marks``): for each output in the order shown, one word for each of its edits.
    ``answer``: for each output its scores by criterion, ``None`` for "cannot say" (``rating``,
    ``direct``), or its ``text`` and whether that is meant to be ``empty`` (``post-edit``).
    ``reason``: why it is skipped. Not ``complete``: a draft, which does not count.

    Raises ``PermissionDenied`` if the judge is blocked, or was never shown the item; ``DataError``
    if the answer is impossible, or the campaign is closed.
    """
    item, passed = assignment.item, skipped and complete
    none: Parts = {"ranks": [], "answer": None} if passed else {}  # of an item that is skipped
    parts: Parts = {"ranks": ranks, "verdicts": verdicts, "answer": answer} | none
    scene = Scene([0] * len(assignment.shown_order), item.campaign.criteria_of(item.task))
    checked: Parts = {"ranks": []}
    checked |= JOBS[item.task].checked(parts, scene, complete and not skipped) | none
    for seconds in (active_seconds, wall_seconds):
        if seconds is not None and not 0 <= seconds <= LONGEST_SECONDS:  # NaN, too
            raise DataError(f"a time of {seconds} seconds", fix="Load the page again.")
    if not _KEY.match(key):
        raise DataError("an answer without a proper key", fix="Load the page again.")
    if passed and not reason.strip():
        raise DataError("skipped without a reason", fix="Say why you pass on this item.")
    if max(len(reason), len(comment)) > LONGEST_TEXT:
        raise DataError("a long reason or comment", fix=f"Write {LONGEST_TEXT} letters at most.")
    judgment = Judgment(
        **{"assignment": assignment, "key": key, "skipped": skipped, "complete": complete},
        **checked,
        reason=reason.replace("\0", "") if skipped or not complete else "",
        comment=comment.replace("\0", ""),  # PostgreSQL cannot hold it
        **{"active_seconds": active_seconds, "wall_seconds": wall_seconds},
    )
    if complete and item.expected is not None:
        wanted = [item.expected[place] for place in assignment.shown_order]
        judgment.correct = JOBS[item.task].is_right(checked, wanted)
    # checks come first: other requests wait during the transaction
    with transaction.atomic():
        return _stored(judge, judgment)


def history(judge: Judge) -> QuerySet[Assignment]:
    """Return the judge's assignments so far, in order."""
    shown = compared(Assignment.objects.filter(judge=judge)).exclude(state=State.PLANNED)
    return shown.select_related("item__sentence").order_by("position")


def assignment_of(judge: Judge, number: int) -> Assignment:
    """Return an assignment; raise ``PermissionDenied`` unless this judge has seen it."""
    rows = Assignment.objects.select_related("item__sentence").filter(pk=number, judge=judge)
    if (assignment := rows.order_by().first()) is None or assignment.state == State.PLANNED:
        raise PermissionDenied("this is not an item of yours")
    assignment.judge, assignment.item.campaign = judge, judge.campaign  # saves queries
    return assignment


def latest(assignment: Assignment) -> Judgment | None:
    """Return the newest version, draft or not."""
    return Judgment.objects.filter(assignment=assignment).order_by("-version").first()


def is_asked_again(judgment: Judgment) -> bool:
    """Whether the judge must try again after a wrong answer."""
    assignment = judgment.assignment
    if not (assignment.item.loud and judgment.correct is False) or judgment.skipped:
        return False
    tries = Judgment.objects.filter(assignment=assignment, complete=True).count()
    return assignment.answered is None and tries < TRIES


def feedback(judgment: Judgment) -> Feedback | None:
    """Return the feedback on a judgment; ``None`` for most items."""
    item, again = judgment.assignment.item, is_asked_again(judgment)
    if judgment.correct is None or not (again or item.kind == Kind.TUTORIAL):
        return None  # also for drafts
    ranks = tuple(item.expected[place] for place in judgment.assignment.shown_order)
    return Feedback(judgment.correct, item.explanation, ranks, again)


def _stored(judge: Judge, judgment: Judgment) -> Judgment:
    """Store a version, unless its key exists; call it in a transaction."""
    assignment = judgment.assignment
    closed = _look_again(judge, assignment)
    versions = Judgment.objects.filter(assignment=assignment).order_by()
    numbers = dict(versions.values_list("key", "version"))
    if judgment.key in numbers:
        known = versions.get(key=judgment.key)
        known.assignment = assignment
        return known
    if closed:
        raise DataError("this campaign is closed", fix="Ask who invited you.")
    judgment.version = max(numbers.values(), default=0) + 1
    judgment.save(force_insert=True)
    if judgment.complete:
        _close(assignment, judgment)
    now = timezone.now()
    if judge.seen is None or abs(now - judge.seen) > SEEN_EVERY:
        Judge.objects.filter(pk=judge.pk).update(seen=now)
        judge.seen = now
    return judgment


def _look_again(judge: Judge, assignment: Assignment) -> bool:
    """Lock and refresh an assignment; return whether the campaign is closed."""
    rows = Assignment.objects.select_for_update(of=("self",)).filter(pk=assignment.pk, judge=judge)
    changing = ("state", "correct", "answered", "judge__blocked", "judge__campaign__closed")
    rows = rows.select_related("judge__campaign").only(*changing)
    if (now := next(iter(rows.order_by()), None)) is None or now.state == State.PLANNED:
        raise PermissionDenied("this is not an item of yours")
    if now.judge.blocked:
        raise PermissionDenied("you are no longer a judge of this campaign")
    assignment.state, assignment.correct, assignment.answered = now.state, now.correct, now.answered
    return now.judge.campaign.closed


def _close(assignment: Assignment, judgment: Judgment) -> None:
    if assignment.correct is None:
        assignment.correct = judgment.correct
    if not is_asked_again(judgment):
        assignment.state = State.SKIPPED if judgment.skipped else State.DONE
        assignment.answered = assignment.answered or timezone.now()
    assignment.save(update_fields=("correct", "state", "answered"))


# --- texts and edits -----------------------------------------------------------------------
@lru_cache(maxsize=20_000)
def edits_of(source: str, output: str) -> tuple[Edit, ...]:
    """Return the edits, adjacent ones as one; always the same, as verdicts refer to places."""
    old, new = source.split(), output.split()
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    changes = [block[1:] for block in blocks if block[0] != "equal"]
    return tuple(Edit(start, end, " ".join(new[a:b])) for start, end, a, b in changes)


def pieces(
    source: str, edits: Sequence[Edit], first: int = 0, last: int | None = None
) -> list[TextPiece]:
    """Split words ``first`` to ``last`` of a source at its edits, in order without overlaps."""
    words, parts, done = source.split(), list[TextPiece](), first
    for number, edit in enumerate(edits, start=1):
        old, new = " ".join(words[edit.start : edit.end]), edit.correction
        kind = "insert" if not old else "replace" if new else "delete"
        parts += _same(words[done : edit.start]), TextPiece(kind, old, new, number)
        done = edit.end
    return [part for part in (*parts, _same(words[done:last])) if part.old or part.new]


def in_context(source: str, edit: Edit) -> list[TextPiece]:
    """Return an edit with the word before and the word after it."""
    return pieces(source, [edit], max(0, edit.start - 1), edit.end + 1)


def _same(words: Sequence[str]) -> TextPiece:
    text = " ".join(words)
    return TextPiece("same", text, text)


def texts_of(**items: Any) -> dict[int, list[str]]:
    """Return the texts of items by place; ``items`` are filters of rows of ``ItemOutput``."""
    texts = defaultdict[int, list[str]](list)
    places = ItemOutput.objects.filter(**items).order_by("item", "place")
    for item, text in places.values_list("item", "output__text"):
        texts[item].append(text)
    return texts


def outputs(assignment: Assignment) -> tuple[str, ...]:
    """Return the distinct corrections in the order shown, as in the answer."""
    texts, order = texts_of(item=assignment.item)[assignment.item_id], assignment.shown_order
    return tuple(texts[place] for place in cast("list[int]", order))


def edits_shown(assignment: Assignment) -> list[tuple[Edit, ...]]:
    """Return the edits of each output in the order shown; none unless they get verdicts."""
    if not JOBS[assignment.item.task].marked:
        return [()] * len(assignment.shown_order)
    return [edits_of(assignment.item.sentence.text, text) for text in outputs(assignment)]


def settled(judge: int | None = None, **items: Any) -> dict[tuple[int, int], Settled]:
    """Return verdicts on edits by judge and sentence, each with the first assignment that has it.

    ``items`` are filters of :func:`texts_of` and of assignments. Repeats do not count.
    """
    which = {f"assignment__{name}": value for name, value in items.items()}
    which |= {} if judge is None else {"assignment__judge": judge}
    rows = Judgment.objects.filter(complete=True, assignment__turn=0, **which)
    rows = rows.exclude(assignment__answered=None).select_related("assignment__item__sentence")
    rows = rows.order_by("assignment__answered", "assignment_id", "version")
    newest = {judgment.assignment.pk: judgment for judgment in rows}
    counted = [of for of in newest.values() if not of.skipped and of.verdicts is not None]
    texts = texts_of(**items) if counted else {}
    found = defaultdict[tuple[int, int], Settled](dict)
    for judgment in counted:
        assignment, item = judgment.assignment, judgment.assignment.item
        known, order = found[assignment.judge_id, item.sentence_id], assignment.shown_order
        for place, words in zip(cast("list[int]", order), judgment.verdicts, strict=True):
            edits = edits_of(item.sentence.text, texts[item.pk][place])
            for edit, word in zip(edits, words, strict=False):
                if word is not None:
                    known.setdefault(edit, (assignment.pk, word))
    return found


def given_elsewhere(
    assignment: Assignment, known: Mapping[tuple[int, int], Settled] | None = None
) -> dict[Edit, str]:
    """Return the judge's verdicts on edits of the same sentence in earlier items.

    ``known``: what :func:`settled` has of this judge and sentence, among others.
    """
    if assignment.turn:
        return {}
    judge, sentence = assignment.judge_id, assignment.item.sentence_id
    if known is None:
        known = settled(judge, item__sentence=sentence)
    verdicts = known.get((judge, sentence), {})
    return {edit: word for edit, (number, word) in verdicts.items() if number != assignment.pk}


def shared(
    assignment: Assignment, edits: Sequence[Sequence[Edit]],
    verdicts: Sequence[Sequence[str | None]],
) -> list[list[str | None]]:  # fmt: skip
    """Copy each verdict to all outputs, in the order shown, with the same edit."""
    known: dict[Edit, str | None] = {**given_elsewhere(assignment)}
    for output, words in zip(edits, verdicts, strict=True):
        for edit, word in zip(output, words, strict=True):
            known[edit] = known.get(edit) or word
    return [[known[edit] for edit in output] for output in edits]
