"""What a sentence-level meta-evaluation is asked and what it answers: values alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from typing import Any, Literal, get_args

from grammeter.core import Named, Signature, UnknownNameError, UsageError, json_number
from grammeter.meta.system_values import plain_fields
from grammeter.meta.ties import TieRule, weights_of
from grammeter.ranking import EXTRACTIONS, UNITS, Extraction, Unit
from grammeter.version import __version__

KIND = "meta-sentence"

Missing = Literal["refuse", "drop"]
"""A metric without a score for a judged output has no value at all (Chollampatt & Ng 2018), or is
measured on the other pairs, which are counted."""

MISSING: tuple[Missing, ...] = get_args(Missing)


@dataclass(frozen=True, kw_only=True)
class SentenceDesign:
    """How a metric is held against judgments: all that the signature of a result adds.

    Attributes
    ----------
    pairs
        ``expanded``: all systems behind an output are compared; ``unexpanded``: one of them.
    ties
        A rule of :data:`grammeter.meta.ties.RULES`.
    missing
        What a missing sentence score does.
    resamples, seed, unit, confidence
        Resamples (0: no interval), where chance starts, what is drawn as a whole, and the share
        that a percentile interval covers.
    permutations
        Rounds of the permutation tests, between metrics and between systems; 0: no test.

    Raises
    ------
    UsageError
        If a value is out of range or unknown.
    """

    pairs: Extraction = "expanded"
    ties: TieRule = "no-ties"
    missing: Missing = "refuse"
    resamples: int = 1000
    seed: int = 1
    unit: Unit = "sentence"
    confidence: float = 0.95
    permutations: int = 0

    def __post_init__(self) -> None:
        weights_of(self.ties)
        for kind, name, known in (
            ("extraction of pairs", self.pairs, EXTRACTIONS),
            ("resampling unit", self.unit, UNITS),
            ("rule for missing scores", self.missing, MISSING),
        ):
            if name not in known:
                raise UnknownNameError(kind, name, known)
        if min(self.resamples, self.seed, self.permutations) < 0 or not 0 < self.confidence < 1:
            raise UsageError(
                f"resamples={self.resamples}, permutations={self.permutations}, seed={self.seed},"
                f" confidence={self.confidence} is not possible",
                fix="Counts and seed are 0 or more, the confidence lies between 0 and 1.",
            )

    def settings(self) -> dict[str, object]:
        """Return what a signature shows; the prefix keeps apart what metrics also call so."""
        shown: dict[str, object] = {
            "meta-pairs": self.pairs,
            "meta-ties": self.ties,
            "meta-missing": self.missing,
            "meta-resamples": self.resamples,
        }
        if self.permutations:
            shown["meta-permutations"] = self.permutations
        if self.resamples:
            shown["meta-confidence"] = self.confidence
        if self.resamples or self.permutations:
            shown |= {"meta-unit": self.unit, "meta-seed": self.seed}
        return shown


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A value and its bootstrap interval, ``None`` if there was no bootstrap.

    NaN has a ``reason``.
    """

    value: float
    low: float | None = None
    high: float | None = None
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape; NaN becomes ``null`` with a reason."""
        return plain_fields(self)


@dataclass(frozen=True)
class PairCounts:
    """How many pairs fall into each of :data:`grammeter.meta.ties.CELLS`, in this order.

    Attributes
    ----------
    concordant, discordant
        Pairs that metric and human order alike, or the other way round.
    read_against, read_with
        Pairs that the metric alone ties, by what the order of the names would say of them.
    human_ties, both_ties
        Pairs that the human alone ties, or both.
    missing
        Pairs without a score, in no cell.
    """

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
        tied = self.metric_ties + self.both_ties
        return tied / self.total if self.total else float("nan")

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape."""
        return {
            "n": self.total,
            "missing": self.missing,
            "concordant": self.concordant,
            "discordant": self.discordant,
            "ties": {
                "metric": self.metric_ties,
                "human": self.human_ties,
                "both": self.both_ties,
                "metric_share": json_number(self.tie_share),
            },
        }


@dataclass(frozen=True)
class MetricAgreement:
    """How well one metric orders the outputs of a sentence.

    Attributes
    ----------
    tau, accuracy
        Under the design's rule for ties.
    calibrated
        ``acc_eq`` with the best threshold for ties, and this threshold in the metric's units;
        see :func:`grammeter.meta.ties.tie_calibrated`.
    """

    signature: Signature
    counts: PairCounts
    tau: Estimate
    accuracy: Estimate
    calibrated: tuple[float, float]

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape of one metric."""
        accuracy, epsilon = (json_number(number) for number in self.calibrated)
        calibrated: dict[str, Any] = {"accuracy": accuracy, "epsilon": epsilon}
        if accuracy is None:
            calibrated["reason"] = self.tau.reason or "no pair"
        return {
            "tau": self.tau.to_dict(),
            "accuracy": self.accuracy.to_dict(),
            **self.counts.to_dict(),
            "tie_calibrated": calibrated,
            "signature": str(self.signature),
        }


PValues = Mapping[str, Mapping[tuple[str, str], float]]
"""``tau`` and ``accuracy`` -> two metrics -> two-sided p-value of their difference."""


@dataclass(frozen=True)
class SentenceLevel(Named[MetricAgreement], over="metrics", what="metric in this result"):
    """How well several metrics order the outputs of a sentence, by spelling.

    Attributes
    ----------
    rankings
        How many rankings gave at least one pair.
    by_judge
        The same figures for the judgments of each judge alone; empty unless asked for.
    pvalues
        Permutation tests between metrics that have all scores; empty unless asked for.
    soft
        Soft pairwise accuracy by metric, of the same number of rounds; see
        :mod:`grammeter.meta.soft`.
    """

    design: SentenceDesign
    systems: tuple[str, ...]
    judges: tuple[str, ...]
    rankings: int
    metrics: Mapping[str, MetricAgreement]
    by_judge: Mapping[str, Mapping[str, MetricAgreement]] = field(
        default_factory=dict[str, Mapping[str, MetricAgreement]]
    )
    pvalues: PValues = field(default_factory=dict[str, Mapping[tuple[str, str], float]])
    soft: Mapping[str, Estimate] = field(default_factory=dict[str, Estimate])
    notes: tuple[str, ...] = ()
    notices: tuple[str, ...] = field(default=(), compare=False)
    """What was noticed while files were read."""

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape."""
        data: dict[str, Any] = {
            "kind": KIND,
            "grammeter": __version__,
            "pairs": self.design.pairs,
            "ties": self.design.ties,
            "systems": list(self.systems),
            "judges": list(self.judges),
            "rankings": self.rankings,
            "metrics": _shapes(self.metrics),
            "notes": [*self.notes],
        }
        if self.by_judge:
            data["by_judge"] = {judge: _shapes(result) for judge, result in self.by_judge.items()}
        if self.pvalues:
            data["permutation"] = {name: _nested(result) for name, result in self.pvalues.items()}
        if self.soft:
            data["soft_pairwise_accuracy"] = _shapes(self.soft)
        return data


def _shapes(by_metric: Mapping[str, MetricAgreement | Estimate]) -> dict[str, Any]:
    return {name: result.to_dict() for name, result in by_metric.items()}


def _nested(pvalues: Mapping[tuple[str, str], float]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for (first, second), pvalue in pvalues.items():
        nested.setdefault(first, {})[second] = json_number(pvalue)
    return nested
