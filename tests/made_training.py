"""Small data to train on: sentences in the words of the tiny models, and what is wrong in them."""

from __future__ import annotations

import itertools
from pathlib import Path

from grammeter.core import Edit
from grammeter.formats import Correction
from grammeter.training.pairs import EditedSentence

SUBJECTS = ["he", "she", "it", "the cat", "a dog", "they"]
VERBS = ["go", "walk", "see"]
PLACES = ["school", "house", "cat"]


def parallel() -> list[Correction]:
    """Return 54 sentences with one, two or three edits."""
    found: list[Correction] = []
    for number, words in enumerate(itertools.product(SUBJECTS, VERBS, PLACES)):
        subject, verb, place = words
        source = f"{subject} {verb} to in {place} very"
        at = len(subject.split())
        edits = [
            Edit(at, at + 1, f"{verb}ed", "R:VERB"),
            Edit(at + 2, at + 3, "the", "R:PREP"),
            Edit(at + 4, at + 5, "", "U:ADV"),
        ]
        found.append(Correction(source, tuple(edits[: number % 3 + 1]), None, f"made:{number + 1}"))
    return found


def sentences() -> list[EditedSentence]:
    """Return the same with made-up impacts, all sums of which differ."""
    return [
        EditedSentence(one.source, one.edits, (0.01, 0.02, 0.045)[: len(one.edits)], one.origin)
        for one in parallel()
    ]


def write_m2(path: Path) -> Path:
    """Write the sentences as M2."""
    blocks: list[str] = []
    for one in parallel():
        lines = [
            f"A {edit.start} {edit.end}|||{edit.type}|||{edit.correction}|||REQUIRED|||-NONE-|||0"
            for edit in one.edits
        ]
        blocks.append("\n".join([f"S {one.source}", *lines]))
    path.write_text("\n\n".join(blocks) + "\n", "utf-8")
    return path


def write_scores(path: Path) -> Path:
    """Write a table of human scores: fewer words, better scores; meaning turns with the source."""
    rows = ["source,output,ave_g,ave_f,ave_m"]
    for number, one in enumerate(parallel()):
        output = " ".join(one.source.split()[: 3 + number % 3])
        scores = 1 + number % 3, 4 - number % 3, 1 + number % 4
        rows.append(f"{one.source},{output},{','.join(map(str, scores))}")
    path.write_text("\n".join(rows) + "\n", "utf-8")
    return path
