"""The pages of judges: from the invite to the first item, the items, earlier answers, the end.

At the end of the file: what an item's page shows, and the form that it sends.
"""

import hashlib
import math
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from string import ascii_uppercase
from typing import Any, Concatenate, ParamSpec

from django.conf import settings
from django.core.cache import cache
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token, rotate_token
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext, gettext_noop
from django.views.decorators.http import require_http_methods, require_safe

from grammeter.campaign import tasks
from grammeter.campaign.models import Assignment, Item, Judge, Judgment, compared
from grammeter.campaign.services import answers, assign, judges
from grammeter.campaign.tasks import JOBS, Kind, Scene, State, Strategy
from grammeter.core import DataError, Edit

P = ParamSpec("P")
REFUSED = 422  # the status of a refused answer
LOOK_SECONDS = 10  # within this time, a second browser at the same link is suspicious
SESSION_KEY = "judge"  # session field of the judge
BEGUN = "begun"  # session field: whether the judge has seen the guidelines
_TOKEN = "invite"  # noqa: S105 - the name of a session's field
show_or_send = require_http_methods(["GET", "HEAD", "POST"])
REASONS = (
    gettext_noop("The sentence makes no sense to me"),
    gettext_noop("The context is needed, and it is not enough"),
    gettext_noop("The content is offensive or private"),
    gettext_noop("Something on this page is broken"),
    gettext_noop("Another reason, see my comment"),
)
EMPTY = "[EMPTY]"  # shown instead of an empty output
_CLOSED = (State.DONE, State.SKIPPED)


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
        sent = read_answer(request.POST, scene, task)
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
    page, jobs = page_values(assignment, **how), [JOBS[assignment.item.task]]
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


# --- an item's page ------------------------------------------------------------------------
def page_values(
    assignment: Assignment, *, sent: Mapping[str, Any] | None = None, faults: Sequence[str] = ()
) -> dict[str, object]:
    """Return the template's variables; ``sent`` is a refused answer, ``faults`` say why."""
    item, outputs = assignment.item, answers.outputs(assignment)
    job, edits = JOBS[item.task], answers.edits_shown(assignment)
    before = answers.given_elsewhere(assignment) if any(edits) else {}
    last, feedback = answers.latest(assignment), None
    answer = Judgment(**sent) if sent else last or Judgment()
    ranks: Sequence[int | None] = answer.ranks or ()
    if last is not None:
        last.assignment = assignment  # saves a query
        feedback = answers.feedback(last)
    right = enumerate(feedback.ranks if feedback else ())
    done, total, back = _way(assignment)
    marked = list(zip(outputs, edits, strict=True))
    return {
        **{"assignment": assignment, "item": item, "answer": answer, "job": job},
        "title": gettext("Item {number}").format(number=done + 1)
        if assignment.state == State.OPEN
        else gettext("An earlier item"),
        "kind": item.kind if item.kind == Kind.TUTORIAL else "",  # attention items look normal
        **{"done": done, "total": total, "back": back, "faults": faults, "feedback": feedback},
        **{"source": item.sentence.text or EMPTY, "cannot_say": tasks.CANNOT_SAY},
        "cards": [*_cards(item, marked, answer, before, judged=bool(sent))],
        "form": job.form and f"campaign/judge/ask_{job.form}.html",
        "scale": range(1, len(outputs) + 1),
        "ends": [
            (name, ranks.index(rank) + 1 if rank in ranks else 0)
            for name, rank in tasks.ENDS.items()
        ],
        **{"reasons": REASONS, "comment_limit": tasks.LONGEST_TEXT},
        "key": secrets.token_hex(16),
        "skip_open": bool(sent and sent["skipped"]),
        "was_complete": assignment.state in _CLOSED,
        "changed": last is not None and not last.complete,
        "right": " · ".join(f"{letter(place)}: {rank}" for place, rank in right),
    }


def _cards(
    item: Item, outputs: Sequence[tuple[str, Sequence[Edit]]], answer: Judgment,
    before: Mapping[Edit, str], *, judged: bool,
) -> Iterator[dict[str, object]]:  # fmt: skip
    """Yield each output with its part of the answer; missing parts are marked if ``judged``."""
    source, letters = item.sentence.text, dict[Edit, str]()
    scene = Scene([len(edits) for _, edits in outputs], item.campaign.criteria_of(item.task))
    parts = (answer.ranks, answer.verdicts, answer.answer)
    ranks, verdicts, entries = (_padded(part, scene.size) for part in parts)
    for place, (text, changes) in enumerate(outputs):
        edits = [
            {
                **{"place": at, "number": at + 1, "pieces": answers.in_context(source, edit)},
                "verdict": word and word == "valid",
                "asked": not (edit in before or edit in letters),
                "letter": "" if edit in before else letters.get(edit, ""),
            }
            for at, edit in enumerate(changes)
            for word in [before.get(edit) or _padded(verdicts[place], len(changes))[at]]
        ]
        letters |= {edit: letters.get(edit, letter(place)) for edit in changes}
        drawn = answers.pieces(source, answers.edits_of(source, text))
        entry: dict[str, Any] = entries[place] or {}
        lacks = JOBS[item.task].is_open(entry, scene, ranks[place])
        lacks = lacks or any(edit["asked"] and edit["verdict"] is None for edit in edits)
        yield {
            **{"place": place, "letter": letter(place), "text": text or EMPTY},
            **{"pieces": drawn, "edits": edits},  # numbered, because each of them is judged
            **{"rank": ranks[place], "fault": judged and lacks},
            "unchanged": all(piece.kind == "same" for piece in drawn),
            "scores": [
                (at, criterion, str(entry[criterion.name]) if criterion.name in entry else "")
                for at, criterion in enumerate(scene.criteria)
            ],
            **{"edited": entry.get("text", text), "empty": bool(entry.get("empty"))},
        }


def _padded(values: Sequence[Any] | None, size: int) -> list[Any]:
    """Return the parts of an answer so far, ``None`` where missing."""
    return [*(values or ()), *[None] * size][:size]


def letter(place: int) -> str:
    """Return the letter of a correction: A for the first one shown."""
    turn, at = divmod(place, len(ascii_uppercase))
    return ascii_uppercase[at] * (turn + 1)


def _way(assignment: Assignment) -> tuple[int, int | None, str]:
    """Return the judge's numbers of answered items and of all items, and the address to go back."""
    shown = Assignment.objects.filter(judge=assignment.judge_id)
    rows = list(compared(shown).order_by("position").values_list("pk", "position", "state"))
    earlier = [row for row in rows if row[1] < assignment.position]
    before = [number for number, _, state in earlier if state != State.PLANNED]
    done = sum(state in _CLOSED for _, _, state in rows)
    back = reverse("item", args=(before[-1],)) if before else ""
    campaign, longest = assignment.item.campaign, assignment.item.campaign.longest_list
    if campaign.strategy == Strategy.PLANNED or longest is None:
        return done, len(rows) if campaign.strategy == Strategy.PLANNED else None, back
    beside = campaign.items.exclude(kind=Kind.NORMAL).count()
    return done, max(len(rows), longest + beside), back  # must not grow with an attention item


def read_answer(
    sent: Mapping[str, Any], scene: Scene, task: str = tasks.Task.EDITS
) -> dict[str, Any]:
    """Read a form as arguments of :func:`answers.save`."""
    action = sent.get("action") or "submit"
    if action not in ("draft", "submit", "skip"):
        raise DataError("an answer that asks for something unknown", fix="Load the page again.")
    active, wall = (_seconds(sent.get(name, "")) for name in ("active", "wall"))
    return {
        **JOBS[task].read(sent, scene),
        **{name: sent.get(name, "") for name in ("key", "reason", "comment")},
        "skipped": action == "skip",
        "active_seconds": min(active, wall) if active is not None and wall is not None else active,
        "wall_seconds": wall,
        "complete": action != "draft",
    }


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text[:40] or 0)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise DataError("a time that is no number of seconds", fix="Load the page again.")
    return seconds if text else None
