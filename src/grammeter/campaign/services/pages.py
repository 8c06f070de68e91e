"""Contents of an item's page: texts in the judge's own order, no systems' names, no models."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Literal

from grammeter.campaign.choices import Kind
from grammeter.campaign.models import Assignment, ItemOutput, Judgment
from grammeter.campaign.services.answers import is_asked_again
from grammeter.campaign.tasks import JOBS
from grammeter.core import Edit

Part = Literal["same", "insert", "delete", "replace"]
Settled = dict[Edit, tuple[int, str]]  # edit -> the first assignment with it, the verdict
Verdicts = Sequence[str | None]  # on the edits of one output


@dataclass(frozen=True, slots=True)
class TextPiece:
    """Some words of a sentence in the source and in the correction; ``number`` of a change or 0."""

    kind: Part
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


@lru_cache(maxsize=20_000)
def edits_of(source: str, output: str) -> tuple[Edit, ...]:
    """Return the edits, adjacent ones as one; always the same, as verdicts refer to places."""
    old, new = source.split(), output.split()
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    changes = [block[1:] for block in blocks if block[0] != "equal"]
    return tuple(Edit(start, end, " ".join(new[a:b])) for start, end, a, b in changes)


def pieces(source: str, edits: Sequence[Edit]) -> list[TextPiece]:
    """Split a source at its edits, which must not overlap, in their order."""
    words = source.split()
    parts: list[TextPiece] = []
    done = 0
    for number, edit in enumerate(edits, start=1):
        parts += [*_same(words[done : edit.start]), _changed(words, edit, number)]
        done = edit.end
    return parts + _same(words[done:])


def in_context(words: Sequence[str], edit: Edit) -> list[TextPiece]:
    """Return an edit with the word before and the word after it."""
    before, after = words[max(0, edit.start - 1) : edit.start], words[edit.end : edit.end + 1]
    return [*_same(before), _changed(words, edit, 0), *_same(after)]


def _changed(words: Sequence[str], edit: Edit, number: int) -> TextPiece:
    old = " ".join(words[edit.start : edit.end])
    kind: Part = "insert" if not old else "replace" if edit.correction else "delete"
    return TextPiece(kind, old, edit.correction, number)


def _same(words: Sequence[str]) -> list[TextPiece]:
    text = " ".join(words)
    return [TextPiece("same", text, text)] if text else []


def outputs(assignment: Assignment) -> tuple[str, ...]:
    """Return the distinct corrections in the order shown, as in the answer."""
    places = ItemOutput.objects.filter(item=assignment.item).order_by()
    texts: dict[int, str] = dict(places.values_list("place", "output__text"))
    return tuple(texts[place] for place in assignment.shown_order)


def edits_shown(assignment: Assignment) -> list[tuple[Edit, ...]]:
    """Return the edits of each output in the order shown; none unless they get verdicts."""
    if not JOBS[assignment.item.task].marked:
        return [()] * len(assignment.shown_order)
    return [edits_of(assignment.item.sentence.text, text) for text in outputs(assignment)]


def feedback(judgment: Judgment) -> Feedback | None:
    """Return the feedback on a judgment; ``None`` for most items."""
    item, again = judgment.assignment.item, is_asked_again(judgment)
    if judgment.correct is None or not (again or item.kind == Kind.TUTORIAL):
        return None  # also for drafts
    ranks = tuple(item.expected[place] for place in judgment.assignment.shown_order)
    return Feedback(judgment.correct, item.explanation, ranks, again)


def settled(judge: int, sentence: int) -> Settled:
    """Return verdicts on edits, by the first assignment with each; repeats do not count."""
    verdicts: Settled = {}
    first = Assignment.objects.filter(judge=judge, item__sentence=sentence, turn=0)
    rows = first.exclude(answered=None).select_related("item__sentence")
    for assignment in rows.order_by("answered", "pk"):
        complete = Judgment.objects.filter(assignment=assignment, complete=True)
        judgment = complete.order_by("-version").first()
        if judgment is None or judgment.skipped or judgment.verdicts is None:
            continue
        source = assignment.item.sentence.text
        for text, words in zip(outputs(assignment), judgment.verdicts, strict=True):
            for edit, word in zip(edits_of(source, text), words, strict=False):
                if word is not None:
                    verdicts.setdefault(edit, (assignment.pk, word))
    return verdicts


def given_elsewhere(
    assignment: Assignment, known: Mapping[tuple[int, int], Settled] | None = None
) -> dict[Edit, str]:
    """Return the judge's verdicts on edits of the same sentence in earlier items.

    ``known``: all results of :func:`settled` that have several items.
    """
    if assignment.turn:
        return {}
    place = assignment.judge_id, assignment.item.sentence_id
    verdicts = settled(*place) if known is None else known.get(place, {})
    return {edit: word for edit, (number, word) in verdicts.items() if number != assignment.pk}


def shared(
    assignment: Assignment, edits: Sequence[Sequence[Edit]], verdicts: Sequence[Verdicts]
) -> list[list[str | None]]:
    """Copy each verdict to all outputs, in the order shown, with the same edit."""
    known: dict[Edit, str | None] = {**given_elsewhere(assignment)}
    for output, words in zip(edits, verdicts, strict=True):
        for edit, word in zip(output, words, strict=True):
            known[edit] = known.get(edit) or word
    return [[known[edit] for edit in output] for output in edits]
