"""Batches: each text once, the budget kept, smaller ones where memory ends."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammeter.core import MissingResourceError
from grammeter.models.loading import batches, in_batches, is_out_of_memory

lengths_of = st.lists(st.integers(0, 40), max_size=40)
budgets = st.integers(1, 100)


def padded(batch, lengths):
    return len(batch) * max(lengths[position] for position in batch)


@given(lengths_of, budgets)
def test_every_position_once_within_the_budget_the_longest_first(lengths, budget):
    split = batches(lengths, budget)
    order = [position for batch in split for position in batch]
    assert sorted(order) == list(range(len(lengths)))
    assert [lengths[p] for p in order] == sorted(lengths, reverse=True)
    for batch in split:
        assert len(batch) == 1 or padded(batch, lengths) <= budget


@given(lengths_of, budgets)
def test_no_batch_could_take_one_more(lengths, budget):
    split = batches(lengths, budget)
    for batch in split[:-1]:
        assert (len(batch) + 1) * max(1, lengths[batch[0]]) > budget


def test_equal_lengths_keep_their_order():
    assert batches([3, 5, 3, 5, 3], 6) == [[1], [3], [0, 2], [4]]


def test_no_texts():
    assert batches([], 10) == []
    assert list(in_batches([], 10, len)) == []


class Machine:
    """A step that runs out of memory at some number of padded tokens."""

    def __init__(self, lengths, memory, error=None):
        self.lengths, self.memory = lengths, memory
        self.error = error or RuntimeError("CUDA out of memory.")
        self.tried = []

    def __call__(self, batch):
        self.tried.append(list(batch))
        if padded(batch, self.lengths) > self.memory:
            raise self.error
        return [self.lengths[position] for position in batch]


@given(st.lists(st.integers(1, 20), max_size=30), budgets, st.integers(20, 60))
def test_where_memory_ends_batches_get_smaller_and_nothing_is_lost(lengths, budget, memory):
    machine = Machine(lengths, memory)
    done = list(in_batches(lengths, budget, machine))
    assert sorted(p for batch, _ in done for p in batch) == list(range(len(lengths)))
    for batch, result in done:
        assert result == [lengths[p] for p in batch]
        assert padded(batch, lengths) <= memory


def test_after_a_halving_short_texts_still_go_together():
    lengths = [50] * 4 + [1] * 100
    machine = Machine(lengths, 100)
    done = [batch for batch, _ in in_batches(lengths, 200, machine)]
    assert list(map(len, done)) == [2, 2, 100]
    assert len(machine.tried) == 4


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("CUDA out of memory. Tried to allocate 20 GiB"),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate"),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling"),
        type("OutOfMemoryError", (RuntimeError,), {})("Allocation on device 0"),
        MemoryError("Unable to allocate 8 GiB"),
    ],
)
def test_one_text_that_is_too_large_ends_the_work_with_what_to_do(error):
    assert is_out_of_memory(error)
    with pytest.raises(MissingResourceError, match="one text of 30 tokens") as caught:
        list(in_batches([5, 30], 40, Machine([5, 30], 10, error)))
    assert "--device cpu" in str(caught.value)
    assert caught.value.__cause__ is error


def test_other_errors_pass_at_once():
    error = RuntimeError("index out of range in self")
    assert not is_out_of_memory(error)
    machine = Machine([5, 5], 1, error)
    with pytest.raises(RuntimeError, match="index out of range"):
        list(in_batches([5, 5], 40, machine))
    assert len(machine.tried) == 1
