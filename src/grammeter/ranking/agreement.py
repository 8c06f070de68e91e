"""How far judges agree, with each other and with themselves.

Kappa and the counts are those of Grundkiewicz, Junczys-Dowmunt and Gillian (2015), section 4.4,
computed as their script does. Krippendorff's alpha of the ranks stands beside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from itertools import combinations, combinations_with_replacement
from typing import Any, Literal, get_args

import numpy as np

from grammeter.core.errors import DataError, UnknownNameError
from grammeter.core.judgment import Ranking, with_sentence_numbers
from grammeter.core.score import json_number
from grammeter.core.signature import Signature
from grammeter.core.statistics import FloatArray, IntArray
from grammeter.ranking.pairs import extract_pairs
from grammeter.stats.agreement import (
    Alpha,
    Comparisons,
    Kappa,
    between,
    krippendorff_alpha,
    mean_kappa,
    within,
)
from grammeter.stats.agreement import kappa as kappa_of
from grammeter.stats.correlation import average_ranks
from grammeter.version import __version__

KIND = "agreement"
TOTAL = "total"

KappaKind = Literal["script", "orientation-free"]
"""How chance agreement is taken: with "better" and "worse" as they fall in alphabetical order of
the outputs' names, as the paper's script does, or equally likely, for that order means nothing."""

KINDS: tuple[KappaKind, ...] = get_args(KappaKind)

LEAST = 50
"""Pairs of judges with fewer comparisons do not count in the mean (the paper's rule)."""

_BETTER, _EQUAL, _WORSE = range(3)
_ALIKE: dict[KappaKind, tuple[int, ...]] = {"script": (), "orientation-free": (_BETTER, _WORSE)}


@dataclass(frozen=True, slots=True)
class JudgeCounts:
    """What one judge did (Table 1 of the paper).

    Attributes
    ----------
    items
        All items, skipped ones too.
    unexpanded, unexpanded_ties
        Pairs of outputs that were ranked together, and those that tied.
    expanded, expanded_ties
        The same for systems; systems that wrote the same tie.
    """

    items: int
    unexpanded: int
    unexpanded_ties: int
    expanded: int
    expanded_ties: int


@dataclass(frozen=True, slots=True)
class Kappas:
    """Kappa by one definition.

    Attributes
    ----------
    inter, intra
        The mean over pairs of judges, and over judges with themselves, weighted by comparisons.
    pairs
        By two judges in alphabetical order; twice the same judge is its own consistency.
    """

    inter: Kappa
    intra: Kappa
    pairs: Mapping[tuple[str, str], Kappa]


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far judges agree.

    Attributes
    ----------
    kind
        The definition of kappa that is asked for.
    kappas
        Kappa by each definition.
    alpha_inter, alpha_intra
        Krippendorff's alpha (ordinal) of the ranks, between judges and within.
    counts
        By judge, in alphabetical order.
    total
        The sums of the counts.
    """

    kind: KappaKind
    signature: Signature
    kappas: Mapping[KappaKind, Kappas]
    alpha_inter: Alpha
    alpha_intra: Alpha
    counts: Mapping[str, JudgeCounts]
    total: JudgeCounts
    notes: tuple[str, ...] = ()

    @property
    def inter(self) -> Kappa:
        """Agreement between judges."""
        return self.kappas[self.kind].inter

    @property
    def intra(self) -> Kappa:
        """Agreement of judges with themselves."""
        return self.kappas[self.kind].intra

    @property
    def pairs(self) -> Mapping[tuple[str, str], Kappa]:
        """Agreement of each pair of judges; see :class:`Kappas`."""
        return self.kappas[self.kind].pairs

    @property
    def beside(self) -> KappaKind:
        """The other definition of kappa."""
        return next(kind for kind in self.kappas if kind != self.kind)

    def to_json(self) -> dict[str, Any]:
        """Return the public shape: NaN becomes ``null`` with a reason."""
        other = self.kappas[self.beside]
        counts = {**self.counts, TOTAL: self.total}
        return {
            "kind": KIND,
            "grammeter": __version__,
            "signature": str(self.signature),
            "inter": _kappa_to_json(self.inter),
            "intra": _kappa_to_json(self.intra),
            "pairs": {
                "|".join(judges): _kappa_to_json(found) | {"in_mean": in_mean(found)}
                for judges, found in self.pairs.items()
            },
            "counts": {judge: asdict(found) for judge, found in counts.items()},
            "beside": {
                "kappa": self.beside,
                "inter": _kappa_to_json(other.inter),
                "intra": _kappa_to_json(other.intra),
            },
            "alpha": {
                "level": "ordinal",
                "inter": _alpha_to_json(self.alpha_inter),
                "intra": _alpha_to_json(self.alpha_intra),
            },
            "notes": [*self.notes],
        }


def agree(
    rankings: Sequence[Ranking],
    *,
    kappa: KappaKind = "script",
    numbering: str | None = None,
) -> Agreement:
    """Measure the agreement of judges on pairs of outputs.

    Two judgments are compared where the same two outputs of a sentence, of the same document,
    were ranked: one is better, they tie, or the other is better. Equal outputs are one; an output
    is known by the systems that wrote it.

    Parameters
    ----------
    rankings
        All that the judges said; skipped items count as items.
    kappa
        The definition that comes first; the other stands beside it.
    numbering
        How the file counted sentences, for the signature.

    Raises
    ------
    DataError
        If there is no ranking, or a judge has the name ``total``.
    UnknownNameError
        If there is no such kappa.
    """
    if kappa not in KINDS:
        raise UnknownNameError("kappa", kappa, KINDS)
    judges = sorted({ranking.judge for ranking in rankings})
    if not judges or TOTAL in judges:
        fault = "a judge is called 'total', like the sum of all judges" if judges else "no judgment"
        raise DataError(fault, fix="Rename the judge." if judges else "Give one at least.")
    rankings = with_sentence_numbers(rankings)
    compared = dict(_compared(rankings))
    counts = _count(rankings, judges)
    shown: dict[str, object] = {"kappa": kappa, "least": LEAST}
    shown |= {"alpha": "ordinal", "alpha-ranks": "mid", "judges": len(judges)}
    if numbering:
        shown["first-segment"] = numbering
    return Agreement(
        kappa,
        Signature.of(KIND, shown | {"items": len(rankings)}),
        {kind: _kappas(compared, kind) for kind in KINDS},
        krippendorff_alpha(_values_between(rankings)),
        krippendorff_alpha(_values_within(rankings)),
        counts,
        _sum(counts.values()),
    )


def _kappas(compared: Mapping[tuple[str, str], Comparisons], kind: KappaKind) -> Kappas:
    pairs = {judges: kappa_of(found, alike=_ALIKE[kind]) for judges, found in compared.items()}
    return Kappas(
        mean_kappa([found for (a, b), found in pairs.items() if a != b], least=LEAST),
        mean_kappa([found for (a, b), found in pairs.items() if a == b], least=LEAST),
        pairs,
    )


def _compared(rankings: Sequence[Ranking]) -> Iterator[tuple[tuple[str, str], Comparisons]]:
    """Compare every two judges, and each with itself."""
    judged = _judged(rankings)
    for first, second in combinations_with_replacement(sorted(judged), 2):
        units, counts = judged[first]
        others, their_counts = judged[second]
        if first == second:
            yield (first, second), within(counts)
            continue
        _, ours, theirs = np.intersect1d(units, others, assume_unique=True, return_indices=True)
        yield (first, second), between(counts[ours], their_counts[theirs])


def _judged(rankings: Sequence[Ranking]) -> dict[str, tuple[IntArray, IntArray]]:
    """Return for each judge the units judged, ascending, and how often each category.

    A unit is two outputs of a sentence. Outputs are named by their systems, and stand in the
    alphabetical order of these names.
    """
    units: dict[tuple[int, str, str], int] = {}
    chosen: dict[str, Counter[tuple[int, int]]] = {}
    for ranking in rankings:
        own = chosen.setdefault(ranking.judge, Counter())
        for (first, rank), (second, other) in combinations(sorted(_outputs(ranking)), 2):
            unit = units.setdefault((ranking.segment, first, second), len(units))
            category = _EQUAL if rank == other else _BETTER if rank < other else _WORSE
            own[unit, category] += 1
    return {judge: _columns(own) for judge, own in chosen.items()}


def _columns(chosen: Counter[tuple[int, int]]) -> tuple[IntArray, IntArray]:
    units = np.array(sorted({unit for unit, _ in chosen}), dtype=np.int64)
    counts = np.zeros((len(units), 3), dtype=np.int64)
    place = {unit: row for row, unit in enumerate(units.tolist())}
    for (unit, category), count in chosen.items():
        counts[place[unit], category] = count
    return units, counts


def _outputs(ranking: Ranking) -> Iterator[tuple[str, int]]:
    """Yield the name and rank of each output."""
    if not ranking.skipped:
        for group, rank in zip(ranking.groups, ranking.ranks, strict=True):
            yield " ".join(sorted(group)), rank


def _values_between(rankings: Iterable[Ranking]) -> FloatArray:
    """Return one rank of each judge for each output, among the same outputs shown."""
    values: dict[tuple[object, ...], list[float]] = {}
    seen: set[tuple[object, ...]] = set()
    for ranking in rankings:
        shown, ranks = _shown(ranking)
        first = (ranking.judge, *shown) not in seen
        seen.add((ranking.judge, *shown))
        for output, rank in ranks.items() if first else ():
            values.setdefault((*shown, output), []).append(rank)
    return _padded(values.values())


def _values_within(rankings: Iterable[Ranking]) -> FloatArray:
    """Return all ranks of one judge for each output, among the same outputs shown."""
    values: dict[tuple[object, ...], list[float]] = {}
    for ranking in rankings:
        shown, ranks = _shown(ranking)
        for output, rank in ranks.items():
            values.setdefault((ranking.judge, *shown, output), []).append(rank)
    return _padded(values.values())


def _shown(ranking: Ranking) -> tuple[tuple[int, frozenset[str]], dict[str, float]]:
    """Return what was shown, and the mid-rank of each output: of a rank only the order counts."""
    outputs = dict(_outputs(ranking))
    ranks = average_ranks(np.array(list(outputs.values()), dtype=np.float64))
    by_output = dict(zip(outputs, ranks.tolist(), strict=True)) if len(outputs) > 1 else {}
    return (ranking.segment, frozenset(outputs)), by_output


def _padded(rows: Iterable[Sequence[float]]) -> FloatArray:
    rows = [row for row in rows if len(row) > 1]
    values = np.full((len(rows), max(map(len, rows), default=0)), np.nan)
    for number, row in enumerate(rows):
        values[number, : len(row)] = row
    return values


def _count(rankings: Sequence[Ranking], judges: Sequence[str]) -> dict[str, JudgeCounts]:
    items = Counter(ranking.judge for ranking in rankings)
    columns: list[list[int]] = [[items[judge] for judge in judges]]
    for extraction in ("unexpanded", "expanded"):
        pairs = extract_pairs(rankings, extraction=extraction)
        for chosen in (pairs.judge, pairs.judge[pairs.outcome == 0]):
            columns.append(np.bincount(chosen, minlength=len(judges)).tolist())
    rows = zip(*columns, strict=True)
    return {judge: JudgeCounts(*row) for judge, row in zip(judges, rows, strict=True)}


def _sum(counts: Iterable[JudgeCounts]) -> JudgeCounts:
    return JudgeCounts(*map(sum, zip(*map(astuple, counts), strict=True)))


def in_mean(found: Kappa) -> bool:
    """Whether the kappa of a pair of judges counts in the mean."""
    return found.n >= LEAST and not np.isnan(found.value)


def _kappa_to_json(found: Kappa) -> dict[str, Any]:
    data: dict[str, Any] = {
        "kappa": json_number(found.value),
        "observed": json_number(found.observed),
        "chance": json_number(found.chance),
        "n": found.n,
    }
    return data | ({"reason": found.reason} if found.reason else {})


def _alpha_to_json(found: Alpha) -> dict[str, Any]:
    data: dict[str, Any] = {"value": json_number(found.value), "n": found.n}
    return data | ({"reason": found.reason} if found.reason else {})
