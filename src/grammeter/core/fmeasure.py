"""F-measures from counts by one division, so that equal fractions are equal numbers.

F is ``(1 + beta**2) * correct / (beta**2 * gold + proposed)``. With ``beta**2`` as a fraction of
whole numbers, both sides of the division are whole, and the quotient is the number nearest to
the true value; precision and recall, each rounded before, would lead to neighbours of it.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

FINEST = 10**6
"""The greatest denominator of a beta that is taken as a fraction: ``0.3`` is 3/10."""


@cache
def beta_weights(beta: float) -> tuple[float, float]:
    """Return what recall and precision weigh: whole numbers whose ratio is ``beta**2``.

    A beta that is no fraction with a denominator of :data:`FINEST` at most gives ``beta**2, 1``.
    """
    simple = Fraction(beta).limit_denominator(FINEST)
    if float(simple) != beta:
        return beta * beta, 1.0
    return float(simple.numerator**2), float(simple.denominator**2)


def f_fraction(correct: Any, proposed: Any, gold: Any, beta: float) -> tuple[Any, Any]:
    """Return what F divides by what: numbers, or arrays of one shape.

    ``correct``, ``proposed`` and ``gold`` are counts or weights, ``beta`` the weight of recall.
    Where ``gold`` is 0 and ``correct`` is not, recall is 1 if ``correct`` is given in its place.
    """
    recall, precision = beta_weights(beta)
    return (recall + precision) * correct, recall * gold + precision * proposed


def f_measure(correct: float, proposed: float, gold: float, beta: float) -> float:
    """Return F: 1 where nothing is proposed and nothing is to be found, else 0 without a hit."""
    found = gold or correct
    above, below = f_fraction(correct, proposed, found, beta)
    return above / below if below else float(not found)  # with beta 0 what is missed has no weight
