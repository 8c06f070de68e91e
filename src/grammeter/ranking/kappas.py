"""How far judges agree, as values: counts, kappas, alphas, and their public shapes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar, get_args

import numpy as np

from grammeter.core import read_number
from grammeter.ranking.judged_units import Judges
from grammeter.ranking.shapes import plain
from grammeter.stats import Alpha, Interval, Kappa

KappaKind = Literal["script", "orientation-free"]
"""How chance agreement is computed: with "better" and "worse" as they fall in alphabetical order of
the outputs' names, as the paper's script does, or equally likely, for that order means nothing."""

KINDS: tuple[KappaKind, ...] = get_args(KappaKind)

Figure = TypeVar("Figure", Kappa, Alpha)
SIDES = ("inter", "intra")
"""Between judges, and of judges with themselves."""

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
        pairs = {
            "|".join(judges): figure_shape(kappa) | {"in_mean": in_mean(kappa)}
            for judges, kappa in self.pairs.items()
        }
        pooled = shapes_by_side(self.pooled_inter, self.pooled_intra)
        return shapes_by_side(self.inter, self.intra) | {"pairs": pairs, "pooled": pooled}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Kappas:
        """Read what :meth:`to_dict` wrote; raise what is amiss as the error that it causes."""
        names = (text.partition("|") for text in data["pairs"])
        kappas = (read_figure(Kappa, shape) for shape in data["pairs"].values())
        pairs = {(a, b): kappa for (a, _, b), kappa in zip(names, kappas, strict=True)}
        return cls(*read_sides(Kappa, data), pairs, *read_sides(Kappa, data["pooled"]))


def in_mean(kappa: Kappa) -> bool:
    """Whether the kappa of a pair of judges counts in the mean."""
    return kappa.n >= LEAST and not np.isnan(kappa.value)


def shapes_by_side(between: Kappa | Alpha, within: Kappa | Alpha) -> dict[str, Any]:
    """Return the public shapes of the figures between judges and within them."""
    return dict(zip(SIDES, map(figure_shape, (between, within)), strict=True))


def read_sides(cls: type[Figure], shapes: Mapping[str, Any]) -> tuple[Figure, Figure]:
    """Read what :func:`shapes_by_side` returned."""
    between, within = (read_figure(cls, shapes[side]) for side in SIDES)
    return between, within


def figure_shape(figure: Kappa | Alpha) -> dict[str, Any]:
    """Return the public shape of one figure; the reason may be that of its interval."""
    shape = plain(replace(figure, interval=None))
    value = {"kappa" if isinstance(figure, Kappa) else "value": shape.pop("value")}
    return value | (plain(figure.interval) if figure.interval else {}) | shape


def read_figure(cls: type[Figure], shape: Mapping[str, Any]) -> Figure:
    """Read what :func:`figure_shape` returned."""
    names = ("kappa", "observed", "chance") if cls is Kappa else ("value",)
    numbers = [read_number(shape[name]) for name in names]
    reason, unknown = shape.get("reason"), math.isnan(numbers[0])
    low, high = (read_number(shape.get(end)) for end in ("low", "high"))
    interval = Interval(low, high, None if unknown else reason) if "low" in shape else None
    values: list[Any] = [*numbers, shape["n"], reason if unknown else None, interval]
    return cls(*values)
