"""The sections about scores: values with intervals and letters, error types, and signatures."""

import math
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grammeter import core, errant, formats, scoring
from grammeter.metrics import Errant, metric
from grammeter.rendering import Dot, Drawing, Section, dot_plot, heat_map
from grammeter.verbs._compare.design import ComparisonDesign
from grammeter.verbs._compare.results import (
    Comparison,
    SystemResult,
    best_first,
    groups_table,
    metric_columns,
)
from grammeter.verbs._compare.verb import compare

WORDS: Mapping[str, Any] = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))
"""What the page says; ``captions`` of tables are by their first head."""


def compared(
    table: core.ScoreTable, stored: Comparison | None, *, resamples: int, seed: int
) -> Comparison:
    """Return the stored comparison, else compare all systems by the metrics with statistics.

    Without such metrics it is empty. A ``DataError`` if the stored one has other values for a
    metric and system of the table, or none of them.
    """
    if stored is not None:
        _check_comparison(table, stored)
        return stored
    metrics = [name for name, column in table.items() if _obstacle(column, table.systems) is None]
    if not metrics:
        return Comparison(ComparisonDesign(), table.segments, {})
    return compare(table, resamples=resamples, seed=seed, metrics=metrics)


def scores_section(table: core.ScoreTable, comparison: Comparison) -> Section:
    """Show scores with their comparison."""
    notes = dict.fromkeys([*table.notes, *comparison.notes])
    missing = [WORDS["no_sentences"]] if table.corpus is None else []
    words = (*_how_to_read(comparison), *missing, *notes)
    drawings: list[Drawing] = []
    for name, column in table.items():
        dots, caption = [*_dots(column, comparison, name)], _caption(name, column, comparison)
        drawings.append(dot_plot(dots, title=f"Scores by {name}", caption=caption))
    caption = "Systems by metric, best by the first metric on top"
    tables = (_scores_table(table, comparison),)
    return Section("scores", "Scores", words, tables, tuple(drawings), (caption,))


def groups_section(table: core.ScoreTable, comparison: Comparison) -> Iterator[Section]:
    """Show scores by group of sentences, with intervals where there are; nothing without groups."""
    block = table.blocks.get("groups")
    if block is None:
        return
    tables, captions, drawings = [*core.tables_by_group(block, table)], [*table], list[Drawing]()
    for name, by_group in block["metrics"].items():
        if name in comparison and comparison[name].groups:
            tables.append(groups_table(comparison.design, name, comparison[name]))
            captions.append(f"{name} with intervals, of units drawn in each group")
        order, title = block["order"], f"{name} by {block['by']}"
        values = [[core.group_value(by_group[g], s) for s in table.systems] for g in order]
        caption = f"Scores by {name}, each group as a corpus of its own."
        drawings.append(heat_map(order, table.systems, values, title=title, caption=caption))
    words = ("Each group of sentences is scored as a corpus of its own; macro is their mean.",)
    yield Section("groups", "Groups", words, tuple(tables), tuple(drawings), tuple(captions))


def signatures_section(table: core.ScoreTable, others: Mapping[str, str]) -> Section:
    """List the signatures of all figures; ``others`` are those of other results."""
    rows = [(name, str(column.signature)) for name, column in table.items()]
    listed = core.Table.of(("figure", "signature"), [*rows, *others.items()])
    words = "Everything that a figure depends on, in one line: quote it with the figure."
    return Section("signatures", "Signatures", (words,), (listed,))


def _check_comparison(table: core.ScoreTable, comparison: Comparison) -> None:
    common = [
        (f"{name}, {system}", result.value, column[system].value)
        for name, column in table.items()
        for system, result in _results(comparison, name).items()
        if system in column.scores and not math.isnan(result.value)
    ]
    differing = (
        f"{where}: {value}"
        for where, value, ours in common
        if not math.isclose(value, ours, rel_tol=1e-9)
    )
    if where := next(differing, "" if common else "no metric and system in common"):
        fix = "Compare the scores of this report, or leave the comparison out: it is made anew."
        raise core.DataError(f"the comparison is of other scores ({where})", fix=fix)


def _scores_table(table: core.ScoreTable, comparison: Comparison) -> core.Table:
    """Lay out a row for each system: by metric, score, interval, and letters or p-value."""
    first = next(iter(table.values()))
    names = best_first(table.systems, first, higher_is_better=first.higher_is_better)
    columns: list[tuple[core.Column | str, Sequence[core.Cell]]] = [("system", names)]
    for name, column in table.items():
        if name in comparison:
            columns += metric_columns(comparison.design, name, comparison[name], names)
        else:
            best = "high" if column.higher_is_better else "low"
            values = [column[s].value if s in column.scores else None for s in names]
            columns.append((core.Column(name, "score", best=best), values))
    return core.Table.side_by_side(columns, _notes(table, comparison))


def _obstacle(column: core.MetricScores, systems: Sequence[str]) -> str | None:
    """Return the reason why systems cannot be compared by a metric, if there is one."""
    lengths = {len(column.statistics[s]) for s in systems if s in column.statistics}
    if any(system not in column.statistics for system in systems) or lengths in (set(), {0}):
        return "no statistics are stored, as with scores of other programs"
    if len(lengths) > 1:
        return "systems were scored on other segments"
    try:
        metric(column.metric)
    except core.GrammeterError as error:
        return error.message
    return None


def _results(comparison: Comparison, name: str) -> Mapping[str, SystemResult]:
    return comparison[name].systems if name in comparison else {}


def _how_to_read(comparison: Comparison) -> Iterator[str]:
    if not comparison:
        return
    design = comparison.design
    share = f"{design.confidence * 100:g}%"
    test = "approximate randomisation" if design.test == "randomisation" else "paired bootstrap"
    how = f"{design.resamples} resamples of the {design.unit}s, seed {design.seed}"
    yield f"Intervals: {share} of a bootstrap ({how}); they hold the sentences' difficulty, too."
    level = f"level {design.level:g}, {test}, correction: {design.correction}"
    if design.baseline is None:
        yield f"Systems that share a letter do not differ significantly ({level})."
    else:
        yield f"diff, p: against {design.baseline}, two-sided ({level})."


def _notes(table: core.ScoreTable, comparison: Comparison) -> Iterator[str]:
    for name, column in table.items():
        if not column.higher_is_better:
            yield f"{name}: lower is better"
        if not _results(comparison, name):
            why = _obstacle(column, table.systems) or "the comparison does not have this metric"
            yield f"{name}: no intervals: {why}"
        yield from column.remarks(name)[1:]
        for system, result in _results(comparison, name).items():
            if math.isnan(result.low) and result.reason and system in column.scores:
                yield f"{name}, {system}: no interval: {result.reason}"


def _dots(column: core.MetricScores, comparison: Comparison, name: str) -> Iterator[Dot]:
    results = _results(comparison, name)
    for system in best_first(column, column, higher_is_better=column.higher_is_better):
        result = results.get(system)
        low, high = (result.low, result.high) if result else (math.nan, math.nan)
        letters = (result.letters if result else None) or ""
        yield Dot(system, column[system].value, low, high, letters)


def _caption(name: str, column: core.MetricScores, comparison: Comparison) -> str:
    direction = "" if column.higher_is_better else " (lower is better)"
    if not _results(comparison, name):
        return f"Scores by {name}{direction}."
    share = f"{comparison.design.confidence * 100:g}%"
    end = "; the letters are those of the table" if comparison.design.baseline is None else ""
    return f"Scores by {name}{direction} with {share} intervals{end}."


MOST = 30  # largest number of types in a heat map; the tables have all types

ERRANTS = ("errant", "senterrant")  # beginnings of the spellings of metrics with error types
OUTCOMES = ("tp", "fp", "fn")


@dataclass(frozen=True)
class TypeScores:
    """Scores by system and error type of one metric, with notes."""

    metric: str
    systems: Mapping[str, Mapping[str, core.Score]]
    words: tuple[str, ...] = ()

    @property
    def commonest(self) -> list[str]:
        """The types, those with most edits (right, wrong or missed) first."""
        totals = defaultdict[str, float](float)
        for types in self.systems.values():
            for kind, score in types.items():
                totals[kind] += sum(score.parts[key] for key in OUTCOMES)
        return sorted(totals, key=lambda kind: (-totals[kind], kind))

    def of(self, kind: str, systems: Sequence[str]) -> list[core.Score | None]:
        """Return the systems' scores of a type."""
        return [self.systems.get(system, {}).get(kind) for system in systems]


def types_section(
    table: core.ScoreTable, corpus: formats.Corpus | None, *, pipeline: str | None, anew: bool
) -> Section:
    """Lay out scores by error type, stored or computed; else say how to get them.

    ``corpus``: the sentences, if available. ``pipeline`` types edits; default: that of a metric of
    the table. ``anew``: compute scores that are not stored, which parses outputs and gold edits.
    """
    typed = list(_found(table, corpus, pipeline, anew))
    words = [text for scores in typed for text in scores.words]
    if not typed:
        words = [("" if anew else "They were not asked for. ") + WORDS["how"]]
    tables = tuple(layout for scores in typed for layout in _tables(scores, table.systems))
    both = ("F", "True positives / false positives / false negatives")
    captions = tuple(f"{what} by error type ({of.metric})" for of in typed for what in both)
    drawings = tuple(_drawn(scores, table.systems) for scores in typed)
    return Section("types", "Error types", tuple(words), tables, drawings, captions)


def _found(
    table: core.ScoreTable, corpus: formats.Corpus | None, pipeline: str | None, anew: bool
) -> Iterator[TypeScores]:
    stored = {name: column for name, column in table.items() if column.types}
    for name, column in stored.items():
        mixed = () if _one_scheme(column) else (WORDS["mixed"],)
        scorer = metric(column.metric) if mixed else None
        if isinstance(scorer, Errant) and corpus and anew:
            yield _made(name, scorer, corpus)
        else:
            yield TypeScores(name, column.types, mixed)
    if stored or not anew or corpus is None:
        return
    if not any(part.gold or part.references for part in corpus.parts):
        return
    name, scorer = _scorer(table, pipeline)
    try:
        yield _made(name, scorer, corpus)
    except core.MissingResourceError:
        if pipeline is not None:  # asked for by name
            raise


def _scorer(table: core.ScoreTable, pipeline: str | None) -> tuple[str, Errant]:
    """Return the table's first metric with error types and its name, else ERRANT."""
    for name, column in table.items() if pipeline is None else ():
        if column.metric.startswith(ERRANTS):
            scorer = metric(column.metric)
            if isinstance(scorer, Errant):
                return name, scorer
    made = Errant(pipeline=pipeline)
    return str(made), made


def _made(name: str, scorer: Errant, corpus: formats.Corpus) -> TypeScores:
    with core.silent():
        counted = scoring.count_types(scorer, corpus)
    assert counted is not None  # ERRANT has types
    signature = scorer.signature().extended(counted.settings)
    words = (*counted.notes, *([scorer.notice] if scorer.notice else []))
    types = scoring.type_scores(scorer, counted, signature, len(corpus.judged))
    return TypeScores(name, types, words)


def _one_scheme(column: core.MetricScores) -> bool:
    """Whether stored types are of one scheme: older versions mixed gold's with ERRANT's."""
    if "type-scheme" in dict(column.signature) or not column.metric.startswith(ERRANTS):
        return True
    names = {name for scores in column.types.values() for name in scores}
    return all(map(errant.ENGLISH.gives, names)) or all(map(errant.NEUTRAL_RULES.gives, names))


def _tables(scores: TypeScores, systems: Sequence[str]) -> Iterator[core.Table]:
    kinds = sorted(scores.commonest)
    rows = [scores.of(kind, systems) for kind in kinds]
    heads = ("type", *core.Column.many("score", *systems))
    values = [(kind, *map(_value, row)) for kind, row in zip(kinds, rows, strict=True)]
    yield core.Table.of(heads, values, ["F, with the metric's own beta."])
    counts = [(kind, *map(_counts, row)) for kind, row in zip(kinds, rows, strict=True)]
    yield core.Table.of(heads, counts)


def _drawn(scores: TypeScores, systems: Sequence[str]) -> Drawing:
    kinds = scores.commonest
    few = len(kinds) <= MOST
    which = "all types" if few else f"the {MOST} commonest of {len(kinds)} types"
    shown = (scores.of(kind, systems) for kind in kinds[:MOST])
    numbers = [[math.nan if of is None else of.value for of in row] for row in shown]
    title = f"F by error type ({scores.metric})"
    caption = f"F by type and system ({scores.metric}), {which}."
    return heat_map(kinds[:MOST], systems, numbers, title=title, caption=caption)


def _value(score: core.Score | None) -> float | None:
    return None if score is None or math.isnan(score.value) else score.value


def _counts(score: core.Score | None) -> str:
    return "/".join(f"{score.parts[key]:g}" for key in OUTCOMES) if score else ""
