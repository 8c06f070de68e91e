"""What the tests share."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# A shell that starts the tests in the background has them ignore Ctrl-C, and whatever they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

os.environ.pop("COLUMNS", None)  # of a terminal, or of the processes of pytest-xdist

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


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say how many tests were skipped for want of the goldens, and how to get them."""
    reports = terminalreporter.stats.get("skipped", [])
    skipped = [report for report in reports if "no goldens at" in str(report.longrepr)]
    if skipped:
        terminalreporter.write_line(
            f"{len(skipped)} tests need the folder of goldens and corpora: put it beside the"
            " checkout as ../shared, or set GRAMMETER_SHARED (CONTRIBUTING.md)."
        )


@pytest.fixture
def fake_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the metrics of ``fake_metric`` be built in."""
    from fake_metric import METRICS
    from grammeter.metrics import registry

    for name, fake in METRICS.items():
        target = f"{type(fake).__module__}:{type(fake).__name__}"
        monkeypatch.setitem(registry.BUILT_IN, name, target)
