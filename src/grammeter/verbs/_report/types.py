"""The section about error types: F and counts of each type, by system."""

from __future__ import annotations

import math
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
from grammeter.rendering import Section, heat_map
from grammeter.scoring import type_scores

MOST = 30
"""Largest number of types in a heat map; the tables have all types."""

_HOW = (
    "To see error types: grammeter score -m errant --types ... -o FILE, with the metric's package"
    " and pipeline at hand ('grammeter doctor')."
)
ERRANTS = ("errant", "senterrant")
"""Beginnings of the spellings of metrics with error types."""

ByType = Mapping[str, Score]


@dataclass(frozen=True)
class TypeScores:
    """Scores by system and error type of one metric, with notes."""

    metric: str
    systems: Mapping[str, ByType]
    words: tuple[str, ...] = ()


def types_section(
    table: ScoreTable, corpus: Corpus | None, *, pipeline: str | None, anew: bool
) -> Section:
    """Lay out scores by error type, stored or computed; else say how to get them.

    Parameters
    ----------
    corpus
        The sentences, if available.
    pipeline
        Pipeline that types edits; default: that of a metric of the table.
    anew
        Whether to compute scores that are not stored, which parses outputs and gold edits.
    """
    typed = list(_found(table, corpus, pipeline, anew))
    words = [text for scores in typed for text in scores.words]
    if not typed:
        words = [_HOW if anew else f"They were not asked for. {_HOW}"]
    tables = [layout for scores in typed for layout in _tables(scores, table.systems)]
    captions = [
        f"{what} by error type ({scores.metric})"
        for scores in typed
        for what in ("F", "True positives / false positives / false negatives")
    ]
    drawings = [
        heat_map(
            shown := _commonest(scores)[:MOST],
            table.systems,
            [[_value(scores, kind, system) for system in table.systems] for kind in shown],
            title=f"F by error type ({scores.metric})",
            caption=f"F by type and system ({scores.metric}), {_which(scores)}.",
        )
        for scores in typed
    ]
    return Section(
        "types", "Error types", tuple(words), tuple(tables), tuple(drawings), tuple(captions)
    )


# --- where they come from ------------------------------------------------------------------


def _found(
    table: ScoreTable, corpus: Corpus | None, pipeline: str | None, anew: bool
) -> Iterator[TypeScores]:
    stored = {name: column for name, column in table.items() if column.types}
    for name, column in stored.items():
        scorer = None if _one_scheme(column) else metric(column.metric)
        if isinstance(scorer, Errant) and corpus and anew:
            yield _made(name, scorer, corpus)
        else:
            yield TypeScores(name, column.types, tuple(_mixed(column)))
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


def _mixed(column: MetricScores) -> Iterator[str]:
    if not _one_scheme(column):
        yield (
            "An older version of grammeter stored these figures: hits and misses have the gold"
            " file's types, false positives ERRANT's. Score again with --types."
        )


# --- how they are laid out -----------------------------------------------------------------


def _tables(scores: TypeScores, systems: Sequence[str]) -> Iterator[Table]:
    kinds = sorted({kind for types in scores.systems.values() for kind in types})
    values = [(kind, *(_known(scores, kind, s) for s in systems)) for kind in kinds]
    heads = Column.many("score", *systems)
    yield Table.of(("type", *heads), values, ["F, with the metric's own beta."])
    counts = [(kind, *(_counts(scores, kind, system) for system in systems)) for kind in kinds]
    yield Table.of(("type", *heads), counts)


def _commonest(scores: TypeScores) -> list[str]:
    """Return the types, those with most edits (right, wrong or missed) first."""
    totals: dict[str, float] = {}
    for types in scores.systems.values():
        for kind, score in types.items():
            totals[kind] = totals.get(kind, 0) + sum(score.parts[key] for key in ("tp", "fp", "fn"))
    return sorted(totals, key=lambda kind: (-totals[kind], kind))


def _which(scores: TypeScores) -> str:
    kinds = len(_commonest(scores))
    return "all types" if kinds <= MOST else f"the {MOST} commonest of {kinds} types"


def _value(scores: TypeScores, kind: str, system: str) -> float:
    score = scores.systems.get(system, {}).get(kind)
    return math.nan if score is None else score.value


def _counts(scores: TypeScores, kind: str, system: str) -> str:
    score = scores.systems.get(system, {}).get(kind)
    if score is None:
        return ""
    return "/".join(f"{score.parts[key]:g}" for key in ("tp", "fp", "fn"))


def _known(scores: TypeScores, kind: str, system: str) -> float | None:
    value = _value(scores, kind, system)
    return None if math.isnan(value) else value
