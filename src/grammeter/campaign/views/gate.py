"""Access to pages: methods, and the session of a judge."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.utils.crypto import salted_hmac
from django.views.decorators.http import require_http_methods

from grammeter.campaign.models import Judge
from grammeter.campaign.services import judges

P = ParamSpec("P")
Page = Callable[Concatenate[HttpRequest, P], HttpResponse]
JudgePage = Callable[Concatenate[HttpRequest, Judge, P], HttpResponse]

SESSION_KEY = "judge"
"""Session field of the judge."""


def wants_json(request: HttpRequest) -> bool:
    """Whether the request comes from the page's script."""
    return request.headers.get("Accept", "") == "application/json"


def judge_of(request: HttpRequest) -> Judge | None:
    """Return the judge in this browser."""
    return judges.from_session(request.session.get(SESSION_KEY))


def mark(judge: Judge) -> str:
    """Return a public identifier of a judge: the same after each new invite."""
    joined = judge.joined.isoformat() if judge.joined else ""
    return salted_hmac("grammeter.campaign.mark", f"{judge.pk} {joined}").hexdigest()[:20]


def allowed(*methods: str) -> Callable[..., Callable[..., HttpResponse]]:
    """Allow only these methods; GET includes HEAD."""
    return require_http_methods([*methods, *(["HEAD"] if "GET" in methods else [])])


def judge_page(*methods: str) -> Callable[[JudgePage[P]], Page[P]]:
    """Let only judges in; others get 401 (scripts) or 403."""

    def decorate(view: JudgePage[P]) -> Page[P]:
        @allowed(*methods)
        @wraps(view)
        def guarded(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
            judge = judge_of(request)
            if judge is None:
                if wants_json(request):
                    return JsonResponse({"faults": ["Your session has ended."]}, status=401)
                raise PermissionDenied("no judge")
            return view(request, judge, *args, **kwargs)

        return guarded

    return decorate


def next_step(request: HttpRequest, judge: Judge, *, begun: bool) -> HttpResponse | None:
    """Return the page before the items that a judge must see; ``None`` if none is left."""
    if judges.needs_consent(judge):
        return redirect("consent")
    if judges.needs_background(judge):
        return redirect("about")
    return None if begun else redirect("guidelines")
