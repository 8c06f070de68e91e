"""The items: what comes next, one item, earlier answers, the end."""

from __future__ import annotations

from typing import cast

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from grammeter.campaign.models import Assignment, Judge, Judgment, State, Strategy
from grammeter.campaign.services import answers, assign, judges, pages
from grammeter.campaign.views import item_page
from grammeter.campaign.views.answer_form import Answer, read_answer
from grammeter.campaign.views.gate import judge_page, mark, next_step, wants_json
from grammeter.campaign.views.joining import has_begun, next_address
from grammeter.core import DataError, GrammeterError

_STATES: dict[str, str] = {State.DONE: "answered", State.SKIPPED: "skipped"}

REFUSED = 422
"""The status of a refused answer."""


@judge_page("GET", "POST")
def work(request: HttpRequest, judge: Judge) -> HttpResponse:
    """Go to the judge's next step; a POST opens another item if none is open."""
    step = next_step(request, judge, begun=has_begun(request, judge))
    if step is not None:
        return step
    if request.method == "POST":
        return redirect(next_address(judge))
    assignment = assign.open_assignment(judge)
    if judge.campaign.closed or (assignment is None and judge.finished is not None):
        return redirect("done")
    if assignment is not None:
        return redirect("item", assignment.pk)
    shown = {"campaign": judge.campaign, "mark": mark(judge)}
    return render(request, "campaign/judge/next.html", shown)


@judge_page("GET", "POST")
def item(request: HttpRequest, judge: Judge, number: int) -> HttpResponse:
    """Show an item, or store an answer to it."""
    assignment = answers.assignment_of(judge, number)
    step = next_step(request, judge, begun=True)
    if step is not None:
        return step
    if request.method == "POST":
        return _answered(request, judge, assignment)
    return _page(request, judge, assignment)


@judge_page("GET")
def history(request: HttpRequest, judge: Judge) -> HttpResponse:
    """List the judge's items so far."""
    rows: list[dict[str, object]] = [
        {
            "id": assignment.pk,
            "position": assignment.position,
            "text": assignment.item.sentence.text,
            "state": _STATES.get(assignment.state, "open"),
        }
        for assignment in answers.history(judge)
    ]
    shown: dict[str, object] = {"campaign": judge.campaign, "mark": mark(judge), "rows": rows}
    return render(request, "campaign/judge/answers.html", shown)


@judge_page("GET")
def done(request: HttpRequest, judge: Judge) -> HttpResponse:
    """Thank the judge, and show the completion code."""
    closed = judge.campaign.closed
    if judge.finished is None and not closed:
        return redirect("work")
    shown: dict[str, object] = {
        "campaign": judge.campaign,
        "mark": mark(judge),
        "can_change": not closed,
        "can_ask": not closed and judge.campaign.strategy != Strategy.PLANNED,
        "title": "Thank you" if judge.finished else "This campaign is closed",
        "text": "You have judged all items that were meant for you."
        if judge.finished
        else "No more judgments are taken. What you handed in is kept.",
    }
    if judge.finished is not None:
        end = judges.completion(judge)
        shown |= {"code": end.code, "redirect": end.url}
    return render(request, "campaign/judge/done.html", shown)


def _answered(request: HttpRequest, judge: Judge, assignment: Assignment) -> HttpResponse:
    answer: Answer | None = None
    try:
        sent = cast("dict[str, str]", request.POST.dict())
        answer = read_answer(sent, item_page.edit_counts(assignment))
        judgment = _save(judge, assignment, answer)
    except DataError as error:
        return _refused(request, judge, assignment, answer, error)
    onwards = next_address(judge) if judgment.complete else reverse("work")
    if pages.feedback(judgment):
        onwards = reverse("item", args=(assignment.pk,))
    if wants_json(request):
        return JsonResponse({"version": judgment.version, "next": onwards})
    return redirect(onwards)


def _save(judge: Judge, assignment: Assignment, answer: Answer) -> Judgment:
    return answers.save(
        judge,
        assignment,
        key=answer.key,
        ranks=answer.ranks,
        verdicts=_verdicts(assignment, answer),
        skipped=answer.action == "skip",
        reason=answer.reason if answer.action != "submit" else "",
        comment=answer.comment,
        active_seconds=answer.active_seconds,
        wall_seconds=answer.wall_seconds,
        complete=answer.action != "draft",
    )


def _verdicts(assignment: Assignment, answer: Answer) -> list[list[str | None]] | None:
    """Return the verdict on each edit; an edit of several outputs was judged once."""
    if not any(answer.verdicts):
        return [*map(list, answer.verdicts)] or None
    edits = item_page.edits_shown(assignment, pages.page(assignment))
    return pages.shared(assignment, edits, answer.verdicts)


def _refused(
    request: HttpRequest,
    judge: Judge,
    assignment: Assignment,
    answer: Answer | None,
    error: GrammeterError,
) -> HttpResponse:
    fault = f"{error.message[:1].upper()}{error.message[1:]}. {error.fix or ''}".strip()
    if wants_json(request):
        return JsonResponse({"faults": [fault]}, status=REFUSED)
    return _page(request, judge, assignment, sent=answer, faults=[fault], status=REFUSED)


def _page(
    request: HttpRequest, judge: Judge, assignment: Assignment, status: int = 200, **how: object
) -> HttpResponse:
    page = item_page.shown(assignment, **how)  # pyright: ignore[reportArgumentType]
    shown = {"campaign": judge.campaign, "mark": mark(judge), "page": page}
    return render(request, "campaign/judge/item.html", shown, status=status)
