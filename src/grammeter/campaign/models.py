"""What a campaign database stores.

::

    Campaign --- Sentence --- Output         what there is to judge; Output.systems stays here
        |------- Item ------- ItemOutput     which outputs of a sentence stand side by side
        |------- Judge ------ Assignment --- Judgment     who sees what; every answer
        |           |-------- Background     what judges tell of themselves, apart
        |------- Invite                      one-time links, by their hash
        '------- AuditEntry                  who did what

A judge is known by an anonymous name. What tells who that is (``Judge.contact``, ``Background``)
can be deleted without touching a judgment.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from django.contrib.auth.models import User
from django.db import models
from django.db.models import F, Q

NAME_LENGTH = 200


class Strategy(StrEnum):
    """How items come to judges."""

    PLANNED = "planned"
    POOL = "pool"
    ADAPTIVE = "adaptive"


class Task(StrEnum):
    """What judges are asked."""

    RANKING = "ranking"
    EDITS = "edits"


class Kind(StrEnum):
    """What an item is for: to count, to teach, to show whether a judge pays attention."""

    NORMAL = "normal"
    TUTORIAL = "tutorial"
    ATTENTION = "attention"


class State(StrEnum):
    """How far an assignment has come."""

    PLANNED = "planned"
    OPEN = "open"
    DONE = "done"
    SKIPPED = "skipped"
    RELEASED = "released"


STRATEGIES = (
    ("planned", "each judge has a list of their own"),
    ("pool", "all judges draw from one pool"),
    ("adaptive", "judges get what tells most about the ranking"),
)
TASKS = (("ranking", "rank whole corrections"), ("edits", "judge each edit, then rank"))
KINDS = (
    ("normal", "counts"),
    ("tutorial", "answers back"),
    ("attention", "shows whether a judge pays attention"),
)
STATES = (
    ("planned", "not shown yet"),
    ("open", "shown, without a complete answer"),
    ("done", "answered"),
    ("skipped", "passed over, with a reason"),
    ("released", "shown and left; others may have it"),
)


class Campaign(models.Model):
    """One human evaluation: what is judged, how, and what judges are told."""

    name = models.CharField(max_length=NAME_LENGTH, unique=True)
    task = models.CharField(max_length=20, choices=TASKS, default=Task.RANKING.value)
    strategy = models.CharField(max_length=20, choices=STRATEGIES, default=Strategy.PLANNED.value)
    guidelines = models.TextField(blank=True)
    consent = models.TextField(blank=True)
    """Judges must agree to it before they begin; empty: nothing to agree to."""
    asks_background = models.BooleanField(default=True)
    """Whether judges see the short form about themselves, which they may leave empty."""
    seed = models.PositiveBigIntegerField(default=1)
    per_judge = models.PositiveIntegerField(null=True, blank=True)
    """How many items one judge gets at most, those of tutorial and attention aside."""
    overlap = models.FloatField(default=0.0)
    """Share of items, 0 to 1, that several judges are to see."""
    repeats = models.FloatField(default=0.0)
    """Share of a judge's items, 0 to 1, that the judge sees twice (pool and adaptive)."""
    startup = models.PositiveIntegerField(default=0)
    """Adaptive: how many judgments are drawn evenly before the ranking is looked at."""
    idle_seconds = models.PositiveIntegerField(default=60)
    """Time without any input after which a judge's active time stands still."""
    pass_threshold = models.FloatField(default=0.75)
    """Share of attention items, 0 to 1, that must be right at the first try."""
    pass_code = models.CharField(max_length=NAME_LENGTH, blank=True)
    fail_code = models.CharField(max_length=NAME_LENGTH, blank=True)
    redirect_url = models.URLField(max_length=2000, blank=True)
    """Where judges go at the end; ``{code}`` in it stands for the completion code."""
    closed = models.BooleanField(default=False)
    signature = models.TextField(blank=True)
    """What the choice of items depends on."""
    origin: models.JSONField[Any] = models.JSONField(default=dict)
    """Version, digest of all texts, and for an imported campaign how its file was written."""
    owners: models.ManyToManyField[Any, Any] = models.ManyToManyField(
        User, blank=True, related_name="campaigns"
    )
    """Organisers who may see it; nobody: all organisers may."""
    created = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name

    @property
    def longest_list(self) -> int | None:
        """How many items and repeats one judge of a pool gets at most; ``None``: no limit."""
        if self.per_judge is None:
            return None
        return self.per_judge + int(self.per_judge * self.repeats + 1e-9)


class Sentence(models.Model):
    """A source sentence with the sentences around it."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="sentences")
    campaign_id: int
    segment = models.PositiveBigIntegerField(null=True)
    """Its number in the corpus, from 1; none for sentences of tutorial and attention items."""
    text = models.TextField()
    before = models.TextField(blank=True)
    after = models.TextField(blank=True)

    class Meta:
        """A corpus has each number once."""

        constraints = (
            models.UniqueConstraint(fields=("campaign", "segment"), name="segment_once"),
        )

    def __str__(self) -> str:
        return f"sentence {self.segment}"


class Output(models.Model):
    """One distinct text for a sentence. ``systems`` is never sent to judges."""

    sentence = models.ForeignKey(Sentence, on_delete=models.CASCADE, related_name="outputs")
    sentence_id: int
    text = models.TextField()
    systems: models.JSONField[Any] = models.JSONField(default=list)
    """Names of all systems that wrote it; empty for tutorial and attention items."""

    def __str__(self) -> str:
        return f"output {self.pk}"


class Item(models.Model):
    """Some outputs of one sentence, to be judged side by side."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="items")
    campaign_id: int
    sentence = models.ForeignKey(Sentence, on_delete=models.CASCADE, related_name="items")
    sentence_id: int
    number = models.PositiveIntegerField()
    """Its place among the campaign's items, from 1."""
    name = models.CharField(max_length=NAME_LENGTH, null=True)
    """Its name in files."""
    document = models.CharField(max_length=NAME_LENGTH, null=True)
    """The name of its document in files."""
    kind = models.CharField(max_length=20, choices=KINDS, default=Kind.NORMAL.value)
    loud = models.BooleanField(default=False)
    """Whether a wrong answer to a tutorial or attention item is asked again."""
    expected: models.JSONField[Any] = models.JSONField(null=True)
    """Right ranks by place; outputs that differ in them must be told apart in the same way."""
    explanation = models.TextField(blank=True)
    """What a tutorial or a loud attention item answers."""
    distinct = models.PositiveIntegerField(null=True)
    """How many distinct outputs the sentence has, those not shown included."""
    probability = models.FloatField(null=True)
    """Expected share of all draws of the sample that fall on its sentence."""
    wanted = models.PositiveIntegerField(default=1)
    """How many judges are to see it: its slots."""
    taken = models.PositiveIntegerField(default=0)
    """How many slots are taken."""

    places: models.Manager[ItemOutput]
    assignments: models.Manager[Assignment]

    class Meta:
        """The database itself refuses to give a slot away that there is not."""

        constraints = (
            models.UniqueConstraint(fields=("campaign", "number"), name="item_number_once"),
            models.CheckConstraint(condition=Q(taken__lte=F("wanted")), name="no_more_than_wanted"),
        )

    def __str__(self) -> str:
        return f"item {self.number}"


class ItemOutput(models.Model):
    """An output's place in an item."""

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="places")
    item_id: int
    output = models.ForeignKey(Output, on_delete=models.CASCADE, related_name="places")
    output_id: int
    place = models.PositiveIntegerField()
    """From 0; judges see the outputs in another order, see :attr:`Assignment.shown_order`."""

    class Meta:
        """One output at each place."""

        ordering = ("item_id", "place")
        constraints = (models.UniqueConstraint(fields=("item", "place"), name="place_once"),)

    def __str__(self) -> str:
        return f"place {self.place} of item {self.item_id}"


class Judge(models.Model):
    """Somebody who judges, known by an anonymous name."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="judges")
    campaign_id: int
    name = models.CharField(max_length=NAME_LENGTH)
    """Anonymous; stands in exports."""
    contact = models.CharField(max_length=NAME_LENGTH, blank=True)
    """The organiser's note of who it is: personal."""
    access = models.CharField(max_length=64, blank=True)
    """Sessions that hold another value are no longer let in."""
    joined = models.DateTimeField(null=True)
    consented = models.DateTimeField(null=True)
    asked_background = models.DateTimeField(null=True)
    """When the form was sent, filled in or left empty."""
    seen = models.DateTimeField(null=True)
    finished = models.DateTimeField(null=True)
    blocked = models.BooleanField(default=False)
    forgotten = models.DateTimeField(null=True)

    assignments: models.Manager[Assignment]
    invites: models.Manager[Invite]

    class Meta:
        """Names are unique in a campaign."""

        ordering = ("campaign_id", "pk")
        constraints = (models.UniqueConstraint(fields=("campaign", "name"), name="judge_once"),)

    def __str__(self) -> str:
        return self.name


class Background(models.Model):
    """What a judge told of themselves: personal, and deleted by ``forget``."""

    judge = models.OneToOneField(Judge, on_delete=models.CASCADE, related_name="background")
    judge_id: int
    first_language = models.CharField(max_length=NAME_LENGTH, blank=True)
    experience = models.TextField(blank=True)
    remarks = models.TextField(blank=True)
    created = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"background of judge {self.judge_id}"


class Invite(models.Model):
    """A link that lets one person in once; only a hash of its token is kept."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="invites")
    campaign_id: int
    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, related_name="invites")
    judge_id: int
    token_hash = models.CharField(max_length=64, unique=True)
    created = models.DateTimeField(auto_now_add=True)
    expires = models.DateTimeField()
    redeemed = models.DateTimeField(null=True)
    revoked = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"invite {self.pk}"


class Assignment(models.Model):
    """An item that a judge is to see, sees, or has seen."""

    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, related_name="assignments")
    judge_id: int
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="assignments")
    item_id: int
    position = models.PositiveIntegerField()
    """Its place in the judge's list, from 1."""
    turn = models.PositiveIntegerField(default=0)
    """How often this judge has met the item before: above 0 it is a repeat."""
    slot = models.PositiveIntegerField(null=True)
    """Which of the item's slots it takes, from 1; repeats and released assignments take none."""
    shown_order: models.JSONField[Any] = models.JSONField(default=list)
    """Places of the outputs in the order in which the judge sees them, from 0."""
    state = models.CharField(max_length=20, choices=STATES, default=State.PLANNED.value)
    probability = models.FloatField(null=True)
    """How likely this item was in the draw that chose it (pool: 1, adaptive: as weighed)."""
    correct = models.BooleanField(null=True)
    """Of tutorial and attention items: whether the first complete answer was right."""
    opened = models.DateTimeField(null=True)
    answered = models.DateTimeField(null=True)

    judgments: models.Manager[Judgment]

    class Meta:
        """No slot is given twice, and nobody has two items at one place."""

        ordering = ("judge_id", "position")
        constraints = (
            models.UniqueConstraint(fields=("judge", "position"), name="position_once"),
            models.UniqueConstraint(fields=("judge", "item", "turn"), name="turn_once"),
            models.UniqueConstraint(fields=("item", "slot"), name="slot_once"),
        )

    def __str__(self) -> str:
        return f"assignment {self.pk}"


class Judgment(models.Model):
    """One version of an answer; a later one never changes an earlier one."""

    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="judgments")
    assignment_id: int
    version = models.PositiveIntegerField()
    """From 1."""
    key = models.CharField(max_length=64)
    """Chosen by who sends it: what is sent twice is stored once."""
    ranks: models.JSONField[Any] = models.JSONField(default=list)
    """Rank of each output in the order shown, 1 is best; ``None`` where there is none yet."""
    verdicts: models.JSONField[Any] = models.JSONField(null=True)
    """Task ``edits``: for each output in the order shown, the verdict on each of its edits."""
    skipped = models.BooleanField(default=False)
    reason = models.TextField(blank=True)
    """Why it was skipped."""
    comment = models.TextField(blank=True)
    complete = models.BooleanField(default=False)
    """Handed in, and not only saved in passing; the latest complete version counts."""
    automatic = models.BooleanField(default=False)
    """Nobody was asked: an item with one output."""
    correct = models.BooleanField(null=True)
    active_seconds = models.FloatField(null=True)
    wall_seconds = models.FloatField(null=True)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        """Versions and keys are unique in an assignment."""

        ordering = ("assignment_id", "version")
        constraints = (
            models.UniqueConstraint(fields=("assignment", "version"), name="version_once"),
            models.UniqueConstraint(fields=("assignment", "key"), name="key_once"),
        )

    def __str__(self) -> str:
        return f"version {self.version} of {self.assignment_id}"


class AuditEntry(models.Model):
    """Who did what, when."""

    campaign = models.ForeignKey(
        Campaign, on_delete=models.CASCADE, null=True, related_name="audit"
    )
    campaign_id: int | None
    who = models.CharField(max_length=NAME_LENGTH)
    action = models.CharField(max_length=NAME_LENGTH)
    detail: models.JSONField[Any] = models.JSONField(default=dict)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        """Newest first."""

        ordering = ("-pk",)

    def __str__(self) -> str:
        return f"{self.who}: {self.action}"


class Throttle(models.Model):
    """Failed attempts in a row, to slow down guessing; see ``services.throttle``."""

    key = models.CharField(max_length=64, primary_key=True)
    """A hash of who tried what."""
    failures = models.PositiveIntegerField(default=0)
    since = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.failures} failures"
