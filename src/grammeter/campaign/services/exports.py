"""Files of a campaign, by task: what the other verbs read without conversion."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from grammeter.campaign.choices import Kind, Task
from grammeter.campaign.criteria import OVERALL, Criterion
from grammeter.campaign.models import Campaign, ItemOutput, Sentence
from grammeter.campaign.services import results
from grammeter.campaign.tasks import JOBS
from grammeter.formats import format_judgments, object_text

Row = dict[str, Any]  # a line of the details, with its texts
_EDIT_KEYS = ("judge", "segment", "item", "number", "turn", "shown", "edits")
_LISTED = 12  # numbers in a note


@dataclass(frozen=True)
class TaskExport:
    """The answers to one task: ``files`` has name -> text; the first holds all, or its first."""

    task: Task
    files: Mapping[str, str]
    answers: int
    skipped: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class PostEdit:
    """What judges made of one output of a sentence, in the order of their answers."""

    output: str
    texts: list[str] = field(default_factory=list[str])


def export(campaign: Campaign, task: Task) -> TaskExport:
    """Return the files of one task; answers are the latest complete versions."""
    rows, skipped = latest(campaign, task)
    if JOBS[task].ranked:
        files = {f"{task}.jsonl": format_judgments(results.judgments(campaign, task), "jsonl")}
        if JOBS[task].marked:
            files[f"{task}.marks.jsonl"] = _lines(map(_marks, rows))
        return TaskExport(task, files, len(rows), skipped)
    if task == Task.MARKS:
        return TaskExport(task, {f"{task}.jsonl": _lines(map(_marks, rows))}, len(rows), skipped)
    made = _post_edits(campaign, rows) if task == Task.POST_EDIT else _ratings(campaign, task, rows)
    return TaskExport(task, made[0], len(rows), skipped, tuple(made[1]))


def latest(campaign: Campaign, task: Task) -> tuple[list[Row], int]:
    """Return the latest complete version of each answer that is not skipped; count the skipped."""
    versions = results.final(campaign).filter(assignment__item__task=task)
    rows = results.rows_of(campaign, versions)  # versions ascend
    newest = {(row["judge"], row["number"], row["turn"]): row for row in rows}
    answered = [row for row in newest.values() if not row["skipped"]]
    return answered, len(newest) - len(answered)


def _lines(rows: Iterator[Row] | Sequence[Row]) -> str:
    return "".join(f"{object_text(row)}\n" for row in rows)


def _marks(row: Row) -> Row:
    """Return an item of judgments of edits; a repeat has a name of its own."""
    name = row["item"] or str(row["number"])
    again = f"{name}.{row['turn']}" if row["turn"] else name
    chance = row["sentence_probability"]
    known = {} if chance is None else {"sentence_probability": chance}
    return {key: row[key] for key in _EDIT_KEYS} | {"item": again} | known


def _ratings(
    campaign: Campaign, task: Task, rows: Sequence[Row]
) -> tuple[dict[str, str], list[str]]:
    """Return a line for each output that a judge rated, and apart those rated once more."""
    criteria = [OVERALL] if task == Task.DIRECT else [Criterion(**row) for row in campaign.criteria]
    first, again = list[Row](), list[Row]()
    seen = set[tuple[object, ...]]()
    for row in sorted(rows, key=lambda row: row["turn"]):
        for systems, scores in zip(row["shown"], row["answer"], strict=True):
            key = row["judge"], row["segment"], *sorted(systems)
            head = {"judge": row["judge"], "segment": row["segment"], "system": systems}
            (again if key in seen else first).extend(_scored(head, scores, criteria))
            seen.add(key)
    files = {f"{task}.jsonl": _lines(first)}
    if not again:
        return files, []
    files[f"{task}.repeats.jsonl"] = _lines(again)
    fault = f"{task}: {len(again)} lines of outputs that a judge rated once more"
    return files, [f"{fault} are in {task}.repeats.jsonl alone"]


def _scored(head: Row, scores: Mapping[str, Any], criteria: Sequence[Criterion]) -> Iterator[Row]:
    """Yield one line, or one for each criterion if their scales differ."""
    if len({(criterion.low, criterion.high) for criterion in criteria}) == 1:
        named = {criterion.name: scores[criterion.name] for criterion in criteria}
        yield {**head, "scores": named, "scale": criteria[0].scale}
        return
    for criterion in criteria:
        score = {"criterion": criterion.name, "score": scores[criterion.name]}
        yield {**head, **score, "scale": criterion.scale}


def _post_edits(campaign: Campaign, rows: Sequence[Row]) -> tuple[dict[str, str], list[str]]:
    """Return all post-edits as lines, and parallel files of the sentences that have all."""
    wanted = post_edits(campaign, rows)
    lines = [
        {
            **{name: row[name] for name in ("judge", "segment", "turn")},
            **{"system": systems, "post_edit": entry.get("text", "")},
        }
        for row in rows
        for systems, entry in zip(row["shown"], row["answer"], strict=True)
    ]
    files = {f"{Task.POST_EDIT}.jsonl": _lines(lines)}
    systems = results.in_order({system for of in wanted.values() for system in of})
    if odd := [name for name in systems if "/" in name or name.startswith(".")]:
        return files, [f"post-edit: no parallel files, because {odd[0]!r} cannot name one"]
    whole = [
        number
        for number, of in sorted(wanted.items())
        if all(name in of and of[name].texts for name in systems)
    ]
    texts_of: Any = Sentence.objects.filter(campaign=campaign).values_list("segment", "text")
    sources: dict[int, str] = dict(texts_of)
    columns = {"source.txt": [sources[number] for number in whole]}
    depth = min((len(wanted[n][name].texts) for n in whole for name in systems), default=0)
    for name in systems:
        columns[f"outputs/{name}.txt"] = [wanted[number][name].output for number in whole]
        for turn in range(depth):
            texts = [wanted[number][name].texts[turn] for number in whole]
            columns[f"post{turn + 1 if turn else ''}/{name}.txt"] = texts
    files |= {name: "".join(f"{text}\n" for text in texts) for name, texts in columns.items()}
    return files, [*_post_notes(wanted, whole, systems, depth)]


def post_edits(campaign: Campaign, rows: Sequence[Row]) -> dict[int, dict[str, PostEdit]]:
    """Return segment -> system -> its post-edits, without repeats, for all sentences in items."""
    places = ItemOutput.objects.filter(
        item__campaign=campaign, item__task=Task.POST_EDIT, item__kind=Kind.NORMAL
    )
    wanted: dict[int, dict[str, PostEdit]] = {}
    columns = ("item__sentence__segment", "output__text", "output__systems")
    for segment, text, systems in places.order_by("item", "place").values_list(*columns):
        made = wanted.setdefault(segment, {})
        for system in systems:
            made.setdefault(system, PostEdit(text))
    for row in rows:
        for systems, entry in zip(row["shown"], row["answer"], strict=True):
            for system in systems if not row["turn"] else ():
                wanted[row["segment"]][system].texts.append(entry.get("text", ""))
    return wanted


def _post_notes(
    wanted: Mapping[int, Mapping[str, PostEdit]],
    whole: Sequence[int],
    systems: Sequence[str],
    depth: int,
) -> Iterator[str]:
    lacking = [number for number in sorted(wanted) if number not in {*whole}]
    if lacking:
        listed = ", ".join(map(str, lacking[:_LISTED])) + (", ..." if lacking[_LISTED:] else "")
        yield (
            f"post-edit: source.txt, outputs and post hold {len(whole)} of {len(wanted)} sentences,"
            f" those with a post-edit for each system; others, such as the sentences {listed}, are"
            " in post-edit.jsonl alone"
        )
    more = sum(len(wanted[n][name].texts) - depth for n in whole for name in systems)
    if more:
        yield f"post-edit: {more} further post-edits of outputs are in post-edit.jsonl alone"
