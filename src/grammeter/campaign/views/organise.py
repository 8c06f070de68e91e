"""The organiser's pages: campaigns, progress, results, judges and invites, export, audit log."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, Concatenate, ParamSpec

from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db.models import Max
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from grammeter.campaign.models import AuditEntry, Campaign, Invite, Judge, Judgment
from grammeter.campaign.services import audit, invites, judges, organisers, results
from grammeter.campaign.services import campaigns as campaigns_
from grammeter.campaign.services.downloads import DOWNLOADS
from grammeter.campaign.views.gate import allowed
from grammeter.core import GrammeterError
from grammeter.ranking import Agreement
from grammeter.stats import Kappa

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, Campaign, P], HttpResponse]

LOG_SHOWN = 500
MOST_INVITES = 500
UNITS = (
    ("sentence", "Sentences (recommended)"),
    ("ranking", "Rankings"),
    ("pair", "Pairs (as in 2015)"),
)


def campaign_page(*methods: str) -> Callable[[View[P]], Callable[..., HttpResponse]]:
    """Let only the campaign's organisers in."""

    def decorate(view: View[P]) -> Callable[..., HttpResponse]:
        @allowed(*methods)
        @wraps(view)
        def guarded(
            request: HttpRequest, number: int, *args: P.args, **kwargs: P.kwargs
        ) -> HttpResponse:
            if not request.user.is_authenticated:
                return _to_login(request, number)
            campaign = organisers.campaign_of(request.user, number)  # pyright: ignore[reportArgumentType]
            return view(request, campaign, *args, **kwargs)

        return guarded

    return decorate


@require_safe
@login_required
def campaigns(request: HttpRequest) -> HttpResponse:
    """List the organiser's campaigns."""
    visible = organisers.campaigns_of(request.user)  # pyright: ignore[reportArgumentType]
    rows = [{"campaign": campaign, **_counts(campaign)} for campaign in visible]
    return render(request, "campaign/organise/campaigns.html", {"rows": rows})


@campaign_page("GET")
def campaign(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Show the progress of a campaign."""
    still = "still" in request.GET
    shown = {"campaign": campaign, "downloads": DOWNLOADS.items(), "still": still}
    shown |= _progress(campaign)
    return render(request, "campaign/organise/campaign.html", shown)


@campaign_page("GET")
def progress(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Return the part of the page that updates itself."""
    return render(request, "campaign/organise/progress.html", _progress(campaign))


@campaign_page("GET")
def result_page(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Show the ranking and the agreement so far."""
    names = [name for name, _ in UNITS]
    wanted = request.GET.get("unit", names[0])
    unit = wanted if wanted in names else names[0]
    shown = {"campaign": campaign, "units": UNITS, "chosen": unit, **_figures(campaign, unit)}
    return render(request, "campaign/organise/results.html", shown)


@campaign_page("GET")
def judge_page(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """List judges and invites."""
    return _judges(request, campaign)


@campaign_page("POST")
def invite(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Create links, and show them once."""
    count = _number(request.POST.get("count", ""))
    days = _number(request.POST.get("days", ""))
    if count > MOST_INVITES:
        return _judges(request, campaign, fault=f"At most {MOST_INVITES} at once.", status=422)
    return _invite(request, campaign, n=count, days=days)


@campaign_page("POST")
def invite_again(request: HttpRequest, campaign: Campaign, judge: int) -> HttpResponse:
    """Create a new link for a judge; older ones become invalid."""
    return _invite(request, campaign, judge=_judge(campaign, judge))


@campaign_page("POST")
def block(request: HttpRequest, campaign: Campaign, judge: int) -> HttpResponse:
    """Block a judge."""
    judges.block(_judge(campaign, judge), who=_who(request))
    return redirect("judges", campaign.pk)


@campaign_page("POST")
def note(request: HttpRequest, campaign: Campaign, judge: int) -> HttpResponse:
    """Store the organisers' note on a person."""
    judges.note(_judge(campaign, judge), request.POST.get("contact", ""), who=_who(request))
    return redirect("judges", campaign.pk)


@campaign_page("POST")
def revoke(request: HttpRequest, campaign: Campaign, invite: int) -> HttpResponse:
    """Make an invite invalid."""
    row = Invite.objects.filter(campaign=campaign, pk=invite).first()
    if row is None:
        raise PermissionDenied("this is not an invite of this campaign")
    invites.revoke(row, who=_who(request))
    return redirect("judges", campaign.pk)


@campaign_page("POST")
def close(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Take no more judgments."""
    campaigns_.close(campaign, who=_who(request))
    return redirect("campaign", campaign.pk)


@campaign_page("POST")
def reopen(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Take judgments again."""
    campaigns_.close(campaign, False, who=_who(request))
    return redirect("campaign", campaign.pk)


@campaign_page("POST")
def export(request: HttpRequest, campaign: Campaign, form: str) -> HttpResponse:
    """Send the judgments as a file; a POST, because it is logged."""
    if form not in DOWNLOADS:
        raise Http404
    download = DOWNLOADS[form]
    text = download.text(campaign)
    audit.log(campaign, _who(request), "export", form=form)
    answer = HttpResponse(text, content_type=f"{download.content}; charset=utf-8")
    name = re.sub(r"[^A-Za-z0-9._-]+", "_", campaign.name) or "campaign"
    answer["Content-Disposition"] = f'attachment; filename="{name}{download.suffix}"'
    return answer


@campaign_page("GET")
def audit_page(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Show the log."""
    # a detail may be called "items", so a template cannot use the method of the dictionary
    rows = audit.entries(campaign, LOG_SHOWN)
    entries = [{"entry": row, "detail": _detail_text(row.detail)} for row in rows]
    shown = {"campaign": campaign, "entries": entries, "limit": LOG_SHOWN}
    return render(request, "campaign/organise/audit.html", shown)


def _to_login(request: HttpRequest, number: int) -> HttpResponse:
    """Go to the login; a part that updates itself takes the whole page there."""
    if "HX-Request" not in request.headers:
        return redirect_to_login(request.get_full_path())
    whole = redirect_to_login(reverse("campaign", args=(number,)))
    return HttpResponse(headers={"HX-Redirect": whole["Location"]})


def _counts(campaign: Campaign) -> dict[str, Any]:
    progress = results.progress(campaign)
    return {"progress": progress, "handed": progress.done + progress.skipped}


def _progress(campaign: Campaign) -> dict[str, Any]:
    counts = _counts(campaign)
    judges = counts["progress"].judges
    rows = [{"judge": judge, "minutes": round(judge.active_seconds / 60)} for judge in judges]
    return {**counts, "rows": rows}


def _invite(
    request: HttpRequest, campaign: Campaign, n: int = 1, days: float = invites.DAYS, **whom: Any
) -> HttpResponse:
    try:
        tokens = invites.create(campaign, n, days=days, who=_who(request), **whom)
    except GrammeterError as error:
        return _judges(request, campaign, fault=f"{error.message}. {error.fix or ''}", status=422)
    base = request.build_absolute_uri(reverse("home"))
    links = [invites.link(base, token) for token in tokens]
    return _judges(request, campaign, links=links, invited=invites.names(tokens))


def _judges(
    request: HttpRequest, campaign: Campaign, status: int = 200, **values: object
) -> HttpResponse:
    sent = Invite.objects.filter(campaign=campaign).select_related("judge").order_by("-pk")
    known = {judge.name: judge for judge in Judge.objects.filter(campaign=campaign)}
    rows = results.progress(campaign).judges
    shown = {
        "campaign": campaign,
        "judges": [{"judge": known[row.judge], "state": row.state} for row in rows],
        "invites": [{"invite": invite, "state": _invite_state(invite)} for invite in sent],
        **values,
    }
    return render(request, "campaign/organise/judges.html", shown, status=status)


def _invite_state(invite: Invite) -> str:
    if invite.redeemed:
        return "used"
    if invite.revoked:
        return "revoked"
    return "expired" if invite.expires <= timezone.now() else "open"


def _judge(campaign: Campaign, pk: int) -> Judge:
    judge = Judge.objects.filter(campaign=campaign, pk=pk).first()
    if judge is None:
        raise PermissionDenied("this is not a judge of this campaign")
    return judge


def _number(text: str) -> int:
    """Return a number, 0 for other texts: the service checks it."""
    return int(text) if re.fullmatch(r"[0-9]{1,6}", text) else 0


def _detail_text(detail: dict[str, Any]) -> str:
    lists: dict[str, list[Any]] = {
        key: value if isinstance(value, list) else [value] for key, value in detail.items()
    }
    return "; ".join(f"{key}: {', '.join(map(str, values))}" for key, values in lists.items())


def _who(request: HttpRequest) -> str:
    return request.user.get_username()  # pyright: ignore[reportAttributeAccessIssue]


def _figures(campaign: Campaign, unit: str) -> dict[str, Any]:
    """Return the variables of the page; ``unit`` is resampled for rank ranges and clusters."""
    answers = Judgment.objects.filter(assignment__judge__campaign=campaign, complete=True)
    newest = answers.aggregate(last=Max("pk"))["last"]
    # the log shows changes of judges' names
    acts = AuditEntry.objects.filter(campaign=campaign).exclude(action="export")
    return _computed(campaign.pk, unit, newest, acts.aggregate(last=Max("pk"))["last"])


@lru_cache(maxsize=32)
def _computed(pk: int, unit: str, newest: int | None, acts: int | None) -> dict[str, Any]:
    """Return the figures; the last two arguments are keys of the cache."""
    campaign = Campaign.objects.get(pk=pk)
    shown: dict[str, Any] = {}
    for name, measure in (
        ("ranking", lambda: results.ranking(campaign, unit=unit)),
        ("agreement", lambda: _agreement(results.agreement(campaign))),
    ):
        try:
            shown[name] = measure()
        except GrammeterError as error:
            shown[f"{name}_fault"] = f"None yet: {error.message}."
    return shown


def _agreement(agreement: Agreement) -> dict[str, Any]:
    rows = [_row("between judges", agreement.inter), _row("within judges", agreement.intra)]
    rows += [_row(" and ".join(sorted({*pair})), kappa) for pair, kappa in agreement.pairs.items()]
    return {
        "rows": rows,
        "alpha_inter": _figure(agreement.alpha_inter.value),
        "alpha_intra": _figure(agreement.alpha_intra.value),
        "notes": agreement.notes,
        "signature": str(agreement.signature),
    }


def _row(name: str, kappa: Kappa) -> dict[str, Any]:
    shown = {key: _figure(getattr(kappa, key)) for key in ("observed", "chance")}
    reason = kappa.reason or ""
    return {"name": name, "kappa": _figure(kappa.value), "n": kappa.n, "reason": reason, **shown}


def _figure(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"
