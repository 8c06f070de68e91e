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

Below a header with ``metric``, a column ``higher_is_better`` says ``true`` or ``false``. A value
that says ``None`` or ``NaN`` is missing; anything else that is no number is a fault.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from grammeter import core
from grammeter.core import RANKING_KIND as RANKING
from grammeter.formats import judged, judgments, rating_files, ratings
from grammeter.formats.tables import (
    number,
    parse_line,
    parse_object,
    placed,
    whole_number,
    write_object,
)
from grammeter.formats.text import bare_name, read_text, split_lines

_MISSING = ("none", "nan", "null")
_DIRECTION = "higher_is_better"
_ERRORS = {"wer", "ter", "hter", "cer", "nld"}  # rates of errors, whose direction a file should say
_SCORES_FIX = (
    "Give the JSON of 'grammeter score -o FILE', or tab-separated lines under the header"
    " 'metric system value', 'metric system segment value' or 'system METRIC METRIC ...'."
)
_HUMAN_FIX = "Give what 'grammeter rank -o FILE' wrote, TSV headed 'system value', or judgments."


@core.checked
def read_scores(path: str | Path) -> core.ScoreTable:
    """Read the scores of metrics, ours or foreign; see the module for the formats.

    A foreign system-level file fills ``MetricScores.scores``; a segment-level file
    ``MetricScores.segments`` too, NaN where a segment has no score, and each system's score is
    the mean of its segments. ``ScoreTable.segments`` is 0 where only systems were scored.
    ``path`` may be gzip; ``-`` is standard input. Raises :class:`DataError` with file and line.
    """
    return parse_score_file(read_text(path), str(path))


read_score_file = read_scores  # its name in version 0.1.0


@core.checked
def write_scores(table: core.ScoreTable, path: str | Path) -> None:
    """Write a score table with all that ``compare`` and ``explain`` need."""
    write_object(table.to_full_dict(), path)


def parse_score_file(text: str, where: str) -> core.ScoreTable:
    """Read scores from a text; ``where`` names it in messages and names nameless metrics."""
    if text.lstrip()[:1] == "{" or where.endswith(".json"):
        return core.ScoreTable.from_dict(parse_object(text, where), where=where)
    return _table(_score_rows(text, where, _SCORES_FIX), where)


def read_any_scores(path: str | Path) -> core.ScoreTable | core.Ranked | judged.Judgments:
    """Read metric scores, a ranking or judgments; :class:`DataError` for people's scores."""
    text, where = read_text(path), str(path)
    if text.split("\n", 1)[0].split() == _SYSTEMS:
        fault = "these are human scores of systems, not those of metrics"
        fix = "Give them once, after the scores, and not together with --benchmark."
        raise core.DataError(fault, where=where, fix=fix)
    if judgments.kind_of(text):
        return judgments.parse_judgments(text, where)
    if text.lstrip()[:1] == "{" and (data := parse_object(text, where)).get("kind") == RANKING:
        return core.Ranked.from_dict(data, where=where)
    return parse_score_file(text, where)


def is_judged(path: str | Path) -> bool:
    """Tell whether a file holds judgments, of any kind."""
    return judgments.kind_of(read_text(path)) is not None


def is_rated(path: str | Path, layout: rating_files.Layout | None = None) -> bool:
    """Tell whether a file holds ratings of outputs."""
    return rating_files.is_ratings(read_text(path), layout)


def read_human(
    path: str | Path, *, first_segment: judged.FirstSegment | None = None, **of_ratings: Any
) -> core.Ranked | judged.Judgments | ratings.Ratings | dict[str, float]:
    """Read what people said of systems: a ranking, judgments, ratings, or bare scores.

    The file is told by its content and read once, so ``-`` works. ``first_segment`` is for
    judgments, other options for ratings, see :func:`grammeter.formats.judgments.read_judgments`.
    """
    text, where = read_text(path), str(path)
    kind = judgments.kind_of(text)
    if of_ratings.get("layout") == "systems" or kind == "ratings":
        return judgments.rated_texts([(where, text, ())], **of_ratings)
    core.check_home(False, "ratings", **{k: v is not None for k, v in of_ratings.items()})
    if kind:
        return judgments.parse_judgments(text, where, first_segment=first_segment)
    if text.lstrip()[:1] == "{" or where.endswith(".json"):
        return core.Ranked.from_dict(parse_object(text, where), where=where)
    rows = _score_rows(text, where, _HUMAN_FIX)
    _check_once(rows, where)
    first = rows[0].metric
    for row in rows:
        if row.metric != first or row.segment is not None or math.isnan(row.value):
            fault = f"no single score of {row.system!r} by people"
            raise core.DataError(fault, where=f"{where}:{row.line}", fix=_HUMAN_FIX)
    return {row.system: row.value for row in rows}


# --- lines ----------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class _Row:
    """One score; ``segment`` is ``None`` for a system-level score."""

    line: int
    metric: str
    system: str
    segment: int | None
    value: float
    parts: dict[str, float]
    higher: bool | None = None


_HEADLESS = {  # the columns of a file without a header, by their number
    2: ("system", "value"),
    4: ("system", "value", "precision", "recall"),
    5: ("metric", "", "", "system", "value"),
    6: ("metric", "", "", "system", "segment", "value"),
}
_DIRECTIONS = {"true": True, "false": False, "": None}
_SYSTEMS = ["system", "value"]
_BESIDE = {"metric", "system", "segment", "value", _DIRECTION, ""}  # all others are parts


def _score_rows(text: str, where: str, fix: str) -> list[_Row]:
    if not text.strip():
        raise core.DataError("the file is empty", where=where, fix="It needs one score at least.")
    mark = "\t" if "\t" in text else None
    lines = [[*map(core.unshielded, line.split(mark))] for line in split_lines(text.rstrip())]
    header, skip = lines[0], 1
    wide = header[1:] if header[0] == "system" and "metric" not in header else []
    if header == _SYSTEMS or {"metric", "system"} <= {*header}:
        wide = []
        known = "" not in header and len({*header}) == len(header) and "value" in header
    elif not (known := bool(wide)):
        header, skip = _HEADLESS.get(len(header), ()), 0
        with suppress(ValueError, core.DataError):
            parse_value(lines[0][header.index("value")])
            known = True
    if not known:
        fault = f"neither a known header nor a score: {' '.join(lines[0])[:60]}"
        raise core.DataError(fault, where=f"{where}:1", fix=fix)
    rows: list[_Row] = []
    nameless = {"metric": metric_name(where)}
    for line, cells in enumerate(lines[skip:], start=skip + 1):
        with placed(f"{where}:{line}"):
            if len(cells) != len(header):
                fix = "Separate columns by one tab, and give every line all of them."
                raise core.DataError(f"{len(cells)} columns where {len(header)} are due", fix=fix)
            row = nameless | dict(zip(header, cells, strict=True))
            columns = [{**row, "metric": name, "value": row[name]} for name in wide] or [row]
            rows += [_row(line, of, {*header} if wide else _BESIDE, skip) for of in columns]
    if not rows:
        raise core.DataError("no score below the header", where=where, fix="It needs one at least.")
    if rows[0].segment is not None:
        first = 0 if any(row.segment == 0 for row in rows) else 1
        return [replace(row, segment=(row.segment or 0) - first) for row in rows]
    in_runs = skip == 0 and len(header) == 2
    return _runs(rows, where) if in_runs and len({r.system for r in rows}) < len(rows) else rows


def _row(line: int, row: Mapping[str, str], beside: set[str], least: int) -> _Row:
    """Read a score; columns ``beside`` it are no parts of it, segments count from ``least``."""
    if not row["metric"] or not row["system"]:
        raise core.DataError("a metric or system without a name", fix="Name it.")
    packed = parse_line(row["parts"], "Write a JSON object.") if "parts" in row else {}
    beside = beside | {"metric", "value"} | ({"reference", "parts"} if "parts" in row else set())
    parts = {name: cell for name, cell in row.items() if name not in beside} | packed
    segment = whole_number(row["segment"], "segment", least, 10**7) if "segment" in row else None
    value, *values = (parse_value(str(cell)) for cell in (row["value"], *parts.values()))
    if (word := row.get(_DIRECTION, "").lower()) not in _DIRECTIONS:
        raise core.DataError(f"{_DIRECTION} is {word!r}", fix="Write true or false.")
    named = dict(zip(parts, values, strict=True))
    return _Row(line, row["metric"], row["system"], segment, value, named, _DIRECTIONS[word])


def metric_name(path: str | Path) -> str:
    """Return the metric that a nameless file is about: ``BLEU.seg.score`` is ``BLEU``."""
    name = Path(bare_name(path)).name.removeprefix("scores.")
    for suffix in (".jsonl", ".json", ".xml", ".csv", ".txt", ".tsv", ".score", ".sys", ".seg"):
        name = name.removesuffix(suffix)
    return name or Path(path).name


def parse_value(cell: str) -> float:
    """Read one score; NaN where it says that there is none."""
    return number(cell, "the score", _MISSING)


def _table(rows: list[_Row], where: str) -> core.ScoreTable:
    _check_once(rows, where)
    segments = 0 if rows[0].segment is None else max(row.segment or 0 for row in rows) + 1
    systems = tuple(dict.fromkeys(row.system for row in rows))
    columns: dict[str, dict[str, list[_Row]]] = {}
    for row in rows:
        columns.setdefault(row.metric, {}).setdefault(row.system, []).append(row)
    scores = {name: _column(name, by, segments, where) for name, by in columns.items()}
    return core.ScoreTable(systems, segments, scores)


def _higher(metric: str, rows: Sequence[_Row], where: str) -> tuple[bool, tuple[str, ...]]:
    """Return whether higher is better, and a note where that is doubtful."""
    directions = {row.higher for row in rows}
    if len(directions) > 1:
        fault = f"{metric}: {_DIRECTION} is not the same in all its lines"
        raise core.DataError(fault, where=f"{where}:{rows[0].line}", fix="A metric has one.")
    if (higher := directions.pop()) is not None or metric.lower() not in _ERRORS:
        return higher is not False, ()
    note = f"{metric}: taken as higher is better, for the file does not say; if it is an error"
    return True, (f"{note} rate, add a column {_DIRECTION} that says false",)


def _runs(rows: list[_Row], where: str) -> list[_Row]:
    totals = Counter(row.system for row in rows)
    if len(set(totals.values())) > 1:
        fault = f"systems differ in their number of lines: {dict(totals)}"
        fix = "Give each system one line, or one line for each segment."
        raise core.DataError(fault, where=where, fix=fix)
    counts = {system: count() for system in totals}
    return [replace(row, segment=next(counts[row.system])) for row in rows]


def _check_once(rows: Iterable[_Row], where: str) -> None:
    lines: dict[tuple[str, str, int | None], int] = {}
    for row in rows:
        key = (row.metric, row.system, row.segment)
        if key in lines:
            fault = f"a second score of {row.system!r} by {row.metric!r}; line {lines[key]} has one"
            raise core.DataError(fault, where=f"{where}:{row.line}", fix="Keep one of them.")
        lines[key] = row.line


def _column(
    metric: str, by_system: Mapping[str, list[_Row]], segments: int, where: str
) -> core.MetricScores:
    higher, notes = _higher(metric, [row for rows in by_system.values() for row in rows], where)
    level = "mean of segments" if segments else "as given"
    signature = core.Signature.of(metric, {"scores": "foreign", "system-level": level})
    scores: dict[str, core.Score] = {}
    sentences: dict[str, core.SegmentScores] = {}
    for system, (row, *_) in by_system.items():
        if not segments:
            scores[system] = core.Score(row.value, signature, 0, row.parts, _reason(row.value))
            continue
        sentences[system] = of = _segments(by_system[system], segments)
        missing = int(np.isnan(of.values).sum())
        reason = f"{missing} of {segments} segments have no score" if missing else None
        mean = float(np.mean(of.values))
        scores[system] = core.Score(mean, signature, segments, reason=reason)
    return core.MetricScores(metric, signature, higher, scores, sentences, notes=notes)


def _segments(rows: list[_Row], segments: int) -> core.SegmentScores:
    at = np.array([row.segment for row in rows], dtype=np.int64)

    def column(values: Iterable[float]) -> core.FloatArray:
        array = np.full(segments, np.nan)
        array[at] = [*values]
        return array

    values = column(row.value for row in rows)
    names = dict.fromkeys(name for row in rows for name in row.parts)
    parts = {name: column(row.parts.get(name, math.nan) for row in rows) for name in names}
    unchosen = np.full(segments, -1, dtype=np.int64)
    return core.SegmentScores(values, unchosen, parts, _reason(float(values.sum())))


def _reason(value: float) -> str | None:
    return "the file has no score" if math.isnan(value) else None
