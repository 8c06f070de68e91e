"""How models run: device, number type, batch size, cache; what a run cost.

No metric has fields for these: they change the time a score takes, and its last digits.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from grammeter.core.errors import UsageError

Dtype = Literal["float32", "bfloat16", "float16"]

DTYPES: tuple[Dtype, ...] = get_args(Dtype)


@dataclass
class Tally:
    """What a run cost: the tokens that went through models, and what a cache spared.

    Attributes
    ----------
    texts
        Texts, or pairs of texts, that went through a model.
    tokens
        Their tokens, special tokens included, padding not.
    padded
        The same with padding.
    known
        Figures that came from the cache.
    """

    texts: int = 0
    tokens: int = 0
    padded: int = 0
    known: int = 0

    def add(self, *, texts: int, tokens: int, padded: int) -> None:
        """Add one batch."""
        self.texts += texts
        self.tokens += tokens
        self.padded += padded


@dataclass(frozen=True, kw_only=True)
class Runtime:
    """How models run.

    Attributes
    ----------
    device
        As torch spells it: ``cpu``, ``cuda``, ``cuda:1``, ``mps``.
    dtype
        Number type of weights and activations; scores of ``bfloat16`` differ in the fourth
        digit, so it stands in signatures.
    batch_tokens
        Tokens that go through a model at once, padding included; ``None`` lets the device say.
        A text with more tokens goes alone.
    cache_dir
        Folder of the figures that models gave; ``None`` keeps none on disk.
    download
        Whether a model that is not here may be fetched.
    tally
        Counts what is done under this runtime.
    """

    device: str = "cpu"
    dtype: Dtype = "float32"
    batch_tokens: int | None = None
    cache_dir: Path | None = None
    download: bool = False
    tally: Tally = field(default_factory=Tally, compare=False)

    def __post_init__(self) -> None:
        if self.dtype not in DTYPES:
            raise UsageError(f"dtype={self.dtype}", fix=f"Use {', '.join(DTYPES)}.")
        if self.batch_tokens is not None and self.batch_tokens < 1:
            raise UsageError(f"batch_tokens={self.batch_tokens}", fix="Use 1 or more.")

    @property
    def budget(self) -> int:
        """Tokens in a batch, padding included."""
        return self.batch_tokens or (4_096 if self.device == "cpu" else 16_384)


_current: ContextVar[Runtime | None] = ContextVar("runtime", default=None)
_DEFAULT = Runtime()


def current() -> Runtime:
    """Return the runtime of the innermost :func:`using`, else the default one."""
    return _current.get() or _DEFAULT


@contextmanager
def using(runtime: Runtime) -> Generator[Runtime, None, None]:
    """Run all models inside the block as ``runtime`` says."""
    token = _current.set(runtime)
    try:
        yield runtime
    finally:
        _current.reset(token)
