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


class OneLine(logging.Formatter):
    """Says in one line what of a stranger's request was refused: no traceback, it is no fault."""

    def format(self, record: logging.LogRecord) -> str:
        """Leave out what Django advises: it names settings that nobody here can change."""
        asked = record.getMessage().partition(". ")[0]
        if record.name.endswith(".DisallowedHost"):
            return f"refused: {asked}. If it is yours, serve with --allowed-host NAME"
        return f"refused a request: {asked.replace('settings.', '')}"
