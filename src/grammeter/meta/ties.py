"""Ties: six cells that pairs of outputs fall into, and the rules by which papers count them.

Kendall's tau and accuracy are ratios of weighted sums of these cells, so a rule is three rows
of weights. Every rule that a published table used stands here under its own name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from grammeter.core import FloatArray, IntArray, UnknownNameError

CELLS = ("concordant", "discordant", "tie read against", "tie read with", "human tie", "both tie")
"""Where a pair can fall.

The metric orders it as the human does, or the other way round; only the metric ties, and the
order of the names, which the script of SEEDA puts in place of the tie, contradicts or repeats
the human's; only the human ties; both do.
"""

CONCORDANT, DISCORDANT, AGAINST, WITH, HUMAN, BOTH = range(len(CELLS))

TieRule = Literal["no-ties", "h-ties", "three-way", "seeda-script", "half", "drop", "wrong"]
"""How ties count; see :data:`RULES`."""

TIE_RULES: tuple[TieRule, ...] = get_args(TieRule)


@dataclass(frozen=True)
class TieWeights:
    """What each cell adds to tau, to accuracy, and to the number of pairs that divides both."""

    tau: tuple[float, ...]
    accuracy: tuple[float, ...]
    counted: tuple[float, ...]

    def tau_of(self, counts: FloatArray | IntArray) -> FloatArray:
        """Return Kendall's tau, -1 to 1, of counts of shape ``(..., 6)``; NaN without a pair."""
        return _ratio(counts, self.tau, self.counted)

    def accuracy_of(self, counts: FloatArray | IntArray) -> FloatArray:
        """Return the accuracy, 0 to 1, of counts of shape ``(..., 6)``; NaN without a pair."""
        return _ratio(counts, self.accuracy, self.counted)


_DECIDED = (1, 1, 1, 1, 0, 0)
"""The pairs in which the human has a preference."""

_NEUTRAL = TieWeights((1, -1, 0, 0, 0, 0), (1, 0, 0, 0, 0, 0), _DECIDED)

RULES: Mapping[TieRule, TieWeights] = {
    "no-ties": _NEUTRAL,
    "h-ties": TieWeights((1, -1, 0, 0, 0, 1), (1, 0, 0, 0, 0, 1), (1,) * 6),
    "three-way": _NEUTRAL,
    "seeda-script": TieWeights((1, -1, -1, 1, 0, 0), (1, 0, 0, 1, 0, 0), _DECIDED),
    "half": TieWeights((1, -1, 0, 0, 0, 0), (1, 0, 0.5, 0.5, 0, 0), _DECIDED),
    "drop": TieWeights((1, -1, 0, 0, 0, 0), (1, 0, 0, 0, 0, 0), (1, 1, 0, 0, 0, 0)),
    "wrong": TieWeights((1, -1, -1, -1, 0, 0), (1, 0, 0, 0, 0, 0), _DECIDED),
}
"""The rules, with C concordant and D discordant pairs, M pairs tied by the metric alone, H by the
human alone, B by both.

``no-ties``
    Chollampatt & Ng 2018, Table 3, "NoTies" (from WMT 2014): human ties are left out, ties of
    the metric stay in the denominator: ``tau = (C - D) / (C + D + M)``.
``h-ties``
    The same table, "HTies": a tie of both agrees, a tie of one counts 0:
    ``tau = (C + B - D) / (C + D + M + H + B)``. Its accuracy is ``acc_eq`` of WMT 2023
    (Deutsch et al. 2023).
``three-way``
    The conventional metrics of Kobayashi et al. 2024 (SEEDA and its Table 1):
    ``accuracy = C / (C + D + M)`` and tau as under ``no-ties``; the two rules give the same
    figures, the name says which table they belong beside.
``seeda-script``
    The script released with SEEDA, and the LLM rows of that table: a tie of the metric is read
    as "the system whose name comes first in the alphabet is worse" (for a metric of which less
    is better: "is better"), then counted as right or wrong; ``tau = 2 accuracy - 1``.
``half``
    A tie of the metric is half right: ``accuracy = (C + M / 2) / (C + D + M)``,
    ``tau = 2 accuracy - 1``.
``drop``
    Ties of the metric are left out, too: ``tau = (C - D) / (C + D)``, Goodman and Kruskal's
    gamma; rewards a metric that abstains.
``wrong``
    A tie of the metric is a mistake: ``accuracy = C / (C + D + M)``,
    ``tau = 2 accuracy - 1``.
"""


def weights_of(rule: str) -> TieWeights:
    """Return the weights of a rule.

    Raises
    ------
    UnknownNameError
        If there is none of this name.
    """
    for name, weights in RULES.items():
        if name == rule:
            return weights
    raise UnknownNameError("tie rule", rule, RULES)


def cell_numbers(human: IntArray, metric: IntArray, *, higher_is_better: bool = True) -> IntArray:
    """Say into which of :data:`CELLS` each pair falls.

    Parameters
    ----------
    human, metric
        Shape ``(pairs,)``: 1 if the system whose name comes first is better, -1 if worse, 0 if
        they tie. What is better is told already; ``higher_is_better`` matters to the cells of
        the metric's ties alone.
    """
    agreed = human * metric
    read = np.where(human == (1 if higher_is_better else -1), AGAINST, WITH)
    decided = np.where(agreed > 0, CONCORDANT, np.where(agreed < 0, DISCORDANT, read))
    return np.where(human == 0, np.where(metric == 0, BOTH, HUMAN), decided)


def tie_calibrated(human: IntArray, difference: FloatArray) -> tuple[float, float]:
    """Choose how near two scores must be to count as a tie so that accuracy is best.

    Tie calibration of Deutsch et al. 2023 ("Ties Matter", EMNLP), over all pairs together: with
    ``|difference| <= epsilon`` as a tie, ``acc_eq`` is the share of pairs in which metric and
    human say the same of three things, better, worse and tied. It is chosen on the very data it
    is reported for, hence an upper limit.

    Parameters
    ----------
    human
        Shape ``(pairs,)``: 1, -1 or 0 for a tie.
    difference
        Shape ``(pairs,)``: score of the first less that of the second, larger is better.

    Returns
    -------
    accuracy, epsilon
        The best accuracy and the smallest distance that reaches it; NaN without a pair.
    """
    if not len(human):
        return float("nan"), float("nan")
    distance = np.abs(difference)
    order = np.argsort(distance, kind="stable")
    # Once a pair counts as a tie, a tie of the human is right and any other answer is wrong.
    right_before = human * np.sign(difference) > 0
    gained = np.cumsum((human == 0).astype(np.int64)[order] - right_before[order])
    thresholds, last = np.unique(distance[order][::-1], return_index=True)
    right = right_before.sum() + gained[len(human) - 1 - last]
    if thresholds[0] > 0:  # no two scores are equal: epsilon 0 ties nothing
        thresholds = np.concatenate([[0.0], thresholds])
        right = np.concatenate([[right_before.sum()], right])
    best = int(np.argmax(right))
    return float(right[best] / len(human)), float(thresholds[best])


def _ratio(
    counts: FloatArray | IntArray, gains: tuple[float, ...], counted: tuple[float, ...]
) -> FloatArray:
    above: FloatArray = counts @ np.array(gains, dtype=np.float64)
    below: FloatArray = counts @ np.array(counted, dtype=np.float64)
    return np.divide(above, below, out=np.full(below.shape, np.nan), where=below > 0)
