"""From the invite to the first item: the start page, consent, the form, the guidelines."""

from __future__ import annotations

import hashlib

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token, rotate_token
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_safe

from grammeter.campaign.models import Judge
from grammeter.campaign.services import answers, invites, judges
from grammeter.campaign.views.gate import KEPT, judge_of, judge_page, mark

BEGUN = "begun"
"""Under this name a session keeps that the judge has seen the guidelines."""

_TOKEN = "invite"  # noqa: S105 - the name of a session's field


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Say what this server is; judges go on with their work."""
    return render(request, "campaign/home.html") if judge_of(request) is None else redirect("work")


@require_GET
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Redeem an invite, unless a browser only looks ahead. The same browser may come again."""
    if "prefetch" in request.headers.get("Sec-Purpose", ""):
        return HttpResponse(status=403)
    used = hashlib.sha256(token.encode()).hexdigest()
    if request.session.get(_TOKEN) == used and judge_of(request) is not None:
        return redirect("work")
    try:
        judge = invites.redeem(token)
    except invites.InviteRefused as refusal:
        told = {"title": "This link lets nobody in", "text": f"{refusal.message}. {refusal.fix}"}
        return render(request, "campaign/notice.html", told, status=410)
    request.session.cycle_key()
    rotate_token(request)
    request.session[KEPT] = judges.session_of(judge)
    request.session[_TOKEN] = used
    request.session[BEGUN] = False
    return redirect("work")


@require_safe
def session(request: HttpRequest) -> JsonResponse:
    """Tell the page's script who judges now, and a fresh token for its posts."""
    judge = judge_of(request)
    return JsonResponse({"judge": mark(judge) if judge else None, "token": get_token(request)})


@judge_page("GET", "POST")
def consent(request: HttpRequest, judge: Judge) -> HttpResponse:
    """Ask for consent."""
    agrees = request.POST.get("agree") == "yes"
    if agrees or not judges.needs_consent(judge):
        judges.consent(judge)
        return redirect("work")
    fault = "Please tick the box, or close this page." if request.method == "POST" else ""
    return _page(request, judge, "consent", fault=fault)


@judge_page("GET", "POST")
def about(request: HttpRequest, judge: Judge) -> HttpResponse:
    """Ask what may be left empty."""
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
    """Show the guidelines: before the first item, and whenever they are asked for."""
    if request.method == "POST":
        request.session[BEGUN] = True
        return redirect("work")
    return _page(request, judge, "guidelines", begun=has_begun(request, judge))


def has_begun(request: HttpRequest, judge: Judge) -> bool:
    """Whether the judge has seen the guidelines, here or in another browser."""
    return bool(request.session.get(BEGUN)) or answers.has_history(judge)


def _page(request: HttpRequest, judge: Judge, name: str, **told: object) -> HttpResponse:
    shown = {"campaign": judge.campaign, "mark": mark(judge), **told}
    return render(request, f"campaign/judge/{name}.html", shown)
