"""Files of a report besides scores; their content tells what they are."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grammeter.core import RANKING_KIND, SCORES_KIND, DataError, Ranked, ScoreTable, UsageError
from grammeter.formats import (
    Corpus,
    FirstSegment,
    Judgments,
    join,
    parse_judgments_of,
    parse_object,
    read_text,
)
from grammeter.meta import META_SYSTEM, SystemMeta
from grammeter.ranking import AGREEMENT, Agreement
from grammeter.verbs._compare.results import COMPARISON, Comparison
from grammeter.verbs._read import CLASSES

RESULTS = {
    RANKING_KIND: "ranking",
    META_SYSTEM: "meta",
    COMPARISON: "comparison",
    AGREEMENT: "agreement",
}
"""What a report takes beside scores: the ``kind`` of the JSON object, its name here."""

_FIX = (
    "A report takes judgments (Appraise XML, WMT CSV, JSON lines) and what 'grammeter rank',"
    " 'meta system', 'compare' and 'agree' write with -o."
)


@dataclass(frozen=True)
class ReportMaterials:
    """Contents of files, ``None`` where missing, and what a reader should know about the files."""

    judgments: Judgments | None = None
    ranking: Ranked | None = None
    meta: SystemMeta | None = None
    comparison: Comparison | None = None
    agreement: Agreement | None = None
    notices: tuple[str, ...] = field(default=(), compare=False)


def read_materials(
    paths: Sequence[str | Path],
    *,
    scores: ScoreTable | None = None,
    first_segment: FirstSegment | None = None,
) -> ReportMaterials:
    """Read files whose content tells what they are.

    Raises :class:`DataError`, with the file, if it is absent, damaged, of another kind, or not
    about these outputs; :class:`UsageError` if one is named twice, or two have the same kind.

    ``paths`` are files of judgments (several are read one after the other), and JSON that ``rank``,
    ``meta system``, ``compare`` and ``agree`` wrote, one of each kind; ``-``: standard input. If
    ``scores`` hold the sentences of all judged systems, judgments are checked against them, and the
    number of the first sentence is found, unless it is ``first_segment``.
    """
    if len(set(map(str, paths))) != len(paths):
        raise UsageError(f"a file is named twice: {' '.join(map(str, paths))}", fix="Name it once.")
    outputs = Corpus.from_dict(scores.corpus).systems if scores and scores.corpus else None
    segments = scores.segments if scores else 0
    parts: list[Judgments] = []
    results: dict[str, Any] = {}
    for path in paths:
        text, where = read_text(path), str(path)
        data = _object(text, where)
        if data is None:
            options: Any = {"segments": segments, "first_segment": first_segment}
            parts.append(parse_judgments_of(text, where, outputs, **options))
            continue
        name = RESULTS[kind := data["kind"]]
        if name in results:
            fault = f"{where}: a second file of the kind {kind!r}"
            raise UsageError(fault, fix="Give one of each kind.")
        results[name] = CLASSES[kind].from_dict(data, where=where)
    judgments = join(parts) if parts else None
    notices = (*(judgments.notices if judgments else ()), *_strangers(scores, judgments, results))
    return ReportMaterials(judgments, notices=notices, **results)


def _strangers(
    scores: ScoreTable | None, judgments: Judgments | None, results: Mapping[str, Any]
) -> Iterator[str]:
    """Yield a notice if no judged system has scores: names may be misspelt."""
    judged = {system for ranking in judgments or () for system in ranking.systems}
    judged |= {*results.get("ranking", ())}
    if scores is not None and judged and judged.isdisjoint(scores.systems):
        some = ", ".join(sorted(judged)[:3])
        yield f"people judged none of the systems that have scores, but others ({some}, ...)"


def _object(text: str, where: str) -> Mapping[str, Any] | None:
    """Return a JSON object of a known kind; ``None`` if the text must be judgments."""
    start = text.lstrip()
    if not start.startswith("{"):
        return None
    try:
        data: dict[str, Any] = json.loads(text)
    except (ValueError, RecursionError):
        if '"judge"' in start.partition("\n")[0]:
            return None  # JSON lines
        data = parse_object(text, where)
    kind: object = data.get("kind")
    if "judge" in data and "kind" not in data:
        return None  # one line
    if not isinstance(kind, str) or kind not in RESULTS:
        problem = f'is of the kind "{kind}"' if kind else 'says no "kind": no verb wrote it'
        problem = "is scores, which come first and once" if kind == SCORES_KIND else problem
        raise DataError(f"this file {problem}", where=where, fix=_FIX)
    return data
