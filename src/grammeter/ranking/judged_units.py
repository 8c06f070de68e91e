"""Units of agreement: two outputs of a sentence, and the rank of an output among others."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement
from statistics import fmean

import numpy as np

from grammeter.core import FloatArray, IntArray, Ranking, grouped
from grammeter.ranking.pairs import extract_pairs, order_of_units, unit_numbers
from grammeter.stats import average_ranks, between_rows, within_rows

BETTER, EQUAL, WORSE = range(3)  # 1 less the outcome of a pair
_Unit = tuple[int, frozenset[str], str]  # sentence, outputs shown, output
Judges = tuple[str, str]
Outputs = Mapping[str, Sequence[str]]  # the systems' outputs by name, one text a sentence


Compared = Mapping[Judges, IntArray]
"""Comparisons by two judges in alphabetical order, sentence by sentence, shape ``(sentences, 5)``.

They are rows of :func:`grammeter.stats.between_rows`, summed over each sentence.
"""


def numbered(rankings: Sequence[Ranking]) -> list[Ranking]:
    """Renumber the sentences from 1 by judgments alone; those without comparisons come last."""
    pairs = extract_pairs(rankings)
    segments = np.unique(pairs.segment)
    order = order_of_units(pairs, unit_numbers(pairs, "sentence"))
    numbers = {segment: number for number, segment in enumerate(segments[order].tolist())}
    for ranking in rankings:
        numbers.setdefault(ranking.segment, len(numbers))
    return [replace(ranking, segment=1 + numbers[ranking.segment]) for ranking in rankings]


def compared(rankings: Sequence[Ranking]) -> Compared:
    """Compare every two judges, and each with itself, in rankings from :func:`numbered`.

    A unit is two outputs of a sentence, in the alphabetical order of their systems' names.
    """
    named = ((r, tuple(("\n".join(sorted(group)),) for group in r.groups)) for r in rankings)
    pairs = extract_pairs([replace(ranking, groups=outputs) for ranking, outputs in named])
    size = len(pairs.systems)
    unit = (pairs.segment * size + pairs.first) * size + pairs.second
    judged: list[tuple[str, IntArray, IntArray]] = []
    for number, judge in enumerate(pairs.judges):
        mine = pairs.judge == number
        known, place = np.unique(unit[mine], return_inverse=True)
        category = 1 - pairs.outcome[mine]
        counts = np.bincount(3 * place + category, minlength=3 * len(known)).reshape(-1, 3)
        judged.append((judge, known, counts))
    sentences = max((ranking.segment for ranking in rankings), default=0) + 1
    rows: dict[Judges, IntArray] = {}
    for (first, units, ours), (second, others, theirs) in combinations_with_replacement(judged, 2):
        both, at, there = np.intersect1d(units, others, return_indices=True)
        same = first == second
        of_unit = within_rows(ours) if same else between_rows(ours[at], theirs[there])
        rows[first, second] = np.zeros((sentences, of_unit.shape[1]), dtype=np.int64)
        np.add.at(rows[first, second], both // size**2, of_unit)
    return rows


def outputs_of(ranking: Ranking) -> Iterator[tuple[str, int]]:
    """Yield the name and rank of each output."""
    if not ranking.skipped:
        for group, rank in zip(ranking.groups, ranking.ranks, strict=True):
            yield " ".join(sorted(group)), rank


_Values = tuple[FloatArray, IntArray]


def values_of(rankings: Iterable[Ranking]) -> tuple[_Values, _Values]:
    """Return each judge's mean rank of each output, and all ranks of one judge for each output.

    Ranks are mid-ranks among the same outputs shown in whatever order. Shape ``(units,
    observers)``, NaN where there is none; and the units' sentences, ``(units,)``.
    """
    units: dict[_Unit, dict[str, list[float]]] = {}
    for ranking in rankings:
        outputs = dict(outputs_of(ranking))
        if len(outputs) > 1:
            ranks = average_ranks(np.array(list(outputs.values()), dtype=np.float64))
            for output, rank in zip(outputs, ranks.tolist(), strict=True):
                unit = units.setdefault((ranking.segment, frozenset(outputs), output), {})
                unit.setdefault(ranking.judge, []).append(rank)
    between = ((unit[0], [*map(fmean, of.values())]) for unit, of in units.items())
    within = ((unit[0], ranks) for unit, of in units.items() for ranks in of.values())
    return _padded(between), _padded(within)


def _padded(rows: Iterable[tuple[int, Sequence[float]]]) -> _Values:
    rows = [(segment, row) for segment, row in rows if len(row) > 1]
    values = np.full((len(rows), max((len(row) for _, row in rows), default=0)), np.nan)
    for number, (_, row) in enumerate(rows):
        values[number, : len(row)] = row
    return values, np.array([segment for segment, _ in rows], dtype=np.int64)


def equal_outputs_joined(
    rankings: Sequence[Ranking], outputs: Outputs | None = None
) -> list[Ranking]:
    """Join outputs of a sentence that are known to be equal.

    They are if a ranking says so, or if the texts in ``outputs`` are equal, white space aside. Of
    different ranks in one ranking the best counts.
    """
    classes = _equal(rankings, outputs or {})
    return [_joined(ranking, classes.get(ranking.segment, {})) for ranking in rankings]


def _equal(rankings: Sequence[Ranking], outputs: Outputs) -> dict[int, dict[str, tuple[str, ...]]]:
    """Return for each sentence the systems that wrote the same as a system."""
    groups: dict[int, list[set[str]]] = {}
    for ranking in rankings:
        sentence = groups.setdefault(ranking.segment, [])
        at = ranking.segment
        texts = ((name, outputs.get(name, ())[at - 1 : at]) for name in ranking.systems)
        by_text = grouped((" ".join(text[0].split()), name) for name, text in texts if text)
        for group in {*ranking.groups, *map(tuple, by_text.values())}:
            met = [names for names in sentence if names & {*group}]
            sentence[:] = [names for names in sentence if not names & {*group}]
            sentence.append({*group}.union(*met))
    return {segment: {name: tuple(sorted(names)) for names in sentence for name in names}
            for segment, sentence in groups.items()}  # fmt: skip


def _joined(ranking: Ranking, classes: Mapping[str, tuple[str, ...]]) -> Ranking:
    best: dict[tuple[str, ...], int] = {}
    ranks = ranking.ranks or (1,) * len(ranking.groups)
    for group, rank in zip(ranking.groups, ranks, strict=True):
        name = classes[group[0]] if group else group
        best[name] = min(rank, best.get(name, rank))
    ranks = tuple(best.values()) if ranking.ranks else ()
    return replace(ranking, groups=tuple(best), ranks=ranks, scores=None, replies=())
