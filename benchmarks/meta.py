"""Williams tests between 20 metrics on 13 systems, against one scalar test a pair.

Run: ``python benchmarks/meta.py``. The scores are random. The naive twin correlates each pair
with numpy's ``corrcoef`` and asks scipy for each p-value; both give the same figures. Beside it:
the bootstrap over systems, 1,000 resamples, against correlating each resample by itself.
"""

from __future__ import annotations

import math
import time

import numpy as np
from scipy import stats

from grammeter.stats.correlation import KINDS, bootstrap_coefficients
from grammeter.stats.resample import resample_counts
from grammeter.stats.williams import williams_matrix

METRICS, SYSTEMS, RESAMPLES = 20, 13, 1000
LIMIT_MS = 50.0


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
    start = time.process_time()
    for _ in range(times):
        result = work()
    return (time.process_time() - start) * 1000 / times, result


def main():
    random = np.random.default_rng(1)
    human, metrics = random.normal(size=SYSTEMS), random.normal(size=(METRICS, SYSTEMS))
    williams_matrix(human, metrics)  # warm: scipy is loaded here
    both = lambda: [williams_matrix(human, metrics, kind) for kind in ("pearson", "spearman")]  # noqa: E731
    ours, (found, _) = milliseconds(both, times=100)
    naive, expected = milliseconds(lambda: naive_williams(human, metrics))
    np.testing.assert_allclose(found.pvalue, expected, rtol=1e-9)
    print(f"Williams, {METRICS} metrics, two kinds   {ours:8.2f} ms CPU (limit {LIMIT_MS:g})")
    print(
        f"one test a pair, two kinds       {2 * naive:8.2f} ms CPU = {2 * naive / ours:.0f} x ours"
    )
    for kind in KINDS:
        draw = lambda k=kind: bootstrap_coefficients(  # noqa: E731
            human, metrics[0], k, resamples=RESAMPLES, seed=1
        )
        fast, _ = milliseconds(draw, times=5)
        slow, _ = milliseconds(lambda k=kind: naive_bootstrap(human, metrics[0], k))
        name = f"bootstrap over systems, {kind}"
        print(f"{name:<32} {fast:8.2f} ms CPU, scipy in a loop {slow / fast:.0f} x")
    if ours > LIMIT_MS:
        raise SystemExit(f"slower than {LIMIT_MS} ms")


if __name__ == "__main__":
    main()
