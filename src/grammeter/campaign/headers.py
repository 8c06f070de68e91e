"""Response headers, and the log format of refused requests."""

from __future__ import annotations

import logging
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

POLICY = (
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none';"
    " object-src 'none'"
)
"""Scripts and styles come from files of this server; no other host."""


class StrictHeaders:
    """Middleware: a content security policy, no device features, no caching."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Add the headers, unless the page has set them."""
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", POLICY)
        response.headers.setdefault(
            "Permissions-Policy", "camera=(), geolocation=(), microphone=()"
        )
        if not request.path.startswith("/static/"):
            response.headers.setdefault("Cache-Control", "no-store")
        return response


class OneLine(logging.Formatter):
    """Describes a refused request in one line, without a traceback."""

    def format(self, record: logging.LogRecord) -> str:
        """Format a record without Django's advice, which names settings."""
        reason = record.getMessage().partition(". ")[0]
        if record.name.endswith(".DisallowedHost"):
            return f"refused: {reason}. If it is yours, serve with --allowed-host NAME"
        return f"refused a request: {reason.replace('settings.', '')}"
