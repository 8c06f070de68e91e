"""Load models and tokenizers, and run them in batches."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np

from grammeter.core import DataError, MissingResourceError, require, words_of
from grammeter.models.files import ModelFiles
from grammeter.models.runtime import Runtime, Tally, check_device

Result = TypeVar("Result")

_OUT_OF_MEMORY = ("out of memory", "can't allocate memory", "alloc_failed")


def batches(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Split positions of texts into batches of similar length, the longest first.

    ``lengths`` counts the tokens of the texts, ``budget`` those of a batch, including padding; a
    longer text is a batch of its own. Equal lengths stay in their order.
    """
    order = sorted(range(len(lengths)), key=lambda position: (-lengths[position], position))
    result: list[list[int]] = []
    start = 0
    while start < len(order):
        size = max(1, budget // max(1, lengths[order[start]]))
        result.append(order[start : start + size])
        start += size
    return result


def in_batches(
    lengths: Sequence[int],
    budget: int,
    step: Callable[[list[int]], Result],
    tally: Tally | None = None,
) -> Iterator[tuple[list[int], Result]]:
    """Run ``step`` on each batch; when memory runs out, continue with half as many tokens.

    ``tally`` counts the batches that succeed.

    Yields
    ------
    positions, result
        Each position once.

    Raises
    ------
    MissingResourceError
        If memory does not suffice for a single text.
    """
    waiting = batches(lengths, budget)[::-1]
    while waiting:
        batch = waiting.pop()
        try:
            result = step(batch)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            longest = lengths[batch[0]]
            if len(batch) == 1:
                raise MissingResourceError(
                    f"memory does not suffice for one text of {longest} tokens",
                    fix="Use --device cpu, a shorter number type (--dtype bfloat16), or a smaller"
                    " model.",
                ) from error
            rest = [*batch, *(position for later in waiting[::-1] for position in later)]
            smaller = batches([lengths[position] for position in rest], len(batch) // 2 * longest)
            waiting = [[rest[at] for at in positions] for positions in smaller][::-1]
            continue
        if tally is not None:
            tally.add([lengths[position] for position in batch])
        yield batch, result


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error means that memory ran out: a class of its own on a GPU, else a text."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    text = str(error).lower()
    return any(phrase in text for phrase in _OUT_OF_MEMORY)


LARGEST_LIMIT = 100_000
"""Tokenizers without a limit report a number with thirty digits."""

_DEEPEST = 1000
"""Maximum number of blocks; models have up to two hundred."""

TOKENIZER_FILES = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")
"""Files with the vocabulary of a tokenizer; one of them is needed."""

UNKNOWN = "a \N{SNOWMAN} \ue000"
"""A text with rare characters: a tokenizer without a token for unknown words fails on it."""


@dataclass(frozen=True)
class Loaded:
    """A tokenizer and a model in evaluation mode.

    Attributes
    ----------
    limit
        Maximum tokens of a text, including special tokens; ``None``: no limit.
    random
        Weights that the folder lacks, which were drawn at random: only those of a pooler, which
        a measure of states never reads.
    """

    files: ModelFiles
    tokenizer: Any
    model: Any
    limit: int | None
    random: tuple[str, ...] = ()

    def tokenize(
        self, items: Sequence[str | tuple[str, str]], *, limit: int | None
    ) -> tuple[list[dict[str, list[int]]], list[bool]]:
        """Return the input of each text or pair, cut to ``limit`` tokens, and which were cut.

        The model's own limit applies, too; of a pair the longer side is cut first.
        """
        most = min(n for n in (limit, self.limit, LARGEST_LIMIT) if n is not None)
        entries: Any = list(items)
        inputs: list[dict[str, list[int]]] = [{}] * len(entries)
        for kind in (str, tuple):
            at = [position for position, entry in enumerate(entries) if isinstance(entry, kind)]
            encoded = self._encode([entries[position] for position in at], max_length=None)
            for position, one in zip(at, encoded, strict=True):
                inputs[position] = one
        cut = [len(one["input_ids"]) > most for one in inputs]
        for position in np.flatnonzero(cut).tolist():
            inputs[position] = self._encode([entries[position]], max_length=most)[0]
        return inputs, cut

    def padded(self, rows: Sequence[Sequence[int]], *, fill: int = 0) -> Any:
        """Return rows as one tensor on the model's device, padded on the right."""
        torch: Any = require("torch", extra="neural")
        array = np.full((len(rows), max(map(len, rows))), fill, dtype=np.int64)
        for at, row in enumerate(rows):
            array[at, : len(row)] = row
        return torch.from_numpy(array).to(self.model.device)

    def batch(self, rows: Sequence[Sequence[int]]) -> dict[str, Any]:
        """Return what the model reads: rows of tokens, padded, and a mask of the padding."""
        return {
            "input_ids": self.padded(rows, fill=self.model.config.pad_token_id or 0),
            "attention_mask": self.padded([(1,) * len(row) for row in rows]),
        }

    @property
    def vocabulary(self) -> int:
        """Number of tokens that the model knows."""
        return int(self.model.get_input_embeddings().num_embeddings)

    def _encode(self, items: list[Any], *, max_length: int | None) -> list[dict[str, list[int]]]:
        if not items:
            return []
        firsts = [item if isinstance(item, str) else item[0] for item in items]
        seconds = None if isinstance(items[0], str) else [item[1] for item in items]
        encoded: Any = self.tokenizer(
            firsts,
            seconds,
            truncation=False if max_length is None else "longest_first",
            max_length=max_length,
            verbose=False,
        )
        return [{key: encoded[key][n] for key in encoded} for n in range(len(items))]


def load(files: ModelFiles, kind: str, runtime: Runtime, **settings: int) -> Loaded:
    """Load a model, or return the one that is already loaded.

    Parameters
    ----------
    files
        The model.
    kind
        A class of transformers that loads a folder, such as ``AutoModelForCausalLM``.
    runtime
        Device and number type.
    settings
        Entries of the model's configuration to override, such as ``num_hidden_layers=4``.

    Raises
    ------
    MissingResourceError
        If torch or transformers is not installed, the folder's files are damaged or do not fit
        together or this kind, the device does not exist, or its memory does not suffice.
    DataError
        If the model lacks weights that this kind needs.
    """
    changes = tuple(sorted(settings.items()))
    return _load(files, files.hash, kind, runtime.device, runtime.dtype, changes)


@lru_cache(maxsize=8)
def _load(
    files: ModelFiles,
    content: str,
    kind: str,
    device: str,
    dtype: str,
    settings: tuple[tuple[str, int], ...],
) -> Loaded:
    """Load a model again only if its files have changed (``content`` is their hash)."""
    del content
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    torch: Any = require("torch", extra="neural")
    transformers: Any = require("transformers", extra="neural")
    place = device_of(torch, device)
    with quiet(transformers):
        tokenizer = load_tokenizer(transformers, files)
        model, report = _model(transformers, files, kind, getattr(torch, dtype), dict(settings))
    check_vocabulary(files, tokenizer, model)
    random = tuple(sorted(report["missing_keys"]))
    lacking = [key for key in random if "pooler" not in key]
    if lacking:
        raise files.misfit(
            f"lacks weights that {kind} needs: {', '.join(lacking[:3])}",
            "Name a model of this kind; weights that are missing would be random.",
        )
    return Loaded(files, tokenizer, _moved(model, place), limit_of(tokenizer, model), random)


@contextmanager
def quiet(transformers: Any) -> Generator[None, None, None]:
    """Suppress the library's own progress bars and advice inside the block."""
    level = transformers.logging.get_verbosity()
    bars = transformers.logging.is_progress_bar_enabled()
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    try:
        yield
    finally:
        transformers.logging.set_verbosity(level)
        if bars:
            transformers.logging.enable_progress_bar()


def load_tokenizer(transformers: Any, files: ModelFiles) -> Any:
    """Return the tokenizer of a model's folder, after a test on a text.

    Raises
    ------
    MissingResourceError
        If there is none, or its files are damaged.
    """
    # without these, transformers silently makes a tokenizer without any words
    if not any(path for glob in TOKENIZER_FILES for path in files.folder.glob(glob)):
        raise MissingResourceError(
            f"the model {files.name!r} has no tokenizer",
            where=str(files.folder),
            fix="Write it there: tokenizer.save_pretrained(folder).",
        )
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            files.folder, local_files_only=True, trust_remote_code=False
        )
        tokenizer(UNKNOWN)
    except Exception as error:
        raise _unloadable(files, "its tokenizer cannot be loaded", error) from error
    return tokenizer


def load_weights(
    transformers: Any, files: ModelFiles, kind: str, dtype: Any, **settings: object
) -> tuple[Any, dict[str, Any]]:
    """Return a model of transformers' class ``kind``, and its report of missing weights.

    No pickle is read and no code of the folder is run. Errors of that class are passed on.
    """
    _check_depth(files)
    return getattr(transformers, kind).from_pretrained(
        files.folder,
        local_files_only=True,
        use_safetensors=True,
        trust_remote_code=False,
        dtype=dtype,
        output_loading_info=True,
        **settings,
    )


def _check_depth(files: ModelFiles) -> None:
    """Refuse a damaged configuration that would take hours to build its blocks."""
    config: Any = json.loads((files.folder / "config.json").read_text("utf-8"))
    for name, value in config.items():
        if name.endswith(("layers", "n_layer")) and isinstance(value, int) and value > _DEEPEST:
            raise ValueError(f"config.json: {name} is {str(value)[:20]}, more than {_DEEPEST}")


def _model(
    transformers: Any, files: ModelFiles, kind: str, dtype: Any, settings: dict[str, int]
) -> tuple[Any, dict[str, Any]]:
    try:
        return load_weights(transformers, files, kind, dtype, **settings)
    except Exception as error:
        raise _unloadable(files, f"it cannot be loaded as {kind}", error) from error


def _unloadable(files: ModelFiles, what: str, error: Exception) -> MissingResourceError:
    return MissingResourceError(
        f"the model {files.name!r}: {what}: {words_of(error)}",
        where=str(files.folder),
        fix="Check that it is a model of this kind, and that its files are whole.",
    )


def check_vocabulary(files: ModelFiles, tokenizer: Any, model: Any) -> None:
    """Raise :class:`MissingResourceError` if a tokenizer has words that its model lacks."""
    size = model.get_input_embeddings().num_embeddings
    if len(tokenizer) > size:
        raise MissingResourceError(
            f"the model {files.name!r} knows {size} tokens, its tokenizer {len(tokenizer)}",
            where=str(files.folder),
            fix="Put the tokenizer there with which the model was trained, whole.",
        )


def _moved(model: Any, place: Any) -> Any:
    try:
        return model.to(place).eval()
    except RuntimeError as error:
        if not is_out_of_memory(error):
            raise
        raise MissingResourceError(
            f"the memory of {str(place)!r} does not suffice for the model",
            fix="Use --device cpu, a shorter number type (--dtype bfloat16), or a smaller model.",
        ) from error


def device_of(torch: Any, name: str) -> Any:
    """Return torch's device of this name.

    Raises
    ------
    UsageError
        If the name is invalid.
    MissingResourceError
        If this machine does not have the device.
    """
    check_device(name)
    kind, _, number = name.partition(":")
    count = {
        "cuda": torch.cuda.device_count() if torch.cuda.is_available() else 0,
        "mps": int(torch.backends.mps.is_available()),
    }.get(kind, 1)
    if int(number or 0) >= count:
        there = f", but {count} of this kind" if count else ""
        raise MissingResourceError(
            f"there is no device {name!r} here{there}",
            fix="Use --device cpu, or install torch for it; 'grammeter doctor' tells more.",
        )
    return torch.device(name)


def limit_of(tokenizer: Any, model: Any) -> int | None:
    """Return the smaller of the tokenizer's limit and the size of the position table.

    Raises
    ------
    DataError
        If the tokenizer's limit is not a number.
    """
    said: Any = tokenizer.model_max_length
    if not isinstance(said, int | float | None):
        raise DataError(
            f"the tokenizer's model_max_length is no number: {str(said)[:40]}",
            fix="Mend tokenizer_config.json.",
        )
    positions = getattr(model.config, "max_position_embeddings", None)
    limits = [
        limit
        for limit in (said, positions and positions - _reserved(model))
        if limit and limit < LARGEST_LIMIT
    ]
    return int(min(limits)) if limits else None


def _reserved(model: Any) -> int:
    """Return the number of positions without tokens: in RoBERTa those up to the padding's."""
    paddings = [
        getattr(module, "padding_idx", None)
        for name, module in model.named_modules()
        if name.endswith("position_embeddings")
    ]
    return max((padding + 1 for padding in paddings if padding is not None), default=0)
