"""`grammeter reproduce all`: every table of the papers that needs no model, in one run.

Usage: python benchmarks/reproduce.py [FOLDER with data/]      (default: ../shared)
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from rows import Goal, Row, show
from stopwatch import SHARED, grammeter


def rows(shared: Path) -> Iterator[Row]:
    cost = grammeter("reproduce", "all", "--format", "json", "-o", "/dev/null",
                     env={"GRAMMETER_DATA": str(shared / "data")})  # fmt: skip
    yield Row("`reproduce all`", cost.wall, "s wall", memory=cost.megabytes,
              goals=(Goal(180),))  # fmt: skip


if __name__ == "__main__":
    sys.exit(show(rows(Path(sys.argv[1]) if len(sys.argv) > 1 else SHARED)))
