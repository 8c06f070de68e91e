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
    "campaign": ("argon2-cffi", "Django", "django-htmx", "waitress", "whitenoise"),
    "errant": ("rapidfuzz", "spacy"),
    "llm": ("openai",),
    "neural": ("huggingface_hub", "safetensors", "torch", "transformers"),
    "plot": ("matplotlib",),
    "postgres": ("psycopg",),
    "ray": ("pyarrow", "ray"),
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
        _gpu(),
        *_models(),
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


def _gpu() -> tuple[str, str, str]:
    from grammeter.neural.devices import gpu

    notes = {
        "none": "models run on the CPU",
        "no torch": "there is one, but no build of torch that uses it: see docs/install.md",
        "ready": "--device cuda uses it",
    }
    state = gpu()
    return "gpu", "present" if state == "ready" else "none", notes[state]


def _models() -> list[tuple[str, str, str]]:
    """Look for the models that metrics name; nothing is fetched and torch is not loaded."""
    from grammeter.core.errors import MissingResourceError
    from grammeter.neural.files import find_model, how_to_fetch
    from grammeter.neural.known import KNOWN

    rows: list[tuple[str, str, str]] = []
    for known in KNOWN:
        what = f"model {known.name}"
        try:
            files = find_model(known.name)
        except MissingResourceError:
            rows.append(
                (what, "missing", f"{known.megabytes} MB, get it: {how_to_fetch(known.name)}")
            )
            continue
        revision = f", revision {files.revision}" if files.revision else ""
        rows.append((what, "present", f"{files.folder}{revision}"))
    return rows


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
