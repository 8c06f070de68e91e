"""Results as JSON holds them: the kind, the version, the fields by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, cast

import numpy as np

from grammeter.core import Signature, json_number
from grammeter.version import __version__


class Plain:
    """A dataclass of figures, and a text that says why one is NaN."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that have a value; a NaN is ``None``."""
        return _plain_fields(self)


def public_shape(kind: str, result: Any, /, *names: str, **parts: Any) -> dict[str, Any]:
    """Return the public shape of a result: kind, version, signature, ``parts``, fields, notes.

    The fields are those called ``names``; without names, all that count when results are compared.
    A part stands in place of the field of its name. NaN becomes ``None``; what is ``None`` is left
    out.
    """
    shown = names or [field.name for field in fields(result) if field.compare]
    beside = {name: part for name, part in parts.items() if name not in shown}
    values = beside | {name: parts.get(name, getattr(result, name)) for name in shown}
    values = {"signature": values.get("signature")} | values | {"notes": None}
    shape = {name: plain(value) for name, value in values.items() if value is not None}
    notes = {"notes": [*getattr(result, "notes", ())]}
    return {"kind": kind, "grammeter": __version__} | shape | notes


def plain(value: Any) -> Any:
    """Return a value as JSON holds it; keys of several parts are joined by ``|``."""
    if isinstance(value, Signature):
        return str(value)
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value):
        return _plain_fields(value)
    if isinstance(value, Mapping):
        items = cast("Mapping[Any, Any]", value).items()
        return {_key(key): plain(item) for key, item in items}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [plain(item) for item in cast("list[Any]", value)]
    return json_number(value) if isinstance(value, float) else value


def _key(key: Any) -> str:
    return "|".join(cast("tuple[str, ...]", key)) if isinstance(key, tuple) else str(key)


def _plain_fields(value: Any) -> dict[str, Any]:
    values = {field.name: getattr(value, field.name) for field in fields(value)}
    return {name: plain(of) for name, of in values.items() if of is not None}
