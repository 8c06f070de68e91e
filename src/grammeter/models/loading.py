"""Load models and tokenizers, and run them in batches."""

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from grammeter import core
from grammeter.core import DataError, FloatArray, MissingResourceError, require, track, words_of
from grammeter.models.files import ModelFiles
from grammeter.models.runtime import Runtime, Tally, check_device

T = TypeVar("T")
Member = TypeVar("Member")
_SAFE = {"local_files_only": True, "trust_remote_code": False}
_OUT_OF_MEMORY = ("out of memory", "can't allocate memory", "alloc_failed")
_SMALLER = "Use --device cpu, a shorter number type (--dtype bfloat16), or a smaller model."


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
    lengths: Sequence[int], budget: int, step: Callable[[list[int]], T], tally: Tally | None = None
) -> Iterator[tuple[list[int], T]]:
    """Run ``step`` on batches of positions, halved when memory runs out; ``tally`` counts them."""
    waiting = batches(lengths, budget)[::-1]
    while waiting:
        batch = waiting.pop()
        longest = lengths[batch[0]]
        try:
            with within_memory(f"memory does not suffice for one text of {longest} tokens"):
                result = step(batch)
        except MissingResourceError as error:
            if len(batch) == 1 or not is_out_of_memory(error.__cause__):
                raise
            rest = [*batch, *chain(*waiting[::-1])]
            smaller = batches([lengths[position] for position in rest], len(batch) // 2 * longest)
            waiting = [[rest[at] for at in positions] for positions in smaller][::-1]
            continue
        if tally is not None:
            tally.add([lengths[position] for position in batch])
        yield batch, result


def gather(members: Iterable[Member]) -> dict[Member, list[int]]:
    """Return the positions of each distinct member, in order."""
    return core.grouped((member, position) for position, member in enumerate(members))


def distinct_figures(
    name: str, positions: Mapping[Member, list[int]], length: Callable[[Member], int], budget: int,
    step: Callable[[list[Member]], FloatArray], tally: Tally,
) -> Iterator[tuple[list[int], FloatArray]]:  # fmt: skip
    """Compute each distinct member once; yield positions and ``step``'s figures ``(members,)``."""
    members = list(positions)
    lengths = [length(member) for member in members]
    answered = in_batches(lengths, budget, lambda batch: step([members[at] for at in batch]), tally)
    for batch, figures in track(answered, f"{name} (batches)", len(batches(lengths, budget))):
        copies = [positions[members[at]] for at in batch]
        yield list(chain(*copies)), np.repeat(figures, [*map(len, copies)])


def is_out_of_memory(error: BaseException | None) -> bool:
    """Whether an error means that memory ran out: a class of its own on a GPU, else a text."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    text = str(error).lower()
    return any(phrase in text for phrase in _OUT_OF_MEMORY)


@contextmanager
def within_memory(message: str, fix: str = _SMALLER) -> Generator[None]:
    """Raise :class:`MissingResourceError` with this message where memory runs out."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        raise MissingResourceError(message, fix=fix) from error


LARGEST_LIMIT = 100_000  # tokenizers without a limit report a number with thirty digits
_DEEPEST = 1000  # maximum number of blocks; models have up to two hundred
TOKENIZER_FILES = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")
"""Files with the vocabulary of a tokenizer; one of them is needed."""

UNKNOWN = "a \N{SNOWMAN} \ue000"
"""A text with rare characters: a tokenizer without a token for unknown words fails on it."""


@dataclass(frozen=True)
class Loaded:
    """A tokenizer and a model; ``limit`` is the most tokens of a text, ``None`` for no limit.

    Special tokens count. ``random`` are weights that the folder lacks, which were drawn at random:
    only those of a pooler, which a measure of states never reads.
    """

    files: ModelFiles
    tokenizer: Any
    model: Any
    random: tuple[str, ...] = ()
    limit: int | None = None

    def tokenize(
        self, items: Sequence[str | tuple[str, str]], *, limit: int | None
    ) -> tuple[list[dict[str, list[int]]], list[bool]]:
        """Return the input of each text or pair, cut to ``limit`` tokens, and which were cut.

        The model's own limit applies, too; of a pair the longer side is cut first.
        """
        most = min(n for n in (limit, self.limit, LARGEST_LIMIT) if n is not None)
        inputs = self._encode(items)
        cut = [len(one["input_ids"]) > most for one in inputs]
        for at in np.flatnonzero(cut).tolist():
            (inputs[at],) = self._encode([items[at]], truncation="longest_first", max_length=most)
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
        tokens = self.padded(rows, fill=self.model.config.pad_token_id or 0)
        return {"input_ids": tokens, "attention_mask": self.padded([(1,) * len(r) for r in rows])}

    @property
    def vocabulary(self) -> int:
        """Number of tokens that the model knows."""
        return int(self.model.get_input_embeddings().num_embeddings)

    def _encode(self, items: Sequence[Any], **options: Any) -> list[dict[str, list[int]]]:
        encoded: Any = self.tokenizer(list(items), verbose=False, **options) if items else {}
        return [{key: encoded[key][n] for key in encoded} for n in range(len(items))]


def load(files: ModelFiles, kind: str, runtime: Runtime, **settings: int) -> Loaded:
    """Load a model for inference, or return the one that is already loaded.

    ``kind`` is a class of transformers that loads a folder, such as ``AutoModelForCausalLM``;
    ``settings`` override entries of the model's configuration: ``num_hidden_layers=4``.
    """
    return _load(files, files.hash, kind, runtime.device, runtime.dtype, *sorted(settings.items()))


@lru_cache(maxsize=8)
def _load(
    files: ModelFiles, content: str, kind: str, device: str, dtype: str, *settings: tuple[str, int]
) -> Loaded:
    """Load a model again only if its files have changed (``content`` is their hash)."""
    del content
    torch, transformers = libraries()
    place = device_of(torch, device)
    with quiet(transformers):
        tokenizer = load_tokenizer(transformers, files)
        try:
            number_type = getattr(torch, dtype)
            model, report = load_weights(transformers, files, kind, number_type, **dict(settings))
        except Exception as error:
            raise _unloadable(files, f"it cannot be loaded as {kind}", error) from error
    random = tuple(sorted(report["missing_keys"]))
    if lacking := [key for key in random if "pooler" not in key]:
        fix = "Name a model of this kind; weights that are missing would be random."
        raise files.misfit(f"lacks weights that {kind} needs: {', '.join(lacking[:3])}", fix)
    message = f"the memory of {str(place)!r} does not suffice for the model"
    return placed(Loaded(files, tokenizer, model.eval(), random), place, message)


def placed(loaded: Loaded, place: Any, message: str, fix: str = _SMALLER) -> Loaded:
    """Check a model's vocabulary, move it to its device, and find out its limit.

    Raises :class:`MissingResourceError` if the tokenizer has words that the model lacks, or with
    ``message`` if memory runs out.
    """
    size, words = loaded.vocabulary, len(loaded.tokenizer)
    if words > size:
        fault = f"the model {loaded.files.name!r} knows {size} tokens, its tokenizer {words}"
        fix = "Put the tokenizer there with which the model was trained, whole."
        raise MissingResourceError(fault, where=str(loaded.files.folder), fix=fix)
    with within_memory(message, fix):
        loaded.model.to(place)
    return replace(loaded, limit=limit_of(loaded.tokenizer, loaded.model))


def libraries() -> tuple[Any, Any]:
    """Return torch and transformers; its tokenizers start no threads unless the user says so."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    return require("torch", extra="neural"), require("transformers", extra="neural")


@contextmanager
def quiet(transformers: Any) -> Generator[None, None, None]:
    """Suppress the library's own progress bars and advice inside the block."""
    logging = transformers.logging
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def load_tokenizer(transformers: Any, files: ModelFiles) -> Any:
    """Return the tokenizer of a model's folder, after a test on a text."""
    # without these, transformers silently makes a tokenizer without any words
    if not any(path for glob in TOKENIZER_FILES for path in files.folder.glob(glob)):
        fault = f"the model {files.name!r} has no tokenizer"
        fix = "Write it there: tokenizer.save_pretrained(folder)."
        raise MissingResourceError(fault, where=str(files.folder), fix=fix)
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(files.folder, **_SAFE)
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
    for name, value in files.config().items():  # a damaged depth would take hours to build
        if name.endswith(("layers", "n_layer")) and isinstance(value, int) and value > _DEEPEST:
            raise ValueError(f"config.json: {name} is {str(value)[:20]}, more than {_DEEPEST}")
    how = {**_SAFE, "use_safetensors": True, "output_loading_info": True, "dtype": dtype}
    return getattr(transformers, kind).from_pretrained(files.folder, **how, **settings)


def _unloadable(files: ModelFiles, what: str, error: Exception) -> MissingResourceError:
    fault = f"the model {files.name!r}: {what}: {words_of(error)}"
    fix = "Check that it is a model of this kind, and that its files are whole."
    return MissingResourceError(fault, where=str(files.folder), fix=fix)


def device_of(torch: Any, name: str) -> Any:
    """Return torch's device of this name, if this machine has it."""
    check_device(name)
    kind, _, number = name.partition(":")
    cards = torch.cuda.device_count() if torch.cuda.is_available() else 0
    count = {"cuda": cards, "mps": int(torch.backends.mps.is_available())}.get(kind, 1)
    if int(number or 0) >= count:
        there = f", but {count} of this kind" if count else ""
        fix = "Use --device cpu, or install torch for it; 'grammeter doctor' tells more."
        raise MissingResourceError(f"there is no device {name!r} here{there}", fix=fix)
    return torch.device(name)


def limit_of(tokenizer: Any, model: Any) -> int | None:
    """Return the smaller of the tokenizer's limit and the size of the position table."""
    said: Any = tokenizer.model_max_length
    if not isinstance(said, int | float | None):
        fault = f"the tokenizer's model_max_length is no number: {str(said)[:40]}"
        raise DataError(fault, fix="Mend tokenizer_config.json.")
    positions = getattr(model.config, "max_position_embeddings", None)
    limits = (said, positions and positions - _reserved(model))
    return min((int(n) for n in limits if n and n < LARGEST_LIMIT), default=None)


def _reserved(model: Any) -> int:
    """Return the number of positions without tokens: in RoBERTa those up to the padding's."""
    tables = [part for name, part in model.named_modules() if name.endswith("position_embeddings")]
    paddings = [getattr(table, "padding_idx", None) for table in tables]
    return max((padding + 1 for padding in paddings if padding is not None), default=0)
