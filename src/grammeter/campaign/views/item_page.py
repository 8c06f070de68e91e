"""An item's page: what it shows, and the form that it sends."""

import math
import secrets
from collections.abc import Iterator, Mapping, Sequence
from string import ascii_uppercase
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext, gettext_noop

from grammeter.campaign.models import Assignment, Item, Judgment, compared
from grammeter.campaign.services import answers
from grammeter.campaign.tasks import (
    CANNOT_SAY,
    ENDS,
    JOBS,
    LONGEST_TEXT,
    Kind,
    Scene,
    State,
    Strategy,
    Task,
)
from grammeter.core import DataError, Edit

REASONS = (
    gettext_noop("The sentence makes no sense to me"),
    gettext_noop("The context is needed, and it is not enough"),
    gettext_noop("The content is offensive or private"),
    gettext_noop("Something on this page is broken"),
    gettext_noop("Another reason, see my comment"),
)
EMPTY = "[EMPTY]"  # shown instead of an empty output
_CLOSED = (State.DONE, State.SKIPPED)


def shown(
    assignment: Assignment, *, sent: Mapping[str, Any] | None = None, faults: Sequence[str] = ()
) -> dict[str, object]:
    """Return the template's variables; ``sent`` is a refused answer, ``faults`` say why."""
    item, outputs = assignment.item, answers.outputs(assignment)
    job, edits = JOBS[item.task], answers.edits_shown(assignment)
    before = answers.given_elsewhere(assignment) if any(edits) else {}
    last, feedback = answers.latest(assignment), None
    answer = Judgment(**sent) if sent else last or Judgment()
    ranks: Sequence[int | None] = answer.ranks or ()
    if last is not None:
        last.assignment = assignment  # saves a query
        feedback = answers.feedback(last)
    right = enumerate(feedback.ranks if feedback else ())
    done, total, back = _way(assignment)
    marked = list(zip(outputs, edits, strict=True))
    return {
        **{"assignment": assignment, "item": item, "answer": answer, "job": job},
        "title": gettext("Item {number}").format(number=done + 1)
        if assignment.state == State.OPEN
        else gettext("An earlier item"),
        "kind": item.kind if item.kind == Kind.TUTORIAL else "",  # attention items look normal
        **{"done": done, "total": total, "back": back, "faults": faults, "feedback": feedback},
        **{"source": item.sentence.text or EMPTY, "cannot_say": CANNOT_SAY},
        "cards": [*_cards(item, marked, answer, before, judged=bool(sent))],
        "form": job.form and f"campaign/judge/ask_{job.form}.html",
        "scale": range(1, len(outputs) + 1),
        "ends": [
            (name, ranks.index(rank) + 1 if rank in ranks else 0) for name, rank in ENDS.items()
        ],
        **{"reasons": REASONS, "comment_limit": LONGEST_TEXT},
        "key": secrets.token_hex(16),
        "skip_open": bool(sent and sent["skipped"]),
        "was_complete": assignment.state in _CLOSED,
        "changed": last is not None and not last.complete,
        "right": " · ".join(f"{letter(place)}: {rank}" for place, rank in right),
    }


def _cards(
    item: Item, outputs: Sequence[tuple[str, Sequence[Edit]]], answer: Judgment,
    before: Mapping[Edit, str], *, judged: bool,
) -> Iterator[dict[str, object]]:  # fmt: skip
    """Yield each output with its part of the answer; missing parts are marked if ``judged``."""
    source, letters = item.sentence.text, dict[Edit, str]()
    scene = Scene([len(edits) for _, edits in outputs], item.campaign.criteria_of(item.task))
    parts = (answer.ranks, answer.verdicts, answer.answer)
    ranks, verdicts, entries = (_padded(part, scene.size) for part in parts)
    for place, (text, changes) in enumerate(outputs):
        edits = [
            {
                **{"place": at, "number": at + 1, "pieces": answers.in_context(source, edit)},
                "verdict": word and word == "valid",
                "asked": not (edit in before or edit in letters),
                "letter": "" if edit in before else letters.get(edit, ""),
            }
            for at, edit in enumerate(changes)
            for word in [before.get(edit) or _padded(verdicts[place], len(changes))[at]]
        ]
        letters |= {edit: letters.get(edit, letter(place)) for edit in changes}
        drawn = answers.pieces(source, answers.edits_of(source, text))
        entry: dict[str, Any] = entries[place] or {}
        lacks = JOBS[item.task].is_open(entry, scene, ranks[place])
        lacks = lacks or any(edit["asked"] and edit["verdict"] is None for edit in edits)
        yield {
            **{"place": place, "letter": letter(place), "text": text or EMPTY},
            **{"pieces": drawn, "edits": edits},  # numbered, because each of them is judged
            **{"rank": ranks[place], "fault": judged and lacks},
            "unchanged": all(piece.kind == "same" for piece in drawn),
            "scores": [
                (at, criterion, str(entry[criterion.name]) if criterion.name in entry else "")
                for at, criterion in enumerate(scene.criteria)
            ],
            **{"edited": entry.get("text", text), "empty": bool(entry.get("empty"))},
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


def read_answer(sent: Mapping[str, Any], scene: Scene, task: str = Task.EDITS) -> dict[str, Any]:
    """Read a form as arguments of :func:`answers.save`."""
    action = sent.get("action") or "submit"
    if action not in ("draft", "submit", "skip"):
        raise DataError("an answer that asks for something unknown", fix="Load the page again.")
    active, wall = (_seconds(sent.get(name, "")) for name in ("active", "wall"))
    return {
        **JOBS[task].read(sent, scene),
        **{name: sent.get(name, "") for name in ("key", "reason", "comment")},
        "skipped": action == "skip",
        "active_seconds": min(active, wall) if active is not None and wall is not None else active,
        "wall_seconds": wall,
        "complete": action != "draft",
    }


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text[:40] or 0)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise DataError("a time that is no number of seconds", fix="Load the page again.")
    return seconds if text else None
