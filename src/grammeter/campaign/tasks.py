"""How answers to each task are read from a form and checked; ``tasks.toml`` says what tasks are.

An answer has up to three parts, columns of :class:`~grammeter.campaign.models.Judgment`: ``ranks``,
``verdicts`` and ``answer``, each in the order in which outputs were shown.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from grammeter.campaign.choices import Task
from grammeter.campaign.criteria import OVERALL, RatingCriterion
from grammeter.core import DataError

LONGEST_TEXT = 10_000  # most characters of a text that a judge writes
BEST, MIDDLE, WORST = 1, 2, 3  # ranks of the task `best-worst`
ENDS = {"best": BEST, "worst": WORST}  # field of a form -> rank
CANNOT_SAY = "none"  # value in a form; stored as `None`
Parts = dict[str, Any]
Form = Mapping[str, str]
_AGAIN = "Load the page again."


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
        """Read the parts from a form; raise ``DataError`` if no page of ours sends it."""
        if not self.marked:
            return {}
        words = [
            [form.get(f"edit-{place}-{at}", "") for at in range(count)]
            for place, count in enumerate(scene.edits)
        ]
        if not {word for row in words for word in row} <= {"", "valid", "invalid"}:
            raise DataError("a verdict that is unknown", fix=_AGAIN)
        return {"verdicts": [[word or None for word in row] for row in words]}

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
        ranks = [_number(form.get(f"rank-{at}", ""), "rank") for at in range(scene.size)]
        return {**super().read(form, scene), "ranks": ranks}

    def checked(self, parts: Parts, scene: Scene, complete: bool) -> Parts:
        size, fix = scene.size, "Rank each of them."
        checked: list[Any] = [*(parts.get("ranks") or ([] if complete else [None] * size))]
        if len(checked) != size:
            raise DataError(f"{len(checked)} ranks for {size} corrections", fix=fix)
        for rank in checked:
            if rank is None and complete:
                raise DataError("a correction without a rank", fix=fix)
            if rank is not None and (type(rank) is not int or not 1 <= rank <= size):
                raise DataError(f"a rank of {rank!r}", fix=f"Ranks go from 1 (best) to {size}.")
        return {**super().checked(parts, scene, complete), "ranks": checked}

    def is_open(self, entry: Mapping[str, Any], scene: Scene, rank: int | None = None) -> bool:
        return rank is None


class _Ends(TaskRules):
    """The best and the worst output; all others share a rank."""

    def read(self, form: Form, scene: Scene) -> Parts:
        ranks: list[int | None] = [None] * scene.size
        for name, rank in ENDS.items():
            if (at := _number(form.get(name, ""), name)) is None:
                continue
            if not 1 <= at <= scene.size:
                raise DataError("a correction that is not shown", fix=_AGAIN)
            if ranks[at - 1] is not None:
                fix = "Choose two different ones."
                raise DataError("the best correction is the worst, too", fix=fix)
            ranks[at - 1] = rank
        return {"ranks": ranks}

    def checked(self, parts: Parts, scene: Scene, complete: bool) -> Parts:
        ranks = [*(parts.get("ranks") or [None] * scene.size)]
        if len(ranks) != scene.size or not {*ranks} <= {BEST, MIDDLE, WORST, None}:
            raise DataError("ranks that do not fit the corrections", fix=_AGAIN)
        for name, rank in ENDS.items() if complete else ():
            if ranks.count(rank) != 1:
                raise DataError(f"{ranks.count(rank)} corrections are {name}", fix="Choose one.")
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
        answer = [dict[str, int | None]() for _ in scene.edits]
        for place, scores in enumerate(answer):
            for at, criterion in enumerate(scene.criteria):
                if text := form.get(f"score-{place}-{at}", "").strip():
                    passed = text == CANNOT_SAY
                    scores[criterion.name] = None if passed else _number(text, "score", "-?")
        return {"answer": answer}

    def checked(self, parts: Parts, scene: Scene, complete: bool) -> Parts:
        entries = _entries(parts, scene)
        known = {criterion.name: criterion for criterion in scene.criteria}
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


def _number(text: str, what: str, sign: str = "") -> int | None:
    if not re.fullmatch(rf"(?:{sign}[0-9]{{1,4}})?", text):
        raise DataError(f"a {what} that is no number", fix=_AGAIN)
    return int(text) if text else None


def _entries(parts: Parts, scene: Scene) -> list[Parts]:
    answer: list[Parts] = parts.get("answer") or [Parts() for _ in scene.edits]
    if len(answer) != scene.size:
        raise DataError(f"{len(answer)} answers for {scene.size} corrections", fix=_AGAIN)
    return [dict(entry) for entry in answer]
