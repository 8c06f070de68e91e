"""Names to metrics: a plain table, entry points, and suggestions for typing errors."""

from __future__ import annotations

import importlib
from dataclasses import fields
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, cast

from grammeter.core import METRICS, GrammeterError, UnknownNameError, UsageError, spelling
from grammeter.metrics.base import Metric, build

BUILT_IN: dict[str, str] = {
    "m2": "grammeter.metrics.m2:M2",
    "sentm2": "grammeter.metrics.m2:SentM2",
    "errant": "grammeter.metrics.errant:Errant",
    "senterrant": "grammeter.metrics.errant:SentErrant",
    "gotoscorer": "grammeter.metrics.gotoscorer:GoToScorer",
    "cleme": "grammeter.metrics.cleme:Cleme",
    "gleu": "grammeter.metrics.gleu:Gleu",
    "imeasure": "grammeter.metrics.imeasure:IMeasure",
    "green": "grammeter.metrics.green:Green",
    "bleu": "grammeter.metrics.ngram:Bleu",
    "chrf": "grammeter.metrics.ngram:Chrf",
    "meteor_es": "grammeter.metrics.meteor:MeteorES",
    "bertscore": "grammeter.metrics.bertscore:BertScore",
    "bartscore": "grammeter.metrics.bartscore:BartScore",
    "pt-m2": "grammeter.metrics.weighted:PTM2",
    "sent-pt-m2": "grammeter.metrics.weighted:SentPTM2",
    "pt-errant": "grammeter.metrics.weighted:PTErrant",
    "sent-pt-errant": "grammeter.metrics.weighted:SentPTErrant",
    "some": "grammeter.metrics.some:Some",
    "impara": "grammeter.metrics.impara:Impara",
    "scribendi": "grammeter.metrics.scribendi:Scribendi",
    "llm-s": "grammeter.metrics.llm:LLMS",
    "llm-e": "grammeter.metrics.llm:LLME",
}
"""Name -> ``module:class`` of every metric of the package."""

GROUP = METRICS


def metric(spelled: str | Metric) -> Metric:
    """Make a metric from its spelling, ``gleu(order=4)``; a metric is returned as it is.

    Raises
    ------
    UnknownNameError
        If there is no such metric or option.
    UsageError
        If the spelling cannot be read or a value does not fit.
    """
    if isinstance(spelled, Metric):
        return spelled
    try:
        name, given = spelling.parse(spelled)
    except TypeError:
        raise UsageError(
            f"{spelled!r} is neither a spelling nor a metric", fix='Write "gleu" or Gleu().'
        ) from None
    return build(metric_class(name), given)


def metric_class(name: str) -> type[Metric]:
    """Return the class of a metric by its name."""
    if name in BUILT_IN:
        return _load(name, BUILT_IN[name])
    plugins = _plugins()
    if name in plugins:
        return _load_plugin(name, plugins[name].value)
    raise UnknownNameError("metric", name, [*BUILT_IN, *plugins])


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


def _load(name: str, target: str) -> type[Metric]:
    module, _, attribute = target.partition(":")
    found = getattr(importlib.import_module(module), attribute)
    if not (isinstance(found, type) and issubclass(found, Metric)):
        raise UsageError(
            f"metric {name!r}: {target} is no subclass of grammeter.Metric",
            fix="Tell the author of the package that brings it.",
        )
    return found


def _load_plugin(name: str, target: str) -> type[Metric]:
    try:
        found = _load(name, target)
    except GrammeterError:
        raise
    except Exception as error:  # whatever goes wrong in somebody's module
        raise UsageError(
            f"metric {name!r} cannot be loaded from {target}: {type(error).__name__}: {error}",
            fix="Reinstall the package that brings it, or take it off; if it is yours, mend the"
            " module, or the entry point in pyproject.toml, and install it again.",
        ) from error
    from grammeter.metrics.contract import faults  # nobody needs it for metrics of our own

    lacking = list(faults(name, found))
    if lacking:
        raise UsageError(
            f"metric {name!r}: {target} is not whole: {'; '.join(lacking)}",
            fix="Tell the author of the package that brings it; docs/plugins.md says what a"
            " metric needs.",
        )
    return found


@cache
def _plugins() -> dict[str, EntryPoint]:
    """Return the metrics of other packages.

    Raises
    ------
    UsageError
        If two packages, or a package and this one, claim the same name.
    """
    found: dict[str, EntryPoint] = {}
    for point in entry_points(group=GROUP):
        taken = BUILT_IN.get(point.name) or (found[point.name].value if point.name in found else "")
        if taken:
            raise UsageError(
                f"two metrics are called {point.name!r}: {taken} and {point.value}",
                fix="Uninstall one of the packages, or ask its author for another name.",
            )
        found[point.name] = point
    return found
