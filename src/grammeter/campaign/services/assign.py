"""Choose a judge's next item: from a list, a pool, or where the ranking is least certain.

No slot is assigned twice, whatever happens at once. In a pool, attention items come at places that
differ between judges, and repeats some items after the first time.

Adaptive campaigns prefer items that compare systems whose order is uncertain.

With ``p`` the share of bootstrap samples of rankings in which the first of two systems has more
Expected Wins, the uncertainty of their order is ``2 * min(p, 1 - p)``, 0 to 1; 1 for systems that
were not compared. An item's weight is the sum over all pairs of systems with different outputs in
it. Its probability is ::

    (1 - EVEN) * weight / sum of weights + EVEN / number of items

so that every item can be drawn, and a ranking can be weighted back by one over the probability.
While a system has less than half of the mean number of comparisons, only its items have weight.

Computing this reads all judgments and resamples them. The weights are cached, until the number of
judgments has grown by the share :data:`NEWS`.
"""

import math
import random
import threading
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

import numpy as np
from django.core.exceptions import PermissionDenied
from django.db import connection, transaction
from django.db.models import Count, F, Max, Q
from django.db.models.functions import Coalesce
from django.utils import timezone

from grammeter.campaign.models import Assignment, Campaign, Item, Judge, Judgment, compared, release
from grammeter.campaign.services import results
from grammeter.campaign.tasks import JOBS, Kind, State, Strategy
from grammeter.core import BoolArray, FloatArray, Ranking
from grammeter.ranking import ExpectedWins, Resampling, extract_pairs

HOLD_HOURS = 24  # time after which another judge may have the slot of an open item
REPEAT_AFTER = 10  # number of items between an item and its repeat, in a pool without ``per_judge``
ATTENTION_EVERY = 10  # number of items between attention items, in a pool without ``per_judge``
EVEN = 0.2  # the share of the uniform distribution
NEWS = 0.05  # relative growth of the judgments after which the weights are computed again
RESAMPLES = 200
STARVED = 0.5
_looking = threading.Lock()
Groups = Sequence[Sequence[str]]  # the systems of each output that an item shows


def chance(*seed: object) -> random.Random:
    """Return random numbers that depend only on the seed."""
    return random.Random("/".join(map(str, seed)))  # noqa: S311 - orders and draws, no secret


def shuffle(values: Sequence[int], *seed: object) -> list[int]:
    """Return values in an order that depends only on the seed."""
    return chance(*seed).sample(values, len(values))


def jittered(stride: float, turn: int, *seed: object) -> int:
    """Return the place of an item that comes once in ``stride`` places, at a random one of them."""
    return int(stride * (turn + chance(*seed, turn).random()))


def next_assignment(judge: Judge) -> Assignment | None:
    """Return the judge's open item, or open the next one; ``None`` at the end.

    Items with one output are answered here, unseen. ``PermissionDenied`` if the judge is blocked.
    """
    appeal = current_appeal(judge.campaign)
    with transaction.atomic():
        judges = Judge.objects.select_for_update(of=("self",)).select_related("campaign")
        locked = judges.get(pk=judge.pk)
        if locked.blocked:
            raise PermissionDenied("you are no longer a judge of this campaign")
        if locked.campaign.closed:
            return None
        assignment = _following(locked, appeal)
        if (assignment is None) != (locked.finished is not None):
            locked.finished = timezone.now() if assignment is None else None
            locked.save(update_fields=("finished",))
    judge.finished = locked.finished
    return assignment


def _following(judge: Judge, appeal: "Appeal | None") -> Assignment | None:
    """Open the next item that is not open yet; those with one output get their answer here."""
    while (assignment := _waiting(judge) or _draw(judge, appeal)) is not None:
        if assignment.state == State.OPEN:
            return assignment
        item, now = assignment.item, timezone.now()
        places, seed = range(item.places.count()), (judge.campaign.seed, item.number)
        assignment.shown_order = shuffle(places, *seed, judge.name, assignment.turn)
        assignment.state, assignment.opened = State.OPEN, now
        if alone := len(places) < 2 and JOBS[item.task].compared:
            assignment.state, assignment.answered = State.DONE, now
        assignment.save()
        if not alone:
            return assignment
        answer = {"version": 1, "key": uuid.uuid4().hex, "complete": True, "automatic": True}
        answer |= {"ranks": [1] * len(places), "active_seconds": 0.0, "wall_seconds": 0.0}
        Judgment.objects.create(assignment=assignment, **answer)
    return None


def _waiting(judge: Judge) -> Assignment | None:
    # "open" comes before "planned" in the alphabet, too
    rows = judge.assignments.filter(state__in=(State.OPEN, State.PLANNED))
    assignment = rows.select_related("item__sentence").order_by("state", "position").first()
    if assignment is not None:
        assignment.item.campaign = judge.campaign
    return assignment


def _draw(judge: Judge, appeal: "Appeal | None") -> Assignment | None:
    """Choose an item within a transaction that then saves it; ``None`` if there is none left."""
    campaign = judge.campaign
    if campaign.strategy == Strategy.PLANNED:
        return None
    list(Campaign.objects.select_for_update(no_key=True).filter(pk=campaign.pk).values_list("pk"))
    so_far = _history(judge)
    assignment = _attention(judge, so_far) or _repeat(judge, so_far)
    assignment = assignment or _fresh(judge, so_far, appeal)
    if assignment is None and _release_stale(judge):
        assignment = _fresh(judge, so_far, appeal)
    if assignment is not None:
        assignment.judge, assignment.position = judge, so_far["position"]
        assignment.item.campaign = campaign  # saves a query
        if assignment.probability is not None:
            taken = assignment.item.assignments.exclude(slot=None).values_list("slot", flat=True)
            used = {*taken}
            assignment.slot = next(slot for slot in range(1, len(used) + 2) if slot not in used)
            Item.objects.filter(pk=assignment.item_id).update(taken=F("taken") + 1)
    return assignment


def _release_stale(judge: Judge) -> int:
    """Release the slots of items that other judges opened and left."""
    now, held = timezone.now(), timedelta(hours=HOLD_HOURS)
    left = Assignment.objects.filter(item__campaign=judge.campaign, state=State.OPEN)
    # a time in the future: the clock was set back
    return release(left.exclude(judge=judge).exclude(opened__range=(now - held, now + held)))


def _history(judge: Judge) -> dict[str, int]:
    """Return the numbers of a judge's items and repeats so far, and the next position."""
    normal = Q(item__kind=Kind.NORMAL)
    return judge.assignments.aggregate(
        fresh=Count("pk", filter=normal & Q(turn=0)),
        repeats=Count("pk", filter=normal & Q(turn__gt=0)),
        position=Coalesce(Max("position"), 0) + 1,
    )


def _attention(judge: Judge, so_far: dict[str, int]) -> Assignment | None:
    campaign = judge.campaign
    items = campaign.items.filter(kind=Kind.ATTENTION).order_by("number")
    if not (todo := list(items.exclude(assignments__judge=judge).values_list("pk", flat=True))):
        return None
    total = items.count()
    stride = campaign.per_judge / total if campaign.per_judge else ATTENTION_EVERY
    if so_far["fresh"] < jittered(stride, total - len(todo), campaign.seed, judge.name):
        return None
    return Assignment(item_id=shuffle(todo, campaign.seed, judge.name, "attention")[0])


def _repeat(judge: Judge, so_far: dict[str, int]) -> Assignment | None:
    """Return a repeat, if one is due and an item was judged long enough ago."""
    campaign = judge.campaign
    if not campaign.repeats or so_far["repeats"] + 1 > campaign.repeats * so_far["fresh"] + 1e-9:
        return None
    after = campaign.per_judge // 2 if campaign.per_judge else REPEAT_AFTER
    normal = judge.assignments.filter(item__kind=Kind.NORMAL)
    latest, repeated = so_far["position"] - max(after, 1), normal.filter(turn__gt=0).values("item")
    old = compared(normal.filter(turn=0, state=State.DONE, position__lte=latest))
    old = old.exclude(item__in=repeated).order_by("position")
    if not (pool := list(old.values_list("item", flat=True))):
        return None
    chosen = shuffle(pool, campaign.seed, judge.name, "repeat", so_far["repeats"])[0]
    return Assignment(item_id=chosen, turn=1)


def _fresh(judge: Judge, so_far: dict[str, int], appeal: "Appeal | None") -> Assignment | None:
    """Return an item with a free slot that is new to the judge."""
    campaign = judge.campaign
    if campaign.per_judge is not None and so_far["fresh"] >= campaign.per_judge:
        return None
    normal = campaign.items.filter(kind=Kind.NORMAL, taken__lt=F("wanted"))
    open_items = normal.exclude(assignments__judge=judge).order_by("number")
    if campaign.strategy == Strategy.POOL:
        item = open_items.first()
        return None if item is None else Assignment(item=item, probability=1.0)
    if not (rows := list(open_items.values_list("pk", "taken"))):
        return None
    numbers, taken = zip(*rows, strict=True)
    chances = np.full(len(rows), 1 / len(rows)) if appeal is None else appeal.probabilities(numbers)
    begun = np.array(taken) > 0  # by others: they have a share of the draws
    if begun.any():
        chances = (1 - campaign.overlap) * chances + campaign.overlap * begun / begun.sum()
    weights: list[float] = chances.tolist()
    draw = chance(campaign.seed, judge.name, so_far["position"])
    at = draw.choices(range(len(rows)), weights=weights)[0]
    return Assignment(item_id=rows[at][0], probability=weights[at])


# --- adaptive campaigns: the most informative items --------------------------------------
def outlook(
    systems: Sequence[str], rankings: Sequence[Ranking], *, seed: int = 1
) -> tuple[FloatArray, BoolArray]:
    """Estimate the uncertainty of the ranking of all ``systems``, judged or not.

    Returns it for each pair, shape ``(systems, systems)``: symmetric, 0 to 1, 0 on the diagonal;
    and whether a system was compared less than half as often as the mean, shape ``(systems,)``.
    """
    uncertainty = 1.0 - np.eye(len(systems))
    compared = np.zeros(len(systems))
    pairs = extract_pairs(rankings)
    if len(pairs):
        places = np.array([systems.index(name) for name in pairs.systems])
        wins, ties = pairs.counts()
        compared[places] = (wins + wins.T + ties).sum(axis=1)
        runs = ExpectedWins().runs(pairs, Resampling(unit="ranking", runs=RESAMPLES, seed=seed))
        scores = np.nan_to_num(runs, nan=-1.0)  # below all scores
        above = (scores[:, :, None] > scores[:, None, :]).mean(axis=0)
        share = above + (scores[:, :, None] == scores[:, None, :]).mean(axis=0) / 2
        uncertainty[np.ix_(places, places)] = 2 * np.minimum(share, 1 - share)
        np.fill_diagonal(uncertainty, 0.0)
    return uncertainty, compared < STARVED * compared.mean()


@dataclass(frozen=True, eq=False)
class Appeal:
    """The appeal of each item."""

    row: Mapping[int, int]  # number of an item -> its row in the arrays
    weights: FloatArray  # (items,): the uncertainty of all pairs of systems with different outputs
    hungry: BoolArray  # (items,): whether it shows a starved system

    def probabilities(self, items: Sequence[int]) -> FloatArray:
        """Return the probability of drawing each of these items, shape ``(items,)``; sum 1."""
        rows = [self.row[number] for number in items]
        weights, hungry = self.weights[rows], self.hungry[rows]
        if hungry.any():
            weights = hungry.astype(np.float64)
        even, total = np.full(len(rows), 1 / len(rows)), weights.sum()
        return (1 - EVEN) * weights / total + EVEN * even if total > 0 else even


def weigh(
    systems: Sequence[str], uncertainty: FloatArray, starved: BoolArray, items: Mapping[int, Groups]
) -> Appeal:
    """Weigh items (number -> the systems of each output) by what :func:`outlook` returns."""
    shown = np.zeros((len(items), len(systems)), dtype=np.bool_)
    weights = np.zeros(len(items))
    for row, groups in enumerate(items.values()):
        member = np.array([[name in group for name in systems] for group in groups], float)
        member = member.reshape(len(groups), len(systems))  # an item may show nothing
        apart = member @ uncertainty @ member.T
        weights[row] = (apart.sum() - np.trace(apart)) / 2
        shown[row] = member.any(axis=0)
    hungry: BoolArray = np.asarray(shown[:, starved].any(axis=1))
    return Appeal({number: row for row, number in enumerate(items)}, weights, hungry)


def current_appeal(campaign: Campaign) -> Appeal | None:
    """Return the items' appeal, before any lock; ``None`` unless adaptive and past the start-up."""
    if campaign.strategy != Strategy.ADAPTIVE:
        return None
    which = {"complete": True, "skipped": False, "automatic": False}
    count = Judgment.objects.filter(assignment__item__campaign=campaign, **which).count()
    if count < campaign.startup:
        return None
    database = str(connection.settings_dict["NAME"])
    with _looking:  # others wait for what one of them computes
        return _appeal(database, campaign.pk, campaign.created, int(math.log(count + 1, 1 + NEWS)))


@lru_cache(maxsize=32)
def _appeal(database: str, pk: int, created: datetime, news: int) -> Appeal:
    """Compute the appeal; all arguments but the campaign's key are keys of the cache."""
    campaign = Campaign.objects.get(pk=pk)
    normal = {*campaign.items.filter(kind=Kind.NORMAL).values_list("pk", flat=True)}
    shown = {at: of for at, of in results.shown_systems(campaign).items() if at in normal}
    systems = sorted({name for of in shown.values() for group in of for name in group})
    rankings = results.judgments(campaign)
    return weigh(systems, *outlook(systems, rankings, seed=campaign.seed), shown)
