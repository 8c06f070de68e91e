"""Agreement between observers: Cohen's kappa in pieces, and Krippendorff's alpha.

Kappa relates the observed agreement to the one that chance alone would bring,
``(observed - chance) / (1 - chance)`` (Cohen 1960). Chance is taken from the frequencies of the
categories over all judgments together, as Scott (1955) does and as the evaluations of machine
translation do under Cohen's name (Bojar et al. 2014), not from each observer's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from grammeter.core.statistics import FloatArray, IntArray

Level = Literal["nominal", "ordinal", "interval"]
"""What the values mean: names, places in an order, or measures with meaningful differences."""


@dataclass(frozen=True, slots=True)
class Comparisons:
    """Judgments of the same units, compared two by two.

    Attributes
    ----------
    agreeing, compared
        How many of how many comparisons found the same category.
    categories
        Shape ``(categories,)``: how often each category was chosen in these units.
    """

    agreeing: int
    compared: int
    categories: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Kappa:
    """Agreement beyond chance.

    Attributes
    ----------
    value
        From -1 to 1; 1 is full agreement, 0 what chance brings; NaN with a ``reason``.
    observed, chance
        The shares of agreement, from 0 to 1; NaN without comparisons.
    n
        Number of comparisons.
    """

    value: float
    observed: float
    chance: float
    n: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Alpha:
    """Krippendorff's alpha: 1 is full agreement, 0 what chance brings.

    Attributes
    ----------
    value
        At most 1; NaN with a ``reason``.
    n
        Number of values that could be compared.
    """

    value: float
    n: int
    reason: str | None = None


def between(first: IntArray, second: IntArray) -> Comparisons:
    """Compare each judgment of one observer with each of another on the same unit.

    Parameters
    ----------
    first, second
        Shape ``(units, categories)``: how often each observer chose each category. Units that
        one of them has not judged do not count.
    """
    shared = (first.sum(axis=1) > 0) & (second.sum(axis=1) > 0)
    ours, theirs = first[shared], second[shared]
    return Comparisons(
        int((ours * theirs).sum()),
        int((ours.sum(axis=1) * theirs.sum(axis=1)).sum()),
        tuple(int(count) for count in (ours + theirs).sum(axis=0)),
    )


def within(counts: IntArray) -> Comparisons:
    """Compare every two judgments of one observer on the same unit.

    Parameters
    ----------
    counts
        Shape ``(units, categories)``: how often the observer chose each category. Units that
        were judged once do not count.
    """
    repeated = counts[counts.sum(axis=1) > 1]
    total = repeated.sum(axis=1)
    return Comparisons(
        int((repeated * (repeated - 1) // 2).sum()),
        int((total * (total - 1) // 2).sum()),
        tuple(int(count) for count in repeated.sum(axis=0)),
    )


def kappa(comparisons: Comparisons, *, alike: Sequence[int] = ()) -> Kappa:
    """Compute kappa from comparisons.

    Parameters
    ----------
    alike
        Positions of categories that only an arbitrary choice tells apart, such as the sides of
        a coin: chance gives each of them their mean frequency.

    Returns
    -------
    Kappa
        NaN without comparisons, and where all judgments are of one category, for chance
        explains everything then.
    """
    total = sum(comparisons.categories)
    if not comparisons.compared or not total:
        return Kappa(np.nan, np.nan, np.nan, 0, "nothing was judged twice")
    shares = np.array(comparisons.categories) / total
    if alike:
        shares[list(alike)] = shares[list(alike)].mean()
    observed = comparisons.agreeing / comparisons.compared
    chance = float((shares**2).sum())
    if np.count_nonzero(shares) == 1:
        reason = "all judgments are the same"
        return Kappa(np.nan, observed, 1.0, comparisons.compared, reason)
    return Kappa((observed - chance) / (1 - chance), observed, chance, comparisons.compared)


def mean_kappa(kappas: Sequence[Kappa], *, least: int) -> Kappa:
    """Average kappas, each weighted by its number of comparisons.

    ``observed`` and ``chance`` are averaged likewise; the mean kappa is not their function.

    Parameters
    ----------
    least
        Kappas of fewer comparisons do not count, nor those that are NaN.
    """
    counted = [each for each in kappas if each.n >= least and not np.isnan(each.value)]
    if not counted:
        reason = f"no kappa of {least} or more comparisons"
        return Kappa(np.nan, np.nan, np.nan, 0, reason)
    weights = [each.n for each in counted]
    columns = [(each.value, each.observed, each.chance) for each in counted]
    value, observed, chance = np.average(columns, axis=0, weights=weights)
    return Kappa(float(value), float(observed), float(chance), sum(weights))


def krippendorff_alpha(values: FloatArray, *, level: Level = "ordinal") -> Alpha:
    """Compute Krippendorff's alpha: one less the observed by the expected disagreement.

    Two values of a unit disagree by a squared distance. That is, by level, 1 for values that
    differ; the number of pairable values from the middle of the one's ties to the middle of
    the other's, squared; or their difference, squared. The expected disagreement is that of all
    pairs of pairable values, whatever their units.

    Parameters
    ----------
    values
        Shape ``(units, observers)``; NaN where an observer gave none. Units with fewer than two
        values do not count.
    level
        The level of measurement.

    Returns
    -------
    Alpha
        NaN if no unit has two values, or if all values are equal: then chance explains
        everything, and there was nothing to tell apart.

    References
    ----------
    Krippendorff (2004). *Content Analysis*, ch. 11. Hayes and Krippendorff (2007). Answering the
    call for a standard reliability measure for coding data. *Communication Methods and Measures*.
    """
    pairable = values[np.count_nonzero(~np.isnan(values), axis=1) > 1]
    known, codes = np.unique(pairable[~np.isnan(pairable)], return_inverse=True)
    if not len(codes):
        return Alpha(np.nan, 0, "nothing was judged twice")
    if len(known) == 1:
        return Alpha(np.nan, len(codes), "all values are equal")
    units, _ = np.nonzero(~np.isnan(pairable))
    counts = np.zeros((len(pairable), len(known)))
    np.add.at(counts, (units, codes), 1)
    totals = counts.sum(axis=0)
    distances = _squared_distances(known, totals, level)
    expected = totals @ distances @ totals / (len(codes) - 1)
    # a value has no distance to itself, so pairs of one value with itself need no correction
    of_units = np.einsum("uc,ck,uk->u", counts, distances, counts) / (counts.sum(axis=1) - 1)
    return Alpha(float(1 - of_units.sum() / expected), len(codes))


def _squared_distances(values: FloatArray, totals: FloatArray, level: Level) -> FloatArray:
    """Return the squared distance of every two values, shape ``(values, values)``."""
    if level == "nominal":
        return 1 - np.eye(len(values))
    places = values if level == "interval" else np.cumsum(totals) - totals / 2
    return (places[:, None] - places[None, :]) ** 2
