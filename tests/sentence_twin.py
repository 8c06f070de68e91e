"""Slow twins of the sentence-level counts: one pair at a time, one rule at a time."""

from __future__ import annotations

from itertools import combinations


def pairs_of(rankings, extraction="expanded"):
    """Yield (segment, first, second, human) with the names in order; human is 1, 0 or -1."""
    for ranking in rankings:
        shown = []
        if ranking.skipped:
            continue
        for group, rank in zip(ranking.groups, ranking.ranks, strict=True):
            names = group if extraction == "expanded" else [min(group)]
            shown += [(name, rank) for name in names]
        for (a, ra), (b, rb) in combinations(sorted(shown), 2):
            yield ranking.segment, a, b, (ra < rb) - (ra > rb)


def tau_and_accuracy(decided, rule, better=1):
    """Apply a rule to (human, metric) relations as its definition words it."""
    points, right, n = 0, 0, 0
    for human, metric in decided:
        if rule == "h-ties":
            n += 1
            points += human * metric if human or metric else 1
            right += human == metric
            continue
        if human == 0 or (rule == "drop" and metric == 0):
            continue
        n += 1
        if rule == "seeda-script" and metric == 0:
            metric = -better
        if metric:
            points += human * metric
            right += human == metric
        elif rule == "half":
            right += 0.5
        elif rule == "wrong":
            points -= 1
    return (points / n, right / n) if n else (None, None)
