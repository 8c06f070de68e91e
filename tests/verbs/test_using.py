"""One place for how models run and how language models are asked."""

from __future__ import annotations

import pytest

import grammeter as gm
from grammeter import llm, models
from grammeter.core import UsageError


def test_keywords_change_the_settings_of_both_rooms(tmp_path):
    before = models.current(), llm.current()
    with gm.using(batch_tokens=7, max_cost=1.5, cache_dir=tmp_path) as runtime:
        assert models.current() is runtime
        assert (runtime.batch_tokens, runtime.cache_dir) == (7, tmp_path)
        assert (llm.current().max_cost, llm.current().cache_dir) == (1.5, tmp_path)
    assert (models.current(), llm.current()) == before


def test_an_inner_block_keeps_what_it_does_not_name():
    with gm.using(dtype="bfloat16", base_url="http://localhost:1/v1"), gm.using(batch_tokens=7):
        assert models.current() == gm.Runtime(dtype="bfloat16", batch_tokens=7)
        with gm.using(attempts=5):
            assert models.current().batch_tokens == 7
            assert llm.current() == gm.Endpoint(base_url="http://localhost:1/v1", attempts=5)


def test_values_are_taken_as_they_are():
    runtime, endpoint = gm.Runtime(batch_tokens=7), gm.Endpoint(attempts=5)
    with gm.using(runtime, endpoint) as result:
        assert result is runtime is models.current()
        assert endpoint is llm.current()
    with gm.using(endpoint=endpoint, max_tokens=9):
        assert llm.current() == gm.Endpoint(attempts=5, max_tokens=9)
        assert llm.current().bill is not endpoint.bill


def test_each_block_counts_its_own_work():
    with gm.using(batch_tokens=7) as outer:
        outer.tally.add([3])
        with gm.using(batch_tokens=8) as inner:
            assert inner.tally.texts == 0
        with gm.using(attempts=5) as same:
            assert same is outer


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"device": "tpu"}, "unknown device"), ({"timeout": 0.0}, "timeout=0"),
     ({"batch_tokens": "many"}, "a whole number")],
)  # fmt: skip
def test_what_is_wrong_is_said_at_once(settings, message):
    with pytest.raises(UsageError, match=message), gm.using(**settings):
        pytest.fail("the block was entered")
