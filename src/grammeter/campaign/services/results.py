"""What a campaign comes to: judgments, progress, agreement, ranking."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum

from grammeter.campaign.marking import edits_of
from grammeter.campaign.models import (
    Assignment,
    Campaign,
    Item,
    ItemOutput,
    Judge,
    Judgment,
    Kind,
    State,
    Task,
)
from grammeter.campaign.services import judges, verdicts
from grammeter.core import Edit, Ranked, Ranking
from grammeter.formats import JudgedBlock, JudgmentFile, Judgments
from grammeter.ranking import Agreement, agree, rank


@dataclass(frozen=True, slots=True)
class JudgeProgress:
    """How far one judge is.

    Attributes
    ----------
    judge, joined, finished, blocked
        Who, and where they stand.
    planned
        How many items they have or will have, as far as that is known: those of the list, or
        ``per_judge`` of a pool and their repeats; ``None`` for a pool without an end.
    done, skipped
        How many they handed in: items that count, repeats among them.
    attention, attention_right
        Attention items answered, and those right at the first try.
    passed
        Whether that is enough.
    active_seconds
        How long they worked on what they handed in.
    """

    judge: str
    joined: bool
    finished: bool
    blocked: bool
    planned: int | None
    done: int
    skipped: int
    attention: int
    attention_right: int
    passed: bool
    active_seconds: float

    @property
    def state(self) -> str:
        """Where the judge stands, in words."""
        if self.blocked:
            return "blocked"
        if self.finished:
            return "finished"
        if self.joined:
            return "judging"
        return "imported" if self.done or self.skipped else "not here yet"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a campaign is.

    Attributes
    ----------
    items
        How many there are, those of tutorial and attention aside.
    sentences, shared
        Of how many sentences they are, and how many of them are for several judges.
    wanted, taken
        How many judgments they are to get, and how many are given out; repeats aside.
    done, skipped
        How many judgments were handed in, repeats among them.
    judges
        By name, numbers in it as numbers: ``judge2`` before ``judge10``.
    """

    items: int
    sentences: int
    shared: int
    wanted: int
    taken: int
    done: int
    skipped: int
    judges: tuple[JudgeProgress, ...]

    @property
    def planned(self) -> int | None:
        """How many judgments all judges have or will have, repeats among them, if that is known."""
        lists = [judge.planned for judge in self.judges]
        known = [planned for planned in lists if planned is not None]
        return sum(known) if len(known) == len(lists) else None

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def judgments(campaign: Campaign) -> Judgments:
    """Return what was handed in: of each assignment the latest complete version, once.

    Skipped items stay, as skipped. Tutorial and attention items are no judgments of systems.
    """
    groups = _groups(campaign)
    found: Iterable[tuple[Any, ...]] = _final(campaign).values_list(
        "assignment",
        "assignment__judge__name",
        "assignment__item",
        "assignment__item__sentence__segment",
        "assignment__item__name",
        "assignment__item__document",
        "assignment__shown_order",
        "ranks",
        "skipped",
        "active_seconds",
        "wall_seconds",
    )
    latest: dict[int, tuple[Any, ...]] = {row[0]: row[1:] for row in found}  # versions ascend
    rankings = tuple(_ranking(latest[key], groups) for key in sorted(latest))
    return Judgments(rankings, (_file(campaign),) if "file" in campaign.origin else ())


def progress(campaign: Campaign) -> Progress:
    """Count how far a campaign and its judges are."""
    counted = Assignment.objects.filter(item__campaign=campaign, item__kind=Kind.NORMAL)
    states = dict(counted.values_list("state").annotate(Count("pk")).order_by())
    items = Item.objects.filter(campaign=campaign, kind=Kind.NORMAL)
    sums = items.aggregate(wanted=Sum("wanted"), taken=Sum("taken"))
    return Progress(
        items=items.count(),
        sentences=items.values("sentence").distinct().count(),
        shared=items.filter(wanted__gt=1).count(),
        wanted=sums["wanted"] or 0,
        taken=sums["taken"] or 0,
        done=states.get(State.DONE, 0),
        skipped=states.get(State.SKIPPED, 0),
        judges=tuple(_judges(campaign)),
    )


def agreement(campaign: Campaign) -> Agreement:
    """Measure the agreement of judges, as ``grammeter agree`` does on the export.

    Raises
    ------
    DataError
        If there is no judgment.
    """
    found = judgments(campaign)
    return agree(found, numbering=found.numbering)


def ranking(campaign: Campaign, **settings: Any) -> Ranked:
    """Rank the systems, as ``grammeter rank`` does on the export.

    Parameters
    ----------
    settings
        Those of :func:`grammeter.ranking._rank.rank`: ``by``, ``unit``, ``resamples`` ...

    Raises
    ------
    DataError
        If nothing is decided yet.
    """
    return rank(judgments(campaign), **settings)


def header(campaign: Campaign) -> dict[str, Any]:
    """Return what :func:`details` depend on: version, seed, settings, digest of all texts."""
    return {
        "kind": "campaign-details",
        "campaign": campaign.name,
        "task": campaign.task,
        "strategy": campaign.strategy,
        "seed": campaign.seed,
        "signature": campaign.signature,
        **campaign.origin,
    }


def details(campaign: Campaign) -> Iterator[dict[str, Any]]:
    """Yield every version of every answer with all that is known of it, oldest first.

    ``shown`` holds the systems behind each output in the order shown (none for tutorial and
    attention items), ``order`` the places of these outputs in the item, from 0.

    ``edits`` holds, for the task ``edits`` only, a list for each output in the order shown, with
    an object for each of its edits in their order: ``start`` and ``end`` in tokens of the source,
    the ``correction``, and the ``verdict``, ``None`` where there is none. Applied to the source
    they give the output.
    """
    groups, texts = _groups(campaign), _texts(campaign)
    rows = Judgment.objects.filter(assignment__item__campaign=campaign).select_related(
        "assignment__judge", "assignment__item__sentence"
    )
    known = _Known(campaign)
    for judgment in rows.order_by("assignment_id", "version").iterator():
        given, item = judgment.assignment, judgment.assignment.item
        yield {
            "judge": given.judge.name,
            "segment": item.sentence.segment,
            "item": item.name,
            "number": item.number,
            "kind": item.kind,
            "position": given.position,
            "turn": given.turn,
            "shown": [groups[item.pk][place] for place in given.shown_order],
            "order": given.shown_order,
            "version": judgment.version,
            "complete": judgment.complete,
            "ranks": judgment.ranks,
            "verdicts": judgment.verdicts,
            "edits": _judged_edits(judgment, texts, known),
            "skipped": judgment.skipped,
            "reason": judgment.reason,
            "comment": judgment.comment,
            "correct": judgment.correct,
            "automatic": judgment.automatic,
            "active_seconds": judgment.active_seconds,
            "wall_seconds": judgment.wall_seconds,
            "saved": judgment.created.isoformat(),
            "sentence_probability": item.probability,
            "draw_probability": given.probability,
        }


def in_order(names: Iterable[str]) -> list[str]:
    """Return names in alphabetical order, numbers in them as numbers."""
    return sorted(names, key=lambda name: ([_part(at) for at in re.split(r"(\d+)", name)], name))


def _part(text: str) -> tuple[int, str]:
    return (int(text), "") if text.isdecimal() else (-1, text)


def _judged_edits(
    judgment: Judgment, texts: dict[int, list[str]], known: _Known
) -> list[list[dict[str, Any]]] | None:
    given, item = judgment.assignment, judgment.assignment.item
    if item.pk not in texts:
        return None
    places: list[int] = given.shown_order
    rows: list[list[str | None]] = judgment.verdicts or [[] for _ in places]
    elsewhere = known.elsewhere(judgment)
    return [
        _with_verdicts(edits_of(item.sentence.text, texts[item.pk][place]), words, elsewhere)
        for place, words in zip(places, rows, strict=True)
    ]


def _with_verdicts(
    edits: Sequence[Edit], words: Sequence[str | None], elsewhere: Mapping[Edit, str]
) -> list[dict[str, Any]]:
    rows = zip_longest(edits, words[: len(edits)])  # a draft may have fewer verdicts
    return [
        {
            "start": edit.start,
            "end": edit.end,
            "correction": edit.correction,
            "verdict": elsewhere.get(edit, word),
        }
        for edit, word in rows
    ]


class _Known:
    """Verdicts that were given in an earlier item of the same judge and sentence."""

    def __init__(self, campaign: Campaign) -> None:
        shown = Assignment.objects.filter(item__campaign=campaign, turn=0).exclude(answered=None)
        keys = shown.order_by().values_list("judge_id", "item__sentence_id")
        counts = Counter(keys if campaign.task == Task.EDITS else ())
        self._verdicts = {key: verdicts.settled(*key) for key, n in counts.items() if n > 1}

    def elsewhere(self, judgment: Judgment) -> dict[Edit, str]:
        """Return those that count for a complete answer, and belong to another."""
        given = judgment.assignment
        known = self._verdicts.get((given.judge_id, given.item.sentence_id), {})
        if given.turn or judgment.skipped or not judgment.complete:
            return {}
        return {edit: one.verdict for edit, one in known.items() if one.assignment != given.pk}


def _texts(campaign: Campaign) -> dict[int, list[str]]:
    """Return the outputs of each item whose edits are judged, by place."""
    texts: dict[int, list[str]] = {}
    if campaign.task == Task.EDITS:
        rows = ItemOutput.objects.filter(item__campaign=campaign).order_by("item", "place")
        for item, text in rows.values_list("item", "output__text"):
            texts.setdefault(item, []).append(text)
    return texts


def _final(campaign: Campaign) -> QuerySet[Judgment]:
    """Return complete versions of items that count, oldest first."""
    found = Judgment.objects.filter(assignment__item__campaign=campaign, complete=True)
    return found.filter(assignment__item__kind=Kind.NORMAL).order_by("assignment", "version")


def _ranking(row: tuple[Any, ...], groups: dict[int, list[tuple[str, ...]]]) -> Ranking:
    judge, item, segment, name, document, shown, ranks, skipped, active, wall = row
    places: list[int] = shown
    return Ranking(
        judge=judge,
        segment=segment,
        groups=tuple(groups[item][place] for place in places),
        ranks=tuple(ranks),
        skipped=skipped,
        seconds=wall if active is None else active,
        item=name,
        document=document,
    )


def _groups(campaign: Campaign) -> dict[int, list[tuple[str, ...]]]:
    """Return the systems behind the outputs of each item, by place."""
    groups: dict[int, list[tuple[str, ...]]] = {}
    rows = Item.objects.filter(campaign=campaign).order_by("pk", "places__place")
    for item, place, systems in rows.values_list("pk", "places__place", "places__output__systems"):
        own = groups.setdefault(item, [])
        if place is not None:  # an item without outputs has one row
            own.append(tuple(systems))
    return groups


def _file(campaign: Campaign) -> JudgmentFile:
    """Return how the imported file was written: an export is written in the same way."""
    kept: dict[str, Any] = dict(campaign.origin["file"])
    given: list[dict[str, Any]] = kept.pop("blocks")
    return JudgmentFile(**kept, blocks=tuple(JudgedBlock(**block) for block in given))


def _judges(campaign: Campaign) -> Iterator[JudgeProgress]:
    normal, attention = Q(item__kind=Kind.NORMAL), Q(item__kind=Kind.ATTENTION)
    fresh = normal & Q(turn=0)
    rows = Assignment.objects.filter(judge__campaign=campaign).order_by().values("judge")
    counts = {
        row["judge"]: row
        for row in rows.annotate(
            listed=Count("pk", filter=normal),
            given=Count("pk", filter=fresh),
            done=Count("pk", filter=normal & Q(state=State.DONE)),
            skipped=Count("pk", filter=normal & Q(state=State.SKIPPED)),
            attention=Count("pk", filter=attention & Q(correct__isnull=False)),
            right=Count("pk", filter=attention & Q(correct=True)),
        )
    }
    seconds: dict[int, dict[int, float]] = {}
    for judge, assignment, active in _final(campaign).values_list(
        "assignment__judge", "assignment", "active_seconds"
    ):
        seconds.setdefault(judge, {})[assignment] = active or 0.0
    nothing = dict.fromkeys(("listed", "given", "done", "skipped", "attention", "right"), 0)
    found = {judge.name: judge for judge in Judge.objects.filter(campaign=campaign)}
    for judge in map(found.__getitem__, in_order(found)):
        own = counts.get(judge.pk, nothing)
        yield JudgeProgress(
            judge=judge.name,
            joined=judge.joined is not None,
            finished=judge.finished is not None,
            blocked=judge.blocked,
            planned=own["listed"] if campaign.strategy == "planned" else campaign.longest_list,
            done=own["done"],
            skipped=own["skipped"],
            attention=own["attention"],
            attention_right=own["right"],
            passed=judges.is_enough(campaign, own["right"], own["attention"]),
            active_seconds=sum(seconds.get(judge.pk, {}).values()),
        )
