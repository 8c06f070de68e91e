"""How far judges agree, as values: counts, kappas, alphas, and their public shapes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np

from grammeter.core import read_number
from grammeter.ranking.judged_units import Judges
from grammeter.ranking.selection import figures_of
from grammeter.stats import Alpha, Interval, Kappa

KappaKind = Literal["script", "orientation-free"]
"""How chance agreement is computed: with "better" and "worse" as they fall in alphabetical order of
the outputs' names, as the paper's script does, or equally likely, for that order means nothing."""

KINDS: tuple[KappaKind, ...] = get_args(KappaKind)


LEAST = 50
"""Pairs of judges with fewer comparisons do not count in the mean (the paper's rule)."""


@dataclass(frozen=True, slots=True)
class JudgeCounts:
    """Amount of work of one judge (Table 1 of the paper).

    All ``items``, skipped ones too; ``unexpanded`` pairs of outputs that were ranked together, and
    those that tied; the same for systems: those that wrote the same tie.
    """

    items: int
    unexpanded: int
    unexpanded_ties: int
    expanded: int
    expanded_ties: int


@dataclass(frozen=True, slots=True)
class Kappas:
    """Kappa by one definition.

    ``inter`` and ``intra`` are means over pairs of judges, and over judges with themselves,
    weighted by comparisons, with intervals by resampling sentences. ``pairs`` are by two judges in
    alphabetical order; twice the same judge is its own consistency. The pooled ones are of the
    summed counts of all of them, pairs with few comparisons, too.
    """

    inter: Kappa
    intra: Kappa
    pairs: Mapping[Judges, Kappa]
    pooled_inter: Kappa
    pooled_intra: Kappa

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape: NaN becomes ``null`` with a reason."""
        return {
            "inter": figure_json(self.inter),
            "intra": figure_json(self.intra),
            "pairs": {
                "|".join(judges): figure_json(kappa) | {"in_mean": in_mean(kappa)}
                for judges, kappa in self.pairs.items()
            },
            "pooled": {
                "inter": figure_json(self.pooled_inter),
                "intra": figure_json(self.pooled_intra),
            },
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Kappas:
        """Read what :meth:`to_dict` wrote; raise what is amiss as the error that it causes."""
        inter, intra = _kappa(data["inter"]), _kappa(data["intra"])
        pairs = {_judges(names): _kappa(shape) for names, shape in data["pairs"].items()}
        pooled = (_kappa(data["pooled"][name]) for name in ("inter", "intra"))
        return cls(inter, intra, pairs, *pooled)


def in_mean(kappa: Kappa) -> bool:
    """Whether the kappa of a pair of judges counts in the mean."""
    return kappa.n >= LEAST and not np.isnan(kappa.value)


def figure_json(figure: Kappa | Alpha) -> dict[str, Any]:
    """Return the public shape of one figure; the reason may be that of its interval."""
    data = asdict(figure)
    interval = data.pop("interval") or {"reason": None}
    reason = data.pop("reason") or interval.pop("reason")
    name = "kappa" if isinstance(figure, Kappa) else "value"
    return figures_of({name: data.pop("value"), **data, **interval, "reason": reason})


def _judges(names: str) -> Judges:
    first, _, second = names.partition("|")
    return first, second


def _kappa(shape: Mapping[str, Any]) -> Kappa:
    value, observed, chance = (read_number(shape[key]) for key in ("kappa", "observed", "chance"))
    return Kappa(value, observed, chance, shape["n"], *_reason_and_interval(shape, value))


def read_alpha(shape: Mapping[str, Any]) -> Alpha:
    """Read the public shape of an alpha."""
    value = read_number(shape["value"])
    return Alpha(value, shape["n"], *_reason_and_interval(shape, value))


def _reason_and_interval(
    shape: Mapping[str, Any], value: float
) -> tuple[str | None, Interval | None]:
    """Read them; the reason is that of the interval where the value is known."""
    reason, unknown = shape.get("reason"), math.isnan(value)
    low, high = (read_number(shape.get(key)) for key in ("low", "high"))
    interval = Interval(low, high, None if unknown else reason) if "low" in shape else None
    return reason if unknown else None, interval
