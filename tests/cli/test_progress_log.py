"""Where standard error is a file, long work says a line a minute, and nothing is drawn."""

from __future__ import annotations

import argparse

import pytest

from grammeter.cli import output


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that stands at its only element."""
    now = [0.0]
    monkeypatch.setattr("grammeter.cli.output.time.monotonic", lambda: now[0])
    return now


def test_a_line_a_minute(capsys: pytest.CaptureFixture[str], clock: list[float]) -> None:
    with output.progress(argparse.Namespace(quiet=False)) as shown:
        for second in range(0, 151, 10):
            clock[0] = second
            shown("rows", 10 * second, 100_000)
    assert capsys.readouterr().err.splitlines() == [
        "rows: 600 of 100000 (10/s, 2.8 h left)",
        "rows: 1200 of 100000 (10/s, 2.7 h left)",
    ]


def test_another_label_begins_its_own_rate(
    capsys: pytest.CaptureFixture[str], clock: list[float]
) -> None:
    with output.progress(argparse.Namespace(quiet=False)) as shown:
        shown("one", 0, 10)
        clock[0] = 100.0
        shown("two", 0, 20)  # just begun: no rate yet
        clock[0] = 110.0
        shown("two", 10, 20)
    assert capsys.readouterr().err == "two: 10 of 20 (1/s, 10 s left)\n"


def test_quiet_says_nothing(capsys: pytest.CaptureFixture[str], clock: list[float]) -> None:
    from grammeter.core import track

    with output.progress(argparse.Namespace(quiet=True)):
        for step in track(range(3), "rows"):
            clock[0] = 100.0 * step
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("seconds", "told"), [(0.4, "0 s"), (599, "599 s"), (600, "10 min"), (9000, "2.5 h")]
)
def test_spans(seconds: float, told: str) -> None:
    assert output._span(seconds) == told
