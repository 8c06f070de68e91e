"""The door of a room: what others may use of it, loaded when it is first used (PEP 562).

What a room offers stands in the stub beside its ``__init__``, which type checkers read, too.
"""

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module


def door(room: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a room: ``__getattr__, __dir__ = door(__name__)``.

    The stub has lines ``from grammeter.room.module import name as name``; a name may be a module.
    """

    def get(name: str) -> object:
        homes = _homes(room)
        if name == "__all__":
            return sorted(homes)
        if name not in homes:
            from grammeter.core.old_paths import old_name

            return old_name(room, name)
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
