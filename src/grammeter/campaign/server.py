"""The web server: Django behind waitress, in one process, for many connections at once.

waitress stops accepting connections at a limit, so that a hundred browsers with open connections,
or one client that sends a byte a minute, lock everybody out. Here the limit is high, a request
must be complete in time, and near the limit the connections that were idle longest are closed.
"""

import contextlib
import errno
import time
from collections.abc import Sequence
from typing import Any

from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.server import TcpWSGIServer
from waitress.task import ThreadedTaskDispatcher

from grammeter.core import UsageError

THREADS = 8  # requests answered at the same time; others wait in a queue
LARGEST_REQUEST = 2 * 2**20
LARGEST_PORT = 65535  # waitress would take greater numbers modulo 65536
_FIXES = {  # for addresses that cannot be used
    errno.EADDRINUSE: "Choose another --port, or end the program that has this one.",
    errno.EADDRNOTAVAIL: "Give --host an address of this machine, or leave it out.",
    errno.EACCES: "Choose a --port of 1024 or more, or leave it out.",
}
REQUEST_SECONDS = 30  # longest time from the first byte of a request to the last one
IDLE_SECONDS = 60  # longest time of an open connection without a request
MOST_CONNECTIONS = 4000
MOST_BY_SELECT = 400  # without ``poll()``, on Windows
OTHER_FILES = 100  # open files besides connections: database, log, standard streams
_FEWEST = 20


def make_server(host: str, port: int, proxy: str | None) -> Any:
    """Return a server of all addresses of a host, to ``run()`` after ``conf.configure``.

    ``port`` 0: any free one; ``proxy``: address of a trusted reverse proxy.
    """
    if not 0 <= port <= LARGEST_PORT:
        raise UsageError(f"port {port}", fix=f"Ports go from 0 (any) to {LARGEST_PORT}.")
    from django.core.wsgi import get_wsgi_application

    # `setup` is done; the handler loads pages and middleware, and fails early if they are broken
    application, sockets = get_wsgi_application(), dict[int, Any]()
    options: dict[str, Any] = {"clear_untrusted_proxy_headers": True, "ident": None}  # no version
    if proxy is not None:
        forwarded = {"x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"}
        options |= {"trusted_proxy_count": 1, "trusted_proxy_headers": forwarded}
        options["trusted_proxy"] = proxy
    options |= {"max_request_body_size": LARGEST_REQUEST, "cleanup_interval": 5}
    options |= {"connection_limit": most_connections(), "asyncore_use_poll": True}
    shared: dict[str, Any] = {"dispatcher": (dispatcher := ThreadedTaskDispatcher())}
    try:
        shared["adj"] = adj = Adjustments(host=host, port=port, **options)
        names: Any = adj.listen
        first, *_ = [Listener(application, sockets, sockinfo=name, **shared) for name in names]
    except (OSError, ValueError) as error:
        for opened in list(sockets.values()):
            opened.close()
        reason: str = getattr(error, "strerror", None) or str(error)
        fix = _FIXES.get(getattr(error, "errno", None) or 0, "Choose another --host or --port.")
        fault = f"no server at {host}, port {port}: {reason}"
        raise UsageError(fault, fix=fix) from None
    dispatcher.set_thread_count(THREADS)
    return first


class Channel(HTTPChannel):
    """A connection that knows since when it has been idle, or receives a request."""

    since = 0.0  # by the monotonic clock

    def __init__(self, *args: Any, **options: Any) -> None:
        self.since = time.monotonic()
        super().__init__(*args, **options)

    @property
    def is_overdue(self) -> bool:
        """Whether to close it: a request is not complete in time, or none comes."""
        if self.total_outbufs_len:  # somebody reads a long answer slowly
            return time.time() - self.last_activity > IDLE_SECONDS
        longest = IDLE_SECONDS if self.request is None else REQUEST_SECONDS
        return time.monotonic() - self.since > longest

    def received(self, data: bytes) -> bool:
        """Note the begin of a request."""
        if self.request is None:
            self.since = time.monotonic()
        return super().received(data)

    def service(self) -> None:
        """Answer a request, and note its end."""
        super().service()
        self.since = time.monotonic()


class Listener(TcpWSGIServer):
    """A server that closes idle connections to make room for others."""

    channel_class = Channel
    active_channels: Any
    _map: dict[int, Any]

    def readable(self) -> bool:
        """Close connections that rested longest where room is short: waitress asks each time."""
        if len(self._map) >= (limit := self.adj.connection_limit) - 2:
            self._close(sorted(self._resting(), key=lambda one: one.since)[: max(1, limit // 10)])
        return super().readable()

    def maintenance(self, now: float) -> None:
        """Close overdue connections."""
        self._close([channel for channel in self._resting() if channel.is_overdue])

    def _resting(self) -> list[Channel]:
        return [channel for channel in self.active_channels.values() if not channel.requests]

    def _close(self, channels: Sequence[Channel]) -> None:
        for channel in channels:
            channel.will_close = True  # at its next turn, which comes, whether anybody reads or not
            with contextlib.suppress(OSError):
                line: Any = channel.socket
                line.shutdown(2)  # both ways


def most_connections() -> int:
    """Raise this process's limit of open files; return the number of connections it allows."""
    try:
        import resource
    except ImportError:
        return MOST_BY_SELECT
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    endless, wanted = resource.RLIM_INFINITY, MOST_CONNECTIONS + OTHER_FILES
    if soft != endless and soft < wanted:
        soft = wanted if hard == endless else min(wanted, hard)
        with contextlib.suppress(OSError, ValueError):  # a system may allow less than it says
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_CONNECTIONS if soft == endless else max(_FEWEST, min(wanted, soft) - OTHER_FILES)
