"""From the invite to the first item: start page, consent, questionnaire, guidelines."""

from __future__ import annotations

import hashlib

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token, rotate_token
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from grammeter.campaign.models import Judge
from grammeter.campaign.services import answers, assign, invites, judges
from grammeter.campaign.views.gate import (
    SESSION_KEY,
    allowed,
    judge_of,
    judge_page,
    mark,
    next_step,
)

BEGUN = "begun"
"""Session field: whether the judge has seen the guidelines."""

LOOK_SECONDS = 10
"""Within this time, a second browser at the same link is suspicious."""

_TOKEN = "invite"  # noqa: S105 - the name of a session's field


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Describe this server; send judges to their work."""
    return render(request, "campaign/home.html") if judge_of(request) is None else redirect("work")


@allowed("GET", "POST")
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Show a button that uses an invite, because mail scanners open links."""
    used = hashlib.sha256(token.encode()).hexdigest()
    if request.session.get(_TOKEN) == used and judge_of(request) is not None:
        return redirect("work")
    try:
        if request.method != "POST":
            invites.check(token)
            return _invited(request, used)
        judge = invites.redeem(token)
    except invites.InviteRefused as refusal:
        text = f"{refusal.message}. {refusal.fix}"
        notice = {"title": "This link lets nobody in", "text": text}
        return render(request, "campaign/notice.html", notice, status=410)
    request.session.cycle_key()
    rotate_token(request)
    request.session[SESSION_KEY] = judges.session_of(judge)
    request.session[_TOKEN] = used
    request.session[BEGUN] = False
    return redirect("work")


@require_safe
def session(request: HttpRequest) -> JsonResponse:
    """Send the page's script the current judge and a new CSRF token."""
    judge = judge_of(request)
    return JsonResponse({"judge": mark(judge) if judge else None, "token": get_token(request)})


@judge_page("GET", "POST")
def consent(request: HttpRequest, judge: Judge) -> HttpResponse:
    """Ask for consent."""
    if request.POST.get("agree") == "yes":
        judges.consent(judge)
    if not judges.needs_consent(judge):
        return redirect("work")
    fault = "Please tick the box, or close this page." if request.method == "POST" else ""
    return _page(request, judge, "consent", fault=fault)


@judge_page("GET", "POST")
def about(request: HttpRequest, judge: Judge) -> HttpResponse:
    """Show the questionnaire, which may be left empty."""
    if judges.needs_consent(judge):
        return redirect("consent")
    if request.method != "POST":
        return _page(request, judge, "about")
    names = ("first_language", "experience", "remarks")
    empty = "empty" in request.POST
    judges.tell_background(
        judge, **({} if empty else {name: request.POST.get(name, "") for name in names})
    )
    return redirect("work")


@judge_page("GET", "POST")
def guidelines(request: HttpRequest, judge: Judge) -> HttpResponse:
    """Show the guidelines."""
    if request.method == "POST":
        request.session[BEGUN] = True
        step = next_step(request, judge, begun=True)
        return step or redirect(next_address(judge))
    return _page(request, judge, "guidelines", begun=has_begun(request, judge))


def next_address(judge: Judge) -> str:
    """Open the judge's next item, unless one is open; return its address."""
    assignment = assign.next_assignment(judge)
    return reverse("item", args=(assignment.pk,)) if assignment else reverse("done")


def has_begun(request: HttpRequest, judge: Judge) -> bool:
    """Whether the judge has seen the guidelines, here or in another browser."""
    return bool(request.session.get(BEGUN)) or answers.has_history(judge)


def _invited(request: HttpRequest, link: str) -> HttpResponse:
    """Show the button; warn a second browser within seconds."""
    first = cache.add(f"look-{link}", True, LOOK_SECONDS)
    elsewhere = not first and settings.CSRF_COOKIE_NAME not in request.COOKIES
    shown = {"elsewhere": elsewhere}
    return render(request, "campaign/join.html", shown, status=403 if elsewhere else 200)


def _page(request: HttpRequest, judge: Judge, name: str, **values: object) -> HttpResponse:
    shown = {"campaign": judge.campaign, "mark": mark(judge), **values}
    return render(request, f"campaign/judge/{name}.html", shown)
