"""``grammeter doctor``: what is installed, what is missing, how to get it."""

import argparse
import platform
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import grammeter as gm
from grammeter import core, errant, formats, metrics, models
from grammeter.cli.output import print_json
from grammeter.version import __version__

_PACKAGES = tomllib.loads(Path(__file__).with_name("packages.toml").read_text("utf-8"))
CORE: Sequence[str] = _PACKAGES["core"]
EXTRAS: Mapping[str, Sequence[str]] = _PACKAGES["extras"]
"""Extra -> its packages, as in pyproject.toml."""

Row = tuple[str, str, str]
_KEYS = ("what", "state", "note")


def run(args: argparse.Namespace) -> int:
    """Print the list; return 4 if a package of the core is missing or unfit, else 0."""
    base = [_package(wanted, "pip install --force-reinstall grammeter") for wanted in CORE]
    owners = {wanted: extra for extra, packages in EXTRAS.items() for wanted in packages}
    extras = [_package(of, f"pip install 'grammeter[{extra}]'") for of, extra in owners.items()]
    rows = [
        ("grammeter", __version__, ""),
        ("python", platform.python_version(), platform.platform()),
        *(*base, *extras, *_pipelines(), *_models()),
        *(*_plugins(), *_datasets(), *_folders()),
    ]
    if args.format == "json":
        print_json({"kind": "doctor", "rows": [dict(zip(_KEYS, row, strict=True)) for row in rows]})
    else:
        sys.stdout.write(gm.Table.of(_KEYS, rows).write(core.Style(width=core.terminal_width())))
    return 4 if any(state in ("missing", "unfit") for _, state, _ in base) else 0


def _package(wanted: str, command: str) -> Row:
    from packaging.requirements import Requirement
    from packaging.version import Version

    required = Requirement(wanted)
    name, bounds = required.name, required.specifier
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return name, "missing", f"get it: {command}"
    if not bounds.contains(Version(version).base_version):  # so that 5.0rc1 fits >=5
        return name, "unfit", f"{version} is here, {bounds} is needed: {command}"
    return name, version, ""


def _pipelines() -> Iterator[Row]:
    shipped = errant.find_pipeline(str(errant.shipped_pipeline()))
    how = f"{_first('spacy', 'errant')}python -m spacy download {errant.USUAL}"
    ways = {errant.USUAL: f"{shipped.name} stands in; get it: {how}"}
    others = ((n, p) for n, p in errant.PUBLISHED_ANEW.items() if not n.startswith("en_"))
    ways |= {name: f"pip install {package}" for name, package in others}
    for name, way in ways.items():
        try:
            here = errant.find_pipeline(name)
        except gm.MissingResourceError:
            yield f"pipeline {name}", "missing", way
        else:
            yield f"pipeline {name}", here.version, str(here.folder)
    yield f"pipeline {shipped.name}", shipped.version, str(shipped.folder)
    words = f"words alone, any language: errant(pipeline={errant.PLAIN})"
    yield f"pipeline {errant.PLAIN}", "built in", words


def _models() -> Iterator[Row]:
    for known in models.KNOWN:
        name, megabytes = known["name"], known["megabytes"]
        what = f"model {name}"
        try:
            files = models.find_model(name)
        except gm.MissingResourceError:
            first = "" if name in models.PACKAGED else _first("huggingface_hub", "neural")
            how = f"get it: {first}{models.how_to_fetch(name)}"
            yield what, "missing", f"{megabytes} MB, {how}"
        else:
            revision = f", revision {files.revision}" if files.revision else ""
            yield what, "present", f"{files.folder}{revision}"


def _first(package: str, extra: str) -> str:
    return "" if find_spec(package) else f"pip install 'grammeter[{extra}]', then "


def _plugins() -> Iterator[Row]:
    try:
        others = [name for name in metrics.names() if name not in metrics.BUILT_IN]
    except gm.GrammeterError as error:
        yield "plug-ins", "broken", error.message
        return
    for name in others:
        try:
            yield f"metric {name}", "plug-in", metrics.metric_class(name).title
        except gm.GrammeterError as error:
            yield f"metric {name}", "broken", error.message


def _datasets() -> Iterator[Row]:
    for listing in gm.list_datasets() if _data_folder() else ():
        name = listing.dataset.name
        how = "" if listing.state == "present" else f"see: grammeter data get {name}"
        yield f"data {name}", listing.state, how


def _folders() -> Iterator[Row]:
    caches, data = core.folders.cache_folder(), _data_folder()
    for what, folder, variable in (
        ("caches", caches, core.folders.VARIABLE),
        ("data sets", data, formats.datasets.VARIABLE),
        ("models", models.hub_folder(), "HF_HUB_CACHE"),
    ):
        state = "none" if folder is None else "present" if folder.is_dir() else "absent"
        how = f"{variable} names one" if folder is None else f"{folder}; {variable} names another"
        yield f"folder of {what}", state, how


def _data_folder() -> Path | None:
    try:
        return formats.datasets.data_folder()
    except gm.MissingResourceError:
        return None
