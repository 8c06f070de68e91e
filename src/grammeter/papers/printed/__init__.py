"""The printed figures, one JSON file a paper: data, read by :func:`read_tables`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from grammeter.papers.cells import Printed, PrintedTable


@cache
def read_tables(paper: str) -> Mapping[str, PrintedTable]:
    """Return the tables of a paper by name, in the order of the paper.

    A file holds for each table ``title``, ``page``, ``origin``, ``columns``, ``rows`` (a list of
    values by row, ``null`` where nothing is printed), ``digits`` (a number, or one by column),
    ``slips`` (by ``row|column``, ``row|*`` or ``*|column``: known reason for another figure) and
    ``transcribed``, false if its figures were not available.
    """
    text = files("grammeter.papers.printed").joinpath(f"{paper}.json").read_text("utf-8")
    tables: Mapping[str, Any] = json.loads(text)["tables"]
    return {name: _table(paper, name, shape) for name, shape in tables.items()}


def _table(paper: str, name: str, shape: Mapping[str, Any]) -> PrintedTable:
    columns: list[str] = shape["columns"]
    digits: int | Mapping[str, int] = shape.get("digits", 3)
    slips: Mapping[str, str] = shape.get("slips", {})
    cells: dict[tuple[str, str], Printed] = {}
    for row, values in shape["rows"].items():
        for column, value in zip(columns, values, strict=True):
            places = digits if isinstance(digits, int) else digits.get(column, 3)
            keys = (f"{row}|{column}", f"{row}|*", f"*|{column}")
            slip = next((slips[key] for key in keys if key in slips), "")
            cells[row, column] = Printed(value, places, slip)
    return PrintedTable(
        paper=paper,
        name=name,
        **{key: shape[key] for key in ("title", "page", "origin")},
        transcribed=shape.get("transcribed", True),
        cells=cells,
    )
