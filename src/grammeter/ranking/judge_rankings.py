"""Do judges rank the systems alike: each one's ranking against the others' (Table 6).

Grundkiewicz, Junczys-Dowmunt and Gillian (2015), section 4.4: systems are scored by the Expected
Wins of one judge's comparisons, by the divisor that their script has for it, to four decimals.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from grammeter import core
from grammeter.ranking import selection
from grammeter.ranking.agreement_results import NONE, WIDEST
from grammeter.ranking.methods import Divisor, expected_wins
from grammeter.ranking.pairs import Pairs, extract_pairs
from grammeter.stats import pearson, spearman

KIND = "judge-correlation"
DIVISOR: Divisor = "beaten-opponents"
DECIMALS = 4


@dataclass(frozen=True, slots=True)
class Correlation(core.Plain):
    """How alike two rankings of the ``n`` systems that both have scored are.

    ``spearman`` is of the ranks (equal scores share their mean), ``pearson`` of the scores, from
    -1 to 1; NaN with a ``reason``.
    """

    spearman: float
    pearson: float
    n: int
    reason: str | None = None


@dataclass(frozen=True, repr=False)
class JudgeCorrelations(core.Result):
    """The rankings of judges, compared.

    ``pairs`` are by two judges in alphabetical order, ``rest`` by judge: against all others
    together. ``weights`` are the judges' numbers of expanded pairs; ``mean`` is that of ``rest``,
    weighted, and its ``n`` the number of judges.
    """

    signature: core.Signature
    pairs: Mapping[tuple[str, str], Correlation]
    rest: Mapping[str, Correlation]
    weights: Mapping[str, int]
    mean: Correlation
    notes: tuple[str, ...] = ()

    def tables(self, *, long: bool = False) -> Sequence[core.Table]:
        """Return a matrix, Spearman's rho above the diagonal and Pearson's r below.

        For programs and for many judges: a row for each pair.
        """
        return [_pair_table(self) if long or len(self.weights) > WIDEST else _matrix(self)]

    def each(self) -> Iterator[tuple[tuple[str, str], Correlation]]:
        """Yield the correlation of each two judges, then of each judge with the ``rest``."""
        yield from self.pairs.items()
        yield from (((judge, "rest"), correlation) for judge, correlation in self.rest.items())

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape: NaN becomes ``null`` with a reason."""
        weights = self.weights
        rest = {judge: of.to_dict() | {"weight": weights[judge]} for judge, of in self.rest.items()}
        return core.public_shape(KIND, self, rest=rest, weights=None)


def judge_correlations(
    rankings: Sequence[core.Ranking],
    *, judges: Sequence[str] | None = None, without_judges: Sequence[str] | None = None,
    numbering: str | None = None,
) -> JudgeCorrelations:  # fmt: skip
    """Correlate the rankings of systems by each judge with each other's and the rest's.

    ``judges`` and ``without_judges`` say whose judgments count, as their own and as the rest's;
    for ``numbering`` see :func:`select`. Fewer than two judges are an error.
    """
    chosen = selection.of_judges(rankings, judges, without_judges)
    pairs = extract_pairs(chosen)
    names = pairs.judges
    if len(names) < 2:
        fault = f"{len(names)} judges have no rankings to compare"
        raise core.DataError(fault, fix="Give two judges at least.")
    numbers = range(len(names))
    scores = [_scores(pairs.select(pairs.judge == number)) for number in numbers]
    rest = [_correlation(scores[n], _scores(pairs.select(pairs.judge != n))) for n in numbers]
    weights = np.bincount(pairs.judge, minlength=len(names)).tolist()
    settings: dict[str, object] = {"method": "expected-wins", "divisor": DIVISOR}
    settings |= {"ties": "ignored", "decimals": DECIMALS, "extraction": "expanded"}
    settings["judges"] = len(names) if judges is None and not without_judges else "+".join(names)
    settings |= selection.numbering_of(rankings, numbering)
    settings |= {"systems": len(pairs.systems), "items": len(chosen)}
    by_two = combinations(names, 2), combinations(scores, 2)
    return JudgeCorrelations(
        core.Signature.of(KIND, settings),
        {pair: _correlation(*both) for pair, both in zip(*by_two, strict=True)},
        dict(zip(names, rest, strict=True)), dict(zip(names, weights, strict=True)),
        _mean(rest, weights), (*selection.notes_of(rankings), *_notes(pairs, weights)),
    )  # fmt: skip


def _notes(pairs: Pairs, weights: Sequence[int]) -> Iterator[str]:
    yield from selection.notes_of_few(pairs)
    counts, least = zip(pairs.judges, weights, strict=True), selection.FEW
    if few := [f"{name} ({n})" for name, n in counts if n < least]:
        yield f"judges with fewer than {least} comparisons: {core.listed(few)}"
    yield from selection.notes_of_few_systems(len(pairs.systems))


def _scores(pairs: Pairs) -> core.FloatArray:
    wins, _ = pairs.counts()
    return np.round(expected_wins(wins, divisor=DIVISOR), DECIMALS)


def _correlation(first: core.FloatArray, second: core.FloatArray) -> Correlation:
    both = np.isfinite(first) & np.isfinite(second)
    ours, theirs = first[both], second[both]
    n = len(ours)
    few, same = "fewer than two systems have a score from both", "all systems have the same score"
    if n < 2 or len(set(ours)) == 1 or len(set(theirs)) == 1:
        return Correlation(np.nan, np.nan, n, few if n < 2 else same)
    return Correlation(float(spearman(ours, theirs)), float(pearson(ours, theirs)), n)


def _mean(rest: Sequence[Correlation], weights: Sequence[int]) -> Correlation:
    known = [(r.spearman, r.pearson, w) for r, w in zip(rest, weights, strict=True) if not r.reason]
    if not known:
        return Correlation(np.nan, np.nan, 0, "no judge has a correlation with the rest")
    columns, shares = [row[:2] for row in known], [row[2] for row in known]
    spearman, pearson = np.average(columns, axis=0, weights=shares).tolist()
    return Correlation(spearman, pearson, len(known))


def _matrix(correlations: JudgeCorrelations) -> core.Table:
    names = (*correlations.rest, "rest")
    cells: dict[tuple[str, str], float] = {}
    for (first, second), correlation in correlations.each():
        cells[first, second] = correlation.spearman
        cells[second, first] = correlation.pearson
    rows = [(name, *(cells.get((name, column), NONE) for column in names)) for name in names]
    rho, r = map(core.format_number, (correlations.mean.spearman, correlations.mean.pearson))
    notes = (
        "above the diagonal: Spearman's rho; below: Pearson's r; rest: all other judges together",
        f"mean with the rest, weighted by pairs: rho {rho}, r {r}",
        str(correlations.signature),
        *(f"no figure: {'|'.join(two)}: {c.reason}" for two, c in correlations.each() if c.reason),
    )
    return core.Table.of(("judge", *core.Column.many("number", *names)), rows, notes)


def _pair_table(correlations: JudgeCorrelations) -> core.Table:
    weights, both = correlations.weights, correlations.each()
    rows = [(*pair, c.spearman, c.pearson, c.n, weights[pair[0]]) for pair, c in both]
    figures = core.Column.many("number", "spearman", "pearson", digits=6)
    counts = core.Column.many("count", "n", "weight of first")
    return core.Table.of(("first", "second", *figures, *counts), rows)
