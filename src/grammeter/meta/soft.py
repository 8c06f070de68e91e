"""Soft pairwise accuracy: metrics that are as sure as people which of two systems is better.

Thompson, Mathur, Deutsch & Khayrallah 2024 (WMT): for every two systems, the p-value of a paired
one-sided permutation test by the metric is held against that by people. Here people gave
rankings, no scores, so what is permuted of a sentence is how often one system was preferred to the
other, less the reverse.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from grammeter.core import FloatArray, MetricScores
from grammeter.meta.sentence_level import Estimate
from grammeter.ranking import Pairs
from grammeter.stats import chunks, generator, on_grid


def soft_accuracies(
    columns: Mapping[str, MetricScores], pairs: Pairs, rounds: int, seed: int
) -> dict[str, Estimate]:
    """Return the soft pairwise accuracy of each metric on the judged sentences, 0 to 1.

    It is the mean of ``1 - |p_human - p_metric|`` over pairs of systems; NaN with a reason where a
    system has no score for one of these sentences. No rounds, no accuracies.
    """
    if not rounds:
        return {}
    human = swap_pvalues(human_differences(pairs), rounds=rounds, seed=seed)
    judged = np.unique(pairs.segment) - 1
    first, second = np.triu_indices(len(pairs.systems), 1)
    accuracies: dict[str, Estimate] = {}
    for name, column in columns.items():
        of_systems = [column.segments.get(system) for system in pairs.systems]
        values = np.array([of.values[judged] for of in of_systems if of is not None])
        if len(values) < len(of_systems) or not np.isfinite(values).all():
            reason = "a system has no score for a judged sentence"
            accuracies[name] = Estimate(value=math.nan, reason=reason)
            continue
        values *= 1.0 if column.higher_is_better else -1.0
        metric = swap_pvalues((values[first] - values[second]).T, rounds=rounds, seed=seed)
        accuracies[name] = Estimate(value=float(np.mean(1 - np.abs(human - metric))))
    return accuracies


def swap_pvalues(differences: FloatArray, *, rounds: int, seed: int) -> FloatArray:
    """Test for every two systems whether the first is better than the second, one-sided.

    Each round swaps the two systems in each sentence with probability one half, that is, turns
    the sign of the sentence's difference; rounds that equal the observed sum count half. So the
    p-value of "second better than first" is 1 less that of "first better", whatever the order of
    the names, and two systems without a difference have one half. ``differences`` have shape
    ``(sentences, pairs of systems)``, in any units, the p-values ``(pairs of systems,)``.
    """
    exact = on_grid(differences[None])[0]
    observed = exact.sum(axis=0)
    random = generator(seed)
    above = np.zeros(exact.shape[1])
    for some in chunks(rounds, max(exact.shape)):
        signs = random.integers(0, 2, size=(some, len(exact))) * 2.0 - 1.0
        null = signs @ exact
        above += (null > observed).sum(axis=0) + (null == observed).sum(axis=0) / 2
    return above / rounds


def human_differences(pairs: Pairs) -> FloatArray:
    """Return preferences, first less second: ``(judged sentences, combinations of 2 systems)``."""
    sentences, row = np.unique(pairs.segment, return_inverse=True)
    cells = pairs.cells(row, len(sentences)).astype(np.float64)
    return cells[:, 0::3] - cells[:, 1::3]
