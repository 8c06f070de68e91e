"""Models and tokenizers from their folders, ready for inference; each is loaded once."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from grammeter.core.errors import DataError, GrammeterError, MissingResourceError, UsageError
from grammeter.core.lazy import require
from grammeter.neural.files import ModelFiles
from grammeter.neural.runtime import Runtime

LARGEST_LIMIT = 100_000
"""Tokenizers without a limit name a number with thirty digits."""


@dataclass(frozen=True)
class Loaded:
    """A tokenizer and a model in evaluation mode.

    Attributes
    ----------
    limit
        Tokens of a text that the model takes, special tokens included; ``None``: no limit.
    """

    files: ModelFiles
    tokenizer: Any
    model: Any
    limit: int | None

    def tokenize(
        self, items: Sequence[str | tuple[str, str]], *, limit: int | None
    ) -> tuple[list[dict[str, list[int]]], list[bool]]:
        """Return the input of each text or pair, cut to ``limit`` tokens, and which were cut.

        ``limit`` is bounded by the model's own; of a pair the longer side is cut first.
        """
        most = min(each for each in (limit, self.limit, LARGEST_LIMIT) if each is not None)
        given: Any = list(items)
        whole = self._encode(given, max_length=None)
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
        If torch or transformers is not installed, or there is no such device.
    DataError
        If the folder's model is of another kind, or lacks weights of this kind.
    """
    return _load(files, kind, runtime.device, runtime.dtype, tuple(sorted(settings.items())))


@lru_cache(maxsize=8)
def _load(
    files: ModelFiles, kind: str, device: str, dtype: str, settings: tuple[tuple[str, int], ...]
) -> Loaded:
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    torch: Any = require("torch", extra="neural")
    transformers: Any = require("transformers", extra="neural")
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    place = _device(torch, device)
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(files.folder, local_files_only=True)
        model, report = getattr(transformers, kind).from_pretrained(
            files.folder,
            local_files_only=True,
            use_safetensors=True,
            trust_remote_code=False,
            dtype=getattr(torch, dtype),
            output_loading_info=True,
            **dict(settings),
        )
    except GrammeterError:
        raise
    except Exception as error:
        text = " ".join(str(error).split())[:300]
        raise DataError(
            f"the model {files.name!r} cannot be loaded as {kind}: {text}",
            where=str(files.folder),
            fix="Check that it is a model of this kind, and that its files are whole.",
        ) from error
    lacking = sorted(key for key in report["missing_keys"] if "pooler" not in key)
    if lacking:
        raise DataError(
            f"the model {files.name!r} lacks weights that {kind} needs: {', '.join(lacking[:3])}",
            where=str(files.folder),
            fix="Name a model of this kind; weights that are missing would be random.",
        )
    return Loaded(files, tokenizer, model.to(place).eval(), _limit(tokenizer, model))


def _device(torch: Any, name: str) -> Any:
    try:
        place = torch.device(name)
    except RuntimeError:
        raise UsageError(f"unknown device {name!r}", fix="Use cpu, cuda, cuda:1 or mps.") from None
    there = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
    }
    if not there.get(place.type, True):
        raise MissingResourceError(
            f"there is no device {name!r} here", fix="Use --device cpu, or install torch for it."
        )
    return place


def _limit(tokenizer: Any, model: Any) -> int | None:
    """Return the smaller of what the tokenizer says and what the position table holds."""
    config = model.config
    positions = getattr(config, "max_position_embeddings", None) or getattr(
        config, "n_positions", None
    )
    # RoBERTa's positions begin after its padding id
    offset = (config.pad_token_id + 1) if config.model_type.endswith("roberta") else 0
    limits = [
        limit
        for limit in (tokenizer.model_max_length, positions and positions - offset)
        if limit and limit < LARGEST_LIMIT
    ]
    return min(limits, default=None)
