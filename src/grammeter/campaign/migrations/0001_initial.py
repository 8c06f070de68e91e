"""The first tables; ``0001_initial.toml`` lists their fields."""
# ruff: noqa: D101, RUF012
# pyright: basic

import tomllib
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import migrations, models

FIELDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
ORDERING = FIELDS.pop("ordering")


def _field(type: str, **options: Any) -> models.Field:
    if isinstance(options.get("default"), dict | list):
        options["default"] = options["default"].__class__  # called for each row
    if type in ("ForeignKey", "OneToOneField"):
        options["on_delete"] = models.CASCADE
    return getattr(models, type)(serialize="primary_key" not in options, **options)


def _table(name: str, fields: dict[str, dict[str, Any]]) -> migrations.CreateModel:
    if not any("primary_key" in options for options in fields.values()):
        key = {"type": "BigAutoField", "primary_key": True, "verbose_name": "ID"}
        fields = {"id": {**key, "auto_created": True}, **fields}
    order = {"ordering": tuple(ORDERING[name])} if name in ORDERING else {}
    columns = [(column, _field(**options)) for column, options in fields.items()]
    return migrations.CreateModel(name, columns, order)


class Migration(migrations.Migration):
    initial = True
    dependencies = [migrations.swappable_dependency(settings.AUTH_USER_MODEL)]
    operations = [_table(name, fields) for name, fields in FIELDS.items()]
