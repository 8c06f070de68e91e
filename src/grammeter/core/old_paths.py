"""Modules by the names that the pages of version 0.1.0 gave them, for one version more."""

import warnings
from collections.abc import Mapping
from importlib import import_module
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType

_ROOMS: Mapping[str, str] = {
    "scoring": "attribution",
    "verbs": "comparison judging ranking.agreement",
    "formats": "corpus corpus.datasets corpus.foreign corpus.items corpus.judgments"
    " corpus.records corpus.sgml corpus.standoff",
    "errant": "edits edits.annotate edits.pipelines",
    "alignment": "edits.arcs edits.ratios edits.weights",
    "models": "neural neural.measures",
    "study": "ranking.assignment ranking.planning ranking.sampling ranking.separation",
    "meta": "meta.maege meta.segment meta.sentence_level meta.system meta.window",
}
"""Room -> the modules whose names are behind its door now."""
_HOMES = {f"grammeter.{old}": room for room, names in _ROOMS.items() for old in names.split()}

_TO_FACE = {"grammeter.training": ("train_impara", "train_some", "train_cross_domain")}
"""Room -> the names that are on the face now."""


def old_name(room: str, name: str) -> object:
    """Return what a room offered by this name in version 0.1.0, else raise AttributeError."""
    if name not in _TO_FACE.get(room, ()):
        raise AttributeError(f"module {room!r} has no attribute {name!r}")
    face = room.partition(".")[0]
    warnings.warn(f"{room}.{name} will go: use {face}.{name}", DeprecationWarning, stacklevel=3)
    return getattr(import_module(face), name)


def old_module(name: str) -> ModuleSpec | None:
    """Return how to load ``grammeter.corpus.judgments`` and its like; ``None`` for all others."""
    return ModuleSpec(name, _Door(), is_package=True) if name in _HOMES else None


class _Door(Loader):
    """Makes a module whose names come from the door of its new room, with a warning."""

    def exec_module(self, module: ModuleType) -> None:
        room = import_module(f"grammeter.{_HOMES[module.__name__]}")

        def get(name: str) -> object:
            if name not in dir(room):
                raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
            text = f"{module.__name__} will go: import {name} from {room.__name__}"
            warnings.warn(text, DeprecationWarning, stacklevel=2)
            return getattr(room, name)

        module.__dict__["__getattr__"] = get
