"""Bootstrap and paired tests over sufficient statistics; many comparisons at once.

No data are counted again: a score that is a function of sums over units (sentences) needs only
those sums for a resample. One matrix of counts, how often each resample holds each unit, serves all
samples (systems) and all statistics (metrics): ``counts @ rows``. Sharing it is also what makes the
comparison *paired*. All tests are two-sided. They add one to both counts of ``p = c / R``, for the
observed data are one of the arrangements possible under the null hypothesis; so p is never 0
and the randomisation test is exact (Davison & Hinkley 1997, section 4.2; Phipson & Smyth 2010).
"""

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, get_args

import numpy as np

from grammeter.core import BoolArray, FloatArray, IntArray, tell

CELLS = 2**21  # most numbers in one working array, so that memory is bounded
CELLS_OF_PAIRS = 2**18  # numbers of one working array of pairs, for a processor's cache
RELATIVE_TOLERANCE = 1e-10  # nearer values are equal: sums of floats may be off


@dataclass(frozen=True, eq=False)
class PairedSamples:
    """Several samples of the same units, and a statistic that is a function of their sums.

    Row ``u`` of every sample in ``rows``, shape ``(samples, units, k)``, belongs to the same unit;
    they are kept as :func:`on_grid` rounds them. ``value_of`` maps sums ``(..., k)`` to ``(...)``.
    """

    rows: FloatArray
    value_of: Callable[[FloatArray], FloatArray]

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", on_grid(self.rows))

    @property
    def observed(self) -> FloatArray:
        """The statistic of each whole sample, shape ``(samples,)``."""
        return self.value_of(self.rows.sum(axis=1))

    def sums(self, weights: FloatArray) -> FloatArray:
        """Weight units and add them up: ``(resamples, units)`` to ``(resamples, samples, k)``."""
        samples, units, k = self.rows.shape
        flat = self.rows.transpose(1, 0, 2).reshape(units, samples * k)
        with np.errstate(invalid="ignore"):  # a NaN stays in its own column
            return (weights @ flat).reshape(len(weights), samples, k)


def on_grid(rows: FloatArray) -> FloatArray:
    """Round rows ``(samples, units, k)`` so that resampled sums are exact, in any order.

    That order depends on the number of threads and on the processor, and the last digits of
    float sums on that order. Each column gets a power of two as its grid, which leaves 52 bits
    for the largest sum possible, that of ``units`` rows: whole numbers stay as they are, others
    change by less than ``units * 2**-52`` of the largest row.
    """
    finite = np.isfinite(rows)
    largest = np.max(np.abs(rows), axis=(0, 1), where=finite, initial=0.0) * rows.shape[1]
    _, exponent = np.frexp(largest)
    grid: FloatArray = np.ldexp(1.0, exponent.astype(np.int64) - 52)
    return np.rint(rows / grid) * grid


def generator(seed: int, stream: int = 0) -> np.random.Generator:
    """Return the random numbers of a stream of a seed: PCG64, not numpy's global state."""
    return np.random.Generator(np.random.PCG64([seed, stream] if stream else seed))


def chunks(resamples: int, width: int) -> Iterator[int]:
    """Split a number of resamples so that an array of ``width`` columns stays small."""
    at_once = max(1, CELLS // max(width, 1))
    for start in range(0, resamples, at_once):
        yield min(at_once, resamples - start)


def resample_counts(
    units: int, resamples: int, *, seed: int, width: int = 1, strata: IntArray | None = None
) -> Iterator[FloatArray]:
    """Draw bootstrap resamples: how often each holds each unit.

    Each resample draws ``units`` units with replacement, all equally likely. The counts come in
    chunks, shape ``(some resamples, units)``, rows adding up to ``units``; ``width`` is that of the
    widest array that the caller makes of a chunk. The same seed gives the same counts in any.
    ``strata``, shape ``(units,)``, numbers groups that are drawn from apart.
    """
    groups = np.zeros(units, dtype=np.int64) if strata is None else strata
    places = [np.flatnonzero(groups == group) for group in np.unique(groups)]
    randoms = [generator(seed, group) for group in range(len(places))]
    for size in chunks(resamples, max(units, width)):
        counts = np.zeros((size, units))
        for at, random in zip(places, randoms, strict=True):
            drawn = random.integers(0, len(at), size=(size, len(at)))
            drawn += np.arange(size)[:, None] * len(at)
            counts[:, at] = np.bincount(drawn.ravel(), minlength=drawn.size).reshape(drawn.shape)
        yield counts


def bootstrap(
    groups: Sequence[PairedSamples], *, resamples: int, seed: int, strata: IntArray | None = None
) -> list[FloatArray]:
    """Compute each group's statistic on the same resamples (Efron & Tibshirani 1993, ch. 6).

    For each group, shape ``(samples, resamples)``; column ``r`` is the same resample in every row
    of every group. Units are drawn apart in each of ``strata``. Groups of no or different units are
    a ``ValueError``.
    """
    if not groups:
        return []
    units, width = _units_and_width(groups)
    values = [np.empty((len(group.rows), resamples)) for group in groups]
    done = 0
    for counts in resample_counts(units, resamples, seed=seed, width=width, strata=strata):
        for group, of_group in zip(groups, values, strict=True):
            of_group[:, done : done + len(counts)] = group.value_of(group.sums(counts)).T
        done += len(counts)
        tell("resamples", done, resamples)
    return values


def _units_and_width(groups: Sequence[PairedSamples]) -> tuple[int, int]:
    """Return the number of units that all groups share, and the columns of their widest sums."""
    sizes = {group.rows.shape[1] for group in groups}
    if len(sizes) != 1 or 0 in sizes:
        raise ValueError(f"paired samples need the same units, at least one; found {sizes}")
    return sizes.pop(), max(group.rows.shape[0] * group.rows.shape[2] for group in groups)


def percentile_interval(values: FloatArray, confidence: float) -> tuple[FloatArray, FloatArray]:
    """Return the percentile interval (Efron & Tibshirani 1993, ch. 13).

    Of values ``(..., resamples)``, a confidence of 0.95 takes the quantiles 0.025 and 0.975,
    interpolated linearly: low and high, shape ``(...)``, NaN where one resample is not finite.
    """
    tail = (1 - confidence) / 2
    finite = np.where(np.isfinite(values), values, np.nan)
    low, high = np.quantile(finite, [tail, 1 - tail], axis=-1)
    return low, high


def bca_interval(
    values: FloatArray, observed: float, jackknife: FloatArray, confidence: float
) -> tuple[float, float]:
    """Return the bias-corrected and accelerated interval (Efron 1987; Efron & Tibshirani ch. 14).

    With z the normal quantile of ``(1 - confidence) / 2``, the lower end is the quantile of the
    resamples at ``Phi(z0 + (z0 + z) / (1 - a (z0 + z)))``, the upper end that with ``-z``. The bias
    z0 is the normal quantile of the share of resamples below the observed value, equal ones by
    half; with d the mean of the jackknife values less each of them, the acceleration a is
    ``sum(d**3) / (6 sum(d**2)**1.5)``.

    ``values``, shape ``(resamples,)``, are all finite; ``jackknife``, shape ``(units,)``, is the
    statistic without each unit. Low and high are NaN where all resamples lie on one side of the
    observed value, or the jackknife has no spread or no value somewhere.
    """
    share = float(np.mean(values < observed) + np.mean(values <= observed)) / 2
    away = jackknife.mean() - jackknife
    spread = float((away**2).sum())
    if not 0 < share < 1 or not spread > 0:
        return math.nan, math.nan
    normal = NormalDist()
    acceleration = float((away**3).sum()) / (6 * spread**1.5)
    bias, tail = normal.inv_cdf(share), normal.inv_cdf((1 - confidence) / 2)
    shifted = [bias + end for end in (tail, -tail)]
    at = [normal.cdf(bias + by / (1 - acceleration * by)) for by in shifted]
    low, high = np.quantile(values, at)
    return float(low), float(high)


def t_interval(values: Sequence[float], *, level: float = 0.95) -> tuple[float, float]:
    """Return the interval of the mean of independent runs (Student's t); NaN for fewer than two."""
    if len(values) < 2:
        return math.nan, math.nan
    from scipy.special import stdtrit  # pyright: ignore[reportMissingTypeStubs]

    quantile = float(stdtrit(len(values) - 1, 0.5 + level / 2))
    half = quantile * float(np.std(values, ddof=1)) / math.sqrt(len(values))
    return float(np.mean(values)) - half, float(np.mean(values)) + half


def bootstrap_pvalues(samples: PairedSamples, resampled: FloatArray, pairs: IntArray) -> FloatArray:
    """Paired bootstrap test of the difference between pairs of samples.

    Efron & Tibshirani 1993, ch. 16, in the paired form: the distribution of the difference
    under the null hypothesis is that of the resampled differences shifted to 0. With the
    observed difference d and the resampled ones d*, ``p = (#{|d* - d| >= |d|} + 1) / (R + 1)``.

    ``resampled``, shape ``(samples, resamples)``, is from :func:`bootstrap`; ``pairs``, shape
    ``(pairs, 2)``, numbers the samples to compare. The p-values have shape ``(pairs,)``, NaN where
    a value, observed or resampled, is not finite, and where every resample gives the observed
    difference, which is not 0: such data (one unit, say) do not show how the difference varies.
    """
    observed, pvalues = samples.observed, np.empty(len(pairs))
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

    For each group, ``pairs`` are those of its samples to compare, shape ``(pairs, 2)``, and the
    p-values have shape ``(pairs,)``, NaN where a value is not finite; R are the ``resamples``.
    """
    if not groups:
        return []
    units, width = _units_and_width(groups)
    random, done = generator(seed), 0
    extreme = [np.zeros(len(some)) for some in pairs]
    for size in chunks(resamples, max(units, width)):
        swapped = (random.random((size, units)) < 0.5).astype(np.float64)
        for at, (group, some) in enumerate(zip(groups, pairs, strict=True)):
            extreme[at] += _extreme_rounds(group, some, swapped)
        done += size
        tell("rounds of swaps", done, resamples)
    return [(counts + 1) / (resamples + 1) for counts in extreme]


def _extreme_rounds(group: PairedSamples, pairs: IntArray, swapped: FloatArray) -> FloatArray:
    """Count the rounds, ``(rounds, units)``, with a difference as large as the observed one.

    Shape ``(pairs,)``, NaN where a value is not finite. What stays and what crosses over are summed
    apart and only ever added: a difference of sums could leave a rounding error instead of 0.
    """
    observed = group.observed
    difference = observed[pairs[:, 0]] - observed[pairs[:, 1]]
    bound = np.abs(difference) - _tolerance(observed, pairs)
    stays, crosses = group.sums(1 - swapped), group.sums(swapped)
    counts = np.empty(len(pairs))
    for part in _parts(len(pairs), len(swapped) * group.rows.shape[2]):
        first, second = pairs[part].T
        ours = group.value_of(stays[:, first] + crosses[:, second])
        theirs = group.value_of(stays[:, second] + crosses[:, first])
        null = np.abs(ours - theirs)
        extreme = (null >= bound[part]).sum(axis=0)
        counts[part] = np.where(np.isfinite(null).all(axis=0), extreme, np.nan)
    return np.where(np.isfinite(difference), counts, np.nan)


def _parts(pairs: int, width: int) -> Iterator[slice]:
    """Split pairs so that an array of ``width`` numbers for each of them stays small."""
    at_once = max(1, CELLS_OF_PAIRS // max(width, 1))
    return (slice(start, start + at_once) for start in range(0, pairs, at_once))


def _tolerance(observed: FloatArray, pairs: IntArray) -> FloatArray:
    return RELATIVE_TOLERANCE * np.abs(observed[pairs]).max(axis=1)


def sign_test(wins: int, losses: int) -> float:
    """Exact sign test: would a fair coin fall so unevenly, or more so? Ties are left out.

    The p-value of the binomial distribution is two-sided; 1 where nothing was decided, never 0: the
    smallest is 2.2e-308, where a float ends.
    """
    decided, fewer = wins + losses, min(wins, losses)
    ways, tail = 1, 0
    for outcomes in range(fewer + 1):  # whole numbers: exact however small the tail
        tail += ways
        ways = ways * (decided - outcomes) // (outcomes + 1)
    return min(1.0, max(sys.float_info.min, 2 * tail / 2**decided))


# --- many comparisons ----------------------------------------------------------------------
Correction = Literal["none", "holm", "bonferroni", "benjamini-hochberg"]
"""How p-values of one family are adjusted."""
CORRECTIONS: tuple[Correction, ...] = get_args(Correction)
MOST_GROUPS = 50  # with more groups than these items get no letters


def adjust(pvalues: FloatArray, correction: Correction) -> FloatArray:
    """Adjust the p-values of one family of comparisons.

    An adjusted p-value may be held against the same level as a single one. ``bonferroni``
    (Dunn 1961) and ``holm`` (Holm 1979; never weaker) bound the chance of any false alarm;
    ``benjamini-hochberg`` (Benjamini & Hochberg 1995, step-up) bounds the expected share of
    false alarms among all alarms.

    Of shape ``(m,)``, in the order given, none above 1; a NaN stays NaN, outside of the family.
    """
    adjusted = np.array(pvalues, dtype=np.float64)
    order = np.argsort(adjusted, kind="stable")  # NaN last
    m = int((~np.isnan(adjusted)).sum())
    family, ranks = adjusted[order[:m]], np.arange(1, m + 1)
    if correction == "bonferroni":
        family = family * m
    elif correction == "holm":
        family = np.maximum.accumulate(family * (m + 1 - ranks))
    elif correction == "benjamini-hochberg":
        family = np.minimum.accumulate((family * m / ranks)[::-1])[::-1]
    adjusted[order[:m]] = np.minimum(family, 1.0)
    return adjusted


def compact_letters(different: BoolArray) -> list[str] | None:
    """Give each item letters: two items share a letter exactly if they do not differ.

    Every letter stands for a largest possible group in which no two items differ, as in the
    letters of Piepho (2004) without his sweeping step. Group ``a`` holds the first item.

    ``different``, shape ``(n, n)`` and symmetric, says which items differ significantly. Each item
    gets a text such as ``"ab"``; after ``z`` comes ``a'``. ``None`` with more than
    :data:`MOST_GROUPS` groups: nobody could read them.
    """
    if (groups := letter_groups(different, most=MOST_GROUPS)) is None:
        return None
    letters = [chr(ord("a") + number % 26) + "'" * (number // 26) for number in range(len(groups))]
    named = dict(zip(letters, groups, strict=True)).items()
    return ["".join(a for a, group in named if item in group) for item in range(len(different))]


def letter_groups(different: BoolArray, *, most: int | None = None) -> list[frozenset[int]] | None:
    """Return the largest groups with no two different; ``None`` if over ``most`` or too slow.

    Insertion and absorption (Piepho 2004), for an item at a time: a group that holds it and others
    that differ from it is split in two, and what another group holds is absorbed. Groups are whole
    numbers, a bit for each item.
    """
    groups = {(1 << len(different)) - 1} - {0}
    for item, row in enumerate(different):
        bit, others = 1 << item, sum(1 << other for other in np.flatnonzero(row).tolist())
        split = {group for group in groups if group & bit and group & others}
        parts = {group ^ bit for group in split} | {group & ~others for group in split}
        groups = groups - split | parts
        groups -= {p for p in parts if any(p & group == p != group for group in groups)}
        if most is not None and len(groups) > 2 * most:
            return None
    if most is not None and len(groups) > most:
        return None
    items = range(len(different))
    return sorted((frozenset(i for i in items if group >> i & 1) for group in groups), key=sorted)
