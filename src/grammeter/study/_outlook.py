"""The learning curve of a ranking, and how many items separate neighbours in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from grammeter.core import Ranking
from grammeter.ranking import Separation, rank, select, separations
from grammeter.study.planning import LearningCurve, draw_campaigns, items_needed, learning_curve

_NOTE = (
    "draws are parts of these judgments, so with all items they agree with the full ranking however"
    " few there are; a new campaign needs more items"
)


@dataclass(frozen=True, eq=False)
class Outlook:
    """How the ranking by Expected Wins settles.

    Attributes
    ----------
    curve
        Correlation with the full ranking by number of items.
    items_needed
        See :func:`grammeter.study.planning.items_needed`.
    separations
        For each system and the next one of the ranking, what it takes to tell them apart.
    """

    curve: LearningCurve
    items_needed: int | None
    separations: tuple[Separation, ...]
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the public shape: that of the curve, and the rest beside it."""
        return self.curve.to_json() | {
            "items_needed": self.items_needed,
            "separations": [separation.to_json() for separation in self.separations],
            "notes": [*self.notes],
        }


def outlook(
    rankings: Sequence[Ranking],
    *,
    resamples: int = 1000,
    seed: int = 1,
    judges: Sequence[str] | None = None,
    without_judges: Sequence[str] | None = None,
    systems: Sequence[str] | None = None,
    drop: Sequence[str] = (),
) -> Outlook:
    """Compute a learning curve, and the items that neighbours in the ranking need.

    Parameters
    ----------
    resamples, seed
        Number of campaigns drawn from the items, and the seed of the random numbers.
    judges, without_judges, systems, drop
        See :func:`grammeter.ranking._rank.rank`.

    Raises
    ------
    UsageError
        If a name is unknown or a number out of range.
    DataError
        If nothing is decided.
    """
    chosen = select(
        rankings, judges=judges, without_judges=without_judges, systems=systems, drop=drop
    )
    campaigns = draw_campaigns(chosen.rankings, draws=resamples, seed=seed)
    order = tuple(rank(chosen.rankings, resamples=resamples, seed=seed))
    return Outlook(
        learning_curve(campaigns),
        items_needed(campaigns),
        separations(chosen.rankings, order),
        (*chosen.notes, _NOTE),
    )
