"""The pages of judges: from the invite to the first item, the items, earlier answers, the end."""

import hashlib
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.conf import settings
from django.core.cache import cache
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token, rotate_token
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_safe

from grammeter.campaign.models import Assignment, Judge
from grammeter.campaign.services import answers, assign, judges
from grammeter.campaign.tasks import JOBS, Scene, State
from grammeter.campaign.views import item_page
from grammeter.core import DataError

P = ParamSpec("P")
REFUSED = 422  # the status of a refused answer
LOOK_SECONDS = 10  # within this time, a second browser at the same link is suspicious
SESSION_KEY = "judge"  # session field of the judge
BEGUN = "begun"  # session field: whether the judge has seen the guidelines
_TOKEN = "invite"  # noqa: S105 - the name of a session's field
show_or_send = require_http_methods(["GET", "HEAD", "POST"])


def judge_page(
    view: Callable[Concatenate[HttpRequest, Judge, P], HttpResponse],
) -> Callable[Concatenate[HttpRequest, P], HttpResponse]:
    """Let only judges in, to look or to send; others get 401 (scripts) or 403."""

    @show_or_send
    @wraps(view)
    def guarded(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if (judge := _judge_of(request)) is not None:
            return view(request, judge, *args, **kwargs)
        if _wants_json(request):
            return JsonResponse({"faults": [gettext("Your session has ended.")]}, status=401)
        raise PermissionDenied("no judge")

    return guarded


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Describe this server; send judges to their work."""
    return render(request, "campaign/home.html") if _judge_of(request) is None else redirect("work")


@show_or_send
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Show a button that uses an invite, because mail scanners open links."""
    used = hashlib.sha256(token.encode()).hexdigest()
    if request.session.get(_TOKEN) == used and _judge_of(request) is not None:
        return redirect("work")
    try:
        if request.method != "POST":
            judges.check_invite(token)
            # a second browser within seconds is warned
            first = cache.add(f"look-{used}", True, LOOK_SECONDS)
            elsewhere = not first and settings.CSRF_COOKIE_NAME not in request.COOKIES
            shown = {"elsewhere": elsewhere}
            return render(request, "campaign/join.html", shown, status=403 if elsewhere else 200)
        judge = judges.redeem(token)
    except judges.InviteRefused as refusal:
        return render(request, "campaign/refused.html", {"refusal": refusal}, status=410)
    request.session.cycle_key()
    rotate_token(request)
    request.session.update({SESSION_KEY: judges.session_of(judge), _TOKEN: used, BEGUN: False})
    return redirect("work")


@require_safe
def session(request: HttpRequest) -> JsonResponse:
    """Send the page's script the current judge and a new CSRF token."""
    judge = _judge_of(request)
    return JsonResponse({"judge": _mark(judge) if judge else None, "token": get_token(request)})


@judge_page
def consent(request: HttpRequest, judge: Judge) -> HttpResponse:
    """Ask for consent."""
    if request.POST.get("agree") == "yes":
        judges.consent(judge)
    if judges.needs(judge) != "consent":
        return redirect("work")
    fault = gettext("Please tick the box, or close this page.")
    fault = fault if request.method == "POST" else ""
    return _page(request, judge, "consent", fault=fault)


@judge_page
def about(request: HttpRequest, judge: Judge) -> HttpResponse:
    """Show the questionnaire, which may be left empty."""
    if judges.needs(judge) == "consent":
        return redirect("consent")
    if request.method != "POST":
        return _page(request, judge, "about")
    names = () if "empty" in request.POST else judges.ANSWERS
    judges.tell_background(judge, **{name: request.POST.get(name, "") for name in names})
    return redirect("work")


@judge_page
def guidelines(request: HttpRequest, judge: Judge) -> HttpResponse:
    """Show the guidelines."""
    if request.method != "POST":
        jobs = [JOBS[task] for task in judge.campaign.tasks]
        return _page(request, judge, "guidelines", begun=_has_begun(request, judge), jobs=jobs)
    request.session[BEGUN] = True
    return redirect(judges.needs(judge) or _next_address(judge))


@judge_page
def work(request: HttpRequest, judge: Judge) -> HttpResponse:
    """Go to the judge's next step; a POST opens another item if none is open."""
    if step := judges.needs(judge) or ("" if _has_begun(request, judge) else "guidelines"):
        return redirect(step)
    if request.method == "POST":
        return redirect(_next_address(judge))
    assignment = judge.assignments.filter(state=State.OPEN).order_by("position").first()
    if judge.campaign.closed or (assignment is None and judge.finished is not None):
        return redirect("done")
    return redirect("item", assignment.pk) if assignment else _page(request, judge, "next")


@judge_page
def item(request: HttpRequest, judge: Judge, number: int) -> HttpResponse:
    """Show an item, or store an answer to it."""
    assignment = answers.assignment_of(judge, number)
    if step := judges.needs(judge):
        return redirect(step)
    if request.method == "POST":
        return _answered(request, judge, assignment)
    return _item_page(request, judge, assignment)


@require_safe
@judge_page
def history(request: HttpRequest, judge: Judge) -> HttpResponse:
    """List the judge's items so far."""
    rows = answers.history(judge).values_list("pk", "position", "item__sentence__text", "state")
    return _page(request, judge, "answers", rows=rows)


@require_safe
@judge_page
def done(request: HttpRequest, judge: Judge) -> HttpResponse:
    """Thank the judge, and show the completion code."""
    if judge.finished is None and not judge.campaign.closed:
        return redirect("work")
    return _page(request, judge, "done", end=judges.completion(judge) if judge.finished else None)


def _answered(request: HttpRequest, judge: Judge, assignment: Assignment) -> HttpResponse:
    sent: dict[str, Any] | None = None
    try:
        edits, task = answers.edits_shown(assignment), assignment.item.task
        scene = Scene([*map(len, edits)], judge.campaign.criteria_of(task))
        sent = item_page.read_answer(request.POST, scene, task)
        if any(sent.get("verdicts", ())):  # an edit of several outputs was judged once
            sent["verdicts"] = answers.shared(assignment, edits, sent["verdicts"])
        judgment = answers.save(judge, assignment, **sent)
    except DataError as error:
        text, fix = gettext(error.message), gettext(error.fix) if error.fix else ""
        fault = f"{text[:1].upper()}{text[1:]}. {fix}".strip()
        if _wants_json(request):
            return JsonResponse({"faults": [fault]}, status=REFUSED)
        return _item_page(request, judge, assignment, REFUSED, sent=sent, faults=[fault])
    onwards = _next_address(judge) if judgment.complete else reverse("work")
    if answers.feedback(judgment):
        onwards = reverse("item", args=(assignment.pk,))
    if _wants_json(request):
        return JsonResponse({"version": judgment.version, "next": onwards})
    return redirect(onwards)


def _item_page(
    request: HttpRequest, judge: Judge, assignment: Assignment, status: int = 200, **how: Any
) -> HttpResponse:
    page, jobs = item_page.shown(assignment, **how), [JOBS[assignment.item.task]]
    return _page(request, judge, "item", status, page=page, jobs=jobs)


def _next_address(judge: Judge) -> str:
    """Open the judge's next item, unless one is open; return its address."""
    assignment = assign.next_assignment(judge)
    return reverse("item", args=(assignment.pk,)) if assignment else reverse("done")


def _has_begun(request: HttpRequest, judge: Judge) -> bool:
    return bool(request.session.get(BEGUN)) or answers.history(judge).exists()


def _judge_of(request: HttpRequest) -> Judge | None:
    return judges.from_session(request.session.get(SESSION_KEY))


def _wants_json(request: HttpRequest) -> bool:
    return request.headers.get("Accept", "") == "application/json"


def _mark(judge: Judge) -> str:
    """Return a public identifier of a judge: the same after each new invite."""
    joined = judge.joined.isoformat() if judge.joined else ""
    return salted_hmac("grammeter.campaign.mark", f"{judge.pk} {joined}").hexdigest()[:20]


def _page(
    request: HttpRequest, judge: Judge, name: str, status: int = 200, **values: object
) -> HttpResponse:
    shown = {"campaign": judge.campaign, "mark": _mark(judge), **values}
    return render(request, f"campaign/judge/{name}.html", shown, status=status)
