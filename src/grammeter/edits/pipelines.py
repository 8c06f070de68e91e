"""Which spaCy pipeline parses, found by name or folder without loading spaCy."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from grammeter.core.errors import MissingResourceError, UsageError

NEUTRAL = "neutral"
"""Instead of a pipeline: tokens are only split, whatever the language."""

USUAL = "en_core_web_sm"
"""The pipeline that published ERRANT scores were made with, in one version or another."""

NOT_COMPARABLE = (
    f"{USUAL} is not installed; the small pipeline en_ud_sm that ships with grammeter is used:"
    " ERRANT scores are close to, but not comparable with, published ones"
    f" (python -m spacy download {USUAL})"
)


@dataclass(frozen=True)
class Pipeline:
    """A pipeline on disk.

    Attributes
    ----------
    name, version, language
        As its ``meta.json`` has them.
    folder
        Where its files lie.
    notice
        What users should be told about the choice, in one line.
    """

    name: str
    version: str
    language: str
    folder: Path
    notice: str | None = None

    @cached_property
    def hash(self) -> str:
        """All its files in 16 hexadecimal digits: same files, same digits, wherever they lie."""
        digest = hashlib.blake2b(digest_size=8)
        for path in sorted(p for p in self.folder.rglob("*") if p.is_file()):
            name = path.relative_to(self.folder).as_posix()
            if "__pycache__" not in name:
                content = hashlib.blake2b(path.read_bytes()).digest()
                digest.update(name.encode("utf-8") + b"\0" + content)
        return digest.hexdigest()


def find_pipeline(wanted: str | None = None) -> Pipeline:
    """Find a pipeline.

    Parameters
    ----------
    wanted
        The name of an installed package or a folder. By default ``en_core_web_sm`` if it is
        installed, else the one that ships with this package, with a notice.

    Raises
    ------
    MissingResourceError
        If there is no such pipeline.
    UsageError
        If ``neutral`` is given where a pipeline must be.
    """
    if wanted == NEUTRAL:
        raise UsageError(
            f"{NEUTRAL!r} is no pipeline: it can neither tokenise nor parse",
            fix="Give texts whose tokens are separated by spaces, or name a spaCy pipeline.",
        )
    if wanted is None:
        return _installed(USUAL) or _in_folder(shipped_pipeline(), NOT_COMPARABLE)
    if (Path(wanted) / "meta.json").is_file():
        return _in_folder(Path(wanted))
    found = _installed(wanted)
    if found is None:
        raise MissingResourceError(f"there is no pipeline {wanted!r}", fix=_how_to_get(wanted))
    return found


def shipped_pipeline() -> Path:
    """Return the folder of the small English pipeline in this package."""
    return Path(str(files("grammeter.resources") / "en_ud_sm" / "base"))


def _how_to_get(wanted: str) -> str:
    if Path(wanted).is_dir() or not wanted.isidentifier():
        return "Give a folder that spaCy wrote (with meta.json in it), or an installed package."
    return f"Run: python -m spacy download {wanted}"


def _installed(package: str) -> Pipeline | None:
    """Find the data folder of a pipeline package, which its own meta.json names."""
    spec = find_spec(package) if package.isidentifier() else None
    for place in (spec.submodule_search_locations or ()) if spec else ():
        root = Path(place)
        if (root / "meta.json").is_file():
            meta = _meta(root)
            folder = root / f"{meta['lang']}_{meta['name']}-{meta['version']}"
            if (folder / "meta.json").is_file():
                return _in_folder(folder)
    return None


def _in_folder(folder: Path, notice: str | None = None) -> Pipeline:
    meta = _meta(folder)
    name = f"{meta['lang']}_{meta['name']}"
    return Pipeline(name, str(meta["version"]), str(meta["lang"]), folder, notice)


def _meta(folder: Path) -> Mapping[str, Any]:
    path = folder / "meta.json"
    try:
        meta = cast("dict[str, Any]", json.loads(path.read_text("utf-8")))
        return {key: meta[key] for key in ("lang", "name", "version")}
    except (ValueError, KeyError, TypeError) as error:
        raise MissingResourceError(
            f"not the meta.json of a spaCy pipeline: {type(error).__name__}: {error}",
            where=str(path),
            fix="Install or download the pipeline again.",
        ) from error
