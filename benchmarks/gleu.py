"""GLEU against a naive twin on a slice, and the CPU seconds of all 13 CoNLL-14 outputs.

Usage: python benchmarks/gleu.py [FOLDER with data/]      (default: ../shared)
"""

from __future__ import annotations

import math
import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from ngram_corpus import distinct, load
from rows import Goal, Row, show
from stopwatch import SHARED, cpu

from grammeter.core import Segment
from grammeter.metrics import Gleu

LINES = 100


def grams(tokens: list[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[at : at + n]) for at in range(len(tokens) - n + 1))


def counts(source: str, hypothesis: str, reference: str) -> list[int]:
    s, h, r = source.split(), hypothesis.split(), reference.split()
    found = [len(h), len(r)]
    for n in range(1, 5):
        in_s, in_h, in_r = grams(s, n), grams(h, n), grams(r, n)
        penalty = sum(count for gram, count in (in_h & in_s).items() if gram not in in_r)
        found += [max((in_h & in_r).total() - penalty, 0), max(len(h) + 1 - n, 0)]
    return found


def value(sums: list[int]) -> float:
    if 0 in sums:
        return 0.0
    c, r, *rest = sums
    logs = sum(math.log(num / den) for num, den in zip(rest[::2], rest[1::2], strict=True))
    return math.exp(min(0, 1 - r / c) + logs / 4)


def naive(segments: list[Segment]) -> tuple[float, list[float]]:
    """Corpus score by 500 draws and the sentence scores."""
    rows = [[counts(s.source, s.hypothesis, text) for text in s.texts] for s in segments]
    drawn: list[float] = []
    for j in range(500):
        stream = random.Random(101 * j)
        picked = [slots[int(stream.random() * len(slots))] for slots in rows]
        drawn.append(value([sum(column) for column in zip(*picked, strict=True)]))
    alone = [
        sum(value([count or 1 for count in ten]) for ten in slots) / len(slots) for slots in rows
    ]
    return sum(drawn) / len(drawn), alone


def ours(segments: list[Segment], rows: dict[str, list[int]]) -> dict[str, float]:
    m = Gleu()
    statistics = m.statistics(segments)
    m.sentences(statistics)
    return {name: m.score(statistics.take(chosen)).value for name, chosen in rows.items()}


def main() -> int:
    return show(rows(Path(sys.argv[1]) if len(sys.argv) > 1 else SHARED))


def rows(shared: Path) -> Iterator[Row]:
    segments, of_system = load(shared / "data" / "conll14_test")
    slice_of = {name: chosen[:LINES] for name, chosen in of_system.items()}
    slow, expected = cpu(
        lambda: {name: naive([segments[at] for at in c])[0] for name, c in slice_of.items()}
    )
    fast, found = cpu(lambda: ours(*distinct(segments, slice_of)), best_of=5)
    assert all(abs(found[name] - value) < 1e-12 for name, value in expected.items())
    yield Row(f"GLEU, 500 draws, 13 outputs, {LINES} lines", fast, peer="naive twin", theirs=slow)
    whole, _ = cpu(lambda: ours(segments, of_system), best_of=3)
    yield Row("GLEU, 500 draws, 13 outputs of CoNLL-14, with all sentence scores", whole,
              goals=(Goal(0.9),))  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
