"""The same rules on PostgreSQL, where transactions of many judges really overlap."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from judged_campaigns import answer, come_in, key, made_campaign, work


def at_once(count, do):
    """Call something with each number at the same moment, in threads with their connections."""
    from django.db import connection

    begin = threading.Barrier(count)

    def one(number):
        try:
            begin.wait()
            return do(number)
        finally:
            connection.close()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(count)))


@pytest.mark.parametrize("strategy", ["pool", "adaptive"])
def test_no_slot_twice_and_nothing_lost(postgresql_database, strategy):
    from grammeter.campaign.models import Assignment, Judge
    from grammeter.campaign.services import results

    campaign = made_campaign(40, sentences=80, strategy=strategy, judges=4, overlap=8)
    judges = [judge.pk for judge in come_in(campaign, 6)]
    done = at_once(6, lambda at: len(work(Judge.objects.get(pk=judges[at]))))
    slots = list(Assignment.objects.filter(slot__isnull=False).values_list("item", "slot"))
    assert len(slots) == len(set(slots)) == sum(item.wanted for item in campaign.items.all())
    assert all(item.taken == item.wanted for item in campaign.items.all())
    found = results.judgments(campaign)
    assert sum(done) == sum(len(ranking.groups) > 1 for ranking in found)
    assert len(found) == len(slots)


def test_two_windows_of_one_judge(postgresql_database):
    from grammeter.campaign.models import Judge
    from grammeter.campaign.services import answers, assign

    campaign = made_campaign(20, strategy="pool", judges=0)
    (judge,) = come_in(campaign)
    shown = at_once(4, lambda _: assign.next_assignment(Judge.objects.get(pk=judge.pk)))
    assert len({found.pk for found in shown}) == 1
    size = len(assign.next_assignment(judge).shown_order)
    sent = at_once(
        6, lambda at: answers.save(judge, shown[0], ranks=[1] * size, key=f"k{at % 2}").pk
    )
    assert len(set(sent)) == 2


def test_an_invite_works_once(postgresql_database):
    from grammeter.campaign.services import judges

    (token,) = judges.invite(made_campaign(5, strategy="pool", judges=0), 1)

    def come(_):
        try:
            return judges.redeem(token).pk
        except judges.InviteRefused:
            return None

    assert sum(found is not None for found in at_once(6, come)) == 1


def test_hostile_text_and_a_copy(postgresql_database, tmp_path):
    from grammeter.campaign import conf
    from grammeter.campaign.models import Campaign
    from grammeter.campaign.services import assign, database, results

    campaign = made_campaign(8, judges=1)
    (judge,) = come_in(campaign)
    answer(judge, assign.next_assignment(judge), comment=f"\0{key()}'; DROP TABLE \u202e")
    work(judge)
    before = list(results.details(campaign))
    database.backup(postgresql_database, tmp_path / "copy.db")
    conf.configure(tmp_path / "copy.db")
    database.open_existing(tmp_path / "copy.db")
    assert list(results.details(Campaign.objects.get())) == before
