"""The printed figures, one JSON file a paper: data, read by :func:`read_tables`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from grammeter.papers.cells import Printed, PrintedTable, Value


@cache
def read_tables(paper: str) -> Mapping[str, PrintedTable]:
    """Return the tables of a paper by name, in the order of the paper.

    A file holds for each table ``title``, ``page``, ``origin``, ``columns``, ``rows`` (a list of
    values by row, ``null`` where nothing is printed), ``digits`` (a number, or one by column),
    ``slips`` (by ``row|column``, ``row|*`` or ``*|column``: why it comes out otherwise) and
    ``transcribed``, false where its figures were not at hand.
    """
    text = files("grammeter.papers.printed").joinpath(f"{paper}.json").read_text("utf-8")
    tables: Mapping[str, Any] = json.loads(text)["tables"]
    return {name: _table(paper, name, shape) for name, shape in tables.items()}


def _table(paper: str, name: str, shape: Mapping[str, Any]) -> PrintedTable:
    columns: list[str] = shape["columns"]
    digits: int | Mapping[str, int] = shape.get("digits", 3)
    cells: dict[tuple[str, str], Printed] = {}
    for row, values in shape["rows"].items():
        for column, value in zip(columns, values, strict=True):
            places = digits if isinstance(digits, int) else digits.get(column, 3)
            cells[row, column] = _printed(value, places, shape.get("slips", {}), row, column)
    return PrintedTable(
        paper=paper,
        name=name,
        title=shape["title"],
        page=shape["page"],
        origin=shape["origin"],
        transcribed=shape.get("transcribed", True),
        cells=cells,
    )


def _printed(
    value: Value | None, digits: int, slips: Mapping[str, str], row: str, column: str
) -> Printed:
    keys = (f"{row}|{column}", f"{row}|*", f"*|{column}")
    return Printed(value, digits, next((slips[key] for key in keys if key in slips), ""))
