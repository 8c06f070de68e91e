"""Find models on disk, and what is known about them."""

import hashlib
import json
import re
import shlex
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from grammeter.core import DataError, MissingResourceError, expanded, how_to_install, require
from grammeter.models.runtime import current


@cache
def _table(name: str) -> Mapping[str, Any]:
    return json.loads(resources.files("grammeter.models").joinpath(name).read_text("utf-8"))


_TABLES = _table("known.json")
PACKAGED: dict[str, tuple[str, str]] = _TABLES["packaged"]
"""Models in Python packages: name -> package, folder in it."""

SHAPES: Mapping[str, list[int]] = _TABLES["shapes"]
"""Numbers of layers and of hidden units of models that papers use, by name."""

WANTED_FILES = ("*.json", "*.txt", "*.safetensors", "*.model", "*.jinja")
"""Files of a model that are fetched and hashed: settings, words, weights; no pickles."""

TRAINING_FILES = frozenset(("card.json", "training.json", "draws.json"))
"""Files that our own training writes beside a model; they are not hashed."""

_HUB_NAME = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?(@[\w./-]+)?")
_DEPTHS = ("encoder_layers", "num_hidden_layers", "n_layers", "n_layer", "num_layers")
_WIDTHS = ("hidden_size", "d_model", "dim", "n_embd")


@dataclass(frozen=True)
class ModelFiles:
    """A model on disk."""

    name: str  # as the user wrote it, without the revision
    folder: Path
    revision: str | None = None  # the commit, if the model came from the hub

    @property
    def hash(self) -> str:
        """Hash of weights, settings and tokenizer: 16 hexadecimal digits."""
        files = {path for glob in WANTED_FILES for path in self.folder.glob(glob)}
        paths = sorted(path for path in files if path.name not in TRAINING_FILES)
        return _hash(tuple((path, path.stat().st_mtime_ns, path.stat().st_size) for path in paths))

    def config(self) -> dict[str, Any]:
        """Read ``config.json``."""
        path = self.folder / "config.json"
        with suppress(ValueError, RecursionError):
            config: Any = json.loads(path.read_text("utf-8"))
            if isinstance(config, dict):
                return config  # pyright: ignore[reportUnknownVariableType]
        fault = "not a JSON object"
        raise MissingResourceError(fault, where=str(path), fix="Fetch or write the model again.")

    def depth(self) -> tuple[str, int]:
        """Return the name of the number of blocks in the configuration, and this number."""
        config = self.config()
        for name in _DEPTHS:
            if isinstance(config.get(name), int):
                return name, config[name]
        fault = f"the model {self.name!r} does not say how many layers it has"
        where, fix = str(self.folder / "config.json"), "Use an encoder such as BERT."
        raise MissingResourceError(fault, where=where, fix=fix)

    def may_be(self, name: str) -> bool:
        """Tell whether depth and width are those of a model; true if these are not known."""
        if name not in SHAPES:
            return True
        config = self.config()
        widths = [config[key] for key in _WIDTHS if key in config]
        return [self.depth()[1], *widths[:1]] == SHAPES[name]

    def published_layer(self) -> int | None:
        """Return the layer that the authors of BERTScore chose; ``None`` for other models.

        A folder counts as the model that has its name, with or without the owner.
        """
        table = _table("bertscore_layers.json")
        owner, _, name = self.name.rstrip("/").rpartition("/")
        layers: Mapping[str, int] = table["layers"]
        if self.revision is not None:
            return layers.get(name if owner in table["owners"] else self.name)
        return {known.rpartition("/")[2]: layer for known, layer in layers.items()}.get(name)

    def misfit(self, what: str, fix: str) -> DataError:
        """Return the error for a model of the wrong kind; ``what`` continues "the model NAME"."""
        return DataError(f"the model {self.name!r} {what}", where=str(self.folder), fix=fix)


@cache
def _hash(files: tuple[tuple[Path, int, int], ...]) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for path, _, _ in files:
        with path.open("rb") as file:
            content = hashlib.file_digest(file, hashlib.blake2b)
        digest.update(path.name.encode("utf-8") + b"\0" + content.digest())
    return digest.hexdigest()


def check_installed() -> None:
    """Raise :class:`MissingResourceError` if torch or transformers is not installed."""
    for package in ("torch", "transformers"):
        if find_spec(package) is None:
            fault = f"models need the package {package!r}, which is not installed"
            raise MissingResourceError(fault, fix=f"Run: {how_to_install('neural')}")


def find_model(name: str) -> ModelFiles:
    """Find a model by folder, installed package or name on the hub, in this order.

    A name on the hub may end with a revision, ``owner/name@1a2b3c``. A missing model is downloaded
    only if the runtime allows it, and never with pickles. Raises MissingResourceError if it is
    missing, has no ``config.json``, or its weights are not safetensors.
    """
    files = _locate(name)
    if not (files.folder / "config.json").is_file():
        fault = f"{name!r} is no model: {files.folder} has no config.json"
        fix = "Name a folder that transformers' save_pretrained wrote, or a model on the hub."
        raise MissingResourceError(fault, fix=fix)
    if not any(files.folder.glob("*.safetensors")):
        pickled = sorted(path.name for path in files.folder.glob("*.bin"))
        what = f"{pickled[0]} is a pickle, which can run code" if pickled else "no weights"
        fault = f"model {name!r} has no weights as safetensors ({what}): {files.folder}"
        fix = "If you trust its origin, load it in a script of your own and write it by"
        raise MissingResourceError(fault, fix=f"{fix} save_pretrained(folder).")
    return files


def _locate(name: str) -> ModelFiles:
    if (folder := expanded(name)).is_dir():
        return ModelFiles(name, folder)
    if name in PACKAGED:
        package, inside = PACKAGED[name]
        if (spec := find_spec(package)) is None or spec.origin is None:
            fault = f"the model {name!r} is not installed"
            raise MissingResourceError(fault, fix=f"Run: {how_to_fetch(name)}")
        return ModelFiles(name, Path(spec.origin).parent / inside)
    if not _HUB_NAME.fullmatch(name):
        fault = f"there is no folder {name!r}"
        raise MissingResourceError(fault, fix="Name a model's folder, or a model on the hub.")
    return _on_hub(name)


def _on_hub(name: str) -> ModelFiles:
    hub: Any = require("huggingface_hub", extra="neural")
    plain, _, revision = name.partition("@")
    if (folder := _cached(hub, plain, revision or None)) is None:
        if not current().download:
            fault = f"the model {name!r} is not on this machine, nor is there a folder of this name"
            fix = f"Add --download to fetch it, or run: {how_to_fetch(name)}"
            raise MissingResourceError(fault, fix=fix)
        folder = _fetch(hub, plain, revision or None)
    return ModelFiles(plain, folder, revision=folder.name)


def hub_folder() -> Path | None:
    """Return the folder of the hub's client; ``None`` if the client is not installed."""
    with suppress(MissingResourceError):
        constants: Any = require("huggingface_hub.constants", extra="neural")
        return Path(constants.HF_HUB_CACHE)
    return None


def _cached(hub: Any, name: str, revision: str | None) -> Path | None:
    """Return the folder of a model that was downloaded completely."""
    try:
        folder = Path(hub.snapshot_download(name, revision=revision, local_files_only=True))
    except (OSError, ValueError, RuntimeError):  # missing, not a name, or no home folder
        return None
    weights = [*folder.glob("*.safetensors"), *folder.glob("*.bin")]
    return folder if weights and (folder / "config.json").is_file() else None


def _fetch(hub: Any, name: str, revision: str | None) -> Path:
    try:
        return Path(hub.snapshot_download(name, revision=revision, allow_patterns=[*WANTED_FILES]))
    except Exception as error:
        why = (str(error) or type(error).__name__).splitlines()[0]
        fix = "Check the name and the network, or copy its folder here and name that."
        raise MissingResourceError(f"model {name!r} cannot be fetched: {why}", fix=fix) from error


def how_to_fetch(name: str) -> str:
    """Return the command that downloads a model into the hub's cache, without pickles."""
    if name in PACKAGED:
        return f"pip install {name}"
    plain, _, revision = name.partition("@")
    chosen = f" --revision {shlex.quote(revision)}" if revision else ""
    includes = " ".join(f"--include '{glob}'" for glob in WANTED_FILES)
    return f"hf download {plain}{chosen} {includes}"


KNOWN: list[dict[str, Any]] = _TABLES["models"]
"""Models that metrics use: ``name``, ``uses`` (as whose defaults), ``megabytes``."""

CARD_FILE = "card.json"
Card = dict[str, Any]


def read_card(folder: Path) -> Card | None:
    """Return the training card of a model's folder; ``None`` if it has none."""
    if not (path := folder / CARD_FILE).is_file():
        return None
    try:
        card: Any = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        fault, fix = f"the training card cannot be read: {error}", "Copy the model or train anew."
        raise MissingResourceError(fault, where=str(path), fix=fix) from error
    return card if isinstance(card, dict) and card.get("kind") == "training-card" else None  # pyright: ignore
