"""Score tables as files: what ``grammeter score -o`` writes."""

from __future__ import annotations

from pathlib import Path

from grammeter.core.door import checked
from grammeter.core.table import ScoreTable
from grammeter.corpus.objects import read_object, write_object


@checked
def read_scores(path: str | Path) -> ScoreTable:
    """Read a score table that :func:`write_scores` or ``grammeter score -o`` wrote.

    Raises
    ------
    DataError
        If the file is absent or holds something else.
    """
    return ScoreTable.from_json(read_object(path), where=str(path))


@checked
def write_scores(table: ScoreTable, path: str | Path) -> None:
    """Write a score table with all that ``compare`` and ``explain`` need."""
    write_object(table.to_full_json(), path)
