"""Each item has a task; answers other than ranks and verdicts; the criteria of ratings."""
# ruff: noqa: D101, RUF012
# pyright: basic

from typing import Any

from django.db import migrations, models


def _carry_over(apps: Any, schema: Any) -> None:
    """Give the items of older campaigns the task of their campaign."""
    items = apps.get_model("campaign", "Item").objects.using(schema.connection.alias)
    items.filter(campaign__task="edits").update(task="edits")


class Migration(migrations.Migration):
    dependencies = [("campaign", "0002_constraints")]
    operations = [
        migrations.AddField("campaign", "criteria", models.JSONField(default=list)),
        migrations.AddField("item", "task", models.CharField(max_length=20, default="ranking")),
        migrations.AddField("judgment", "answer", models.JSONField(null=True)),
        migrations.RunPython(_carry_over, migrations.RunPython.noop),
    ]
