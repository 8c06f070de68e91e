"""``grammeter doctor``: what is installed, what is missing, how to get it."""

from __future__ import annotations

import argparse
import platform
import sys
from importlib import metadata

from grammeter.cli.output import add_output, print_json
from grammeter.version import __version__

CORE = ("defusedxml", "numpy", "sacrebleu", "scipy")
EXTRAS = {
    "errant": ("rapidfuzz", "spacy"),
    "plot": ("matplotlib",),
    "records": ("pyarrow",),
}
"""Extra -> the packages that it brings."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments; nothing heavy is imported for it."""
    add_output(parser, formats=("table", "json"), file=None)


def run(args: argparse.Namespace) -> int:
    """Look and print; return 4 if a package of the core is missing, else 0."""
    from grammeter.report.tables import Table, to_text

    rows = [
        ("grammeter", __version__, ""),
        ("python", platform.python_version(), platform.platform()),
        *(_package(name, "pip install --force-reinstall grammeter") for name in CORE),
        *(
            _package(name, f"pip install 'grammeter[{extra}]'")
            for extra, packages in EXTRAS.items()
            for name in packages
        ),
        *_plugins(),
        *_datasets(),
    ]
    if args.format == "json":
        print_json({"kind": "doctor", "rows": [dict(zip(_KEYS, row, strict=True)) for row in rows]})
    else:
        sys.stdout.write(to_text(Table(_KEYS, tuple(rows), "lll")))
    return 4 if any(name in CORE and state == "missing" for name, state, _ in rows) else 0


_KEYS = ("what", "state", "note")


def _package(name: str, command: str) -> tuple[str, str, str]:
    try:
        return name, metadata.version(name), ""
    except metadata.PackageNotFoundError:
        return name, "missing", f"get it: {command}"


def _plugins() -> list[tuple[str, str, str]]:
    from grammeter.core.errors import GrammeterError
    from grammeter.metrics.registry import BUILT_IN, metric_class, names

    try:
        others = [name for name in names() if name not in BUILT_IN]
    except GrammeterError as error:
        return [("plug-ins", "broken", error.message)]
    rows: list[tuple[str, str, str]] = []
    for name in others:
        try:
            rows.append((f"metric {name}", "plug-in", metric_class(name).title))
        except GrammeterError as error:
            rows.append((f"metric {name}", "broken", error.message))
    return rows


def _datasets() -> list[tuple[str, str, str]]:
    from grammeter.corpus.datasets import list_datasets

    return [
        (
            f"data {listing.dataset.name}",
            listing.state,
            "" if listing.state == "present" else f"see: grammeter data get {listing.dataset.name}",
        )
        for listing in list_datasets()
    ]
