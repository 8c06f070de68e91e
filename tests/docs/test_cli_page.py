"""What is made from the code is fresh: cli/flags.json, docs/cli.md, docs/house.svg."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("script", ["flags", "docs-cli", "docs-house"])
def test_page_is_fresh(script):
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / script, "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
