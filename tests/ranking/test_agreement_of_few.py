"""How sure agreement is: intervals, few judgments, judges who never meet, equal outputs apart."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import grammeter as gm
from grammeter.core import Ranking, UnknownNameError, UsageError
from grammeter.stats import krippendorff_alpha

SAMPLE = gm.sample_corpus() / "judgments.xml"


judge_correlations = partial(gm.agree, correlate=True)


def items(judges, sentences, *, agree=0.7, seed=1, systems="VWXYZ", start=1):
    """Rankings of the same outputs; each judge follows a common order as often as said."""
    draw = random.Random(seed)
    made = []
    for segment in range(start, start + sentences):
        common = draw.sample(range(1, len(systems) + 1), len(systems))
        for judge in judges:
            shuffled = draw.sample(common, len(common))
            ranks = common if draw.random() < agree else shuffled
            groups = tuple((name,) for name in systems)
            made.append(Ranking(judge=judge, segment=segment, groups=groups, ranks=tuple(ranks)))
    return made


def figures(agreement):
    data = agreement.to_dict()
    return data["inter"], data["intra"], data["alpha"]["inter"], data["alpha"]["intra"]


# --- intervals -------------------------------------------------------------------------------


def slow_interval(rankings, figure, seeds=2000):
    """Resample the sentences themselves, each drawn one a sentence of its own."""
    by_segment = {}
    for ranking in rankings:
        by_segment.setdefault(ranking.segment, []).append(ranking)
    draw, values = random.Random(5), []
    for _ in range(seeds):
        drawn = draw.choices(list(by_segment), k=len(by_segment))
        again = [
            replace(ranking, segment=place)
            for place, segment in enumerate(drawn, start=1)
            for ranking in by_segment[segment]
        ]
        values.append(figure(gm.agree(again, resamples=0)))
    return np.quantile(values, [0.025, 0.975])


@pytest.mark.parametrize("figure", ["inter", "alpha"])
def test_intervals_are_those_of_resampled_sentences(figure):
    rankings = items("ab", 25)

    def value(agreement):
        chosen = agreement.inter if figure == "inter" else agreement.alpha_inter
        return chosen.value

    data = gm.agree(rankings, resamples=2000).to_dict()
    shape = data["inter"] if figure == "inter" else data["alpha"]["inter"]
    low, high = slow_interval(rankings, value, seeds=200)
    assert (shape["low"], shape["high"]) == pytest.approx((low, high), abs=0.05)
    assert shape["low"] < value(gm.agree(rankings)) < shape["high"]


def test_settings_of_intervals():
    rankings = items("ab", 40)
    wide, narrow = (figures(gm.agree(rankings, confidence=level))[0] for level in (0.95, 0.5))
    assert wide["low"] < narrow["low"] < narrow["high"] < wide["high"]
    assert figures(gm.agree(rankings, seed=2))[0]["low"] != wide["low"]
    assert figures(gm.agree(rankings)) == figures(gm.agree(rankings))
    none = figures(gm.agree(rankings, resamples=0))[0]
    assert (none["low"], none["reason"]) == (None, "no resamples were asked for")
    with pytest.raises(UsageError, match="confidence"):
        gm.agree(rankings, confidence=1)


def test_few_sentences_have_no_interval_and_a_note():
    """Nine sentences of 12 pairs are 54 comparisons: a kappa, but no interval."""
    agreement = gm.agree(items("ab", 9, systems="VWXY"))
    inter, _, alpha, _ = figures(agreement)
    assert inter["kappa"] is not None
    for shape in (inter, alpha):
        assert (shape["low"], shape["high"]) == (None, None)
        assert shape["reason"] == "an interval takes 10 sentences, here are 9"
    assert any("9 sentences were judged by two judges" in note for note in agreement.notes)
    assert not any("few" in note for note in gm.agree(items("ab", 30)).notes)


def test_perfect_agreement_is_no_certainty():
    few = gm.agree(items("ab", 1, agree=1, systems="XYZ"))
    assert (few.alpha_inter.value, few.pairs["a", "b"].value, few.pairs["a", "b"].n) == (1, 1, 3)
    assert any("3 comparisons" in note and "perfect" in note for note in few.notes)
    for shape in figures(gm.agree(items("ab", 40, agree=1)))[::2]:
        assert (shape["low"], shape["high"]) == (None, None)
        assert "same value" in shape["reason"]


def test_labels_and_order_move_no_interval():
    """Names of systems decide kappa by the script, and a note says so; all else stays."""
    rankings = gm.read_judgments(SAMPLE).rankings
    segments = sorted({ranking.segment for ranking in rankings})
    number = dict(zip(segments, random.Random(2).sample(segments, len(segments)), strict=True))
    moved = [
        replace(ranking, segment=number[ranking.segment], judge="x" + ranking.judge)
        for ranking in random.Random(3).sample(rankings, len(rankings))
    ]
    ours, theirs = (gm.agree(some, resamples=100) for some in (rankings, moved))
    for first, second in zip(figures(ours), figures(theirs), strict=True):
        assert first == pytest.approx(second)
    renamed = [
        replace(ranking, groups=tuple(tuple(name[::-1] for name in g) for g in ranking.groups))
        for ranking in rankings
    ]
    free = [
        figures(gm.agree(some, kappa="orientation-free", resamples=100))
        for some in (rankings, renamed)
    ]
    for first, second in zip(*free, strict=True):
        assert first == pytest.approx(second)
    assert any("alphabetical order" in note for note in ours.notes)


# --- whose judgments -------------------------------------------------------------------------


def test_judges_are_chosen():
    rankings = items("abc", 20)
    bare = [ranking for ranking in rankings if ranking.judge != "c"]
    for chosen in ({"judge": ["a", "b"]}, {"without_judge": ["c"]}):
        agreement = gm.agree(rankings, **chosen)
        assert figures(agreement) == figures(gm.agree(bare))
        assert agreement.signature["judges"] == "a+b"
        assert judge_correlations(rankings, **chosen).pairs == judge_correlations(bare).pairs
    with pytest.raises(UnknownNameError, match="nobody"):
        gm.agree(rankings, judge=["nobody"])
    with pytest.raises(UnknownNameError, match="nobody"):
        judge_correlations(rankings, without_judge=["nobody"])


def test_judges_without_a_common_item_are_named():
    rankings = [*items("ab", 20), *items("c", 20, start=101)]
    agreement = gm.agree(rankings)
    note = next(note for note in agreement.notes if "never judged the same two" in note)
    assert note.startswith("2 of 3 pairs of judges")
    assert "a and c, b and c" in note
    others = [*items("a", 20), *items("b", 20, systems="PQRST")]
    assert any("never judged the same two" in note for note in gm.agree(others).notes)


def test_pooled_kappa_needs_no_fifty_comparisons():
    rankings = items("abc", 3)
    agreement = gm.agree(rankings)
    assert agreement.inter.reason
    pairs = [pair for (a, b), pair in agreement.pairs.items() if a != b]
    assert agreement.to_dict()["pooled"]["inter"]["n"] == sum(pair.n for pair in pairs) == 90
    observed = sum(pair.n * pair.observed for pair in pairs) / 90
    assert agreement.to_dict()["pooled"]["inter"]["observed"] == pytest.approx(observed)


def test_pooled_kappa_of_the_paper(shared):
    agreement = gm.agree(gm.read_judgments(shared / "data/human_gjg15/judgments.xml"))
    assert agreement.to_dict()["pooled"]["intra"]["kappa"] == pytest.approx(0.46755872, abs=1e-8)
    assert not agreement.notes
    low, high = (agreement.to_dict()["inter"][end] for end in ("low", "high"))
    assert low < 0.2927 < high


# --- several files -----------------------------------------------------------------------------


def test_that_files_are_pooled_is_said(tmp_path):
    paths = []
    for name, some in (("a", items("ab", 15)), ("b", items("cd", 15, seed=2, start=31))):
        paths.append(tmp_path / f"{name}.jsonl")
        gm.write_judgments(paths[-1], some)
    result = gm.agree(gm.read_judgments(paths)).to_dict()
    assert any("2 files are pooled" in note for note in result["notes"])
    assert not any("pooled" in note for note in gm.agree(gm.read_judgments(paths[0])).notes)


# --- equal outputs -----------------------------------------------------------------------------


def grouped(sentences=30):
    """Three outputs, one of them by four systems; two judges who often differ."""
    draw = random.Random(4)
    return [
        Ranking(judge=judge, segment=n, groups=(("A", "B", "C", "D"), ("E",), ("F",)),
                ranks=tuple(draw.choices((1, 2, 3), k=3)))
        for n in range(1, sentences + 1)
        for judge in "xy"
    ]  # fmt: skip


def expanded(ranking):
    shown = [
        (name, rank)
        for group, rank in zip(ranking.groups, ranking.ranks, strict=True)
        for name in group
    ]
    return replace(
        ranking,
        groups=tuple((name,) for name, _ in shown),
        ranks=tuple(rank for _, rank in shown),
    )


def test_equal_outputs_that_stand_apart_inflate_agreement_with_a_word():
    whole = grouped()
    apart = [expanded(ranking) for ranking in whole]
    texts = {name: [f"{'same' if name in 'ABCD' else name} {n}" for n in range(30)]
             for name in "ABCDEF"}  # fmt: skip
    right, inflated = (gm.agree(some, outputs=texts).to_dict() for some in (whole, apart))
    assert inflated["pooled"]["inter"]["kappa"] > right["pooled"]["inter"]["kappa"] + 0.1
    assert any("equal outputs stand apart" in note for note in inflated["notes"])
    assert not any("stand apart" in note for note in right["notes"])
    # without the texts nobody can know, but six outputs of six systems look like it
    unknown = gm.agree(apart).to_dict()
    assert any("--hyps" in note for note in unknown["notes"])


def test_a_ranking_tells_another_which_outputs_are_equal():
    people, model = grouped(), [replace(expanded(ranking), judge="m") for ranking in grouped()[::2]]
    result = gm.agree([*people, *model]).to_dict()
    assert result["pairs"]["m|x"]["n"] == 30  # E against F only
    assert any("equal outputs stand apart" in note for note in result["notes"])
    joined = gm.agree([*people, *(replace(ranking, judge="m") for ranking in people[::2])])
    assert any(f"(n {joined.alpha_inter.n})" in note for note in result["notes"])


def test_pieces_equal_the_whole():
    rng = np.random.default_rng(0)
    values = rng.integers(1, 4, (12, 3)).astype(float)
    values[rng.random(values.shape) < 0.2] = np.nan
    for level in ("nominal", "ordinal", "interval"):
        assert krippendorff_alpha(values, level=level).value == pytest.approx(
            krippendorff_alpha(values[::-1], level=level).value
        )
