"""What the tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# Shared machines are slow now and then; a run that fails in CI must fail again.
settings.register_profile("house", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "house")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of goldens and corpora; tests that need it are skipped where it is absent.

    With ``GRAMMETER_SHARED_REQUIRED`` set, as in CI, its absence is a failure.
    """
    folder = Path(os.environ.get("GRAMMETER_SHARED", Path(__file__).parents[2] / "shared"))
    if not (folder / "golden").is_dir():
        reason = f"no goldens at {folder}; set GRAMMETER_SHARED"
        if os.environ.get("GRAMMETER_SHARED_REQUIRED"):
            pytest.fail(reason)
        pytest.skip(reason)
    return folder
