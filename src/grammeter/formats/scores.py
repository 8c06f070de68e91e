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

import re
from pathlib import Path

from grammeter.core import RANKING_KIND as RANKING
from grammeter.core import (
    DataError,
    Ranked,
    ScoreTable,
    checked,
)
from grammeter.formats.judgments import FirstSegment, Judgments, parse_judgments
from grammeter.formats.tables import parse_object, write_object
from grammeter.formats.score_lines import SCORES_FIX, parse_human_scores, parse_score_table
from grammeter.formats.text import read_text
from grammeter.formats.wmt import is_wmt

_JUDGMENTS = re.compile(r'\s*(\{"judge"|(<\?xml[^>]*>\s*)?<appraise-results)')


@checked
def read_scores(path: str | Path) -> ScoreTable:
    """Read a score table that :func:`write_scores` or ``grammeter score -o`` wrote.

    Tab-separated scores of other programs are read, too: see the module.

    Raises
    ------
    DataError
        If the file is absent or holds something else.
    """
    text, where = read_text(path), str(path)
    if "\t" in text.split("\n", 1)[0]:
        return parse_score_file(text, where)
    return ScoreTable.from_dict(parse_object(text, where), where=where)


@checked
def write_scores(table: ScoreTable, path: str | Path) -> None:
    """Write a score table with all that ``compare`` and ``explain`` need."""
    write_object(table.to_full_dict(), path)


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
        raise DataError("these are judgments, no scores of metrics", where=where, fix=SCORES_FIX)
    if text.lstrip()[:1] == "{":
        return ScoreTable.from_dict(parse_object(text, where), where=where)
    return parse_score_table(text, where)


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
            return Ranked.from_dict(data, where=where)
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
    human = read_human(path)
    if isinstance(human, Judgments):
        raise DataError(
            "these are judgments, no scores of systems",
            where=str(path),
            fix="Rank them first: grammeter rank FILE -o ranking.json",
        )
    return system_scores(human) if isinstance(human, Ranked) else human


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
        return Ranked.from_dict(parse_object(text, where), where=where)
    return parse_human_scores(text, where)


def system_scores(ranked: Ranked) -> dict[str, float]:
    """Return a ranking's scores by system, best first; NaN where it has none."""
    return {name: row.score for name, row in ranked.items()}


def _holds_judgments(text: str) -> bool:
    """Whether a text is a file of judgments; of JSON, whether no line or all is a ranking."""
    start = text.lstrip()
    if start[:1] == "<" or is_wmt(text):
        return True
    return start[:1] == "{" and f'"{RANKING}"' not in start[:2000] and '"judge"' in start[:2000]
