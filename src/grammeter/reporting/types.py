"""The section about error types: F and counts of each type, by system."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from grammeter.core.edit import Edit, GoldEdits
from grammeter.core.errors import MissingResourceError
from grammeter.core.progress import silent, track
from grammeter.core.score import Score
from grammeter.core.table import ScoreTable
from grammeter.corpus.corpus import Corpus
from grammeter.edits.annotate import annotator
from grammeter.edits.given import by_span
from grammeter.metrics.errant import Errant
from grammeter.metrics.registry import metric
from grammeter.report.page import Section
from grammeter.report.svg_figures import heat_map
from grammeter.report.tables import Table, format_number

MOST = 30
"""Types that a heat map has room for, the commonest; the tables have all."""

_HOW = (
    "To see error types: grammeter score -m errant --types ... -o FILE, with the metric's package"
    " and pipeline at hand ('grammeter doctor')."
)
_OWN_SCHEME = re.compile(r"[MRU]:\S+|UNK")
"""The types that ERRANT's rules give, those of the neutral ones among them."""

_ANEW = (
    "The gold edits bear types of another scheme ({examples}), so that hits and misses would stand"
    " under other names than false positives. They are typed by ERRANT's rules here, spans as they"
    " are, and figures by type differ from those of 'score --types'."
)

ByType = Mapping[str, Score]


@dataclass(frozen=True)
class TypeScores:
    """Scores by system and error type of one metric, and what is to be said of them."""

    metric: str
    systems: Mapping[str, ByType]
    words: tuple[str, ...] = ()


def types_section(
    table: ScoreTable, corpus: Corpus | None, *, pipeline: str | None, anew: bool
) -> Section:
    """Lay out scores by error type: the stored ones, else made anew, else how to get them.

    Parameters
    ----------
    corpus
        The sentences, if they are at hand.
    pipeline
        What types edits that are typed anew; default: that of a metric of the table.
    anew
        Whether to make what is not stored, which parses outputs and gold edits.
    """
    found = list(_found(table, corpus, pipeline, anew))
    words = [text for scores in found for text in scores.words]
    if not found:
        words = [_HOW if anew else f"They were not asked for. {_HOW}"]
    tables = [each for scores in found for each in _tables(scores, table.systems)]
    captions = [
        f"{what} by error type ({scores.metric})"
        for scores in found
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
        for scores in found
    ]
    return Section(
        "types", "Error types", tuple(words), tuple(tables), tuple(drawings), tuple(captions)
    )


# --- where they come from ------------------------------------------------------------------


def _found(
    table: ScoreTable, corpus: Corpus | None, pipeline: str | None, anew: bool
) -> Iterator[TypeScores]:
    foreign = _foreign_types(corpus) if corpus else []
    stored = {name: column for name, column in table.items() if column.types}
    for name, column in stored.items():
        scorer = metric(column.metric) if corpus and foreign and anew else None
        if isinstance(scorer, Errant) and corpus:
            yield _made(name, scorer, corpus, foreign)
        else:
            yield TypeScores(name, column.types, tuple(_mixed(foreign)))
    if stored or not anew or corpus is None or not (corpus.gold or corpus.references):
        return
    name, scorer = _scorer(table, pipeline)
    try:
        yield _made(name, scorer, corpus, foreign)
    except MissingResourceError:
        if pipeline is not None:  # asked for by name
            raise


def _scorer(table: ScoreTable, pipeline: str | None) -> tuple[str, Errant]:
    """Return the table's metric that knows types, by what it is called there, else ERRANT."""
    for name, column in table.items() if pipeline is None else ():
        if column.metric.startswith(("errant", "senterrant")):
            found = metric(column.metric)
            if isinstance(found, Errant):
                return name, found
    made = Errant(pipeline=pipeline)
    return str(made), made


def _made(name: str, scorer: Errant, corpus: Corpus, foreign: Sequence[str]) -> TypeScores:
    if foreign:
        corpus = replace(corpus, gold=_retyped(corpus, scorer.pipeline))
    systems: dict[str, ByType] = {}
    for system in track(corpus.systems, "systems parsed for error types"):
        with silent():
            systems[system] = scorer.type_scores(corpus.segments(system))
    words = [_ANEW.format(examples=", ".join(foreign[:3]))] if foreign else []
    words += [scorer.notice] if scorer.notice else []
    return TypeScores(name, systems, tuple(words))


def _foreign_types(corpus: Corpus) -> list[str]:
    """Return the types of gold edits that are not of ERRANT's scheme."""
    kinds = {edit.type for gold in corpus.gold for edits in gold.values() for edit in edits}
    return sorted(kind for kind in kinds if not _OWN_SCHEME.fullmatch(kind))


def _mixed(foreign: Sequence[str]) -> Iterator[str]:
    if foreign:
        yield (
            f"Hits and misses bear the gold file's own types ({', '.join(foreign[:3])}), false"
            " positives ERRANT's: F of a single type means little here."
        )


def _retyped(corpus: Corpus, pipeline: str | None) -> list[GoldEdits]:
    """Give gold edits the types of ERRANT's rules and leave all else as it is."""
    jobs = [
        (line, number, sorted(edits, key=by_span))
        for line, gold in enumerate(corpus.gold)
        for number, edits in gold.items()
    ]
    found = annotator(pipeline).retype_all(
        [(corpus.sources[line], edits) for line, _, edits in jobs], minimise=False
    )
    gold: list[dict[int, tuple[Edit, ...]]] = [{} for _ in corpus.gold]
    for (line, number, edits), typed in zip(jobs, found, strict=True):
        pairs = zip(edits, typed, strict=True)
        gold[line][number] = tuple(replace(edit, type=new.type) for edit, new in pairs)
    return list(gold)


# --- how they are laid out -----------------------------------------------------------------


def _tables(scores: TypeScores, systems: Sequence[str]) -> Iterator[Table]:
    kinds = sorted({kind for types in scores.systems.values() for kind in types})
    header, align = ("type", *systems), "l" + "r" * len(systems)
    values = tuple(
        (kind, *(_shown(_value(scores, kind, system)) for system in systems)) for kind in kinds
    )
    counts = tuple((kind, *(_counts(scores, kind, system) for system in systems)) for kind in kinds)
    yield Table(header, values, align, ("F, with the metric's own beta.",))
    yield Table(header, counts, align)


def _commonest(scores: TypeScores) -> list[str]:
    """Return the types, those with most edits, right, wrong or missed, first."""
    totals: dict[str, float] = {}
    for types in scores.systems.values():
        for kind, score in types.items():
            totals[kind] = totals.get(kind, 0) + sum(score.parts[key] for key in ("tp", "fp", "fn"))
    return sorted(totals, key=lambda kind: (-totals[kind], kind))


def _which(scores: TypeScores) -> str:
    kinds = len(_commonest(scores))
    return "all types" if kinds <= MOST else f"the {MOST} commonest of {kinds} types"


def _value(scores: TypeScores, kind: str, system: str) -> float:
    found = scores.systems.get(system, {}).get(kind)
    return math.nan if found is None else found.value


def _counts(scores: TypeScores, kind: str, system: str) -> str:
    found = scores.systems.get(system, {}).get(kind)
    if found is None:
        return ""
    return "/".join(f"{found.parts[key]:g}" for key in ("tp", "fp", "fn"))


def _shown(value: float) -> str:
    return "" if math.isnan(value) else format_number(value)
