"""Which item a judge gets next."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from grammeter.core import DataError, UnknownNameError, UsageError
from grammeter.core import Item as Sampled
from judged_campaigns import answer, come_in, made_campaign, made_corpus, work

CHECKS = {"outputs": ("right one .", "wrong two ."), "ranks": (1, 2)}


def check(source="x .", **settings):
    from grammeter.campaign.criteria import Check

    return Check(source=source, **{**CHECKS, **settings})


def normal(assignments):
    return [found for found in assignments if found.item.kind == "normal"]


def test_planned_judges_get_what_sample_planned(database):
    from grammeter.campaign.services import results
    from grammeter.verbs import sample

    campaign = made_campaign(20, judges=2, overlap=0.5, repeats=0.2)
    planned = sample(
        made_corpus(), n=20, select="uniform", judges=["judge01", "judge02"], overlap=10, repeats=3
    )
    for judge in come_in(campaign, 2):
        work(judge)
    done = [(ranking.judge, ranking.item) for ranking in results.judgments(campaign)]
    wanted = [(name, item.item) for name in ("judge01", "judge02") for item in planned
              if name in item.judges]  # fmt: skip
    assert done == wanted


def test_the_order_shown_is_recorded_random_and_its_own_for_each_judge(database):
    from grammeter.campaign.services import answers

    campaign = made_campaign(25, judges=2, overlap=25)
    one, other = come_in(campaign, 2)
    orders = [[found.shown_order for found in work(judge)] for judge in (one, other)]
    assert orders[0] != orders[1]
    assert len({tuple(order) for order in orders[0]}) > 3
    found = one.assignments.filter(item__places__place=1).first()
    texts = {place.place: place.output.text for place in found.item.places.all()}
    assert answers.outputs(found) == tuple(texts[place] for place in found.shown_order)


def test_a_page_names_no_system(database):
    from grammeter.campaign.services import assign
    from grammeter.campaign.views.judging import page_values

    campaign = made_campaign(5, judges=1)
    for output in campaign.sentences.first().outputs.model.objects.all():
        output.text = output.text.replace(" by ", " ").translate(dict.fromkeys(map(ord, "ABCDeyi")))
        output.save()
    (judge,) = come_in(campaign)
    page = page_values(assign.next_assignment(judge))
    assert page["source"].startswith("source")
    assert not any(name in str(page) for name in ("Aye", "Bee", "Cee", "Dee"))


def test_asking_again_gives_the_same_item(database):
    from grammeter.campaign.services import assign

    for strategy in ("planned", "pool", "adaptive"):
        campaign = made_campaign(10, name=strategy, strategy=strategy, judges=1)
        (judge,) = come_in(campaign)
        first = assign.next_assignment(judge)
        assert assign.next_assignment(judge) == first
        answer(judge, first)
        assert assign.next_assignment(judge) != first


def test_one_output_is_a_tie_and_nobody_sees_it(database):
    from grammeter.campaign.services import assign, results

    campaign = made_campaign(judges=1, n=30)
    (judge,) = come_in(campaign)
    shown = work(judge)
    assert all(len(found.shown_order) > 1 for found in shown)
    found = results.judgments(campaign)
    alone = [ranking for ranking in found if len(ranking.groups) == 1]
    assert alone
    assert len(alone) + len(shown) == len(found) == 30
    assert {(ranking.ranks, ranking.seconds) for ranking in alone} == {((1,), 0.0)}
    assert assign.next_assignment(judge) is None
    assert judge.finished is not None


def test_a_pool_gives_each_item_as_often_as_it_is_wanted(database):
    campaign = made_campaign(20, strategy="pool", judges=3, overlap=5)
    judges = come_in(campaign, 3)
    seen = [Counter(found.item.name for found in work(judge)) for judge in judges]
    assert all(max(each.values()) == 1 for each in seen if each)
    for item in campaign.items.all():
        assert item.taken <= item.wanted
        assert item.assignments.filter(slot__isnull=False).count() == item.taken
    assert sum(item.wanted == 3 for item in campaign.items.all()) == 5
    assert {item.taken for item in campaign.items.filter(wanted=1)} == {1}


def test_per_judge_ends_a_pool(database):
    campaign = made_campaign(20, strategy="pool", per_judge=4, judges=0)
    (judge,) = come_in(campaign)
    work(judge)
    assert judge.assignments.filter(item__kind="normal").count() == 4


def test_a_pool_repeats_after_a_while(database):
    campaign = made_campaign(60, sentences=200, strategy="pool", judges=0, repeats=0.2)
    (judge,) = come_in(campaign)
    shown = work(judge)
    first = {found.item_id: found.position for found in shown if not found.turn}
    again = [found for found in shown if found.turn]
    assert 8 <= len(again) <= 12
    assert all(found.position - first[found.item_id] >= 10 for found in again)
    assert all(found.slot is None for found in again)


@pytest.mark.parametrize("strategy", ["planned", "pool"])
def test_tutorial_first_and_attention_between(database, strategy):
    campaign = made_campaign(
        40, sentences=100, strategy=strategy, judges=1,
        tutorial=(check("t1 ."), check("t2 .")),
        attention=tuple(check(f"a{number} .") for number in range(3)),
    )  # fmt: skip
    (judge,) = come_in(campaign)
    kinds = [found.item.kind for found in work(judge)]
    assert kinds[:2] == ["tutorial"] * 2
    places = [place for place, kind in enumerate(kinds) if kind == "attention"]
    assert len(places) == 3
    assert "tutorial" not in kinds[2:]
    assert places[-1] - places[0] > 8


def test_attention_items_come_in_another_order_for_another_judge(database):
    checks = tuple(check(f"a{number} .") for number in range(6))
    campaign = made_campaign(60, sentences=200, judges=2, overlap=60, attention=checks)
    orders = [
        [found.item.sentence.text for found in work(judge) if found.item.kind == "attention"]
        for judge in come_in(campaign, 2)
    ]
    assert sorted(orders[0]) == sorted(orders[1])
    assert orders[0] != orders[1]


def test_what_is_left_goes_back_to_the_pool(database):
    from django.utils import timezone

    from grammeter.campaign.models import Assignment, release
    from grammeter.campaign.services import assign

    campaign = made_campaign(3, strategy="pool", judges=0)
    gone, other = come_in(campaign, 2)
    left = assign.next_assignment(gone)
    assert left.item not in {found.item for found in work(other)}
    Assignment.objects.filter(pk=left.pk).update(
        opened=timezone.now() - timedelta(hours=assign.HOLD_HOURS + 1)
    )
    assert [found.item for found in work(other)] == [left.item]
    left.refresh_from_db()
    assert (left.state, left.slot) == ("released", None)
    answer(gone, left)  # who comes back late is heard even so
    left.refresh_from_db()
    assert left.state == "done"
    assert release(Assignment.objects.filter(pk=left.pk)) == 0


def test_a_blocked_judge_gets_nothing(database):
    from django.core.exceptions import PermissionDenied

    from grammeter.campaign.services import assign, judges

    campaign = made_campaign(5, strategy="pool", judges=0)
    (judge,) = come_in(campaign)
    opened = assign.next_assignment(judge)
    judges.block(judge)
    judge.refresh_from_db()
    with pytest.raises(PermissionDenied):
        assign.next_assignment(judge)
    opened.item.refresh_from_db()
    assert opened.item.taken == 0


def test_a_closed_campaign_gives_nothing(database):
    from grammeter.campaign.services import assign, campaigns

    campaign = made_campaign(5, judges=1)
    (judge,) = come_in(campaign)
    opened = assign.next_assignment(judge)
    campaigns.close(campaign)
    judge.campaign.refresh_from_db()
    assert assign.next_assignment(judge) is None
    with pytest.raises(DataError, match="closed"):
        answer(judge, opened)
    campaigns.close(campaign, False)
    judge.campaign.refresh_from_db()
    assert assign.next_assignment(judge) == opened


def test_many_judges_at_once_never_get_one_slot_twice(database):
    """Threads have connections of their own, as those of the server have."""
    from django.db import connection

    from grammeter.campaign.models import Assignment, Judge

    campaign = made_campaign(60, sentences=100, strategy="pool", judges=4, overlap=10)
    judges = come_in(campaign, 8)
    begin = threading.Barrier(8)

    def judge_all(pk):
        try:
            begin.wait()
            return len(work(Judge.objects.get(pk=pk)))
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        done = sum(pool.map(judge_all, [judge.pk for judge in judges]))
    slots = list(Assignment.objects.filter(slot__isnull=False).values_list("item", "slot"))
    assert len(slots) == len(set(slots)) == sum(item.wanted for item in campaign.items.all())
    assert done == Assignment.objects.filter(item__places__place=1).count()
    assert all(item.taken == item.wanted for item in campaign.items.all())


def test_two_windows_of_one_judge_show_one_item(database):
    from django.db import connection

    from grammeter.campaign.models import Judge
    from grammeter.campaign.services import assign

    campaign = made_campaign(20, strategy="pool", judges=0)
    (judge,) = come_in(campaign)
    begin = threading.Barrier(4)

    def ask(_):
        try:
            begin.wait()
            return assign.next_assignment(Judge.objects.get(pk=judge.pk)).pk
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(ask, range(4)))) == 1


def test_items_of_a_file(database):
    from grammeter.campaign import creating
    from grammeter.campaign.services import campaigns

    corpus = made_corpus()
    items = [
        Sampled(segment=2, systems=("Cee", "Aye", "Bee"), judges=("ann", "bob"), item="a"),
        Sampled(segment=3, systems=("Dee", "Aye"), judges=("bob",), item="b"),
        Sampled(segment=2, systems=("Aye", "Cee"), judges=("ann",), item="a", repeat=True),
    ]
    plan = creating.Plan(name="file", judges=2)
    campaign = campaigns.create(plan, corpus, items)
    assert {judge.name: judge.assignments.count() for judge in campaign.judges.all()} == {
        "ann": 2, "bob": 2
    }  # fmt: skip
    item = campaign.items.get(name="a")
    shown = {tuple(place.output.systems) for place in item.places.all()}
    assert shown == {("Cee",), ("Aye", "Bee")}  # equal outputs are one, with all who wrote it
    ann = campaign.judges.get(name="ann")
    assert [found.turn for found in ann.assignments.all()] == [0, 1]


@pytest.mark.parametrize(
    ("item", "told"),
    [
        (Sampled(segment=99, systems=("Aye", "Bee")), "30 sentences"),
        (Sampled(segment=3, systems=("Aye",), groups=(("Aye", "Bee"),)), "did not write the same"),
        (Sampled(segment=3, systems=("Aye", "Eve")), "Eve"),
    ],
)
def test_items_that_do_not_fit(database, item, told):
    from grammeter.campaign import creating
    from grammeter.campaign.models import Campaign
    from grammeter.campaign.services import campaigns

    plan = creating.Plan(name="file", judges=1)
    with pytest.raises((DataError, UnknownNameError), match=told):
        campaigns.create(plan, made_corpus(), [item])
    assert not Campaign.objects.exists()  # all or nothing


@pytest.mark.parametrize(
    "settings",
    [
        {"name": ""},
        {"name": "a\nb"},
        {"judges": 0},
        {"per_judge": 3},
        {"startup": 3},
        {"pass_threshold": 1.5},
        {"pass_code": "A"},
        {"pass_code": "A" * 201, "fail_code": "B"},
        {"redirect": "javascript:alert(1)"},
        {"redirect": "https://"},
        {"redirect": "https://a b.example/"},
        {"redirect": "https://[a/"},
        {"redirect": f"https://a.example/{'a' * 2000}"},
        {"idle": 1},
        {"idle": 10**30},
        {"seed": -1},
        {"seed": 2**63},
        {"judges": -1, "strategy": "pool"},
        {"strategy": "random"},
        {"task": "essay"},
    ],
)
def test_plans_that_are_none(database, settings):
    from grammeter.campaign import creating

    with pytest.raises(UsageError):
        creating.Plan(**{"name": "pilot", "judges": 1, **settings})


@pytest.mark.parametrize("n", [0, -3])
def test_no_item_to_draw(database, n):
    with pytest.raises(UsageError, match=f"{n} items"):
        made_campaign(n)


def test_the_total_of_a_pool_has_repeats_and_attention_items_from_the_start(database):
    """A total that grew after an attention item would tell that it was one."""
    from grammeter.campaign.criteria import Check
    from grammeter.campaign.services import assign, results
    from grammeter.campaign.views.judging import page_values

    checks = tuple(Check(source=f"{at} .", outputs=("a", "b"), ranks=(1, 2)) for at in range(2))
    campaign = made_campaign(
        20, strategy="pool", judges=0, per_judge=8, repeats=0.25, attention=checks
    )
    (judge,) = come_in(campaign)
    totals = set()
    while (found := assign.next_assignment(judge)) is not None:
        totals.add(page_values(found)["total"])
        answer(judge, found)
    assert totals == {8 + 2 + 2}
    (row,) = results.progress(campaign).judges
    assert (row.planned, row.done, row.attention) == (10, 10, 2)


def test_names_are_unique(database):
    made_campaign()
    with pytest.raises(UsageError, match="there is a campaign"):
        made_campaign()


@pytest.mark.parametrize("overlap", [-1, 1.5, 21])
def test_overlap_out_of_range(database, overlap):
    with pytest.raises(UsageError):
        made_campaign(20, overlap=overlap)


def test_named_judges_and_a_pool_do_not_go_together(database):
    from grammeter.campaign import creating
    from grammeter.campaign.services import campaigns

    plan = creating.Plan(name="file", strategy="pool")
    items = [Sampled(segment=2, systems=("Aye", "Cee"), judges=("ann",))]
    with pytest.raises(UsageError, match="named judges"):
        campaigns.create(plan, made_corpus(), items)
    mixed = [*items, Sampled(segment=3, systems=("Aye", "Cee"))]
    with pytest.raises(UsageError, match="some items"):
        campaigns.create(creating.Plan(name="f", judges=1), made_corpus(), mixed)


def test_items_without_judges_are_dealt_out(database):
    from grammeter.campaign import creating
    from grammeter.campaign.services import campaigns

    items = [Sampled(segment=at, systems=("Aye", "Cee")) for at in range(2, 5)]
    plan = creating.Plan(name="f", judges=3, overlap=1)
    campaign = campaigns.create(plan, made_corpus(), items)
    assert sum(judge.assignments.count() for judge in campaign.judges.all()) == 5
