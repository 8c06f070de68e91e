"""Make a campaign, find one."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, cast

from django.contrib.auth.models import User
from django.db import transaction

from grammeter.campaign.criteria import default_criteria
from grammeter.campaign.models import COMMAND_LINE, AuditEntry, Campaign, named
from grammeter.campaign.services import judges
from grammeter.campaign.services.assign import shuffle
from grammeter.campaign.services.stock import Stock
from grammeter.campaign.tasks import Kind, Strategy, Task, check_task
from grammeter.core import DataError, UsageError
from grammeter.core import Item as Sampled
from grammeter.formats import Corpus, Judgments
from grammeter.study import assign, judge_names
from grammeter.version import __version__

if TYPE_CHECKING:
    from grammeter.campaign.creating import Plan

START_PER_SYSTEM = 5  # judgments per system before an adaptive campaign uses the ranking


def find(name: str) -> Campaign:
    """Return a campaign by name; raise :class:`UnknownNameError` if there is none."""
    return named(Campaign.objects.all(), "campaign", name)


def create(
    plan: "Plan", corpus: Corpus, items: Sequence[Sampled], judgments: Judgments | None = None
) -> Campaign:
    """Create a campaign from sampled items, or from ``judgments`` and items for new judges.

    Equal outputs of the corpus become one. Items with judges need the strategy ``planned``, and
    define its judges. Groups of outputs and names of judges stay as in the judgments.
    """
    if judgments is None and not items:
        raise DataError("no item to judge", fix="Give one at least.")
    adaptive = plan.strategy == Strategy.ADAPTIVE
    for number, item in enumerate(items, start=1):
        whose = f"item {number} of an adaptive campaign" if adaptive else f"item {number}"
        check_task(item.task or plan.task, "ranked" if adaptive else "words", whose)
    if judgments is not None and plan.strategy == Strategy.PLANNED:
        raise UsageError("an imported campaign with planned judges", fix="Take pool or adaptive.")
    detail: dict[str, int] = {}
    with transaction.atomic():
        campaign = _begin(plan, items)
        stock = Stock(campaign, corpus)
        if judgments is not None:
            if len(judgments.files) == 1:  # exports keep its format
                campaign.origin["file"] = asdict(judgments.files[0])
            origins: Sequence[str | None] = judgments.origins or [None] * len(judgments)
            for ranking, where in zip(judgments.rankings, origins, strict=True):
                stock.add_judged(ranking, where)
            detail["judgments"] = len(judgments)
        for kind, checks in ((Kind.TUTORIAL, plan.tutorial), (Kind.ATTENTION, plan.attention)):
            for check in checks:
                stock.add_check(check, kind)
        lists = stock.add_sampled(_with_judges(plan, items))
        if items and plan.strategy != Strategy.PLANNED:
            normal = [item for item in stock.items if item.kind == Kind.NORMAL and not item.taken]
            shared = _count_of(plan.overlap, len(normal))
            for at in shuffle(range(len(normal)), plan.seed, "overlap")[:shared]:
                normal[at].wanted = max(2, plan.judges)
        for name, turns in lists.items():
            stock.add_list(judges.add(campaign, name), turns)
        campaign.origin["texts"] = stock.store()
        campaign.save(update_fields=("origin",))
        detail |= {"items": len(stock.items), "judges": len(lists) + len(stock.judges)}
        AuditEntry.log(campaign, COMMAND_LINE, "create", **detail)
    return campaign


def draw_items(
    plan: "Plan", corpus: Corpus, *, n: int, select: Any = "paper", per_item: int = 5
) -> tuple[Sampled, ...]:
    """Draw the items of a campaign; see :func:`grammeter.sample`."""
    from grammeter.verbs import sample

    if n < 1:
        raise UsageError(f"{n} items", fix="Draw one at least.")
    settings: dict[str, Any] = {"n": n, "select": select, "per_item": per_item, "seed": plan.seed}
    if plan.strategy == Strategy.PLANNED:
        settings |= {"judges": judge_names(plan.judges), **_dealing(plan, n)}
    return cast("Callable[..., tuple[Sampled, ...]]", sample)(corpus, **settings)


def close(campaign: Campaign, closed: bool = True, *, who: str = COMMAND_LINE) -> bool:
    """Close or reopen a campaign; return whether that changed anything. All judgments stay."""
    with transaction.atomic():
        changed = Campaign.objects.filter(pk=campaign.pk, closed=not closed).update(closed=closed)
        if changed:
            AuditEntry.log(campaign, who, "close" if closed else "reopen")
    campaign.closed = closed
    return bool(changed)


def _begin(plan: "Plan", items: Sequence[Sampled]) -> Campaign:
    """Store a campaign without its items; raise :class:`UsageError` if its name is taken."""
    if Campaign.objects.filter(name=plan.name).exists():
        raise UsageError(f"there is a campaign called {plan.name!r}", fix="Choose another name.")
    same = ("name", "task", "strategy", "guidelines", "consent", "seed", "per_judge")
    same += ("pass_threshold", "pass_code", "fail_code")
    fields = {name: getattr(plan, name) for name in same}
    fields |= {"asks_background": plan.background, "idle_seconds": plan.idle}
    fields["redirect_url"] = plan.redirect
    signatures = dict.fromkeys(str(item.signature) for item in items if item.signature is not None)
    fresh = sum(not item.repeat for item in items)
    fields["repeats"] = _share_of(plan.repeats, plan.per_judge or fresh)
    campaign = Campaign(**fields, overlap=_share_of(plan.overlap, fresh))
    rated = Task.RATING in {item.task or plan.task for item in items}
    criteria = plan.criteria or default_criteria() if rated else ()
    campaign.criteria = [asdict(criterion) for criterion in criteria]
    campaign.signature, campaign.origin = " ".join(signatures), {"grammeter": __version__}
    if plan.strategy == Strategy.ADAPTIVE:
        systems = {name for item in items for group in item.groups for name in group}
        usual = min(START_PER_SYSTEM * len(systems), fresh // 2)
        campaign.startup = usual if plan.startup is None else plan.startup
    campaign.save()
    owners = [named(User.objects.all(), "organiser", name, "username") for name in plan.owner]
    campaign.owners.set(owners)  # pyright: ignore[reportUnknownMemberType]
    return campaign


def _with_judges(plan: "Plan", items: Sequence[Sampled]) -> Sequence[Sampled]:
    named = {name for item in items for name in item.judges}
    if plan.strategy != Strategy.PLANNED:
        if named:
            fault = f"items for {len(named)} named judges in a campaign that is not planned"
            raise UsageError(fault, fix="Leave --strategy out, or take items that name no judges.")
        return items
    if not named:
        return assign(items, judge_names(plan.judges), seed=plan.seed, **_dealing(plan, len(items)))
    if any(not item.judges for item in items):
        raise UsageError("some items name judges and some do not", fix="Name all or none.")
    return items


def _dealing(plan: "Plan", n: int) -> dict[str, int]:
    """Return the numbers of shared items and of repeats per judge, of ``n`` items."""
    shared = _count_of(plan.overlap, n) if plan.judges > 1 else 0
    mean = (shared * plan.judges + n - shared) // plan.judges
    return {"overlap": shared, "repeats": _count_of(plan.repeats, mean)}


def _count_of(value: float, total: int) -> int:
    """Convert a share or a count to a count: 0.2 of 50 is 10, and 10 is 10."""
    number = round(value * total) if isinstance(value, float) else value
    if value < 0 or number > total:
        raise UsageError(f"{value} of {total} items", fix="Give a share (0.0 to 1.0) or a count.")
    return number


def _share_of(value: float, total: int) -> float:
    return _count_of(value, total) / total if total else 0.0
