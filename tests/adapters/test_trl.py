"""Rewards: the call that TRL's trainers make, and what they get."""

import math

import pytest

import grammeter as gm
from grammeter.adapters.loops import Reward
from grammeter.core import UsageError

SOURCES = ["he go home .", "all fine .", "they was late"]
WRITTEN = ["he goes home .", "all fine .", "they were lately"]
REFERENCES = ["he goes home .", ["all fine .", "all is fine ."], "they were late"]

EXPECTED = gm.Scorer(["gleu"])(SOURCES, WRITTEN, REFERENCES)["gleu"]


def call(reward, completions=WRITTEN, **columns):
    """Call as TRL does: by name, with columns that are none of ours beside them."""
    return reward(
        prompts=["Correct: " + source for source in SOURCES],
        completions=completions,
        completion_ids=[[1, 2]] * len(completions),
        trainer_state=None,
        **columns,
    )


def test_plain_completions():
    reward = Reward("gleu", reference="target")
    assert call(reward, source=SOURCES, target=REFERENCES) == EXPECTED
    assert reward.__name__ == "grammeter_gleu"


def test_conversations_count_by_their_last_message():
    chats = [
        [{"role": "assistant", "content": "hm"}, {"role": "assistant", "content": f" {text}\n"}]
        for text in WRITTEN
    ]
    reward = Reward("gleu", reference="target")
    assert call(reward, chats, source=SOURCES, target=REFERENCES) == EXPECTED
    silent = [[{"role": "assistant", "content": None}]] * 3
    empty = call(reward, ["", "", ""], source=SOURCES, target=REFERENCES)
    assert call(reward, silent, source=SOURCES, target=REFERENCES) == empty


def test_the_prompt_may_be_the_source():
    reward = Reward("gleu", source=None, reference="target")
    prompts = [[{"role": "system", "content": "Correct."}, {"role": "user", "content": source}]
               for source in SOURCES]  # fmt: skip
    assert reward(prompts=prompts, completions=WRITTEN, target=REFERENCES) == EXPECTED
    assert reward(prompts=SOURCES, completions=WRITTEN, target=REFERENCES) == EXPECTED


def test_none_where_it_does_not_apply():
    reward = Reward("gleu", reference="target")
    result = call(reward, source=[None, *SOURCES[1:]], target=[*REFERENCES[:2], None])
    assert result == [None, EXPECTED[1], None]
    assert call(reward, source=[None] * 3, target=REFERENCES) == [None] * 3


def test_less_may_be_better():
    reward = Reward("gleu", reference="target", scale=-2)
    assert call(reward, source=SOURCES, target=REFERENCES) == [-2 * value for value in EXPECTED]


def test_a_warm_scorer_is_used():
    scorer = gm.Scorer(["gleu"])
    assert call(Reward(scorer, reference="target"), source=SOURCES, target=REFERENCES) == EXPECTED
    with pytest.raises(UsageError, match="one metric"):
        Reward(gm.Scorer(["gleu", "chrf"]))


def test_missing_columns_are_named():
    reward = Reward("gleu", reference="target")
    with pytest.raises(UsageError, match=r"'target'.*source"):
        call(reward, source=SOURCES)
    with pytest.raises(UsageError, match="'source'"):
        call(reward, target=REFERENCES)


def test_what_a_row_lacks_leaves_it_to_other_rewards():
    reward = Reward("gleu", reference="target")
    inputs = [["a b"], [], [None, "a b"], [None], None, math.nan, "a b", ("a b",)]
    count = len(inputs)
    result = reward(["?"] * count, ["a b"] * count, source=["a c"] * count, target=inputs)
    full = result[0]
    assert full is not None
    assert result == [full, None, full, None, None, None, full, full]


def test_odd_completions():
    parts = [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]
    completions = [[{"role": "assistant", "content": parts}], "a b", None, [], ""]
    count = len(completions)
    result = Reward("gleu", reference="target")(
        prompts=["?"] * count,
        completions=completions,
        source=["a c"] * count,
        target=["a b"] * count,
        completion_ids=[[1]] * count,
        trainer_state=object(),
    )
    assert result[0] == result[1]
    assert result[2] is None
    assert result[3] == result[4] is not None


def test_columns_of_unequal_lengths_are_refused():
    with pytest.raises(UsageError, match="2 completions, 1 sources"):
        Reward("gleu")(["?", "?"], ["a", "b"], source=["a"])
