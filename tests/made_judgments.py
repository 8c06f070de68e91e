"""Judgments for tests: made by hypothesis, by chance, and those of the papers."""

from __future__ import annotations

import json
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from grammeter.core import Ranking
from grammeter.formats import read_judgments
from grammeter.ranking import extract_pairs

NAMES = "ABCDE"
JUDGES = "xyz"


@st.composite
def rankings(draw, systems=NAMES):
    """One item: some systems, some of them with the same output, on a scale of three."""
    shown = draw(st.lists(st.sampled_from(systems), unique=True, min_size=1))
    cuts = draw(st.sets(st.integers(1, len(shown)), max_size=len(shown)))
    edges = sorted({0, len(shown), *cuts})
    groups = tuple(tuple(shown[a:b]) for a, b in pairwise(edges))
    return Ranking(
        judge=draw(st.sampled_from(JUDGES)),
        segment=draw(st.integers(1, 6)),
        groups=groups,
        ranks=tuple(draw(st.integers(1, 3)) for _ in groups),
    )


def decided(some):
    """Whether anything is decided."""
    return bool(extract_pairs(some).outcome.any())


campaigns = st.lists(rankings(), min_size=1, max_size=12).filter(decided)


def duel(winner, loser, *, times=1, tie=False, judge="x", segment=1):
    """Items of two outputs."""
    ranks = (1, 1) if tie else (1, 2)
    groups = ((winner,), (loser,))
    return [Ranking(judge=judge, segment=segment, groups=groups, ranks=ranks)] * times


def random_duels(edges, count, *, seed=0):
    """Duels along edges; systems later in the alphabet are better, and some duels are ties."""
    random = np.random.default_rng(seed)
    items = []
    for number in range(count):
        a, b = edges[random.integers(len(edges))]
        gap = random.normal() + 0.3 * (ord(b) - ord(a))
        better, worse = (a, b) if gap < 0 else (b, a)
        items += duel(better, worse, tie=abs(gap) < 0.4, segment=number + 1)
    return items


@cache
def official(shared: Path):
    """The judgments of Grundkiewicz et al. 2015."""
    return read_judgments(shared / "data" / "human_gjg15" / "judgments.xml")


@cache
def official_pairs(shared: Path):
    return extract_pairs(official(shared))


@cache
def golden(shared: Path, name: str):
    """A file of goldens; its README says where the figures come from."""
    return json.loads((shared / "golden" / "ranking" / f"{name}.json").read_text("utf-8"))


def bounds(text):
    """Read a printed range: ``3-5`` or ``1``."""
    low, _, high = text.partition("-")
    return int(low), int(high or low)
