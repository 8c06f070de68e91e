"""The result of each task so far, as the other verbs make it of the exported files."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from grammeter import verbs
from grammeter.campaign.choices import Task
from grammeter.campaign.models import Campaign
from grammeter.campaign.services import exports, results
from grammeter.campaign.tasks import BEST, JOBS, WORST
from grammeter.core import Column, DataError, GrammeterError, Ranking, Result, Table
from grammeter.formats import Corpus, OwnReferences, read_judgments, write_text


@dataclass(frozen=True)
class Standing:
    """A task's result so far: tables, and plain values of the result of a verb and of counts."""

    tables: Sequence[Table]
    data: Mapping[str, Any]


def standing(campaign: Campaign, task: Task) -> Standing:
    """Return the result so far; raise ``DataError`` if there is none yet.

    Ratings and direct assessments: ranked by means, of the first criterion, with the means of all.
    Marks: accept rates. Best and worst: a ranking, and counts. Post-edits: the mean character
    distance from the outputs, and how many are unchanged.
    """
    if task == Task.POST_EDIT:
        return _distances(campaign)
    made = exports.export(campaign, task)
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
    if task != Task.BEST_WORST:
        return Standing(result.tables(), result.to_dict())
    counts = _ends(answers)
    heads = [column.head for column in counts.columns[1:]]
    rows = {row[0]: dict(zip(heads, row[1:], strict=True)) for row in counts.rows}
    return Standing([*result.tables(), counts], result.to_dict() | {"counts": rows})


def standings(
    campaign: Campaign, **settings: Any
) -> tuple[dict[str, Any], dict[str, Standing], dict[str, str]]:
    """Return agreement and ranking, the result of each other task, and why some have none."""
    measures, found, reasons = dict[str, Any](), dict[str, Standing](), dict[str, str]()
    tasks = results.normal_tasks(campaign)
    wanted = [task for task in tasks if task != Task.RANKING]
    if not tasks or any(JOBS[task].ranked for task in tasks):
        wanted = ["agreement", "ranking", *wanted]
    for name in wanted:
        try:
            if name == "agreement":
                measures[name] = results.agreement(campaign)
            elif name == "ranking":
                measures[name] = results.ranking(campaign, **settings)
            else:
                found[name] = standing(campaign, Task(name))
        except GrammeterError as error:
            reasons[name] = error.message
    return measures, found, reasons


def _ends(rankings: Sequence[Ranking]) -> Table:
    counts = Counter(
        (system, rank)
        for ranking in rankings
        for group, place in zip(ranking.groups, ranking.ranks, strict=False)  # skipped: no ranks
        for system in group
        for rank in ("shown", place)
    )
    names = results.in_order({name for name, _ in counts})
    rows = [(name, *(counts[name, rank] for rank in ("shown", BEST, WORST))) for name in names]
    return Table.of(("system", *Column.many("count", "shown", "best", "worst")), rows)


def _distances(campaign: Campaign) -> Standing:
    """Score each system on its own sentences with post-edits; each judge's one is a reference."""
    rows = list[tuple[str, float, float, int]]()
    answers, _ = exports.latest(campaign, Task.POST_EDIT)
    for name, of in exports.post_edits(campaign, answers).items():
        if texts := [texts for texts in of.values() if texts[2:]]:
            sources, outputs, *posts = zip_longest(*texts)
            own = {name: OwnReferences(references=posts)}
            corpus = Corpus(sources=sources, systems={name: outputs}, own=own)
            data = cast("Any", verbs.score)(corpus, ["nld"]).to_dict()
            scored = data["metrics"]["nld"]["systems"][name]
            rows.append((name, scored["value"], scored["parts"]["exact"], len(corpus)))
    if not rows:
        raise DataError("no post-edit yet", fix="Wait until judges have handed in some.")
    names = ("nld", "unchanged", "sentences")
    units = (Column("nld", "score", best="low"), Column("unchanged", "share"))
    table = Table.of(("system", *units, Column("sentences", "count")), rows)
    data = {name: dict(zip(names, of, strict=True)) for name, *of in rows}
    return Standing([table], {"kind": "post-edits", "systems": data})
