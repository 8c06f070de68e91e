"""An item's page: what it shows, and the form that it sends."""

import math
import re
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from string import ascii_uppercase
from typing import Any

from django.core import signing
from django.urls import reverse

from grammeter.campaign.choices import Kind, State, Strategy
from grammeter.campaign.models import Assignment, Judgment, compared
from grammeter.campaign.services import answers, pages
from grammeter.campaign.services.pages import edits_of
from grammeter.core import DataError, Edit

REASONS = (
    "The sentence makes no sense to me",
    "The context is needed, and it is not enough",
    "The content is offensive or private",
    "Something on this page is broken",
    "Another reason, see my comment",
)
EMPTY = "[EMPTY]"  # shown instead of an empty output
_CLOSED = (State.DONE, State.SKIPPED)
_SALT = "grammeter.campaign.served"
_LONGEST = 30 * 24 * 3600  # longest time in seconds between serving a page and its answer


def shown(
    assignment: Assignment, *, sent: Mapping[str, Any] | None = None, faults: Sequence[str] = ()
) -> dict[str, object]:
    """Return the template's variables; ``sent`` is a refused answer, ``faults`` say why."""
    item, outputs = assignment.item, pages.outputs(assignment)
    sentence, edits = item.sentence, pages.edits_shown(assignment)
    before = pages.given_elsewhere(assignment) if any(edits) else {}
    marked = list(zip(outputs, edits, strict=True))
    last = answers.latest(assignment)
    answer = Judgment(**sent) if sent else last or Judgment()
    feedback = None
    if last is not None:
        last.assignment = assignment  # saves a query
        feedback = pages.feedback(last)
    right = enumerate(feedback.ranks if feedback else ())
    done, total, back = _way(assignment)
    return {
        "id": assignment.pk,
        "title": f"Item {done + 1}" if assignment.state == State.OPEN else "An earlier item",
        "kind": item.kind if item.kind == Kind.TUTORIAL else "",  # attention items look normal
        **{"done": done, "total": total, "back": back, "faults": faults, "feedback": feedback},
        **{"before": sentence.before, "source": sentence.text or EMPTY, "after": sentence.after},
        "cards": [*cards(sentence.text, marked, answer, before, judged=bool(sent))],
        "scale": range(1, len(outputs) + 1),
        **{"reasons": REASONS, "reason": answer.reason, "comment": answer.comment},
        "comment_limit": answers.LONGEST_TEXT,
        "active": f"{answer.active_seconds or 0.0:.2f}",
        "wall": f"{answer.wall_seconds or 0.0:.2f}",
        **{"idle": item.campaign.idle_seconds, "key": secrets.token_hex(16)},
        "served": served_now(),
        "skip_open": bool(sent and sent["skipped"]),
        "was_complete": assignment.state in _CLOSED,
        "skipped": assignment.state == State.SKIPPED,
        "changed": last is not None and not last.complete,
        "right": " · ".join(f"{letter(place)}: {rank}" for place, rank in right),
    }


def cards(
    source: str,
    outputs: Sequence[tuple[str, Sequence[Edit]]],
    answer: Judgment,
    before: Mapping[Edit, str],
    *,
    judged: bool,
) -> Iterator[dict[str, object]]:
    """Yield each output with its edits and verdicts; missing parts are marked if ``judged``."""
    letters: dict[Edit, str] = {}
    ranks, verdicts = _padded(answer.ranks, len(outputs)), _padded(answer.verdicts, len(outputs))
    for place, (text, changes) in enumerate(outputs):
        words = _padded(verdicts[place], len(changes))
        words = [before.get(edit) or word for edit, word in zip(changes, words, strict=True)]
        marked: list[dict[str, object]] = [
            {
                "place": at,
                "number": at + 1,
                "pieces": pages.in_context(source.split(), edit),
                "verdict": word and word == "valid",
                "asked": not (edit in before or edit in letters),
                "letter": "" if edit in before else letters.get(edit, ""),
            }
            for at, (edit, word) in enumerate(zip(changes, words, strict=True))
        ]
        letters |= {edit: letters.get(edit, letter(place)) for edit in changes}
        lacks = any(edit["asked"] and edit["verdict"] is None for edit in marked)
        drawn = pages.pieces(source, edits_of(source, text))
        yield {
            "place": place,
            "letter": letter(place),
            "text": text or EMPTY,
            "pieces": drawn,
            "edits": marked,  # numbered, because each of them is judged
            "rank": ranks[place],
            "fault": judged and (lacks or ranks[place] is None),
            "unchanged": all(piece.kind == "same" for piece in drawn),
        }


def _padded(values: Sequence[Any] | None, size: int) -> list[Any]:
    """Return the parts of an answer so far, ``None`` where missing."""
    return [*(values or ()), *[None] * size][:size]


def letter(place: int) -> str:
    """Return the letter of a correction: A for the first one shown."""
    turn, at = divmod(place, len(ascii_uppercase))
    return ascii_uppercase[at] * (turn + 1)


def _way(assignment: Assignment) -> tuple[int, int | None, str]:
    """Return the judge's numbers of answered items and of all items, and the address to go back."""
    shown = Assignment.objects.filter(judge=assignment.judge_id)
    rows = list(compared(shown).order_by("position").values_list("pk", "position", "state"))
    earlier = [row for row in rows if row[1] < assignment.position]
    before = [number for number, _, state in earlier if state != State.PLANNED]
    done = sum(state in _CLOSED for _, _, state in rows)
    back = reverse("item", args=(before[-1],)) if before else ""
    campaign, longest = assignment.item.campaign, assignment.item.campaign.longest_list
    if campaign.strategy == Strategy.PLANNED or longest is None:
        return done, len(rows) if campaign.strategy == Strategy.PLANNED else None, back
    beside = campaign.items.exclude(kind=Kind.NORMAL).count()
    return done, max(len(rows), longest + beside), back  # must not grow with an attention item


def served_now() -> str:
    """Return the signed time of serving: the clock of pages without script."""
    return signing.dumps(round(time.time(), 2), salt=_SALT)


def read_answer(sent: Mapping[str, Any], edits: Sequence[int]) -> dict[str, Any]:
    """Read a form as arguments of :func:`answers.save`; ``edits``: the number in each output."""
    action = sent.get("action") or "submit"
    if action not in ("draft", "submit", "skip"):
        raise DataError("an answer that asks for something unknown", fix="Load the page again.")
    active, wall = _seconds(sent.get("active", "")), _wall(sent)
    return {
        "key": sent.get("key", ""),
        "ranks": [_rank(sent.get(f"rank-{place}", "")) for place in range(len(edits))],
        "verdicts": [
            [_word(sent.get(f"edit-{place}-{edit}", "")) for edit in range(count)]
            for place, count in enumerate(edits)
        ],
        "skipped": action == "skip",
        "reason": sent.get("reason", ""),
        "comment": sent.get("comment", ""),
        "active_seconds": min(active, wall) if active is not None and wall is not None else active,
        "wall_seconds": wall,
        "complete": action != "draft",
    }


def _rank(text: str) -> int | None:
    if not re.fullmatch("[0-9]{0,4}", text):
        raise DataError("a rank that is no number", fix="Load the page again.")
    return int(text) if text else None


def _word(text: str) -> str | None:
    if text not in ("", "valid", "invalid"):
        raise DataError("a verdict that is unknown", fix="Load the page again.")
    return text or None


def _seconds(text: str) -> float | None:
    if not text:
        return None
    try:
        seconds = float(text[:40])
    except ValueError:
        seconds = math.nan
    if not math.isfinite(seconds) or seconds < 0:
        raise DataError("a time that is no number of seconds", fix="Load the page again.")
    return seconds


def _wall(sent: Mapping[str, Any]) -> float | None:
    if (seconds := _seconds(sent.get("wall", ""))) is not None:
        return seconds
    try:
        served = float(signing.loads(sent.get("served", ""), salt=_SALT))
    except (signing.BadSignature, TypeError, ValueError):
        return None
    wall = time.time() - served
    # outside of these bounds the clock was set meanwhile; the signed time is rounded
    return max(0.0, wall) if -1 <= wall <= _LONGEST else None
