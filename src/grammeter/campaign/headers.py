"""The headers that let a page load nothing but what this server sends; names it goes by."""

from __future__ import annotations

import logging
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

POLICY = (
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none';"
    " object-src 'none'"
)
"""No script or style but from files of this server, and no other host at all."""


class StrictHeaders:
    """Middleware: a content security policy, and no powerful features for pages."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Add the headers that a page has not set itself."""
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", POLICY)
        response.headers.setdefault(
            "Permissions-Policy", "camera=(), geolocation=(), microphone=()"
        )
        if not request.path.startswith("/static/"):
            response.headers.setdefault("Cache-Control", "no-store")
        return response


class ForeignHost(logging.Formatter):
    """Says in one line that a name of this server was asked for that is not allowed."""

    def format(self, record: logging.LogRecord) -> str:
        """Leave out the traceback, and Django's advice, which names a setting of ours."""
        asked = record.getMessage().partition(". ")[0]
        return f"refused: {asked}. If it is yours, serve with --allowed-host NAME"
