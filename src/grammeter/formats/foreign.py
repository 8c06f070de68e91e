"""Scores that other programs or people gave: of metrics, system by system or segment by segment.

Score files, told by their content:

- the JSON of ``grammeter score -o``;
- TSV with the header ``metric system value`` or ``metric system segment value`` (segments from
  1), in any order; other columns are parts of the value, ``precision recall``, say;
- what ``grammeter score --segments FILE`` writes: the same, with parts as a JSON object;
- TSV with the header ``system NAME NAME ...``, a column for each metric, as ``grammeter score
  --format tsv`` prints it;
- without a header, what the WMT metrics tasks exchange: ``metric pair set system value``, or
  ``metric pair set system segment value`` (from 0 if a segment 0 occurs, else from 1);
- ``system value``, the ``.score`` files of mt-metrics-eval: a line for each system, or each
  system's segments one after the other; the metric is named after the file;
- ``system value precision recall``, as the F-scores of Grundkiewicz et al. 2015 are stored.

A value that says ``None`` or ``NaN`` is missing; anything else that is no number is a fault.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from grammeter.core import RANKING_KIND as RANKING
from grammeter.core import (
    DataError,
    MetricScores,
    Ranked,
    Score,
    ScoreTable,
    SegmentScores,
    Signature,
    unshielded,
)
from grammeter.formats.judgments import FirstSegment, Judgments, parse_judgments
from grammeter.formats.objects import parse_object
from grammeter.formats.text import read_text, split_lines
from grammeter.formats.wmt import is_wmt

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\Z", re.ASCII)
_SEGMENT = re.compile(r"\d{1,7}\Z", re.ASCII)
_JUDGMENTS = re.compile(r'\s*(\{"judge"|(<\?xml[^>]*>\s*)?<appraise-results)')
_LARGEST = 1e100
"""Beyond it sums and squares of scores overflow."""

_MISSING = {"none", "nan", "null"}
_SCORES_FIX = (
    "Give the JSON of 'grammeter score -o FILE', or tab-separated lines under the header"
    " 'metric system value', 'metric system segment value' or 'system METRIC METRIC ...'."
)
_HUMAN_FIX = (
    "Give the JSON of 'grammeter rank -o FILE', tab-separated lines under the header"
    " 'system value', or a file of judgments."
)


def read_score_file(path: str | Path) -> ScoreTable:
    """Read the scores of metrics, ours or foreign; see the module for the formats.

    A foreign system-level file fills ``MetricScores.scores``; a segment-level file
    ``MetricScores.segments`` too, NaN where a segment has no score, and each system's score is
    the mean of its segments. ``ScoreTable.segments`` is 0 where only systems were scored.

    Parameters
    ----------
    path
        The file, plain or gzip; ``-`` is standard input.

    Raises
    ------
    DataError
        With file and line: a value that is no number, a missing column, a score that stands
        there twice, both levels in one file, a file of another kind.
    """
    return parse_score_file(read_text(path), str(path))


def parse_score_file(text: str, where: str) -> ScoreTable:
    """Read scores from a text; ``where`` names it in messages and names nameless metrics."""
    if _JUDGMENTS.match(text):
        raise DataError("these are judgments, no scores of metrics", where=where, fix=_SCORES_FIX)
    if text.lstrip()[:1] == "{":
        return ScoreTable.from_json(parse_object(text, where), where=where)
    return _table(_score_rows(text, where), where)


def read_any_scores(path: str | Path) -> ScoreTable | Ranked | Judgments:
    """Read what may stand in the place of metric scores: scores, a ranking, or judgments.

    Raises
    ------
    DataError
        As :func:`read_score_file`; and if these are people's scores of systems.
    """
    text, where = read_text(path), str(path)
    if text.split("\n", 1)[0].split() == ["system", "value"]:
        raise DataError(
            "these are human scores of systems, not those of metrics",
            where=where,
            fix="Give them once, after the scores, and not together with --benchmark.",
        )
    if _holds_judgments(text):
        return parse_judgments(text, where)
    if text.lstrip()[:1] == "{":
        data = parse_object(text, where)
        if data.get("kind") == RANKING:
            return Ranked.from_json(data, where=where)
    return parse_score_file(text, where)


def is_judged(path: str | Path) -> bool:
    """Whether a file holds judgments."""
    return _holds_judgments(read_text(path))


def read_human_scores(path: str | Path) -> dict[str, float]:
    """Read the scores that people's judgments gave to systems.

    TSV with the header ``system value`` or the headless forms of score files with one metric;
    or the JSON of ``grammeter rank -o``. A system that the ranking could not score has NaN.

    Raises
    ------
    DataError
        As :func:`read_score_file`; and if the file holds judgments, which must be ranked first.
    """
    found = read_human(path)
    if isinstance(found, Judgments):
        raise DataError(
            "these are judgments, no scores of systems",
            where=str(path),
            fix="Rank them first: grammeter rank FILE -o ranking.json",
        )
    return system_scores(found) if isinstance(found, Ranked) else found


def read_human(
    path: str | Path, *, first_segment: FirstSegment | None = None
) -> Ranked | Judgments | dict[str, float]:
    """Read what people said of systems: a ranking, judgments to be ranked, or bare scores.

    The file is told by its content and read once, so ``-`` works. ``first_segment`` is for
    judgments, see :func:`grammeter.formats.judgments.read_judgments`.

    Raises
    ------
    DataError
        As :func:`read_human_scores`, judgments aside.
    """
    text, where = read_text(path), str(path)
    if _holds_judgments(text):
        return parse_judgments(text, where, first_segment=first_segment)
    if text.lstrip()[:1] == "{":
        return Ranked.from_json(parse_object(text, where), where=where)
    return _human_scores(text, where)


def system_scores(ranked: Ranked) -> dict[str, float]:
    """Return a ranking's scores by system, best first; NaN where it has none."""
    return {name: row.score for name, row in ranked.items()}


# --- lines ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Row:
    """One score; ``segment`` is ``None`` for a system-level score."""

    line: int
    metric: str
    system: str
    segment: int | None
    value: float
    parts: dict[str, float]


@dataclass(frozen=True, slots=True)
class _Layout:
    """Which column holds what; ``skip`` lines stand above the first score."""

    columns: int
    metric: int | None
    system: int
    segment: int | None
    value: int
    parts: tuple[tuple[str, int], ...] = ()
    packed: int | None = None
    """The column that holds parts as a JSON object."""
    skip: int = 0


_HEADLESS = {
    2: _Layout(2, None, 0, None, 1),
    4: _Layout(4, None, 0, None, 1, (("precision", 2), ("recall", 3))),
    5: _Layout(5, 0, 3, None, 4),
    6: _Layout(6, 0, 3, 4, 5),
}
"""Layouts by their number of columns."""

_NAMELESS = _Layout(2, None, 0, None, 1, skip=1)
"""Under the header ``system value``."""

_OURS = {"reference", "parts"}
"""Columns of ``score --segments`` that are no parts themselves."""


def _score_rows(text: str, where: str) -> list[_Row]:
    """Read all scores; segments count from 0."""
    lines = _cells(text, where)
    if {"metric", "system"} <= set(lines[0]):
        layout = _by_header(lines[0], where)
    elif lines[0][0] == "system" and len(lines[0]) > 1 and lines[0] != ["system", "value"]:
        return _wide_rows(lines, where)
    elif lines[0] == ["system", "value"]:
        layout = _NAMELESS
    else:
        layout = _headless(lines[0], where, _SCORES_FIX)
    rows = list(_rows(lines, layout, where))
    if layout.segment is not None:
        first = 0 if any(row.segment == 0 for row in rows) else 1
        return [replace(row, segment=(row.segment or 0) - first) for row in rows]
    in_runs = layout == _HEADLESS[2] and len({row.system for row in rows}) < len(rows)
    return _runs(rows, where) if in_runs else rows


def _human_scores(text: str, where: str) -> dict[str, float]:
    lines = _cells(text, where)
    if lines[0] == ["system", "value"]:
        layout = _NAMELESS
    else:
        layout = _headless(lines[0], where, _HUMAN_FIX)
    rows = list(_rows(lines, layout, where))
    _check_once(rows, where)
    if len({row.metric for row in rows}) > 1 or layout.segment is not None:
        raise DataError("no scores of systems by people", where=where, fix=_HUMAN_FIX)
    for row in rows:
        if math.isnan(row.value):
            raise DataError(
                f"no human score of {row.system!r}",
                where=f"{where}:{row.line}",
                fix="Take the system out of both files, or give it a number.",
            )
    return {row.system: row.value for row in rows}


def _cells(text: str, where: str) -> list[list[str]]:
    """Split into lines and cells: at tabs, or at spaces if the file has no tab."""
    if not text.strip():
        raise DataError("the file is empty", where=where, fix="It needs one score at least.")
    mark = "\t" if "\t" in text else None
    return [[*map(unshielded, line.split(mark))] for line in split_lines(text.rstrip())]


def _by_header(header: Sequence[str], where: str) -> _Layout:
    if "" in header or len(set(header)) < len(header) or "value" not in header:
        raise DataError(f"unknown columns: {' '.join(header)}", where=f"{where}:1", fix=_SCORES_FIX)
    at = {name: place for place, name in enumerate(header)}
    known = {"metric", "system", "segment", "value", *(_OURS if "parts" in at else ())}
    parts = tuple((name, place) for name, place in at.items() if name not in known)
    segment, packed = at.get("segment"), at.get("parts")
    return _Layout(len(at), at["metric"], at["system"], segment, at["value"], parts, packed, skip=1)


def _wide_rows(lines: Sequence[Sequence[str]], where: str) -> list[_Row]:
    """Read a line for each system and a column for each metric."""
    rows: list[_Row] = []
    for place, metric in enumerate(lines[0][1:], start=1):
        layout = _Layout(len(lines[0]), None, 0, None, place, skip=1)
        rows += [replace(row, metric=metric) for row in _rows(lines, layout, where)]
    return rows


def _headless(first: Sequence[str], where: str, fix: str) -> _Layout:
    layout = _HEADLESS.get(len(first))
    if layout is None or not _is_value(first[layout.value]):
        raise DataError("neither a known header nor a score", where=f"{where}:1", fix=fix)
    return layout


def _rows(lines: Sequence[Sequence[str]], layout: _Layout, where: str) -> Iterator[_Row]:
    named = metric_name(where)
    for number, cells in enumerate(lines[layout.skip :], start=layout.skip + 1):
        place = f"{where}:{number}"
        if len(cells) != layout.columns:
            raise DataError(
                f"{len(cells)} columns where {layout.columns} are due",
                where=place,
                fix="Separate columns by one tab, and give every line all of them.",
            )
        metric = named if layout.metric is None else cells[layout.metric]
        if not metric or not cells[layout.system]:
            raise DataError("a metric or system without a name", where=place, fix="Name it.")
        yield _Row(
            number,
            metric,
            cells[layout.system],
            None if layout.segment is None else _segment(cells[layout.segment], layout, place),
            parse_value(cells[layout.value], place),
            _parts(cells, layout, place),
        )
    if len(lines) == layout.skip:
        raise DataError("no score below the header", where=where, fix="It needs one at least.")


def _parts(cells: Sequence[str], layout: _Layout, place: str) -> dict[str, float]:
    parts = {name: parse_value(cells[at], place) for name, at in layout.parts}
    if layout.packed is not None:
        packed = parse_object(cells[layout.packed], place)
        parts |= {name: parse_value(str(value), place) for name, value in packed.items()}
    return parts


def metric_name(path: str | Path) -> str:
    """Return the metric that a nameless file is about: ``BLEU.seg.score`` is ``BLEU``."""
    name = Path(path).name.removesuffix(".gz").removeprefix("scores.")
    for suffix in (".jsonl", ".json", ".xml", ".csv", ".txt", ".tsv", ".score", ".sys", ".seg"):
        name = name.removesuffix(suffix)
    return name or Path(path).name


def parse_value(cell: str, place: str) -> float:
    """Read one score; NaN where it says that there is none."""
    if not _is_value(cell):
        raise DataError(
            f"{cell!r} is no number" + (" of a usual size" if _NUMBER.match(cell) else ""),
            where=place,
            fix="Write a decimal number, or None where there is no score.",
        )
    return math.nan if cell.lower() in _MISSING else float(cell)


def _is_value(cell: str) -> bool:
    if _NUMBER.match(cell):
        return abs(float(cell)) <= _LARGEST
    return cell.lower() in _MISSING


def _segment(cell: str, layout: _Layout, place: str) -> int:
    promised = layout.skip > 0  # a header promises numbers from 1
    if not _SEGMENT.match(cell) or (promised and int(cell) == 0):
        raise DataError(
            f"{cell!r} is no number of a segment", where=place, fix="Count the segments from 1."
        )
    return int(cell)


# --- the table -----------------------------------------------------------------------------


def _table(rows: list[_Row], where: str) -> ScoreTable:
    _check_once(rows, where)
    with_segments = rows[0].segment is not None
    segments = max((row.segment or 0) for row in rows) + 1 if with_segments else 0
    systems = tuple(dict.fromkeys(row.system for row in rows))
    columns: dict[str, list[_Row]] = {}
    for row in rows:
        columns.setdefault(row.metric, []).append(row)
    return ScoreTable(
        systems,
        segments,
        {name: _column(name, found, segments) for name, found in columns.items()},
    )


def _runs(rows: list[_Row], where: str) -> list[_Row]:
    """Count the segments of a file that names each system once for each segment."""
    seen: dict[str, int] = {}
    numbered: list[_Row] = []
    for row in rows:
        at = seen.get(row.system, 0)
        seen[row.system] = at + 1
        numbered.append(replace(row, segment=at))
    if len(set(seen.values())) > 1:
        raise DataError(
            f"systems differ in their number of lines: {seen}",
            where=where,
            fix="Give each system one line, or one line for each segment.",
        )
    return numbered


def _check_once(rows: Iterable[_Row], where: str) -> None:
    lines: dict[tuple[str, str, int | None], int] = {}
    for row in rows:
        key = (row.metric, row.system, row.segment)
        if key in lines:
            raise DataError(
                f"a second score of {row.system!r} by {row.metric!r}; line {lines[key]} has one",
                where=f"{where}:{row.line}",
                fix="Keep one of them.",
            )
        lines[key] = row.line


def _column(metric: str, rows: list[_Row], segments: int) -> MetricScores:
    level = "mean of segments" if segments else "as given"
    signature = Signature.of(metric, {"scores": "foreign", "system-level": level})
    by_system: dict[str, list[_Row]] = {}
    for row in rows:
        by_system.setdefault(row.system, []).append(row)
    if not segments:
        scores = {system: _given(found[0], signature) for system, found in by_system.items()}
        return MetricScores(metric, signature, True, scores)
    sentences = {system: _segments(found, segments) for system, found in by_system.items()}
    scores = {system: _mean(found, signature) for system, found in sentences.items()}
    return MetricScores(metric, signature, True, scores, sentences)


def _given(row: _Row, signature: Signature) -> Score:
    reason = "the file has no score" if math.isnan(row.value) else None
    return Score(row.value, signature, 0, row.parts, reason)


def _segments(rows: list[_Row], segments: int) -> SegmentScores:
    at = np.array([row.segment for row in rows], dtype=np.int64)
    values = np.full(segments, np.nan)
    values[at] = [row.value for row in rows]
    parts = {name: np.full(segments, np.nan) for name in rows[0].parts}
    for name, column in parts.items():
        column[at] = [row.parts[name] for row in rows]
    reason = "the file has no score" if np.isnan(values).any() else None
    return SegmentScores(values, np.full(segments, -1, dtype=np.int64), parts, reason)


def _mean(scores: SegmentScores, signature: Signature) -> Score:
    missing = int(np.isnan(scores.values).sum())
    reason = f"{missing} of {len(scores)} segments have no score" if missing else None
    return Score(float(np.mean(scores.values)), signature, len(scores), reason=reason)


# --- what a file holds ---------------------------------------------------------------------


def _holds_judgments(text: str) -> bool:
    """Whether a text is a file of judgments; of JSON, whether no line or all is a ranking."""
    start = text.lstrip()
    if start[:1] == "<" or is_wmt(text):
        return True
    return start[:1] == "{" and f'"{RANKING}"' not in start[:2000] and '"judge"' in start[:2000]
