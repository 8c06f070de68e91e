"""Make a campaign, find one."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, cast
from urllib.parse import urlsplit

from django.contrib.auth.models import User
from django.db import transaction

from grammeter.campaign.models import NAME_LENGTH, Campaign, Judge, Kind, Strategy, Task
from grammeter.campaign.services import audit, judges, order
from grammeter.campaign.services.checks import Check
from grammeter.campaign.services.stock import Stock
from grammeter.core import DataError, UnknownNameError, UsageError
from grammeter.core import Item as Sampled
from grammeter.formats import Corpus
from grammeter.study import group_outputs
from grammeter.version import __version__

LARGEST_SEED = 2**63 - 1
"""Largest integer of every database."""

LONGEST_IDLE = 86_400
"""Seconds of a day."""

LONGEST_ADDRESS = 2000

START_PER_SYSTEM = 5
"""Judgments per system before an adaptive campaign uses the ranking."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Settings of a new campaign; :class:`~grammeter.campaign.models.Campaign` explains them.

    Attributes
    ----------
    judges
        Planned number of judges; pool and adaptive campaigns take any number.
    overlap, repeats
        Of the items, and of each judge's items: a share from 0 to 1, or a count.
    startup
        ``None``: five judgments a system, at most half of the items.
    owners
        Logins of the organisers who may see it; empty: all may.
    """

    name: str
    task: str = "ranking"
    strategy: str = "planned"
    judges: int = 0
    overlap: float | int = 0
    repeats: float | int = 0
    per_judge: int | None = None
    startup: int | None = None
    seed: int = 1
    guidelines: str = ""
    consent: str = ""
    asks_background: bool = True
    idle_seconds: int = 60
    pass_threshold: float = 0.75
    pass_code: str = ""
    fail_code: str = ""
    redirect_url: str = ""
    tutorial: tuple[Check, ...] = ()
    attention: tuple[Check, ...] = ()
    owners: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        for kind, value, choices in (
            ("strategy", self.strategy, list(Strategy)),
            ("task", self.task, list(Task)),
        ):
            if value not in choices:
                raise UnknownNameError(kind, value, choices)
        for fault, fix in self._faults():
            raise UsageError(fault, fix=fix)

    def _faults(self) -> Iterator[tuple[str, str]]:
        """Yield each fault with its remedy."""
        planned, adaptive = self.strategy == Strategy.PLANNED, self.strategy == Strategy.ADAPTIVE
        codes = self.pass_code, self.fail_code
        if not self.name.strip() or len(self.name) > NAME_LENGTH or not self.name.isprintable():
            yield f"a campaign called {self.name!r}", "Give it a name of 1 to 200 characters."
        if self.judges < planned:
            yield f"a plan for {self.judges} judges", "Say how many: --judges 3"
        if self.per_judge is not None and (self.per_judge <= 0 or planned):
            yield f"per_judge={self.per_judge}", "Pools have it, from 1 on."
        if self.startup is not None and (self.startup < 0 or not adaptive):
            yield f"startup={self.startup}", "Adaptive campaigns have it, from 0 on."
        if not 0 <= self.pass_threshold <= 1:
            fix = "It is the share of attention items that must be right, from 0 to 1."
            yield f"a threshold of {self.pass_threshold}", fix
        if not 5 <= self.idle_seconds <= LONGEST_IDLE:
            yield f"{self.idle_seconds} idle seconds", "Give 5 at least, and a day at most."
        if bool(self.pass_code) != bool(self.fail_code):
            fix = "Give both, --pass-code and --fail-code."
            yield "only one of the two completion codes", fix
        if max(map(len, codes)) > NAME_LENGTH:
            yield "a long completion code", f"Give {NAME_LENGTH} characters at most."
        if self.redirect_url and not _is_address(self.redirect_url):
            fix = f"Give an address with http or https, of {LONGEST_ADDRESS} characters at most."
            yield f"the redirect {self.redirect_url[:80]!r}", fix
        if not 0 <= self.seed <= LARGEST_SEED:
            yield f"seed {self.seed}", f"A seed goes from 0 to {LARGEST_SEED}."


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        is_web = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        return False
    return is_web and len(text) <= LONGEST_ADDRESS and not re.search(r"[\s\x00-\x1f\x7f]", text)


def find(name: str) -> Campaign:
    """Return a campaign by name; raise :class:`UnknownNameError` if there is none."""
    campaign = Campaign.objects.filter(name=name).first()
    if campaign is None:
        raise UnknownNameError("campaign", name, Campaign.objects.values_list("name", flat=True))
    return campaign


def create(
    plan: Plan, corpus: Corpus, items: Sequence[Sampled], *, who: str = audit.COMMAND_LINE
) -> Campaign:
    """Create a campaign from sampled items; equal outputs of the corpus become one.

    Parameters
    ----------
    plan
        Its settings. Items with judges need the strategy ``planned``, and define its judges.
    corpus
        Sources and outputs of the items.
    items
        From :func:`draw_items` or :func:`grammeter.formats.items.read_items`.

    Raises
    ------
    DataError
        If an item does not fit the corpus.
    UsageError
        If a campaign of that name exists, or plan and items do not fit each other.
    """
    if not items:
        raise DataError("no item to judge", fix="Give one at least.")
    with transaction.atomic():
        campaign = begin(plan, items)
        stock = Stock(campaign, corpus)
        add_checks(stock, plan)
        lists = add_items(stock, plan, items)
        for name, turns in lists.items():
            add_list(stock, judges.add(campaign, name), turns)
        finish(stock, who, judges=len(lists))
    return campaign


def draw_items(
    plan: Plan, corpus: Corpus, *, n: int, select: Any = "paper", per_item: int = 5
) -> tuple[Sampled, ...]:
    """Draw the items of a campaign; see :func:`grammeter.sample`."""
    from grammeter.verbs import sample

    if n < 1:
        raise UsageError(f"{n} items", fix="Draw one at least.")
    settings: dict[str, Any] = {"n": n, "select": select, "per_item": per_item, "seed": plan.seed}
    if plan.strategy == Strategy.PLANNED:
        settings |= {"judges": judges.names_of(plan.judges), **_dealing(plan, n)}
    return cast("Callable[..., tuple[Sampled, ...]]", sample)(corpus, **settings)


def _dealing(plan: Plan, n: int) -> dict[str, int]:
    """Return the numbers of shared items and of repeats per judge, of ``n`` items."""
    shared = count_of(plan.overlap, n) if plan.judges > 1 else 0
    mean = (shared * plan.judges + n - shared) // plan.judges
    return {"overlap": shared, "repeats": count_of(plan.repeats, mean)}


def count_of(value: float, total: int) -> int:
    """Convert a share or a count to a count: 0.2 of 50 is 10, and 10 is 10.

    Raises
    ------
    UsageError
        If it is negative, a share above 1, or a count above ``total``.
    """
    number = round(value * total) if isinstance(value, float) else value
    if value < 0 or number > total:
        raise UsageError(
            f"{value} of {total} items", fix="Give a share from 0.0 to 1.0, or a whole number."
        )
    return number


def share_of(value: float, total: int) -> float:
    """Convert a share or a count to a share."""
    return count_of(value, total) / total if total else 0.0


def begin(plan: Plan, items: Sequence[Sampled], **origin: Any) -> Campaign:
    """Store a campaign without its items; raise :class:`UsageError` if its name is taken."""
    if Campaign.objects.filter(name=plan.name).exists():
        raise UsageError(
            f"there is a campaign called {plan.name!r}", fix="Choose another name for this one."
        )
    unlike = ("judges", "overlap", "repeats", "startup", "tutorial", "attention", "owners")
    fields = {key: value for key, value in asdict(plan).items() if key not in unlike}
    signatures = dict.fromkeys(str(item.signature) for item in items if item.signature is not None)
    campaign = Campaign(
        **fields, signature=" ".join(signatures), origin={"grammeter": __version__, **origin}
    )
    fresh = sum(not item.repeat for item in items)
    campaign.overlap = share_of(plan.overlap, fresh)
    campaign.repeats = share_of(plan.repeats, plan.per_judge or fresh)
    if plan.strategy == Strategy.ADAPTIVE:
        systems = {name for item in items for group in item.groups for name in group}
        usual = min(START_PER_SYSTEM * len(systems), fresh // 2)
        campaign.startup = usual if plan.startup is None else plan.startup
    campaign.save()
    campaign.owners.set(_users(plan.owners))  # pyright: ignore[reportUnknownMemberType]
    return campaign


def add_checks(stock: Stock, plan: Plan) -> None:
    """Add tutorial and attention items."""
    for kind, checks in ((Kind.TUTORIAL, plan.tutorial), (Kind.ATTENTION, plan.attention)):
        for check in checks:
            stock.check(check, kind)


def add_items(
    stock: Stock, plan: Plan, items: Sequence[Sampled]
) -> dict[str, list[tuple[Any, int]]]:
    """Add sampled items; return each planned judge's items, with the turn of each."""
    groups = _Groups(stock.corpus)
    lists: dict[str, list[tuple[Any, int]]] = defaultdict(list)
    known: dict[tuple[object, ...], Any] = {}
    turns: dict[tuple[str, int], int] = defaultdict(int)
    for sampled in _with_judges(plan, items):
        shown, distinct = groups.of(sampled)
        key = (sampled.item, sampled.segment, frozenset(shown))
        item = known.get(key) if sampled.repeat or sampled.item is not None else None
        if item is None:
            item = known[key] = stock.item(
                sampled.segment,
                shown,
                name=sampled.item,
                distinct=sampled.distinct or distinct,
                probability=sampled.probability,
            )
        for judge in sampled.judges:
            lists[judge].append((item, turns[judge, item.number]))
            turns[judge, item.number] += 1
    if plan.strategy != Strategy.PLANNED:
        _open_slots(stock, plan)
    return lists


def add_list(stock: Stock, judge: Judge, turns: Iterable[tuple[Any, int]]) -> None:
    """Give a planned judge the tutorial, then their items with attention items in between."""
    campaign, listed = stock.campaign, list(turns)
    checks = [item for item in stock.items if item.kind == Kind.ATTENTION]
    mixed = order.shuffle(range(len(checks)), campaign.seed, judge.name, "attention")
    stride = len(listed) / len(checks) if checks else 0
    before: dict[int, list[Any]] = defaultdict(list)
    for turn, at in enumerate(mixed):
        before[order.jittered(stride, turn, campaign.seed, judge.name)].append(checks[at])
    for item in stock.items:
        if item.kind == Kind.TUTORIAL:
            stock.assign(judge, item)
    for place, (item, turn) in enumerate(listed):
        for check in before[place]:
            stock.assign(judge, check)
        stock.assign(judge, item, turn=turn)


def finish(stock: Stock, who: str, **detail: Any) -> None:
    """Store the collected rows, and log it."""
    stock.store()
    campaign = stock.campaign
    campaign.origin = {**campaign.origin, "texts": stock.digest()}
    campaign.save(update_fields=("origin",))
    audit.log(campaign, who, "create", items=len(stock.items), **detail)


def close(campaign: Campaign, closed: bool = True, *, who: str = audit.COMMAND_LINE) -> bool:
    """Close or reopen a campaign; return whether that changed anything.

    All judgments stay, and judges of a reopened campaign continue where they were.
    """
    with transaction.atomic():
        changed = Campaign.objects.filter(pk=campaign.pk, closed=not closed).update(closed=closed)
        if changed:
            audit.log(campaign, who, "close" if closed else "reopen")
    campaign.closed = closed
    return bool(changed)


class _Groups:
    """The distinct outputs of each sentence, and those that an item shows."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self.known: dict[int, tuple[tuple[str, ...], ...]] = {}

    def of(self, item: Sampled) -> tuple[list[tuple[str, ...]], int]:
        """Return the systems behind each output shown, and how many outputs there are."""
        if item.segment > len(self.corpus):
            raise _misfit(item, f"there are {len(self.corpus)} sentences")
        if item.segment not in self.known:
            rows = self.corpus.systems.items()
            self.known[item.segment] = group_outputs(
                {name: texts[item.segment - 1] for name, texts in rows}
            )
        all_groups = self.known[item.segment]
        place = {name: group for group in all_groups for name in group}
        shown: dict[tuple[str, ...], None] = {}
        for names in item.groups:
            for name in names:
                if name not in place:
                    raise UnknownNameError(
                        f"system in an item of segment {item.segment}", name, self.corpus.systems
                    )
            if len({place[name] for name in names}) > 1:
                raise _misfit(item, f"{', '.join(names)} did not write the same")
            shown[place[names[0]]] = None
        return list(shown), len(all_groups)


def _misfit(item: Sampled, reason: str) -> DataError:
    return DataError(
        f"item of segment {item.segment} does not fit the outputs: {reason}",
        fix="Give the sources and outputs that the items were made from, all their sentences.",
    )


def _with_judges(plan: Plan, items: Sequence[Sampled]) -> Sequence[Sampled]:
    """Assign items to planned judges, unless the items name their judges."""
    named = {name for item in items for name in item.judges}
    if plan.strategy != Strategy.PLANNED:
        if named:
            raise UsageError(
                f"items for {len(named)} named judges in a campaign that is not planned",
                fix="Leave --strategy out, or take items that name no judges.",
            )
        return items
    if not named:
        from grammeter.study import assign

        names = judges.names_of(plan.judges)
        return assign(items, names, seed=plan.seed, **_dealing(plan, len(items)))
    if any(not item.judges for item in items):
        raise UsageError("some items name judges and some do not", fix="Name all or none.")
    return items


def _open_slots(stock: Stock, plan: Plan) -> None:
    """Set the slots of a pool's items: one, or all judges for shared items."""
    normal = [item for item in stock.items if item.kind == Kind.NORMAL and not item.taken]
    shared = count_of(plan.overlap, len(normal))
    for at in order.shuffle(range(len(normal)), plan.seed, "overlap")[:shared]:
        normal[at].wanted = max(2, plan.judges)


def _users(names: Sequence[str]) -> list[User]:
    users = list(User.objects.filter(username__in=names))
    for name in names:
        if name not in {user.username for user in users}:
            known = User.objects.values_list("username", flat=True)
            raise UnknownNameError("organiser", name, known)
    return users
