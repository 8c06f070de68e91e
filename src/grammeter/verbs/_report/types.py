"""The section about error types: F and counts of each type, by system."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from grammeter.core import (
    Column,
    MetricScores,
    MissingResourceError,
    Score,
    ScoreTable,
    Table,
    silent,
)
from grammeter.errant import ENGLISH, NEUTRAL_RULES
from grammeter.formats import Corpus
from grammeter.metrics import Errant, metric
from grammeter.rendering import Drawing, Section, heat_map
from grammeter.scoring import type_scores

MOST = 30
"""Largest number of types in a heat map; the tables have all types."""

_HOW = (
    "To see error types: grammeter score -m errant --types ... -o FILE, with the metric's package"
    " and pipeline at hand ('grammeter doctor')."
)
_MIXED = (
    "An older version of grammeter stored these figures: hits and misses have the gold file's"
    " types, false positives ERRANT's. Score again with --types."
)
ERRANTS = ("errant", "senterrant")
"""Beginnings of the spellings of metrics with error types."""

OUTCOMES = ("tp", "fp", "fn")


@dataclass(frozen=True)
class TypeScores:
    """Scores by system and error type of one metric, with notes."""

    metric: str
    systems: Mapping[str, Mapping[str, Score]]
    words: tuple[str, ...] = ()

    @property
    def commonest(self) -> list[str]:
        """The types, those with most edits (right, wrong or missed) first."""
        totals = defaultdict[str, float](float)
        for types in self.systems.values():
            for kind, score in types.items():
                totals[kind] += sum(score.parts[key] for key in OUTCOMES)
        return sorted(totals, key=lambda kind: (-totals[kind], kind))

    def of(self, kind: str, systems: Sequence[str]) -> list[Score | None]:
        """Return the systems' scores of a type."""
        return [self.systems.get(system, {}).get(kind) for system in systems]


def types_section(
    table: ScoreTable, corpus: Corpus | None, *, pipeline: str | None, anew: bool
) -> Section:
    """Lay out scores by error type, stored or computed; else say how to get them.

    ``corpus``: the sentences, if available. ``pipeline`` types edits; default: that of a metric of
    the table. ``anew``: compute scores that are not stored, which parses outputs and gold edits.
    """
    typed = list(_found(table, corpus, pipeline, anew))
    words = [text for scores in typed for text in scores.words]
    if not typed:
        words = [_HOW if anew else f"They were not asked for. {_HOW}"]
    tables = tuple(layout for scores in typed for layout in _tables(scores, table.systems))
    captions = tuple(
        f"{what} by error type ({scores.metric})"
        for scores in typed
        for what in ("F", "True positives / false positives / false negatives")
    )
    drawings = tuple(_drawn(scores, table.systems) for scores in typed)
    return Section("types", "Error types", tuple(words), tables, drawings, captions)


# --- where they come from ------------------------------------------------------------------


def _found(
    table: ScoreTable, corpus: Corpus | None, pipeline: str | None, anew: bool
) -> Iterator[TypeScores]:
    stored = {name: column for name, column in table.items() if column.types}
    for name, column in stored.items():
        mixed = () if _one_scheme(column) else (_MIXED,)
        scorer = metric(column.metric) if mixed else None
        if isinstance(scorer, Errant) and corpus and anew:
            yield _made(name, scorer, corpus)
        else:
            yield TypeScores(name, column.types, mixed)
    if stored or not anew or corpus is None or not (corpus.gold or corpus.references):
        return
    name, scorer = _scorer(table, pipeline)
    try:
        yield _made(name, scorer, corpus)
    except MissingResourceError:
        if pipeline is not None:  # asked for by name
            raise


def _scorer(table: ScoreTable, pipeline: str | None) -> tuple[str, Errant]:
    """Return the table's first metric with error types and its name, else ERRANT."""
    for name, column in table.items() if pipeline is None else ():
        if column.metric.startswith(ERRANTS):
            scorer = metric(column.metric)
            if isinstance(scorer, Errant):
                return name, scorer
    made = Errant(pipeline=pipeline)
    return str(made), made


def _made(name: str, scorer: Errant, corpus: Corpus) -> TypeScores:
    with silent():
        counted = scorer.count_types({name: corpus.segments(name) for name in corpus.systems})
    signature = scorer.signature().extended(counted.settings)
    words = (*counted.notes, *([scorer.notice] if scorer.notice else []))
    return TypeScores(name, type_scores(scorer, counted, signature, len(corpus)), words)


def _one_scheme(column: MetricScores) -> bool:
    """Whether stored types are of one scheme: older versions mixed gold's with ERRANT's."""
    if "type-scheme" in dict(column.signature) or not column.metric.startswith(ERRANTS):
        return True
    names = {name for scores in column.types.values() for name in scores}
    return all(map(ENGLISH.gives, names)) or all(map(NEUTRAL_RULES.gives, names))


# --- how they are laid out -----------------------------------------------------------------


def _tables(scores: TypeScores, systems: Sequence[str]) -> Iterator[Table]:
    kinds = sorted(scores.commonest)
    rows = [scores.of(kind, systems) for kind in kinds]
    heads = ("type", *Column.many("score", *systems))
    values = [(kind, *map(_value, row)) for kind, row in zip(kinds, rows, strict=True)]
    yield Table.of(heads, values, ["F, with the metric's own beta."])
    yield Table.of(heads, [(k, *map(_counts, row)) for k, row in zip(kinds, rows, strict=True)])


def _drawn(scores: TypeScores, systems: Sequence[str]) -> Drawing:
    kinds = scores.commonest
    few = len(kinds) <= MOST
    which = "all types" if few else f"the {MOST} commonest of {len(kinds)} types"
    values = [[_value(s) for s in scores.of(kind, systems)] for kind in kinds[:MOST]]
    return heat_map(
        kinds[:MOST],
        systems,
        [[math.nan if value is None else value for value in row] for row in values],
        title=f"F by error type ({scores.metric})",
        caption=f"F by type and system ({scores.metric}), {which}.",
    )


def _value(score: Score | None) -> float | None:
    return None if score is None or math.isnan(score.value) else score.value


def _counts(score: Score | None) -> str:
    return "/".join(f"{score.parts[key]:g}" for key in OUTCOMES) if score else ""
