"""Classes of other packages, and the packages that bring them."""

from __future__ import annotations

from functools import cache

METRICS = "grammeter.metrics"
"""The entry point group in which other packages announce their metrics."""


@cache
def distribution_of(cls: type, group: str = METRICS) -> str | None:
    """Return name and version of the package that announces a class, ``grammeter-exact 0.1``.

    A class that is not announced itself belongs to the package whose announced classes stand in
    the same top-level module. ``None`` for classes of this package, of scripts and of packages
    that announce nothing.
    """
    top = cls.__module__.partition(".")[0]
    if top == __name__.partition(".")[0]:
        return None
    from importlib.metadata import entry_points

    points = [point for point in entry_points(group=group) if point.module.split(".")[0] == top]
    points.sort(key=lambda point: point.value != f"{cls.__module__}:{cls.__qualname__}")
    brought = next((point.dist for point in points if point.dist is not None), None)
    return None if brought is None else f"{brought.name} {brought.version}"
