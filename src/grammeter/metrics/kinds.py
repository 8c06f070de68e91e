"""Kinds of metrics, by where their counts come from and what a corpus score is made of."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from grammeter import core
from grammeter.alignment import gap
from grammeter.errant import Annotator, annotator
from grammeter.metrics.base import Metric, Segments
from grammeter.models import Steps, check_installed, current, find_model, run_together


@dataclass(frozen=True, kw_only=True)
class Asking(Metric):
    """Base of metrics with models: :meth:`steps` lets requests of all be answered together."""

    layered: ClassVar[bool] = False  # does a field ``layer`` say which states of ``model`` count?

    def models(self) -> Mapping[str, str]:
        """Return the models in use: what each is for (its field), and its name or folder."""
        return {"model": getattr(self, "model")}  # noqa: B009 - the field is the subclass's

    @abstractmethod
    def steps(self, segments: Sequence[core.Segment]) -> Steps[core.Statistics]:
        """Count: yield requests, receive their figures, return statistics at last."""

    def statistics(self, segments: Sequence[core.Segment]) -> core.Statistics:
        """Count once: one row per segment, one slot per competing reference."""
        return run_together([self.steps(segments)])[0]

    @property
    def used_layer(self) -> int | None:
        """The layer whose states are compared, from 1; ``None`` if none are."""
        if not self.layered or not self.models():
            return None
        from grammeter.models import layer_of

        return layer_of(find_model(self.models()["model"]), getattr(self, "layer"))  # noqa: B009

    @property
    def notice(self) -> str | None:
        """Raise at once, before any work, if a model, its layer or a package is missing."""
        models = self.models()
        for name in models.values():
            find_model(name)
        if models:
            _ = self.used_layer
            check_installed()
        return super().notice

    def settings(self) -> dict[str, object]:
        """Return what the signature says of the models: layer, revision or hash, number type."""
        layer = {"layer": self.used_layer} if self.used_layer is not None else {}
        return {**super().settings(), **layer, **model_settings(self.models())}


def model_settings(models: Mapping[str, str]) -> dict[str, object]:
    """Return what signatures say of models in use: hash, revision and number type."""
    shown: dict[str, object] = {}
    for use, name in models.items():
        files = find_model(name)
        shown[f"{use}-hash"] = files.hash
        if files.revision:
            shown[f"{use}-revision"] = files.revision
    return {**shown, "dtype": current().dtype} if models else shown


@dataclass(frozen=True, kw_only=True)
class Pooled(Metric):
    """Base of metrics that score an output beside those of the other systems."""

    pooled = True
    company: ClassVar[tuple[str, ...]] = ()  # other systems' outputs of an explained sentence

    def statistics(self, segments: Sequence[core.Segment]) -> core.Statistics:
        """Count as if each segment were the output of one system."""
        return self.pooled_statistics(segments, [1] * len(segments))

    @abstractmethod
    def pooled_statistics(self, segments: Segments, copies: Sequence[int]) -> core.Statistics:
        """Count the outputs of all systems; ``copies`` says how many wrote each of them."""

    def within(self, surroundings: core.Surroundings) -> Metric:
        """Take the outputs of the other systems."""
        return self.bound(company=tuple(surroundings.company))

    def beside(self, segment: core.Segment) -> list[core.Segment]:
        """Return an output and those of the other systems."""
        return [segment, *(replace(segment, hypothesis=text) for text in self.company)]


class Extracting(Metric):
    """Base of metrics whose field ``pipeline``, if any, names what extracts edits from texts."""

    @property
    def notice(self) -> str | None:
        """What users should know of the pipeline."""
        return "; ".join(filter(None, [super().notice, self.extractor().notice])) or None

    def settings(self) -> dict[str, object]:
        """Return further settings, and what the edits depend on."""
        shown = {key: value for key, value in super().settings().items() if key != "rules"}
        return {**shown, **self.extractor().signature()}

    def extractor(self, *, types: bool = False) -> Annotator:
        """Return what extracts edits; with error types, if wanted."""
        pipeline, rules = (getattr(self, name, None) for name in ("pipeline", "rules"))
        return annotator(pipeline, rules=rules, types=types)


@dataclass(frozen=True, kw_only=True)
class Choosing(Metric):
    """Base of metrics that choose a reference for each sentence."""

    in_turn: ClassVar[bool] = True
    """Whether the corpus score chooses for the totals so far, not for each sentence alone."""

    @property
    def reads_corpus(self) -> bool:
        """Whether explaining a sentence needs the rows of all sentences of its system."""
        return self.in_turn

    @abstractmethod
    def choose(self, statistics: core.Statistics, *, running: bool) -> core.IntArray:
        """Return the slot that is best for each sentence: alone, or with all chosen before it."""

    def chosen(self, statistics: core.Statistics) -> core.IntArray:
        """Return the slot of each sentence in the corpus score, shape ``(segments,)``."""
        return self.choose(statistics, running=self.in_turn)

    @abstractmethod
    def scored(self, statistics: core.Statistics, slots: core.IntArray) -> core.SegmentScores:
        """Score each sentence by the row of a slot."""

    def sentences(self, statistics: core.Statistics) -> core.SegmentScores:
        """Score each sentence by the slot that is best for it alone; parts as in ``scored``."""
        alone = self.scored(statistics, self.choose(statistics, running=False))
        if not self.in_turn or statistics.slots < 2:
            return alone
        corpus = self.scored(statistics, self.chosen(statistics))
        return replace(alone, in_corpus=replace(corpus, parts={}))


@dataclass(frozen=True, kw_only=True)
class SumScore(Metric):
    """Base of metrics whose corpus score is made of sums; NaN where a segment has no reference."""

    def parts(self, sums: core.FloatArray) -> Mapping[str, float]:
        """Return the further figures of a corpus from sums of :meth:`summands`."""
        return {}

    def score(self, statistics: core.Statistics) -> core.Score:
        """Score a corpus from the sums over its segments."""
        reason = gap(statistics.present)
        sums = self.summands(statistics).sum(axis=0)
        value = float("nan") if reason else float(self.value_of(sums))
        parts: Mapping[str, float] = {} if reason else self.parts(sums)
        return core.Score(value, self.signature(), len(statistics), parts, reason)


@dataclass(frozen=True, kw_only=True)
class SentenceMean(Metric):
    """Base of metrics whose corpus score is the mean of their sentence scores, and so its parts."""

    resampling: ClassVar[str] = "mean of sentence scores"
    counted: ClassVar[tuple[str, ...]] = ("truncated",)  # parts that are counts, and summed

    def score(self, statistics: core.Statistics) -> core.Score:
        """Take the mean over all sentences, and of their parts, unless one has no reference."""
        scores = self.sentences(statistics)
        mean = mean_of(scores.values, self.signature(), scores.reason)
        if gap(statistics.present):
            return mean
        parts = {
            name: (column.sum() if name in self.counted else column.mean()).item()
            for name, column in scores.parts.items()
        }
        return replace(mean, parts=parts)

    def summands(self, statistics: core.Statistics) -> core.FloatArray:
        """Return sentence scores and ones: shape ``(segments, 2)``."""
        values = self.sentences(statistics).values
        return np.stack([values, np.ones_like(values)], axis=-1)

    def value_of(self, sums: core.FloatArray) -> core.FloatArray:
        """Return the means of summed sentence scores; NaN without segments."""
        number = sums[..., 1]
        return sums[..., 0] / np.where(number == 0, np.nan, number)


def candidates(
    rows: npt.NDArray[Any], present: npt.NDArray[np.bool_]
) -> list[list[list[float] | None]]:
    """Return rows by segment and slot, ``None`` for a slot that a segment lacks."""
    pairs = zip(rows.tolist(), present.tolist(), strict=True)
    return [[row if it_is else None for row, it_is in zip(*pair, strict=True)] for pair in pairs]


def by_label(
    counts: Sequence[Mapping[int, Sequence[float]]], columns: tuple[str, ...],
    dtype: npt.DTypeLike = np.int64,
) -> core.Statistics:  # fmt: skip
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
    return core.Statistics(rows, present, labels, columns)


def one_slot(rows: npt.NDArray[Any], columns: tuple[str, ...], label: int = 0) -> core.Statistics:
    """Return statistics with one slot, which all segments have; ``rows``: ``(segments, k)``."""
    present = np.ones((len(rows), 1), dtype=np.bool_)
    return core.Statistics(rows[:, None], present, (label,), columns)


def of_references(
    rows: npt.NDArray[Any], present: npt.NDArray[np.bool_], columns: Sequence[str]
) -> core.Statistics:
    """Return statistics with one slot per reference text."""
    return core.Statistics(rows, present, tuple(range(present.shape[1])), tuple(columns))


def no_choice(segments: int) -> core.IntArray:
    """Return the chosen references of scores that belong to none: -1, shape ``(segments,)``."""
    return np.full(segments, -1, dtype=np.int64)


def best_slot(scores: core.FloatArray, present: npt.NDArray[np.bool_]) -> core.IntArray:
    """Return the first slot with the greatest score, shape ``(segments,)``; -1 if none is there."""
    none = np.full((len(scores), 1), -np.inf)
    return np.hstack([none, np.where(present, scores, -np.inf)]).argmax(axis=1) - 1


def pick(values: npt.NDArray[np.number], slots: core.IntArray) -> core.FloatArray:
    """Return each segment's values at its slot: ``(n, slots, ...)`` to ``(n, ...)``; NaN at -1."""
    none = np.full((len(values), 1, *values.shape[2:]), np.nan)
    return np.concatenate([values, none], axis=1)[np.arange(len(values)), slots]


def ratio(above: Any, below: Any, undefined: Any = 0.0) -> core.FloatArray:
    """Divide; ``undefined`` where the divisor is 0."""
    divisor: core.FloatArray = np.asarray(below, dtype=np.float64)
    result: core.FloatArray = np.full(divisor.shape, undefined, dtype=np.float64)
    return np.divide(above, divisor, out=result, where=divisor != 0)


def mean_of(values: core.FloatArray, signature: core.Signature, reason: str | None) -> core.Score:
    """Score a corpus by the plain mean of its sentence scores; NaN if one of them is."""
    if not len(values):
        return core.Score(float("nan"), signature, 0, reason="no segments")
    missing = int(np.isnan(values).sum())
    why = f"{missing} of {len(values)} segments have no score: {reason}" if missing else None
    return core.Score(value=float(np.mean(values)), signature=signature, n=len(values), reason=why)
