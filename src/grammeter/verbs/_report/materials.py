"""Files of a report besides scores; their content tells what they are."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from grammeter.core import SCORES_KIND as SCORES
from grammeter.core import (
    DataError,
    MetricScores,
    Ranked,
    Score,
    ScoreTable,
    Signature,
    UsageError,
    reading,
)
from grammeter.core import ranked as ranked_values
from grammeter.formats import (
    Corpus,
    FirstSegment,
    Judgments,
    Outputs,
    join,
    parse_judgments_of,
    parse_object,
    read_text,
)
from grammeter.meta import system_values
from grammeter.ranking import AGREEMENT
from grammeter.verbs._compare import results as comparison
from grammeter.verbs._report.people import agreement_section, correlation_section
from grammeter.verbs._report.scores import Shape, scores_section

PathLike = str | Path

VERBS = {
    ranked_values.RANKING_KIND: "rank",
    system_values.KIND: "meta system",
    comparison.KIND: "compare",
    AGREEMENT: "agree",
}
"""Verb that writes each kind of JSON object."""

_FIX = (
    "A report takes judgments (Appraise XML, WMT CSV, JSON lines) and what 'grammeter rank',"
    " 'meta system', 'compare' and 'agree' write with -o."
)


@dataclass(frozen=True)
class Materials:
    """Contents of files, ``None`` where missing; results are in their public JSON shapes.

    ``notices`` say what a reader should know about the files.
    """

    judgments: Judgments | None = None
    ranking: Ranked | None = None
    meta: Shape | None = None
    comparison: Shape | None = None
    agreement: Shape | None = None
    notices: tuple[str, ...] = field(default=(), compare=False)


def read_materials(
    paths: Sequence[PathLike],
    *,
    scores: ScoreTable | None = None,
    first_segment: FirstSegment | None = None,
) -> Materials:
    """Read files whose content tells what they are.

    Parameters
    ----------
    paths
        Files of judgments (several are read one after the other), and JSON that ``rank``,
        ``meta system``, ``compare`` and ``agree`` wrote, one of each kind; ``-`` is standard
        input.
    scores
        If they hold the sentences of all judged systems, judgments are checked against them, and
        the number of the first sentence is found.
    first_segment
        The number that Appraise and WMT files give to the first sentence.

    Raises
    ------
    DataError
        With the file: absent, damaged, of another kind, or not about these outputs.
    UsageError
        If a file is named twice, or two have the same kind.
    """
    if len(set(map(str, paths))) != len(paths):
        raise UsageError(f"a file is named twice: {' '.join(map(str, paths))}", fix="Name it once.")
    parts: list[Judgments] = []
    results: dict[str, Any] = {}
    for path in paths:
        text, where = read_text(path), str(path)
        data = _object(text, where)
        if data is None:
            parts.append(
                parse_judgments_of(
                    text,
                    where,
                    _outputs(scores),
                    segments=scores.segments if scores else 0,
                    first_segment=first_segment,
                )
            )
            continue
        kind = data["kind"]
        if kind in results:
            raise UsageError(
                f"{where}: a second file of the kind {kind!r}", fix="Give one of each kind."
            )
        results[kind] = _checked(data, where)
    judgments = join(parts) if parts else None
    return Materials(
        judgments,
        results.get(ranked_values.RANKING_KIND),
        results.get(system_values.KIND),
        results.get(comparison.KIND),
        results.get(AGREEMENT),
        (*(judgments.notices if judgments else ()), *_strangers(scores, judgments, results)),
    )


def _strangers(
    scores: ScoreTable | None, judgments: Judgments | None, results: Mapping[str, Any]
) -> Iterator[str]:
    """Yield a notice if no judged system has scores: names may be misspelt."""
    judged = {system for ranking in judgments or () for system in ranking.systems}
    judged |= {*results.get(ranked_values.RANKING_KIND, ())}
    if scores is not None and judged and judged.isdisjoint(scores.systems):
        some = ", ".join(sorted(judged)[:3])
        yield f"people judged none of the systems that have scores, but others ({some}, ...)"


def _object(text: str, where: str) -> Mapping[str, Any] | None:
    """Return a JSON object of a known kind; ``None`` if the text must be judgments."""
    start = text.lstrip()
    if start[:1] != "{":
        return None
    try:
        data: object = json.loads(text)
    except (ValueError, RecursionError):
        if '"judge"' in start.partition("\n")[0]:
            return None  # JSON lines
        data = parse_object(text, where)
    if isinstance(data, dict) and "judge" in data and "kind" not in data:
        return None  # one line
    kind = cast("dict[str, Any]", data).get("kind")
    if not isinstance(kind, str) or kind not in VERBS:
        problem = f'is of the kind "{kind}"' if kind else 'says no "kind": no verb wrote it'
        problem = "is scores, which come first and once" if kind == SCORES else problem
        raise DataError(f"this file {problem}", where=where, fix=_FIX)
    return cast("dict[str, Any]", data)


def _checked(data: Mapping[str, Any], where: str) -> Ranked | Shape:
    """Read a stored result; an error about a missing part names the file."""
    kind = data["kind"]
    if kind == ranked_values.RANKING_KIND:
        return Ranked.from_dict(data, where=where)
    with reading(data, kind, verb=VERBS[kind], where=where):
        _LAID_OUT[kind](data)
    return data


def _scores_of(shape: Shape) -> ScoreTable:
    """Return the scores in a comparison."""
    columns = {
        name: MetricScores(
            name,
            signature := Signature.parse(metric["signature"]),
            metric["higher_is_better"],
            {
                system: Score(
                    math.nan if (value := result["value"]) is None else value, signature, 0
                )
                for system, result in metric["systems"].items()
            },
        )
        for name, metric in shape["metrics"].items()
    }
    systems = dict.fromkeys(system for column in columns.values() for system in column)
    return ScoreTable(tuple(systems), shape["segments"], columns)


_LAID_OUT: Mapping[str, Callable[[Shape], object]] = {
    system_values.KIND: lambda shape: correlation_section(shape, ScoreTable((), 0, {}), {}, ()),
    comparison.KIND: lambda shape: scores_section(_scores_of(shape), shape),
    AGREEMENT: agreement_section,
}
"""For each kind, a function that reads everything that a page shows of it."""


def _outputs(scores: ScoreTable | None) -> Outputs | None:
    if scores is None or scores.corpus is None:
        return None
    return Corpus.from_dict(scores.corpus).systems
