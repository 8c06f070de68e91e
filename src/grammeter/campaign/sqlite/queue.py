"""A lock with an order."""

from __future__ import annotations

import threading
from collections import deque


class Queue:
    """A lock that threads get in the order of their requests, unlike ``threading.Lock``."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._held = False
        self._waiting: deque[threading.Lock] = deque()

    def take(self, seconds: float) -> bool:
        """Wait for the lock; return whether it came in time."""
        with self._guard:
            if not self._held:
                self._held = True
                return True
            place = threading.Lock()
            place.acquire()
            self._waiting.append(place)
        return place.acquire(timeout=seconds) or not self._left(place)

    def give(self) -> None:
        """Release the lock to the thread that has waited longest."""
        with self._guard:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._held = False

    def _left(self, place: threading.Lock) -> bool:
        """Leave the queue; return whether the lock had not come yet."""
        with self._guard:
            if place not in self._waiting:
                return False  # it came just now
            self._waiting.remove(place)
            return True
