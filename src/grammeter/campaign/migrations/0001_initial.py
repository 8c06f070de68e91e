"""The first tables."""
# ruff: noqa: D101, RUF012
# pyright: basic

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Output",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("text", models.TextField()),
                ("systems", models.JSONField(default=list)),
            ],
        ),
        migrations.CreateModel(
            name="Throttle",
            fields=[
                ("key", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("failures", models.PositiveIntegerField(default=0)),
                ("since", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="Campaign",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=200, unique=True)),
                (
                    "task",
                    models.CharField(
                        choices=[
                            ("ranking", "rank whole corrections"),
                            ("edits", "judge each edit, then rank"),
                        ],
                        default="ranking",
                        max_length=20,
                    ),
                ),
                (
                    "strategy",
                    models.CharField(
                        choices=[
                            ("planned", "each judge has a list of their own"),
                            ("pool", "all judges draw from one pool"),
                            ("adaptive", "judges get what tells most about the ranking"),
                        ],
                        default="planned",
                        max_length=20,
                    ),
                ),
                ("guidelines", models.TextField(blank=True)),
                ("consent", models.TextField(blank=True)),
                ("asks_background", models.BooleanField(default=True)),
                ("seed", models.PositiveBigIntegerField(default=1)),
                ("per_judge", models.PositiveIntegerField(blank=True, null=True)),
                ("overlap", models.FloatField(default=0.0)),
                ("repeats", models.FloatField(default=0.0)),
                ("startup", models.PositiveIntegerField(default=0)),
                ("idle_seconds", models.PositiveIntegerField(default=60)),
                ("pass_threshold", models.FloatField(default=0.75)),
                ("pass_code", models.CharField(blank=True, max_length=200)),
                ("fail_code", models.CharField(blank=True, max_length=200)),
                ("redirect_url", models.URLField(blank=True, max_length=2000)),
                ("closed", models.BooleanField(default=False)),
                ("signature", models.TextField(blank=True)),
                ("origin", models.JSONField(default=dict)),
                ("created", models.DateTimeField(auto_now_add=True)),
                (
                    "owners",
                    models.ManyToManyField(
                        blank=True, related_name="campaigns", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("who", models.CharField(max_length=200)),
                ("action", models.CharField(max_length=200)),
                ("detail", models.JSONField(default=dict)),
                ("created", models.DateTimeField(auto_now_add=True)),
                (
                    "campaign",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="audit",
                        to="campaign.campaign",
                    ),
                ),
            ],
            options={
                "ordering": ("-pk",),
            },
        ),
        migrations.CreateModel(
            name="Item",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("name", models.CharField(max_length=200, null=True)),
                ("document", models.CharField(max_length=200, null=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("normal", "counts"),
                            ("tutorial", "answers back"),
                            ("attention", "shows whether a judge pays attention"),
                        ],
                        default="normal",
                        max_length=20,
                    ),
                ),
                ("loud", models.BooleanField(default=False)),
                ("expected", models.JSONField(null=True)),
                ("explanation", models.TextField(blank=True)),
                ("distinct", models.PositiveIntegerField(null=True)),
                ("probability", models.FloatField(null=True)),
                ("wanted", models.PositiveIntegerField(default=1)),
                ("taken", models.PositiveIntegerField(default=0)),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="items",
                        to="campaign.campaign",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Judge",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                ("contact", models.CharField(blank=True, max_length=200)),
                ("access", models.CharField(blank=True, max_length=64)),
                ("joined", models.DateTimeField(null=True)),
                ("consented", models.DateTimeField(null=True)),
                ("asked_background", models.DateTimeField(null=True)),
                ("seen", models.DateTimeField(null=True)),
                ("finished", models.DateTimeField(null=True)),
                ("blocked", models.BooleanField(default=False)),
                ("forgotten", models.DateTimeField(null=True)),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="judges",
                        to="campaign.campaign",
                    ),
                ),
            ],
            options={
                "ordering": ("campaign_id", "pk"),
            },
        ),
        migrations.CreateModel(
            name="Invite",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("token_hash", models.CharField(max_length=64, unique=True)),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("expires", models.DateTimeField()),
                ("redeemed", models.DateTimeField(null=True)),
                ("revoked", models.DateTimeField(null=True)),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="invites",
                        to="campaign.campaign",
                    ),
                ),
                (
                    "judge",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="invites",
                        to="campaign.judge",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Background",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("first_language", models.CharField(blank=True, max_length=200)),
                ("experience", models.TextField(blank=True)),
                ("remarks", models.TextField(blank=True)),
                ("created", models.DateTimeField(auto_now_add=True)),
                (
                    "judge",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="background",
                        to="campaign.judge",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Assignment",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("position", models.PositiveIntegerField()),
                ("turn", models.PositiveIntegerField(default=0)),
                ("slot", models.PositiveIntegerField(null=True)),
                ("shown_order", models.JSONField(default=list)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("planned", "not shown yet"),
                            ("open", "shown, without a complete answer"),
                            ("done", "answered"),
                            ("skipped", "passed over, with a reason"),
                            ("released", "shown and left; others may have it"),
                        ],
                        default="planned",
                        max_length=20,
                    ),
                ),
                ("probability", models.FloatField(null=True)),
                ("correct", models.BooleanField(null=True)),
                ("opened", models.DateTimeField(null=True)),
                ("answered", models.DateTimeField(null=True)),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="assignments",
                        to="campaign.item",
                    ),
                ),
                (
                    "judge",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="assignments",
                        to="campaign.judge",
                    ),
                ),
            ],
            options={
                "ordering": ("judge_id", "position"),
            },
        ),
        migrations.CreateModel(
            name="Judgment",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("version", models.PositiveIntegerField()),
                ("key", models.CharField(max_length=64)),
                ("ranks", models.JSONField(default=list)),
                ("verdicts", models.JSONField(null=True)),
                ("skipped", models.BooleanField(default=False)),
                ("reason", models.TextField(blank=True)),
                ("comment", models.TextField(blank=True)),
                ("complete", models.BooleanField(default=False)),
                ("automatic", models.BooleanField(default=False)),
                ("correct", models.BooleanField(null=True)),
                ("active_seconds", models.FloatField(null=True)),
                ("wall_seconds", models.FloatField(null=True)),
                ("created", models.DateTimeField(auto_now_add=True)),
                (
                    "assignment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="judgments",
                        to="campaign.assignment",
                    ),
                ),
            ],
            options={
                "ordering": ("assignment_id", "version"),
            },
        ),
        migrations.CreateModel(
            name="ItemOutput",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("place", models.PositiveIntegerField()),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="places",
                        to="campaign.item",
                    ),
                ),
                (
                    "output",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="places",
                        to="campaign.output",
                    ),
                ),
            ],
            options={
                "ordering": ("item_id", "place"),
            },
        ),
        migrations.CreateModel(
            name="Sentence",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("segment", models.PositiveBigIntegerField(null=True)),
                ("text", models.TextField()),
                ("before", models.TextField(blank=True)),
                ("after", models.TextField(blank=True)),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sentences",
                        to="campaign.campaign",
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="output",
            name="sentence",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="outputs",
                to="campaign.sentence",
            ),
        ),
        migrations.AddField(
            model_name="item",
            name="sentence",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="items",
                to="campaign.sentence",
            ),
        ),
    ]
