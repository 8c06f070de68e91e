"""How models run: device, number type, batch size, and the cache of figures."""

import hashlib
import re
import sqlite3
import warnings
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from grammeter import core

Pair = tuple[str, str]
ModelInput = str | Pair | tuple[str, str, str, str]

_NAME = re.compile(r"cpu|cuda(:\d+)?|mps")


def check_device(name: str) -> None:
    """Raise :class:`UsageError` for a text that is not the name of a device."""
    if not _NAME.fullmatch(name):
        fault = f"unknown device {name!r}"
        raise core.UsageError(fault, fix="Use cpu, cuda, cuda:1 (the second one) or mps.")


FILE = "figures-1.sqlite"
"""Name of the file, with the version of its format and of the arithmetic of the figures."""

SIZE_LIMIT = 4 << 30  # maximum bytes; a larger file is emptied
_TABLE = "figures"
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def check_folder(folder: str | Path) -> None:
    """Create the folder of a store; raise :class:`UsageError` if it is not writable."""
    try:
        with closing(_cache(folder).open(Path(folder) / FILE)) as connection:
            connection.execute("DELETE FROM figures WHERE key IS NULL")  # there is none
    except core.FAULTS as error:
        if getattr(error, "sqlite_errorcode", None) in _BUSY:
            return
        fault = f"figures cannot be kept in {str(folder)!r}: {_words(error)}"
        fix = f"Name a folder that can be written, or delete {FILE} there if it is damaged"
        raise core.UsageError(fault, fix=f"{fix}; without --cache-dir nothing is kept.") from None


class Store:
    """The figures of one measure by one model.

    ``identity`` is everything that a figure depends on besides the item; ``width`` is the number
    of figures of an item. Without a folder nothing is stored.
    """

    def __init__(self, folder: str | Path | None, identity: str, width: int) -> None:
        self._cache = _cache(folder)
        self._identity = hashlib.blake2b(identity.encode("utf-8"), digest_size=16).digest()
        self._width = width

    def read(self, items: Sequence[ModelInput]) -> tuple[core.FloatArray, core.BoolArray]:
        """Return figures, shape ``(items, width)``, and which items are known."""
        figures = np.full((len(items), self._width), np.nan)
        known = np.zeros(len(items), dtype=np.bool_)
        places = {self._key(item): place for place, item in enumerate(items)}
        for key, value in self._cache.read(list(places)).items():
            if isinstance(value, bytes) and len(value) == 8 * self._width:
                figures[places[key]] = np.frombuffer(value, dtype="<f8")
                known[places[key]] = True
        return figures, known

    def write(self, items: Sequence[ModelInput], rows: core.FloatArray) -> None:
        """Add or replace the figures of items."""
        values = np.ascontiguousarray(rows, dtype="<f8")
        pairs = [(self._key(item), row.tobytes()) for item, row in zip(items, values, strict=True)]
        self._cache.write(pairs)

    def _key(self, item: ModelInput) -> bytes:
        digest = hashlib.blake2b(self._identity, digest_size=16)
        for text in (item,) if isinstance(item, str) else item:
            content = text.encode("utf-8", "surrogatepass")
            digest.update(len(content).to_bytes(8, "little") + content)
        return digest.digest()


def _cache(folder: str | Path | None) -> core.Cache:
    def warn(error: Exception) -> None:
        warnings.warn(f"{folder}: figures are not kept any more: {_words(error)}", stacklevel=2)

    path = None if folder is None else Path(folder) / FILE
    return core.Cache(path, _TABLE, "value BLOB NOT NULL", limit=SIZE_LIMIT, on_fault=warn)


def _words(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


Dtype = Literal["float32", "bfloat16", "float16"]
DTYPES: tuple[Dtype, ...] = get_args(Dtype)


@dataclass
class Tally:
    """The cost of a run: tokens that went through models, and figures from the cache."""

    texts: int = 0  # texts, or pairs of texts, that went through a model
    tokens: int = 0  # their tokens, including special tokens, without padding
    padded: int = 0  # the same with padding
    known: int = 0  # figures that came from the cache

    def add(self, lengths: Sequence[int]) -> None:
        """Add a batch of texts with these numbers of tokens."""
        self.texts += len(lengths)
        self.tokens += sum(lengths)
        self.padded += len(lengths) * max(lengths)


@dataclass(frozen=True, kw_only=True)
class Runtime:
    """How models run inside :func:`using`; UsageError if a value is invalid.

    - ``device``: ``cpu``, ``cuda``, ``cuda:1`` or ``mps``; that it exists is checked when a model
      is loaded.
    - ``dtype``: number type; scores of ``bfloat16`` differ in the fourth digit, so signatures
      show it.
    - ``batch_tokens``: maximum tokens of a batch, including padding; ``None``: a default by
      device. A longer text is a batch of its own.
    - ``cache_dir``: folder in which figures are stored, created if necessary; ``None``: no cache
      on disk.
    - ``download``: whether missing models may be downloaded.
    - ``tally``: counts the work of this runtime.
    """

    device: str = "cpu"
    dtype: Dtype = "float32"
    batch_tokens: int | None = None
    cache_dir: str | Path | None = None
    download: bool = False
    tally: Tally = field(default_factory=Tally, compare=False)

    def __post_init__(self) -> None:
        check_device(self.device)
        if self.dtype not in DTYPES:
            fix = f"Use {', '.join(DTYPES)}."
            raise core.UsageError(f"unknown number type {self.dtype!r}", fix=fix)
        if self.batch_tokens is not None and self.batch_tokens < 1:
            fix = "Use 1 or more, or leave it out."
            raise core.UsageError(f"batches of {self.batch_tokens} tokens", fix=fix)
        if self.cache_dir is not None:
            object.__setattr__(self, "cache_dir", core.expanded(self.cache_dir))

    @property
    def budget(self) -> int:
        """Maximum tokens of a batch, including padding."""
        return self.batch_tokens or (2_048 if self.device == "cpu" else 16_384)


_DEFAULT = Runtime()
_current: ContextVar[Runtime] = ContextVar("runtime", default=_DEFAULT)


def current() -> Runtime:
    """Return the runtime of the innermost :func:`using`, else the default one."""
    return _current.get()


@core.checked
@contextmanager
def using(runtime: Runtime) -> Generator[Runtime]:
    """Run all models inside the block with ``runtime``: ``with using(Runtime(...)): ...``.

    Threads started inside do not inherit it. UsageError, at once, if ``cache_dir`` is not writable.
    """
    if runtime.cache_dir is not None:
        check_folder(runtime.cache_dir)
    with core.in_force(_current, runtime):
        yield runtime
