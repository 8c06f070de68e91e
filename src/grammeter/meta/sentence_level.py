"""What a sentence-level meta-evaluation is asked and what it answers, and how ties count.

A pair of outputs falls into one of six cells. Kendall's tau and accuracy are ratios of weighted
sums of these, so a rule is three rows of weights. Every rule that a published table used stands
here under its own name.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from operator import attrgetter
from typing import Any

from grammeter import core, stats
from grammeter.core import Cell, Column, FloatArray, Named, Result, Signature, Table
from grammeter.meta.sentence_design import SentenceDesign

KIND = "meta-sentence"

COUNTS = {
    "total": "n", "missing": "missing", "concordant": "concordant", "discordant": "discordant",
    "metric_ties": "ties_metric", "human_ties": "ties_human", "both_ties": "ties_both",
}  # fmt: skip
"""The counts of :class:`PairCounts` that tables show, and their columns for programs."""


@dataclass(frozen=True, kw_only=True)
class Estimate(core.Plain):
    """A value and its bootstrap interval, ``None`` if there was none; NaN has a ``reason``."""

    value: float
    low: float | None = None
    high: float | None = None
    reason: str | None = None

    @classmethod
    def of(
        cls, value: float, drawn: FloatArray, confidence: float, undefined: str | None = None
    ) -> "Estimate":
        """Add to a value the interval of the same in resamples, shape ``(resamples,)`` or ``(0,)``.

        ``undefined`` says why a value is NaN; see :func:`grammeter.stats.defined_interval`.
        """
        if math.isnan(value) or not len(drawn):
            return cls(value=value, reason=undefined if math.isnan(value) else None)
        low, high, reason = stats.defined_interval(drawn, confidence)
        return cls(value=value, low=low, high=high, reason=reason)

    @property
    def figures(self) -> tuple[float, float | None, float | None]:
        """The value and its interval."""
        return self.value, self.low, self.high

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval, ``None`` if there was no bootstrap."""
        return None if self.low is None or self.high is None else (self.low, self.high)


@dataclass(frozen=True)
class PairCounts:
    """How many pairs fall into each of :data:`CELLS`, in this order, and lack a score."""

    concordant: int
    discordant: int
    read_against: int
    read_with: int
    human_ties: int
    both_ties: int
    missing: int = 0

    @property
    def cells(self) -> tuple[int, ...]:
        """Counts by cell."""
        return astuple(self)[:-1]

    @property
    def total(self) -> int:
        """All pairs with a score."""
        return sum(self.cells)

    @property
    def metric_ties(self) -> int:
        """Pairs that the metric alone ties."""
        return self.read_against + self.read_with

    @property
    def tie_share(self) -> float:
        """Share of the pairs that the metric ties, alone or with the human; NaN without pairs."""
        return (self.metric_ties + self.both_ties) / self.total if self.total else math.nan

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape."""
        names = ("missing", "concordant", "discordant")
        ties = {"metric": self.metric_ties, "human": self.human_ties, "both": self.both_ties}
        counts = {"n": self.total, **{n: getattr(self, n) for n in names}, "ties": ties}
        return counts | {"metric_tie_share": core.json_number(self.tie_share)}


@dataclass(frozen=True)
class RatedAgreement:
    """How well sentence scores follow people's ratings as numbers, by coefficient.

    ``pooled`` over all rated ``outputs``; ``segment``, the mean of the coefficients within the
    ``segments`` that have one. ``missing`` outputs lack a score; ``left_out`` counts segments by
    :data:`~grammeter.meta.rated.LEFT_OUT`.
    """

    pooled: Mapping[stats.CoefficientName, Estimate]
    segment: Mapping[stats.CoefficientName, Estimate]
    outputs: int
    missing: int
    segments: int
    left_out: Mapping[str, int]

    @property
    def parts(self) -> tuple[tuple[str, Mapping[stats.CoefficientName, Estimate], int], ...]:
        """Both kinds of coefficients: what they are over, values, and how many observations."""
        return ("pooled", self.pooled, self.outputs), ("segment", self.segment, self.segments)

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape."""
        pooled: dict[str, Any] = {**self.pooled, "n": self.outputs, "missing": self.missing}
        segment = {**self.segment, "n": self.segments, "left_out": self.left_out}
        return core.plain({"pooled": pooled, "segment": segment})


@dataclass(frozen=True)
class MetricAgreement:
    """How well one metric orders the outputs of a sentence, under the design's rule for ties.

    ``calibrated`` is ``acc_eq`` with the best threshold for ties, and this threshold in the
    metric's units; see :func:`tie_calibrated`. ``rated``: where people gave ratings.
    """

    signature: Signature
    counts: PairCounts
    tau: Estimate
    accuracy: Estimate
    calibrated: tuple[float, float]
    rated: RatedAgreement | None = None

    @property
    def acc_eq(self) -> float:
        """Share of the pairs in which metric and people say the same: better, worse or tied."""
        counts, undefined = self.counts, math.isnan(self.calibrated[0])
        return math.nan if undefined else (counts.concordant + counts.both_ties) / counts.total

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape of one metric."""
        accuracy, epsilon = self.calibrated
        calibrated: dict[str, Any] = {"accuracy": accuracy, "epsilon": epsilon}
        if math.isnan(accuracy):
            calibrated["reason"] = self.tau.reason or "no pair"
        estimates = {"tau": self.tau, "accuracy": self.accuracy}
        rest: dict[str, Any] = {"tie_calibrated": calibrated, "signature": self.signature}
        if self.rated is not None:
            both = {"value": self.acc_eq, "calibrated": accuracy, "epsilon": epsilon}
            reason = {"reason": calibrated["reason"]} if "reason" in calibrated else {}
            rest |= self.rated.to_dict() | {"acc_eq": both | reason}
        return core.plain(estimates | self.counts.to_dict() | rest)


ByMetric = Mapping[str, MetricAgreement]

_OVER = {"pooled": "all outputs", "segment": "within segments"}
_RATED = (
    *Column.many("number", *(f"{over}_{kind}" for over in _OVER for kind in stats.KINDS)),
    *Column.many("number", "acc_eq", "acc_eq_calibrated", "epsilon"),
    *Column.many("count", "outputs", "segments"),
)


def _rated_cells(metric: MetricAgreement) -> list[Cell]:
    """Return the cells of the columns :data:`_RATED`."""
    if metric.rated is None:
        return [None] * len(_RATED)
    values = [of.value for _, part, _ in metric.rated.parts for of in part.values()]
    return [*values, metric.acc_eq, *metric.calibrated, *(n for *_, n in metric.rated.parts)]


PValues = Mapping[str, Mapping[tuple[str, str], float]]
"""``tau`` and ``accuracy`` -> two metrics -> two-sided p-value of their difference."""


@dataclass(frozen=True, repr=False)
class SentenceLevel(Result, Named[MetricAgreement], over="metrics", what="metric in this result"):
    """How well several metrics order the outputs of a sentence, by spelling.

    ``rankings`` counts those that gave at least one pair. ``by_judge`` has the same figures for the
    judgments of each judge alone, ``by_rule`` by every rule for ties, ``pvalues`` permutation tests
    between metrics that have all scores, all empty unless asked for; ``soft``, the soft pairwise
    accuracy by metric, is of the same number of rounds (Thompson et al. 2024). ``criterion`` is
    that of people's ratings, if they gave such. ``notices``: what was noticed while files were
    read.
    """

    design: SentenceDesign
    systems: tuple[str, ...]
    judges: tuple[str, ...]
    rankings: int
    metrics: ByMetric
    by_judge: Mapping[str, ByMetric] = field(default_factory=dict[str, ByMetric])
    by_rule: Mapping[str, ByMetric] = field(default_factory=dict[str, ByMetric])
    pvalues: PValues = field(default_factory=dict[str, Mapping[tuple[str, str], float]])
    soft: Mapping[str, Estimate] = field(default_factory=dict[str, Estimate])
    notes: tuple[str, ...] = ()
    criterion: str | None = None
    notices: tuple[str, ...] = field(default=(), compare=False)

    def tables(self, *, long: bool = False) -> Sequence[Table]:
        """Return a row for each metric, with all that it rests on; then judges and tests.

        For programs: a row for each judge, or all, and metric.
        """
        if long:
            return [self._long_table()]
        tables = [self._main_table()]
        tables += [self._rated_table()] if self.criterion else []
        parts = {"judge": self.by_judge, "rule for ties": self.by_rule}
        tables += [self._part_table(part, of) for part, of in parts.items() if of]
        return [*tables, self._test_table()] if self.pvalues else tables

    def _main_table(self) -> Table:
        metrics = list(self.values())
        columns: list[tuple[Column | str, Sequence[Cell]]] = [("metric", list(self))]
        for name in ("tau", "accuracy"):
            estimates: list[Estimate] = [getattr(metric, name) for metric in metrics]
            columns.append((Column(name, "number", best="high"), [e.value for e in estimates]))
            if self.design.resamples:
                columns.append((Column("interval", "number"), [e.interval for e in estimates]))
        for name in (count for count in COUNTS if count != "missing"):
            head = {"total": "pairs", "both_ties": "both tie"}.get(name, name.replace("_", " "))
            cells = [getattr(metric.counts, name) for metric in metrics]
            columns.append((Column(head, "count"), cells))
        shares = [metric.counts.tie_share for metric in metrics]
        columns.append((Column("metric's ties", "share"), shares))
        return Table.side_by_side(columns, self._remarks())

    def _long_table(self) -> Table:
        counted = attrgetter(*COUNTS)
        rows = [
            (judge, name, *metric.tau.figures, *metric.accuracy.figures, *counted(metric.counts))
            for judge, metrics in {"all": self.metrics, **self.by_judge}.items()
            for name, metric in metrics.items()
        ]
        heads = [n + end for n in ("tau", "accuracy") for end in ("", "_low", "_high")]
        numbers = (*Column.many("number", *heads), *Column.many("count", *COUNTS.values()))
        if not self.criterion:
            return Table.of(("judge", "metric", *numbers), rows)
        every = (m for metrics in (self.metrics, *self.by_judge.values()) for m in metrics.values())
        rows = [(*row, *_rated_cells(m)) for row, m in zip(rows, every, strict=True)]
        return Table.of(("judge", "metric", *numbers, *_RATED), rows)

    def _rated_table(self) -> Table:
        """Return how scores follow ratings as numbers, and how often both say the same of pairs."""
        ends = [Column("interval", "number")] if self.design.resamples else []
        heads = [head for kind in stats.KINDS for head in (Column(kind, "number"), *ends)]
        rows: list[tuple[Cell, ...]] = []
        for name, metric in self.items():
            for over, of, n in metric.rated.parts if metric.rated else ():
                pairs = [(kind.value, kind.interval) for kind in of.values()]
                cells = [cell for pair in pairs for cell in pair[: 1 + len(ends)]]
                rows.append((name, _OVER[over], *cells, n))
        columns = "metric", f"with {self.criterion}", *heads, Column("n", "count")
        return Table.of(columns, rows, list(self._rated_remarks()))

    def _rated_remarks(self) -> Iterator[str]:
        yield "n: rated outputs; segments with two outputs and unequal numbers on both sides"
        for name, metric in self.items():
            if rated := metric.rated:
                out = [f"{n} ({why.replace('_', ' ')})" for why, n in rated.left_out.items() if n]
                yield from [f"{name}: segments left out: {', '.join(out)}"] if out else []
                yield f"{name}: acc_eq {core.format_number(metric.acc_eq)}, not tie-calibrated"
                reasons = [of.reason for _, part, _ in rated.parts for of in part.values()]
                yield from (f"{name}: {reason}" for reason in dict.fromkeys(reasons) if reason)

    def _part_table(self, part: str, parts: Mapping[str, ByMetric]) -> Table:
        rows = [
            (name, of, m.counts.total, m.tau.value, m.tau.interval, m.accuracy.value,
             m.accuracy.interval)
            for name in self for of, metrics in parts.items() for m in [metrics[name]]
        ]  # fmt: skip
        heads = Column.many("number", "tau", "interval", "accuracy", "interval")
        return Table.of(("metric", part, Column("pairs", "count"), *heads), rows)

    def _test_table(self) -> Table:
        """Return the tests between metrics: a row for each two of them."""
        heads = (Column(f"p ({figure})", "number") for figure in self.pvalues)
        pairs = list(next(iter(self.pvalues.values())))
        rows = [(*pair, *(of[pair] for of in self.pvalues.values())) for pair in pairs]
        note = f"two-sided p of equal metrics; answers swapped by {self.design.unit}"
        return Table.of(("metric", "against", *heads), rows, [note])

    def _remarks(self) -> Iterator[str]:
        design = self.design
        yield f"{design.pairs} pairs of {self.rankings} rankings; ties: {design.ties}"
        if design.resamples:
            yield f"interval: {design.confidence * 100:g}%, bootstrap by {design.unit}"
        for name, metric in self.items():
            accuracy, epsilon = metric.calibrated
            if not math.isnan(accuracy):
                calibrated = f"{name}: tie-calibrated accuracy {core.format_number(accuracy)}"
                yield f"{calibrated}, scores within {epsilon:.4g} as ties (chosen on these data)"
            reasons = (metric.tau.reason, metric.accuracy.reason)
            yield from (f"{name}: {reason}" for reason in dict.fromkeys(reasons) if reason)
            if soft := self.soft.get(name):
                reason = f" ({soft.reason})" if soft.reason else ""
                yield f"{name}: soft pairwise accuracy {core.format_number(soft.value)}{reason}"
            if metric.counts.missing:
                yield f"{name}: {metric.counts.missing} pairs lack a score"
        yield from (f"{name}: {metric.signature}" for name, metric in self.items())

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape."""
        permutation: dict[str, dict[str, dict[str, float]]] = {}
        for name, pvalues in self.pvalues.items():
            for (first, second), pvalue in pvalues.items():
                permutation.setdefault(name, {}).setdefault(first, {})[second] = pvalue
        parts: dict[str, Any] = {"pairs": self.design.pairs, "ties": self.design.ties}
        parts |= {"criterion": self.criterion}
        parts |= {"by_judge": self.by_judge or None, "by_rule": self.by_rule or None}
        parts |= {"permutation": permutation or None, "soft_pairwise_accuracy": self.soft or None}
        return core.public_shape(KIND, self, "systems", "judges", "rankings", "metrics", **parts)
