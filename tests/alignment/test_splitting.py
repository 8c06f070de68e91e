"""Text split as a corpus is: the examples, the decision of a gap against a slow twin, goldens."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammeter.alignment import CorpusTokenizer, SplitExample, split_examples
from grammeter.formats import TextRule, read_m2, reference_texts


def learned(*pairs):
    return CorpusTokenizer(
        example
        for raw, tokens in pairs
        for example in split_examples(raw, [tokens.split()]) or pytest.fail(raw)
    )


def test_examples_know_the_splits_of_each_chunk():
    assert split_examples("Don't go.", [["Do", "n't", "go", "."]]) == [
        SplitExample("Don't", False, frozenset({2})),
        SplitExample("go.", True, frozenset({2})),
    ]
    assert split_examples("a\u00a0b", [["a", "b"]]) == split_examples("a b", [["a", "b"]])
    assert split_examples("", [[]]) == []


def test_other_characters_and_tokens_over_white_space_do_not_fit():
    assert split_examples("He goes", [["He", "went"]]) is None
    assert split_examples("a lot", [["alot"]]) is None


def test_of_several_sequences_the_one_with_fewest_splits_is_meant():
    joined, parted = ["například"], ["na", "příklad"]
    whole = [SplitExample("například", True, frozenset())]
    assert split_examples("například", [parted, joined]) == whole
    assert split_examples("na příklad", [joined, parted]) == [
        SplitExample("na", False, frozenset()),
        SplitExample("příklad", True, frozenset()),
    ]


def test_a_chunk_is_split_as_it_was_at_this_place_of_a_line_then_elsewhere():
    split = learned(("etc. is etc.", "etc. is etc ."), ("Ex. 1", "Ex. 1"))
    assert split("is etc. etc.") == ["is", "etc.", "etc", "."]
    assert split("etc.\netc. is") == ["etc", ".", "etc.", "is"]  # the end of a line is an end
    assert split("see Ex.") == ["see", "Ex."]


def test_what_was_never_seen_is_split_between_other_characters_than_letters_and_digits():
    split = CorpusTokenizer([])
    assert split("R2D2, (ok)") == ["R2D2", ",", "(", "ok", ")"]
    assert counts(split, ["R2D2, (ok)"]) == (2, 2, 7, 7)


def test_as_many_of_either_kind_do_not_split():
    assert learned(("a- b", "a - b"), ("a- b", "a- b"))("a- b") == ["a-", "b"]


def counts(split, lines):
    return tuple(split.counts(lines).values())


def test_counts_tell_unseen_chunks_and_guessed_gaps():
    split = learned(("It's I.", "It 's I ."))
    assert counts(split, ["It's I.", "It's"]) == (3, 0, 7, 0)
    assert counts(split, ["At's x"]) == (2, 2, 3, 0)  # the shapes A and 'a were seen there
    assert counts(split, ["At's"]) == (1, 1, 3, 3)  # but not at the end of a line


def twin(examples, text):
    """Count all contexts of all gaps, literally."""

    def kind(c):
        return "0" if c.isdigit() else ("A" if c.isupper() else "a") if c.isalpha() else c

    def shape(text):
        runs = [
            c
            for c, before in zip(text, [None, *text[:-1]], strict=True)
            if c != before or c not in "aA0"
        ]
        return "".join(runs)

    def contexts(chunk, gap, last):
        kinds = [kind(c) for c in chunk]
        left, right = kinds[:gap], kinds[gap:]
        yield chunk, gap, last
        yield chunk, gap
        yield shape(left), shape(right), last
        yield shape(left), shape(right)
        for a, b in ((3, 3), (2, 2), (1, 2), (2, 1), (1, 1)):
            yield a, b, "".join(left[-a:]), "".join(right[:b])

    votes = defaultdict(lambda: [0, 0])
    for chunk, last, splits in examples:
        for gap in range(1, len(chunk)):
            for number, context in enumerate(contexts(chunk, gap, last)):
                votes[number, context][gap in splits] += 1
    for line in text.split("\n"):
        chunks = line.split()
        for place, chunk in enumerate(chunks, 1):
            token = chunk[0]
            for gap in range(1, len(chunk)):
                seen = [
                    votes[key]
                    for key in enumerate(contexts(chunk, gap, place == len(chunks)))
                    if key in votes
                ]
                inside = kind(chunk[gap - 1]) in "aA0" and kind(chunk[gap]) in "aA0"
                stay, part = seen[0] if seen else (1, 0) if inside else (0, 1)
                if part > stay:
                    yield token
                    token = ""
                token += chunk[gap]
            yield token


TOKENS = st.lists(st.text("abA0.,'-", min_size=1, max_size=4), max_size=6)
GLUED = st.lists(st.tuples(TOKENS, st.lists(st.booleans(), min_size=6, max_size=6)), max_size=8)


@given(GLUED, st.text("abA0.,'- \n", max_size=30))
def test_each_gap_is_decided_as_by_a_slow_twin(lines, text):
    known = []
    for tokens, spaces in lines:
        raw = "".join(t + " " * space for t, space in zip(tokens, spaces, strict=False))
        known += split_examples(raw, [tokens]) or []
    split = CorpusTokenizer(known)
    assert split(text) == list(twin(known, text))
    assert "".join(split(text)) == "".join(text.split())


def test_czech_outputs_have_the_tokens_of_the_reference_tokeniser(shared):
    data, golden = shared / "data" / "lang_cs_geccc", shared / "golden" / "raw_outputs"

    def lines(path):
        return path.read_text("utf-8").split("\n")[:-1]

    file = read_m2(data / "geccc819.m2")
    texts, _ = reference_texts(file.sources, [block.gold for block in file.blocks], TextRule())
    known = []
    for raw, gold, *sequences in zip(
        lines(data / "geccc819.input"),
        lines(data / "geccc819.gold"),
        file.sources,
        *texts,
        strict=True,
    ):
        for text in (raw, *gold.split("\t")):
            known += split_examples(text, [line.split() for line in sequences if line]) or []
    split = CorpusTokenizer(known)
    for name, unseen in (("Opravidlo", 419), ("GPT4o", 242)):  # 243 where one text fewer teaches
        outputs = lines(data / "raw" / f"{name}.txt")
        assert [" ".join(split(line)) for line in outputs] == lines(golden / f"{name}.tokens.txt")
        assert split.counts(outputs)["unseen"] == unseen
