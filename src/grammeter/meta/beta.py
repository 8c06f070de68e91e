"""Which weight of recall agrees best with people? F-measures of all betas against their scores.

Grundkiewicz et al. 2015, Table 5 and Figure 3. Precision and recall are those that were
measured once; a metric that chooses among annotators by its own beta is not asked again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np

from grammeter.core.errors import DataError, UsageError
from grammeter.core.score import json_number
from grammeter.core.signature import Signature
from grammeter.core.statistics import FloatArray
from grammeter.core.table import MetricScores
from grammeter.meta.selection import select_systems
from grammeter.meta.system_values import few_systems
from grammeter.stats.correlation import pearson, spearman
from grammeter.version import __version__

KIND = "meta-beta"

PARTS = ("precision", "recall")
MOST_BETAS = 10_000


@dataclass(frozen=True, eq=False)
class BetaSweep:
    """Correlations of F-measures with people's scores.

    Attributes
    ----------
    betas
        Shape ``(betas,)``: how many times as much as precision recall weighs.
    f
        Shape ``(betas, systems)``.
    pearson, spearman
        Shape ``(betas,)``; NaN where all systems have the same F.
    """

    metric: str
    human: str
    systems: tuple[str, ...]
    signature: Signature
    betas: FloatArray
    f: FloatArray
    pearson: FloatArray
    spearman: FloatArray
    notes: tuple[str, ...] = ()

    def best(self, kind: str) -> tuple[float, float]:
        """Return the smallest beta with the greatest coefficient, and that coefficient."""
        values = self.pearson if kind == "pearson" else self.spearman
        if np.isnan(values).all():
            return math.nan, math.nan
        at = int(np.nanargmax(values))
        return float(self.betas[at]), float(values[at])

    def to_json(self) -> dict[str, Any]:
        """Return the public shape; a NaN is ``None`` with a reason beside it."""
        data: dict[str, Any] = {
            "kind": KIND,
            "grammeter": __version__,
            "metric": self.metric,
            "human": self.human,
            "systems": list(self.systems),
            "signature": str(self.signature),
            "betas": self.betas.tolist(),
            "notes": [*self.notes],
        }
        for kind, values in (("pearson", self.pearson), ("spearman", self.spearman)):
            data[kind] = [json_number(value) for value in values.tolist()]
        data["best"] = {kind: self._best_json(kind) for kind in ("pearson", "spearman")}
        if np.isnan(self.pearson).any():
            data["reason"] = "all systems have the same F, or people's same score"
        return data

    def _best_json(self, kind: str) -> dict[str, Any]:
        beta, value = self.best(kind)
        return {"beta": json_number(beta), "value": json_number(value)}


def parse_betas(text: str) -> tuple[float, ...]:
    """Read ``FIRST:LAST:STEP``, both ends included, or betas between commas.

    The betas are exact decimals: ``0.01:1:0.01`` holds 0.07, not 0.07 and a rounding error.

    Raises
    ------
    UsageError
        If it is neither, a beta is below 0, or there are more than :data:`MOST_BETAS`.
    """
    try:
        if ":" in text:
            first, last, step = (Decimal(part) for part in text.split(":"))
            count = int((last - first) / step) + 1 if step > 0 and last >= first >= 0 else 0
            betas = [first + step * number for number in range(min(count, MOST_BETAS + 1))]
        else:
            betas = [Decimal(part) for part in text.split(",")]
    except (InvalidOperation, ValueError, OverflowError):
        betas = []
    fits = all(beta.is_finite() and beta >= 0 for beta in betas)
    if not 0 < len(betas) <= MOST_BETAS or not fits:
        raise UsageError(
            f"{text!r} names no betas", fix="Write 0.01:1.0:0.01, or 0.25,0.5,1; at least 0."
        )
    return tuple(float(beta) for beta in betas)


def sweep_beta(
    column: MetricScores,
    human: Mapping[str, float],
    betas: Sequence[float],
    *,
    metric: str | None = None,
    human_name: str = "human scores",
    systems: Sequence[str] | None = None,
    drop: Sequence[str] = (),
) -> BetaSweep:
    """Correlate the F-measures of a metric's precision and recall with people's scores.

    Parameters
    ----------
    column
        Scores with the parts ``precision`` and ``recall``.
    human
        People's scores; higher is better.
    betas
        At least 0.
    metric, human_name
        What the two are called in the answer.
    systems, drop
        See :func:`~grammeter.meta.selection.select_systems`.

    Raises
    ------
    DataError
        If a system stands on one side only, or has no precision, recall or human score.
    """
    name = metric or column.metric
    chosen = select_systems(tuple(column), human, systems=systems, drop=drop)
    precision, recall = (_part(name, column, chosen, part) for part in PARTS)
    criterion = np.array([human[system] for system in chosen])
    for system, value in zip(chosen, criterion.tolist(), strict=True):
        if not math.isfinite(value):
            raise DataError(f"people gave {system!r} no score", fix=f"--drop {system}")
    weights = np.array(betas, dtype=np.float64)
    f = f_measures(precision, recall, weights)
    settings = {"meta-human": human_name, "meta-systems": len(chosen), "meta-betas": len(weights)}
    return BetaSweep(
        name,
        human_name,
        chosen,
        column.signature.extended(settings),
        weights,
        f,
        pearson(f, criterion),
        spearman(f, criterion),
        few_systems(len(chosen)),
    )


def f_measures(precision: FloatArray, recall: FloatArray, betas: FloatArray) -> FloatArray:
    """Return F-measures, shape ``(betas, systems)``; 0 where undefined."""
    squared = (betas**2)[:, None]
    below = squared * precision + recall
    above = (1 + squared) * precision * recall
    return np.divide(above, below, out=np.zeros(below.shape), where=below > 0)


def _part(name: str, column: MetricScores, systems: Sequence[str], part: str) -> FloatArray:
    values = [column[system].parts.get(part, math.nan) for system in systems]
    for system, value in zip(systems, values, strict=True):
        if not math.isfinite(value):
            raise DataError(
                f"{name}: no {part} of {system!r}",
                fix="Give the scores of a metric that has precision and recall, such as m2.",
            )
    return np.array(values)
