"""A document's text laid back on its source sentences: the slow twin, what is lost, goldens."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammeter.alignment import splitting
from grammeter.alignment.splitting import GAP, laid_back, replacement_costs

TOKENS = st.lists(
    st.sampled_from(["a", "A", "abc", "abd", "Straße", ".", "„", "“", "(", "1"]), max_size=9
)


def distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        new = [i]
        for j, y in enumerate(b, 1):
            new.append(min(row[j] + 1, new[-1] + 1, row[j - 1] + (x != y)))
        row = new
    return row[-1]


def cost(a, b):
    """The cost of raw_outputs.md, section 7, in parts of GAP."""
    if a == b:
        return 0
    if a.casefold() == b.casefold():
        return GAP // 10
    word = [any(c.isalnum() for c in x) for x in (a, b)]
    if word[0] != word[1]:
        return 2 * GAP
    a, b = a[:64], b[:64]
    return min(2 * GAP, GAP * 3 // 10 + 17 * GAP * distance(a, b) // (10 * max(len(a), len(b))))


def twin(source, tokens):
    rows = [[GAP * j for j in range(len(tokens) + 1)]]
    for s in source:
        new = [rows[-1][0] + GAP]
        for j, t in enumerate(tokens, 1):
            steps = rows[-1][j] + GAP, new[-1] + GAP, rows[-1][j - 1] + cost(s, t)
            new.append(min(steps))
        rows.append(new)
    return rows[-1][-1]


def walked(source, tokens):
    """The cost of the path that the moves describe."""
    moves, i, j, total = splitting._moves(source, tokens), len(source), len(tokens), 0
    while i or j:
        move = moves[i][j]
        total += GAP if move else cost(source[i - 1], tokens[j - 1])
        i, j = i - (move != 2), j - (move != 1)
    return total


@given(TOKENS, TOKENS)
def test_paths_cost_what_the_slow_twin_says(source, tokens):
    assert walked(source, tokens) == twin(source, tokens)


@given(st.lists(st.text(min_size=1, max_size=70), min_size=1, max_size=4))
def test_costs_of_replacing(tokens):
    costs = replacement_costs(tokens, tokens[::-1])
    assert costs.tolist() == [[cost(a, b) for b in tokens[::-1]] for a in tokens]


@given(TOKENS, st.lists(TOKENS, min_size=1, max_size=4))
def test_no_token_is_lost(tokens, sentences):
    parts = laid_back(tokens, sentences)
    assert len(parts) == len(sentences)
    assert [token for part in parts for token in part] == tokens


@given(st.lists(TOKENS.map(lambda x: [*x, "end"]), min_size=1, max_size=4))
def test_an_unchanged_text_has_its_own_boundaries(sentences):
    assert laid_back([token for s in sentences for token in s], sentences) == sentences


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("He go . She go", ["He go .", "She go"]),  # a mark that is added ends the sentence
        ("He go „ She go", ["He go", "„ She go"]),  # an opening quote begins one
        ("„ He go “ She go", ["„ He go “", "She go"]),  # in „low“ quotes the high one ends
        ("“ He go “ She go", ["“ He go", "“ She go"]),
        ("He go . Now ! She go", ["He go .", "Now ! She go"]),
        ("He", ["He", ""]),
        ("", ["", ""]),
    ],
)
def test_what_is_inserted_at_a_boundary(text, parts):
    assert laid_back(text.split(), [["He", "go"], ["She", "go"]]) == [
        part.split() for part in parts
    ]


def test_boundaries_of_196_documents(shared):
    """golden/raw_outputs: a prototype finds the boundaries of 819 and 807 of 819 lines."""
    folder, data = shared / "golden" / "raw_outputs", shared / "data" / "lang_cs_geccc"
    names = [
        row.split("\t")[0] for row in (data / "geccc819.meta.tsv").read_text().splitlines()[1:]
    ]
    m2 = (data / "geccc819.m2").read_text().splitlines()
    sources = [line[2:].split() for line in m2 if line.startswith("S ")]
    ends = [0, *(n for n in range(1, 819) if names[n] != names[n - 1]), 819]
    for system, right in (("Opravidlo", 819), ("GPT4o", 807)):
        lines = [x.split() for x in (folder / f"{system}.tokens.txt").read_text().splitlines()]
        start, parts = time.process_time(), []
        for a, b in pairwise(ends):
            parts += laid_back([token for line in lines[a:b] for token in line], sources[a:b])
        assert time.process_time() - start < 3
        assert sum(a == b for a, b in zip(parts, lines, strict=True)) == right
