"""docs/cli.md shows the help that the program prints."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_page_is_fresh():
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "docs-cli", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
