"""Unbalanced optimal transport between two sets of weighed points, smoothed by entropy."""

import math

import numpy as np

from grammeter.core import FloatArray

_ITERATIONS, _TOLERANCE, _LARGEST = 1000, 1e-6, math.log(1e5)  # the defaults of POT
_LEAST = math.log(1e-16)  # added to each divisor


def transport_plan(
    masses: FloatArray, targets: FloatArray, cost: FloatArray, *, reg: float, reg_m: float
) -> tuple[FloatArray, bool]:
    """Return how much mass goes from each point to each target, and whether the search converged.

    Sinkhorn's iteration for marginals that may deviate (Chizat et al. 2018, *Scaling algorithms for
    unbalanced optimal transport problems*), with Kullback-Leibler penalties: the plan is u K v,
    with K = masses targets exp(-cost / reg), u = (masses / K v)^f, v = (targets / K' u)^f and
    f = reg_m / (reg_m + reg). It is computed with logarithms, so that no cost underflows, and stops
    as ``sinkhorn_stabilized_unbalanced`` of POT 0.9.7 does: every tenth step looks whether u moved
    by less than 1e-6 of the largest of its values and 1, and v starts anew, uniform, whenever u or
    v exceed 1e5. After 1000 steps the last plan is returned.

    ``masses``, shape ``(n,)``, and ``targets``, ``(m,)``, are 0 or more; nothing goes from or to a
    point without mass. ``cost``, ``(n, m)``; ``reg``, the weight of entropy, and ``reg_m``, that of
    the marginals, are greater than 0. The plan has shape ``(n, m)``; its sums over rows or columns
    may exceed the masses.
    """
    plan = np.zeros(cost.shape)
    heavy = np.ix_(masses > 0, targets > 0)
    if not plan[heavy].size:
        return plan, True
    a, b = np.log(masses[masses > 0])[:, None], np.log(targets[targets > 0])
    kernel, power = a + b - cost[heavy] / reg, reg_m / (reg_m + reg)
    u, v = np.zeros_like(a), np.zeros_like(b)
    of_u, of_v = 0.0, 0.0  # what the kernel has absorbed
    converged = False
    for step in range(_ITERATIONS):
        before, held = u, kernel + of_u + of_v
        sums = np.logaddexp.reduce(held + v, axis=1, keepdims=True)
        u = power * (a - np.logaddexp(sums, _LEAST)) - (1 - power) * of_u
        sums = np.logaddexp.reduce(held + u, axis=0)
        v = power * (b - np.logaddexp(sums, _LEAST)) - (1 - power) * of_v
        if absorbing := max(u.max(), v.max()) > _LARGEST:
            of_u, of_v, v = of_u + u.max(), of_v + v.max(), np.zeros_like(v)
        if step == 0 or (step % 10 == 0 and not absorbing):
            scale = max(0.0, float(before.max()), float(u.max()))
            converged = bool(np.abs(np.exp(u - scale) - np.exp(before - scale)).max() <= _TOLERANCE)
        if converged:
            break
    plan[heavy] = np.exp(kernel + u + of_u + v + of_v)
    return plan, converged
