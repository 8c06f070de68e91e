"""Files of a report besides scores; their content tells what they are."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from grammeter.core import RANKING_KIND, SCORES_KIND, DataError, Ranked, ScoreTable, UsageError
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
from grammeter.meta import META_SYSTEM, SystemMeta
from grammeter.ranking import AGREEMENT, Agreement
from grammeter.verbs._compare.results import COMPARISON, Comparison
from grammeter.verbs._read import CLASSES

PathLike = str | Path

RESULTS = {kind: CLASSES[kind] for kind in (RANKING_KIND, META_SYSTEM, COMPARISON, AGREEMENT)}
"""What a report takes beside scores, by the ``kind`` of the JSON object."""

_FIX = (
    "A report takes judgments (Appraise XML, WMT CSV, JSON lines) and what 'grammeter rank',"
    " 'meta system', 'compare' and 'agree' write with -o."
)


@dataclass(frozen=True)
class Materials:
    """Contents of files, ``None`` where missing.

    ``notices`` say what a reader should know about the files.
    """

    judgments: Judgments | None = None
    ranking: Ranked | None = None
    meta: SystemMeta | None = None
    comparison: Comparison | None = None
    agreement: Agreement | None = None
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
        results[kind] = RESULTS[kind].from_dict(data, where=where)
    judgments = join(parts) if parts else None
    return Materials(
        judgments,
        results.get(RANKING_KIND),
        results.get(META_SYSTEM),
        results.get(COMPARISON),
        results.get(AGREEMENT),
        (*(judgments.notices if judgments else ()), *_strangers(scores, judgments, results)),
    )


def _strangers(
    scores: ScoreTable | None, judgments: Judgments | None, results: Mapping[str, Any]
) -> Iterator[str]:
    """Yield a notice if no judged system has scores: names may be misspelt."""
    judged = {system for ranking in judgments or () for system in ranking.systems}
    judged |= {*results.get(RANKING_KIND, ())}
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
    if not isinstance(kind, str) or kind not in RESULTS:
        problem = f'is of the kind "{kind}"' if kind else 'says no "kind": no verb wrote it'
        problem = "is scores, which come first and once" if kind == SCORES_KIND else problem
        raise DataError(f"this file {problem}", where=where, fix=_FIX)
    return cast("dict[str, Any]", data)


def _outputs(scores: ScoreTable | None) -> Outputs | None:
    if scores is None or scores.corpus is None:
        return None
    return Corpus.from_dict(scores.corpus).systems
