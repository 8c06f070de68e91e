"""What a metric is: a frozen value whose fields are its whole configuration."""

from __future__ import annotations

import math
import types
import typing
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any, ClassVar, Literal, Self, Union, cast

import numpy as np
import numpy.typing as npt

from grammeter.alignment import gap
from grammeter.core import (
    CountedTypes,
    Edit,
    Explanation,
    FloatArray,
    GoldEdits,
    Grid,
    IntArray,
    JudgedEdit,
    Score,
    Segment,
    SegmentScores,
    Signature,
    Statistics,
    Surroundings,
    Tier,
    UnknownNameError,
    UsageError,
    distribution_of,
    spelling,
)

Needs = Literal["gold", "texts", "gold or texts", "nothing"]
"""What a metric compares a hypothesis with: gold edits, reference texts, either, or nothing."""


@dataclass(frozen=True, kw_only=True)
class Metric(ABC):
    """Base of all metrics.

    A subclass is a frozen, keyword-only dataclass with the class attributes below and the
    three abstract methods. Work is done in :meth:`statistics`, on a whole batch; everything
    else reduces its rows and is cheap: :meth:`score` a corpus, :meth:`sentences` each row
    alone, :meth:`summands` and :meth:`value_of` a thousand resamples at once.

    ``str(metric)`` is its spelling, ``gleu(order=3)``; :func:`grammeter.metric` reads it back.
    """

    name: ClassVar[str]
    """The spelling without fields."""
    title: ClassVar[str]
    """One sentence: what it measures and whose it is."""
    needs: ClassVar[Needs]
    citation: ClassVar[str]
    """BibTeX of the paper to cite."""
    higher_is_better: ClassVar[bool] = True
    bounds: ClassVar[tuple[float, float]] = (-math.inf, math.inf)
    """The lowest and the highest score that a corpus can get."""
    resampling: ClassVar[str] = "chosen references fixed"
    """How resampled scores treat the choice among references; stands in the signature."""
    pooled: ClassVar[bool] = False
    """Whether a score depends on the other systems that are scored in the same run."""
    extracts: ClassVar[bool] = False
    """Whether the metric has :meth:`found_edits`."""
    judges_edits: ClassVar[bool] = False
    """Whether :meth:`explain` says of each edit if it is right, without asking a model."""
    asks_language_model: ClassVar[bool] = False
    """Whether the scores come from a language model on a server."""
    by_row: ClassVar[bool] = True
    """Whether the sentence score of rows with one reference depends on no other row."""
    after_counting: ClassVar[tuple[str, ...]] = ()
    """The fields that :meth:`statistics` does not read."""

    def __post_init__(self) -> None:
        for name, allowed in _allowed(type(self)).items():
            value = getattr(self, name)
            try:
                fitted = spelling.coerce(value, allowed)
            except ValueError:
                raise UsageError(
                    f"{self.name}: {name}={spelling.spell_value(value)} is not possible",
                    fix=f"{name} takes {_describe(allowed)}.",
                ) from None
            object.__setattr__(self, name, fitted)
        self.check_fields()

    def check_fields(self) -> None:  # noqa: B027 - most metrics have nothing to add
        """Raise :class:`UsageError` where a field's value is out of range."""

    def refuse_unless(self, fits: bool, *names: str, fix: str) -> None:
        """Raise :class:`UsageError`, naming these fields, unless their values fit."""
        if not fits:
            shown = ", ".join(f"{name}={getattr(self, name)}" for name in names)
            raise UsageError(f"{self.name}: {shown} is not possible", fix=fix)

    @abstractmethod
    def statistics(self, segments: Sequence[Segment]) -> Statistics:
        """Count once: one row per segment, one slot per competing reference."""

    def pooled_statistics(self, segments: Sequence[Segment], copies: Sequence[int]) -> Statistics:
        """Count the outputs of all systems; ``copies`` says how many wrote each of them.

        A pooled metric overrides this; to others the number of copies does not matter.
        """
        del copies
        return self.statistics(segments)

    @abstractmethod
    def score(self, statistics: Statistics) -> Score:
        """Score a corpus from its rows, the choice among references included."""

    @abstractmethod
    def sentences(self, statistics: Statistics) -> SegmentScores:
        """Return each segment's own score: no other segment decides which reference is chosen.

        Where the corpus score chooses by running totals, ``in_corpus`` says what it chose.
        """

    @abstractmethod
    def summands(self, statistics: Statistics) -> FloatArray:
        """Return rows that add up, shape ``(segments, k)``: references already chosen.

        ``value_of(summands(s).sum(0))`` is the corpus score under the rule that
        :attr:`resampling` names.
        """

    @abstractmethod
    def value_of(self, sums: FloatArray) -> FloatArray:
        """Score sums of :meth:`summands`: shape ``(..., k)`` to ``(...)``."""

    def counting(self) -> object:
        """Return what :meth:`statistics` depends on: metrics with equal values share rows.

        These are all fields, less those of :attr:`after_counting`.
        """
        read = (f.name for f in fields(self) if f.name not in self.after_counting)
        return type(self), *(getattr(self, name) for name in read)

    def gold_notes(self, gold: Sequence[GoldEdits]) -> Iterable[str]:
        """Say what a reader must know of scores against these gold edits."""
        del gold
        return ()

    def type_scores(self, segments: Sequence[Segment]) -> dict[str, Score]:
        """Score a system by error type; nothing if the metric knows none.

        A metric that counts by type overrides :meth:`count_types` and :meth:`type_values`
        instead: its types can be compared between systems.
        """
        del segments
        return {}

    def count_types(
        self,
        systems: Mapping[str, Sequence[Segment]],
        *,
        tier: Tier | None = None,
        by_gold: bool = False,
    ) -> CountedTypes | None:
        """Count edits by error type; ``None`` if the metric counts none.

        Parameters
        ----------
        systems
            The segments of each system.
        tier
            How much of a type is wanted: ``operation``, ``main`` or ``full``.
        by_gold
            Count hits and misses alone, by the gold edits' own types.
        """
        del systems, tier, by_gold
        return None

    def type_values(self, counts: FloatArray | IntArray) -> FloatArray:
        """Score counts of :meth:`count_types`: tp, fp and fn, shape ``(..., 3)``, to ``(...)``."""
        raise TypeError(f"{self.name} counts no types")

    def found_edits(
        self, segments: Sequence[Segment], *, types: bool = False
    ) -> list[tuple[Edit, ...]]:
        """Return the edits of each hypothesis as this metric extracts them, references apart.

        ``types``: also their error types, if the metric knows any, whatever that costs. Only
        for metrics that say :attr:`extracts`.
        """
        raise TypeError(f"{self.name} extracts no edits by itself")

    def constants(self) -> dict[str, Any]:
        """Return what is read from files besides texts and models, as JSON values.

        It is stored with the scores, so that the file need not be there to explain them.
        """
        return {}

    @property
    def reads_corpus(self) -> bool:
        """Whether explaining a sentence needs the rows of all sentences of its system."""
        return False

    def within(self, surroundings: Surroundings) -> Metric:
        """Return a metric that scores and explains one sentence as part of a corpus.

        A metric that takes something from the corpus, such as token frequencies, overrides this;
        most take nothing and return themselves.
        """
        del surroundings
        return self

    def bound(self, **of_corpus: object) -> Self:
        """Return a copy that remembers what it took from a corpus, for :meth:`within`."""
        bound = copy(self)
        for name, value in of_corpus.items():
            object.__setattr__(bound, name, value)
        return bound

    def explain(self, segment: Segment) -> Explanation:
        """Say why one segment gets its score."""
        return self.explained(self.sentences(self.statistics([segment])))

    def explained(
        self, scores: SegmentScores, edits: Iterable[JudgedEdit] = (), grids: Iterable[Grid] = ()
    ) -> Explanation:
        """Return the first of these scores with its parts, edits and tables."""
        value, chosen = float(scores.values[0]), int(scores.chosen[0])
        return Explanation(
            value=value,
            parts={name: column[0].item() for name, column in scores.parts.items()},
            chosen=chosen if chosen >= 0 else None,
            edits=tuple(edits),
            grids=tuple(grids),
            reason=scores.reason if math.isnan(value) else None,
        )

    def evaluate(self, segments: Sequence[Segment]) -> Score:
        """Count and score in one step."""
        return self.score(self.statistics(segments))

    @property
    def notice(self) -> str | None:
        """What a reader of the scores must know, such as a stand-in for a missing model."""
        return None

    def models(self) -> Mapping[str, str]:
        """Return the pretrained models in use: what each is for, and its name or folder."""
        return {}

    @property
    def hint(self) -> str | None:
        """What may make the work faster; it changes no score."""
        return None

    def settings(self) -> dict[str, object]:
        """Return what the signature shows besides the fields; subclasses add theirs."""
        return {}

    def signature(self, context: Mapping[str, object] | None = None) -> Signature:
        """Return name, all fields, :meth:`settings`, then the context of the run.

        A metric of another package also has that package's name and version.
        """
        shown: dict[str, object] = {f.name: _shown(getattr(self, f.name)) for f in fields(self)}
        package = distribution_of(type(self))
        origin: dict[str, object] = {} if package is None else {"package": package}
        return Signature.of(self.name, shown | self.settings() | origin | dict(context or {}))

    def __str__(self) -> str:
        changed = {
            f.name: getattr(self, f.name)
            for f in fields(self)
            if getattr(self, f.name) != f.default
        }
        return spelling.spell(self.name, changed)


@dataclass(frozen=True, kw_only=True)
class SumScore(Metric):
    """Base of metrics whose corpus score is made of sums; NaN where a segment has no reference."""

    def parts(self, sums: FloatArray) -> Mapping[str, float]:
        """Return the further figures of a corpus from sums of :meth:`summands`."""
        del sums
        return {}

    def score(self, statistics: Statistics) -> Score:
        """Score a corpus from the sums over its segments."""
        reason = gap(statistics.present)
        sums = self.summands(statistics).sum(axis=0)
        return Score(
            value=float("nan") if reason else float(self.value_of(sums)),
            signature=self.signature(),
            n=len(statistics),
            parts={} if reason else self.parts(sums),
            reason=reason,
        )


@dataclass(frozen=True, kw_only=True)
class SentenceMean(Metric):
    """Base of metrics whose corpus score is the mean of their sentence scores.

    Parts are means of those of the sentences; sums of what is counted there.
    """

    resampling: ClassVar[str] = "mean of sentence scores"
    counted: ClassVar[tuple[str, ...]] = ("truncated",)
    """The parts of a sentence that are counts."""

    def score(self, statistics: Statistics) -> Score:
        """Take the mean over all sentences, and the means or sums of their parts."""
        scores = self.sentences(statistics)
        mean = mean_of(scores.values, self.signature(), scores.reason)
        if not len(scores):
            return mean
        parts = {
            name: int(column.sum()) if name in self.counted else float(column.mean())
            for name, column in scores.parts.items()
        }
        return replace(mean, parts=parts)

    def summands(self, statistics: Statistics) -> FloatArray:
        """Return sentence scores and ones: shape ``(segments, 2)``."""
        values = self.sentences(statistics).values
        return np.stack([values, np.ones_like(values)], axis=-1)

    def value_of(self, sums: FloatArray) -> FloatArray:
        """Return the means of summed sentence scores; NaN without segments."""
        number = sums[..., 1]
        return sums[..., 0] / np.where(number == 0, np.nan, number)


def build(cls: type[Metric], options: Mapping[str, spelling.Value]) -> Metric:
    """Make a metric from parsed fields.

    Raises
    ------
    UnknownNameError
        If a field does not exist.
    UsageError
        If a value does not fit its field.
    """
    known = [f.name for f in fields(cls)]
    for name in options:
        if not known:
            raise UsageError(f"{cls.name} has no options, so no {name!r}", fix="Leave it out.")
        if name not in known:
            raise UnknownNameError(f"option of {cls.name}", name, known)
    return cls(**cast("dict[str, Any]", dict(options)))


def by_label(
    counts: Sequence[Mapping[int, Sequence[float]]],
    columns: tuple[str, ...],
    dtype: npt.DTypeLike = np.int64,
) -> Statistics:
    """Return statistics from each segment's counts by the number of a reference or annotator."""
    cells = [(at, number) for at, by_number in enumerate(counts) for number in by_number]
    labels = tuple(sorted({number for _, number in cells}))
    slots = {number: slot for slot, number in enumerate(labels)}
    where = [at for at, _ in cells], [slots[number] for _, number in cells]
    rows = np.zeros((len(counts), len(labels), len(columns)), dtype=dtype)
    present = np.zeros(rows.shape[:2], dtype=np.bool_)
    if cells:
        rows[where] = [row for by_number in counts for row in by_number.values()]
        present[where] = True
    return Statistics(rows, present, labels, columns)


def one_slot(rows: npt.NDArray[Any], columns: tuple[str, ...], label: int = 0) -> Statistics:
    """Return statistics with one slot, which all segments have; ``rows``: ``(segments, k)``."""
    return Statistics(rows[:, None], np.ones((len(rows), 1), dtype=np.bool_), (label,), columns)


def no_choice(segments: int) -> IntArray:
    """Return the chosen references of scores that belong to none: -1, shape ``(segments,)``."""
    return np.full(segments, -1, dtype=np.int64)


def ratio(above: Any, below: Any, undefined: float = 0.0) -> FloatArray:
    """Divide; ``undefined`` where the divisor is 0."""
    divisor: FloatArray = np.asarray(below, dtype=np.float64)
    result: FloatArray = np.full(divisor.shape, undefined)
    return np.divide(above, divisor, out=result, where=divisor != 0)


def mean_of(values: FloatArray, signature: Signature, reason: str | None) -> Score:
    """Score a corpus by the plain mean of its sentence scores; NaN if one of them is."""
    if not len(values):
        return Score(value=float("nan"), signature=signature, n=0, reason="no segments")
    missing = int(np.isnan(values).sum())
    why = f"{missing} of {len(values)} segments have no score: {reason}" if missing else None
    return Score(value=float(np.mean(values)), signature=signature, n=len(values), reason=why)


@cache
def _allowed(cls: type[Metric]) -> dict[str, tuple[object, ...]]:
    hints = typing.get_type_hints(cls)
    return {f.name: tuple(_options(hints[f.name])) for f in fields(cls)}


def _options(hint: Any) -> list[object]:
    origin = typing.get_origin(hint)
    if origin is Literal:
        return list(typing.get_args(hint))
    if origin in (Union, types.UnionType):
        return [option for part in typing.get_args(hint) for option in _options(part)]
    return [None] if hint is type(None) else [origin or hint]


def _describe(allowed: Sequence[object]) -> str:
    words = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
    shown = [
        words.get(option, option.__name__)
        if isinstance(option, type)
        else spelling.spell_value(cast("spelling.Value", option))
        for option in allowed
    ]
    return ", ".join(shown[:-1]) + " or " + shown[-1] if len(shown) > 1 else shown[0]


def _shown(value: object) -> object:
    return spelling.spell_value(value) if isinstance(value, tuple) else value  # pyright: ignore
