"""The 13 official CoNLL-14 outputs as segments, for gleu.py and green.py."""

from __future__ import annotations

from pathlib import Path

from grammeter.core import Segment


def read(path: Path) -> list[str]:
    return path.read_text("utf-8").split("\n")[:-1]


def load(conll14: Path) -> tuple[list[Segment], dict[str, list[int]]]:
    """Distinct segments, and for each system which of them its lines are."""
    sources = read(conll14 / "source.txt")
    references = list(zip(read(conll14 / "ref0.txt"), read(conll14 / "ref1.txt"), strict=True))
    number: dict[tuple[int, str], int] = {}
    rows = {
        path.name: [number.setdefault(pair, len(number)) for pair in enumerate(read(path))]
        for path in sorted((conll14 / "official_systems").iterdir())
    }
    return [Segment(sources[at], text, references[at]) for at, text in number], rows


def distinct(
    segments: list[Segment], rows: dict[str, list[int]]
) -> tuple[list[Segment], dict[str, list[int]]]:
    """Only the segments that these rows need."""
    number: dict[int, int] = {}
    fewer = {
        name: [number.setdefault(at, len(number)) for at in chosen] for name, chosen in rows.items()
    }
    return [segments[at] for at in number], fewer
