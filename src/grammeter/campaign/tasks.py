"""What a campaign may be; how answers to each task are read from a form and checked.

A database holds the values of the enumerations. ``tasks.toml`` says what tasks are. An answer has
up to three parts, columns of :class:`~grammeter.campaign.models.Judgment`: ``ranks``, ``verdicts``
and ``answer``, each in the order in which outputs were shown.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from pathlib import Path
from typing import Any

from grammeter.campaign.criteria import OVERALL, RatingCriterion
from grammeter.core import DataError, UnknownNameError, UsageError

LONGEST_TEXT = 10_000  # most characters of a text that a judge writes
BEST, MIDDLE, WORST = 1, 2, 3  # ranks of the task `best-worst`
ENDS = {"best": BEST, "worst": WORST}  # field of a form -> rank
CANNOT_SAY = "none"  # value in a form; stored as `None`
Parts = dict[str, Any]
Form = Mapping[str, str]
_AGAIN = "Load the page again."


class Strategy(StrEnum):
    """How items come to judges."""

    PLANNED = "planned"  # each judge has a list of their own
    POOL = "pool"  # all judges draw from one pool
    ADAPTIVE = "adaptive"  # judges get what tells most about the ranking


class Task(StrEnum):
    """What judges do."""

    RANKING = "ranking"  # rank whole corrections
    EDITS = "edits"  # judge each edit, then rank
    MARKS = "marks"  # judge each edit
    BEST_WORST = "best-worst"  # choose the best and the worst correction
    RATING = "rating"  # rate each correction by criteria, on scales with a text for each point
    DIRECT = "direct"  # rate each correction from 0 to 100
    POST_EDIT = "post-edit"  # correct what is still wrong in each correction


class Kind(StrEnum):
    """Purpose of an item: it counts, explains its answer, or shows whether judges pay attention."""

    NORMAL = "normal"
    TUTORIAL = "tutorial"
    ATTENTION = "attention"


class State(StrEnum):
    """Progress of an assignment."""

    PLANNED = "planned"  # not shown yet
    OPEN = "open"  # shown, without a complete answer
    DONE = "done"
    SKIPPED = "skipped"  # with a reason
    RELEASED = "released"  # shown and left; others may have it


@dataclass(frozen=True, slots=True)
class Scene:
    """What an answer refers to: the number of edits of each output, and the criteria."""

    edits: Sequence[int]
    criteria: Sequence[RatingCriterion] = ()

    @property
    def size(self) -> int:
        """Number of outputs."""
        return len(self.edits)


@dataclass(frozen=True, kw_only=True)
class TaskRules:
    """A task; see ``tasks.toml``. As it stands: verdicts on edits, if it has any."""

    words: str
    guide: str
    keys: str = ""
    form: str = ""
    ranked: bool = False
    marked: bool = False
    compared: bool = False
    checkable: bool = False
    may_pass: bool = False

    def read(self, form: Form, scene: Scene) -> Parts:
        """Read the parts from a form, unchecked but for verdicts; texts stand for no numbers."""
        if not self.marked:
            return {}
        words = [
            [form.get(f"edit-{place}-{at}") or None for at in range(count)]
            for place, count in enumerate(scene.edits)
        ]
        if not {word for row in words for word in row} <= {None, "valid", "invalid"}:
            raise DataError("a verdict that is unknown", fix=_AGAIN)
        return {"verdicts": words}

    def checked(self, parts: Parts, scene: Scene, complete: bool) -> Parts:
        """Return the parts to store; raise ``DataError`` if they are impossible or incomplete."""
        if not self.marked:
            return {}
        rows: Sequence[Sequence[str | None]] = parts.get("verdicts") or [()] * scene.size
        words = [word for row in rows for word in row]
        if len(rows) != scene.size or any(word is not None and len(word) > 40 for word in words):
            raise DataError("verdicts that do not fit the corrections", fix=_AGAIN)
        if complete and None in words:
            raise DataError("an edit without a verdict", fix="Judge each edit.")
        return {"verdicts": [*map(list, rows)]}

    def is_open(self, entry: Mapping[str, Any], scene: Scene, rank: int | None = None) -> bool:
        """Whether something of an output is missing: of its part of ``answer``, or its rank."""
        return False

    def is_right(self, parts: Parts, wanted: Sequence[int]) -> bool:
        """Whether an answer agrees with ranks; those that are equal here may differ."""
        values = self.in_order(parts)
        if len(values) != len(wanted):
            return False
        pairs = combinations(zip(wanted, values, strict=True), 2)
        return all((i < j) == (a < b) and a != b for (i, a), (j, b) in pairs if i != j)

    def in_order(self, parts: Parts) -> list[float]:
        """Return a number for each output, less is better."""
        return [rank for rank in parts.get("ranks") or () if rank is not None]


class _Ranks(TaskRules):
    def read(self, form: Form, scene: Scene) -> Parts:
        ranks = [_number(form.get(f"rank-{at}", "")) for at in range(scene.size)]
        return {**super().read(form, scene), "ranks": ranks}

    def checked(self, parts: Parts, scene: Scene, complete: bool) -> Parts:
        size = scene.size
        ranks: list[Any] = [*(parts.get("ranks") or ([] if complete else [None] * size))]
        for rank in ranks:
            if rank is not None and (type(rank) is not int or not 1 <= rank <= size):
                raise DataError(f"a rank of {rank!r}", fix=f"Ranks go from 1 (best) to {size}.")
        if len(ranks) != size or (complete and None in ranks):
            raise DataError("a correction without a rank", fix="Rank each of them.")
        return {**super().checked(parts, scene, complete), "ranks": ranks}

    def is_open(self, entry: Mapping[str, Any], scene: Scene, rank: int | None = None) -> bool:
        return rank is None


class _Ends(TaskRules):
    """The best and the worst output; all others share a rank."""

    def read(self, form: Form, scene: Scene) -> Parts:
        chosen = {form.get(name, ""): rank for name, rank in ENDS.items()}  # if one: the worst
        return {"ranks": [chosen.get(str(at)) for at in range(1, scene.size + 1)]}

    def checked(self, parts: Parts, scene: Scene, complete: bool) -> Parts:
        ranks = [*(parts.get("ranks") or [None] * scene.size)]
        if len(ranks) != scene.size or not {*ranks} <= {BEST, MIDDLE, WORST, None}:
            raise DataError("ranks that do not fit the corrections", fix=_AGAIN)
        for name, rank in ENDS.items() if complete else ():
            if ranks.count(rank) != 1:
                fault = f"{ranks.count(rank)} corrections are {name}"
                raise DataError(fault, fix="Choose one, and another one for the other end.")
        return {"ranks": [MIDDLE if rank is None and complete else rank for rank in ranks]}

    def is_right(self, parts: Parts, wanted: Sequence[int]) -> bool:
        ranks: list[int | None] = parts.get("ranks") or []
        if BEST not in ranks or WORST not in ranks:
            return False
        best, worst = wanted[ranks.index(BEST)], wanted[ranks.index(WORST)]
        return best == min(wanted) and worst == max(wanted)


class _Scores(TaskRules):
    """Scores of each output by criterion; ``None`` for "cannot say"."""

    def read(self, form: Form, scene: Scene) -> Parts:
        answer = [dict[str, int | str | None]() for _ in scene.edits]
        for place, scores in enumerate(answer):
            for at, criterion in enumerate(scene.criteria):
                if text := form.get(f"score-{place}-{at}", "").strip():
                    scores[criterion.name] = None if text == CANNOT_SAY else _number(text)
        return {"answer": answer}

    def checked(self, parts: Parts, scene: Scene, complete: bool) -> Parts:
        entries, known = _entries(parts, scene), {of.name: of for of in scene.criteria}
        for entry in entries:
            for name, score in entry.items():
                if name not in known:
                    raise DataError("a score for an unknown criterion", fix=_AGAIN)
                low, high = known[name].scale
                passed = score is None and self.may_pass
                if not passed and not (type(score) is int and low <= score <= high):
                    fix = f"Scores of {name} are whole numbers from {low} to {high}."
                    raise DataError(f"a score of {score!r}", fix=fix)
            if complete and (missing := [name for name in known if name not in entry]):
                fix = "Give each correction a score for each criterion."
                raise DataError(f"a correction without a score for {missing[0]}", fix=fix)
        return {"answer": entries}

    def is_open(self, entry: Mapping[str, Any], scene: Scene, rank: int | None = None) -> bool:
        return any(criterion.name not in entry for criterion in scene.criteria)


class _Direct(_Scores):
    def in_order(self, parts: Parts) -> list[float]:
        return [-entry[OVERALL.name] for entry in parts.get("answer") or ()]


class _Texts(TaskRules):
    """A text for each output; an empty one counts only if it is meant to be ``empty``."""

    def read(self, form: Form, scene: Scene) -> Parts:
        answer = [Parts() for _ in scene.edits]
        for place, entry in enumerate(answer):
            if (text := form.get(f"text-{place}")) is not None:
                entry["text"] = " ".join(text.replace("\0", "").split())
            if form.get(f"empty-{place}") and not entry.get("text"):
                entry["empty"] = True
        return {"answer": answer}

    def checked(self, parts: Parts, scene: Scene, complete: bool) -> Parts:
        entries = _entries(parts, scene)
        for entry in entries:
            text = entry.get("text", "")
            if not isinstance(text, str) or len(text) > LONGEST_TEXT:
                raise DataError("a long text", fix=f"Write {LONGEST_TEXT} characters at most.")
            if complete and self.is_open(entry, scene):
                fix = "Write it, or tick that nothing should be left of it."
                raise DataError("an empty text", fix=fix)
        return {"answer": entries}

    def is_open(self, entry: Mapping[str, Any], scene: Scene, rank: int | None = None) -> bool:
        return not entry.get("text") and not entry.get("empty")


_CLASSES = {
    **{Task.RANKING: _Ranks, Task.EDITS: _Ranks, Task.BEST_WORST: _Ends, Task.RATING: _Scores},
    **{Task.DIRECT: _Direct, Task.POST_EDIT: _Texts},
}
_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
JOBS: Mapping[str, TaskRules] = {
    task: _CLASSES.get(task, TaskRules)(**_TABLES[task]) for task in Task
}
"""Task -> what is done with its answers."""


def check_task(task: str, what: str, whose: str) -> None:
    """Raise :class:`UsageError` unless a task exists, and has a property of all those named."""
    UnknownNameError.check(f"task of {whose}", task, list(Task))
    if not getattr(JOBS[task], what):
        fits = ", ".join(name for name, job in JOBS.items() if getattr(job, what))
        raise UsageError(f"{whose} has the task {task!r}", fix=f"Here it can be {fits}.")


def _number(text: str) -> int | str | None:
    return int(text) if re.fullmatch("-?[0-9]{1,4}", text) else text or None


def _entries(parts: Parts, scene: Scene) -> list[Parts]:
    answer: list[Parts] = parts.get("answer") or [Parts() for _ in scene.edits]
    if len(answer) != scene.size:
        raise DataError(f"{len(answer)} answers for {scene.size} corrections", fix=_AGAIN)
    return [dict(entry) for entry in answer]
