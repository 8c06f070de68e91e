"""Means of a few independent runs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np


def t_interval(values: Sequence[float], *, level: float = 0.95) -> tuple[float, float]:
    """Return the interval of the mean of independent runs, by Student's t.

    Parameters
    ----------
    values
        One figure for each run.
    level
        0 to 1.

    Returns
    -------
    tuple of float
        Low and high end; NaN for fewer than two runs.
    """
    if len(values) < 2:
        return math.nan, math.nan
    from scipy.special import stdtrit  # pyright: ignore[reportMissingTypeStubs]

    quantile = float(stdtrit(len(values) - 1, 0.5 + level / 2))
    half = quantile * float(np.std(values, ddof=1)) / math.sqrt(len(values))
    mean = float(np.mean(values))
    return mean - half, mean + half
