"""Names and order decide nothing: of systems, of judges, of sentences, in files (law 8)."""

import random
from dataclasses import replace

import pytest

import grammeter as gm
from grammeter.core import Ranking
from grammeter.ranking import METHODS, UNITS, TrueSkill
from grammeter.ranking.methods import BradleyTerry, ExpectedWins
from grammeter.study import draw_campaigns, learning_curve

BY = pytest.mark.parametrize("by", METHODS)
BY_UNIT = pytest.mark.parametrize("unit", [None, *UNITS])


@pytest.fixture(scope="module")
def judgments():
    items = gm.read_judgments(gm.sample_corpus() / "judgments.xml").rankings[:60]
    return [replace(item, document=f"part{item.segment % 9}") for item in items]


@pytest.fixture(scope="module")
def names(judgments):
    return sorted({name for ranking in judgments for name in ranking.systems})


def relabelled(judgments, names, seed=3):
    """Rename systems and judges, renumber sentences, and turn the order of everything."""
    draw = random.Random(seed)
    renamed = dict(zip(names, draw.sample(names, len(names)), strict=True))
    segments = sorted({ranking.segment for ranking in judgments})
    number = dict(zip(segments, draw.sample(segments, len(segments)), strict=True))
    moved = []
    for entry in draw.sample(judgments, len(judgments)):
        order = draw.sample(range(len(entry.groups)), len(entry.groups))
        groups = [tuple(renamed[name] for name in reversed(entry.groups[at])) for at in order]
        ranks = [entry.ranks[at] for at in order] if entry.ranks else ()
        moved.append(
            replace(entry, judge=entry.judge[::-1], segment=number[entry.segment],
                    groups=tuple(groups), ranks=tuple(ranks))
        )  # fmt: skip
    return moved, renamed


def values(row):
    return row.score, row.ranks, row.cluster


@BY
@BY_UNIT
def test_a_ranking_survives_relabelling(judgments, names, by, unit):
    moved, renamed = relabelled(judgments, names)
    ours = gm.rank(judgments, by=by, unit=unit, resamples=40)
    theirs = gm.rank(moved, by=by, unit=unit, resamples=40)
    for name in names:
        assert values(ours[name]) == values(theirs[renamed[name]])


@pytest.mark.parametrize("unit", UNITS)
def test_a_validation_survives_relabelling(judgments, names, unit):
    moved, _ = relabelled(judgments, names)
    ours, theirs = (
        gm.rank(some, validate=4, unit=unit, resamples=40).to_dict() for some in (judgments, moved)
    )
    assert ours == theirs


def test_a_learning_curve_survives_relabelling(judgments, names):
    moved, _ = relabelled(judgments, names)
    ours, theirs = (
        learning_curve(draw_campaigns(some, draws=40)).to_dict() for some in (judgments, moved)
    )
    assert ours == theirs


def with_twin(judgments, name, how):
    """Add a system whose judgments are those of another."""
    doubled = []
    for ranking in judgments:
        if how == "item":
            groups = tuple(tuple("twin" if x == name else x for x in g) for g in ranking.groups)
            doubled += [ranking, replace(ranking, groups=groups)]
            continue
        groups, ranks = [], []
        for group, rank in zip(
            ranking.groups, ranking.ranks or [1] * len(ranking.groups), strict=True
        ):
            same = name in group
            groups += [(*group, "twin")] if same and how == "output" else [group]
            groups += [("twin",)] if same and how == "tie" else []
            ranks += [rank, rank] if same and how == "tie" else [rank]
        doubled.append(
            replace(ranking, groups=tuple(groups), ranks=tuple(ranks) if ranking.ranks else ())
        )
    return doubled


@BY
@BY_UNIT
@pytest.mark.parametrize("how", ["output", "tie", "item"])
def test_equal_systems_are_equal(judgments, names, by, unit, how):
    name = names[0]
    ranked = gm.rank(with_twin(judgments, name, how), by=by, unit=unit, resamples=40)
    assert values(ranked["twin"]) == values(ranked[name])
    assert ranked[name].ranks[0] < ranked[name].ranks[1]


@BY
def test_systems_between_which_nothing_was_decided_are_equal(by):
    """A, B and C are in a circle: each beats the next as often."""
    items = [
        Ranking(judge="x", segment=3 * n + k, groups=((a,), (b,)), ranks=(1, 2))
        for n in range(1, 21)
        for k, (a, b) in enumerate(["AB", "BC", "CA"])
    ]
    ranked = gm.rank(items, by=by, resamples=40)
    assert {values(row) for row in ranked.values()} == {(ranked["A"].score, (1, 3), 1)}


@pytest.mark.parametrize("method", [ExpectedWins(), TrueSkill(), BradleyTerry(prior=0.5)])
def test_an_order_of_names_is_no_order_of_systems(method):
    """Forty ties and one win each way: nobody is better, however the names sort."""
    items = [
        Ranking(judge="x", segment=n, groups=(("A",), ("B",)), ranks=(1, 1 + (n == 1)))
        for n in range(1, 41)
    ]
    ranked = gm.rank([*items, replace(items[0], ranks=(2, 1))], by=method, resamples=40)
    assert values(ranked["A"]) == values(ranked["B"])
