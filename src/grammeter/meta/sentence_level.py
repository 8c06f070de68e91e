"""What a sentence-level meta-evaluation is asked and what it answers, and how ties count.

A pair of outputs falls into one of six cells. Kendall's tau and accuracy are ratios of weighted
sums of these, so a rule is three rows of weights. Every rule that a published table used stands
here under its own name.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np

from grammeter.core import (
    Cell,
    Column,
    FloatArray,
    IntArray,
    Named,
    Result,
    Signature,
    Table,
    UnknownNameError,
    UsageError,
    format_number,
    json_number,
)
from grammeter.meta.system_values import Plain
from grammeter.ranking import EXTRACTIONS, UNITS, Extraction, Unit
from grammeter.version import __version__

KIND = "meta-sentence"

Missing = Literal["refuse", "drop"]
"""A metric without a score for a judged output has no value at all (Chollampatt & Ng 2018), or is
measured on the other pairs, which are counted."""

MISSING: tuple[Missing, ...] = get_args(Missing)


# --- ties ----------------------------------------------------------------------------------

CELLS = ("concordant", "discordant", "tie read against", "tie read with", "human tie", "both tie")
"""Where a pair can fall.

The metric orders it as the human does, or the other way round; only the metric ties, and the
order of the names, which the script of SEEDA puts in place of the tie, contradicts or repeats
the human's; only the human ties; both do.
"""

CONCORDANT, DISCORDANT, AGAINST, WITH, HUMAN, BOTH = range(len(CELLS))

TieRule = Literal["no-ties", "h-ties", "three-way", "seeda-script", "half", "drop", "wrong"]
"""How ties count; see :data:`RULES`."""

TIE_RULES: tuple[TieRule, ...] = get_args(TieRule)


@dataclass(frozen=True)
class TieWeights:
    """What each cell adds to tau, to accuracy, and to the number of pairs that divides both."""

    tau: tuple[float, ...]
    accuracy: tuple[float, ...]
    counted: tuple[float, ...]

    def tau_of(self, counts: FloatArray | IntArray) -> FloatArray:
        """Return Kendall's tau, -1 to 1, of counts of shape ``(..., 6)``; NaN without a pair."""
        return self._ratio(counts, self.tau)

    def accuracy_of(self, counts: FloatArray | IntArray) -> FloatArray:
        """Return the accuracy, 0 to 1, of counts of shape ``(..., 6)``; NaN without a pair."""
        return self._ratio(counts, self.accuracy)

    def _ratio(self, counts: FloatArray | IntArray, gains: tuple[float, ...]) -> FloatArray:
        above: FloatArray = counts @ np.array(gains, dtype=np.float64)
        below: FloatArray = counts @ np.array(self.counted, dtype=np.float64)
        return np.divide(above, below, out=np.full(below.shape, np.nan), where=below > 0)


_DECIDED = (1, 1, 1, 1, 0, 0)
"""The pairs in which the human has a preference."""

_NEUTRAL = TieWeights((1, -1, 0, 0, 0, 0), (1, 0, 0, 0, 0, 0), _DECIDED)

# With C concordant and D discordant pairs, M pairs tied by the metric alone, H by the human alone,
# B by both; where tau is not said, it is 2 accuracy - 1:
RULES: Mapping[TieRule, TieWeights] = {
    # Chollampatt & Ng 2018, Table 3, "NoTies" (from WMT 2014): tau = (C - D) / (C + D + M)
    "no-ties": _NEUTRAL,
    # The same table, "HTies": tau = (C + B - D) / (C + D + M + H + B); its accuracy is acc_eq of
    # WMT 2023 (Deutsch et al. 2023)
    "h-ties": TieWeights((1, -1, 0, 0, 0, 1), (1, 0, 0, 0, 0, 1), (1,) * 6),
    # The conventional metrics of Kobayashi et al. 2024 (SEEDA and its Table 1): as no-ties,
    # accuracy = C / (C + D + M); the name says which table the figures belong beside
    "three-way": _NEUTRAL,
    # The script released with SEEDA, and the LLM rows of that table: a tie of the metric is read
    # as "the system whose name comes first in the alphabet is worse" (for a metric of which less
    # is better: "is better"), then counted as right or wrong
    "seeda-script": TieWeights((1, -1, -1, 1, 0, 0), (1, 0, 0, 1, 0, 0), _DECIDED),
    # A tie of the metric is half right: accuracy = (C + M / 2) / (C + D + M)
    "half": TieWeights((1, -1, 0, 0, 0, 0), (1, 0, 0.5, 0.5, 0, 0), _DECIDED),
    # Ties of the metric are left out, too: tau = (C - D) / (C + D), Goodman and Kruskal's gamma
    "drop": TieWeights((1, -1, 0, 0, 0, 0), (1, 0, 0, 0, 0, 0), (1, 1, 0, 0, 0, 0)),
    # A tie of the metric is a mistake: accuracy = C / (C + D + M)
    "wrong": TieWeights((1, -1, -1, -1, 0, 0), (1, 0, 0, 0, 0, 0), _DECIDED),
}
"""How ties count, by rule; a metric's tie is neutral, half right, wrong, or left out."""


def cell_numbers(human: IntArray, metric: IntArray, *, higher_is_better: bool = True) -> IntArray:
    """Say into which of :data:`CELLS` each pair falls, shape ``(pairs,)``.

    ``human`` and ``metric`` are 1 if the system whose name comes first is better, -1 if worse, 0
    if they tie; ``higher_is_better`` matters to the cells of the metric's ties alone.
    """
    agreed = human * metric
    read = np.where(human == (1 if higher_is_better else -1), AGAINST, WITH)
    decided = np.where(agreed > 0, CONCORDANT, np.where(agreed < 0, DISCORDANT, read))
    return np.where(human == 0, np.where(metric == 0, BOTH, HUMAN), decided)


def tie_calibrated(human: IntArray, difference: FloatArray) -> tuple[float, float]:
    """Return the best accuracy with near scores as ties, and the smallest distance that gives it.

    Tie calibration of Deutsch et al. 2023 ("Ties Matter", EMNLP), over all pairs together: with
    ``|difference| <= epsilon`` as a tie, ``acc_eq`` is the share of pairs in which metric and
    human say the same of three things, better, worse and tied. It is chosen on the very data it
    is reported for, hence an upper limit. NaN without a pair.

    ``human`` is 1, -1 or 0 for a tie, ``difference`` the score of the first system less that of
    the second, larger is better; shape ``(pairs,)``.
    """
    if not len(human):
        return math.nan, math.nan
    distance = np.abs(difference)
    order = np.argsort(distance, kind="stable")
    # Once a pair counts as a tie, a tie of the human is right and any other answer is wrong.
    right_before = human * np.sign(difference) > 0
    gained = np.cumsum((human == 0).astype(np.int64)[order] - right_before[order])
    thresholds, last = np.unique(distance[order][::-1], return_index=True)
    right = right_before.sum() + gained[len(human) - 1 - last]
    if thresholds[0] > 0:  # no two scores are equal: epsilon 0 ties nothing
        thresholds = np.concatenate([[0.0], thresholds])
        right = np.concatenate([[right_before.sum()], right])
    best = int(np.argmax(right))
    return float(right[best] / len(human)), float(thresholds[best])


# --- the question --------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class SentenceDesign:
    """How a metric is held against judgments: all that the signature of a result adds.

    Attributes
    ----------
    pairs
        ``expanded``: all systems behind an output are compared; ``unexpanded``: one of them.
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
        for kind, name, known in (
            ("tie rule", self.ties, TIE_RULES),
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

    @property
    def weights(self) -> TieWeights:
        """The weights of the rule for ties."""
        return RULES[self.ties]

    def settings(self) -> dict[str, object]:
        """Return what a signature shows; the prefix keeps apart what metrics also call so."""
        names = ["pairs", "ties", "missing", "resamples"]
        names += ["permutations"] * bool(self.permutations)
        names += ["confidence"] * bool(self.resamples)
        names += ["unit", "seed"] * bool(self.resamples or self.permutations)
        return {f"meta-{name}": getattr(self, name) for name in names}


# --- the answer ----------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Estimate(Plain):
    """A value and its bootstrap interval, ``None`` if there was none; NaN has a ``reason``."""

    value: float
    low: float | None = None
    high: float | None = None
    reason: str | None = None

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
        return {
            "n": self.total,
            "missing": self.missing,
            "concordant": self.concordant,
            "discordant": self.discordant,
            "ties": {"metric": self.metric_ties, "human": self.human_ties, "both": self.both_ties}
            | {"metric_share": json_number(self.tie_share)},
        }


@dataclass(frozen=True)
class MetricAgreement:
    """How well one metric orders the outputs of a sentence, under the design's rule for ties.

    ``calibrated`` is ``acc_eq`` with the best threshold for ties, and this threshold in the
    metric's units; see :func:`tie_calibrated`.
    """

    signature: Signature
    counts: PairCounts
    tau: Estimate
    accuracy: Estimate
    calibrated: tuple[float, float]

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape of one metric."""
        numbers = map(json_number, self.calibrated)
        calibrated: dict[str, Any] = dict(zip(("accuracy", "epsilon"), numbers, strict=True))
        if calibrated["accuracy"] is None:
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


@dataclass(frozen=True, repr=False)
class SentenceLevel(Result, Named[MetricAgreement], over="metrics", what="metric in this result"):
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
        Soft pairwise accuracy by metric, of the same number of rounds (Thompson et al. 2024).
    notices
        What was noticed while files were read.
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

    def tables(self, *, long: bool = False) -> Sequence[Table]:
        """Return a row for each metric, with all that it rests on; then judges and tests.

        For programs: a row for each judge, or all, and metric.
        """
        if long:
            return [self._long_table()]
        judges = [self._judge_table()] if self.by_judge else []
        return [self._main_table(), *judges, *([self._test_table()] if self.pvalues else [])]

    def _main_table(self) -> Table:
        metrics = list(self.values())
        columns: list[tuple[Column | str, Sequence[Cell]]] = [("metric", list(self))]
        for name in ("tau", "accuracy"):
            estimates: list[Estimate] = [getattr(metric, name) for metric in metrics]
            columns.append((Column(name, "number", best="high"), [e.value for e in estimates]))
            if self.design.resamples:
                columns.append((Column("interval", "number"), [e.interval for e in estimates]))
        for name in ("total", "concordant", "discordant", "metric_ties", "human_ties", "both_ties"):
            head = Column("pairs" if name == "total" else name.replace("_", " "), "count")
            head = replace(head, head="both tie") if name == "both_ties" else head
            columns.append((head, [getattr(metric.counts, name) for metric in metrics]))
        shares = [metric.counts.tie_share for metric in metrics]
        columns.append((Column("metric's ties", "share"), shares))
        return Table.side_by_side(columns, self._remarks())

    def _long_table(self) -> Table:
        counts = ("n", "missing", "concordant", "discordant", "ties_metric", "ties_human")
        rows = [
            (
                *(judge, name, *metric.tau.figures, *metric.accuracy.figures),
                *(metric.counts.total, metric.counts.missing),
                *(metric.counts.concordant, metric.counts.discordant),
                *(metric.counts.metric_ties, metric.counts.human_ties, metric.counts.both_ties),
            )
            for judge, metrics in {"all": self.metrics, **self.by_judge}.items()
            for name, metric in metrics.items()
        ]
        heads = [n + end for n in ("tau", "accuracy") for end in ("", "_low", "_high")]
        figures = (Column(head, "number") for head in heads)
        numbers = (Column(head, "count") for head in (*counts, "ties_both"))
        return Table.of(("judge", "metric", *figures, *numbers), rows)

    def _judge_table(self) -> Table:
        """Return what each judge's pairs say: tau and accuracy by metric."""
        names = list(next(iter(self.by_judge.values())))
        heads = (Column(f"{n} {f}", "number") for n in names for f in ("tau", "accuracy"))
        rows = [
            (
                *(judge, max(m.counts.total for m in metrics.values())),
                *(e.value for n in names for e in (metrics[n].tau, metrics[n].accuracy)),
            )
            for judge, metrics in self.by_judge.items()
        ]
        return Table.of(("judge", Column("pairs", "count"), *heads), rows)

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
                yield (
                    f"{name}: tie-calibrated accuracy {format_number(accuracy)}, scores within"
                    f" {epsilon:.4g} as ties (chosen on these data)"
                )
            reasons = (metric.tau.reason, metric.accuracy.reason)
            yield from (f"{name}: {reason}" for reason in dict.fromkeys(reasons) if reason)
            if soft := self.soft.get(name):
                reason = f" ({soft.reason})" if soft.reason else ""
                yield f"{name}: soft pairwise accuracy {format_number(soft.value)}{reason}"
            if metric.counts.missing:
                yield f"{name}: {metric.counts.missing} pairs lack a score"
        yield from (f"{name}: {metric.signature}" for name, metric in self.items())

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
