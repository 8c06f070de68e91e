"""The first tables; ``0001_initial.toml`` lists their fields."""
# ruff: noqa: D101, RUF012
# pyright: basic

import tomllib
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import migrations, models

FIELDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
ORDERING, ONCE = FIELDS.pop("ordering"), FIELDS.pop("once")
ROOM = models.Q(("taken__lte", models.F("wanted")))


def _field(type: str, **options: Any) -> models.Field:
    if isinstance(options.get("default"), dict | list):
        options["default"] = options["default"].__class__  # called for each row
    if type in ("ForeignKey", "OneToOneField"):
        options["on_delete"] = models.CASCADE
    return getattr(models, type)(**options)


def _table(name: str, fields: dict[str, dict[str, Any]]) -> migrations.CreateModel:
    key = {"primary_key": True, "auto_created": True, "serialize": False, "verbose_name": "ID"}
    order = {"ordering": tuple(ORDERING[name])} if name in ORDERING else {}
    columns = [(column, _field(**options)) for column, options in fields.items()]
    return migrations.CreateModel(name, [("id", models.BigAutoField(**key)), *columns], order)


def _once(name: str, table: str, *fields: str) -> migrations.AddConstraint:
    return migrations.AddConstraint(table, models.UniqueConstraint(fields=fields, name=name))


class Migration(migrations.Migration):
    initial = True
    dependencies = [migrations.swappable_dependency(settings.AUTH_USER_MODEL)]
    operations = [
        *(_table(name, fields) for name, fields in FIELDS.items()),
        *(_once(name, *fields) for name, fields in ONCE.items()),
        migrations.AddConstraint(
            "item", models.CheckConstraint(condition=ROOM, name="no_more_than_wanted")
        ),
    ]
