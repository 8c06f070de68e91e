"""Score tables as files: what ``grammeter score -o`` writes."""

from __future__ import annotations

from pathlib import Path

from grammeter.core import ScoreTable, checked
from grammeter.formats.foreign import parse_score_file
from grammeter.formats.objects import parse_object, write_object
from grammeter.formats.text import read_text


@checked
def read_scores(path: str | Path) -> ScoreTable:
    """Read a score table that :func:`write_scores` or ``grammeter score -o`` wrote.

    Tab-separated scores of other programs are read, too: see :mod:`grammeter.formats.foreign`.

    Raises
    ------
    DataError
        If the file is absent or holds something else.
    """
    text, where = read_text(path), str(path)
    if "\t" in text.split("\n", 1)[0]:
        return parse_score_file(text, where)
    return ScoreTable.from_json(parse_object(text, where), where=where)


@checked
def write_scores(table: ScoreTable, path: str | Path) -> None:
    """Write a score table with all that ``compare`` and ``explain`` need."""
    write_object(table.to_full_json(), path)
