"""Agreement between observers: Cohen's kappa in pieces, and Krippendorff's alpha.

Kappa relates the observed agreement to the one that chance alone would bring,
``(observed - chance) / (1 - chance)`` (Cohen 1960). Chance is taken from the frequencies of the
categories over all judgments together, as Scott (1955) does and as the evaluations of machine
translation do under Cohen's name (Bojar et al. 2014), not from each observer's own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from grammeter.core import FloatArray, IntArray, plain_fields, read_fields

Level = Literal["nominal", "ordinal", "interval"]
"""Level of measurement: names, an order, or measures with meaningful differences."""


@dataclass(frozen=True, slots=True)
class Kappa:
    """Agreement beyond chance, from -1 to 1: 1 is full agreement, 0 what chance brings.

    The shares of agreement, ``observed`` and by ``chance``, are from 0 to 1, NaN without
    comparisons, of which there are ``n``. ``low`` and ``high`` are the interval of the value,
    ``None`` if none was computed; the ``reason`` says why value or interval are NaN.
    """

    value: float
    observed: float
    chance: float
    n: int
    reason: str | None = None
    low: float | None = None
    high: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, the value as ``kappa``; a NaN is ``None``."""
        shape = plain_fields(self)
        return {"kappa": shape.pop("value"), **shape}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what :meth:`to_dict` wrote."""
        return read_fields(cls, {**data, "value": data["kappa"]})


@dataclass(frozen=True, slots=True)
class Alpha:
    """Krippendorff's alpha: 1 is full agreement, 0 what chance brings; ``n`` values are compared.

    Its ``value`` is at most 1; interval and ``reason`` are as in :class:`Kappa`.
    """

    value: float
    n: int
    reason: str | None = None
    low: float | None = None
    high: float | None = None


def between_rows(first: IntArray, second: IntArray) -> IntArray:
    """Compare each judgment of one observer with each of another on the same unit.

    ``first`` and ``second``, shape ``(units, categories)``, say how often each observer chose each
    category. The rows, shape ``(units, 2 + categories)``, are the comparisons that agree, all
    comparisons, and how often each category was chosen; 0 for units that one has not judged.
    """
    agreeing = (first * second).sum(axis=1)
    compared = first.sum(axis=1) * second.sum(axis=1)
    both: IntArray = np.where(compared[:, None] > 0, first + second, 0)
    return np.column_stack((agreeing, compared, both))


def within_rows(counts: IntArray) -> IntArray:
    """Compare every two judgments of one observer on the same unit, as :func:`between_rows`."""
    total, agreeing = counts.sum(axis=1), (counts * (counts - 1) // 2).sum(axis=1)
    return np.column_stack((agreeing, total * (total - 1) // 2, counts * (total > 1)[:, None]))


def kappa_values(sums: FloatArray, *, alike: Sequence[int] = ()) -> FloatArray:
    """Compute :func:`kappa` for many sums, ``(..., 2 + categories)``, at once: shape ``(...)``."""
    return _parts(sums, alike)[0]


def kappa(sums: IntArray, *, alike: Sequence[int] = ()) -> Kappa:
    """Compute kappa; NaN without comparisons, and where all judgments are of one category.

    ``sums``, shape ``(2 + categories,)``, add up rows of :func:`between_rows` or
    :func:`within_rows`. Categories at the positions ``alike`` are told apart by an arbitrary choice
    alone, such as the sides of a coin: chance gives each of them their mean frequency.
    """
    if not (compared := int(sums[1])):
        return Kappa(np.nan, np.nan, np.nan, 0, "nothing was judged twice")
    value, observed, chance = map(float, _parts(sums.astype(np.float64), alike))
    reason = "all judgments are the same" if chance == 1 else None
    return Kappa(value, observed, chance, compared, reason)


def _parts(sums: FloatArray, alike: Sequence[int]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return kappa, the observed agreement and that by chance, each of shape ``(...)``."""
    with np.errstate(invalid="ignore", divide="ignore"):
        observed = sums[..., 0] / sums[..., 1]
        shares = sums[..., 2:] / sums[..., 2:].sum(axis=-1, keepdims=True)
        if alike:
            shares[..., list(alike)] = shares[..., list(alike)].mean(axis=-1, keepdims=True)
        chance = (shares**2).sum(axis=-1)
        values: FloatArray = (observed - chance) / (1 - chance)
    return np.where(np.count_nonzero(shares, axis=-1) > 1, values, np.nan), observed, chance


def mean_kappa(kappas: Sequence[Kappa], *, least: int) -> Kappa:
    """Average kappas, each weighted by its number of comparisons.

    ``observed`` and ``chance`` are averaged likewise; the mean kappa is not their function. Kappas
    of fewer than ``least`` comparisons do not count, nor those that are NaN.
    """
    counted = [kappa for kappa in kappas if kappa.n >= least and not np.isnan(kappa.value)]
    if not counted:
        return Kappa(np.nan, np.nan, np.nan, 0, f"no kappa of {least} or more comparisons")
    weights = [kappa.n for kappa in counted]
    columns = [(kappa.value, kappa.observed, kappa.chance) for kappa in counted]
    value, observed, chance = np.average(columns, axis=0, weights=weights).tolist()
    return Kappa(value, observed, chance, sum(weights))


def krippendorff_alpha(values: FloatArray, *, level: Level = "ordinal") -> Alpha:
    """Compute Krippendorff's alpha: one less the observed by the expected disagreement.

    Two values of a unit disagree by a squared distance. That is, by level, 1 for values that
    differ; the number of pairable values from the middle of the one's ties to the middle of
    the other's, squared; or their difference, squared. The expected disagreement is that of all
    pairs of pairable values, whatever their units.

    ``values``, shape ``(units, observers)``, are NaN where an observer gave none; units with fewer
    than two do not count. Alpha is NaN if no unit has two values, or if all values are equal.

    References
    ----------
    Krippendorff (2004). *Content Analysis*, ch. 11. Hayes and Krippendorff (2007). Answering the
    call for a standard reliability measure for coding data. *Communication Methods and Measures*.
    """
    met = Coincidences.of(values, np.zeros(len(values), dtype=np.int64))
    if not len(met.known):
        return Alpha(np.nan, 0, "nothing was judged twice")
    n = int(met.totals.sum())
    if len(met.known) == 1:
        return Alpha(np.nan, n, "all values are equal")
    return Alpha(float(met.alpha(met.totals, met.pairs, level)[0]), n)


@dataclass(frozen=True, eq=False)
class Coincidences:
    """Which values met in one unit, over its number of values less one, summed over a group."""

    known: FloatArray  # (values,): all values, ascending
    totals: FloatArray  # (groups, values): how often each pairable value was given
    pairs: FloatArray  # (groups, values, values): how often two values met in a unit

    @classmethod
    def of(cls, values: FloatArray, groups: IntArray) -> Self:
        """Count the values of units, shape ``(units, observers)``, by the units' groups."""
        chosen = np.count_nonzero(~np.isnan(values), axis=1) > 1
        pairable, groups = values[chosen], groups[chosen]
        known, codes = np.unique(pairable[~np.isnan(pairable)], return_inverse=True)
        units, _ = np.nonzero(~np.isnan(pairable))
        counts = np.zeros((len(pairable), len(known)))
        np.add.at(counts, (units, codes), 1)
        others = np.maximum(counts.sum(axis=1) - 1, 1)[:, None, None]
        met = counts[:, :, None] * counts[:, None, :] / others
        size = int(groups.max(initial=-1)) + 1
        totals, pairs = np.zeros((size, len(known))), np.zeros((size, len(known), len(known)))
        np.add.at(totals, groups, counts)
        np.add.at(pairs, groups, met)
        return cls(known, totals, pairs)

    def alpha(self, totals: FloatArray, pairs: FloatArray, level: Level = "ordinal") -> FloatArray:
        """Compute alpha, shape ``(...)``, from sums over groups; NaN without two values."""
        distances = _squared_distances(self.known, totals, level)
        # a value has no distance to itself, so pairs of one value with itself need no correction
        observed = (pairs * distances).sum(axis=(-2, -1))
        expected = np.einsum("...c,...ck,...k->...", totals, distances, totals)
        with np.errstate(invalid="ignore", divide="ignore"):
            values: FloatArray = 1 - observed * (totals.sum(axis=-1) - 1) / expected
        return np.where(expected > 0, values, np.nan)


def _squared_distances(values: FloatArray, totals: FloatArray, level: Level) -> FloatArray:
    """Return the squared distance of every two values, shape ``(..., values, values)``."""
    if level == "nominal":
        return np.broadcast_to(1 - np.eye(len(values)), (*totals.shape, len(values)))
    ordinal = np.cumsum(totals, axis=-1) - totals / 2
    places = np.broadcast_to(values, totals.shape) if level == "interval" else ordinal
    return (places[..., :, None] - places[..., None, :]) ** 2
