"""The organiser's pages: login, campaigns, progress, results, judges and invites, export, log."""

import math
import re
from collections.abc import Callable, Sequence
from functools import lru_cache, partial, wraps
from typing import Any, Concatenate, ParamSpec

from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView, redirect_to_login
from django.db.models import Max
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import translation
from django.views.decorators.http import require_http_methods, require_safe

from grammeter import core
from grammeter.campaign.models import AuditEntry, Campaign, Judgment
from grammeter.campaign.services import campaigns as campaigns_
from grammeter.campaign.services import exports, judges, organisers, results
from grammeter.campaign.status import CampaignStatus
from grammeter.campaign.tasks import JOBS

P = ParamSpec("P")
LOG_SHOWN = 500
MOST_INVITES = 500
UNITS = {"sentence": "Sentences (recommended)", "ranking": "Rankings", "pair": "Pairs (as in 2015)"}


class Login(LoginView):
    """Ask for name and password, with a delay after failed attempts."""

    template_name = "campaign/organise/login.html"
    next_page = "campaigns"

    def setup(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        """Speak English, as all pages of organisers do."""
        translation.activate("en")
        super().setup(request, *args, **kwargs)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Log in, or say how long to wait."""
        if not (pause := math.ceil(organisers.wait(*self._who()))):
            return super().post(request, *args, **kwargs)
        answer = self._again(f"Too many attempts. Please wait {pause} seconds.", 429)
        answer["Retry-After"] = str(pause)
        return answer

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        """Log in."""
        organisers.succeeded(*self._who())
        return super().form_valid(form)

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        """Count a failure."""
        organisers.failed(*self._who())
        return self._again("Name and password do not fit.", 403)

    def _who(self) -> tuple[str, str]:
        request = self.request
        return request.POST.get("username", ""), request.META.get("REMOTE_ADDR", "")

    def _again(self, fault: str, status: int) -> HttpResponse:
        return self.render_to_response(self.get_context_data(fault=fault), status=status)


def campaign_page(
    view: Callable[Concatenate[HttpRequest, Campaign, P], HttpResponse],
    methods: Sequence[str] = ("GET", "HEAD"),
) -> Callable[..., HttpResponse]:
    """Let only the campaign's organisers in."""

    @require_http_methods([*methods])
    @wraps(view)
    def guarded(request: HttpRequest, number: int, *of: P.args, **kwargs: P.kwargs) -> HttpResponse:
        translation.activate("en")
        if request.user.is_authenticated:
            campaign = get_object_or_404(organisers.campaigns_of(request.user), pk=number)  # pyright: ignore[reportArgumentType]
            return view(request, campaign, *of, **kwargs)
        if "HX-Request" not in request.headers:
            return redirect_to_login(request.get_full_path())
        # a part that updates itself takes the whole page there
        whole = redirect_to_login(reverse("campaign", args=(number,)))
        return HttpResponse(headers={"HX-Redirect": whole["Location"]})

    return guarded


campaign_act = partial(campaign_page, methods=["POST"])


@require_safe
@login_required
def campaigns(request: HttpRequest) -> HttpResponse:
    """List the organiser's campaigns."""
    translation.activate("en")
    visible = organisers.campaigns_of(request.user)  # pyright: ignore[reportArgumentType]
    rows = [(campaign, results.progress(campaign)) for campaign in visible]
    return render(request, "campaign/organise/campaigns.html", {"rows": rows})


@campaign_page
def campaign(request: HttpRequest, campaign: Campaign, page: str = "campaign") -> HttpResponse:
    """Show the progress of a campaign; ``progress`` is the part that updates itself."""
    progress = results.progress(campaign)
    jobs = [JOBS[task] for task in campaign.tasks]
    ranked = any(job.ranked for job in jobs)
    downloads = {key: of for key, of in results.DOWNLOADS.items() if ranked or of.form is None}
    return _page(request, campaign, page, progress=progress, downloads=downloads, jobs=jobs)


@campaign_page
def result_page(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Show the ranking and the agreement so far; a unit is resampled for ranges and clusters."""
    unit = request.GET.get("unit", "")
    unit = unit if unit in UNITS else next(iter(UNITS))
    complete = Judgment.objects.filter(assignment__judge__campaign=campaign, complete=True)
    acts = campaign.audit.exclude(action="export")  # the log shows changes of judges' names
    newest = (rows.aggregate(last=Max("pk"))["last"] for rows in (complete, acts))
    sections = _sections(campaign.pk, unit, *newest)
    return _page(request, campaign, "results", units=UNITS.items(), chosen=unit, **sections)


@campaign_act
def invite(request: HttpRequest, campaign: Campaign, judge: int = 0) -> HttpResponse:
    """Create links, and show them once; a new one for a ``judge`` makes older ones invalid."""
    n, days = 1, judges.DAYS
    guest = get_object_or_404(campaign.judges, pk=judge) if judge else None
    if guest is None:
        texts = (request.POST.get(name, "") for name in ("count", "days"))
        # the service refuses 0
        n, days = (int(text) if re.fullmatch(r"[0-9]{1,6}", text) else 0 for text in texts)
    if n > MOST_INVITES:
        return _judges(request, campaign, 422, fault=f"At most {MOST_INVITES} at once.")
    try:
        tokens = judges.invite(campaign, n, judge=guest, days=days, who=_who(request))
    except core.GrammeterError as error:
        return _judges(request, campaign, 422, fault=f"{error.message}. {error.fix or ''}")
    links = judges.links(request.build_absolute_uri(reverse("home")), tokens)
    return _judges(request, campaign, links=list(links.values()), invited=list(links))


@campaign_act
def change(request: HttpRequest, campaign: Campaign, act: str, **of: int) -> HttpResponse:
    """Block a judge, leave one out of results, store a note on one, or revoke an invite."""
    who = _who(request)
    if act == "revoke":
        judges.revoke(get_object_or_404(campaign.invites, pk=of["invite"]), who=who)
        return redirect("judges", campaign.pk)
    judge = get_object_or_404(campaign.judges, pk=of["judge"])
    if act == "block":
        judges.block(judge, who=who)
    elif act == "exclude":
        judges.exclude(judge, request.POST.get("reason", ""), who=who)
    else:
        judges.note(judge, request.POST.get("contact", ""), who=who)
    return redirect("judges", campaign.pk)


@campaign_act
def close(request: HttpRequest, campaign: Campaign, closed: bool) -> HttpResponse:
    """Take no more judgments, or take them again."""
    campaigns_.close(campaign, closed, who=_who(request))
    return redirect("campaign", campaign.pk)


@campaign_act
def export(request: HttpRequest, campaign: Campaign, form: str) -> HttpResponse:
    """Send the judgments as a file; a POST, because it is logged."""
    if form not in results.DOWNLOADS:
        raise Http404
    download, zipped = results.DOWNLOADS[form], form == "tasks"
    text = exports.archive(campaign) if zipped else results.text(campaign, form)
    AuditEntry.log(campaign, _who(request), "export", form=form)
    answer = HttpResponse(text, content_type=f"{download.content}; charset=utf-8")
    name = re.sub(r"[^A-Za-z0-9._-]+", "_", campaign.name) or "campaign"
    answer["Content-Disposition"] = f'attachment; filename="{name}{download.suffix}"'
    return answer


@campaign_page
def audit_page(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Show the log."""
    # a detail may be called "items", so a template cannot use the method of the dictionary
    entries = [(row, _detail_text(row.detail)) for row in campaign.audit.all()[:LOG_SHOWN]]
    return _page(request, campaign, "audit", entries=entries, limit=LOG_SHOWN)


def _page(
    request: HttpRequest, campaign: Campaign, name: str, status: int = 200, **values: object
) -> HttpResponse:
    shown = {"campaign": campaign, **values}
    return render(request, f"campaign/organise/{name}.html", shown, status=status)


def _judges(
    request: HttpRequest, campaign: Campaign, status: int = 200, **values: object
) -> HttpResponse:
    known = {judge.name: judge for judge in campaign.judges.all()}
    values["judges"] = [(known[row.judge], row.state) for row in results.progress(campaign).judges]
    values["invites"] = campaign.invites.select_related("judge").order_by("-pk")
    return _page(request, campaign, "judges", status, **values)


judge_page = campaign_page(_judges)


def _detail_text(detail: dict[str, Any]) -> str:
    def words(value: Any) -> str:
        return ", ".join(map(str, value)) if isinstance(value, list) else str(value)  # pyright: ignore

    return "; ".join(f"{key}: {words(value)}" for key, value in detail.items())


def _who(request: HttpRequest) -> str:
    return request.user.get_username()  # pyright: ignore[reportAttributeAccessIssue]


@lru_cache(maxsize=32)
def _sections(pk: int, unit: str, newest: int | None, acts: int | None) -> dict[str, Any]:
    """Return the variables of the page; the last two arguments are keys of the cache."""
    status = CampaignStatus.of(Campaign.objects.get(pk=pk), unit=unit)
    tables = {name: [*map(_cells, of)] for name, of in status.sections.items()}
    return {"sections": tables, "reasons": status.reasons, "remarks": status.notes}


def _cells(table: core.Table) -> dict[str, Any]:
    """Return a table as texts, each with its column."""
    style, columns = core.Style(), table.columns
    rows = [
        [(style.write(cell, of), of) for cell, of in zip(row, columns, strict=True)]
        for row in table.rows
    ]
    return {"title": table.title, "columns": columns, "rows": rows, "notes": table.notes}
