"""The score table: metric x system x segment, by name."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from grammeter.core import type_tables
from grammeter.core.errors import UnknownNameError
from grammeter.core.metric_scores import BY_SYSTEM, MetricScores, read_column
from grammeter.core.result import Named, Result, reading, stamped
from grammeter.core.tables import Cell, Column, Table

SCORES_KIND = "scores"
BLOCKS = ("references", "unjudged", "tokenization", "texts", "groups")


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
            groups = type_tables.long_group_tables(block) if block else ()
            return [self._main(parts), *groups, *type_tables.long_types_tables(self.columns)]
        groups = type_tables.tables_by_group(block, self) if block else ()
        return [self._main(parts), *groups, *type_tables.types_tables(self.columns, parts)]

    def values_in(self, metric: str, group: str) -> dict[str, float]:
        """Return the scores of all systems in a group of sentences, or their mean ``macro``.

        NaN where there is none; UnknownNameError if the table has no such metric or group.
        """
        column, block = self[metric], self.blocks.get("groups", {"metrics": {metric: {}}})
        by_group: Mapping[str, Any] = block["metrics"][metric]
        UnknownNameError.check("group in these scores", group, by_group)
        return {system: type_tables.group_value(by_group[group], system) for system in column}

    def _main(self, parts: Sequence[str]) -> Table:
        columns: list[tuple[Column | str, Sequence[Cell]]] = [("system", self.systems)]
        for name, part in self._shown(parts):
            column = self.columns[name]
            scores = [column.scores.get(system) for system in self.systems]
            if part is None:
                best = "high" if column.higher_is_better else "low"
                head = Column(name, "score", tsv=4, best=best)
            else:
                there = (type_tables.part_of(score, part) for score in scores if score)
                unit = "count" if all(isinstance(of, int) for of in there) else "score"
                head = Column(f"{name} {part}", unit, tsv=4)
            columns.append((head, [type_tables.part_of(score, part) for score in scores]))
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
    names: list[Any] = [*known, *(column.metric for column in table.columns.values())]
    directions: list[Any] = [column.higher_is_better for column in table.columns.values()]
    if len(known) < len(table.systems) or not all(isinstance(name, str) for name in names):
        raise ValueError("the systems and metrics are not texts that differ")
    if not all(isinstance(higher, bool) for higher in directions):
        raise ValueError("higher_is_better is not true or false")
    if type(count) is not int or count < 0:
        raise ValueError(f"segments is {count!r}")
    if table.corpus is not None and not known <= set(table.corpus["systems"]):
        raise ValueError("the corpus lacks systems")
    for name, column in table.columns.items():
        by_system = [getattr(column, part) for part in BY_SYSTEM]
        sizes = {len(part) for part in (*column.segments.values(), *column.statistics.values())}
        if not all(known.issuperset(part) for part in by_system) or not sizes <= {count}:
            raise ValueError(f"{name} has scores of other systems or sentences")
        if any((own.rows[:, 0] >= count).any() for own in column.type_counts.values()):
            raise ValueError(f"{name} has error types of other sentences")
