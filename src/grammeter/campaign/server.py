"""The web server: Django behind waitress, in one process."""

from __future__ import annotations

import errno
from dataclasses import dataclass
from typing import Any

from grammeter.core import UsageError, require

THREADS = 8
"""Requests answered at the same time; others wait in a queue."""

LARGEST_REQUEST = 2 * 2**20

LARGEST_PORT = 65535
"""Waitress would take greater numbers modulo 65536."""

_FIXES = {
    errno.EADDRINUSE: "Choose another --port, or end the program that has this one.",
    errno.EADDRNOTAVAIL: "Give --host an address of this machine, or leave it out.",
    errno.EACCES: "Choose a --port of 1024 or more, or leave it out.",
}
"""Remedies for addresses that cannot be used."""


@dataclass(frozen=True, kw_only=True)
class Address:
    """Address of the server.

    Attributes
    ----------
    host, port
        An address of this machine, ``0.0.0.0`` for all of them; a port, 0 for any free one.
    proxy
        Address of a trusted reverse proxy, which sends ``X-Forwarded`` headers.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    proxy: str | None = None

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return self.host in ("localhost", "::1") or self.host.startswith("127.")

    @property
    def name(self) -> str:
        """The host, as in a URL."""
        return f"[{self.host}]" if ":" in self.host else self.host


def reachable_names(address: Address) -> list[str]:
    """Return the host names for browsers of other machines: of this machine, or the address."""
    import platform

    everywhere = address.host in ("0.0.0.0", "::", "")  # noqa: S104 - compared, not bound here
    return [platform.node() if everywhere else address.name]


def make_server(address: Address) -> Any:
    """Return a server that listens and waits for ``run()``; ``effective_port`` is its port.

    Settings must have been made by :func:`grammeter.campaign.conf.configure`.

    Raises
    ------
    UsageError
        If the address cannot be used.
    """
    if not 0 <= address.port <= LARGEST_PORT:
        raise UsageError(f"port {address.port}", fix=f"Ports go from 0 (any) to {LARGEST_PORT}.")
    require("waitress.server", extra="campaign")
    from django.core.wsgi import get_wsgi_application

    from grammeter.campaign.listener import listen

    # `setup` is done; the handler loads pages and middleware, and fails early if they are broken
    application = get_wsgi_application()
    try:
        return listen(application, **_options(address))
    except (OSError, ValueError) as error:
        reason: str = getattr(error, "strerror", None) or str(error)
        number: int = getattr(error, "errno", None) or 0
        raise UsageError(
            f"no server at {address.host}, port {address.port}: {reason}",
            fix=_FIXES.get(number, "Choose another --host or --port."),
        ) from None


def _options(address: Address) -> dict[str, Any]:
    options: dict[str, Any] = {
        "host": address.host,
        "port": address.port,
        "threads": THREADS,
        "ident": None,  # no name and version for strangers
        "max_request_body_size": LARGEST_REQUEST,
        "clear_untrusted_proxy_headers": True,
    }
    if address.proxy is not None:
        options |= {
            "trusted_proxy": address.proxy,
            "trusted_proxy_count": 1,
            "trusted_proxy_headers": {"x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"},
        }
    return options
