"""Comparison of 13 systems by 3 metrics with 1,000 resamples, against naive loops.

Run: ``python benchmarks/compare.py``. The rows are random but shaped like those of M2 (3
columns), GLEU (10) and I-measure (10) on the 1,312 sentences of CoNLL-2014. The naive twins
draw sentences for every system and metric anew and add their rows up, in plain Python or
with numpy's indexing; they run on a slice, and their time is multiplied.
"""

from __future__ import annotations

import random
import sys

import numpy as np
from rows import Goal, Row, show
from stopwatch import cpu

from grammeter.stats.resample import PairedSamples, bootstrap, percentile_interval
from grammeter.stats.significance import bootstrap_pvalues, randomisation_pvalues

SYSTEMS, SEGMENTS, RESAMPLES = 13, 1312, 1000
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
                  theirs=part * RESAMPLES / some, goals=(Goal(1, 1),))  # fmt: skip
    for name, pairs in (("every pair", every), ("against a baseline", baseline)):
        seconds, _ = cpu(
            lambda p=pairs: randomisation_pvalues(
                groups, [p] * len(groups), resamples=RESAMPLES, seed=1
            )
        )
        yield Row(f"randomisation, {RESAMPLES} resamples, {name}", seconds)


if __name__ == "__main__":
    sys.exit(show(rows()))
