"""Comparison of 13 systems by 3 metrics with 1,000 resamples, against naive loops.

Run: ``python benchmarks/compare.py``. The rows are random but shaped like those of M2 (3
columns), GLEU (10) and I-measure (10) on the 1,312 sentences of CoNLL-2014. The naive twins
draw sentences for every system and metric anew and add their rows up, in plain Python or
with numpy's indexing; they run on a slice, and their time is multiplied. Besides, hundreds of
systems by all pairs: p-values and letters.
"""

from __future__ import annotations

import random
import sys

import numpy as np
from rows import Goal, Row, show
from stopwatch import cpu

from grammeter.stats import (
    PairedSamples,
    bootstrap,
    bootstrap_pvalues,
    percentile_interval,
    randomisation_pvalues,
)
from grammeter.stats.resample import letter_groups

SYSTEMS, SEGMENTS, RESAMPLES = 13, 1312, 1000
LETTERED, MANY = 100, 300
SLICES = {"plain Python": 5, "numpy's indexing": 50}


def f_half(sums):
    matched, proposed, gold = np.moveaxis(sums, -1, 0)
    return 1.25 * matched / (proposed + 0.25 * gold)


def gleu(sums):
    matched, total = sums[..., 0:4], sums[..., 4:8]
    brevity = np.minimum(0, 1 - sums[..., 9] / sums[..., 8])
    return np.exp(brevity + np.log(matched / total).mean(axis=-1))


def weighted_accuracy(counts):
    tp, tn, fp, fn, fpn = np.moveaxis(counts, -1, 0)
    return (2 * tp + tn) / (2 * (tp + fp) + tn + fn - 1.5 * fpn)


def improvement(sums):
    ours, base = weighted_accuracy(sums[..., :5]), weighted_accuracy(sums[..., 5:])
    return np.where(ours >= base, (ours - base) / (1 - base), ours / base - 1)


def made_up():
    draw = np.random.default_rng(1)
    m2 = draw.integers(0, 5, size=(SYSTEMS, SEGMENTS, 3))
    grams = draw.integers(5, 25, size=(SYSTEMS, SEGMENTS, 10))
    accuracy = draw.integers(1, 8, size=(SYSTEMS, SEGMENTS, 10))
    rows = {f_half: m2, gleu: grams, improvement: accuracy}
    return [PairedSamples(r.astype(float), value_of) for value_of, r in rows.items()]


def paired_bootstrap(groups, pairs):
    for group, values in zip(groups, bootstrap(groups, resamples=RESAMPLES, seed=1), strict=True):
        percentile_interval(values, 0.95)
        bootstrap_pvalues(group, values, pairs)


def plain_loop(groups, resamples):
    for group in groups:
        for sample in group.rows.tolist():
            for _ in range(resamples):
                drawn = random.choices(sample, k=SEGMENTS)
                group.value_of(np.array([sum(column) for column in zip(*drawn, strict=True)]))


def indexing_loop(groups, resamples):
    draw = np.random.default_rng(1)
    for group in groups:
        for sample in group.rows:
            for _ in range(resamples):
                group.value_of(sample[draw.integers(0, SEGMENTS, SEGMENTS)].sum(axis=0))


def insert_and_absorb(different):
    """Piepho's way to the same groups."""
    groups = {frozenset(range(len(different)))}
    for i, j in np.argwhere(np.triu(different, 1)).tolist():
        both = {group for group in groups if i in group and j in group}
        groups = groups - both | {group - {item} for group in both for item in (i, j)}
        groups = {group for group in groups if not any(group < other for other in groups)}
    return groups


def all_pairs_at_once(observed, resampled, pairs):
    """The same p-values from an array of pairs x resamples."""
    first, second = pairs.T
    difference = observed[first] - observed[second]
    null = np.abs(resampled[first] - resampled[second] - difference[:, None])
    bound = np.abs(difference) - 1e-10 * np.abs(observed[pairs]).max(axis=1)
    return ((null >= bound[:, None]).sum(axis=1) + 1) / (null.shape[1] + 1)


def many_systems():
    """Hundreds of systems by all pairs: p-values, and the groups behind the letters."""
    draw = np.random.default_rng(1)
    counts = draw.binomial(4, np.linspace(0.3, 0.6, MANY)[:, None], (MANY, SEGMENTS))
    group = PairedSamples(np.stack([counts, np.full_like(counts, 4)], -1).astype(float), share)
    (values,) = bootstrap([group], resamples=RESAMPLES, seed=1)
    pairs = np.array([(i, j) for i in range(MANY) for j in range(i + 1, MANY)])
    ours, pvalues = cpu(lambda: bootstrap_pvalues(group, values, pairs), best_of=3)
    theirs, others = cpu(lambda: all_pairs_at_once(group.observed, values, pairs), best_of=3)
    assert (pvalues == others).all()
    work = f"p-values of {len(pairs):,} pairs, {RESAMPLES} resamples"
    yield Row(work, ours, peer="pairs x resamples at once", theirs=theirs)
    different = np.zeros((MANY, MANY), dtype=bool)
    different[tuple(pairs.T)] = different[tuple(pairs.T[::-1])] = pvalues <= 0.05
    some = different[:: MANY // LETTERED, :: MANY // LETTERED]
    ours, groups = cpu(lambda: letter_groups(some), best_of=3)
    theirs, others = cpu(lambda: insert_and_absorb(some))
    assert set(groups) == others
    yield Row(f"letters of {LETTERED} systems", ours, peer="insert and absorb", theirs=theirs)
    ours, _ = cpu(lambda: letter_groups(different), best_of=3)
    yield Row(f"all groups of {MANY} systems that do not differ", ours)


def share(sums):
    return sums[..., 0] / sums[..., 1]


def rows(shared=None):
    del shared  # the rows are made up
    groups = made_up()
    every = np.array([(i, j) for i in range(SYSTEMS) for j in range(i)])
    baseline = np.array([(i, 0) for i in range(1, SYSTEMS)])
    paired_bootstrap(groups, every)  # warm
    ours, _ = cpu(lambda: paired_bootstrap(groups, every), best_of=3)
    work = f"paired bootstrap, {RESAMPLES} resamples, {SYSTEMS} systems x {len(groups)} metrics"
    for (name, some), loop in zip(SLICES.items(), (plain_loop, indexing_loop), strict=True):
        part, _ = cpu(lambda loop=loop, some=some: loop(groups, some))
        yield Row(f"{work}, against {name}", ours, peer=f"naive ({some} resamples, multiplied)",
                  theirs=part * RESAMPLES / some, goals=(Goal(1),))  # fmt: skip
    for name, pairs in (("every pair", every), ("against a baseline", baseline)):
        seconds, _ = cpu(
            lambda p=pairs: randomisation_pvalues(
                groups, [p] * len(groups), resamples=RESAMPLES, seed=1
            )
        )
        yield Row(f"randomisation, {RESAMPLES} resamples, {name}", seconds)
    yield from many_systems()


if __name__ == "__main__":
    sys.exit(show(rows()))
