"""What the tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of goldens and corpora; tests that need it are skipped where it is absent."""
    folder = Path(os.environ.get("GRAMMETER_SHARED", Path(__file__).parents[2] / "shared"))
    if not (folder / "golden").is_dir():
        pytest.skip(f"no goldens at {folder}; set GRAMMETER_SHARED")
    return folder
