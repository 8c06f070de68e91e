"""Edits drawn into a sentence: ``She [go→went] to [the→] school [→.]``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from grammeter.core import Edit, without_overlaps

ARROW = "→"


def marked(source: Sequence[str], edits: Iterable[Edit]) -> str:
    """Write a sentence with its edits in brackets.

    ``[→the]`` inserts, ``[the→]`` deletes, ``[the→a]`` replaces (Kobayashi et al. 2024). Of two
    edits at one place the insertion stands first.

    Parameters
    ----------
    source
        The tokens of the source sentence.
    edits
        In any order; without any, the sentence itself is returned.

    Raises
    ------
    ValueError
        If edits overlap or reach outside the sentence.
    """
    sequence, overlapping = without_overlaps(edits)
    if overlapping or any(not 0 <= e.start <= e.end <= len(source) for e in sequence):
        raise ValueError(f"edits overlap or lie outside {len(source)} tokens: {sequence}")
    words: list[str] = []
    done = 0
    for edit in sequence:
        words += source[done : edit.start]
        words.append(f"[{' '.join(source[edit.start : edit.end])}{ARROW}{edit.correction}]")
        done = edit.end
    return " ".join([*words, *source[done:]])
