"""Williams tests between 20 metrics on 13 systems, against one scalar test a pair.

Run: ``python benchmarks/meta.py``. The scores are random. The naive twin correlates each pair
with numpy's ``corrcoef`` and asks scipy for each p-value; both give the same figures. Beside it:
the bootstrap over systems, 1,000 resamples, against correlating each resample by itself.
"""

from __future__ import annotations

import math
import sys
from functools import partial

import numpy as np
from rows import Goal, Row, show
from scipy import stats
from stopwatch import cpu

from grammeter.stats import KINDS, bootstrap_coefficients, resample_counts, williams_matrix

METRICS, SYSTEMS, RESAMPLES = 20, 13, 1000


def naive_williams(human, metrics):
    found = np.full((len(metrics), len(metrics)), math.nan)
    n = len(human)
    for i, first in enumerate(metrics):
        for j, second in enumerate(metrics):
            f, s, b = (
                np.corrcoef(*pair)[0, 1]
                for pair in ((human, first), (human, second), (first, second))
            )
            if i != j and f > s:
                determinant = 1 - f**2 - s**2 - b**2 + 2 * f * s * b
                below = 2 * (n - 1) / (n - 3) * determinant + ((f + s) / 2) ** 2 * (1 - b) ** 3
                found[i, j] = stats.t.sf((f - s) * math.sqrt((n - 1) * (1 + b) / below), n - 3)
    return found


def naive_bootstrap(x, y, kind):
    of = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}[kind]
    for counts in np.concatenate(
        list(resample_counts(SYSTEMS, RESAMPLES, seed=1, width=SYSTEMS**2))
    ):
        chosen = np.repeat(np.arange(SYSTEMS), counts.astype(int))
        of(x[chosen], y[chosen])


def milliseconds(work, times=1):
    seconds, results = cpu(lambda: [work() for _ in range(times)])
    return 1000 * seconds / times, results[0]


def rows(shared=None):
    del shared  # the scores are made up
    random = np.random.default_rng(1)
    human, metrics = random.normal(size=SYSTEMS), random.normal(size=(METRICS, SYSTEMS))
    williams_matrix(human, metrics)  # warm: scipy is loaded here
    ours, found = milliseconds(lambda: williams_matrix(human, metrics), times=200)
    naive, expected = milliseconds(lambda: naive_williams(human, metrics), times=5)
    np.testing.assert_allclose(found.pvalue, expected, rtol=1e-9)
    yield Row(f"Williams tests, {METRICS} metrics, {SYSTEMS} systems", ours, "ms CPU",
              "one test a pair", naive, goals=(Goal(50),))  # fmt: skip
    for kind in KINDS:
        draw = partial(bootstrap_coefficients, human, metrics[0], kind, resamples=RESAMPLES, seed=1)
        fast, _ = milliseconds(draw, times=5)
        slow, _ = milliseconds(partial(naive_bootstrap, human, metrics[0], kind))
        yield Row(f"bootstrap over systems, {RESAMPLES} resamples, {kind}", fast, "ms CPU",
                  "scipy in a loop", slow)  # fmt: skip


if __name__ == "__main__":
    sys.exit(show(rows()))
