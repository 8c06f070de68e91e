"""A judge at work: scores find back to their targets, whatever the order they were shown in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fake_judge
from grammeter.llm.client import Opinion, Panel, Showing
from grammeter.llm.prompt import Protocol, Question
from grammeter.llm.reply import Outcome

PAPER = Protocol(name="llm-s")


def group(*outputs):
    return Question("", "s", "", outputs)


@given(st.lists(st.text("abc", min_size=1, max_size=3), min_size=2, max_size=5, unique=True),
       st.integers(1, 5), st.integers(1, 3))  # fmt: skip
def test_scores_come_back_in_the_order_of_the_group(targets, orders, repeats):
    with pytest.MonkeyPatch.context() as patch:
        fake = fake_judge.install(patch)
        panel = Panel(model="m", protocol=PAPER, permutations=orders, repeats=repeats)
        (answer,) = panel.ask([group(*targets)])
        assert panel.estimate([group(*targets)]).calls == orders * repeats
    assert answer.scores == tuple(map(fake_judge.by_hash, targets))
    assert answer.spreads == [0]
    assert len(fake.calls) == len(set(fake.calls)) == orders * repeats
    assert fake.models == {"m"}
    assert {call.template for call in fake.calls} == {PAPER.template}


def test_a_preference_for_the_first_place_is_averaged_out(monkeypatch):
    fake = fake_judge.install(monkeypatch)
    monkeypatch.setattr(
        fake, "outcome", lambda call: Outcome(state="ok", scores=(5, *[1] * (call.targets - 1)))
    )
    monkeypatch.setattr("grammeter.llm.client.ask", fake.ask)
    (once,) = Panel(model="m", protocol=PAPER).ask([group("a", "b")])
    (both,) = Panel(model="m", protocol=PAPER, permutations=2).ask([group("a", "b")])
    assert once.scores == (5, 1)
    assert both.scores == (3, 3)
    assert both.spreads == [4]


def test_one_target_needs_no_call(monkeypatch):
    fake = fake_judge.install(monkeypatch)
    answers = Panel(model="m", protocol=PAPER).ask([group("a"), group("a", "b")])
    assert [v.scores is None for v in answers] == [True, False]
    assert answers[0].reason == "one output only"
    assert len(fake.calls) == 1


def test_half_an_answer_is_none(monkeypatch):
    """With an order missing the mean would prefer places again."""
    outcomes = Outcome(state="ok", scores=(1, 2)), Outcome(state="refused", reason="no")
    shown = zip(((0, 1), (1, 0)), outcomes, strict=True)
    answer = Opinion(tuple(Showing(0, order, outcome) for order, outcome in shown), (0, 1))
    assert answer.scores is None
    assert answer.spreads == []
    assert answer.reason == "refused: no"
