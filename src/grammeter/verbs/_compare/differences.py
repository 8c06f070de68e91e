"""Two systems sentence by sentence, or by error type: where they differ most."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from grammeter import core
from grammeter.verbs._compare import samples
from grammeter.verbs._compare.samples import TypeColumns

KIND = "difference"


@dataclass(frozen=True, eq=False, repr=False)
class Difference(core.Result):
    """Scores of one system minus those of another, in every sentence or for every error type.

    ``columns`` are the metrics, by spelling; ``values``, by metric, the scores of the first, of
    the second, and their difference, NaN where a score is missing: shape ``(3, sentences or
    types)``; ``order`` says which of them are listed, from 0, the largest difference on top;
    ``types`` are the names of the error types, ``None`` where sentences are listed; ``notices``
    what was noticed while files were read.
    """

    first: str
    second: str
    columns: Mapping[str, core.MetricScores]
    values: Mapping[str, core.FloatArray]
    order: tuple[int, ...]
    types: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    notices: tuple[str, ...] = field(default=(), compare=False)

    def tables(self, *, long: bool = False) -> Sequence[core.Table]:
        """Return a row for each listed sentence or type: both scores, the difference, by metric."""
        names = ("first", "second") if long else (self.first, self.second)
        label = core.Column("segment", "count") if self.types is None else "type"
        heads = [
            core.Column(f"{metric} {name}", "score")
            for metric in self.columns
            for name in (*names, "difference")
        ]
        values = np.concatenate([*self.values.values()])
        rows = [(self.label(at), *values[:, at].tolist()) for at in self.order]
        notes = [column.remarks(name)[0] for name, column in self.columns.items()]
        return [core.Table.of((label, *heads), rows, notes)]

    def label(self, place: int) -> int | str:
        """Return the number of a sentence, from 1, or the name of a type."""
        return place + 1 if self.types is None else self.types[place]

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape; a NaN is ``None``."""
        unit = "segment" if self.types is None else "type"
        whole: dict[str, Any] = {}
        for name, of in self.columns.items():
            ours, theirs = of[self.first].value, of[self.second].value
            about = {"signature": str(of.signature), "higher_is_better": of.higher_is_better}
            whole[name] = about | _numbers([ours, theirs, ours - theirs])
        values = self.values.items()
        listed = [
            {unit: self.label(at), "metrics": {name: _numbers(of[:, at]) for name, of in values}}
            for at in self.order
        ]
        head = {"kind": KIND, "first": self.first, "second": self.second, "metrics": whole}
        return core.stamped({**head, f"{unit}s": listed, "notes": [*self.notes]})


def difference(
    table: core.ScoreTable, first: str, second: str,
    *, metrics: Sequence[str] | None = None, types: bool | core.Tier = False, show: int = 10,
) -> Difference:  # fmt: skip
    """Subtract a system's scores from another's, sentence by sentence, and sort by the difference.

    The first metric sorts, the others break ties; see :func:`grammeter.compare`.
    """
    columns = {name: table[name] for name in (table if metrics is None else metrics)}
    if first == second or not columns or show < 0:
        fault = f"no difference of {first!r} and {second!r} by {len(columns)} metrics, show={show}"
        fix = "Name two systems and at least one metric, and a show from 0."
        raise core.UsageError(fault, fix=fix)
    kinds = None
    if types:
        by_type = samples.type_columns(columns, table.segments, types)
        kinds = tuple(sorted({kind for of in by_type.values() for kind in of}))
        columns = {name: columns[name] for name in by_type}
        sides = {n: [_typed(of, kinds, s) for s in (first, second)] for n, of in by_type.items()}
    else:
        sides = {n: [_values(n, of, s) for s in (first, second)] for n, of in columns.items()}
    values = {name: np.stack([one, other, one - other]) for name, (one, other) in sides.items()}
    differences = [value[2] for value in values.values()]
    order = np.lexsort([-value for value in reversed(differences)])  # NaN sorts last
    known = order[~np.isnan(differences[0][order])]
    if 0 < 2 * show < len(known):
        order = np.concatenate([known[:show], known[-show:]])
    unit = "types" if types else "sentences scored alone"
    signs = {name: 1 if column.higher_is_better else -1 for name, column in columns.items()}
    notes = [_counted(n, unit, first, second, signs[n] * v[2]) for n, v in values.items()]
    listed = tuple(order.tolist())
    notes = (*table.notes_on(columns), *notes, *samples.own_notes(table))
    return Difference(first, second, columns, values, listed, kinds, notes)


def _typed(of: TypeColumns, kinds: Sequence[str], system: str) -> core.FloatArray:
    """Return the scores of types; NaN where neither output nor references have one."""
    return np.array([of[kind][0][system].value if kind in of else np.nan for kind in kinds])


def _values(name: str, column: core.MetricScores, system: str) -> core.FloatArray:
    core.UnknownNameError.check("system", system, column)
    if system not in column.segments:
        fix = "Run 'grammeter score ... -o FILE' again, or give 'metric system segment value'."
        raise core.DataError(f"{name}, {system}: no scores of sentences", fix=fix)
    return column.segments[system].values


def _counted(name: str, unit: str, first: str, second: str, better: core.FloatArray) -> str:
    unknown = f", unknown in {missing}" if (missing := np.isnan(better).sum()) else ""
    ours, theirs, equal = (better > 0).sum(), (better < 0).sum(), (better == 0).sum()
    shares = f"{first} is better in {ours}, {second} in {theirs}, they are equal in {equal}"
    return f"{name}: of {unit} {shares}{unknown}"


def _numbers(values: Sequence[float] | core.FloatArray) -> dict[str, float | int | None]:
    return dict(zip(("first", "second", "difference"), map(core.json_number, values), strict=True))
