"""How models run: device, number type, batch size, cache, and the cost of a run.

No metric has fields for these: they change the time of a score, and its last digits.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from grammeter.core import UsageError, checked, expanded
from grammeter.models.devices import check_device
from grammeter.models.store import check_folder

Dtype = Literal["float32", "bfloat16", "float16"]

DTYPES: tuple[Dtype, ...] = get_args(Dtype)


@dataclass
class Tally:
    """The cost of a run: tokens that went through models, and figures from the cache.

    Attributes
    ----------
    texts
        Texts, or pairs of texts, that went through a model.
    tokens
        Their tokens, including special tokens, without padding.
    padded
        The same with padding.
    known
        Figures that came from the cache.
    """

    texts: int = 0
    tokens: int = 0
    padded: int = 0
    known: int = 0

    def add(self, lengths: Sequence[int]) -> None:
        """Add a batch of texts with these numbers of tokens."""
        self.texts += len(lengths)
        self.tokens += sum(lengths)
        self.padded += len(lengths) * max(lengths)


@dataclass(frozen=True, kw_only=True)
class Runtime:
    """How models run inside :func:`using`.

    Attributes
    ----------
    device
        As torch spells it: ``cpu``, ``cuda``, ``cuda:1``, ``mps``. Whether it exists is checked
        when the first model is loaded.
    dtype
        Number type of weights and activations; scores of ``bfloat16`` differ in the fourth
        digit, so signatures show it.
    batch_tokens
        Maximum tokens of a batch, including padding; ``None``: a default by device. A longer
        text is a batch of its own.
    cache_dir
        Folder in which figures are stored, created if necessary; ``None``: no cache on disk.
    download
        Whether missing models may be downloaded.
    tally
        Counts the work of this runtime.

    Raises
    ------
    UsageError
        If a value is invalid.
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
            raise UsageError(f"unknown number type {self.dtype!r}", fix=f"Use {', '.join(DTYPES)}.")
        if self.batch_tokens is not None and self.batch_tokens < 1:
            raise UsageError(
                f"batches of {self.batch_tokens} tokens", fix="Use 1 or more, or leave it out."
            )
        if self.cache_dir is not None:
            object.__setattr__(self, "cache_dir", expanded(self.cache_dir))

    @property
    def budget(self) -> int:
        """Maximum tokens of a batch, including padding."""
        return self.batch_tokens or (2_048 if self.device == "cpu" else 16_384)


_current: ContextVar[Runtime | None] = ContextVar("runtime", default=None)
_DEFAULT = Runtime()


def current() -> Runtime:
    """Return the runtime of the innermost :func:`using`, else the default one."""
    return _current.get() or _DEFAULT


@checked
@contextmanager
def using(runtime: Runtime) -> Generator[Runtime, None, None]:
    """Run all models inside the block with ``runtime``: ``with using(Runtime(...)): ...``.

    A thread that is started inside does not inherit it.

    Raises
    ------
    UsageError
        At once, if the folder ``cache_dir`` is not writable.
    """
    if runtime.cache_dir is not None:
        check_folder(runtime.cache_dir)
    token = _current.set(runtime)
    try:
        yield runtime
    finally:
        _current.reset(token)
