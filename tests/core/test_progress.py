"""Progress: reported where somebody listens, free where nobody does."""

from __future__ import annotations

import pytest

from grammeter.core.progress import reporting, track

Call = tuple[str, int, int]


def listen() -> tuple[list[Call], object]:
    calls: list[Call] = []

    def reporter(label: str, done: int, total: int) -> None:
        calls.append((label, done, total))

    return calls, reporting(reporter)


def test_items_pass_and_are_counted() -> None:
    calls, listening = listen()
    with listening:
        assert list(track("ab", "m2")) == ["a", "b"]
    assert calls == [("m2", 0, 2), ("m2", 1, 2), ("m2", 2, 2)]


@pytest.mark.parametrize(("total", "shown"), [(5, 5), (None, 0)])
def test_totals_of_what_has_no_length(total: int | None, shown: int) -> None:
    calls, listening = listen()
    with listening:
        list(track(iter("a"), "x", total))
    assert calls == [("x", 0, shown), ("x", 1, shown)]


def test_nobody_listens() -> None:
    assert list(track("ab", "m2")) == ["a", "b"]


def test_the_listener_is_gone_afterwards_even_after_an_error() -> None:
    calls, listening = listen()
    with pytest.raises(RuntimeError), listening:
        raise RuntimeError
    list(track("ab", "m2"))
    assert calls == []


def test_listeners_nest() -> None:
    outer, listening_outer = listen()
    inner, listening_inner = listen()
    with listening_outer:
        with listening_inner:
            list(track("a", "in"))
        list(track("a", "out"))
    assert {call[0] for call in inner} == {"in"}
    assert {call[0] for call in outer} == {"out"}
