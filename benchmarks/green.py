"""GREEN against a naive twin on a slice, and the CPU seconds of all 13 CoNLL-14 outputs.

Usage: python benchmarks/green.py [FOLDER with data/]      (default: ../shared)
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from ngram_corpus import distinct, load
from rows import Goal, Row, show
from stopwatch import SHARED, cpu

from grammeter.core import Segment
from grammeter.metrics import Green

LINES = 100
Count = Counter[tuple[str, ...]]


def grams(tokens: list[str], n: int) -> Count:
    return Counter(tuple(tokens[at : at + n]) for at in range(len(tokens) - n + 1))


def counts(s: Count, c: Count, r: Count) -> tuple[int, int, int]:
    tp = fp = fn = 0
    for gram in {*s, *c, *r}:
        in_s, in_c, in_r = s[gram], c[gram], r[gram]
        tp += (
            min(in_s, in_r, in_c) + max(0, in_s - max(in_r, in_c)) + max(0, min(in_r, in_c) - in_s)
        )
        fp += max(0, min(in_s, in_r) - in_c) + max(0, in_c - max(in_s, in_r))
        fn += max(0, min(in_s, in_c) - in_r) + max(0, in_r - max(in_s, in_c))
    return tp, fp, fn


def f_by_order(rows: list[tuple[int, int, int]]) -> list[float]:
    """F2 of orders 1, 1 to 2, 1 to 3, 1 to 4."""
    precision = recall = 1.0
    found: list[float] = []
    for k, (tp, fp, fn) in enumerate(rows, 1):
        precision *= tp / (tp + fp) if tp + fp else 1
        recall *= tp / (tp + fn) if tp + fn else 0
        p, r = precision ** (1 / k), recall ** (1 / k)
        found.append(1 / (0.2 / p + 0.8 / r) if p and r else 0.0)
    return found


def naive(segments: list[Segment]) -> tuple[float, list[float]]:
    """Corpus score and the sentence scores."""
    totals, alone = [[0, 0, 0] for _ in range(4)], []
    for segment in segments:
        s, c = segment.source.split(), segment.hypothesis.split()
        each = [
            [counts(grams(s, n), grams(c, n), grams(text.split(), n)) for n in range(1, 5)]
            for text in segment.texts
        ]
        best = max(each, key=lambda rows: f_by_order(rows)[::-1])
        alone.append(f_by_order(best)[-1])
        for total, row in zip(totals, best, strict=True):
            total[:] = [a + b for a, b in zip(total, row, strict=True)]
    return f_by_order([(tp, fp, fn) for tp, fp, fn in totals])[-1], alone


def ours(segments: list[Segment], rows: dict[str, list[int]]) -> dict[str, float]:
    m = Green()
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
    yield Row(f"GREEN, 13 outputs, {LINES} lines", fast, peer="naive twin", theirs=slow)
    whole, _ = cpu(lambda: ours(segments, of_system), best_of=3)
    yield Row("GREEN, 13 outputs of CoNLL-14, with all sentence scores", whole,
              goals=(Goal(0.6),))  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
