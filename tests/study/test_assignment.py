"""Who sees which item."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from grammeter.core import UsageError
from grammeter.study import assign, distribution, sample

OUTPUTS = {
    name: [f"{word} {name if number % 3 else 'same'}" for number, word in enumerate("abcdefghijkl")]
    for name in "ABCDEF"
}


def drawn(n, seed=1):
    return sample(distribution(OUTPUTS, select="uniform", per_item=3), n=n, seed=seed)


@given(
    n=st.integers(1, 40),
    count=st.integers(1, 5),
    data=st.data(),
    seed=st.integers(0, 1000),
)
def test_plan(n, count, data, seed):
    judges = [f"j{number}" for number in range(count)]
    overlap = data.draw(st.integers(0, n)) if count > 1 else 0
    sharers = data.draw(st.integers(2, count)) if count > 1 else None
    items = drawn(n)
    given_out = n + overlap * ((sharers or 1) - 1)
    repeats = data.draw(st.integers(0, given_out // count // 2))
    dealt = assign(items, judges, overlap=overlap, sharers=sharers, repeats=repeats, seed=seed)

    first = [item for item in dealt if not item.repeat]
    assert [(i.segment, i.systems, i.groups, i.item) for i in first] == [
        (i.segment, i.systems, i.groups, i.item) for i in items
    ]
    assert Counter(len(item.judges) for item in first) == Counter(
        {sharers or 1: overlap, 1: n - overlap} if (sharers or 1) > 1 else {1: n}
    )
    loads = [sum(judge in item.judges for item in first) for judge in judges]
    assert max(loads) - min(loads) <= 1
    for judge in judges:
        check_repeats([item for item in dealt if judge in item.judges], repeats)


def check_repeats(items, repeats):
    again = [item for item in items if item.repeat]
    assert len(again) == len({item.item for item in again}) == repeats
    half = (len(items) - repeats) // 2
    for item in again:
        names = [other.item for other in items]
        before = names.index(item.item)
        after = items.index(item)
        assert len({o.item for o in items[before + 1 : after] if not o.repeat}) >= half
        assert sorted(item.groups) == sorted(items[before].groups)
        assert item.probability == items[before].probability


def test_the_signature_shows_the_plan():
    dealt = assign(drawn(10), ["x", "y", "z"], overlap=4, repeats=1)
    plan = dict(dealt[0].signature)
    assert (plan["judges"], plan["overlap"], plan["sharers"], plan["repeats"]) == (
        "3",
        "4",
        "3",
        "1",
    )


def test_same_seed_same_plan():
    items = drawn(30)
    plans = [assign(items, ["x", "y"], overlap=5, repeats=3, seed=seed) for seed in (1, 1, 2)]
    assert plans[0] == plans[1] != plans[2]


def test_overlap_falls_on_all_items_and_judges_alike():
    judges = [f"j{number}" for number in range(4)]
    places, couples = Counter(), Counter()
    for seed in range(1500):
        for place, item in enumerate(assign(drawn(8), judges, overlap=2, sharers=2, seed=seed)):
            if len(item.judges) == 2:
                places[place] += 1
                couples[item.judges] += 1
    assert len(places) == 8
    assert len(couples) == 6
    assert chisquare(list(places.values())).pvalue > 0.01
    assert chisquare(list(couples.values())).pvalue > 0.01


@pytest.mark.parametrize(
    ("judges", "plan"),
    [
        ([], {}),
        (["x", "x"], {}),
        (["x", ""], {}),
        (["x"], {"overlap": 1}),
        (["x", "y"], {"overlap": 1, "sharers": 3}),
        (["x", "y"], {"overlap": 1, "sharers": 1}),
        (["x", "y"], {"overlap": 11}),
        (["x", "y"], {"overlap": -1}),
        (["x", "y"], {"repeats": 3}),
        (["x", "y"], {"repeats": -1}),
        (["x", "y"], {"seed": -1}),
    ],
)
def test_impossible_plans(judges, plan):
    with pytest.raises(UsageError):
        assign(drawn(10), judges, **plan)


def test_as_many_repeats_as_half_a_list():
    dealt = assign(drawn(10), ["x", "y"], repeats=2)
    assert sum(item.repeat for item in dealt) == 4
