"""The contract of metrics: fields, spelling, explanations, means; and what all of them keep."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fake_metric import Share, counted
from grammeter.core import Edit, Segment, SegmentScores, Signature, UnknownNameError, UsageError
from grammeter.metrics.kinds import mean_of
from grammeter.metrics.registry import build, metric


@dataclass(frozen=True, kw_only=True)
class Many(Share):
    name: ClassVar[str] = "many"

    number: float = 1.0
    count: int = 4
    flag: bool = False
    word: Literal["a", "b"] = "a"
    version: Literal["1", "2"] = "1"
    either: Literal["best"] | int = "best"
    path: str | None = None
    weights: tuple[float, ...] = (0.5, 0.5)

    def check_fields(self) -> None:
        if self.count < 1:
            raise UsageError(f"count={self.count}", fix="It is 1 or greater.")


MANY = st.builds(
    Many,
    number=st.floats(allow_nan=False, allow_infinity=False) | st.integers(-99, 99),
    count=st.integers(1),
    flag=st.booleans(),
    word=st.sampled_from("ab"),
    version=st.sampled_from(["1", "2"]),
    either=st.just("best") | st.integers(),
    path=st.none() | st.text(),
    weights=st.lists(st.floats(0, 1)).map(tuple),
)


@given(MANY)
def test_spelling_is_the_value(own: Many) -> None:
    from grammeter.core.spelling import parse

    name, fields = parse(str(own))
    assert name == "many"
    assert build(Many, fields) == own
    assert Signature.parse(str(own.signature())) == own.signature()


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        ({"number": 3}, {"number": 3.0}),
        ({"version": 2}, {"version": "2"}),
        ({"path": 7}, {"path": "7"}),
        ({"either": 0}, {"either": 0}),
    ],
)
def test_values_are_fitted_to_their_fields(given_: dict, expected: dict) -> None:
    own = build(Many, given_)
    for name, value in expected.items():
        assert getattr(own, name) == value
        assert type(getattr(own, name)) is type(value)


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"count": 0}, "count=0"),
        ({"count": 1.5}, "many: count=1.5 is not possible"),
        ({"flag": "yes"}, "flag takes true or false"),
        ({"word": "c"}, "word takes a or b"),
        ({"version": 3}, 'version takes "1" or "2"'),
        ({"either": "worst"}, "either takes best or a whole number"),
        ({"path": True, "count": "x"}, "count=x"),
        ({"number": math.nan}, "number=nan is not possible"),
        ({"weights": 0.5}, "weights=0.5 is not possible"),
    ],
)
def test_values_that_do_not_fit(given_: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        build(Many, given_)


def test_unknown_fields_suggest() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown option of many 'cuont'\n.*'count'"):
        build(Many, {"cuont": 1})


def test_signature_holds_fields_settings_and_context() -> None:
    text = str(Many(flag=True, weights=(0.25, 0.75)).signature({"refs": 2}))
    assert text.startswith("many|unit:word|number:1.0|count:4|flag:true|word:a|version:1|")
    assert "|weights:(0.25, 0.75)|refs:2|version:" in text


def test_explain_by_default_gives_the_sentence_score(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Share, "statistics", lambda self, segments: counted([1], [4]))
    explanation = Share().explain(Segment("a", "b"))
    assert (explanation.value, explanation.chosen, explanation.reason) == (0.25, None, None)
    assert Share().evaluate([Segment("a", "b")]).value == 0.25


def test_an_explanation_without_a_score_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = SegmentScores(np.array([math.nan]), np.array([2]), {"p": np.array([1])}, "no text")
    monkeypatch.setattr(Share, "statistics", lambda self, segments: None)
    monkeypatch.setattr(Share, "sentences", lambda self, statistics: scores)
    explanation = Share().explain(Segment("a", "b"))
    assert (explanation.chosen, explanation.reason, explanation.parts) == (2, "no text", {"p": 1})


@pytest.mark.parametrize(
    ("values", "mean", "reason"),
    [
        ([0.25, 0.75], 0.5, None),
        ([0.5, math.nan], None, "1 of 2 segments have no score: why"),
        ([], None, "no segments"),
    ],
)
def test_mean_of(values: list[float], mean: float | None, reason: str | None) -> None:
    score = mean_of(np.array(values), Signature.of("x", {}), "why")
    assert score.reason == reason
    assert math.isnan(score.value) if mean is None else score.value == mean
    assert score.n == len(values)


# --- what every metric keeps -----------------------------------------------------------------

WORDS = st.lists(st.sampled_from(["a", "b", "c."]), max_size=5).map(" ".join)
EVERY = ["m2", "sentm2", "gleu", "gleu(references=expected)", "gleu(references=best)", "sent-gleu",
         "sent-gleu(references=best, smooth=one)", "imeasure", "green", "bleu", "chrf",
         "meteor_es", "wer", "ter", "nld"]  # fmt: skip


@st.composite
def segments(draw: st.DrawFn) -> Segment:
    source = draw(WORDS)
    gold = {0: (Edit(0, len(source.split()), draw(WORDS)),), 2: ()}
    return Segment(source, draw(WORDS), (draw(WORDS), draw(WORDS)), gold)


@pytest.mark.parametrize("spelled", EVERY)
@settings(max_examples=25, deadline=None)
@given(batch=st.lists(segments(), min_size=1, max_size=4))
def test_rows_scores_and_explanations_agree(spelled: str, batch: list[Segment]) -> None:
    own = metric(spelled)
    rows = own.statistics(batch)
    score, sentences = own.score(rows), own.sentences(rows)
    assert len(rows) == len(sentences) == score.n == len(batch)
    assert own.statistics([batch[0]]).take([0, 0]).rows.shape[0] == 2
    assert dataclasses.replace(own) == own
    alone = own.statistics(batch[:1])
    explained = own.explain(batch[0])
    assert explained.value == pytest.approx(own.sentences(alone).values[0], nan_ok=True)
    again = own.score(own.statistics(batch * 2).take(range(len(batch))))
    assert again.value == pytest.approx(score.value, nan_ok=True)


@pytest.mark.parametrize("spelled", EVERY)
@settings(max_examples=25, deadline=None)
@given(batch=st.lists(segments(), min_size=1, max_size=4))
def test_summands_add_up(spelled: str, batch: list[Segment]) -> None:
    own = metric(spelled)
    rows = own.statistics(batch)
    summands = own.summands(rows)
    assert summands.shape[0] == len(batch)
    totals = np.stack([summands.sum(0), summands[:1].sum(0)])
    values = own.value_of(totals)
    assert values.shape == (2,)
    if own.resampling in ("annotators fixed", "mean of sentence scores"):
        assert values[0] == pytest.approx(own.score(rows).value, nan_ok=True)
