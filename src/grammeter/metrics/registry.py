"""Names to metrics: a plain table, entry points, and suggestions for typing errors."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, cast, get_args

from grammeter.core import METRICS, GrammeterError, UnknownNameError, UsageError, spelling
from grammeter.metrics.base import Metric, Needs

BUILT_IN: dict[str, str] = json.loads(Path(__file__).with_name("built_in.json").read_text("utf-8"))
"""Name -> ``module:class`` of every metric of the package."""

GROUP = METRICS
_TELL = "Tell the author of the package that brings it"


def metric(spelled: str | Metric) -> Metric:
    """Make a metric from its spelling, ``gleu(order=4)``; a metric is returned as it is.

    Raises :class:`UnknownNameError` if there is no such metric or option; :class:`UsageError` if
    the spelling cannot be read or a value does not fit.
    """
    if isinstance(spelled, Metric):
        return spelled
    try:
        name, options = spelling.parse(spelled)
    except TypeError:
        fault = f"{spelled!r} is neither a spelling nor a metric"
        raise UsageError(fault, fix='Write "gleu" or Gleu().') from None
    return build(metric_class(name), options)


def build(cls: type[Metric], options: Mapping[str, spelling.Value]) -> Metric:
    """Make a metric from parsed fields; a field that does not exist raises."""
    known = [f.name for f in fields(cls)]
    for name in options:
        if not known:
            raise UsageError(f"{cls.name} has no options, so no {name!r}", fix="Leave it out.")
        UnknownNameError.check(f"option of {cls.name}", name, known)
    return cls(**cast("dict[str, Any]", dict(options)))


def metric_class(name: str) -> type[Metric]:
    """Return the class of a metric by its name."""
    if name in BUILT_IN:
        return EntryPoint(name, BUILT_IN[name], GROUP).load()
    if name in _plugins():
        return _load_plugin(_plugins()[name])
    raise UnknownNameError("metric", name, names())


def names() -> list[str]:
    """Return the names of all metrics, the built-in ones first."""
    return [*BUILT_IN, *sorted(_plugins())]


def announced() -> dict[str, str]:
    """Return the metrics of other packages: name -> ``module:class``."""
    return {name: point.value for name, point in _plugins().items()}


def describe(name: str) -> dict[str, Any]:
    """Return a metric's name, title, needs, direction, and its options with their defaults."""
    cls = metric_class(name)
    return {
        "name": name,
        "title": cls.title,
        "needs": cls.needs,
        "higher_is_better": cls.higher_is_better,
        "options": {f.name: spelling.spell_value(cast("Any", f.default)) for f in fields(cls)},
    }


def _load_plugin(point: EntryPoint) -> type[Metric]:
    try:
        cls = point.load()
    except GrammeterError:
        raise
    except Exception as error:  # whatever goes wrong in somebody's module
        fault = f"metric {point.name!r} cannot be loaded from {point.value}:"
        fault += f" {type(error).__name__}: {error}"
        fix = "Reinstall the package that brings it, or take it off; if it is yours, mend the"
        fix += " module, or the entry point in pyproject.toml, and install it again."
        raise UsageError(fault, fix=fix) from error
    what = f"metric {point.name!r}: {point.value} is"
    if not (isinstance(cls, type) and issubclass(cls, Metric)):
        raise UsageError(f"{what} no subclass of grammeter.Metric", fix=f"{_TELL}.")
    if lacking := list(faults(point.name, cls)):
        fix = f"{_TELL}; docs/plugins.md says what a metric needs."
        raise UsageError(f"{what} not whole: {'; '.join(lacking)}", fix=fix)
    return cls


def faults(name: str, cls: type[Metric]) -> Iterator[str]:
    """Yield what is wrong with a metric that is announced under ``name``, a phrase each."""
    required = ("name", "title", "needs", "citation")
    if missing := [attribute for attribute in required if not hasattr(cls, attribute)]:
        yield f"it has no {', '.join(missing)}"
    if cls.__abstractmethods__:
        yield f"it lacks the methods {', '.join(sorted(cls.__abstractmethods__))}"
    actual = getattr(cls, "name", name)
    if actual != name:
        yield f"its name is {actual!r}, and it is announced as {name!r}"
    needs = getattr(cls, "needs", "nothing")
    if needs not in get_args(Needs):
        yield f"needs is {needs!r}, and may be {', '.join(map(repr, get_args(Needs)))}"
    known = {field.name: field for field in fields(cls)}
    for option, hint in vars(cls).get("__annotations__", {}).items():
        if option not in known and "ClassVar" not in str(hint):
            fix = "write @dataclass(frozen=True, kw_only=True) above the class, or ClassVar"
            yield f"{option} is annotated and no field: {fix}"
    for field in known.values():
        if field.default is MISSING:
            yield f"the field {field.name} has no default"


@cache
def _plugins() -> dict[str, EntryPoint]:
    """Return the metrics of other packages; a name that is claimed twice raises."""
    targets = dict(BUILT_IN)
    points: dict[str, EntryPoint] = {}
    for point in entry_points(group=GROUP):
        if point.name in targets:
            both = f"{targets[point.name]} and {point.value}"
            fix = "Uninstall one of the packages, or ask its author for another name."
            raise UsageError(f"two metrics are called {point.name!r}: {both}", fix=fix)
        targets[point.name], points[point.name] = point.value, point
    return points
