"""What judges are asked to do: one class for each task, which reads and checks its answers.

An answer has up to three parts, columns of :class:`~grammeter.campaign.models.Judgment`: ``ranks``,
``verdicts`` and ``answer``, each in the order in which outputs were shown.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

from grammeter.campaign.choices import Task
from grammeter.campaign.criteria import OVERALL, Criterion
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
    criteria: Sequence[Criterion] = ()

    @property
    def size(self) -> int:
        """Number of outputs."""
        return len(self.edits)


class Job:
    """A task: what it is called, which parts its answers have, how they are read and checked."""

    words: ClassVar[str]  # for organisers
    guide: ClassVar[str]  # for judges
    keys: ClassVar[str] = ""  # what digits do
    form: ClassVar[str] = ""  # the template of what is asked about each output, besides edits
    ranked: ClassVar[bool] = False  # whether answers are rankings
    marked: ClassVar[bool] = False  # whether each edit gets a verdict
    alone: ClassVar[bool] = True  # whether an item with one output is asked about
    checkable: ClassVar[bool] = False  # whether there are items with a known answer

    def read(self, form: Form, scene: Scene) -> Parts:
        """Read the parts from a form; raise ``DataError`` if no page of ours sends it."""
        return {"verdicts": _verdicts(form, scene)} if self.marked else {}

    def checked(self, parts: Parts, scene: Scene, complete: bool) -> Parts:
        """Return the parts to store; raise ``DataError`` if they are impossible or incomplete."""
        if not self.marked:
            return {}
        return {"verdicts": _checked_verdicts(parts.get("verdicts"), scene.size, complete)}

    def criteria(self, scene: Scene) -> Sequence[Criterion]:
        """Return what each output is rated by."""
        return ()

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


class _Ranking(Job):
    """Rank whole corrections."""

    words = "rank whole corrections"
    guide = (
        "Give each correction a rank: 1 is best. Corrections that are equally good get the same "
        "rank."
    )
    keys = "rank the current correction, and go to the next"
    form = "ranking"
    ranked, alone, checkable = True, False, True

    def read(self, form: Form, scene: Scene) -> Parts:
        ranks = [_number(form.get(f"rank-{at}", ""), "rank") for at in range(scene.size)]
        return {**super().read(form, scene), "ranks": ranks}

    def checked(self, parts: Parts, scene: Scene, complete: bool) -> Parts:
        ranks: Sequence[Any] = parts.get("ranks") or ()
        size, fix = scene.size, "Rank each of them."
        checked = [*ranks] if ranks or complete else [None] * size
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


class _Edits(_Ranking):
    """Judge each edit, then rank."""

    words = "judge each edit, then rank"
    guide = (
        "First say of each change whether it is valid: whether it makes the sentence better or at "
        f"least not worse. {_Ranking.guide}"
    )
    marked = True


class _Marks(Job):
    """Judge each edit."""

    words = "judge each edit"
    guide = (
        "Say of each change whether it is valid: whether it makes the sentence better or at least "
        "not worse. A correction without changes asks for nothing."
    )
    marked = True


class _BestWorst(Job):
    """Choose the best and the worst."""

    words = "choose the best and the worst correction"
    guide = "Choose the best and the worst of the corrections: two different ones."
    keys = "choose the correction with this number: first the best, then the worst"
    ranked, alone, checkable = True, False, True

    def read(self, form: Form, scene: Scene) -> Parts:
        chosen = {rank: _number(form.get(name, ""), name) for name, rank in ENDS.items()}
        if not all(1 <= at <= scene.size for at in chosen.values() if at is not None):
            raise DataError("a correction that is not shown", fix=_AGAIN)
        places = {rank: at for rank, at in chosen.items() if at is not None}
        if len(places) == 2 and len({*places.values()}) == 1:
            fix = "Choose two different ones."
            raise DataError("the best correction is the worst, too", fix=fix)
        ranks: list[int | None] = [None] * scene.size
        for rank, at in places.items():
            ranks[at - 1] = rank
        return {"ranks": ranks}

    def checked(self, parts: Parts, scene: Scene, complete: bool) -> Parts:
        ranks = [*(parts.get("ranks") or [None] * scene.size)]
        if len(ranks) != scene.size or not {*ranks} <= {BEST, MIDDLE, WORST, None}:
            raise DataError("ranks that do not fit the corrections", fix=_AGAIN)
        if complete:
            for name, rank in ENDS.items():
                if ranks.count(rank) != 1:
                    raise DataError(
                        f"{ranks.count(rank)} corrections are {name}", fix="Choose one."
                    )
            ranks = [MIDDLE if rank is None else rank for rank in ranks]
        return {"ranks": ranks}

    def is_right(self, parts: Parts, wanted: Sequence[int]) -> bool:
        ranks: list[int | None] = parts.get("ranks") or []
        if BEST not in ranks or WORST not in ranks:
            return False
        best, worst = wanted[ranks.index(BEST)], wanted[ranks.index(WORST)]
        return best == min(wanted) and worst == max(wanted)


class _Rating(Job):
    """Rate each correction by several criteria."""

    words = "rate each correction by criteria"
    guide = (
        "Give each correction a score for each criterion; each point of a scale says what it "
        "means. Choose “cannot say” where no point fits."
    )
    keys = "give this score, and go to the next criterion"
    form = "rating"
    may_pass = True  # whether "cannot say" is an answer

    def criteria(self, scene: Scene) -> Sequence[Criterion]:
        return scene.criteria

    def read(self, form: Form, scene: Scene) -> Parts:
        answer: list[dict[str, int | None]] = []
        for place in range(scene.size):
            scores = dict[str, int | None]()
            for at, criterion in enumerate(self.criteria(scene)):
                text = form.get(f"score-{place}-{at}", "").strip()
                if text:
                    known = text != CANNOT_SAY
                    scores[criterion.name] = _number(text, "score", sign=True) if known else None
            answer.append(scores)
        return {"answer": answer}

    def checked(self, parts: Parts, scene: Scene, complete: bool) -> Parts:
        entries = _entries(parts, scene)
        known = {criterion.name: criterion for criterion in self.criteria(scene)}
        for entry in entries:
            if not entry.keys() <= known.keys():
                raise DataError("a score for an unknown criterion", fix=_AGAIN)
            for name, score in entry.items():
                _check_score(score, known[name], self.may_pass)
            if complete and (missing := [name for name in known if name not in entry]):
                fix = "Give each correction a score for each criterion."
                raise DataError(f"a correction without a score for {missing[0]}", fix=fix)
        return {"answer": entries}

    def is_open(self, entry: Mapping[str, Any], scene: Scene, rank: int | None = None) -> bool:
        return any(criterion.name not in entry for criterion in self.criteria(scene))


class _Direct(_Rating):
    """Rate each correction from 0 to 100."""

    words = "rate each correction from 0 to 100"
    guide = (
        "Give each correction a number from 0 (useless) to 100 (perfect), with the slider or in "
        "the box beside it."
    )
    keys, form = "", "direct"
    checkable, may_pass = True, False

    def criteria(self, scene: Scene) -> Sequence[Criterion]:
        return (OVERALL,)

    def in_order(self, parts: Parts) -> list[float]:
        return [-entry[OVERALL.name] for entry in parts.get("answer") or ()]


class _PostEdit(Job):
    """Correct what is still wrong."""

    words = "correct each correction"
    guide = (
        "Correct what is still wrong in each correction, with as few changes as needed. Leave it "
        "as it is if nothing is wrong."
    )
    form = "text"

    def read(self, form: Form, scene: Scene) -> Parts:
        answer = list[dict[str, Any]]()
        for place in range(scene.size):
            text = form.get(f"text-{place}")
            entry = {} if text is None else {"text": " ".join(text.replace("\0", "").split())}
            empty = {"empty": True} if form.get(f"empty-{place}") and not entry.get("text") else {}
            answer.append(entry | empty)
        return {"answer": answer}

    def checked(self, parts: Parts, scene: Scene, complete: bool) -> Parts:
        entries = _entries(parts, scene)
        for entry in entries:
            text = entry.get("text")
            if text is not None and (not isinstance(text, str) or len(text) > LONGEST_TEXT):
                raise DataError("a long text", fix=f"Write {LONGEST_TEXT} characters at most.")
            if complete and self.is_open(entry, scene):
                fix = "Write it, or tick that nothing should be left of it."
                raise DataError("an empty text", fix=fix)
        return {"answer": entries}

    def is_open(self, entry: Mapping[str, Any], scene: Scene, rank: int | None = None) -> bool:
        return not entry.get("text") and not entry.get("empty")


JOBS: Mapping[str, Job] = {
    Task.RANKING: _Ranking(),
    Task.EDITS: _Edits(),
    Task.MARKS: _Marks(),
    Task.BEST_WORST: _BestWorst(),
    Task.RATING: _Rating(),
    Task.DIRECT: _Direct(),
    Task.POST_EDIT: _PostEdit(),
}
"""Task -> what is done with its answers."""


def _number(text: str, what: str, *, sign: bool = False) -> int | None:
    if not re.fullmatch("-?[0-9]{0,9}" if sign else "[0-9]{0,4}", text) or text == "-":
        raise DataError(f"a {what} that is no number", fix=_AGAIN)
    return int(text) if text else None


def _verdicts(form: Form, scene: Scene) -> list[list[str | None]]:
    words = [
        [form.get(f"edit-{place}-{at}", "") for at in range(count)]
        for place, count in enumerate(scene.edits)
    ]
    if not {word for row in words for word in row} <= {"", "valid", "invalid"}:
        raise DataError("a verdict that is unknown", fix=_AGAIN)
    return [[word or None for word in row] for row in words]


def _checked_verdicts(
    verdicts: Sequence[Sequence[str | None]] | None, size: int, complete: bool
) -> list[list[str | None]]:
    rows: Sequence[Sequence[str | None]] = verdicts or [()] * size
    checked = [list(row) for row in rows]
    words = [word for row in checked for word in row]
    if len(checked) != size or any(word is not None and len(word) > 40 for word in words):
        raise DataError("verdicts that do not fit the corrections", fix=_AGAIN)
    if complete and None in words:
        raise DataError("an edit without a verdict", fix="Judge each edit.")
    return checked


def _entries(parts: Parts, scene: Scene) -> list[dict[str, Any]]:
    answer: list[Parts] = parts.get("answer") or [Parts() for _ in scene.edits]
    entries = [dict(entry) for entry in answer]
    if len(entries) != scene.size:
        raise DataError(f"{len(entries)} answers for {scene.size} corrections", fix=_AGAIN)
    return entries


def _check_score(score: object, criterion: Criterion, may_pass: bool) -> None:
    low, high = criterion.scale
    fine = may_pass if score is None else type(score) is int and low <= score <= high
    if not fine:
        fix = f"Scores of {criterion.name} are whole numbers from {low} to {high}."
        raise DataError(f"a score of {score!r}", fix=fix)
