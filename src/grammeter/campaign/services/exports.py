"""Files of a campaign, by task, which other verbs read as they are, and what those make of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast
from zipfile import ZIP_DEFLATED, ZipFile

from grammeter import verbs
from grammeter.campaign.models import Campaign, ItemOutput
from grammeter.campaign.services import results
from grammeter.campaign.tasks import JOBS, Kind, Task
from grammeter.core import Column, DataError, GrammeterError, Result, Table
from grammeter.formats import Corpus, OwnReferences, format_judgments, read_judgments, write_text

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
class Standing:
    """A task's result so far: tables, and plain values of the result of a verb and of counts."""

    tables: Sequence[Table]
    data: Mapping[str, Any]


# --- files ---------------------------------------------------------------------------------
def export(campaign: Campaign, task: Task) -> TaskExport:
    """Return the files of one task; answers are the latest complete versions."""
    (rows, skipped), notes = latest(campaign, task), list[str]()
    if task in (Task.RATING, Task.DIRECT):
        files, notes = _ratings(campaign, task, rows)
    elif task == Task.POST_EDIT:
        files, notes = _post_edits(campaign, rows)
    elif JOBS[task].ranked:
        files = {f"{task}.jsonl": format_judgments(results.judgments(campaign, task), "jsonl")}
    else:
        files = dict[str, str]()
    if JOBS[task].marked:
        marks = f"{task}.marks.jsonl" if files else f"{task}.jsonl"
        files[marks] = results.lines(map(_marks, rows))
    return TaskExport(task, files, len(rows), skipped, tuple(notes))


def archive(campaign: Campaign) -> bytes:
    """Return the files of all tasks as a zip archive, and what they do not hold as notes.txt."""
    made = [export(campaign, task) for task in results.normal_tasks(campaign)]
    notes = "".join(f"{note}\n" for one in made for note in one.notes)
    with ZipFile(packed := BytesIO(), "w", ZIP_DEFLATED) as file:
        for name, text in [pair for one in made for pair in one.files.items()]:
            file.writestr(name, text)
        if notes:
            file.writestr("notes.txt", notes)
    return packed.getvalue()


def latest(campaign: Campaign, task: Task) -> tuple[list[Row], int]:
    """Return the latest complete version of each answer that is not skipped; count the skipped."""
    versions = results.final(campaign).filter(assignment__item__task=task)
    rows = results.rows_of(campaign, versions)  # versions ascend
    newest = {(row["judge"], row["number"], row["turn"]): row for row in rows}
    answered = [row for row in newest.values() if not row["skipped"]]
    return answered, len(newest) - len(answered)


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
    """Return a line for each output that a judge rated, and apart those rated once more.

    If scales differ, each criterion has a line.
    """
    criteria = campaign.criteria_of(task)
    alike = len({(criterion.low, criterion.high) for criterion in criteria}) == 1
    first, again = list[Row](), list[Row]()
    seen = set[tuple[object, ...]]()
    for row in sorted(rows, key=lambda row: row["turn"]):
        for systems, scores in zip(row["shown"], row["answer"], strict=True):
            key = row["judge"], row["segment"], *sorted(systems)
            head = {"judge": row["judge"], "segment": row["segment"], "system": systems}
            named = {criterion.name: scores[criterion.name] for criterion in criteria}
            each = [
                {"criterion": c.name, "score": named[c.name], "scale": c.scale} for c in criteria
            ]
            lines = [{"scores": named, "scale": criteria[0].scale}] if alike else each
            (again if key in seen else first).extend({**head, **line} for line in lines)
            seen.add(key)
    files = {f"{task}.jsonl": results.lines(first)}
    if not again:
        return files, []
    files[f"{task}.repeats.jsonl"] = results.lines(again)
    fault = f"{task}: {len(again)} lines of outputs that a judge rated once more"
    return files, [f"{fault} are in {task}.repeats.jsonl alone"]


def post_edits(campaign: Campaign, rows: Sequence[Row]) -> dict[str, dict[int, list[str]]]:
    """Return system -> segment -> source, output and its post-edits, those of repeats left out."""
    places = ItemOutput.objects.filter(
        item__campaign=campaign, item__task=Task.POST_EDIT, item__kind=Kind.NORMAL
    )
    made: dict[str, dict[int, list[str]]] = {}
    names = ("item__sentence__segment", "item__sentence__text", "output__text", "output__systems")
    for segment, source, text, systems in places.order_by("item", "place").values_list(*names):
        for system in systems:
            made.setdefault(system, {}).setdefault(segment, [source, text])
    for row in rows:
        for systems, entry in zip(row["shown"], row["answer"], strict=True):
            for system in systems if not row["turn"] else ():
                made[system][row["segment"]].append(entry.get("text", ""))
    return {name: dict(sorted(made[name].items())) for name in sorted(made)}


def _post_edits(campaign: Campaign, rows: Sequence[Row]) -> tuple[dict[str, str], list[str]]:
    """Return all post-edits as lines, and parallel files of the sentences that have all.

    If there is none, the files of each system hold its own sentences.
    """
    lines = [
        {name: row[name] for name in ("judge", "segment", "turn")}
        | {"system": systems, "post_edit": entry.get("text", "")}
        for row in rows
        for systems, entry in zip(row["shown"], row["answer"], strict=True)
    ]
    files, made = {f"{Task.POST_EDIT}.jsonl": results.lines(lines)}, post_edits(campaign, rows)
    if odd := [name for name in made if "/" in name or name.startswith(".")]:
        return files, [f"post-edit: no parallel files, because {odd[0]!r} cannot name one"]
    edited = {name: {at: of[at] for at in of if of[at][2:]} for name, of in made.items()}
    present = [{*of} for of in edited.values()]
    whole = sorted(present[0].intersection(*present[1:]))
    chosen = {name: [of[at] for at in whole or of] for name, of in edited.items()}
    depth = min((len(texts) for of in chosen.values() for texts in of), default=2)
    folders = ["outputs", "post", *(f"post{at}" for at in range(2, depth - 1))]
    for name, of in chosen.items():
        names = ["source.txt" if whole else f"source/{name}.txt"]
        names += [f"{folder}/{name}.txt" for folder in folders]
        columns = zip(*(texts[:depth] for texts in of), strict=True)
        files |= {at: "".join(f"{t}\n" for t in of) for at, of in zip(names, columns, strict=False)}
    segments, notes = {at for of in made.values() for at in of}, list[str]()
    if lacking := sorted(segments.difference(whole)):
        listed = ", ".join(map(str, lacking[:_LISTED])) + (", ..." if lacking[_LISTED:] else "")
        fault = f"post-edit: {len(whole)} of {len(segments)} sentences have a post-edit of each"
        hold = "source.txt, outputs and post hold these; the others are in post-edit.jsonl alone"
        each = "the files of each system hold its own sentences; score one system at a time"
        notes += [f"{fault} system, not {listed}; {hold if whole else each}"]
    if more := sum(len(texts) - depth for of in chosen.values() for texts in of):
        notes += [f"post-edit: {more} further post-edits of outputs are in post-edit.jsonl alone"]
    return files, notes


# --- results so far ------------------------------------------------------------------------
def standing(campaign: Campaign, task: Task) -> Standing:
    """Return the result so far; raise ``DataError`` if there is none yet.

    Ratings and direct assessments: ranked by means, of the first criterion, with the means of all.
    Marks: accept rates. Best and worst: a ranking. Post-edits: the mean character distance from
    the outputs, and how many are unchanged.
    """
    if task == Task.POST_EDIT:
        return _distances(campaign)
    made = export(campaign, task)
    files = [(name, text) for name, text in made.files.items() if "repeats" not in name]
    name, text = files[-1]  # of `edits` the verdicts
    if not text:
        raise DataError("no answer yet", fix="Wait until judges have handed in some.")
    with TemporaryDirectory() as folder:
        write_text(path := Path(folder, name), text)
        answers: Any = read_judgments(path)
    settings: dict[str, Any] = {} if task == Task.BEST_WORST else {"by": "accept-rate"}
    if task in (Task.RATING, Task.DIRECT):
        settings = {"by": "mean", "criterion": answers.criteria[0]}
    result: Result = cast("Any", verbs.rank)(answers, **settings)
    return Standing(result.tables(), result.to_dict())


def standings(
    campaign: Campaign, **settings: Any
) -> tuple[dict[str, Any], dict[str, Standing], dict[str, str]]:
    """Return agreement and ranking, the result of each other task, and why some have none.

    ``settings`` are those of ``rank``.
    """
    measures, found, reasons = dict[str, Any](), dict[str, Standing](), dict[str, str]()
    tasks = results.normal_tasks(campaign)
    ranked = not tasks or any(JOBS[task].ranked for task in tasks)
    for name in dict.fromkeys((*(("agreement", "ranking") if ranked else ()), *tasks)):
        try:
            if name == "agreement":
                measures[name] = verbs.agree(results.judgments(campaign))
            elif name == "ranking":  # and the task of this name
                measures[name] = verbs.rank(results.judgments(campaign), **settings)
            else:
                found[name] = standing(campaign, Task(name))
        except GrammeterError as error:
            reasons[name] = error.message
    return measures, found, reasons


def _distances(campaign: Campaign) -> Standing:
    """Score each system on its own sentences with post-edits; each judge's one is a reference."""
    rows = list[tuple[str, float, float, int]]()
    answers, _ = latest(campaign, Task.POST_EDIT)
    for name, of in post_edits(campaign, answers).items():
        if texts := [texts for texts in of.values() if texts[2:]]:
            sources, outputs, *posts = zip_longest(*texts)
            own = {name: OwnReferences(references=posts)}
            corpus = Corpus(sources=sources, systems={name: outputs}, own=own)
            data = cast("Any", verbs.score)(corpus, ["nld"]).to_dict()
            scored = data["metrics"]["nld"]["systems"][name]
            rows.append((name, scored["value"], scored["parts"]["exact"], len(corpus)))
    if not rows:
        raise DataError("no post-edit yet", fix="Wait until judges have handed in some.")
    units = (Column("nld", "score", best="low"), Column("unchanged", "share"))
    table = Table.of(("system", *units, Column("sentences", "count")), rows)
    names = [column.head for column in table.columns[1:]]
    data = {name: dict(zip(names, of, strict=True)) for name, *of in rows}
    return Standing([table], {"kind": "post-edits", "systems": data})
