"""What the class of a metric must have, checked where other people write them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, fields
from typing import get_args

from grammeter.metrics.base import Metric, Needs

ATTRIBUTES = ("name", "title", "needs", "citation")


def faults(name: str, cls: type[Metric]) -> Iterator[str]:
    """Yield what is wrong with a metric that is announced under ``name``, a phrase each."""
    missing = [attribute for attribute in ATTRIBUTES if not hasattr(cls, attribute)]
    if missing:
        yield f"it has no {', '.join(missing)}"
    methods = sorted(cls.__abstractmethods__)
    if methods:
        yield f"it lacks the methods {', '.join(methods)}"
    actual = getattr(cls, "name", name)
    if actual != name:
        yield f"its name is {actual!r}, and it is announced as {name!r}"
    needs = getattr(cls, "needs", "nothing")
    if needs not in get_args(Needs):
        yield f"needs is {needs!r}, and may be {', '.join(map(repr, get_args(Needs)))}"
    yield from _field_faults(cls)


def _field_faults(cls: type[Metric]) -> Iterator[str]:
    known = {field.name: field for field in fields(cls)}
    for option, hint in vars(cls).get("__annotations__", {}).items():
        if option not in known and "ClassVar" not in str(hint):
            yield (
                f"{option} is annotated and no field: write @dataclass(frozen=True, kw_only=True)"
                " above the class, or ClassVar"
            )
    for field in known.values():
        if field.default is MISSING:
            yield f"the field {field.name} has no default"
