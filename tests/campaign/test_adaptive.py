"""Where the ranking is least certain."""

from __future__ import annotations

import shutil
from collections import Counter

import numpy as np
import pytest

from grammeter.core import Ranking
from judged_campaigns import SYSTEMS, come_in, made_campaign, work


def ranked(segment, *groups, judge="a"):
    return Ranking(
        judge=judge,
        segment=segment,
        groups=tuple((name,) for name in groups),
        ranks=tuple(range(1, len(groups) + 1)),
    )


def outlook_of(rankings):
    from grammeter.campaign.services.assign import outlook

    return outlook([*"ABC"], rankings)


def test_nothing_known_is_uncertain(database):
    uncertainty, starved = outlook_of([])
    assert uncertainty.tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    assert not starved.any()


def test_uncertain_is_what_turns_round(database):
    clear = [ranked(at, "A", "B", "C") for at in range(1, 21)]
    even = [ranked(at, "C", "B") for at in range(21, 41)]
    uncertainty, _ = outlook_of(clear + even)
    assert uncertainty[0, 1] == uncertainty[0, 2] == 0
    assert uncertainty[1, 2] > 0.3
    np.testing.assert_array_equal(uncertainty, uncertainty.T)


def test_items_weigh_the_pairs_that_they_tell_apart(database):
    from grammeter.campaign.services.assign import EVEN, weigh

    uncertainty = np.array([[0, 0.5, 0], [0.5, 0, 1], [0, 1, 0]])
    known = "ABC", uncertainty, np.zeros(3, dtype=bool)
    items = [[["A"], ["B"]], [["A"], ["C"]], [["A", "B"], ["C"]], [["B", "C"], ["A"]]]
    weights = np.array([0.5, 0, 1, 0.5])
    found = weigh(*known, dict(enumerate(items))).probabilities(range(4))
    np.testing.assert_allclose(found, (1 - EVEN) * weights / 2 + EVEN / 4)
    assert found.sum() == pytest.approx(1)


def test_starved_systems_come_first(database):
    from grammeter.campaign.services.assign import weigh

    uncertainty, starved = outlook_of([ranked(at, "A", "B") for at in range(1, 30)])
    assert starved.tolist() == [False, False, True]
    found = weigh("ABC", uncertainty, starved, {0: [["A"], ["B"]], 1: [["A"], ["C"]]})
    assert found.probabilities([0, 1])[1] == pytest.approx(0.9)
    assert found.probabilities([0]).tolist() == [1.0]  # nothing better is left


def test_certain_rankings_are_drawn_evenly(database):
    from grammeter.campaign.services.assign import weigh

    known = "AB", np.zeros((2, 2)), np.zeros(2, dtype=bool)
    items = {number: [["A"], ["B"]] for number in range(4)}
    assert weigh(*known, items).probabilities(range(4)).tolist() == [0.25] * 4


def test_an_adaptive_campaign_starves_nobody_and_stores_probabilities(database):
    from grammeter.campaign.services import results

    campaign = made_campaign(
        150, sentences=300, strategy="adaptive", judges=0, per_judge=40, startup=10
    )
    judges = come_in(campaign, 2)
    given = [found for judge in judges for found in work(judge)]
    first = next(found for found in given if found.item.number)
    assert first.probability is not None
    chances = [found.probability for found in given]
    assert all(0 < chance <= 1 for chance in chances)
    assert len({round(chance, 9) for chance in chances[:9]}) <= 9
    compared = Counter(name for r in results.judgments(campaign) for name in r.systems
                       if len(r.groups) > 1)  # fmt: skip
    assert set(compared) == set(SYSTEMS)
    assert min(compared.values()) > 0.4 * max(compared.values())


def test_start_up_is_even(database):
    from grammeter.campaign.services import assign

    campaign = made_campaign(30, strategy="adaptive", judges=0, startup=5)
    (judge,) = come_in(campaign)
    assert assign.current_appeal(campaign) is None
    (first,) = work(judge, most=1)
    assert first.probability == pytest.approx(1 / 30, rel=0.5)
    work(judge, most=6)
    assert assign.current_appeal(campaign) is not None
    assert assign.current_appeal(campaign) is assign.current_appeal(campaign)  # looked at once


def test_overlap_of_an_adaptive_campaign(database):
    campaign = made_campaign(
        100, sentences=200, strategy="adaptive", judges=2, overlap=0.5, per_judge=40
    )
    one, other = come_in(campaign, 2)
    seen = [{found.item_id for found in work(judge)} for judge in (one, other)]
    assert 8 <= len(seen[0] & seen[1]) <= 30


def test_what_is_kept_between_draws_changes_no_probability():
    """The obvious twin: weigh only the items that can be drawn, each time anew."""
    from grammeter.campaign.services.assign import weigh

    chance = np.random.default_rng(1)
    upper = np.triu(chance.random((4, 4)), 1)
    known = "ABCD", upper + upper.T, np.array([False, False, False, True])
    items = [
        [[name] for name in chance.permutation(list("ABCD"))[: 2 + at % 3]] for at in range(30)
    ]
    appeal = weigh(*known, dict(enumerate(items)))
    for size in (1, 7, 30):
        rows = sorted(chance.choice(30, size, replace=False).tolist())
        twin = weigh(*known, dict(enumerate(items[row] for row in rows))).probabilities(range(size))
        assert appeal.probabilities(rows).tolist() == twin.tolist()


def test_a_draw_does_not_read_everything_again(database):
    """From the first outlook on, draws between two looks read no judgment and no output."""
    from django.db import connection

    from grammeter.campaign.services import assign

    campaign = made_campaign(60, sentences=120, strategy="adaptive", judges=0, startup=5)
    one, other = come_in(campaign, 2)
    work(one, most=25)
    assign.current_appeal(campaign)
    with_everything, asked = ("campaign_output", '"ranks"'), []

    def listen(execute, sql, *rest):
        asked.append(sql)
        return execute(sql, *rest)

    with connection.execute_wrapper(listen):
        assert assign.next_assignment(other) is not None
    assert len(asked) < 20
    assert not [sql for sql in asked if any(word in sql for word in with_everything)]


def test_another_database_of_the_same_name_has_an_outlook_of_its_own(database, blank):
    from grammeter.campaign import conf
    from grammeter.campaign.services import assign

    settings = {"strategy": "adaptive", "judges": 0, "startup": 0}
    campaign = made_campaign(10, **settings)
    first = assign.current_appeal(campaign)
    conf.configure(database)  # closes the connection
    for path in database.parent.glob("campaign.db*"):
        path.unlink()
    shutil.copy(blank, database)
    again = made_campaign(20, **settings)
    assert again.pk == campaign.pk
    assert assign.current_appeal(again) is not first
    assert len(assign.current_appeal(again).row) == 20
