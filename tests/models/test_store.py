"""Figures on disk: what was written is read back, whatever happens to the file."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammeter.core import UsageError
from grammeter.models import runtime as module
from grammeter.models.runtime import FILE, Store, check_folder

texts = st.text(max_size=5)
items = st.lists(st.one_of(texts, st.tuples(texts, texts)), unique=True, max_size=20)


@given(items, st.integers(1, 4), st.data())
def test_what_was_written_is_read_back(tmp_path_factory, items, width, data):
    folder = tmp_path_factory.mktemp("store")
    figure = st.floats(allow_nan=True, allow_infinity=True)
    rows = np.array(
        data.draw(
            st.lists(
                st.lists(figure, min_size=width, max_size=width),
                min_size=len(items),
                max_size=len(items),
            )
        ),
        dtype=np.float64,
    ).reshape(len(items), width)
    chosen = data.draw(st.sets(st.sampled_from(range(len(items))))) if items else set()
    Store(folder, "x", width).write([items[at] for at in chosen], rows[sorted(chosen)])
    at = sorted(chosen)
    Store(folder, "x", width).write([items[n] for n in at], rows[at])
    figures, known = Store(folder, "x", width).read(items)
    assert known.tolist() == [n in chosen for n in range(len(items))]
    np.testing.assert_array_equal(figures[known], rows[at])
    assert np.isnan(figures[~known]).all()


def test_a_nan_is_known(tmp_path):
    Store(tmp_path, "x", 2).write(["a"], np.array([[np.nan, 1.0]]))
    figures, known = Store(tmp_path, "x", 2).read(["a", "b"])
    assert known.tolist() == [True, False]
    np.testing.assert_array_equal(figures[0], [np.nan, 1.0])


def test_a_text_is_no_pair_and_pairs_are_not_run_together(tmp_path):
    items = ["ab", ("ab", ""), ("", "ab"), ("a", "b"), "", ("", "")]
    store = Store(tmp_path, "x", 1)
    store.write(items, np.arange(6.0)[:, None])
    figures, known = store.read(items)
    assert known.all()
    assert figures[:, 0].tolist() == [0, 1, 2, 3, 4, 5]


def test_a_later_figure_replaces_an_earlier_one(tmp_path):
    store = Store(tmp_path, "x", 1)
    store.write(["a"], np.array([[1.0]]))
    store.write(["a"], np.array([[2.0]]))
    assert store.read(["a"])[0].tolist() == [[2.0]]


def test_half_a_character_is_a_text_too(tmp_path):
    store = Store(tmp_path, "x", 1)
    store.write(["\ud800"], np.array([[1.0]]))
    assert store.read(["\ud800", "\udfff"])[1].tolist() == [True, False]


def test_another_identity_or_width_knows_nothing(tmp_path):
    Store(tmp_path, "x", 2).write(["a"], np.array([[1.0, 2.0]]))
    assert not Store(tmp_path, "y", 2).read(["a"])[1].any()
    assert not Store(tmp_path, "x", 3).read(["a"])[1].any()
    assert Store(tmp_path, "x", 2).read(["a"])[1].all()


def test_more_items_than_one_question_takes(tmp_path):
    items = [str(n) for n in range(1203)]
    store = Store(tmp_path, "x", 1)
    store.write(items, np.arange(1203.0)[:, None])
    figures, known = store.read(items[::-1])
    assert known.all()
    assert figures[:, 0].tolist() == [float(n) for n in range(1202, -1, -1)]


def test_without_a_folder_nothing_is_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = Store(None, "x", 1)
    store.write(["a"], np.array([[1.0]]))
    assert not store.read(["a"])[1].any()
    assert not list(tmp_path.iterdir())


def test_no_items(tmp_path):
    store = Store(tmp_path, "x", 2)
    store.write([], np.zeros((0, 2)))
    figures, known = store.read([])
    assert figures.shape == (0, 2)
    assert known.shape == (0,)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "content", [b"no database at all" * 100, b"SQLite format 3\0" + b"x" * 5000]
)
def test_a_damaged_file_is_told_at_once_and_else_done_without(tmp_path, content):
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(UsageError, match="figures cannot be kept in") as caught:
        check_folder(tmp_path)
    assert f"delete {FILE}" in str(caught.value)
    store = Store(tmp_path, "x", 1)
    with pytest.warns(UserWarning, match="figures are not kept any more"):
        figures, known = store.read(["a"])
    assert not known.any()
    assert figures.shape == (1, 1)
    store.write(["a"], np.array([[1.0]]))  # told once is enough
    assert (tmp_path / FILE).read_bytes() == content


@pytest.mark.parametrize("value", [b"", b"1234567", b"x" * 16, "12345678", 8])
def test_a_damaged_figure_is_not_known(tmp_path, value):
    store = Store(tmp_path, "x", 1)
    store.write(["a", "b"], np.array([[1.0], [2.0]]))
    with closing(sqlite3.connect(tmp_path / FILE)) as connection, connection:
        connection.execute("UPDATE figures SET value = ? WHERE key = ?", (value, store._key("a")))
    assert store.read(["a", "b"])[1].tolist() == [False, True]


def test_a_file_that_is_a_folder(tmp_path):
    (tmp_path / FILE).mkdir()
    with pytest.raises(UsageError, match="Is a directory"):
        check_folder(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="the super-user writes everywhere")
def test_a_folder_that_cannot_be_written(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(UsageError, match="figures cannot be kept in"):
        check_folder(tmp_path)


def test_a_store_that_is_read_only_still_answers(tmp_path, monkeypatch):
    Store(tmp_path, "x", 1).write(["a"], np.array([[1.0]]))

    def connect(path, timeout):
        return sqlite3.connect(f"file:{path}?mode=ro", uri=True)

    monkeypatch.setattr("grammeter.core.sqlite.sqlite3", Fake(connect))
    with pytest.raises(UsageError, match="readonly"):
        check_folder(tmp_path)
    store = Store(tmp_path, "x", 1)
    assert store.read(["a"])[0].tolist() == [[1.0]]
    with pytest.warns(UserWarning, match="readonly"):
        store.write(["b"], np.array([[1.0]]))
    assert not store.read(["b"])[1].any()


class Fake:
    """The module sqlite3 with another ``connect``."""

    def __init__(self, connect):
        self.connect = connect

    def __getattr__(self, name):
        return getattr(sqlite3, name)


def test_a_busy_file_is_waited_for_and_no_fault(tmp_path, monkeypatch):
    monkeypatch.setattr("grammeter.core.sqlite._WAIT", 0.01)
    Store(tmp_path, "x", 1).write(["a"], np.array([[1.0]]))
    with closing(sqlite3.connect(tmp_path / FILE)) as other:
        other.execute("BEGIN IMMEDIATE")
        check_folder(tmp_path)
        store = Store(tmp_path, "x", 1)
        assert store.read(["a"])[1].all()
        with pytest.warns(UserWarning, match="locked"):
            store.write(["b"], np.array([[1.0]]))


def test_a_file_that_has_grown_too_large_is_begun_anew(tmp_path, monkeypatch):
    store = Store(tmp_path, "x", 1)
    store.write([str(n) for n in range(1000)], np.zeros((1000, 1)))
    size = (tmp_path / FILE).stat().st_size
    monkeypatch.setattr(module, "SIZE_LIMIT", size)
    assert store.read(["1"])[1].all()
    monkeypatch.setattr(module, "SIZE_LIMIT", size - 1)
    store = Store(tmp_path, "x", 1)
    assert not store.read(["1"])[1].any()
    assert (tmp_path / FILE).stat().st_size < size
    store.write(["1"], np.array([[3.0]]))
    assert store.read(["1"])[0].tolist() == [[3.0]]


def _write_many(folder, start):
    for n in range(start, start + 40):
        Store(folder, "x", 1).write([str(n)], np.array([[float(n)]]))


def test_two_processes_write_one_file(tmp_path):
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_write_many, args=(tmp_path, at)) for at in (0, 20)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0]
    items = [str(n) for n in range(60)]
    figures, known = Store(tmp_path, "x", 1).read(items)
    assert known.all()
    assert figures[:, 0].tolist() == [float(n) for n in range(60)]
