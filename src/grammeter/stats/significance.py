"""Paired tests of the difference between two samples of the same units.

All tests are two-sided. The resampling tests add one to both counts of ``p = c / R``, for the
observed data are one of the arrangements possible under the null hypothesis; so p is never 0
and the randomisation test is exact (Davison & Hinkley 1997, section 4.2; Phipson & Smyth
2010).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

import numpy as np

from grammeter.core import FloatArray, IntArray, tell
from grammeter.stats.resample import PairedSamples, chunks, count_units, generator

RELATIVE_TOLERANCE = 1e-10
"""Differences nearer than this, relative to the values, are equal: sums of floats may be off."""

CELLS = 2**18
"""Numbers of one working array of pairs: small enough for a processor's cache."""


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
        Shape ``(pairs,)``; NaN where a value, observed or resampled, is not finite, and where
        every resample gives the observed difference, which is not 0: such data (one unit, say)
        do not show how the difference varies.
    """
    observed = samples.observed
    pvalues = np.empty(len(pairs))
    for part in _parts(len(pairs), resampled.shape[1]):
        first, second = pairs[part].T
        difference = observed[first] - observed[second]
        null = resampled[first]
        null -= resampled[second]
        null -= difference[:, None]
        null = np.abs(null, out=null)
        tolerance = _tolerance(observed, pairs[part])
        extreme = null >= (np.abs(difference) - tolerance)[:, None]
        rigid = (null.max(axis=1, initial=0) <= tolerance) & (np.abs(difference) > tolerance)
        defined = np.isfinite(null).all(axis=1) & np.isfinite(difference) & ~rigid
        share = (extreme.sum(axis=1) + 1) / (resampled.shape[1] + 1)
        pvalues[part] = np.where(defined, share, np.nan)
        tell("pairs compared", min(part.stop, len(pairs)), len(pairs))
    return pvalues


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
    counted = [
        _Extremes(group, chosen, resamples) for group, chosen in zip(groups, pairs, strict=True)
    ]
    width = max(group.rows.shape[0] * group.rows.shape[2] for group in groups)
    done = 0
    for swapped in _swaps(count_units(groups), resamples, seed=seed, width=width):
        for counts in counted:
            counts.add(swapped)
        done += len(swapped)
        tell("rounds of swaps", done, resamples)
    return [counts.pvalues() for counts in counted]


def sign_test(wins: int, losses: int) -> float:
    """Exact sign test: would a fair coin fall so unevenly, or more so? Ties are left out.

    Returns
    -------
    float
        Two-sided p-value of the binomial distribution; 1 where nothing was decided. Never 0: the
        smallest is 2.2e-308, where a float ends.
    """
    decided, fewer = wins + losses, min(wins, losses)
    ways, tail = 1, 0
    for outcomes in range(fewer + 1):  # whole numbers: exact however small the tail
        tail += ways
        ways = ways * (decided - outcomes) // (outcomes + 1)
    return min(1.0, max(sys.float_info.min, 2 * tail / 2**decided))


def _swaps(units: int, resamples: int, *, seed: int, width: int) -> Iterator[FloatArray]:
    random = generator(seed)
    for size in chunks(resamples, max(units, width)):
        yield (random.random((size, units)) < 0.5).astype(np.float64)


class _Extremes:
    """How many rounds of swaps gave each pair a difference as large as the observed one."""

    def __init__(self, group: PairedSamples, pairs: IntArray, rounds: int) -> None:
        self._group, self._pairs, self._rounds = group, pairs, rounds
        observed = group.observed
        self._difference = observed[pairs[:, 0]] - observed[pairs[:, 1]]
        self._bound = np.abs(self._difference) - _tolerance(observed, pairs)
        self._counts = np.zeros(len(pairs), dtype=np.int64)
        self._defined = np.isfinite(self._difference)

    def add(self, swapped: FloatArray) -> None:
        """Count rounds, ``(rounds, units)``.

        What stays and what crosses over are summed apart and only ever added: a difference of
        sums could leave a rounding error where a count must be 0.
        """
        stays, crosses = self._group.sums(1 - swapped), self._group.sums(swapped)
        value_of, width = self._group.value_of, len(swapped) * self._group.rows.shape[2]
        for part in _parts(len(self._pairs), width):
            first, second = self._pairs[part].T
            ours = value_of(stays[:, first] + crosses[:, second])
            theirs = value_of(stays[:, second] + crosses[:, first])
            null = np.abs(ours - theirs)
            self._counts[part] += (null >= self._bound[part]).sum(axis=0)
            self._defined[part] &= np.isfinite(null).all(axis=0)

    def pvalues(self) -> FloatArray:
        """Return a p-value for each pair, NaN where one value was not finite."""
        share = (self._counts + 1) / (self._rounds + 1)
        return np.where(self._defined, share, np.nan)


def _parts(pairs: int, width: int) -> Iterator[slice]:
    """Split pairs so that an array of ``width`` numbers for each of them stays small."""
    at_once = max(1, CELLS // max(width, 1))
    return (slice(start, start + at_once) for start in range(0, pairs, at_once))


def _tolerance(observed: FloatArray, pairs: IntArray) -> FloatArray:
    return RELATIVE_TOLERANCE * np.abs(observed[pairs]).max(axis=1)
