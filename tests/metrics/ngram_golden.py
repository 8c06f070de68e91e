"""CoNLL-14 outputs and golden tables, read once for the tests of the n-gram metrics."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from grammeter.core import Segment


def read_lines(path: Path) -> list[str]:
    return path.read_text("utf-8").split("\n")[:-1]


@cache
def cells(path: Path) -> list[list[str]]:
    """Read the cells of a TSV, row by row."""
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8")
    return [line.split("\t") for line in text.split("\n")[:-1]]


def table(path: Path) -> list[dict[str, str]]:
    """Read a TSV with a header as one dictionary per row."""
    header, *rows = cells(path)
    return [dict(zip(header, row, strict=True)) for row in rows]


@dataclass(frozen=True)
class Outputs:
    """Distinct segments, and which of them make up each system's output, in order."""

    segments: list[Segment]
    rows: dict[str, list[int]]

    def of(self, system: str) -> list[Segment]:
        return [self.segments[row] for row in self.rows[system]]


@cache
def conll14(shared: Path) -> Outputs:
    """The 13 official outputs with the texts ref0 and ref1."""
    folder = shared / "data" / "conll14_test"
    outputs = {path.name: read_lines(path) for path in (folder / "official_systems").iterdir()}
    references = [read_lines(folder / f"ref{number}.txt") for number in (0, 1)]
    return distinct(read_lines(folder / "source.txt"), references, outputs)


def distinct(
    sources: list[str], references: list[list[str]], outputs: dict[str, list[str]]
) -> Outputs:
    """Make one segment per distinct pair of line and hypothesis, as scoring does."""
    by_line = list(zip(*references, strict=True))
    number: dict[tuple[int, str], int] = {}
    rows = {
        system: [number.setdefault((at, text), len(number)) for at, text in enumerate(lines)]
        for system, lines in outputs.items()
    }
    segments = [Segment(sources[at], text, by_line[at]) for at, text in number]
    return Outputs(segments, rows)
