"""Writers of one process wait in a queue; SQLite's own waiting is for other processes."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing

import pytest

from judged_campaigns import made_campaign

SOON = 0.01
LONG = 60


@pytest.fixture
def queue():
    from grammeter.campaign.base import Queue

    return Queue()


def waiting(queue, count):
    """Wait until so many stand in the queue, with the one whose turn it is."""
    while len(queue._waiting) < count:
        threading.Event().wait(0.001)


def test_turns_come_in_the_order_of_asking(queue):
    assert queue.take(SOON)
    order, threads = [], []

    def one(number):
        assert queue.take(LONG)
        order.append(number)
        queue.give()

    for number in range(6):
        threads.append(threading.Thread(target=one, args=(number,)))
        threads[-1].start()
        waiting(queue, number + 2)
    queue.give()
    for thread in threads:
        thread.join(LONG)
    assert order == list(range(6))
    assert queue.take(SOON)


def test_who_waits_too_long_leaves_the_queue(queue):
    assert queue.take(SOON)
    assert not queue.take(SOON)
    queue.give()
    assert queue.take(SOON)  # the turn was not handed to somebody who has left


def queue_of(database):
    from grammeter.campaign import base

    return base._queues.setdefault(str(database), base.Queue())


def is_free(database):
    queue = queue_of(database)
    if not queue.take(SOON):
        return False
    queue.give()
    return True


def test_a_transaction_holds_the_turn_until_its_end(database):
    from django.db import transaction

    campaign = made_campaign(5)
    assert is_free(database)
    with transaction.atomic():
        assert not is_free(database)
        with transaction.atomic():
            campaign.save()
        assert not is_free(database)
    assert is_free(database)


def test_a_fault_gives_the_turn_back(database):
    from django.db import IntegrityError, transaction

    from grammeter.campaign.models import Campaign

    made_campaign(5)
    with pytest.raises(IntegrityError), transaction.atomic():
        Campaign.objects.create(name="pilot")
    assert is_free(database)
    assert Campaign.objects.count() == 1


def test_a_connection_that_is_closed_gives_the_turn_back(database):
    from django.db import connection, transaction

    campaign = made_campaign(5)
    with transaction.atomic():
        campaign.closed = True
        campaign.save()
        connection.close()
    assert is_free(database)
    campaign.refresh_from_db()
    assert not campaign.closed


def test_a_thread_waits_in_the_queue_and_not_in_sqlite(database):
    from django.db import connection, transaction

    campaign = made_campaign(5)
    told = []

    def write():
        try:
            with transaction.atomic():
                told.append("in")
                campaign.save()
        finally:
            connection.close()

    with transaction.atomic():
        thread = threading.Thread(target=write)
        thread.start()
        waiting(queue_of(database), 2)
        assert told == []
    thread.join(LONG)
    assert told == ["in"]


def test_other_processes_are_waited_for_as_always(database, monkeypatch):
    from django.db import OperationalError, transaction

    from grammeter.campaign import conf

    monkeypatch.setattr(conf, "BUSY_SECONDS", 0.1)
    conf.configure(database)
    with closing(sqlite3.connect(database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(OperationalError, match="locked"), transaction.atomic():
            pass
        assert is_free(database)
        other.execute("ROLLBACK")
    with transaction.atomic():
        pass


def test_who_waits_too_long_for_a_thread_is_told_as_sqlite_tells_it(database, monkeypatch):
    from django.db import OperationalError, transaction

    from grammeter.campaign import conf

    monkeypatch.setattr(conf, "BUSY_SECONDS", 0.1)
    conf.configure(database)
    queue = queue_of(database)
    assert queue.take(SOON)
    with pytest.raises(OperationalError, match="locked"), transaction.atomic():
        pass
    queue.give()
    with transaction.atomic():
        assert not is_free(database)
