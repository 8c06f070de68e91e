"""The web server: Django behind waitress, in one process, for many connections at once.

waitress stops accepting connections at a limit, so that a hundred browsers with open connections
lock everybody out. Here the limit is high, connections on which nothing happens are closed, and
near the limit those that were idle longest make room for others.
"""

import contextlib
from typing import Any

from waitress.adjustments import Adjustments
from waitress.server import TcpWSGIServer
from waitress.task import ThreadedTaskDispatcher

from grammeter.core import UsageError

THREADS = 8  # requests answered at the same time; others wait in a queue
LARGEST_REQUEST = 2 * 2**20
LARGEST_PORT = 65535  # waitress would take greater numbers modulo 65536
IDLE_SECONDS = 60  # longest time of an open connection on which nothing happens
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
    options["channel_timeout"] = IDLE_SECONDS
    options |= {"connection_limit": most_connections(), "asyncore_use_poll": True}
    shared: dict[str, Any] = {"dispatcher": (dispatcher := ThreadedTaskDispatcher())}
    try:
        shared["adj"] = adj = Adjustments(host=host, port=port, **options)
        names: Any = adj.listen
        first, *_ = [Listener(application, sockets, sockinfo=name, **shared) for name in names]
    except (OSError, ValueError) as error:
        for opened in list(sockets.values()):
            opened.close()
        fault = f"no server at {host}, port {port}: {getattr(error, 'strerror', None) or error}"
        fix = "Choose a free --port of 1024 or more, and for --host an address of this machine."
        raise UsageError(fault, fix=fix) from None
    dispatcher.set_thread_count(THREADS)
    return first


class Listener(TcpWSGIServer):
    """A server that closes idle connections to make room for others."""

    active_channels: Any
    _map: dict[int, Any]

    def readable(self) -> bool:
        """Close connections that rested longest where room is short: waitress asks each time."""
        if len(self._map) >= (limit := self.adj.connection_limit) - 2:
            resting = [one for one in self.active_channels.values() if not one.requests]
            resting.sort(key=lambda one: one.last_activity)
            for channel in resting[: max(1, limit // 10)]:
                channel.will_close = (
                    True  # at its next turn, which comes, whether anybody reads or not
                )
                with contextlib.suppress(OSError):
                    channel.socket.shutdown(2)  # both ways
        return super().readable()


def most_connections() -> int:
    """Raise this process's limit of open files; return the number of connections it allows."""
    try:
        import resource
    except ImportError:
        return MOST_BY_SELECT
    limits, wanted = resource.getrlimit(resource.RLIMIT_NOFILE), MOST_CONNECTIONS + OTHER_FILES
    soft, hard = (wanted if n == resource.RLIM_INFINITY else min(n, wanted) for n in limits)
    if soft < hard:
        with contextlib.suppress(OSError, ValueError):  # a system may allow less than it says
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, limits[1]))
            soft = hard
    return max(_FEWEST, soft - OTHER_FILES)
