"""What a campaign database stores.

::

    Campaign --- Sentence --- Output         what there is to judge; Output.systems stays here
        |------- Item ------- ItemOutput     which outputs of a sentence stand side by side
        |------- Judge ------ Assignment --- Judgment     who sees what; every answer
        |           |-------- Background     a judge's questionnaire answers, apart
        |------- Invite                      one-time links, by their hash
        '------- AuditEntry                  who did what

Judges have anonymous names. Personal data (``Judge.contact``, ``Background``) can be deleted.
"""

# ruff: noqa: D106 - Meta says what it is

from __future__ import annotations

from typing import Any, TypeVar

from django.contrib.auth.models import User
from django.db import models
from django.db.models import CASCADE, Exists, F, OuterRef, Q
from django.utils import timezone
from django.utils.safestring import mark_safe

from grammeter.campaign.criteria import NAME_LENGTH, OVERALL, RatingCriterion
from grammeter.campaign.guidelines import html_of
from grammeter.campaign.tasks import JOBS, Kind, State, Strategy, Task
from grammeter.core import UnknownNameError

COMMAND_LINE = "command line"  # the actor of shell commands, which need no account
Row = TypeVar("Row", bound=models.Model)


class Campaign(models.Model):
    """One human evaluation; ``campaign_create`` explains its settings."""

    name = models.CharField(max_length=NAME_LENGTH, unique=True)
    task = models.CharField(max_length=20, default=Task.RANKING.value)
    strategy = models.CharField(max_length=20, default=Strategy.PLANNED.value)
    guidelines = models.TextField(blank=True)
    consent = models.TextField(blank=True)
    asks_background = models.BooleanField(default=True)
    seed = models.PositiveBigIntegerField(default=1)
    per_judge = models.PositiveIntegerField(null=True, blank=True)
    overlap = models.FloatField(default=0.0)  # share of items, 0 to 1, for several judges
    repeats = models.FloatField(default=0.0)  # share of a judge's items, 0 to 1, shown twice
    startup = models.PositiveIntegerField(default=0)
    idle_seconds = models.PositiveIntegerField(default=60)
    pass_threshold = models.FloatField(default=0.75)
    pass_code = models.CharField(max_length=NAME_LENGTH, blank=True)
    fail_code = models.CharField(max_length=NAME_LENGTH, blank=True)
    redirect_url = models.URLField(max_length=2000, blank=True)
    closed = models.BooleanField(default=False)
    signature = models.TextField(blank=True)
    criteria: models.JSONField[Any] = models.JSONField(default=list)  # of the task `rating`
    origin: models.JSONField[Any] = models.JSONField(default=dict)
    """Version, digest of all texts, and the file format of imported judgments."""
    owners: models.ManyToManyField[Any, Any] = models.ManyToManyField(
        User, blank=True, related_name="campaigns"
    )
    created = models.DateTimeField(auto_now_add=True)

    items: models.Manager[Item]
    judges: models.Manager[Judge]
    invites: models.Manager[Invite]
    audit: models.Manager[AuditEntry]

    @property
    def guidelines_html(self) -> str:
        """The guidelines as a page shows them."""
        return mark_safe(html_of(self.guidelines))  # noqa: S308 - HTML in them is escaped

    @property
    def tasks(self) -> list[Task]:
        """Tasks of its items, tutorial and attention items included, in the order of all tasks."""
        rows = {*self.items.order_by().values_list("task", flat=True)} or {self.task}
        return [task for task in Task if task in rows]

    def criteria_of(self, task: str) -> tuple[RatingCriterion, ...]:
        """Return what each output is rated by in items of a task."""
        rows = self.criteria if task == Task.RATING else ()
        return (OVERALL,) if task == Task.DIRECT else tuple(RatingCriterion(**row) for row in rows)

    @property
    def longest_list(self) -> int | None:
        """Most items, with repeats, for one judge of a pool; ``None``: no limit."""
        if self.per_judge is None:
            return None
        return self.per_judge + int(self.per_judge * self.repeats + 1e-9)


class Sentence(models.Model):
    """A source sentence with the sentences around it."""

    campaign = models.ForeignKey(Campaign, on_delete=CASCADE, related_name="sentences")
    segment = models.PositiveBigIntegerField(null=True)  # in the corpus, from 1; none in checks
    text = models.TextField()
    before = models.TextField(blank=True)
    after = models.TextField(blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("campaign", "segment"), name="segment_once"),
        )


class Output(models.Model):
    """One distinct text for a sentence; ``systems`` is never sent to judges."""

    sentence = models.ForeignKey(Sentence, on_delete=CASCADE, related_name="outputs")
    sentence_id: int
    text = models.TextField()
    systems: models.JSONField[Any] = models.JSONField(default=list)  # none in checks


class Item(models.Model):
    """Outputs of one sentence, judged side by side: ``wanted`` slots, ``taken`` of them in use."""

    campaign = models.ForeignKey(Campaign, on_delete=CASCADE, related_name="items")
    sentence = models.ForeignKey(Sentence, on_delete=CASCADE, related_name="items")
    sentence_id: int
    number = models.PositiveIntegerField()
    name = models.CharField(max_length=NAME_LENGTH, null=True)
    document = models.CharField(max_length=NAME_LENGTH, null=True)
    kind = models.CharField(max_length=20, default=Kind.NORMAL.value)
    task = models.CharField(max_length=20, default=Task.RANKING.value)
    loud = models.BooleanField(default=False)  # whether a wrong answer to a check must be corrected
    expected: models.JSONField[Any] = models.JSONField(null=True)
    """Right ranks by place; outputs with equal ranks here may be ranked in any way."""
    explanation = models.TextField(blank=True)  # shown after a tutorial item or a loud check
    distinct = models.PositiveIntegerField(null=True)  # outputs of the sentence, shown or not
    probability = models.FloatField(null=True)  # expected share of the sample's draws
    wanted = models.PositiveIntegerField(default=1)
    taken = models.PositiveIntegerField(default=0)

    places: models.Manager[ItemOutput]
    assignments: models.Manager[Assignment]

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("campaign", "number"), name="item_number_once"),
            models.CheckConstraint(condition=Q(taken__lte=F("wanted")), name="no_more_than_wanted"),
        )


class ItemOutput(models.Model):
    """The place of an output in an item."""

    item = models.ForeignKey(Item, on_delete=CASCADE, related_name="places")
    item_id: int
    output = models.ForeignKey(Output, on_delete=CASCADE, related_name="places")
    place = models.PositiveIntegerField()  # from 0; the page has `Assignment.shown_order`

    class Meta:
        ordering = ("item_id", "place")
        constraints = (models.UniqueConstraint(fields=("item", "place"), name="place_once"),)


class Judge(models.Model):
    """A judge with an anonymous name."""

    campaign = models.ForeignKey(Campaign, on_delete=CASCADE, related_name="judges")
    name = models.CharField(max_length=NAME_LENGTH)
    contact = models.CharField(max_length=NAME_LENGTH, blank=True)  # the organiser's note: personal
    access = models.CharField(max_length=64, blank=True)  # sessions with another value have ended
    joined = models.DateTimeField(null=True)
    consented = models.DateTimeField(null=True)
    asked_background = models.DateTimeField(null=True)
    seen = models.DateTimeField(null=True)
    finished = models.DateTimeField(null=True)
    blocked = models.BooleanField(default=False)
    forgotten = models.DateTimeField(null=True)
    excluded = models.CharField(max_length=NAME_LENGTH, blank=True)  # why results leave them out

    assignments: models.Manager[Assignment]
    invites: models.Manager[Invite]

    class Meta:
        ordering = ("campaign_id", "pk")
        constraints = (models.UniqueConstraint(fields=("campaign", "name"), name="judge_once"),)


class Background(models.Model):
    """Questionnaire answers of a judge: personal data, deleted by ``forget``."""

    judge = models.OneToOneField(Judge, on_delete=CASCADE, related_name="background")
    judge_id: int
    first_language = models.CharField(max_length=NAME_LENGTH, blank=True)
    experience = models.TextField(blank=True)
    remarks = models.TextField(blank=True)
    created = models.DateTimeField(auto_now_add=True)


class Invite(models.Model):
    """A link for one person and one use; only the hash of its token is stored."""

    campaign = models.ForeignKey(Campaign, on_delete=CASCADE, related_name="invites")
    judge = models.ForeignKey(Judge, on_delete=CASCADE, related_name="invites")
    judge_id: int
    token_hash = models.CharField(max_length=64, unique=True)
    created = models.DateTimeField(auto_now_add=True)
    expires = models.DateTimeField()
    redeemed = models.DateTimeField(null=True)
    revoked = models.DateTimeField(null=True)

    @property
    def state(self) -> str:
        """``used``, ``revoked``, ``expired``, or ``open``."""
        if self.redeemed or self.revoked:
            return "used" if self.redeemed else "revoked"
        return "expired" if self.expires <= timezone.now() else "open"


class Assignment(models.Model):
    """An item for a judge: planned, open or answered."""

    judge = models.ForeignKey(Judge, on_delete=CASCADE, related_name="assignments")
    judge_id: int
    item = models.ForeignKey(Item, on_delete=CASCADE, related_name="assignments")
    item_id: int
    position = models.PositiveIntegerField()
    turn = models.PositiveIntegerField(default=0)  # how often the judge saw it before; 1: a repeat
    slot = models.PositiveIntegerField(null=True)  # from 1; none of repeats and released ones
    shown_order: models.JSONField[Any] = models.JSONField(default=list)  # places, from 0, as shown
    state = models.CharField(max_length=20, default=State.PLANNED.value)
    probability = models.FloatField(null=True)  # probability of the item in its draw (pool: 1)
    correct = models.BooleanField(null=True)  # checks: whether the first complete answer was right
    opened = models.DateTimeField(null=True)
    answered = models.DateTimeField(null=True)

    judgments: models.Manager[Judgment]

    class Meta:
        ordering = ("judge_id", "position")
        constraints = (
            models.UniqueConstraint(fields=("judge", "position"), name="position_once"),
            models.UniqueConstraint(fields=("judge", "item", "turn"), name="turn_once"),
            models.UniqueConstraint(fields=("item", "slot"), name="slot_once"),
        )


class Judgment(models.Model):
    """One version of an answer, from 1; later versions never change it."""

    assignment = models.ForeignKey(Assignment, on_delete=CASCADE, related_name="judgments")
    version = models.PositiveIntegerField()
    key = models.CharField(max_length=64)  # chosen by the sender: sent twice, stored once
    ranks: models.JSONField[Any] = models.JSONField(default=list)  # as shown, 1 is best, or `None`
    verdicts: models.JSONField[Any] = models.JSONField(null=True)
    """Tasks ``edits``, ``marks``: verdicts on the edits of each output, in the order shown."""
    answer: models.JSONField[Any] = models.JSONField(null=True)
    """Tasks ``rating``, ``direct``, ``post-edit``: an object for each output, as shown."""
    skipped = models.BooleanField(default=False)
    reason = models.TextField(blank=True)
    comment = models.TextField(blank=True)
    complete = models.BooleanField(default=False)  # no draft; the latest complete version counts
    automatic = models.BooleanField(default=False)  # an item with one output
    correct = models.BooleanField(null=True)
    active_seconds = models.FloatField(null=True)
    wall_seconds = models.FloatField(null=True)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("assignment_id", "version")
        constraints = (
            models.UniqueConstraint(fields=("assignment", "version"), name="version_once"),
            models.UniqueConstraint(fields=("assignment", "key"), name="key_once"),
        )


class AuditEntry(models.Model):
    """Who did what, when."""

    campaign = models.ForeignKey(Campaign, on_delete=CASCADE, related_name="audit")
    who = models.CharField(max_length=NAME_LENGTH)
    action = models.CharField(max_length=NAME_LENGTH)
    detail: models.JSONField[Any] = models.JSONField(default=dict)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-pk",)

    @classmethod
    def log(cls, campaign: Campaign, who: str, action: str, **detail: Any) -> None:
        """Log ``who`` (login, anonymous name, :data:`COMMAND_LINE`) and plain JSON, no secrets."""
        cls.objects.create(campaign=campaign, who=who, action=action, detail=detail)


def named(rows: models.QuerySet[Row], kind: str, name: str, column: str = "name") -> Row:
    """Return the row of a name; raise :class:`UnknownNameError` if there is none."""
    if (row := rows.filter(**{column: name}).first()) is None:
        raise UnknownNameError(kind, name, rows.values_list(column, flat=True))
    return row


def compared(assignments: models.QuerySet[Assignment]) -> models.QuerySet[Assignment]:
    """Keep items that judges see: two outputs or more, or one where the task needs no other."""
    several = ItemOutput.objects.filter(item=OuterRef("item"), place=1)
    alone = [task for task, job in JOBS.items() if not job.compared]
    return assignments.filter(Q(item__task__in=alone) | Exists(several))


def release(assignments: models.QuerySet[Assignment]) -> int:
    """Release the slots of assignments, which can still be answered; return how many."""
    held = list(assignments.filter(slot__isnull=False))
    for assignment in held:
        Assignment.objects.filter(pk=assignment.pk).update(slot=None, state=State.RELEASED)
        Item.objects.filter(pk=assignment.item_id).update(taken=F("taken") - 1)
    return len(held)
