"""A ranking of systems: scores, rank ranges and clusters, best first."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grammeter.core.result import Figure, Named, Result, plain, read_fields, reading, stamped
from grammeter.core.signature import Signature
from grammeter.core.tables import Column, Table

RANKING_KIND = "ranking"


@dataclass(frozen=True, slots=True)
class RankedSystem:
    """One system's place; systems of different clusters, from 1, differ in all resamples but a few.

    ``score`` is of all the data, never of one bootstrap sample, NaN if there is none; ``ranks`` are
    the first and last, from 1, that it takes in resampling; ``reason`` says why there is no score,
    or what it does not rest on.
    """

    system: str
    score: float
    ranks: tuple[int, int]
    cluster: int
    reason: str | None = None


def ranks_text(ranks: tuple[int, int]) -> str:
    """Write a range of ranks as papers do: ``2-4``, or ``1`` where both ends are one."""
    first, last = ranks
    return str(first) if first == last else f"{first}-{last}"


@dataclass(frozen=True, repr=False)
class Ranked(Result, Named[RankedSystem], over="rows", what="system"):
    """Systems, best first, by the name of a method, with all that the figures depend on."""

    method: str
    signature: Signature
    rows: tuple[RankedSystem, ...]
    notes: tuple[str, ...] = ()

    def _values(self) -> Mapping[str, RankedSystem]:
        return {row.system: row for row in self.rows}

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape of a ranking."""
        head = {"kind": RANKING_KIND, "method": self.method, "signature": str(self.signature)}
        return stamped({**head, "systems": plain(self.rows), "notes": [*self.notes]})

    def tables(self, *, long: bool = False) -> Sequence[Table]:
        """Return a row for each system, best first."""
        if long:
            counts = Column.many("count", "first_rank", "last_rank", "cluster")
            rows = [(r.system, r.score, *r.ranks, r.cluster, r.reason) for r in self.rows]
            return [Table.of(("system", Column("score", "score"), *counts, "reason"), rows)]
        score = Column("score", "score", best="high")
        columns = ("system", score, Column("ranks", "count"), Column("cluster", "count"))
        rows = [(r.system, r.score, r.ranks, r.cluster) for r in self.rows]
        return [Table.of(columns, rows, self._remarks())]

    def figures(self) -> Mapping[str, Figure]:
        """Return the ranges of ranks."""
        return {"ranks": Figure("rank_ranges", {"ranked": self})}

    def _remarks(self) -> Iterator[str]:
        settings = dict(self.signature)
        unit = settings["unit"]
        runs = f"{settings['resamples']} {'runs' if unit == 'game' else 'resamples'}"
        yield f"ranks: in {float(settings['confidence']) * 100:g}% of {runs} (unit: {unit})"
        yield from (f"{row.system}: {row.reason}" for row in self.rows if row.reason)
        yield str(self.signature)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, where: str | None = None) -> "Ranked":
        """Read what :meth:`to_dict` wrote; DataError, naming ``where``, if it is something else."""
        with reading(data, RANKING_KIND, verb="rank", where=where):
            return read_fields(cls, {**data, "rows": data["systems"]})
