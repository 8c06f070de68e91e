"""Models and tokenizers from their folders, ready for inference; each is loaded once."""

from __future__ import annotations

import json
import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from grammeter.core import DataError, MissingResourceError, require, words_of
from grammeter.models.batching import is_out_of_memory
from grammeter.models.devices import check_device
from grammeter.models.files import ModelFiles
from grammeter.models.runtime import Runtime

LARGEST_LIMIT = 100_000
"""Tokenizers without a limit name a number with thirty digits."""

_DEEPEST = 1000
"""Blocks; models have up to two hundred."""

TOKENIZER_FILES = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")
"""One of these has the words of a tokenizer."""


UNKNOWN = "a \N{SNOWMAN} \ue000"
"""A text with words that hardly any tokenizer has: one without a word for these fails."""


@dataclass(frozen=True)
class Loaded:
    """A tokenizer and a model in evaluation mode.

    Attributes
    ----------
    limit
        Tokens of a text that the model takes, special tokens included; ``None``: no limit.
    random
        Weights that the folder lacks, so that chance has drawn them: none but a pooler's, which
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

        ``limit`` is bounded by the model's own; of a pair the longer side is cut first.
        """
        most = min(each for each in (limit, self.limit, LARGEST_LIMIT) if each is not None)
        given: Any = list(items)
        whole: list[dict[str, list[int]]] = [{}] * len(given)
        for kind in (str, tuple):
            at = [position for position, item in enumerate(given) if isinstance(item, kind)]
            encoded = self._encode([given[position] for position in at], max_length=None)
            for position, one in zip(at, encoded, strict=True):
                whole[position] = one
        cut = [len(one["input_ids"]) > most for one in whole]
        for position, is_cut in enumerate(cut):
            if is_cut:
                whole[position] = self._encode([given[position]], max_length=most)[0]
        return whole, cut

    def _encode(self, items: list[Any], *, max_length: int | None) -> list[dict[str, list[int]]]:
        if not items:
            return []
        firsts = [item if isinstance(item, str) else item[0] for item in items]
        seconds = None if isinstance(items[0], str) else [item[1] for item in items]
        found: Any = self.tokenizer(
            firsts,
            seconds,
            truncation=False if max_length is None else "longest_first",
            max_length=max_length,
            verbose=False,
        )
        return [{key: found[key][n] for key in found} for n in range(len(items))]


def load(files: ModelFiles, kind: str, runtime: Runtime, **settings: int) -> Loaded:
    """Load a model; the same one again costs nothing.

    Parameters
    ----------
    files
        Where it lies.
    kind
        A class of transformers that loads by folder, ``AutoModelForCausalLM``.
    runtime
        Device and number type.
    settings
        Entries of the model's configuration to override, ``num_hidden_layers=4``.

    Raises
    ------
    MissingResourceError
        If torch or transformers is not installed, the folder's files are damaged, do not fit
        together or cannot be loaded so, there is no such device, or its memory does not suffice.
    DataError
        If the model lacks weights of this kind.
    """
    own = tuple(sorted(settings.items()))
    return _load(files, files.hash, kind, runtime.device, runtime.dtype, own)


@lru_cache(maxsize=8)
def _load(
    files: ModelFiles,
    content: str,
    kind: str,
    device: str,
    dtype: str,
    settings: tuple[tuple[str, int], ...],
) -> Loaded:
    """Load once, and once more where the files have changed (``content`` is their hash)."""
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
        raise DataError(
            f"the model {files.name!r} lacks weights that {kind} needs: {', '.join(lacking[:3])}",
            where=str(files.folder),
            fix="Name a model of this kind; weights that are missing would be random.",
        )
    return Loaded(files, tokenizer, _moved(model, place), limit_of(tokenizer, model), random)


@contextmanager
def quiet(transformers: Any) -> Generator[None, None, None]:
    """Load without the library's own progress and advice, and leave its settings as they were."""
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
    """Return the tokenizer of a model's folder, tried on a text.

    Raises
    ------
    MissingResourceError
        If there is none, or its files are damaged.
    """
    # without these, transformers makes a tokenizer that knows no word, and says nothing
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
    """Return the model, and what transformers reports of missing weights.

    Of transformers' class ``kind``; no pickle is read and no code of the folder is run. Whatever
    that class raises is passed on: :func:`words_of` says it shortly.
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
    """Refuse a damaged configuration that would build blocks for hours."""
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
    known = model.get_input_embeddings().num_embeddings
    if len(tokenizer) > known:
        raise MissingResourceError(
            f"the model {files.name!r} knows {known} tokens, its tokenizer {len(tokenizer)}",
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
        If no device is called so anywhere.
    MissingResourceError
        If there is none here.
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
    """Return the smaller of what the tokenizer says and what the position table holds.

    Raises
    ------
    DataError
        If what the tokenizer says is no number.
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
    """Return how many positions no token takes: in RoBERTa's kin those up to the padding's."""
    paddings = [
        getattr(module, "padding_idx", None)
        for name, module in model.named_modules()
        if name.endswith("position_embeddings")
    ]
    return max((padding + 1 for padding in paddings if padding is not None), default=0)
