"""What a judge gave: rankings, the opinions behind them, and what a reader must know."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import mean
from typing import Any

from grammeter.core import Column, Ranking, Result, Signature, Table, stamped
from grammeter.llm import UNLIKELY, Bill, Opinion

MOST_NAMED = 5  # a note names at most this many cases; it counts the others


@dataclass(frozen=True, repr=False)
class Judged(Result):
    """A judge's rankings of items, and the opinions behind them, in the order of the items.

    Ranks are 6 minus the score, or places of the scores if an item took several calls or its scores
    are expectations.
    An item whose outputs are all equal is a tie on rank 1 and needs no call; an item without
    scores or without outputs is skipped.
    """

    rankings: tuple[Ranking, ...]
    opinions: tuple[Opinion, ...]
    flags: tuple[str, ...]  # sentences shown that seem to address the judge, with these words
    signature: Signature  # of the metric
    bill: Bill = field(default_factory=Bill)  # of the endpoint, when the last reply had come
    required: float = 1.0  # share of the due items that must have scores
    remarks: tuple[str, ...] = ()  # on the items, and on arguments that had no effect

    @property
    def due(self) -> int:
        """Number of items whose outputs differ."""
        return sum(opinion.due for opinion in self.opinions)

    @cached_property
    def missing(self) -> list[tuple[Ranking, str]]:
        """Items that are due but have no scores, with the reason."""
        pairs = zip(self.rankings, self.opinions, strict=True)
        return [(item, of.reason) for item, of in pairs if of.due and of.scores is None]

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know: items without scores, flagged sentences, refused settings."""
        missing = [f"segment {ranking.segment}: {reason}" for ranking, reason in self.missing]
        skipped = f"{len(missing)} of {self.due} items have no scores and are skipped"
        notes = [*self.remarks, *_listed(skipped, missing)]
        notes += _listed("sentences that look like instructions to the judge", self.flags)
        notes += [f"the endpoint does not take {name}" for name in sorted(self.bill.concessions)]
        if count := self.repairs[UNLIKELY]:
            notes.append(f"{count} replies: {UNLIKELY}, so that their scores mean little")
        return tuple(notes)

    def tables(self, *, long: bool = False) -> Sequence[Table]:
        """Return the mean score of each system, 1 to 5, best first, over the items it was in."""
        scores: dict[str, list[float]] = {}
        for ranking, opinion in zip(self.rankings, self.opinions, strict=True):
            for group, score in zip(ranking.groups, opinion.scores or (), strict=False):
                for system in group:
                    scores.setdefault(system, []).append(score)
        best = sorted(scores, key=lambda name: -mean(scores[name]))
        rows = [(name, mean(scores[name]), len(scores[name])) for name in best]
        columns = ("system", Column("score", "score", best="high"), Column("items", "count"))
        return [Table.of(columns, rows)]

    def to_dict(self) -> dict[str, Any]:
        """Return ``{"kind": "judged", ...}``: counts and notes, not the rankings themselves."""
        shape = {"kind": "judged", "signature": str(self.signature), "items": len(self.rankings)}
        shape |= {"due": self.due, "skipped": len(self.missing), "coverage": self.coverage}
        shape |= {"states": dict(self.states), "repairs": dict(self.repairs)}
        return stamped(shape | {"bill": self.bill.to_dict(), "notes": list(self.notes)})

    @property
    def states(self) -> Counter[str]:
        """How the calls ended: state -> number of calls."""
        return Counter(outcome.state for opinion in self.opinions for outcome in opinion.outcomes)

    @property
    def repairs(self) -> Counter[str]:
        """What was tolerated in replies: text around the JSON and so on -> number of replies."""
        replies = [reply for opinion in self.opinions for _, reply in opinion.replies]
        return Counter(repair for reply in replies for repair in reply.repairs)

    @property
    def coverage(self) -> float:
        """Share of the due items that have scores; 1 if none is due."""
        return 1 - len(self.missing) / self.due if self.due else 1.0

    @property
    def shortfall(self) -> str | None:
        """Why the coverage is below the required share, and what helps; ``None`` if it is not."""
        if self.coverage >= self.required:
            return None
        again = {
            "error": "calls that failed are asked again the next time",
            "invalid": "--attempts with a greater number asks again where replies were invalid",
            "refused": "another model may answer what this one refuses",
        }
        fixes = [text for state, text in again.items() if self.states[state]]
        scored = f"{self.due - len(self.missing)} of {self.due} items have scores"
        share = f"a share of {self.coverage:.4f}, limit {self.required:g}"
        return f"{scored}, {share}; {'; '.join(fixes)}"

    @property
    def spread(self) -> float:
        """Difference between a target's highest and lowest score, mean over questions."""
        spreads = [spread for opinion in self.opinions for spread in opinion.spreads]
        return sum(spreads) / len(spreads) if spreads else 0.0


def _listed(title: str, texts: Sequence[str]) -> Iterator[str]:
    """Return a title and the first of its texts as one note, nothing if there is no text."""
    if texts:
        more = [f"and {len(texts) - MOST_NAMED} more"] if len(texts) > MOST_NAMED else []
        yield f"{title}: {'; '.join([*texts[:MOST_NAMED], *more])}"
