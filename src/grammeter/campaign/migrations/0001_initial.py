"""The first tables."""
# ruff: noqa: D101, RUF012
# pyright: basic

from typing import Any

from django.conf import settings
from django.db import migrations, models
from django.db.models import CASCADE, ForeignKey

from grammeter.campaign.models import STRATEGIES, TASKS  # labels, not in the database


def _table(name: str, /, *ordering: str, **fields: Any) -> migrations.CreateModel:
    """Return a table with a number for each row, unless another field identifies it."""
    number = models.BigAutoField(
        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
    )
    key = {} if any(field.primary_key for field in fields.values()) else {"id": number}
    options = {"ordering": ordering} if ordering else {}
    return migrations.CreateModel(name, [*(key | fields).items()], options)


def _of(table: str, related_name: str, **more: Any) -> Any:
    return ForeignKey(f"campaign.{table}", CASCADE, related_name=related_name, **more)


class Migration(migrations.Migration):
    initial = True
    dependencies = [migrations.swappable_dependency(settings.AUTH_USER_MODEL)]
    operations = [
        _table(
            "Throttle",
            key=models.CharField(max_length=64, primary_key=True, serialize=False),
            failures=models.PositiveIntegerField(default=0),
            since=models.DateTimeField(),
        ),
        _table(
            "Campaign",
            name=models.CharField(max_length=200, unique=True),
            task=models.CharField(choices=TASKS, default="ranking", max_length=20),
            strategy=models.CharField(choices=STRATEGIES, default="planned", max_length=20),
            guidelines=models.TextField(blank=True),
            consent=models.TextField(blank=True),
            asks_background=models.BooleanField(default=True),
            seed=models.PositiveBigIntegerField(default=1),
            per_judge=models.PositiveIntegerField(blank=True, null=True),
            overlap=models.FloatField(default=0.0),
            repeats=models.FloatField(default=0.0),
            startup=models.PositiveIntegerField(default=0),
            idle_seconds=models.PositiveIntegerField(default=60),
            pass_threshold=models.FloatField(default=0.75),
            pass_code=models.CharField(blank=True, max_length=200),
            fail_code=models.CharField(blank=True, max_length=200),
            redirect_url=models.URLField(blank=True, max_length=2000),
            closed=models.BooleanField(default=False),
            signature=models.TextField(blank=True),
            origin=models.JSONField(default=dict),
            created=models.DateTimeField(auto_now_add=True),
            owners=models.ManyToManyField(
                blank=True, related_name="campaigns", to=settings.AUTH_USER_MODEL
            ),
        ),
        _table(
            "AuditEntry",
            "-pk",
            who=models.CharField(max_length=200),
            action=models.CharField(max_length=200),
            detail=models.JSONField(default=dict),
            created=models.DateTimeField(auto_now_add=True),
            campaign=_of("campaign", "audit", null=True),
        ),
        _table(
            "Sentence",
            segment=models.PositiveBigIntegerField(null=True),
            text=models.TextField(),
            before=models.TextField(blank=True),
            after=models.TextField(blank=True),
            campaign=_of("campaign", "sentences"),
        ),
        _table(
            "Output",
            text=models.TextField(),
            systems=models.JSONField(default=list),
            sentence=_of("sentence", "outputs"),
        ),
        _table(
            "Item",
            number=models.PositiveIntegerField(),
            name=models.CharField(max_length=200, null=True),
            document=models.CharField(max_length=200, null=True),
            kind=models.CharField(default="normal", max_length=20),
            loud=models.BooleanField(default=False),
            expected=models.JSONField(null=True),
            explanation=models.TextField(blank=True),
            distinct=models.PositiveIntegerField(null=True),
            probability=models.FloatField(null=True),
            wanted=models.PositiveIntegerField(default=1),
            taken=models.PositiveIntegerField(default=0),
            campaign=_of("campaign", "items"),
            sentence=_of("sentence", "items"),
        ),
        _table(
            "ItemOutput",
            "item_id",
            "place",
            place=models.PositiveIntegerField(),
            item=_of("item", "places"),
            output=_of("output", "places"),
        ),
        _table(
            "Judge",
            "campaign_id",
            "pk",
            name=models.CharField(max_length=200),
            contact=models.CharField(blank=True, max_length=200),
            access=models.CharField(blank=True, max_length=64),
            joined=models.DateTimeField(null=True),
            consented=models.DateTimeField(null=True),
            asked_background=models.DateTimeField(null=True),
            seen=models.DateTimeField(null=True),
            finished=models.DateTimeField(null=True),
            blocked=models.BooleanField(default=False),
            forgotten=models.DateTimeField(null=True),
            campaign=_of("campaign", "judges"),
        ),
        _table(
            "Background",
            first_language=models.CharField(blank=True, max_length=200),
            experience=models.TextField(blank=True),
            remarks=models.TextField(blank=True),
            created=models.DateTimeField(auto_now_add=True),
            judge=models.OneToOneField("campaign.judge", CASCADE, related_name="background"),
        ),
        _table(
            "Invite",
            token_hash=models.CharField(max_length=64, unique=True),
            created=models.DateTimeField(auto_now_add=True),
            expires=models.DateTimeField(),
            redeemed=models.DateTimeField(null=True),
            revoked=models.DateTimeField(null=True),
            campaign=_of("campaign", "invites"),
            judge=_of("judge", "invites"),
        ),
        _table(
            "Assignment",
            "judge_id",
            "position",
            position=models.PositiveIntegerField(),
            turn=models.PositiveIntegerField(default=0),
            slot=models.PositiveIntegerField(null=True),
            shown_order=models.JSONField(default=list),
            state=models.CharField(default="planned", max_length=20),
            probability=models.FloatField(null=True),
            correct=models.BooleanField(null=True),
            opened=models.DateTimeField(null=True),
            answered=models.DateTimeField(null=True),
            item=_of("item", "assignments"),
            judge=_of("judge", "assignments"),
        ),
        _table(
            "Judgment",
            "assignment_id",
            "version",
            version=models.PositiveIntegerField(),
            key=models.CharField(max_length=64),
            ranks=models.JSONField(default=list),
            verdicts=models.JSONField(null=True),
            skipped=models.BooleanField(default=False),
            reason=models.TextField(blank=True),
            comment=models.TextField(blank=True),
            complete=models.BooleanField(default=False),
            automatic=models.BooleanField(default=False),
            correct=models.BooleanField(null=True),
            active_seconds=models.FloatField(null=True),
            wall_seconds=models.FloatField(null=True),
            created=models.DateTimeField(auto_now_add=True),
            assignment=_of("assignment", "judgments"),
        ),
    ]
