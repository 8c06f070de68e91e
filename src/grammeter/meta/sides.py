"""The two sides of a meta-evaluation, people and metrics or judges, and which systems take part."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from grammeter import core
from grammeter.meta.judged import MEAN, has_scores, human_scores, judged_table, ranked_table
from grammeter.ranking import METHODS, method_of, named_systems, notes_of, rank_systems, select

USUAL = "expected-wins"
"""How judgments score systems unless said otherwise."""

OUTLIER_CUTOFF = 2.5
"""Scaled deviations from the median beyond which a system is an outlier (Mathur et al. 2020)."""

_MAD_SCALE = 1.483
"""Makes the median absolute deviation of a normal variable its standard deviation."""

Source = core.ScoreTable | core.Ranked | Sequence[core.Ranking]
"""Scores of metrics; a ranking; or judgments, of people or language models."""


@dataclass(frozen=True, kw_only=True)
class Human:
    """People's scores by system; higher is better, NaN where there is none.

    ``name`` says what they are, for signatures; ``method`` how judgments were scored, so that
    those of the other side are scored alike; ``clusters`` are there where there is a ranking.
    """

    scores: Mapping[str, float]
    name: str
    method: str = USUAL
    clusters: Mapping[str, int] | None = None
    notes: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


def human_side(
    human: core.Ranked | Mapping[str, float] | Sequence[core.Ranking],
    *, name: str = "human scores", by: str | None = None, other_is_judged: bool = False,
    clusters: bool = False,
) -> Human:  # fmt: skip
    """Return people's scores from a ranking, judgments, or bare scores called ``name``.

    ``by`` is how judgments score systems, a ranking method or ``mean``; UsageError if it has
    nothing to do. ``other_is_judged``: it is also about the other side. ``clusters``: judgments
    are ranked with clusters, which takes a bootstrap.
    """
    if isinstance(human, core.Ranked | Mapping):
        if by and not other_is_judged:
            fault = f"{name} holds scores, so by {by} has nothing to do"
            fix = "Leave it (--by) out, or give the judgments themselves."
            raise core.UsageError(fault, fix=fix)
        bare = not isinstance(human, core.Ranked)
        return Human(scores=human, name=name) if bare else _of_ranking(human)
    return _of_judgments(human, name, by or USUAL, clusters=clusters)


def _of_ranking(ranking: core.Ranked) -> Human:
    scores = {system: row.score for system, row in ranking.items()}
    clusters = {system: row.cluster for system, row in ranking.items()}
    method = ranking.method if ranking.method in METHODS else USUAL
    name, notes = _spelled(ranking.signature), ranking.notes
    return Human(scores=scores, name=name, method=method, clusters=clusters, notes=notes)


def _of_judgments(
    judgments: Sequence[core.Ranking], name: str, by: str, *, clusters: bool
) -> Human:
    notes: tuple[str, ...] = ()
    if by == MEAN and any(has_scores(ranking) for ranking in judgments if ranking.ranks):
        table = judged_table(judgments, MEAN, by=MEAN)
        scores = {system: score.value for system, score in table[MEAN].items()}
        return Human(scores=scores, name=_spelled(table[MEAN].signature), notes=table.notes)
    if by == MEAN:
        by = USUAL
        notes = (f"{name} has no scores to average: its ranks are scored by {by}",)
    if clusters:
        human = _of_ranking(rank_systems(select(judgments), method_of(by)))
        return replace(human, notes=(*notes, *human.notes))
    by_system, signature, more = human_scores(judgments, by=by)
    return Human(scores=by_system, name=_spelled(signature), method=by, notes=(*notes, *more))


def _spelled(signature: core.Signature) -> str:
    """Write a signature so that it stands inside another one without being encoded."""
    return f"{signature.name}({', '.join(f'{key}={value}' for key, value in signature)})"


def join_scores(
    sources: Mapping[str, Source],
    *, by: str = USUAL, systems: Sequence[str] | None = None, drop: Sequence[str] = (),
    segments: int = 0,
) -> core.ScoreTable:  # fmt: skip
    """Put scores side by side: a column for each metric, ranking and file of judgments.

    ``sources`` are by the name of the place, which names rankings and judgments as metrics, too;
    for ``by`` and ``segments`` see :func:`judged_table`. Of the systems that take part, with
    ``systems`` or among those not dropped, all must be everywhere. It is a DataError if two places
    have a metric of one name, other systems, other texts, or other numbers of sentences with
    statistics.
    """
    tables = {name: _table(name, source, by, segments) for name, source in sources.items()}
    first, *others = tables.values()
    if not others:
        return first
    if systems is None:
        known = {name for table in tables.values() for name in table.systems} - set(drop)
        lacking = {where: sorted(known - set(table.systems)) for where, table in tables.items()}
        _refuse_systems("scores of different systems: ", "{} has no scores of {}", lacking)
    _check_texts(tables)
    size = max(table.segments for table in tables.values())
    columns: dict[str, core.MetricScores] = {}
    origin: dict[str, str] = {}
    for where, table in tables.items():
        for name, column in table.items():
            if name in columns:
                fix = "Take it out of one of them, or rename the file that it is called after."
                fault = f"{origin[name]} and {where} both have a metric {name!r}"
                raise core.DataError(fault, fix=fix)
            columns[name], origin[name] = _padded(where, column, size), where
    names = dict.fromkeys(name for table in tables.values() for name in table.systems)
    corpora = (table.corpus for table in tables.values() if table.corpus is not None)
    about = dict.fromkeys(note for table in tables.values() for note in table.about)
    return core.ScoreTable(tuple(names), size, columns, next(corpora, None), tuple(about))


def _table(name: str, source: Source, by: str, segments: int) -> core.ScoreTable:
    if isinstance(source, core.ScoreTable):
        return source
    if isinstance(source, core.Ranked):
        return ranked_table(source, name)
    table = judged_table(core.with_sentence_numbers(source), name, by=by, segments=segments)
    return replace(table, about=tuple(dict.fromkeys([*notes_of(source), *table.about])))


def _refuse_systems(start: str, fault: str, lacking: Mapping[str, Sequence[str]]) -> None:
    faults = [fault.format(where, ", ".join(names)) for where, names in lacking.items() if names]
    if faults:
        fix = "Say which systems to use: --systems NAME ..., or --drop NAME ..."
        raise core.DataError(start + "; ".join(faults), fix=fix)


def _check_texts(tables: Mapping[str, core.ScoreTable]) -> None:
    """Refuse outputs that differ: then a system's name stands for two."""
    seen: dict[str, tuple[str, object]] = {}
    for where, table in tables.items():
        outputs: Mapping[str, object] = table.corpus["systems"] if table.corpus else {}
        for system, texts in outputs.items():
            other, known = seen.setdefault(system, (where, texts))
            if known != texts:
                fault = f"{other} and {where} were made from different outputs of {system!r}"
                raise core.DataError(fault, fix="Score the same outputs, or rename the system.")


def _padded(where: str, column: core.MetricScores, size: int) -> core.MetricScores:
    """Give each system as many sentences as the longest table has; those added have no score."""
    lengths = {len(rows) for rows in (*column.segments.values(), *column.statistics.values())}
    if lengths <= {size}:
        return column
    if column.statistics:
        fault = f"{where} has scores of {lengths.pop()} sentences, another file of {size}"
        raise core.DataError(fault, fix="Score the same sentences.")
    segments: dict[str, core.SegmentScores] = {}
    for system, rows in column.segments.items():
        longer = partial(np.pad, pad_width=(0, size - len(rows)), constant_values=np.nan)
        chosen = np.pad(rows.chosen, (0, size - len(rows)), constant_values=-1)
        parts = {name: longer(part) for name, part in rows.parts.items()}
        reason = rows.reason or "not scored"
        segments[system] = core.SegmentScores(longer(rows.values), chosen, parts, reason)
    return replace(column, segments=segments)


def select_systems(
    scored: Sequence[str], judged: Iterable[str],
    *, systems: Sequence[str] | None = None, drop: Sequence[str] = (),
) -> tuple[str, ...]:  # fmt: skip
    """Return the systems that take part, in the order in which they were scored or chosen.

    ``systems`` are names, or names of sets, or ``all``, the default. A system on one side only,
    about which nothing is said, a chosen one without a score, and fewer than two raise DataError.
    """
    known = dict.fromkeys([*scored, *(judged := list(judged))])
    for name in drop:
        core.UnknownNameError.check("system", name, known)
    wanted = known if systems is None else named_systems(systems, known)
    chosen = tuple(name for name in dict.fromkeys(wanted) if name not in drop)
    lacking = {f"without a score by {who}": [name for name in chosen if name not in names]
               for who, names in (("metrics", scored), ("people", judged))}  # fmt: skip
    _refuse_systems("systems ", "{}: {}", lacking)
    if len(chosen) < 2:
        fix = "Leave two at least, better ten."
        raise core.DataError(f"systems to correlate: {len(chosen)}", fix=fix)
    return chosen


def check_judged(systems: Sequence[str], human: Mapping[str, float]) -> None:
    """Refuse systems to which people gave no score."""
    for name in systems:
        if not math.isfinite(human[name]):
            fix = f"Leave it out: --drop {name}"
            raise core.DataError(f"people gave {name!r} no score", fix=fix)


def best_first(systems: Sequence[str], human: Mapping[str, float]) -> tuple[str, ...]:
    """Return systems in the order of people's scores; equal ones stay in the given order."""
    check_judged(systems, human)
    return tuple(sorted(systems, key=lambda name: -human[name]))


def outliers(human: core.FloatArray, *, cutoff: float = OUTLIER_CUTOFF) -> core.BoolArray:
    """Find values far from the median, in units of the scaled median absolute deviation.

    ``|x - median| / (1.483 * MAD) > cutoff`` makes an outlier (Mathur et al. 2020, section 4.1);
    none where half of the values or more are equal, for then the deviation has no scale.
    """
    away = np.abs(human - np.median(human))
    scale = _MAD_SCALE * np.median(away)
    return away > cutoff * scale if scale > 0 else np.zeros(len(human), dtype=np.bool_)
