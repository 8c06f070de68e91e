"""The database backend: transactions of one process wait for each other in a fair queue.

SQLite lets one transaction write at a time. The others poll, with pauses of up to a tenth of a
second: under load, some wait for long while nobody writes. In a queue, the next one continues as
soon as the one before has committed. Other processes wait as SQLite makes them wait.
Django looks for a backend in a file ``base``.
"""

import threading
from collections import deque
from typing import Any

from django.db.backends.sqlite3 import base
from django.db.utils import OperationalError


class Queue:
    """A lock that threads get in the order of their requests, unlike ``threading.Lock``."""

    def __init__(self) -> None:
        self._turn = threading.Condition()
        self._waiting: deque[object] = deque()  # the first one has the lock

    def take(self, seconds: float) -> bool:
        """Wait for the lock; return whether it came in time."""
        place = object()
        with self._turn:
            self._waiting.append(place)
            in_time = self._turn.wait_for(lambda: self._waiting[0] is place, seconds)
            if not in_time:
                self._waiting.remove(place)
            return in_time

    def give(self) -> None:
        """Release the lock to the thread that has waited longest."""
        with self._turn:
            self._waiting.popleft()
            self._turn.notify_all()


_queues: dict[str, Queue] = {}  # by database


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection whose transactions wait in a queue before they begin."""

    _turn: Queue | None = None

    def _start_transaction_under_autocommit(self) -> None:
        settings: dict[str, Any] = self.settings_dict
        queue = _queues.setdefault(str(settings["NAME"]), Queue())
        if not queue.take(settings["OPTIONS"].get("timeout", 5.0)):
            raise OperationalError("database is locked")
        self._turn = queue
        try:
            super()._start_transaction_under_autocommit()  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        except BaseException:
            self._give_turn()
            raise

    def _set_autocommit(self, autocommit: bool) -> None:
        """Leave the queue: Django calls this at the end of each transaction."""
        try:
            super()._set_autocommit(autocommit)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        finally:
            if autocommit:
                self._give_turn()

    def _close(self) -> None:
        try:
            super()._close()  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        finally:
            self._give_turn()

    def _give_turn(self) -> None:
        turn, self._turn = self._turn, None
        if turn is not None:
            turn.give()
