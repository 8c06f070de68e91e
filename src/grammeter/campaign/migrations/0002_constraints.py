"""What the database itself refuses, whatever the services do."""
# ruff: noqa: D101, RUF012
# pyright: basic

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("campaign", "0001_initial"),
    ]

    operations = [
        migrations.AddConstraint(
            model_name="judge",
            constraint=models.UniqueConstraint(fields=("campaign", "name"), name="judge_once"),
        ),
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.UniqueConstraint(fields=("judge", "position"), name="position_once"),
        ),
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.UniqueConstraint(fields=("judge", "item", "turn"), name="turn_once"),
        ),
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.UniqueConstraint(fields=("item", "slot"), name="slot_once"),
        ),
        migrations.AddConstraint(
            model_name="judgment",
            constraint=models.UniqueConstraint(
                fields=("assignment", "version"), name="version_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="judgment",
            constraint=models.UniqueConstraint(fields=("assignment", "key"), name="key_once"),
        ),
        migrations.AddConstraint(
            model_name="itemoutput",
            constraint=models.UniqueConstraint(fields=("item", "place"), name="place_once"),
        ),
        migrations.AddConstraint(
            model_name="sentence",
            constraint=models.UniqueConstraint(fields=("campaign", "segment"), name="segment_once"),
        ),
        migrations.AddConstraint(
            model_name="item",
            constraint=models.UniqueConstraint(
                fields=("campaign", "number"), name="item_number_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="item",
            constraint=models.CheckConstraint(
                condition=models.Q(("taken__lte", models.F("wanted"))), name="no_more_than_wanted"
            ),
        ),
    ]
