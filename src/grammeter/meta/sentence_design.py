"""How sentence-level scores are held against judgments: pairs, ties, resamples."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

import numpy as np

from grammeter.core import FloatArray, IntArray, UnknownNameError, check_drawing
from grammeter.ranking import EXTRACTIONS, UNITS, Extraction, Unit

Missing = Literal["refuse", "drop"]
"""A metric without a score for a judged output has no value at all (Chollampatt & Ng 2018), or is
measured on the other pairs, which are counted."""

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

    @property
    def figures(self) -> tuple[Callable[[FloatArray | IntArray], FloatArray], ...]:
        """Kendall's tau, -1 to 1, and accuracy, 0 to 1, of counts ``(..., 6)``; NaN: no pair."""
        return partial(self._ratio, self.tau), partial(self._ratio, self.accuracy)

    def _ratio(self, gains: tuple[float, ...], counts: FloatArray | IntArray) -> FloatArray:
        above: FloatArray = counts @ np.array(gains, dtype=np.float64)
        below: FloatArray = counts @ np.array(self.counted, dtype=np.float64)
        return np.divide(above, below, out=np.full(below.shape, np.nan), where=below > 0)


_DECIDED = (1, 1, 1, 1, 0, 0)  # the pairs in which the human has a preference
_NEUTRAL = TieWeights((1, -1, 0, 0, 0, 0), (1, 0, 0, 0, 0, 0), _DECIDED)

# With C concordant and D discordant pairs, M pairs tied by the metric alone, H by the human alone,
# B by both; where tau is not said, it is 2 accuracy - 1:
RULES: Mapping[TieRule, TieWeights] = {
    # Chollampatt & Ng 2018, Table 3, "NoTies" (from WMT 2014): tau = (C - D) / (C + D + M)
    "no-ties": _NEUTRAL,
    # The same table, "HTies": tau = (C + B - D) / (C + D + M + H + B); its accuracy is acc_eq of
    # WMT 2023 (Deutsch et al. 2023)
    "h-ties": TieWeights((1, -1, 0, 0, 0, 1), (1, 0, 0, 0, 0, 1), (1,) * 6),
    # The conventional metrics of Kobayashi et al. 2024 (SEEDA and its Table 1): as no-ties,
    # accuracy = C / (C + D + M); the name says which table the figures belong beside
    "three-way": _NEUTRAL,
    # The script released with SEEDA, and the LLM rows of that table: a tie of the metric is read
    # as "the system whose name comes first in the alphabet is worse" (for a metric of which less
    # is better: "is better"), then counted as right or wrong
    "seeda-script": TieWeights((1, -1, -1, 1, 0, 0), (1, 0, 0, 1, 0, 0), _DECIDED),
    # A tie of the metric is half right: accuracy = (C + M / 2) / (C + D + M)
    "half": TieWeights((1, -1, 0, 0, 0, 0), (1, 0, 0.5, 0.5, 0, 0), _DECIDED),
    # Ties of the metric are left out, too: tau = (C - D) / (C + D), Goodman and Kruskal's gamma
    "drop": TieWeights((1, -1, 0, 0, 0, 0), (1, 0, 0, 0, 0, 0), (1, 1, 0, 0, 0, 0)),
    # A tie of the metric is a mistake: accuracy = C / (C + D + M)
    "wrong": TieWeights((1, -1, -1, -1, 0, 0), (1, 0, 0, 0, 0, 0), _DECIDED),
}
"""How ties count, by rule; a metric's tie is neutral, half right, wrong, or left out."""


def cell_numbers(human: IntArray, metric: IntArray, *, higher_is_better: bool = True) -> IntArray:
    """Say into which of :data:`CELLS` each pair falls, shape ``(pairs,)``.

    ``human`` and ``metric`` are 1 if the system whose name comes first is better, -1 if worse, 0
    if they tie; ``higher_is_better`` matters to the cells of the metric's ties alone.
    """
    agreed = human * metric
    read = np.where(human == (1 if higher_is_better else -1), AGAINST, WITH)
    decided = np.where(agreed > 0, CONCORDANT, np.where(agreed < 0, DISCORDANT, read))
    return np.where(human == 0, np.where(metric == 0, BOTH, HUMAN), decided)


def tie_calibrated(human: IntArray, difference: FloatArray) -> tuple[float, float]:
    """Return the best accuracy with near scores as ties, and the smallest distance that gives it.

    Tie calibration of Deutsch et al. 2023 ("Ties Matter", EMNLP), over all pairs together: with
    ``|difference| <= epsilon`` as a tie, ``acc_eq`` is the share of pairs in which metric and
    human say the same of three things, better, worse and tied. It is chosen on the very data it
    is reported for, hence an upper limit. NaN without a pair.

    ``human`` is 1, -1 or 0 for a tie, ``difference`` the score of the first system less that of
    the second, larger is better; shape ``(pairs,)``.
    """
    if not len(human):
        return math.nan, math.nan
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


@dataclass(frozen=True, kw_only=True)
class SentenceDesign:
    """How a metric is held against judgments: all that the signature of a result adds.

    ``missing`` says what a missing sentence score does. ``resamples`` (0: no interval) draw the
    ``unit`` as a whole, and a percentile interval covers the share ``confidence``. Permutation
    tests, between metrics and between systems, have so many rounds of ``permutations``; 0: no test.
    A value that is out of range or unknown is a UsageError.
    """

    pairs: Extraction = "expanded"
    ties: TieRule = "no-ties"
    missing: Missing = "refuse"
    resamples: int = 1000
    seed: int = 1
    unit: Unit = "sentence"
    confidence: float = 0.95
    permutations: int = 0

    def __post_init__(self) -> None:
        for kind, name, known in (
            ("tie rule", self.ties, TIE_RULES),
            ("extraction of pairs", self.pairs, EXTRACTIONS),
            ("resampling unit", self.unit, UNITS),
            ("rule for missing scores", self.missing, get_args(Missing)),
        ):
            UnknownNameError.check(kind, name, known)
        check_drawing(min(self.resamples, self.permutations), self.seed, self.confidence)

    @property
    def weights(self) -> TieWeights:
        """The weights of the rule for ties."""
        return RULES[self.ties]

    def settings(self) -> dict[str, object]:
        """Return what a signature shows; the prefix keeps apart what metrics also call so."""
        names = ["pairs", "ties", "missing", "resamples"]
        names += ["permutations"] * bool(self.permutations)
        names += ["confidence"] * bool(self.resamples)
        names += ["unit", "seed"] * bool(self.resamples or self.permutations)
        return {f"meta-{name}": getattr(self, name) for name in names}
