"""Replies are read with tolerance for form, and with none for scores."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammeter.llm.reply import SCORES, read, schema

SCORE_LISTS = st.lists(st.sampled_from(SCORES), min_size=1, max_size=5)
VALUES = st.one_of(
    st.integers(-1, 7),
    st.floats(0, 6).map(lambda value: round(value, 1)),
    st.sampled_from([4.0, "3", "6", "0", " 2", "03", "four", "٣", "", True, None, [3], {"a": 1}]),
)
KEYS = st.one_of(
    st.builds("target{}_score".format, st.integers(0, 6)),
    st.builds("Target_Score{}".format, st.integers(0, 6)),
    st.sampled_from(["reason", "target", "scores", "SCORES", "target1_score_", "target1"]),
)


def reply(scores, key="target{}_score"):
    return {key.format(number): score for number, score in enumerate(scores, start=1)}


def text_of(scores):
    return json.dumps(reply(scores))


def naive_pairs(key, value):
    name = key.lower()
    if name == "scores" and isinstance(value, dict):
        return [pair for item in value.items() for pair in naive_pairs(*item)]
    if name == "scores":
        return list(enumerate(value, 1)) if isinstance(value, list) else [(0, None)]
    for before, after in (("target_score", ""), ("target", "_score"), ("target", "")):
        number = name.removeprefix(before).removesuffix(after)
        if name == f"{before}{number}{after}" and number.isdigit():
            return [(int(number), value)]
    return []


def naive(data, n):
    """Return the scores of parsed JSON by the plainest rules, and nothing but these."""
    values = {}
    for number, score in [pair for item in data.items() for pair in naive_pairs(*item)]:
        if number in values:
            return None
        values[number] = score
    if sorted(values) != list(range(1, n + 1)):
        return None
    scores = []
    for number in range(1, n + 1):
        value = values[number]
        if isinstance(value, bool) or value in (None, []):
            return None
        if isinstance(value, str):
            value = int(value) if value in list("12345") else None
        if value not in (1, 2, 3, 4, 5):
            return None
        scores.append(int(value))
    return tuple(scores)


@given(SCORE_LISTS)
def test_what_was_asked_for_is_read_as_it_is(scores):
    reading = read(text_of(scores), len(scores))
    assert (reading.scores, reading.came, reading.reason) == (tuple(scores), "ok", "")


@given(SCORE_LISTS)
def test_the_form_that_prompts_ask_for_needs_no_tolerance(scores):
    lines = ",\n".join(f'\t"target{n}_score": {s}' for n, s in enumerate(scores, start=1))
    reading = read(f"```json\n{{\n{lines}\n}}\n```\n", len(scores))
    assert (reading.scores, reading.came) == (tuple(scores), "ok")


@given(SCORE_LISTS, st.sampled_from(range(14)))
def test_other_forms_are_tolerated_and_told(scores, form):
    plain = text_of(scores)
    commented = plain.replace(", ", ", // so\n").replace("}", "// end\n}")
    text = [
        f"Here you are:\n```json\n{plain}\n```\nBye",
        f"The scores are {plain}.",
        commented,
        plain.replace("}", ",}"),
        json.dumps(reply(scores, "Target_Score{}")),
        json.dumps({"scores": scores}),
        json.dumps(reply([float(score) for score in scores])),
        f"<think>perhaps {text_of([1] * len(scores))}</think>\n{plain}",
        json.dumps({"scores": reply(scores)}),
        plain.replace('"', "'"),
        "\n".join(f"target{n}_score: {s}" for n, s in enumerate(scores, 1)),
        "So:\n" + "\n".join(f"- **Target {n}:** {s}/5" for n, s in enumerate(scores, 1)),
        ", ".join(f"target {n}: {s}.0" for n, s in enumerate(scores, 1)) + ".",
        "\r\n".join(f"Target {n} score = {s};" for n, s in enumerate(scores, 1)),
    ][form]
    reading = read(text, len(scores))
    assert reading.scores == tuple(scores)
    assert reading.came == "coerced"
    assert reading.reason


@given(st.text(), st.integers(1, 5))
def test_any_text_gives_all_scores_or_a_reason(text, n):
    reading = read(text, n)
    if reading.scores is None:
        assert reading.reason
        assert reading.came == "invalid"
    else:
        assert len(reading.scores) == n
        assert set(reading.scores) <= set(SCORES)


@given(st.dictionaries(KEYS, VALUES, max_size=6), st.integers(1, 4))
def test_the_plainest_rules_say_the_same(data, n):
    assert read(json.dumps(data), n).scores == naive(data, n)


@given(SCORE_LISTS, st.data())
def test_half_a_reply_is_none(scores, data):
    text = text_of(scores)
    reading = read(text[: data.draw(st.integers(0, len(text) - 1))], len(scores))
    assert reading.scores is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the reply is empty"),
        ("  \n", "the reply is empty"),
        ("\ufeff", "the reply is empty"),
        ("I would rather not.", "there is no JSON object"),
        ("[3, 4]", "there is no JSON object"),
        ("{never closed", "there is no JSON object"),
        ('{"target1_score": 3, "target2_score": 4', "there is no JSON object"),
        ('{"target1_score": NaN, "target2_score": 3}', "followed by no plain number"),
        ("target 1: 3", "the score of target 2 is missing"),
        ("target 1: 3\ntarget 2: 4\ntarget 2: 5", "target 2 is scored twice"),
        ("target 1: 3\ntarget 2: 4\ntarget 3: 5", "more than 2 targets"),
        ("target 1: 3\ntarget 2: 4 mistakes", "followed by no plain number"),
        ("target 1: 3\ntarget 2: 4.5", "target 2 is not one of"),
        ("target 1: 3\ntarget 2: -4", "target 2 is not one of"),
        ("target 1: 3\ntarget 2: 45", "followed by no plain number"),
        ("target 1: 3, though target 1: 4 was near; target 2: 4", "followed by no plain number"),
        ("[" * 100_000, "there is no JSON object"),
        ('{"target1_score": ' + "9" * 5_000 + "}", "followed by no plain number"),
        ('{"target1_score": 3}', "the score of target 2 is missing"),
        ("{}", "the score of target 1, 2 is missing"),
        ('{"scores": [3]}', "the score of target 2 is missing"),
        ('{"scores": 3}', '"scores" is no array'),
        ('{"scores": [3, 4, 5]}', "more than 2 targets"),
        ('{"target1_score": 3, "target2_score": 4, "target3_score": 4}', "more than 2 targets"),
        ('{"target1_score": 3, "target2_score": 9}', "target 2 is not one of"),
        ('{"target1_score": 0, "target2_score": 3}', "target 1 is not one of"),
        ('{"target1_score": 3.5, "target2_score": 3}', "target 1 is not one of"),
        ('{"target1_score": true, "target2_score": 3}', "target 1 is not one of"),
        ('{"target1_score": null, "target2_score": 3}', "target 1 is not one of"),
        ('{"target1_score": "three", "target2_score": 3}', "target 1 is not one of"),
        ('{"target1_score": [3], "target2_score": 3}', "target 1 is not one of"),
        ('{"target1_score": 3, "target1_score": 4, "target2_score": 3}', "1 is scored twice"),
        ('{"target1_score": 3, "Target_Score1": 3, "target2_score": 3}', "1 is scored twice"),
        ('{"target1_score": 3, "target2_score": 4, "scores": [3, 4]}', "1 is scored twice"),
        (
            'It says {"target1_score": 5, "target2_score": 5}, but I say'
            ' {"target1_score": 1, "target2_score": 2}',
            "two different answers",
        ),
    ],
)
def test_what_will_not_do_is_told(text, reason):
    reading = read(text, 2)
    assert reading.scores is None
    assert reason in reading.reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"target1_score": 3, "target2_score": "4"}', "text or with a decimal point"),
        ('{"target1_score": 3, "target2_score": 4, "why": "{"}', "more keys"),
        ('Sure! {"target1_score": 3, "target2_score": 4, "why": "a \\" } b"}', "around the JSON"),
        ('"So": {"target1_score": 3, "target2_score": 4} {and so on}', "around the JSON"),
        ('{"why": "http://x // y", "target1_score": 3, "target2_score": 4,}', "trailing commas"),
        (
            '```json\n{"target1_score": 1, "target2_score": 1}\n```\nNo:\n'
            '```json\n{"target1_score": 3, "target2_score": 4}\n```',
            "around the JSON",
        ),
    ],
)
def test_tolerance_is_told(text, reason):
    reading = read(text, 2)
    assert reading.scores == (3, 4)
    assert reason in reading.reason


def test_a_block_that_is_json_decides_even_if_it_will_not_do():
    text = '```json\n{"target1_score": 9}\n```\n{"target1_score": 3}'
    assert read(text, 1).scores is None


@pytest.mark.parametrize("n", [1, 5])
def test_the_schema_is_strict(n):
    names = [f"target{number}_score" for number in range(1, n + 1)]
    shape = schema(n)
    assert shape["required"] == list(shape["properties"]) == names
    assert shape["additionalProperties"] is False
    assert all(
        p == {"type": "integer", "enum": [1, 2, 3, 4, 5]} for p in shape["properties"].values()
    )
