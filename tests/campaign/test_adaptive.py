"""Where the ranking is least certain."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from grammeter.core.judgment import Ranking
from judged_campaigns import SYSTEMS, come_in, made_campaign, work


def ranked(segment, *groups, judge="a"):
    return Ranking(
        judge=judge,
        segment=segment,
        groups=tuple((name,) for name in groups),
        ranks=tuple(range(1, len(groups) + 1)),
    )


def outlook_of(rankings, systems="ABC"):
    from grammeter.campaign.services.adaptive import outlook

    return outlook(systems, rankings)


def test_nothing_known_is_uncertain():
    found = outlook_of([])
    assert found.uncertainty.tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    assert not found.starved.any()


def test_uncertain_is_what_turns_round():
    clear = [ranked(at, "A", "B", "C") for at in range(1, 21)]
    even = [ranked(at, "C", "B") for at in range(21, 41)]
    found = outlook_of(clear + even)
    assert found.uncertainty[0, 1] == found.uncertainty[0, 2] == 0
    assert found.uncertainty[1, 2] > 0.3
    np.testing.assert_array_equal(found.uncertainty, found.uncertainty.T)


def test_items_weigh_the_pairs_that_they_tell_apart():
    from grammeter.campaign.services.adaptive import EVEN, Outlook, probabilities

    uncertainty = np.array([[0, 0.5, 0], [0.5, 0, 1], [0, 1, 0]])
    known = Outlook(("A", "B", "C"), uncertainty, np.zeros(3, dtype=bool))
    items = [[["A"], ["B"]], [["A"], ["C"]], [["A", "B"], ["C"]], [["B", "C"], ["A"]]]
    weights = np.array([0.5, 0, 1, 0.5])
    found = probabilities(known, items)
    np.testing.assert_allclose(found, (1 - EVEN) * weights / 2 + EVEN / 4)
    assert found.sum() == pytest.approx(1)


def test_starved_systems_come_first():
    from grammeter.campaign.services.adaptive import probabilities

    known = outlook_of([ranked(at, "A", "B") for at in range(1, 30)])
    assert known.starved.tolist() == [False, False, True]
    found = probabilities(known, [[["A"], ["B"]], [["A"], ["C"]]])
    assert found[1] == pytest.approx(0.9)


def test_certain_rankings_are_drawn_evenly():
    from grammeter.campaign.services.adaptive import Outlook, probabilities

    known = Outlook(("A", "B"), np.zeros((2, 2)), np.zeros(2, dtype=bool))
    assert probabilities(known, [[["A"], ["B"]]] * 4).tolist() == [0.25] * 4


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
    from grammeter.campaign.services import draws

    campaign = made_campaign(30, strategy="adaptive", judges=0, startup=5)
    (judge,) = come_in(campaign)
    assert draws.prepare(campaign) is None
    (first,) = work(judge, most=1)
    assert first.probability == pytest.approx(1 / 30, rel=0.5)
    work(judge, most=6)
    assert draws.prepare(campaign) is not None
    assert draws.prepare(campaign) is draws.prepare(campaign)  # looked at once


def test_overlap_of_an_adaptive_campaign(database):
    campaign = made_campaign(
        100, sentences=200, strategy="adaptive", judges=2, overlap=0.5, per_judge=40
    )
    one, other = come_in(campaign, 2)
    seen = [{found.item_id for found in work(judge)} for judge in (one, other)]
    assert 8 <= len(seen[0] & seen[1]) <= 30
