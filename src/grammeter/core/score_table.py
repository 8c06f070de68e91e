"""The score table: metric x system x segment, by name; its tables by error type and by group."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from grammeter.core.errors import UnknownNameError
from grammeter.core.metric_scores import BY_SYSTEM, ByType, MetricScores, read_column
from grammeter.core.result import Named, Result, reading, stamped
from grammeter.core.score import Score
from grammeter.core.tables import Cell, Column, Table, best_rows

SCORES_KIND = "scores"
BLOCKS = ("references", "unjudged", "tokenization", "texts", "groups")
MACRO = "macro"
"""The mean over groups, beside them."""

FEW = 30  # with fewer sentences than these a group's score says little

COUNTS = ("tp", "fp", "fn")
SHARES = ("precision", "recall")
ALL = "all types"  # the last row: the metric's own score
RARE = 10  # with fewer edits in the references, one edit changes recall by more than 0.1


@dataclass(frozen=True, eq=False, repr=False)
class ScoreTable(Result, Named[MetricScores], over="columns", what="metric in this table"):
    """Scores of several systems by several metrics: ``table["m2"]["AMU"].value``.

    The key of a metric in ``columns`` is the spelling that was asked for. ``systems`` are in the
    order in which they were given; ``segments`` says how many sentences there are.
    ``corpus`` has the texts that were scored, as plain JSON values, so that a stored table can
    explain itself, ``None`` where they are unknown; ``about``, a sentence each, is what a reader
    must know of the texts and of the table; ``blocks`` are further parts of the JSON by name, such
    as ``tokenization``, ``texts``, ``groups``.
    """

    systems: tuple[str, ...]
    segments: int
    columns: Mapping[str, MetricScores]
    corpus: Mapping[str, Any] | None = None
    about: tuple[str, ...] = ()
    blocks: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know before believing the numbers."""
        return self.notes_on(self.columns)

    def notes_on(self, metrics: Iterable[str]) -> tuple[str, ...]:
        """Return the notes of the table and of some of its metrics, each once."""
        of_metrics = [note for name in metrics for note in self[name].notes]
        return tuple(dict.fromkeys([*self.about, *of_metrics]))

    @cached_property
    def skipped(self) -> Mapping[int, str]:
        """The sentences, from 1, that cannot be judged and count for no metric, and why."""
        return _skipped(self.blocks)

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape, without segments and statistics."""
        head = {"kind": SCORES_KIND, "segments": self.segments, "systems": [*self.systems]}
        metrics = {name: column.to_dict() for name, column in self.columns.items()}
        return stamped({**head, "metrics": metrics, **self.blocks, "notes": [*self.notes]})

    def to_full_dict(self) -> dict[str, Any]:
        """Return the public shape and, under ``details`` and ``corpus``, all that is known."""
        details = {name: column.details() for name, column in self.columns.items()}
        return self.to_dict() | {"details": details, "corpus": self.corpus}

    def tables(self, *, long: bool = False, parts: Sequence[str] = ()) -> Sequence[Table]:
        """Return a row for each system; then scores by group and error type, frequent types first.

        With ``long``, for programs, by error type a row for each system, metric and type. ``parts``
        of the scores, such as ``precision``, have a column each before the score; UnknownNameError
        if no metric has one of them.
        """
        block = self.blocks.get("groups")
        if long:
            groups = long_group_tables(block) if block else ()
            return [self._main(parts), *groups, *long_types_tables(self.columns)]
        groups = tables_by_group(block, self) if block else ()
        return [self._main(parts), *groups, *types_tables(self.columns, parts)]

    def values_in(self, metric: str, group: str) -> dict[str, float]:
        """Return the scores of all systems in a group of sentences, or their mean ``macro``.

        NaN where there is none; UnknownNameError if the table has no such metric or group.
        """
        column, block = self[metric], self.blocks.get("groups", {"metrics": {metric: {}}})
        by_group: Mapping[str, Any] = block["metrics"][metric]
        UnknownNameError.check("group in these scores", group, by_group)
        return {system: group_value(by_group[group], system) for system in column}

    def _main(self, parts: Sequence[str]) -> Table:
        columns: list[tuple[Column | str, Sequence[Cell]]] = [("system", self.systems)]
        for name, part in self._shown(parts):
            column = self.columns[name]
            scores = [column.scores.get(system) for system in self.systems]
            if part is None:
                best = "high" if column.higher_is_better else "low"
                head = Column(name, "score", tsv=4, best=best)
            else:
                there = (part_of(score, part) for score in scores if score)
                unit = "count" if all(isinstance(of, int) for of in there) else "score"
                head = Column(f"{name} {part}", unit, tsv=4)
            columns.append((head, [part_of(score, part) for score in scores]))
        notes = (note for name, column in self.items() for note in column.remarks(name))
        return Table.side_by_side(columns, notes)

    def _shown(self, parts: Sequence[str]) -> Iterator[tuple[str, str | None]]:
        known = {
            name: {part for score in column.scores.values() for part in score.parts}
            for name, column in self.columns.items()
        }
        every = set[str]().union(*known.values())
        for part in parts:
            UnknownNameError.check("part of these scores", part, every)
        for name in self.columns:
            yield from ((name, part) for part in parts if part in known[name])
            yield name, None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, where: str | None = None) -> "ScoreTable":
        """Read :meth:`to_dict` or :meth:`to_full_dict`; DataError, naming ``where``, if neither."""
        with reading(data, SCORES_KIND, verb="score", where=where):
            details = data.get("details", {})
            blocks = {name: data[name] for name in BLOCKS if name in data}
            judged = data["segments"] - len(_skipped(blocks))
            columns = {
                name: read_column(name, shape, details.get(name, {}), judged)
                for name, shape in data["metrics"].items()
            }
            systems = tuple(data["systems"])
            of_metrics = {note for column in columns.values() for note in column.notes}
            about = tuple(note for note in data.get("notes", ()) if note not in of_metrics)
            table = cls(systems, data["segments"], columns, data.get("corpus"), about, blocks)
            _check(table)
            return table


def _skipped(blocks: Mapping[str, Any]) -> dict[int, str]:
    block = blocks.get("unjudged", {})
    return {int(n): w for n, w in block.get("segments", {}).items() if block["rule"] == "skip"}


def _check(table: ScoreTable) -> None:
    known, count = set(table.systems), table.segments
    texts: list[Any] = [*known, *(column.metric for column in table.columns.values())]
    directions: list[Any] = [column.higher_is_better for column in table.columns.values()]
    fits = len(known) == len(table.systems) and all(isinstance(text, str) for text in texts)
    fits = fits and all(isinstance(higher, bool) for higher in directions)
    fits = fits and type(count) is int and count >= 0
    fits = fits and (table.corpus is None or known <= set(table.corpus["systems"]))
    for column in table.columns.values() if fits else ():
        by_system = [getattr(column, part) for part in BY_SYSTEM]
        sizes = {len(part) for part in (*column.segments.values(), *column.statistics.values())}
        fits &= all(known.issuperset(part) for part in by_system) and sizes <= {count}
        fits &= all((own.rows[:, 0] < count).all() for own in column.type_counts.values())
    if not fits:
        raise ValueError("its systems, metrics and sentences do not fit each other")


# --- by error type and by group ----------------------------------------------------------
def group_value(scores: Mapping[str, Any], system: str) -> float:
    """Return a system's value among the scores of a group; NaN if there is none."""
    value = scores.get(system, {}).get("value")
    return math.nan if value is None else value


def tables_by_group(
    block: Mapping[str, Any], columns: Mapping[str, MetricScores]
) -> Iterator[Table]:
    """Yield a table for each metric: a row a system, a column a group, then all and the mean."""
    sizes: dict[str, int] = block["segments"]
    few = {group for group, size in sizes.items() if size < FEW}
    counts = ", ".join(f"{group}{' *' * (group in few)} {size}" for group, size in sizes.items())
    notes = [f"sentences: {counts}; macro: the mean over groups"]
    notes += [f"* fewer than {FEW} sentences: such a score says little"] if few else []
    for name, by_group in block["metrics"].items():
        column = columns[name]
        best = "high" if column.higher_is_better else "low"
        heads = [*(f"{g}{' *' * (g in few)}" for g in block["order"]), "all", MACRO]
        rows: list[list[Cell]] = []
        for system, score in column.items():
            *figures, mean = (group_value(by_group[g], system) for g in (*block["order"], MACRO))
            rows.append([system, *figures, score.value, mean])
        missing = [
            f"{name}, {system}, {group}: no score: {score['reason']}"
            for group, scores in by_group.items()
            for system, score in scores.items()
            if score["value"] is None
        ]
        figures = Column.many("score", *heads, tsv=4, best=best)
        yield Table.of((f"{name} by {block['by']}", *figures), rows, [*notes, *missing])


def long_group_tables(block: Mapping[str, Any]) -> Iterator[Table]:
    """Yield a table for programs: a row a system, metric and group."""
    sizes = {**block["segments"], MACRO: sum(block["segments"].values())}
    rows = [
        (system, metric, group, sizes[group], group_value(scores, system))
        for metric, by_group in block["metrics"].items()
        for group, scores in by_group.items()
        for system in scores
    ]
    count, value = Column("segments", "count"), Column("value", "score", tsv=4)
    yield Table.of(("system", "metric", "group", count, value), rows)


def part_of(score: Score | None, part: str | None) -> float | None:
    """Return a part of a score, with ``None`` its value."""
    return None if score is None else score.value if part is None else score.parts.get(part)


def types_tables(columns: Mapping[str, MetricScores], parts: Sequence[str]) -> Iterator[Table]:
    """Lay out scores by type: a row a type, a column a system; for several only ``parts``."""
    for name, column in columns.items():
        if column.types:
            chosen = parts or ((*COUNTS, *SHARES) if len(column.types) == 1 else ())
            yield _pivot(f"{name} by type", column, column.types, chosen)
        if column.gold_types:
            yield _pivot(f"{name}, recall by gold type", column, column.gold_types, ())


def long_types_tables(columns: Mapping[str, MetricScores]) -> Iterator[Table]:
    """Lay out scores by type for programs: a row a metric, system and type."""
    for head, types, parts, value in (
        ("type", {n: c.types for n, c in columns.items()}, (*COUNTS, *SHARES), "f"),
        ("gold_type", {n: c.gold_types for n, c in columns.items()}, ("tp", "fn"), "recall"),
    ):
        rows = [
            (system, name, kind, *(part_of(score, part) for part in (*parts, None)))
            for name, by_type in types.items()
            for system, scores in by_type.items()
            for kind, score in scores.items()
        ]
        if rows:
            figures = (*(_column(part, part) for part in parts), _column(value, None))
            yield Table.of(("system", "metric", head, *figures), rows)


def gold_ranges(types: ByType) -> dict[str, tuple[float, float]]:
    """Return the least and the largest number of edits of each type in the systems' references.

    The types that are the most frequent there come first.
    """
    kinds = sorted({kind for scores in types.values() for kind in scores})
    sizes = ([_gold(of[kind]) if kind in of else 0 for of in types.values()] for kind in kinds)
    ranges = {kind: (min(of), max(of)) for kind, of in zip(kinds, sizes, strict=True)}
    return dict(sorted(ranges.items(), key=lambda each: -each[1][1]))


def _column(head: str, part: str | None) -> Column:
    return Column(head, "count" if part in COUNTS else "score", tsv=4)


def _pivot(title: str, column: MetricScores, types: ByType, parts: Sequence[str]) -> Table:
    ranges = gold_ranges(types)
    cells = [(system, part) for system in types for part in (*parts, None)]
    rows: list[tuple[Cell, ...]] = [
        (kind, ends, *(part_of(types[system].get(kind), part) for system, part in cells))
        for kind, ends in ranges.items()
    ]
    if types is column.types:
        sizes = [_gold(column[system]) for system in types]
        whole = (part_of(column[system], part) for system, part in cells)
        rows.append((ALL, (min(sizes), max(sizes)), *whole))
    heads = [_column(" ".join(filter(None, cell)), cell[1]) for cell in cells]
    columns = (Column(title), Column("gold", "count"), *heads)
    best = _best([*ranges], types, cells)
    return Table(columns, tuple(rows), tuple(_notes([*ranges.values()])), best=best)


def _best(
    kinds: Sequence[str], types: ByType, cells: Sequence[tuple[str, str | None]]
) -> frozenset[tuple[int, int]]:
    """Return the cells of the best systems of each type; none for a single system."""
    places = [place for place, (_, part) in enumerate(cells, start=2) if part is None]
    best: set[tuple[int, int]] = set()
    for row, kind in enumerate(kinds if len(places) > 1 else ()):
        values = [scores[kind].value if kind in scores else 0.0 for scores in types.values()]
        top = best_rows(values, higher_is_better=True) if any(values) else ()
        best |= {(row, places[at]) for at in top}
    return frozenset(best)


def _notes(ranges: Sequence[tuple[float, float]]) -> Iterator[str]:
    by_system = ", which differ by system" if any(low != high for low, high in ranges) else ""
    yield f"gold: edits of this type in the chosen references (tp + fn){by_system}"
    if rare := sum(high < RARE for _, high in ranges):
        yield f"{rare} of {len(ranges)} types have fewer than {RARE}: their figures say little"


def _gold(score: Score) -> float:
    return score.parts["tp"] + score.parts["fn"]
