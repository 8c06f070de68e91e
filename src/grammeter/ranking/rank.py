"""A ranking with rank ranges and clusters, from the comparisons of a selection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, Protocol

import numpy as np

from grammeter.core import (
    BoolArray,
    FloatArray,
    IntArray,
    Ranked,
    RankedSystem,
    Signature,
    UnknownNameError,
)
from grammeter.ranking._expected_wins import Divisor, ExpectedWins
from grammeter.ranking.bootstrap import Resampling, Unit, unit_numbers, unlabelled
from grammeter.ranking.bradley_terry import BradleyTerry
from grammeter.ranking.clusters import (
    cluster_numbers,
    equalised,
    rank_ranges,
    run_ranks,
    score_order,
)
from grammeter.ranking.pairs import Pairs
from grammeter.ranking.selection import Selection, listed
from grammeter.ranking.trueskill import TrueSkill


class Method(Protocol):
    """A way to score systems from judgments; a frozen value whose fields are its settings."""

    name: ClassVar[str]
    unit: ClassVar[Unit | None]
    """The default unit of resampling; ``None``: the runs differ by themselves."""

    def settings(self, comparisons: int) -> Mapping[str, object]:
        """Return the settings for a signature."""
        ...

    def score(self, wins: IntArray, ties: IntArray) -> FloatArray:
        """Score the systems on all the data: counts ``(n, n)`` to ``(n,)``; NaN for none."""
        ...

    def runs(self, pairs: Pairs, resampling: Resampling) -> FloatArray:
        """Score the systems on each resample, shape ``(runs, n)``."""
        ...

    def missing(self, wins: IntArray, ties: IntArray) -> tuple[BoolArray, str]:
        """Return the opponents, ``(n, n)``, that a score does not rest on, and what that means."""
        ...


METHODS: Mapping[str, type[ExpectedWins] | type[TrueSkill] | type[BradleyTerry]] = {
    method.name: method for method in (ExpectedWins, TrueSkill, BradleyTerry)
}


def rank_systems(
    selection: Selection,
    method: Method,
    *,
    resampling: Resampling | None = None,
    confidence: float = 0.95,
) -> Ranked:
    """Rank systems by the judgments of a selection.

    Parameters
    ----------
    selection
        From :func:`~grammeter.ranking.selection.select`.
    method
        How systems are scored.
    resampling
        Default: by the unit of the method.
    confidence
        Share of the resamples whose ranks a range covers.

    Returns
    -------
    Ranked
        As :func:`grammeter.rank` describes it.

    Raises
    ------
    UsageError
        If the confidence is impossible or leaves none of the runs.
    DataError
        If the method finds no scores.
    """
    resampling = resampling or Resampling(unit=method.unit)
    pairs = selection.pairs
    settings = {**method.settings(len(pairs)), **shown_design(resampling, confidence)}
    return Ranked(
        method.name,
        Signature.of(method.name, {**settings, **selection.shown}),
        tuple(_rows(method, pairs, resampling, confidence)),
        (*selection.notes, *notes_of_method(method, pairs, resampling)),
    )


def _rows(
    method: Method, pairs: Pairs, resampling: Resampling, confidence: float
) -> Iterator[RankedSystem]:
    """Yield the systems, best first; of equal scores the better range, then the later name."""
    bare = unlabelled(pairs, resampling.unit)
    scores = equalised(method.score(*bare.pairs.counts()), bare.alike)[bare.place]
    runs = method.runs(bare.pairs, resampling)[:, bare.place]
    alike = bare.alike[bare.place].tolist()
    ranges = rank_ranges(*run_ranks(runs), confidence, alike=alike)
    order = score_order(scores, *(-np.array(ends) for ends in zip(*ranges, strict=True)))
    clusters = cluster_numbers([ranges[at] for at in order])
    reasons = list(_reasons(method, pairs))
    for at, cluster in zip(order, clusters, strict=True):
        yield RankedSystem(pairs.systems[at], float(scores[at]), ranges[at], cluster, reasons[at])


def notes_of_method(method: Method, pairs: Pairs, resampling: Resampling) -> Iterator[str]:
    """Yield what ranges leave out, and how many systems never met."""
    if resampling.unit is None:
        yield (
            "runs of TrueSkill differ in their random games alone, as in the papers, not in the"
            " judgments: ranges are too narrow, clusters too many; --unit sentence (in Python"
            " unit='sentence') resamples the judgments, too"
        )
    elif resampling.unit == "pair":
        yield (
            "the unit 'pair' takes comparisons of one item to be independent, which they are not:"
            " ranges are too narrow, clusters too many"
        )
    elif len(np.unique(unit_numbers(pairs, resampling.unit))) == 1:
        yield (
            f"all judgments are of one {resampling.unit}: resampling it changes nothing, so ranges"
            " and clusters mean nothing"
        )
    wins, ties = pairs.counts()
    never = int(np.triu(wins + wins.T + ties == 0, 1).sum())
    if never and method == ExpectedWins():
        possible = len(wins) * (len(wins) - 1) // 2
        yield (
            f"{never} of {possible} pairs of systems were never compared, and an opponent never met"
            " counts as 0: --divisor met-opponents averages over the others"
        )


def method_of(
    by: str | Method, *, divisor: Divisor | None = None, prior: float | None = None
) -> Method:
    """Return the method of a name, with a setting of Expected Wins or of Bradley-Terry.

    Raises
    ------
    UsageError
        If there is none.
    """
    if not isinstance(by, str):
        return by
    if by not in METHODS:
        raise UnknownNameError("ranking method", by, METHODS)
    if divisor is not None:
        return ExpectedWins(divisor=divisor)
    return METHODS[by]() if prior is None else BradleyTerry(prior=prior)


def shown_design(resampling: Resampling, confidence: float) -> Mapping[str, object]:
    """Return the settings of the resampling for a signature."""
    return {
        "unit": resampling.unit or "game",
        "resamples": resampling.runs,
        "seed": resampling.seed,
        "confidence": f"{confidence:.10g}",
    }


def _reasons(method: Method, pairs: Pairs) -> Iterator[str | None]:
    """Yield for each system the opponents that its score does not rest on."""
    wins, ties = pairs.counts()
    missing, meaning = method.missing(wins, ties)
    compared: BoolArray = np.any(wins + wins.T + ties, axis=1)
    decided: BoolArray = np.any(wins + wins.T, axis=1)
    for at, row in enumerate(missing & ~np.eye(len(wins), dtype=np.bool_)):
        if not compared[at]:
            yield "never compared with any system"
        elif not decided[at]:
            yield "all its comparisons are ties"
        elif row.any():
            yield f"{meaning}: {listed([pairs.systems[other] for other in np.flatnonzero(row)])}"
        else:
            yield None
