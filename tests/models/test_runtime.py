"""How models run: what a runtime refuses, and where it holds."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

import grammeter as gm
from grammeter.core import UsageError
from grammeter.models.runtime import DTYPES, FILE, Runtime, Tally, current, using


def test_defaults():
    runtime = Runtime()
    assert (runtime.device, runtime.dtype, runtime.download) == ("cpu", "float32", False)
    assert runtime.cache_dir is None
    assert runtime.budget == 2048
    assert Runtime(device="cuda:1").budget == 16384
    assert Runtime(batch_tokens=7).budget == 7


@pytest.mark.parametrize("device", ["cpu", "cuda", "cuda:0", "cuda:12", "mps"])
def test_devices_that_have_a_name(device):
    assert Runtime(device=device).device == device


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"device": "nosuch"}, "unknown device 'nosuch'"),
        ({"device": "cuda:"}, "unknown device 'cuda:'"),
        ({"device": "cuda:x"}, "unknown device"),
        ({"device": ""}, "unknown device"),
        ({"dtype": "int8"}, "unknown number type 'int8'"),
        ({"batch_tokens": 0}, "batches of 0 tokens"),
        ({"batch_tokens": -5}, "batches of -5 tokens"),
    ],
)
def test_what_is_not_possible_is_refused(settings, what):
    with pytest.raises(UsageError, match=what) as caught:
        Runtime(**settings)
    assert "Use " in str(caught.value)


def test_number_types():
    assert DTYPES == ("float32", "bfloat16", "float16")
    assert [Runtime(dtype=dtype).dtype for dtype in DTYPES] == list(DTYPES)


def test_a_folder_may_be_a_text_and_begin_at_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Runtime(cache_dir="~/figures").cache_dir == tmp_path / "figures"
    assert Runtime(cache_dir=tmp_path).cache_dir == tmp_path


def test_it_holds_inside_the_block_only():
    first, second = Runtime(batch_tokens=1), Runtime(batch_tokens=2)
    before = current()
    with gm.using(first) as runtime:
        assert runtime is first
        assert current() is first
        with using(second):
            assert current() is second
        assert current() is first
        with pytest.raises(ValueError, match="broken"), using(second):
            raise ValueError("broken")
        assert current() is first
    assert current() is before


def test_other_threads_go_on_as_they_were():
    with using(Runtime(batch_tokens=1)), ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: current().batch_tokens).result() is None


def test_the_cache_folder_is_made_at_once(tmp_path):
    folder = tmp_path / "a" / "b"
    with using(Runtime(cache_dir=folder)):
        assert (folder / FILE).is_file()


def test_a_cache_that_cannot_be_written_is_refused_at_once(tmp_path):
    (tmp_path / "file").write_text("")
    wrong = Runtime(cache_dir=tmp_path / "file" / "below")
    with pytest.raises(UsageError, match="figures cannot be kept in") as caught, using(wrong):
        pytest.fail("the block was entered")
    assert "--cache-dir" in str(caught.value)


def test_runtimes_are_equal_whatever_they_counted():
    one, two = Runtime(), Runtime()
    one.tally.add([2, 3])
    one.tally.add([2])
    assert one.tally == Tally(texts=3, tokens=7, padded=8)
    assert one == two
