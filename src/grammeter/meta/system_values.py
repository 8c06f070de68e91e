"""What the question "does a metric rank systems as people do?" is asked with and answered by."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

import numpy as np

from grammeter.core import (
    FloatArray,
    Layout,
    MetricScores,
    Named,
    Shown,
    Signature,
    UnknownNameError,
    UsageError,
    json_number,
    number,
)
from grammeter.stats import TIE_POLICIES, CoefficientName, TiePolicy
from grammeter.version import __version__

KIND = "meta-system"

IntervalName = Literal["fisher", "systems", "systems-bca", "sentences", "none"]
"""Fisher's z, or a bootstrap over systems, plain or bias-corrected and accelerated, or over
sentences with the systems as they are."""
INTERVALS: tuple[IntervalName, ...] = get_args(IntervalName)

TESTED: tuple[CoefficientName, ...] = ("pearson", "spearman")
"""The coefficients that Williams' test, leaving out systems and the best K are about."""

FEW_SYSTEMS = 10
"""With fewer than these a note says so."""


def plain_fields(result: Any) -> dict[str, Any]:
    """Return the fields of a result that have a value; a NaN is ``None``."""
    values = ((field_.name, getattr(result, field_.name)) for field_ in fields(result))
    return {
        name: value if isinstance(value, str) else json_number(value)
        for name, value in values
        if value is not None
    }


def few_systems(number: int) -> tuple[str, ...]:
    """Return a note for a result of few systems, or nothing."""
    if number >= FEW_SYSTEMS:
        return ()
    return (f"{number} systems are few: correlations vary widely by chance",)


@dataclass(frozen=True, slots=True)
class PairwiseAccuracy:
    """How many pairs of systems a metric orders as people do.

    Kocmi et al. 2021 ("To Ship or Not to Ship", WMT), section 4; used by the WMT metrics tasks
    since.

    Attributes
    ----------
    correct, pairs
        ``pairs`` are those to which people give different scores; ``correct`` of them the metric
        orders alike. The value is their ratio, NaN without a pair.
    metric_ties
        Pairs, of ``pairs``, to which the metric gives equal scores: they are not correct.
    human_ties
        Pairs that people tie: they do not count.
    """

    correct: int
    pairs: int
    metric_ties: int
    human_ties: int
    reason: str | None = None

    @property
    def value(self) -> float:
        """Correct pairs by all that people decide; 0 to 1."""
        return self.correct / self.pairs if self.pairs and self.reason is None else math.nan

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; a NaN is ``None`` with a reason."""
        data: dict[str, Any] = {
            "value": json_number(self.value),
            "correct": self.correct,
            "n": self.pairs,
            "ties": {"metric": self.metric_ties, "human": self.human_ties},
        }
        return data | ({"reason": self.reason} if self.reason else {})


def pairwise_accuracy(scores: FloatArray, human: FloatArray) -> PairwiseAccuracy:
    """Compare every two systems.

    Parameters
    ----------
    scores, human
        Shape ``(systems,)``; higher is better on both sides.
    """
    if not np.isfinite(scores).all():
        return PairwiseAccuracy(0, 0, 0, 0, "a system has no score")
    first, second = np.triu_indices(len(human), 1)
    ours, theirs = (np.sign(side[first] - side[second]) for side in (scores, human))
    decided = theirs != 0
    reason = None if decided.any() else "people give all systems the same score"
    return PairwiseAccuracy(
        int((ours == theirs)[decided].sum()),
        int(decided.sum()),
        int((ours == 0)[decided].sum()),
        int((~decided).sum()),
        reason,
    )


@dataclass(frozen=True, kw_only=True)
class Design:
    """How metrics are held against people: everything that the signatures add.

    Attributes
    ----------
    human
        What the human scores are, in words.
    interval, confidence, resamples, seed
        ``resamples`` and ``seed`` matter to the bootstraps.
    ties
        Of Kendall's tau.

    Raises
    ------
    UsageError
        If a value is out of range or unknown.
    """

    human: str = "human scores"
    interval: IntervalName = "fisher"
    confidence: float = 0.95
    resamples: int = 1000
    seed: int = 1
    ties: TiePolicy = "tau-b"

    def __post_init__(self) -> None:
        if self.interval not in INTERVALS:
            raise UnknownNameError("interval", self.interval, INTERVALS)
        if self.ties not in TIE_POLICIES:
            raise UnknownNameError("tie policy", self.ties, TIE_POLICIES)
        if self.resamples < 1 or self.seed < 0 or not 0 < self.confidence < 1:
            raise UsageError(
                f"resamples={self.resamples}, seed={self.seed}, confidence={self.confidence}"
                " is not possible",
                fix="Take one resample at least, a seed from 0, a confidence between 0 and 1.",
            )

    def signature(self, column: MetricScores, systems: int) -> Signature:
        """Extend a metric's signature; the prefix keeps apart what metrics also call so."""
        added: dict[str, object] = {
            "meta-human": self.human,
            "meta-systems": systems,
            "meta-kendall": self.ties,
            "meta-interval": self.interval,
        }
        if self.interval != "none":
            added["meta-confidence"] = self.confidence
        if self.interval not in ("fisher", "none"):
            added |= {"meta-resamples": self.resamples, "meta-seed": self.seed}
        if not column.higher_is_better:
            added["meta-direction"] = "sign turned, lower is better"
        return column.signature.extended(added)


@dataclass(frozen=True, slots=True)
class Correlation:
    """A coefficient with its interval and two-sided p-value; ``reason`` says why one is NaN."""

    value: float
    low: float
    high: float
    pvalue: float
    n: int
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; a NaN is ``None``."""
        return plain_fields(self)


@dataclass(frozen=True, slots=True)
class WilliamsCell:
    """Whether the row's metric correlates better than the column's; one-sided."""

    t: float
    pvalue: float
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; a NaN is ``None``."""
        return plain_fields(self)


Pair = Mapping[str, float]
"""A coefficient by kind, ``pearson`` and ``spearman``; NaN where undefined."""


@dataclass(frozen=True)
class MetricMeta(Named[Correlation], over="correlations", what="correlation"):
    """What is said of one metric: a :class:`Correlation` by kind.

    Attributes
    ----------
    scores
        By system, as they were correlated: a metric that is better when lower has its sign
        turned.
    pairwise
        How many pairs of systems it orders as people do.
    leave_one_out
        Coefficients by the system that was left out; empty if not asked for.
    top
        Coefficients by K, of the K systems that people like best; empty if not asked for.
    """

    signature: Signature
    correlations: Mapping[CoefficientName, Correlation]
    scores: Mapping[str, float]
    pairwise: PairwiseAccuracy
    leave_one_out: Mapping[str, Pair] = field(default_factory=dict[str, Pair])
    top: Mapping[int, Pair] = field(default_factory=dict[int, Pair])

    def to_dict(self) -> dict[str, Any]:
        """Return the correlations by kind, the signature, and what else was asked for."""
        data: dict[str, Any] = {kind: correlation.to_dict() for kind, correlation in self.items()}
        data["pairwise_accuracy"] = self.pairwise.to_dict()
        data["signature"] = str(self.signature)
        if self.leave_one_out:
            without = self.leave_one_out.items()
            data["leave_one_out"] = {name: _pair_json(pair) for name, pair in without}
        if self.top:
            data["top"] = [{"k": k, **_pair_json(pair)} for k, pair in self.top.items()]
        return data


@dataclass(frozen=True)
class SystemMeta(Shown, Named[MetricMeta], over="metrics", what="metric"):
    """Metrics held against people: ``found["m2"]["pearson"].value``.

    Attributes
    ----------
    systems
        Who took part, best by people first.
    human
        Their human scores, in this order.
    williams
        ``williams["pearson"]["gleu"]["m2"]`` asks whether gleu correlates better than m2. Only
        the metric with the greater correlation has a cell; where the test is undefined both
        have one, with the reason.
    outliers
        Systems that were left out because people's scores of them lie far off.
    """

    design: Design
    systems: tuple[str, ...]
    human: Mapping[str, float]
    metrics: Mapping[str, MetricMeta]
    williams: Mapping[CoefficientName, Mapping[str, Mapping[str, WilliamsCell]]]
    outliers: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    """Notes of the scores and judgments that were correlated."""
    notices: tuple[str, ...] = field(default=(), compare=False)
    """What was noticed while files were read."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What limits these figures, in sentences for a reader."""
        notes = [*self.about]
        if self.outliers:
            notes.append(f"left out as outliers by people's scores: {', '.join(self.outliers)}")
        return (*notes, *few_systems(len(self.systems)))

    __repr__ = Shown.short

    def _layout(self) -> Layout:
        """Lay out the correlations: a row for each metric."""
        rows = [
            (
                name,
                *(
                    cell
                    for correlation in metric.values()
                    for cell in (number(correlation.value, 3), number(correlation.pvalue))
                ),
            )
            for name, metric in self.items()
        ]
        kinds = next(iter(self.values()), None) or ()
        header = ("metric", *(cell for kind in kinds for cell in (kind, "p")))
        subject = f"{len(self.systems)} systems against {self.design.human}"
        return Layout(header, rows, notes=[subject, *self.notes])

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape; a NaN is ``None`` with a reason beside it."""
        return {
            "kind": KIND,
            "grammeter": __version__,
            "human": self.design.human,
            "systems": list(self.systems),
            "outliers": list(self.outliers),
            "interval": self.design.interval,
            "metrics": {name: metric.to_dict() for name, metric in self.metrics.items()},
            "williams": {
                kind: {
                    first: {second: cell.to_dict() for second, cell in row.items()}
                    for first, row in rows.items()
                }
                for kind, rows in self.williams.items()
            },
            "notes": [*self.notes],
        }


def _pair_json(pair: Pair) -> dict[str, float | int | None]:
    return {kind: json_number(value) for kind, value in pair.items()}
