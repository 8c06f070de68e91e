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
ROOM = models.Q(("taken__lte", models.F("wanted")))
CONSTRAINTS = [
    *((of[0], models.UniqueConstraint(fields=of[1:], name=name)) for name, of in ONCE.items()),
    ("item", models.CheckConstraint(condition=ROOM, name="no_more_than_wanted")),
]


class Migration(migrations.Migration):
    dependencies = [("campaign", "0001_initial")]
    operations = [migrations.AddConstraint(table, made) for table, made in CONSTRAINTS]
