"""Recipes: how the paper of a public data set scores a system's output.

``recipes.json`` names, for each, the files of a data set and the metrics; ``how`` says in words
what the paper does, ``checked`` which published figures came out, ``unknown`` if none was tried.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grammeter.core import UnknownNameError, UsageError
from grammeter.formats import datasets, read, tables
from grammeter.formats.corpus import Corpus


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Data and metrics by which the paper of a data set scores."""

    name: str
    dataset: str
    metrics: Sequence[str]
    how: str
    checked: str = "unknown"
    source: str | None = None
    references: Sequence[str] = ()
    para: str | None = None  # sources and references in one file
    lenient: bool = False


RECIPES: Mapping[str, Recipe] = {of["name"]: Recipe(**of) for of in tables.shipped("recipes.json")}


def recipe(name: str) -> Recipe:
    """Return a recipe by its name; raise :class:`UnknownNameError` if there is none."""
    UnknownNameError.check("benchmark", name, RECIPES)
    return RECIPES[name]


def read_benchmark(benchmark: str, *, data: str | Path | None = None, **options: Any) -> Corpus:
    """Read sources and references of a data set, and system outputs, to score as its paper does.

    Raises :class:`UsageError` if sources or references are given, too;
    :class:`MissingResourceError` if the data set is not here.

    Parameters
    ----------
    benchmark
        Its name; :func:`grammeter.score` of the corpus takes the metrics of its paper.
    data
        The folder of the data set, or of all; default: that of ``GRAMMETER_DATA``.
    options
        ``systems`` and other parameters of :func:`read_corpus`.
    """
    known = recipe(benchmark)
    if any(options.get(name) for name in ("source", "references", "corpus", "para")):
        fix = "Leave --source, --references, --corpus and --para out, or --benchmark."
        raise UsageError(f"the benchmark {benchmark} has sources and references", fix=fix)

    def path(file: str) -> Path:
        if data is None:
            return datasets.dataset_path(known.dataset, file)
        inside = Path(data) / known.dataset / file
        return inside if inside.is_file() else Path(data) / file

    options |= {
        "source": known.source and path(known.source),
        "para": known.para and path(known.para),
        "references": [path(file) for file in known.references],
        "lenient": known.lenient or options.get("lenient", False),
    }
    corpus = read.read_corpus(**options)
    note = f"benchmark {benchmark}: its paper scores by {', '.join(known.metrics)}: {known.how}"
    settings = {**corpus.settings, "benchmark": benchmark}
    return replace(corpus, settings=settings, notes=(note, *corpus.notes))
