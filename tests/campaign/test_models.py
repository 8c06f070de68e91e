"""What the database itself refuses, whatever the services do."""

from __future__ import annotations

import pytest

from judged_campaigns import come_in, made_campaign


@pytest.fixture
def campaign(database):
    return made_campaign(strategy="pool", judges=0)


def test_no_slot_twice(campaign):
    from django.db import IntegrityError

    from grammeter.campaign.models import Assignment, Item

    one, other = come_in(campaign, 2)
    item = Item.objects.first()
    Assignment.objects.create(judge=one, item=item, position=1, slot=1)
    with pytest.raises(IntegrityError):
        Assignment.objects.create(judge=other, item=item, position=1, slot=1)
    Assignment.objects.create(judge=other, item=item, position=1, slot=None)


def test_no_more_slots_than_wanted(campaign):
    from django.db import IntegrityError

    from grammeter.campaign.models import Item

    with pytest.raises(IntegrityError):
        Item.objects.filter(number=1).update(taken=2)


@pytest.mark.parametrize("field", ["position", "turn"])
def test_one_item_at_each_place_and_turn(campaign, field):
    from django.db import IntegrityError

    from grammeter.campaign.models import Assignment, Item

    (judge,) = come_in(campaign)
    first, second = Item.objects.all()[:2]
    Assignment.objects.create(judge=judge, item=first, position=1)
    same = (
        {"item": second, "position": 1} if field == "position" else {"item": first, "position": 2}
    )
    with pytest.raises(IntegrityError):
        Assignment.objects.create(judge=judge, **same)


@pytest.mark.parametrize("same", ["version", "key"])
def test_one_version_and_one_key(campaign, same):
    from django.db import IntegrityError

    from grammeter.campaign.models import Assignment, Item, Judgment

    (judge,) = come_in(campaign)
    found = Assignment.objects.create(judge=judge, item=Item.objects.first(), position=1)
    Judgment.objects.create(assignment=found, version=1, key="a")
    other = {"version": 1, "key": "b"} if same == "version" else {"version": 2, "key": "a"}
    with pytest.raises(IntegrityError):
        Judgment.objects.create(assignment=found, **other)
