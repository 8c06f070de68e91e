"""What the question "does a metric rank systems as people do?" is asked with and answered by."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

from grammeter.core import (
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


class Plain:
    """A small result: numbers, and a text that says why one is NaN."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that have a value; a NaN is ``None``."""
        return plain_fields(self)


def few_systems(number: int) -> tuple[str, ...]:
    """Return a note for a result of few systems, or nothing."""
    if number >= FEW_SYSTEMS:
        return ()
    return (f"{number} systems are few: correlations vary widely by chance",)


@dataclass(frozen=True, slots=True)
class PairwiseAccuracy:
    """How many pairs of systems a metric orders as people do.

    Kocmi et al. 2021 ("To Ship or Not to Ship", WMT), section 4; used by the WMT metrics tasks
    since. ``pairs`` are those to which people give different scores; of them the metric orders
    ``correct`` alike and ties ``metric_ties``, which are not correct. ``human_ties`` do not count.
    """

    correct: int
    pairs: int
    metric_ties: int
    human_ties: int
    reason: str | None = None

    @property
    def value(self) -> float:
        """Correct pairs by all that people decide; 0 to 1, NaN without a pair."""
        return self.correct / self.pairs if self.pairs and self.reason is None else math.nan

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; a NaN is ``None`` with a reason."""
        ties = {"metric": self.metric_ties, "human": self.human_ties}
        data = {"value": json_number(self.value), "correct": self.correct, "n": self.pairs}
        return data | {"ties": ties} | ({"reason": self.reason} if self.reason else {})


@dataclass(frozen=True, kw_only=True)
class Design:
    """How metrics are held against people: everything that the signatures add.

    ``human`` says in words what the human scores are; ``resamples`` and ``seed`` matter to the
    bootstraps, ``ties`` to Kendall's tau. A value that is out of range or unknown raises
    UsageError.
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
        return column.signature.extended(added | direction(column))


def direction(column: MetricScores) -> dict[str, object]:
    """Return what a signature says of a metric of which less is better."""
    return {} if column.higher_is_better else {"meta-direction": "sign turned, lower is better"}


@dataclass(frozen=True, slots=True)
class Correlation(Plain):
    """A coefficient with its interval and two-sided p-value; ``reason`` says why one is NaN."""

    value: float
    low: float
    high: float
    pvalue: float
    n: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class WilliamsCell(Plain):
    """Whether the row's metric correlates better than the column's; one-sided."""

    t: float
    pvalue: float
    reason: str | None = None


Pair = Mapping[str, float]
"""A coefficient by kind, ``pearson`` and ``spearman``; NaN where undefined."""


@dataclass(frozen=True)
class MetricMeta(Named[Correlation], over="correlations", what="correlation"):
    """What is said of one metric: a :class:`Correlation` by kind.

    Attributes
    ----------
    scores
        By system, as they were correlated: those of a metric that is better when lower have
        their sign turned.
    leave_one_out, top
        Coefficients by the system that was left out; by K, of the K systems that people like
        best. Empty if not asked for.
    """

    signature: Signature
    correlations: Mapping[CoefficientName, Correlation]
    scores: Mapping[str, float]
    pairwise: PairwiseAccuracy
    leave_one_out: Mapping[str, Pair] = field(default_factory=dict[str, Pair])
    top: Mapping[int, Pair] = field(default_factory=dict[int, Pair])

    def to_dict(self) -> dict[str, Any]:
        """Return the correlations by kind, the signature, and what else was asked for."""
        data: dict[str, Any] = {kind: value.to_dict() for kind, value in self.items()}
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
    """Metrics held against people: ``result["m2"]["pearson"].value``.

    Attributes
    ----------
    systems, human
        Who took part, best by people first, and their human scores.
    williams
        ``williams["pearson"]["gleu"]["m2"]`` asks whether gleu correlates better than m2. Only
        the metric with the greater correlation has a cell; where the test is undefined both
        have one, with the reason.
    outliers
        Systems that were left out because people's scores of them lie far off.
    about, notices
        Notes of the scores and judgments; what was noticed while files were read.
    """

    design: Design
    systems: tuple[str, ...]
    human: Mapping[str, float]
    metrics: Mapping[str, MetricMeta]
    williams: Mapping[CoefficientName, Mapping[str, Mapping[str, WilliamsCell]]]
    outliers: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    notices: tuple[str, ...] = field(default=(), compare=False)

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
        cells = {
            name: [text for c in metric.values() for text in (number(c.value, 3), number(c.pvalue))]
            for name, metric in self.items()
        }
        rows = [(name, *row) for name, row in cells.items()]
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
                    a: {b: cell.to_dict() for b, cell in of_a.items()} for a, of_a in rows.items()
                }
                for kind, rows in self.williams.items()
            },
            "notes": [*self.notes],
        }


def _pair_json(pair: Pair) -> dict[str, float | int | None]:
    return {kind: json_number(value) for kind, value in pair.items()}
