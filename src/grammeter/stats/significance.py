"""Paired tests of the difference between two samples of the same units.

All tests are two-sided. The resampling tests add one to both counts of ``p = c / R``, for the
observed data are one of the arrangements possible under the null hypothesis; so p is never 0
and the randomisation test is exact (Davison & Hinkley 1997, section 4.2; Phipson & Smyth
2010).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from grammeter.core.statistics import FloatArray, IntArray
from grammeter.stats.resample import PairedSamples, chunks, count_units, generator

RELATIVE_TOLERANCE = 1e-10
"""Differences nearer than this, relative to the values, are equal: sums of floats may be off."""


def bootstrap_pvalues(samples: PairedSamples, resampled: FloatArray, pairs: IntArray) -> FloatArray:
    """Paired bootstrap test of the difference between pairs of samples.

    Efron & Tibshirani 1993, ch. 16, in the paired form: the distribution of the difference
    under the null hypothesis is that of the resampled differences shifted to 0. With the
    observed difference d and the resampled ones d*, ``p = (#{|d* - d| >= |d|} + 1) / (R + 1)``.

    Parameters
    ----------
    samples
        The samples, for their observed values.
    resampled
        Shape ``(samples, resamples)``, from :func:`grammeter.stats.resample.bootstrap`.
    pairs
        Shape ``(pairs, 2)``: numbers of the samples to compare.

    Returns
    -------
    FloatArray
        Shape ``(pairs,)``; NaN where a value, observed or resampled, is not finite.
    """
    first, second = pairs.T
    observed = samples.observed
    difference = observed[first] - observed[second]
    shifted = resampled[first] - resampled[second] - difference[:, None]
    return _pvalues(shifted, difference, _tolerance(observed, pairs))


def randomisation_pvalues(
    groups: Sequence[PairedSamples], pairs: Sequence[IntArray], *, resamples: int, seed: int
) -> list[FloatArray]:
    """Approximate randomisation test (Noreen 1989; Riezler & Maxwell 2005).

    If two samples do not differ, it does not matter which of them a unit's row comes from.
    Each round swaps the rows of the two samples in each unit with probability one half;
    ``p = (#{|d of the round| >= |d|} + 1) / (R + 1)``. All pairs and groups share the swaps.

    Parameters
    ----------
    groups, pairs
        For each group, the pairs of its samples to compare, shape ``(pairs, 2)``.
    resamples, seed
        Number of rounds R, and where their random numbers start.

    Returns
    -------
    list
        For each group, shape ``(pairs,)``; NaN where a value is not finite.
    """
    if not groups:
        return []
    rounds: list[list[FloatArray]] = [[] for _ in groups]
    width = max(
        max(len(chosen), len(group.rows)) * group.rows.shape[2]
        for group, chosen in zip(groups, pairs, strict=True)
    )
    for swapped in _swaps(count_units(groups), resamples, seed=seed, width=width):
        for group, chosen, found in zip(groups, pairs, rounds, strict=True):
            found.append(_differences_after(swapped, group, chosen))
    return [
        _randomisation_pvalues(group, chosen, np.concatenate(found, axis=1))
        for group, chosen, found in zip(groups, pairs, rounds, strict=True)
    ]


def sign_test(wins: int, losses: int) -> float:
    """Exact sign test: would a fair coin fall so unevenly, or more so? Ties are left out.

    Returns
    -------
    float
        Two-sided p-value of the binomial distribution; 1 where nothing was decided.
    """
    decided, fewer = wins + losses, min(wins, losses)
    ways, tail = 1, 0
    for outcomes in range(fewer + 1):  # whole numbers: exact however small the tail
        tail += ways
        ways = ways * (decided - outcomes) // (outcomes + 1)
    return min(1.0, 2 * tail / 2**decided)


def _swaps(units: int, resamples: int, *, seed: int, width: int) -> Iterator[FloatArray]:
    random = generator(seed)
    for size in chunks(resamples, max(units, width)):
        yield (random.random((size, units)) < 0.5).astype(np.float64)


def _differences_after(swapped: FloatArray, group: PairedSamples, pairs: IntArray) -> FloatArray:
    """Return the differences of all pairs after the swaps, shape ``(pairs, rounds)``.

    What stays and what crosses over are summed apart and only ever added: a difference of
    sums could leave a rounding error where a count must be 0.
    """
    first, second = pairs.T
    stays, crosses = group.sums(1 - swapped), group.sums(swapped)
    ours = group.value_of(stays[:, first] + crosses[:, second])
    theirs = group.value_of(stays[:, second] + crosses[:, first])
    return (ours - theirs).T


def _randomisation_pvalues(
    group: PairedSamples, pairs: IntArray, differences: FloatArray
) -> FloatArray:
    observed = group.observed
    first, second = pairs.T
    return _pvalues(differences, observed[first] - observed[second], _tolerance(observed, pairs))


def _tolerance(observed: FloatArray, pairs: IntArray) -> FloatArray:
    return RELATIVE_TOLERANCE * np.abs(observed[pairs]).max(axis=1)


def _pvalues(null: FloatArray, difference: FloatArray, tolerance: FloatArray) -> FloatArray:
    """Return the share of the null distribution, ``(pairs, rounds)``, at least as extreme."""
    extreme = np.abs(null) >= (np.abs(difference) - tolerance)[:, None]
    share = (extreme.sum(axis=1) + 1) / (null.shape[1] + 1)
    defined = np.isfinite(null).all(axis=1) & np.isfinite(difference)
    return np.where(defined, share, np.nan)
