"""The door of a room: what its stub lists for others to use, loaded on first use (PEP 562)."""

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module


def door(room: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` for the names that the stub of a room imports."""

    def get(name: str) -> object:
        homes = _homes(room)
        if name == "__all__":
            return sorted(homes)
        if name not in homes:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        home, missing = homes[name], object()
        value = missing if home == room else getattr(import_module(home), name, missing)
        if value is missing:
            value = import_module(f"{home}.{name}")
        setattr(sys.modules[room], name, value)
        return value

    return get, lambda: sorted(_homes(room))


@cache
def _homes(room: str) -> dict[str, str]:
    import re
    from pathlib import Path

    stub = Path(sys.modules[room].__path__[0], "__init__.pyi").read_text(encoding="utf-8")
    statements = re.findall(r"^from (\S+) import (\([^)]*\)|.*)$", stub, re.M)
    return {name: home for home, names in statements for name in re.findall(r"\bas (\w+)", names)}
