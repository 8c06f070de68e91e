"""Sentences that nobody wrote, with any tags, so that rare rules are met often."""

from __future__ import annotations

import os
from random import Random

from hypothesis import strategies as st

from grammeter.errant.tokens import Tokens, split

PAIRS = int(os.environ.get("GRAMMETER_ERRANT_PAIRS", "400"))
"""How many random pairs are held against package errant."""

WORDS = split(
    "more More and the The THE a cat cats Cat on of 's - acat , . ' () theme to eat eating was"
    " were ca can another other sub - way subway"
).texts
POS = ("NOUN", "VERB", "DET", "PUNCT", "AUX", "PART", "ADJ", "ADP", "PRON", "ADV")
TAGS = ("NN", "NNS", "VB", "VBD", "VBG", "VBZ", "POS", "DT", "JJ", "TO", "IN", "PRP", "CD")
DEPS = ("aux", "auxpass", "det", "prep", "prt", "nsubj", "dobj", "amod", "acomp", "poss", "ROOT")


def sentence(
    text: str,
    lemmas: str = "",
    pos: str = "",
    tags: str = "",
    deps: str = "",
    heads: str = "",
) -> Tokens:
    """Build a parsed sentence from columns in plain text; what is left out is all the same."""
    bare = split(text)
    count = len(bare)
    return bare.with_columns(
        lemmas.split() or [word.lower() for word in bare.texts],
        pos.split() or ["NOUN"] * count,
        tags.split() or ["NN"] * count,
        deps.split() or ["dep"] * count,
        map(int, heads.split() or range(count)),
    )


def random_sentence(draw: Random, words: list[str], vocabulary: list[str]) -> Tokens:
    """Parse words at random, with few enough classes that neighbours often agree."""
    pos, tags, deps = (draw.sample(of, draw.randint(1, 6)) for of in (POS, TAGS, DEPS))
    count = len(words)
    return split(" ".join(words)).with_columns(
        [w.lower().rstrip("s") if draw.random() < 0.8 else draw.choice(vocabulary) for w in words],
        [draw.choice(pos) for _ in words],
        [draw.choice(tags) for _ in words],
        [draw.choice(deps) for _ in words],
        [draw.randrange(count) for _ in words],
    )


def random_pair(draw: Random, longest: int = 9) -> tuple[Tokens, Tokens]:
    """Make a source and a target that share much, little or nothing."""
    vocabulary = draw.sample(WORDS, draw.randint(2, len(WORDS)))
    source = [draw.choice(vocabulary) for _ in range(draw.randint(0, longest))]
    target = [draw.choice(vocabulary) for _ in range(draw.randint(0, longest))]
    if draw.random() < 0.5:  # a target that is the source but for one place
        start = draw.randint(0, len(source))
        end = draw.randint(start, len(source))
        target = source[:start] + target[: draw.randint(0, 3)] + source[end:]
    return random_sentence(draw, source, vocabulary), random_sentence(draw, target, vocabulary)


pairs = st.randoms(use_true_random=False).map(random_pair)
"""Pairs of parsed sentences for hypothesis."""
