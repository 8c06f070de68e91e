"""Items of texts as token sequences, each encoded once, as many at a time as memory holds."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Self, cast

import numpy as np

from grammeter.core import BoolArray, FloatArray, IntArray, require, track
from grammeter.models.loading import Loaded, batches, in_batches
from grammeter.models.runtime import Runtime

STATE_NUMBERS = 2**25  # maximum numbers in the states held at once: 128 MB
Tokens = tuple[int, ...]
Encode = Callable[[Sequence[Tokens]], Any]


@dataclass(frozen=True, eq=False)
class Held:
    """States of the sequences of some rows; ``starts`` has the first state of each sequence."""

    at: IntArray  # positions of the rows
    states: Any  # one sequence after the other, shape (states, width)
    starts: IntArray  # shape (sequences,)

    def padded(self, numbers: IntArray, lengths: IntArray) -> tuple[Any, Any]:
        """Return states ``(numbers, longest, width)`` and a mask, ``(numbers, longest)``."""
        torch: Any = require("torch", extra="neural")
        columns: IntArray = np.arange(int(lengths[numbers].max()))[None, :]
        real: BoolArray = columns < lengths[numbers][:, None]
        rows = np.where(real, self.starts[numbers][:, None] + columns, 0)
        at, mask = (torch.from_numpy(of).to(self.states.device) for of in (rows, real))
        return self.states[at], mask


@dataclass(frozen=True, eq=False)
class Items:
    """Items of equally many texts, as distinct rows of numbers of distinct token sequences."""

    sequences: list[Tokens]
    rows: IntArray  # shape (rows, texts), ordered by the last column
    row_of: IntArray  # shape (items,)
    cut: IntArray  # shape (items,): how many of the texts were cut

    @classmethod
    def read(cls, loaded: Loaded, items: Sequence[Any], limit: int | None) -> Self:
        """Convert items, tuples of texts, of each of which at most ``limit`` tokens are taken."""
        texts = list(dict.fromkeys(chain.from_iterable(items)))
        inputs, were_cut = loaded.tokenize(texts, limit=limit)
        tokens = [tuple(one["input_ids"]) for one in inputs]
        number = {sequence: n for n, sequence in enumerate(dict.fromkeys(tokens))}
        read = zip(texts, tokens, were_cut, strict=True)
        known = {text: (number[sequence], was_cut) for text, sequence, was_cut in read}
        table = np.array([[known[text] for text in item] for item in items], dtype=np.int64)
        rows, row_of = np.unique(table[:, ::-1, 0], axis=0, return_inverse=True)
        return cls(list(number), rows[:, ::-1], row_of.ravel(), table[:, :, 1].sum(axis=1))

    def tokens(self, numbers: IntArray) -> list[Tokens]:
        """Return sequences by their numbers."""
        chosen: list[int] = numbers.tolist()
        return [self.sequences[number] for number in chosen]

    @property
    def lengths(self) -> IntArray:
        """Number of tokens of each sequence."""
        return np.array([len(tokens) for tokens in self.sequences], dtype=np.int64)

    def split(self, ignored: Collection[int] = ()) -> tuple[IntArray, IntArray]:
        """Return the rows with a sequence that has only ``ignored`` tokens, and the others."""
        empty = [set(ignored).issuperset(tokens) for tokens in self.sequences]
        bare = np.array(empty, dtype=np.bool_)[self.rows].any(axis=1)
        return np.flatnonzero(bare), np.flatnonzero(~bare)

    def answer(self, at: IntArray, figures: FloatArray) -> tuple[list[int], FloatArray]:
        """Return the positions of the items of some rows, and their figures and ``truncated``."""
        place = np.full(len(self.rows), -1)
        place[at] = np.arange(len(at))
        positions = np.flatnonzero(place[self.row_of] >= 0)
        rows = figures[place[self.row_of[positions]]]
        return positions.tolist(), np.column_stack([rows, self.cut[positions].astype(np.float64)])

    def encoded(
        self, loaded: Loaded, at: IntArray, encode: Encode, runtime: Runtime,
        *, column: int | None = None, each: int | None = None,
    ) -> Iterator[Held]:  # fmt: skip
        """Yield the states of the rows at ``at``, as many rows at a time as memory should hold.

        ``encode`` returns the states of a batch of sequences, one sequence after the other: one for
        each token, or ``each`` of a sequence. ``column``: only that of the rows is encoded.
        """
        torch: Any = require("torch", extra="neural")
        lengths, rows = self.lengths, self.rows[at]
        rows = rows if column is None else rows[:, column : column + 1]
        sizes = lengths if each is None else np.full_like(lengths, each)
        capacity = STATE_NUMBERS // loaded.model.config.hidden_size
        planned = list(chunks(rows, sizes, capacity))
        total = sum(len(batches(lengths[held].tolist(), runtime.budget)) for held, _ in planned)

        def passes(held: IntArray, part: slice) -> Iterator[Held | None]:
            parts, order = list[Any](), list[int]()

            def step(batch: list[int]) -> Any:
                return encode(self.tokens(held[batch]))

            own = lengths[held].tolist()
            for batch, states in in_batches(own, runtime.budget, step, runtime.tally):
                parts.append(states)
                order.extend(cast("list[int]", held[batch].tolist()))
                if len(order) < len(held):
                    yield None
            starts = np.zeros_like(sizes)
            starts[order] = np.cumsum(sizes[order]) - sizes[order]
            yield Held(at[part], torch.cat(parts), starts)

        steps = chain.from_iterable(passes(*chunk) for chunk in planned)
        yield from filter(None, track(steps, f"{loaded.files.name} (batches)", total))


def chunks(rows: IntArray, sizes: IntArray, room: int) -> Iterator[tuple[IntArray, slice]]:
    """Split rows into ranges whose sequences have at most ``room`` states, or a single longer row.

    ``rows``, ``(rows, texts)``, are numbers of sequences, ``sizes`` the number of their states.
    Yields the sequences of a range, ascending, and the range.
    """
    each: list[int] = sizes.tolist()
    held: set[int] = set()
    size = start = 0
    for end, row in enumerate(cast("list[list[int]]", rows.tolist())):
        new = {*row} - held
        if held and new and size + sum(each[number] for number in new) > room:
            yield np.array(sorted(held)), slice(start, end)
            held, new, size, start = set[int](), {*row}, 0, end
        size += sum(each[number] for number in new)
        held |= new
    if held:
        yield np.array(sorted(held)), slice(start, len(rows))
