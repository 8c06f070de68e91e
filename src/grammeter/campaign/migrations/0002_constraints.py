"""What the database itself refuses, whatever the services do."""
# ruff: noqa: D101, RUF012
# pyright: basic

from django.db import migrations, models

ONCE = {  # constraint -> its table, and the fields that together occur once
    "judge_once": ("judge", "campaign", "name"),
    "position_once": ("assignment", "judge", "position"),
    "turn_once": ("assignment", "judge", "item", "turn"),
    "slot_once": ("assignment", "item", "slot"),
    "version_once": ("judgment", "assignment", "version"),
    "key_once": ("judgment", "assignment", "key"),
    "place_once": ("itemoutput", "item", "place"),
    "segment_once": ("sentence", "campaign", "segment"),
    "item_number_once": ("item", "campaign", "number"),
}


class Migration(migrations.Migration):
    dependencies = [("campaign", "0001_initial")]
    operations = [
        *(
            migrations.AddConstraint(table, models.UniqueConstraint(fields=fields, name=name))
            for name, (table, *fields) in ONCE.items()
        ),
        migrations.AddConstraint(
            "item",
            models.CheckConstraint(
                condition=models.Q(("taken__lte", models.F("wanted"))), name="no_more_than_wanted"
            ),
        ),
    ]
