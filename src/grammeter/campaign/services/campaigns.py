"""Make a campaign, find one."""

import hashlib
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, cast

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from grammeter.campaign.criteria import Check, default_criteria
from grammeter.campaign.models import (
    COMMAND_LINE,
    Assignment,
    AuditEntry,
    Campaign,
    Item,
    ItemOutput,
    Judge,
    Judgment,
    Output,
    Sentence,
    named,
)  # fmt: skip
from grammeter.campaign.services import judges
from grammeter.campaign.services.assign import jittered, shuffle
from grammeter.campaign.tasks import Kind, State, Strategy, Task, check_task
from grammeter.core import DataError, Ranking, UnknownNameError, UsageError
from grammeter.core import Item as Sampled
from grammeter.formats import Corpus, Judgments
from grammeter.study import assign, group_outputs, judge_names
from grammeter.version import __version__

if TYPE_CHECKING:
    from grammeter.campaign.creating import Plan

Group = tuple[str, ...]
_BATCH = 500
START_PER_SYSTEM = 5  # judgments per system before an adaptive campaign uses the ranking


def find(name: str) -> Campaign:
    """Return a campaign by name; raise :class:`UnknownNameError` if there is none."""
    return named(Campaign.objects.all(), "campaign", name)


@transaction.atomic
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


@transaction.atomic
def close(campaign: Campaign, closed: bool = True, *, who: str = COMMAND_LINE) -> bool:
    """Close or reopen a campaign; return whether that changed anything. All judgments stay."""
    changed = Campaign.objects.filter(pk=campaign.pk, closed=not closed).update(closed=closed)
    if changed:
        AuditEntry.log(campaign, who, "close" if closed else "reopen")
    campaign.closed = closed
    return bool(changed)


def change(campaign: Campaign, *, who: str = COMMAND_LINE, **values: str) -> list[str]:
    """Set fields, also while judges work; return the names of those that changed, and log them."""
    changed = [name for name, value in values.items() if getattr(campaign, name) != value]
    for name in changed:
        setattr(campaign, name, values[name])
    same = {field.name for field in Campaign._meta.fields} - {*changed}
    try:
        campaign.full_clean(exclude=same)
    except ValidationError as error:
        faults = [f"{name}: {' '.join(of)}" for name, of in error.message_dict.items()]
        raise UsageError("; ".join(faults), fix="Nothing was changed.") from None
    campaign.save(update_fields=changed)
    if changed:
        AuditEntry.log(campaign, who, "change", fields=changed)
    return changed


@transaction.atomic
def delete(campaign: Campaign) -> int:
    """Delete a campaign and all that belongs to it; return how many judgments that were."""
    count = Judgment.objects.filter(assignment__judge__campaign=campaign).count()
    campaign.delete()
    return count


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


# --- rows, collected in memory and stored at once ------------------------------------------
class Stock:
    """The rows of one campaign; equal sentences and outputs are stored once."""

    def __init__(self, campaign: Campaign, corpus: Corpus) -> None:
        self.campaign, self.corpus = campaign, corpus
        self._lines = ["", *corpus.sources, ""]
        self.items: list[Item] = []
        self.judges: dict[str, Judge] = {}  # judges of imported judgments
        self._sentences: dict[int, Sentence] = {}
        self._outputs: dict[tuple[int, frozenset[str]], Output] = {}
        self._rows: list[Any] = []  # all other rows, without the items
        self._groups: dict[int, tuple[Group, ...]] = {}
        self._known: dict[tuple[object, ...], Item] = {}
        self._places: dict[int, dict[frozenset[str], int]] = {}
        self._positions: Counter[str] = Counter()
        self._turns: Counter[tuple[str, int]] = Counter()
        self._now = timezone.now()

    def add_sampled(self, items: Iterable[Sampled]) -> dict[str, list[tuple[Item, int]]]:
        """Add sampled items; return the items of each judge, with the turn of each."""
        lists: dict[str, list[tuple[Item, int]]] = defaultdict(list)
        for sampled in items:
            shown, distinct = self._shown(sampled)
            task = sampled.task or self.campaign.task
            key = (sampled.item, sampled.segment, frozenset(shown), task)
            item = self._known.get(key) if sampled.repeat or sampled.item is not None else None
            if item is None:
                fields = {"name": sampled.item, "probability": sampled.probability}
                fields |= {"distinct": sampled.distinct or distinct, "task": task}
                item = self._known[key] = self._item(sampled.segment, shown, **fields)
            for judge in sampled.judges:
                lists[judge].append((item, self._turn(judge, item)))
        return lists

    def add_check(self, check: Check, kind: Kind) -> None:
        """Add an item with a known answer."""
        texts = {name: storable(getattr(check, name)) for name in ("before", "after")}
        sentence = Sentence(campaign=self.campaign, text=storable(check.source), **texts)
        outputs = [Output(sentence=sentence, text=storable(text)) for text in check.outputs]
        self._rows += [sentence, *outputs]
        fields: dict[str, Any] = {"loud": check.loud, "explanation": check.explanation}
        fields["task"] = check.task or self.campaign.task
        self._add(Item(sentence=sentence, kind=kind, expected=list(check.ranks), **fields), outputs)

    def add_list(self, judge: Judge, turns: Sequence[tuple[Item, int]]) -> None:
        """Give a planned judge the tutorial, then their items with attention items in between."""
        seed = self.campaign.seed, judge.name
        checks = [item for item in self.items if item.kind == Kind.ATTENTION]
        stride = len(turns) / len(checks) if checks else 0
        before: dict[int, list[Item]] = defaultdict(list)
        for turn, at in enumerate(shuffle(range(len(checks)), *seed, "attention")):
            before[jittered(stride, turn, *seed)].append(checks[at])
        for item in self.items:
            if item.kind == Kind.TUTORIAL:
                self._assign(judge, item)
        for place, (item, turn) in enumerate(turns):
            for check in before[place]:
                self._assign(judge, check)
            self._assign(judge, item, turn=turn)

    def add_judged(self, ranking: Ranking, where: str | None) -> None:
        """Add an imported judgment; a judge's second one of an item is a repeat."""
        unknown = [name for name in ranking.systems if name not in self.corpus.systems]
        if unknown or ranking.segment > len(self.corpus):
            fault = f"unknown system {unknown[0]!r}" if unknown else f"no line {ranking.segment}"
            raise DataError(fault, where=where, fix="Give the judged sources and outputs.")
        if ranking.judge not in self.judges:
            self.judges[ranking.judge] = self.campaign.judges.create(name=ranking.judge)
        judge, item = self.judges[ranking.judge], self._judged(ranking)
        assignment = self._assign(judge, item, turn=self._turn(judge.name, item))
        places = self._places[item.number]
        assignment.shown_order = [places[frozenset(group)] for group in ranking.groups]
        assignment.state = State.SKIPPED if ranking.skipped else State.DONE
        assignment.answered = self._now
        alone = len(ranking.groups) == 1 and not ranking.skipped
        made = {"version": 1, "key": uuid.uuid4().hex, "complete": True, "automatic": alone}
        answer = {"ranks": list(ranking.ranks), "skipped": ranking.skipped, **made}
        judgment = Judgment(assignment=assignment, wall_seconds=ranking.seconds, **answer)
        self._rows.append(judgment)

    def store(self) -> str:
        """Write all rows, in a transaction; return the SHA-256 of all texts."""
        rows = [*self._sentences.values(), *self._outputs.values(), *self.items, *self._rows]
        tables: list[Any] = [Sentence, Output, Item, ItemOutput, Assignment, Judgment]
        for table in tables:
            table.objects.bulk_create([row for row in rows if type(row) is table], _BATCH)
        digest = hashlib.sha256()
        for segment in sorted(self._sentences):
            digest.update(f"{segment}\n{self._sentences[segment].text}\n".encode())
        for key in sorted(self._outputs, key=lambda key: (key[0], *sorted(key[1]))):
            output = self._outputs[key]
            digest.update(f"{' '.join(sorted(output.systems))}\n{output.text}\n".encode())
        return digest.hexdigest()

    def _shown(self, item: Sampled) -> tuple[list[Group], int]:
        """Return the systems behind each output shown, and how many outputs there are."""
        if item.segment > len(self.corpus):
            raise _misfit(item, f"there are {len(self.corpus)} sentences")
        if item.segment not in self._groups:
            texts = {name: of[item.segment - 1] for name, of in self.corpus.systems.items()}
            self._groups[item.segment] = group_outputs(texts)
        all_groups = self._groups[item.segment]
        place = {name: group for group in all_groups for name in group}
        for names in item.groups:
            for name in names:
                if name not in place:
                    kind = f"system in an item of segment {item.segment}"
                    raise UnknownNameError(kind, name, self.corpus.systems)
            if len({place[name] for name in names}) > 1:
                raise _misfit(item, f"{', '.join(names)} did not write the same")
        return list(dict.fromkeys(place[names[0]] for names in item.groups)), len(all_groups)

    def _judged(self, ranking: Ranking) -> Item:
        """Items are equal if name, document, sentence and outputs are."""
        groups = [*map(frozenset[str], ranking.groups)]
        key = (ranking.item, ranking.document, ranking.segment, frozenset(groups))
        if key not in self._known:
            # other tasks have other answers than ranks
            task = Task.EDITS if self.campaign.task == Task.EDITS else Task.RANKING
            names = {"name": ranking.item, "document": ranking.document, "task": task}
            item = self._known[key] = self._item(ranking.segment, ranking.groups, **names)
            self._places[item.number] = {group: place for place, group in enumerate(groups)}
        return self._known[key]

    def _item(self, segment: int, groups: Sequence[Group], **fields: Any) -> Item:
        """Add a normal item; ``groups`` are the systems of each output shown."""
        if segment not in self._sentences:
            before, text, after = map(storable, self._lines[segment - 1 : segment + 2])
            texts = {"before": before, "text": text, "after": after}
            self._sentences[segment] = Sentence(campaign=self.campaign, segment=segment, **texts)
        sentence = self._sentences[segment]
        for group in groups:
            if (key := (segment, frozenset(group))) not in self._outputs:
                text = storable(self.corpus.systems[group[0]][segment - 1])
                self._outputs[key] = Output(sentence=sentence, text=text, systems=list(group))
        outputs = [self._outputs[segment, frozenset(group)] for group in groups]
        return self._add(Item(sentence=sentence, **fields), outputs)

    def _add(self, item: Item, outputs: Sequence[Output]) -> Item:
        item.campaign, item.number = self.campaign, len(self.items) + 1
        self.items.append(item)
        for place, output in enumerate(outputs):
            self._rows.append(ItemOutput(item=item, output=output, place=place))
        return item

    def _turn(self, judge: str, item: Item) -> int:
        """Return how often a judge has the item already, and count it."""
        self._turns[judge, item.number] += 1
        return self._turns[judge, item.number] - 1

    def _assign(self, judge: Judge, item: Item, *, turn: int = 0) -> Assignment:
        """Append an item to a judge's list; it takes a slot unless it is a repeat."""
        self._positions[judge.name] += 1
        position, slot = self._positions[judge.name], None
        if item.kind == Kind.NORMAL and not turn:
            item.taken = slot = item.taken + 1
            item.wanted = max(item.wanted, slot)
        assignment = Assignment(judge=judge, item=item, position=position, turn=turn, slot=slot)
        self._rows.append(assignment)
        return assignment


def storable(text: str) -> str:
    """Strip a text, and replace NUL, which PostgreSQL refuses."""
    return text.strip().replace("\0", "\N{REPLACEMENT CHARACTER}")


def _misfit(item: Sampled, reason: str) -> DataError:
    fault = f"item of segment {item.segment} does not fit the outputs: {reason}"
    fix = "Give the sources and outputs that the items were made from, all their sentences."
    return DataError(fault, fix=fix)
