"""What the question "does a metric rank systems as people do?" is asked with and answered by."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np

from grammeter import core, stats

META_SYSTEM = "meta-system"

IntervalName = Literal["fisher", "systems", "systems-bca", "sentences", "none"]
"""Fisher's z, or a bootstrap over systems, plain or bias-corrected and accelerated, or over
sentences with the systems as they are."""
INTERVALS: tuple[IntervalName, ...] = get_args(IntervalName)

TESTED: tuple[stats.CoefficientName, ...] = ("pearson", "spearman")
"""The coefficients that Williams' test, leaving out systems and the best K are about."""


@dataclass(frozen=True, slots=True)
class PairwiseAccuracy:
    """How many pairs of systems a metric orders as people do.

    Kocmi et al. 2021 ("To Ship or Not to Ship", WMT), section 4; used by the WMT metrics tasks
    since. ``n`` pairs have different scores by people; of them the metric orders ``correct`` alike,
    ``ties["metric"]`` are tied, hence not correct. ``ties["human"]``, tied by people, do not count.
    """

    correct: int
    n: int
    ties: Mapping[str, int]
    reason: str | None = None

    @property
    def value(self) -> float:
        """Correct pairs by all that people decide; 0 to 1, NaN without a pair."""
        return self.correct / self.n if self.n and self.reason is None else math.nan

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; a NaN is ``None`` with a reason."""
        return {"value": core.json_number(self.value), **core.plain_fields(self)}


@dataclass(frozen=True, kw_only=True)
class Design:
    """How metrics are held against people: everything that the signatures add.

    ``human`` says in words what the human scores are; ``resamples`` and ``seed`` matter to the
    bootstraps, ``ties`` to Kendall's tau; ``drawn`` is what is drawn in place of sentences. A value
    that is out of range or unknown raises UsageError.
    """

    human: str = "human scores"
    interval: IntervalName = "fisher"
    confidence: float = 0.95
    resamples: int = 1000
    seed: int = 1
    ties: stats.TiePolicy = "tau-b"
    drawn: str = ""

    def __post_init__(self) -> None:
        core.UnknownNameError.check("interval", self.interval, INTERVALS)
        core.UnknownNameError.check("tie policy", self.ties, stats.TIE_POLICIES)
        core.check_drawing(self.resamples, self.seed, self.confidence, least=1)

    def signature(self, column: core.MetricScores, systems: int) -> core.Signature:
        """Extend a metric's signature; the prefix keeps apart what metrics also call so."""
        added: dict[str, object] = {"meta-human": self.human, "meta-systems": systems}
        added |= {"meta-kendall": self.ties, "meta-interval": self.interval}
        if self.interval != "none":
            added["meta-confidence"] = self.confidence
        if self.interval not in ("fisher", "none"):
            added |= {"meta-resamples": self.resamples, "meta-seed": self.seed}
        added |= {"meta-unit": self.drawn} if self.drawn else {}
        return column.signature.extended(added | direction(column))


def direction(column: core.MetricScores) -> dict[str, object]:
    """Return what a signature says of a metric of which less is better."""
    return {} if column.higher_is_better else {"meta-direction": "sign turned, lower is better"}


@dataclass(frozen=True, slots=True)
class Correlation(core.Plain):
    """A coefficient with its interval and two-sided p-value; ``reason`` says why one is NaN."""

    value: float
    low: float
    high: float
    pvalue: float
    n: int
    reason: str | None = None

    @property
    def figures(self) -> tuple[float, float, float]:
        """The value and its interval."""
        return self.value, self.low, self.high


@dataclass(frozen=True, slots=True)
class WilliamsCell(core.Plain):
    """Whether the row's metric correlates better than the column's; one-sided."""

    t: float
    pvalue: float
    reason: str | None = None


Pair = Mapping[str, float]
"""A coefficient by kind, ``pearson`` and ``spearman``; NaN where undefined."""


@dataclass(frozen=True)
class MetricMeta(core.Named[Correlation], over="correlations", what="correlation"):
    """What is said of one metric: a :class:`Correlation` by kind.

    ``scores`` are by system, as they were correlated: with their sign turned if lower is better.
    ``leave_one_out`` has coefficients by the system left out, ``top`` by K, of the K systems that
    people like best; empty if not asked for.
    """

    signature: core.Signature
    correlations: Mapping[stats.CoefficientName, Correlation]
    scores: Mapping[str, float]
    pairwise: PairwiseAccuracy
    leave_one_out: Mapping[str, Pair] = field(default_factory=dict[str, Pair])
    top: Mapping[int, Pair] = field(default_factory=dict[int, Pair])

    def caption(self) -> str:
        """Return both coefficients in words, for below a figure."""
        caption = ", ".join(f"{kind} {core.format_number(self[kind].value, 3)}" for kind in TESTED)
        return caption + (", sign turned" if "meta-direction" in dict(self.signature) else "")

    def to_dict(self) -> dict[str, Any]:
        """Return the correlations by kind, the signature, and what else was asked for."""
        parts = {"pairwise_accuracy": self.pairwise, "signature": self.signature}
        top = [{"k": k, **pair} for k, pair in self.top.items()]
        wanted = {"leave_one_out": self.leave_one_out, "top": top}
        wanted = {name: part for name, part in wanted.items() if part}
        return core.plain({**self.correlations, **parts, "scores": self.scores, **wanted})

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "MetricMeta":
        """Read what :meth:`to_dict` wrote; raise what is amiss as the error that it causes."""
        parts: dict[str, Any] = {"correlations": {kind: data[kind] for kind in stats.KINDS}}
        parts["pairwise"] = data["pairwise_accuracy"]
        parts["top"] = {of["k"]: {kind: of[kind] for kind in TESTED} for of in data.get("top", ())}
        return core.read_fields(cls, {"scores": {}, **data, **parts})


@dataclass(frozen=True, repr=False)
class SystemMeta(core.Result, core.Named[MetricMeta], over="metrics", what="metric"):
    """Metrics held against people: ``result["m2"]["pearson"].value``.

    ``systems`` took part, best by people first; ``human`` are their human scores; ``outliers`` were
    left out because people's scores of them lie far off. ``williams["pearson"]["gleu"]["m2"]`` asks
    whether gleu correlates better than m2. Only the metric with the greater correlation has a cell;
    where the test is undefined both have one, with the reason. ``notices``: what was noticed while
    files were read. ``rankings``, if asked for, are those of judges in the place of metrics.
    """

    design: Design
    systems: tuple[str, ...]
    human: Mapping[str, float]
    metrics: Mapping[str, MetricMeta]
    williams: Mapping[stats.CoefficientName, Mapping[str, Mapping[str, WilliamsCell]]]
    outliers: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    notices: tuple[str, ...] = field(default=(), compare=False)
    rankings: Mapping[str, core.Ranked] = field(default_factory=dict[str, core.Ranked])

    def tables(self, *, long: bool = False) -> Sequence[core.Table]:
        """Return a row for each metric; then Williams' tests, systems left out, the best K.

        For programs: a row for each metric and coefficient or accuracy.
        """
        if long:
            return [self._long_table()]
        tables = [self._main_table()]
        if len(self) > 1:
            tables += [self._williams_table(kind) for kind in TESTED]
        of_metrics = list(self.values())
        if any(metric.leave_one_out for metric in of_metrics):
            rows = {s: [metric.leave_one_out[s] for metric in of_metrics] for s in self.systems}
            tables.append(self._pair_table("without", rows))
        if sizes := sorted({k for metric in of_metrics for k in metric.top}):
            rows = {str(k): [metric.top[k] for metric in of_metrics] for k in sizes}
            tables.append(self._pair_table("best K", rows))
        titled = {name: f"Ranking by {name}" for name in self.rankings}
        return [*tables, *(replace(self.rankings[n].table(), title=t) for n, t in titled.items())]

    def figures(self) -> Mapping[str, core.Figure]:
        """Return each metric's scores against people's, and the p-values of Williams' test."""
        scatters = {
            "human": self.human,
            "metrics": {name: metric.scores for name, metric in self.items()},
            "human_label": self.design.human.partition("|")[0],  # of a signature only the method
            "captions": {name: metric.caption() for name, metric in self.items()},
        }
        pvalues = {kind: np.array(self._pvalues(kind, math.nan)) for kind in self.williams}
        return {
            "scores": core.Figure("metric_scatters", scatters),
            "williams": core.Figure("williams_map", {"metrics": tuple(self), "pvalues": pvalues}),
        }

    def _main_table(self) -> core.Table:
        share = f"{self.design.confidence * 100:g}%"
        columns: list[tuple[core.Column | str, Sequence[core.Cell]]] = [("metric", list(self))]
        for kind in stats.KINDS:
            of_kind = [metric[kind] for metric in self.values()]
            columns += [
                (core.Column(kind, "number", 3, best="high"), [c.value for c in of_kind]),
                (core.Column(share, "number", 3), [(c.low, c.high) for c in of_kind]),
                (core.Column("p", "pvalue"), [c.pvalue for c in of_kind]),
            ]
        accuracies = [metric.pairwise.value for metric in self.values()]
        columns.append((core.Column("pairwise", "number", 3, best="high"), accuracies))
        return core.Table.side_by_side(columns, self._remarks())

    def _long_table(self) -> core.Table:
        rows: list[tuple[core.Cell, ...]] = []
        for name, metric in self.items():
            rows += [(name, k, *c.figures, c.pvalue, c.n) for k, c in metric.items()]
            accuracy = metric.pairwise
            values = (accuracy.value, *[math.nan] * 3, accuracy.n)
            rows.append((name, "pairwise-accuracy", *values))
        figures = core.Column.many("number", "value", "low", "high")
        ends = (core.Column("pvalue", "pvalue"), core.Column("n", "count"))
        return core.Table.of(("metric", "correlation", *figures, *ends), rows)

    def _remarks(self) -> Iterator[str]:
        yield f"{len(self.systems)} systems against {self.design.human}"
        yield "pairwise: share of the pairs of systems that people tell apart, ordered as by people"
        for name, metric in self.items():
            yield f"{name}: {metric.signature}"
            reasons = {correlation.reason for correlation in metric.values() if correlation.reason}
            yield from (f"{name}: NaN: {reason}" for reason in sorted(reasons))

    def _williams_table(self, kind: stats.CoefficientName) -> core.Table:
        """Return one-sided p-values: whether the row's metric correlates better."""
        rows = [(name, *row) for name, row in zip(self, self._pvalues(kind, "-"), strict=True)]
        note = f"Williams' test ({kind}): p that the row's metric correlates better (one-sided)"
        columns = (f"better ({kind})", *core.Column.many("pvalue", *self))
        return core.Table.of(columns, rows, [note])

    def _pvalues(self, kind: stats.CoefficientName, untested: core.Cell) -> list[list[core.Cell]]:
        cells = self.williams[kind]
        return [[cells[a][b].pvalue if b in cells[a] else untested for b in self] for a in self]

    def _pair_table(self, what: str, rows: Mapping[str, Sequence[Pair]]) -> core.Table:
        heads = (core.Column(f"{name} {kind}", "number", 3) for name in self for kind in TESTED)
        cells = [(n, *(pair[k] for pair in pairs for k in TESTED)) for n, pairs in rows.items()]
        return core.Table.of((what, *heads), cells)

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape; a NaN is ``None`` with a reason beside it."""
        names = ("systems", "outliers", "metrics", "williams")
        parts = {**asdict(self.design), "human_scores": self.human}
        return core.public_shape(META_SYSTEM, self, *names, rankings=self.rankings or None, **parts)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, where: str | None = None) -> "SystemMeta":
        """Read what :meth:`to_dict` wrote; DataError, naming ``where``, if it is something else."""
        with core.reading(data, META_SYSTEM, verb="meta system", where=where):
            parts = {"design": data, "human": data.get("human_scores", {})}
            return core.read_fields(cls, {**data, **parts})
