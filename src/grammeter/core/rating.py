"""A rating: the number that a judge gave to one output for one criterion."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from grammeter.core.errors import DataError

MEAN = "mean"
"""The criterion that averages all others, each mapped from its scale to 0..1."""

Scale = tuple[float, float]
"""The least and the largest score of a criterion."""


@dataclass(frozen=True, slots=True)
class Rating:
    """One judge's score of one output of a sentence for one criterion; higher is better.

    ``segment`` is the number of the sentence, from 1. ``systems`` wrote the output; it was rated
    once for all of them. ``score`` is ``None`` where the judge gave none. ``turn`` counts, from 0,
    how often the same judge has rated this output before, where a file has repetitions. DataError
    if a name is missing, a system comes twice, or the score is not finite.
    """

    judge: str
    segment: int
    systems: tuple[str, ...]
    criterion: str
    score: float | None
    turn: int = 0

    def __post_init__(self) -> None:
        fault = ""
        if self.segment < 1:
            fault = f"there is no segment {self.segment}"
        elif not all((self.judge, self.criterion, self.systems, *self.systems)):
            fault = "a judge, system or criterion without a name"
        elif len({*self.systems}) != len(self.systems):
            fault = f"a system comes twice: {[*self.systems]}"
        elif self.score is not None and not math.isfinite(self.score):
            fault = f"a score of {self.score}"
        if fault:
            fix = "A rating has a judge, a segment from 1, systems, a criterion and a number."
            raise DataError(f"rating by {self.judge!r}: {fault}", fix=fix)

    @property
    def output(self) -> tuple[int, tuple[str, ...], int]:
        """What was rated: equal for ratings of several judges and criteria."""
        return self.segment, self.systems, self.turn


def mean_ratings(
    ratings: Sequence[Rating], scales: Mapping[str, Scale]
) -> list[tuple[int, Rating]]:
    """Average all criteria of each output by each judge, scales mapped to 0..1.

    The mean is missing unless all criteria of ``scales`` are there. Each comes with the place of
    the first rating that it is made of. DataError if a scale has no width.
    """
    if flat := next((name for name, (low, high) in scales.items() if not low < high), None):
        fault = f"the scale of {flat!r} has no width: all its scores are equal"
        raise DataError(fault, fix="Name the scale: --scale LO-HI, or a column 'scale'.")
    places: dict[object, int] = {}
    scores: dict[int, dict[str, float]] = {}
    for place, rating in enumerate(ratings):
        first = places.setdefault((rating.judge, *rating.output), place)
        low, high = scales[rating.criterion]
        of = scores.setdefault(first, {})
        if rating.score is not None:
            of[rating.criterion] = (rating.score - low) / (high - low)
    wanted = len(scales)
    means = (
        (at, sum(of.values()) / wanted if len(of) == wanted else None) for at, of in scores.items()
    )
    return [(at, replace(ratings[at], criterion=MEAN, score=mean)) for at, mean in means]
