"""One text in two M2 files, cut into other sentences or tokens: both brought to common sentences.

The characters of both sources must be equal, white space aside. Both are cut wherever *both* have a
boundary of sentences at the same number of characters, which is exact and needs no parameter.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from grammeter import core
from grammeter.formats.m2 import M2Block, M2File

NOTES = {
    "widened": "{} edits are widened to whole tokens of the reference",
    "stood_in": "{} times an annotator who is not listed for a sentence that was joined has the"
    " edits of the first who is",
    "unknown": "{} joined sentences hold one that cannot be judged (NA): nor can they",
    "texts": "{} corrected texts (T lines) of joined sentences are dropped",
}
"""What is counted while sentences are joined, and what is said of it."""


@dataclass(frozen=True)
class Recut:
    """Two M2 files with the same source sentences, and what was counted (:data:`NOTES`).

    ``joined``: sentences of the hypothesis and of the reference that stand with others now.
    """

    hypothesis: M2File
    reference: M2File
    joined: tuple[int, int]
    counts: Counter[str]

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done, or that there was nothing to do."""
        said = "both files have the same sentences: there was nothing to realign"
        if any(self.joined):
            said = f"sentences cut anew at common boundaries: {len(self.reference.blocks)} blocks;"
            said += " {} sentences of the hypothesis and {} of the reference are joined"
            said = said.format(*self.joined)
        return (said, *(NOTES[what].format(count) for what, count in self.counts.items() if count))

    @property
    def faults(self) -> tuple[str, ...]:
        """What lenient reading passed over."""
        return (*self.hypothesis.notices, *self.reference.notices)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers of blocks, of joined sentences and of widened edits."""
        counts = {"blocks": len(self.reference.blocks), "widened": self.counts["widened"]}
        joined = dict(zip(("hypothesis", "reference"), self.joined, strict=True))
        notes = [*self.faults, *self.notes]
        return {"kind": "edit-alignment", **counts, "joined": joined, "notes": notes}


def common_sentences(hypothesis: M2File, reference: M2File, names: tuple[str, str]) -> Recut:
    """Join the sentences of both files up to their common boundaries, with their edits.

    Edits move with their tokens; no-ops are dropped unless an annotator has nothing else. Where
    tokens differ the blocks have those of the reference, and an edit that begins or ends inside
    one is widened to the whole token. ``names`` are for messages. Raises :class:`DataError` if the
    characters differ.
    """
    files = hypothesis, reference
    if letters(hypothesis) != letters(reference):
        raise _other_text(files, names)
    ends, counts = [*map(_ends, files)], Counter[str]()
    common = sorted({*ends[0]} & {*ends[1]})
    runs = [_runs(file, of, common) for file, of in zip(files, ends, strict=True)]
    proposed, gold = ([joined(run, counts) for run in rows] for rows in runs)
    moved = tuple(_moved(b, g.source, counts) for b, g in zip(proposed, gold, strict=True))
    many = [sum(len(run) for run in rows if len(run) > 1) for rows in runs]
    recut = replace(hypothesis, blocks=moved), replace(reference, blocks=tuple(gold))
    return Recut(*recut, (many[0], many[1]), counts)


def letters(file: M2File) -> str:
    """Return the characters of all sources, white space aside."""
    return "".join("".join(source.split()) for source in file.sources)


def joined(run: Sequence[M2Block], counts: Counter[str]) -> M2Block:
    """Make one sentence of several, with all their edits; count what that loses."""
    if len(run) == 1:
        return run[0]
    counts["texts"] += sum(len(block.texts) for block in run)
    tokens = [token for block in run for token in block.source.split()]
    if not all(block.gold for block in run):
        counts["unknown"] += 1
        return M2Block.of(" ".join(tokens), {})
    names = dict.fromkeys(n for b in run for n, _ in b.lines if n in b.gold) or {0: None}
    gold: dict[int, list[core.Edit]] = {name: [] for name in names}
    at = 0
    for block in run:
        first = block.gold[min(block.gold)]
        for name, edits in gold.items():
            counts["stood_in"] += bool(block.lines) and name not in block.gold
            for e in block.gold.get(name, first):
                edits.append(replace(e, start=e.start + at, end=e.end + at))
        at += len(block.source.split())
    return M2Block.of(" ".join(tokens), {name: tuple(edits) for name, edits in gold.items()})


def _moved(block: M2Block, source: str, counts: Counter[str]) -> M2Block:
    """Lay the edits of a block on other tokens with the same characters."""
    ours, theirs = block.source.split(), source.split()
    if ours == theirs:
        return replace(block, source=source)
    text = "".join(ours)
    starts, bounds = ([0, *accumulate(map(len, tokens))] for tokens in (ours, theirs))

    def moved(edit: core.Edit) -> core.Edit:
        start, end = starts[edit.start], starts[edit.end]
        first, last = bisect_right(bounds, start) - 1, bisect_left(bounds, end)
        before, after = text[bounds[first] : start], text[end : bounds[last]]
        counts["widened"] += bool(before or after)
        word, *words = (" ".join(filter(None, (before, c, after))) for c in edit.corrections)
        return replace(edit, start=first, end=last, correction=word, alternatives=tuple(words))

    counts["texts"] += len(block.texts)
    return M2Block(source, tuple((n, e if e.start < 0 else moved(e)) for n, e in block.lines))


def _ends(file: M2File) -> list[int]:
    return [*accumulate(len("".join(source.split())) for source in file.sources)]


def _runs(file: M2File, ends: Sequence[int], common: Sequence[int]) -> list[list[M2Block]]:
    runs: list[list[M2Block]] = [[] for _ in common]
    for block, end in zip(file.blocks, ends, strict=True):
        runs[bisect_left(common, end)].append(block)
    return runs


def _other_text(files: Sequence[M2File], names: tuple[str, str]) -> core.DataError:
    one, other = map(letters, files)
    at = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    at = min(len(one), len(other)) if at is None else at
    here, there = (min(bisect_right(_ends(f), at), len(f.blocks) - 1) + 1 for f in files)
    shown = " and ".join(repr(text[max(at - 10, 0) : at + 20]) for text in (one, other))
    fault = f"the characters differ from {names[1]}, sentence {there}: {shown}"
    fix = "Both files must have the same source text; only white space and sentences may differ."
    return core.DataError(fault, where=f"{names[0]}, sentence {here}", fix=fix)
