"""F over edits: the choice of an annotator held against the words of the specification."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammeter.core import Counts, Statistics
from grammeter.metrics.edit_f import COLUMNS, chosen_rows, f_of_counts, m2_choice, summed
from grammeter.metrics.m2 import M2

COUNTS = st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 3)).map(
    lambda c: (min(c), c[1], c[2])  # no more correct edits than proposed or gold ones
)
BETAS = st.sampled_from([0.1, 0.5, 1.0, 2.0])


def statistics_of(slots: list[list[tuple[int, int, int] | None]]) -> Statistics:
    rows = np.array(
        [[counts or (0, 0, 0) for counts in sentence] for sentence in slots], dtype=np.int64
    )
    present = np.array(
        [[counts is not None for counts in sentence] for sentence in slots], dtype=bool
    )
    width = len(slots[0]) if slots else 1
    shape = (len(slots), width, len(COLUMNS))
    labels = tuple(range(1, width + 1))  # not 0, to tell slots from numbers
    return Statistics(rows.reshape(shape), present.reshape(shape[:2]), labels, COLUMNS)


@st.composite
def statistics(draw: st.DrawFn) -> Statistics:
    width = draw(st.integers(1, 3))
    sentence = st.lists(st.none() | COUNTS, min_size=width, max_size=width)
    return statistics_of(draw(st.lists(sentence.filter(any_counts), max_size=5)))


def any_counts(slots: list[tuple[int, int, int] | None]) -> bool:
    return any(counts is not None for counts in slots)


def chosen_by_the_specification(statistics: Statistics, beta: float, *, running: bool) -> list[int]:
    """Section 1.7, sentence by sentence."""
    b2 = beta * beta
    c = p = g = 0
    result = []
    for rows, present in zip(statistics.rows.tolist(), statistics.present.tolist(), strict=True):
        best = None
        for slot, (counts, there) in enumerate(zip(rows, present, strict=True)):
            if not there:
                continue
            cc, pp, gg = c + counts[0], p + counts[1], g + counts[2]
            f = (1 + b2) * cc / (b2 * gg + pp) if b2 * gg + pp else 1.0
            # greater F, then more correct, then less of both others, then the first
            key = (f, cc, -(pp + b2 * gg), -slot)
            if best is None or key > best[0]:
                best = key, slot, (cc, pp, gg)
        assert best is not None
        result.append(best[1])
        if running:
            c, p, g = best[2]
    return result


@given(statistics(), BETAS)
def test_running_choice(rows: Statistics, beta: float) -> None:
    expected = chosen_by_the_specification(rows, beta, running=True)
    assert m2_choice(rows, beta, running=True).tolist() == expected


@given(statistics(), BETAS)
def test_best_alone(rows: Statistics, beta: float) -> None:
    expected = chosen_by_the_specification(rows, beta, running=False)
    assert m2_choice(rows, beta, running=False).tolist() == expected


@given(st.lists(COUNTS, max_size=5), BETAS)
def test_f_of_counts_is_that_of_counts(rows: list[tuple[int, int, int]], beta: float) -> None:
    values = f_of_counts(np.array(rows, dtype=np.int64).reshape(-1, 3), beta)
    expected = [Counts(c, p - c, g - c).f(beta) for c, p, g in rows]
    assert values == pytest.approx(expected)


def test_f_of_counts_works_along_the_last_axis() -> None:
    rows = np.array([[[1, 2, 4], [0, 0, 0]], [[0, 1, 0], [0, 0, 1]]])
    values = f_of_counts(rows, 0.5)
    assert values.shape == (2, 2)
    assert values.ravel() == pytest.approx([Counts(1, 1, 3).f(0.5), 1.0, 0.0, 0.0])
    assert f_of_counts(rows[0, 0], 0.5) == pytest.approx(values[0, 0])


def test_ties_go_to_more_correct_edits_then_to_the_first() -> None:
    equal_f = [(1, 1, 1), (2, 2, 2)]
    assert m2_choice(statistics_of([equal_f]), 0.5, running=False).tolist() == [1]
    assert m2_choice(statistics_of([[(1, 1, 1), (1, 1, 1)]]), 0.5, running=False).tolist() == [0]
    assert m2_choice(
        statistics_of([[None, (0, 1, 1), (0, 1, 0)]]), 0.5, running=False
    ).tolist() == [2]


def test_the_order_of_sentences_matters() -> None:
    open_choice, bad_start = [(1, 1, 2), (0, 0, 0)], [(0, 3, 0), None]
    assert m2_choice(statistics_of([open_choice, bad_start]), 0.5, running=True).tolist() == [1, 0]
    assert m2_choice(statistics_of([bad_start, open_choice]), 0.5, running=True).tolist() == [0, 0]


def test_segment_scores_name_the_annotator_not_the_slot() -> None:
    rows = statistics_of([[None, (1, 2, 4)], [(0, 0, 0), None]])
    scores = M2().sentences(rows)
    assert scores.chosen.tolist() == [2, 1]
    assert {name: column.tolist() for name, column in scores.parts.items()} == {
        "tp": [1, 0],
        "fp": [1, 0],
        "fn": [3, 0],
    }
    assert scores.values == pytest.approx([Counts(1, 1, 3).f(0.5), 1.0])


def test_no_sentence_at_all() -> None:
    rows = statistics_of([])
    slots = m2_choice(rows, 0.5, running=True)
    assert slots.tolist() == m2_choice(rows, 0.5, running=False).tolist() == []
    assert len(M2().sentences(rows)) == 0
    assert summed(chosen_rows(rows, slots)).f(0.5) == 1.0


def test_corpus_score_sums_before_it_divides() -> None:
    rows = np.array([[1, 2, 2], [1, 1, 3]])
    parts = summed(rows).parts()
    assert parts == Counts(2, 1, 3).parts()
    assert all(isinstance(parts[name], int) for name in ("tp", "fp", "fn"))
