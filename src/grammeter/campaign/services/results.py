"""The results of a campaign: judgments, progress, agreement, ranking, files."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, NamedTuple

from django.db.models import Count, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from grammeter.campaign.models import Assignment, Campaign, Judgment
from grammeter.campaign.services import answers, judges
from grammeter.campaign.tasks import JOBS, Kind, State, Task
from grammeter.core import Ranking
from grammeter.formats import JudgedBlock, JudgmentFile, Judgments, format_judgments, object_text

_ANSWER = ("version", "complete", "ranks", "verdicts", "answer")
_TIMES = ("active_seconds", "wall_seconds")
_REMARKS = ("skipped", "reason", "comment", "correct", "automatic", *_TIMES)


@dataclass(frozen=True, slots=True)
class JudgeProgress:
    """Progress of one judge; repeats count, tutorial and attention items do not."""

    judge: str
    joined: bool
    finished: bool
    blocked: bool
    excluded: str  # why results leave this judge out
    planned: int | None  # length of the list; in a pool the most items for one, `None`: any number
    done: int
    skipped: int
    attention: int  # attention items answered
    attention_right: int  # those right at the first try
    passed: bool  # whether that is enough
    active_seconds: float  # on submitted items

    @property
    def state(self) -> str:
        """State of the judge, in words."""
        if self.excluded:
            return "excluded"
        if self.blocked or self.finished:
            return "blocked" if self.blocked else "finished"
        if self.joined:
            return "judging"
        return "imported" if self.done or self.skipped else "not here yet"


@dataclass(frozen=True, slots=True)
class Progress:
    """Counts without tutorial and attention items; slots without repeats; ``judges`` by name."""

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
        """Planned judgments of all judges, with repeats; ``None`` if unlimited."""
        lists = [judge.planned for judge in self.judges if judge.planned is not None]
        return sum(lists) if len(lists) == len(self.judges) else None


def judgments(campaign: Campaign, *tasks: str) -> Judgments:
    """Return the latest complete version of each answer to an item, skipped ones included.

    ``tasks``: those whose answers are rankings; default: :func:`standing`.
    """
    groups = shown_systems(campaign)
    shown = "judge__name item item__sentence__segment item__name item__document shown_order"
    columns = ("assignment", *(f"assignment__{name}" for name in shown.split()))
    counted = final(campaign).filter(assignment__item__task__in=tasks or standing(campaign))
    rows: Any = counted.values_list(*columns, "ranks", "skipped", *_TIMES)
    latest: dict[int, tuple[Any, ...]] = {row[0]: row[1:] for row in rows}  # versions ascend
    rankings = tuple(_ranking(latest[key], groups) for key in sorted(latest))
    if "file" not in campaign.origin:
        return Judgments(rankings)
    fields: dict[str, Any] = dict(campaign.origin["file"])  # exports keep its format
    blocks = tuple(JudgedBlock(**block) for block in fields.pop("blocks"))
    return Judgments(rankings, (JudgmentFile(**fields, blocks=blocks),))


def progress(campaign: Campaign) -> Progress:
    """Count the progress of a campaign and its judges."""
    counted = Assignment.objects.filter(item__campaign=campaign, item__kind=Kind.NORMAL)
    states = dict(counted.values_list("state").annotate(Count("pk")).order_by())
    counts = campaign.items.filter(kind=Kind.NORMAL).aggregate(
        items=Count("pk"),
        sentences=Count("sentence", distinct=True),
        shared=Count("pk", filter=Q(wanted__gt=1)),
        **{name: Coalesce(Sum(name), 0) for name in ("wanted", "taken")},
    )
    done, skipped = (states.get(state, 0) for state in (State.DONE, State.SKIPPED))
    return Progress(**counts, done=done, skipped=skipped, judges=tuple(_judges(campaign)))


def standing(campaign: Campaign) -> list[Task]:
    """Return the tasks that make the ranking: those with ranks, else ``best-worst``."""
    full = {Task.RANKING, Task.EDITS}.intersection(normal_tasks(campaign))
    return sorted(full) or [Task.BEST_WORST]


def normal_tasks(campaign: Campaign) -> list[Task]:
    """Return the tasks of its items, without tutorial and attention items, in fixed order."""
    normal = campaign.items.filter(kind=Kind.NORMAL).order_by()
    present = {*normal.values_list("task", flat=True).distinct()}
    return [task for task in Task if task in present]


def final(campaign: Campaign) -> QuerySet[Judgment]:
    """Return complete versions, oldest first, without tutorial and attention items.

    Judges whom the organisers excluded are left out.
    """
    complete = Judgment.objects.filter(assignment__item__campaign=campaign, complete=True)
    counted = complete.filter(assignment__item__kind=Kind.NORMAL, assignment__judge__excluded="")
    return counted.order_by("assignment", "version")


def left_out(campaign: Campaign) -> tuple[str, ...]:
    """Return a note on each excluded judge, with the reason."""
    rows = campaign.judges.exclude(excluded="").order_by("name")
    counts = rows.annotate(answers=Count("assignments__judgments__assignment", distinct=True))
    columns = counts.values_list("name", "excluded", "answers")
    return tuple(f"{name} is left out ({why}): {count} answers" for name, why, count in columns)


def _ranking(row: tuple[Any, ...], groups: dict[int, list[tuple[str, ...]]]) -> Ranking:
    judge, item, segment, name, document, shown, ranks, skipped, active, wall = row
    fields: dict[str, Any] = {"judge": judge, "segment": segment, "item": name, "skipped": skipped}
    fields |= {"document": document, "seconds": wall if active is None else active}
    places: list[int] = shown
    outputs = tuple(groups[item][place] for place in places)
    return Ranking(groups=outputs, ranks=tuple(ranks), **fields)


def shown_systems(campaign: Campaign) -> dict[int, list[tuple[str, ...]]]:
    """Return the systems of each output, by place, for each item in order of its number."""
    groups: dict[int, list[tuple[str, ...]]] = {}
    rows = campaign.items.order_by("number", "places__place")
    for item, place, systems in rows.values_list("pk", "places__place", "places__output__systems"):
        outputs = groups.setdefault(item, [])
        if place is not None:  # an item without outputs has one row
            outputs.append(tuple(systems))
    return groups


def _judges(campaign: Campaign) -> Iterator[JudgeProgress]:
    normal, attention = (Q(assignments__item__kind=kind) for kind in (Kind.NORMAL, Kind.ATTENTION))
    counts = {
        "done": normal & Q(assignments__state=State.DONE),
        "skipped": normal & Q(assignments__state=State.SKIPPED),
        "attention": attention & Q(assignments__correct__isnull=False),
        "attention_right": attention & Q(assignments__correct=True),
    }
    counted = {name: Count("assignments", filter=which) for name, which in counts.items()}
    rows = campaign.judges.annotate(listed=Count("assignments", filter=normal), **counted)
    seconds: dict[int, dict[int, float]] = {}
    columns = ("assignment__judge", "assignment", "active_seconds")
    for judge, assignment, active in final(campaign).values_list(*columns):
        seconds.setdefault(judge, {})[assignment] = active or 0.0
    judge: Any
    for judge in rows.order_by("name"):
        yield JudgeProgress(
            judge=judge.name,
            **{name: getattr(judge, name) is not None for name in ("joined", "finished")},
            planned=judge.listed if campaign.strategy == "planned" else campaign.longest_list,
            passed=judges.is_enough(campaign, judge.attention_right, judge.attention),
            active_seconds=sum(seconds.get(judge.pk, {}).values()),
            **{name: getattr(judge, name) for name in ("blocked", "excluded", *counts)},
        )


def header(campaign: Campaign) -> dict[str, Any]:
    """Return the version, seed, settings, and digest of all texts: the head of the details."""
    names = ("task", "tasks", "criteria", "strategy", "seed", "signature")
    settings = {key: getattr(campaign, key) for key in names}
    return {"kind": "campaign-details", "campaign": campaign.name, **settings, **campaign.origin}


def details(campaign: Campaign) -> Iterator[dict[str, Any]]:
    """Yield every version of every answer with all its data, oldest first.

    ``shown`` holds the systems of each output in the order shown (none for tutorial and
    attention items), ``order`` the places of these outputs in the item, from 0. ``edits`` (task
    ``edits``, ``marks``) holds for each output in the order shown its edits: ``start`` and ``end``
    in tokens of the source, ``correction``, and ``verdict`` (``None`` where missing). ``answer``
    holds an object for each output: scores by criterion, or the ``text`` of a post-edit.
    """
    return rows_of(campaign, Judgment.objects.filter(assignment__item__campaign=campaign))


def rows_of(campaign: Campaign, rows: QuerySet[Judgment]) -> Iterator[dict[str, Any]]:
    """Yield some of a campaign's versions as :func:`details` has them."""
    marked = [task for task, job in JOBS.items() if job.marked]
    which: dict[str, Any] = {"item__campaign": campaign, "item__task__in": marked}
    groups, outputs = shown_systems(campaign), answers.texts_of(**which)
    settled = answers.settled(**which) if outputs else {}
    rows = rows.select_related("assignment__judge", "assignment__item__sentence")
    for judgment in rows.order_by("assignment_id", "version").iterator():
        assignment, item = judgment.assignment, judgment.assignment.item
        yield {
            **{"judge": assignment.judge.name, "segment": item.sentence.segment, "item": item.name},
            **{name: getattr(item, name) for name in ("number", "kind", "task")},
            **{name: getattr(assignment, name) for name in ("position", "turn")},
            "shown": [groups[item.pk][place] for place in assignment.shown_order],
            "order": assignment.shown_order,
            **{name: getattr(judgment, name) for name in _ANSWER},
            "edits": _edits(judgment, outputs[item.pk], settled) if item.pk in outputs else None,
            **{name: getattr(judgment, name) for name in _REMARKS},
            "saved": judgment.created.isoformat(),
            "sentence_probability": item.probability,
            "draw_probability": assignment.probability,
        }


def _edits(
    judgment: Judgment, texts: Sequence[str], settled: Mapping[tuple[int, int], answers.Settled]
) -> list[list[dict[str, Any]]]:
    """Return the edits of each output in the order shown; ``texts`` are those of the item."""
    assignment, source = judgment.assignment, judgment.assignment.item.sentence.text
    order: list[int] = assignment.shown_order
    counted = judgment.complete and not judgment.skipped
    elsewhere = answers.given_elsewhere(assignment, settled) if counted else {}
    verdicts: list[list[str | None]] = judgment.verdicts or [[]] * len(order)
    return [
        [
            {name: getattr(edit, name) for name in ("start", "end", "correction")}
            | {"verdict": elsewhere.get(edit, word)}
            # a draft may have fewer verdicts
            for edit, word in zip_longest(edits, words[: len(edits)])
        ]
        for place, words in zip(order, verdicts, strict=True)
        for edits in [answers.edits_of(source, texts[place])]
    ]


class Download(NamedTuple):
    """A kind of file; ``form`` is that of judgments."""

    label: str
    suffix: str
    content: str = "application/jsonl"
    form: Any = None


DOWNLOADS = {
    "xml": Download("Appraise XML", ".xml", "application/xml", "appraise"),
    "csv": Download("WMT CSV", ".csv", "text/csv", "wmt"),
    "jsonl": Download("JSON lines", ".jsonl", form="jsonl"),
    "tasks": Download("Files of each task", ".zip", "application/zip"),
    "details": Download("All versions", ".details.jsonl"),
    "people": Download("About the judges (personal)", ".people.jsonl"),
}


def text(campaign: Campaign, name: str) -> str:
    """Return the text of one of :data:`DOWNLOADS`, as ``grammeter campaign export`` writes it."""
    if form := DOWNLOADS[name].form:
        return format_judgments(judgments(campaign), form)
    rows = judges.people(campaign) if name == "people" else details(campaign)
    first = [] if name == "people" else [header(campaign)]
    return lines((*first, *rows))


def lines(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return JSON lines."""
    return "".join(f"{object_text(row)}\n" for row in rows)
