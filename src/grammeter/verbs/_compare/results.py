"""What a comparison of systems says: values and their JSON."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from grammeter import core
from grammeter.verbs._compare.design import ComparisonDesign

COMPARISON = "comparison"


@dataclass(frozen=True, kw_only=True)
class SystemResult:
    """What a comparison says of one system under one metric.

    ``value`` is the corpus score as the table has it, in the metric's units; ``low`` and ``high``
    are its bootstrap percentile interval, NaN where all resamples give one value. Two systems that
    share one of their ``letters`` do not differ significantly.
    """

    gold: float | None = None  # of an error type: edits in the chosen references (tp + fn)
    value: float
    low: float
    high: float
    difference: float | None = None  # from the baseline's value; None where pairs are compared
    pvalue: float | None = None  # of this difference, after correction
    pvalue_raw: float | None = None  # before correction; None where nothing is corrected
    letters: str | None = None  # None with a baseline, and where they would be too many to read
    reason: str | None = None  # why a number is NaN

    def to_dict(self) -> dict[str, Any]:
        """Return what applies to this system; a NaN is ``None``."""
        data = core.plain_fields(self)
        return data if self.difference is not None else {**data, "letters": self.letters}


@dataclass(frozen=True)
class PairResult:
    """The first system's value less the second's, with p-values as in :class:`SystemResult`."""

    first: str
    second: str
    difference: float
    pvalue: float
    pvalue_raw: float | None = None
    reason: str | None = None


@dataclass(frozen=True)
class MetricComparison(core.Named[SystemResult], over="systems", what="system"):
    """All systems under one metric, by name; ``pairs`` is empty where there is a baseline.

    ``types`` and ``groups`` hold the same by error type and by group, where there are such; the
    last of the groups is ``macro``, their mean.
    """

    signature: core.Signature
    higher_is_better: bool
    systems: Mapping[str, SystemResult]
    pairs: tuple[PairResult, ...] = ()
    types: "Mapping[str, MetricComparison]" = field(default_factory=dict[str, "MetricComparison"])
    groups: "Mapping[str, MetricComparison]" = field(default_factory=dict[str, "MetricComparison"])

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "MetricComparison":
        """Read what :meth:`to_dict` wrote; raise what is amiss as the error that it causes."""
        parts: dict[str, Any] = {}
        for part in {"types", "groups"} & data.keys():
            about = {"higher_is_better": data["higher_is_better"]}
            about["signature"] = data[f"{part}_signature"]
            parts[part] = {name: shape | about for name, shape in data[part].items()}
        return core.read_fields(cls, {**data, **parts})

    @property
    def lettered(self) -> bool:
        """Whether the systems with a score have letters."""
        return all(r.letters for r in self.systems.values() if not math.isnan(r.value))

    def to_dict(self) -> dict[str, Any]:
        """Return signature, direction, results by system and, without a baseline, by pair."""
        about = {"signature": str(self.signature), "higher_is_better": self.higher_is_better}
        data: dict[str, Any] = {**about, **self._results()}
        for part, of in {"types": self.types, "groups": self.groups}.items():
            for name, result in of.items():
                data[f"{part}_signature"] = str(result.signature)
                data.setdefault(part, {})[name] = result._results()
        return data

    def _results(self) -> dict[str, Any]:
        systems = {name: result.to_dict() for name, result in self.systems.items()}
        if all(result.difference is not None for result in self.systems.values()):
            return {"systems": systems}
        return {"systems": systems, "pairs": [core.plain_fields(pair) for pair in self.pairs]}


@dataclass(frozen=True, repr=False)
class Comparison(
    core.Result, core.Named[MetricComparison], over="metrics", what="metric in this comparison"
):
    """Systems compared: ``comparison["m2"]["CAMB"].pvalue``.

    ``notes`` say what limits these figures, those of the scores first; ``notices`` what was
    noticed while files were read.
    """

    design: ComparisonDesign
    segments: int
    metrics: Mapping[str, MetricComparison]
    notes: tuple[str, ...] = ()
    notices: tuple[str, ...] = field(default=(), compare=False)

    def tables(self, *, long: bool = False) -> Sequence[core.Table]:
        """Return a row for each system, best by the first metric on top; then error types.

        Each metric has its value and interval, then either the difference from the baseline with
        its p-value or the letters.
        """
        if long:
            return list(_long_tables(self))
        groups = [groups_table(self.design, *item) for item in self.items() if item[1].groups]
        typed = (item for item in self.items() if item[1].types)
        return [_main_table(self), *groups, *(_types_table(self.design, *item) for item in typed)]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; a NaN is ``None`` with a reason beside it."""
        head = {"kind": COMPARISON, "segments": self.segments, **asdict(self.design)}
        return core.stamped({**head, "metrics": core.plain(self.metrics), "notes": [*self.notes]})

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, where: str | None = None) -> "Comparison":
        """Read what :meth:`to_dict` wrote; DataError, naming the file ``where``, if it did not."""
        with core.reading(data, COMPARISON, verb="compare", where=where):
            return core.read_fields(cls, {**data, "design": data})


_FIGURES = (
    *core.Column.many("score", "value", "low", "high", "difference"),
    *core.Column.many("pvalue", "pvalue", "pvalue_raw"),
    core.Column("letters"),
)


def _long_tables(comparison: Comparison) -> Iterator[core.Table]:
    gold = (core.Column("gold", "count"), *_FIGURES)
    for part, figures in ((), _FIGURES), (("type",), gold), (("group",), _FIGURES):
        rows = [
            (system, metric, *(name for _ in part), *(getattr(of, f.head) for f in figures))
            for metric, results in comparison.items()
            for name, systems in (
                getattr(results, f"{part[0]}s") if part else {"": results}
            ).items()
            for system, of in systems.items()
            if part != ("type",) or of.gold is not None
        ]
        if rows or not part:
            yield core.Table.of(("system", "metric", *part, *figures), rows)


def _main_table(comparison: Comparison) -> core.Table:
    names = list(dict.fromkeys(name for results in comparison.values() for name in results))
    for first in list(comparison.values())[:1]:
        names = best_first(names, first, higher_is_better=first.higher_is_better)
    columns: list[tuple[core.Column | str, Sequence[core.Cell]]] = [("system", names)]
    marks: dict[tuple[int, int], str] = {}
    for metric, results in comparison.items():
        columns += metric_columns(comparison.design, metric, results, names)
        if comparison.design.baseline is not None:
            stars = enumerate(_star(comparison.design, results.systems.get(n)) for n in names)
            marks |= {(row, len(columns) - 1): star for row, star in stars if star}
    return replace(core.Table.side_by_side(columns, _remarks(comparison)), marks=marks)


def best_first(
    names: Iterable[str], by: Mapping[str, core.Score | SystemResult], *, higher_is_better: bool
) -> list[str]:
    """Return names, those with the best values first, those without a value last."""
    sign = -1 if higher_is_better else 1
    values = {name: sign * row.value for name, row in by.items() if not math.isnan(row.value)}
    return sorted(names, key=lambda name: values.get(name, math.inf))


def metric_columns(
    design: ComparisonDesign, metric: str, results: MetricComparison, names: Sequence[str]
) -> Iterator[tuple[core.Column, Sequence[core.Cell]]]:
    """Yield a metric's columns: score, interval, and letters or difference with p-value."""
    listed = [results.systems.get(name) for name in names]
    best = "high" if results.higher_is_better else "low"
    yield core.Column(metric, "score", best=best), [None if r is None else r.value for r in listed]
    intervals = [None if r is None else (r.low, r.high) for r in listed]
    yield core.Column(f"{design.confidence * 100:g}% interval", "interval"), intervals
    if design.baseline is None:
        yield core.Column("letters"), [None if r is None else r.letters for r in listed]
        return
    others = [None if n == design.baseline else r for n, r in zip(names, listed, strict=True)]
    differences = [None if r is None else r.difference for r in others]
    yield core.Column("diff", "score", sign=True), differences
    yield core.Column("p", "pvalue"), [None if r is None else r.pvalue for r in others]


def groups_table(design: ComparisonDesign, metric: str, results: MetricComparison) -> core.Table:
    """Return a row for each group and system, with what a metric's columns say."""
    first = next(iter(results.groups.values()))
    by = first.signature["group-by"]
    heads: list[core.Column] = []
    rows: list[Sequence[core.Cell]] = []
    marks: dict[tuple[int, int], str] = {}
    for group, of in results.groups.items():
        names = best_first(of, of, higher_is_better=of.higher_is_better)
        heads, cells = map(list, zip(*metric_columns(design, metric, of, names), strict=True))
        stars = {at: _star(design, of[name]) for at, name in enumerate(names, len(rows))}
        marks |= {(at, len(cells) + 1): star for at, star in stars.items() if star}
        rows += [(group, *row) for row in zip(names, *cells, strict=True)]
    heads = [replace(head, best=None) for head in heads]
    notes = (f"by {by}: {first.signature}",)
    return core.Table.of((by, "system", *heads), rows, notes, marks=marks)


def _types_table(design: ComparisonDesign, metric: str, results: MetricComparison) -> core.Table:
    gold = {kind: [r.gold or 0 for r in of.values()] for kind, of in results.types.items()}
    kinds = sorted(gold, key=lambda kind: (-max(gold[kind]), kind))
    rows: list[Sequence[core.Cell]] = []
    best: set[tuple[int, int]] = set()
    marks: dict[tuple[int, int], str] = {}
    for row, kind in enumerate(kinds):
        listed = [results.types[kind][system] for system in results]
        values = [result.value for result in listed]
        known = (None if math.isnan(value) else value for value in values)
        rows.append((kind, (min(gold[kind]), max(gold[kind])), *known))
        top = core.best_rows(values, higher_is_better=True)
        best |= {(row, at + 2) for at in top if values[at]}
        written = [_star(design, r) or (f" {r.letters}" if r.letters else "") for r in listed]
        marks |= {(row, at): mark for at, mark in enumerate(written, start=2) if mark}
    level = f"(level {design.level:g})"
    meaning = f"Systems that share a letter in a row do not differ significantly {level}."
    if design.baseline is not None:
        meaning = f"* p <= {design.level:g} against {design.baseline}"
    gold_means = "gold: edits of this type in the chosen references (tp + fn)"
    notes = (gold_means, meaning, f"by type: {next(iter(results.types.values())).signature}")
    columns = (core.Column("gold", "count"), *core.Column.many("score", *results))
    heads = (f"{metric} by type", *columns)
    return replace(core.Table.of(heads, rows, notes, marks=marks), best=frozenset(best))


def _star(design: ComparisonDesign, result: SystemResult | None) -> str:
    pvalue = None if result is None or result.difference is None else result.pvalue
    return " *" if pvalue is not None and pvalue <= design.level else ""


def _remarks(comparison: Comparison) -> Iterator[str]:
    level = comparison.design.level
    if comparison.design.baseline is not None:
        yield f"diff, p: against {comparison.design.baseline}; * p <= {level:g}"
    elif any(results.lettered for results in comparison.values()):
        yield f"Systems that share a letter do not differ significantly (level {level:g})."
    for metric, results in comparison.items():
        lower = "" if results.higher_is_better else " (lower is better)"
        yield f"{metric}{lower}: {results.signature}"
        for name, result in results.items():
            if missing := _missing(result):
                yield f"{metric}, {name}: {missing}: {result.reason}"


def _missing(result: SystemResult) -> str:
    if math.isnan(result.value):
        return "NaN"
    if math.isnan(result.low):
        return "no interval"
    return "no p-value" if result.difference and math.isnan(result.pvalue or 0) else ""
