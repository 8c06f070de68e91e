"""What a comparison of systems says: values and their JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from grammeter.core import Layout, Named, Shown, Signature, records_layout
from grammeter.meta import plain_fields
from grammeter.verbs._compare.design import ComparisonDesign
from grammeter.version import __version__

KIND = "comparison"


@dataclass(frozen=True, kw_only=True)
class SystemResult:
    """What a comparison says of one system under one metric.

    Attributes
    ----------
    gold
        Of an error type: how many edits the chosen references have (tp + fn).
    value
        The corpus score as the table has it, in the metric's units.
    low, high
        Bootstrap percentile interval of the system's own score; NaN where all resamples give
        one value.
    difference, pvalue
        Value less the baseline's value, and the p-value after correction; ``None`` where every
        pair is compared.
    pvalue_raw
        The p-value before correction; ``None`` where nothing is corrected.
    letters
        Two systems that share a letter do not differ significantly; ``None`` with a baseline,
        and where there would be too many letters to read.
    reason
        Why a number is NaN.
    """

    gold: float | None = None
    value: float
    low: float
    high: float
    difference: float | None = None
    pvalue: float | None = None
    pvalue_raw: float | None = None
    letters: str | None = None
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return what applies to this system; a NaN is ``None``."""
        data = plain_fields(self)
        return data if self.difference is not None else {**data, "letters": self.letters}


@dataclass(frozen=True, kw_only=True)
class PairResult:
    """The first system's value less the second's, with p-values as in :class:`SystemResult`."""

    first: str
    second: str
    difference: float
    pvalue: float
    pvalue_raw: float | None = None
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; a NaN is ``None``."""
        return plain_fields(self)


@dataclass(frozen=True)
class MetricComparison(Named[SystemResult], over="systems", what="system"):
    """All systems under one metric, by name; ``pairs`` is empty where there is a baseline.

    ``types`` holds the same by error type, where that was asked for.
    """

    signature: Signature
    higher_is_better: bool
    systems: Mapping[str, SystemResult]
    pairs: tuple[PairResult, ...] = ()
    types: Mapping[str, MetricComparison] = field(default_factory=dict[str, "MetricComparison"])

    @property
    def lettered(self) -> bool:
        """Whether the systems with a score have letters."""
        return all(r.letters for r in self.systems.values() if not math.isnan(r.value))

    def to_dict(self) -> dict[str, Any]:
        """Return signature, direction, results by system and, without a baseline, by pair."""
        data: dict[str, Any] = {
            "signature": str(self.signature),
            "higher_is_better": self.higher_is_better,
            **self._results(),
        }
        if not self.types:
            return data
        signature = next(iter(self.types.values())).signature
        by_type = {kind: result._results() for kind, result in self.types.items()}
        return data | {"types_signature": str(signature), "types": by_type}

    def _results(self) -> dict[str, Any]:
        systems = {name: result.to_dict() for name, result in self.systems.items()}
        if all(result.difference is not None for result in self.systems.values()):
            return {"systems": systems}
        return {"systems": systems, "pairs": [pair.to_dict() for pair in self.pairs]}


@dataclass(frozen=True)
class Comparison(Shown, Named[MetricComparison], over="metrics", what="metric in this comparison"):
    """Systems compared: ``comparison["m2"]["CAMB"].pvalue``."""

    design: ComparisonDesign
    segments: int
    metrics: Mapping[str, MetricComparison]
    notes: tuple[str, ...] = ()
    """What limits these figures, in sentences for a reader; those of the scores come first."""
    notices: tuple[str, ...] = field(default=(), compare=False)
    """What was noticed while files were read."""

    __repr__ = Shown.short

    def _layout(self) -> Layout:
        """Lay out a row for each metric and system."""
        records = {
            f"{m}, {s}": r.to_dict() for m, metric in self.items() for s, r in metric.items()
        }
        return records_layout("metric, system", records, notes=self.notes)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; a NaN is ``None`` with a reason beside it."""
        return {
            "kind": KIND,
            "grammeter": __version__,
            "segments": self.segments,
            **asdict(self.design),
            "metrics": {name: metric.to_dict() for name, metric in self.metrics.items()},
            "notes": [*self.notes],
        }
