"""The web server: Django behind waitress, in one process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from grammeter.core.errors import UsageError
from grammeter.core.lazy import require

THREADS = 8
"""Requests answered at once; more wait in a queue."""

LARGEST_REQUEST = 2 * 2**20


@dataclass(frozen=True, kw_only=True)
class Address:
    """Where the server listens.

    Attributes
    ----------
    host, port
        An address of this machine, ``0.0.0.0`` for all of them; a port, 0 for any free one.
    proxy
        The address of a reverse proxy in front, whose ``X-Forwarded`` headers are believed.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    proxy: str | None = None

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return self.host in ("localhost", "::1") or self.host.startswith("127.")


def make_server(address: Address) -> Any:
    """Return a server that listens and waits for ``run()``; ``effective_port`` is its port.

    Settings must have been made by :func:`grammeter.campaign.conf.configure`.

    Raises
    ------
    UsageError
        If the address cannot be used.
    """
    waitress: Any = require("waitress.server", extra="campaign")
    from django.core.wsgi import get_wsgi_application

    # `setup` is done; the handler loads pages and middleware, and fails early if they are broken
    application = get_wsgi_application()
    try:
        return waitress.create_server(application, **_options(address))
    except (OSError, ValueError) as error:
        told = getattr(error, "strerror", None) or str(error)
        raise UsageError(
            f"no server at {address.host}, port {address.port}: {told}",
            fix="Choose another --port, or end the program that has this one.",
        ) from None


def _options(address: Address) -> dict[str, Any]:
    options: dict[str, Any] = {
        "host": address.host,
        "port": address.port,
        "threads": THREADS,
        "ident": None,  # no name and version for strangers
        "max_request_body_size": LARGEST_REQUEST,
        "channel_timeout": 60,
        "clear_untrusted_proxy_headers": True,
    }
    if address.proxy is not None:
        options |= {
            "trusted_proxy": address.proxy,
            "trusted_proxy_count": 1,
            "trusted_proxy_headers": {"x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"},
        }
    return options
