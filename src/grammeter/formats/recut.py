"""One text in two M2 files, cut into other sentences or tokens: both brought to common sentences.

The characters of both sources must be equal, white space aside. Both are cut wherever *both* have a
boundary of sentences at the same number of characters, which is exact and needs no parameter.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from grammeter import core
from grammeter.formats.m2 import M2Block, M2File


@dataclass(frozen=True)
class Recut:
    """Two M2 files with the same source sentences, and what was done to make them so.

    ``joined``: sentences of the hypothesis and of the reference that stand together with others
    now; ``widened``: edits that were widened to whole tokens of the reference; ``stood_in``: times
    that an annotator who is not listed for a sentence took the edits of the first who is;
    ``texts``: lines of corrected texts (ChERRANT's ``T``) that joined sentences lost.
    """

    hypothesis: M2File
    reference: M2File
    joined: tuple[int, int]
    widened: int
    stood_in: int
    texts: int

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done, a sentence each; one that says so where nothing was."""
        one, other = self.joined
        said = (
            (one + other, f"sentences cut anew at common boundaries: {len(self.reference.blocks)}"
             f" blocks; {one} sentences of the hypothesis and {other} of the reference are joined"),
            (self.widened, f"{self.widened} edits are widened to whole tokens of the reference"),
            (self.stood_in, f"{self.stood_in} times an annotator who is not listed for a sentence"
             " that was joined has the edits of the first who is"),
            (self.texts, f"{self.texts} corrected texts (T lines) of joined sentences are dropped"),
        )  # fmt: skip
        nothing = "both files have the same sentences: there was nothing to realign"
        return tuple(text for count, text in said if count) or (nothing,)


def same_letters(one: M2File, other: M2File) -> bool:
    """Whether the sources of two files are equal, white space aside."""
    return _letters(one) == _letters(other)


def common_sentences(hypothesis: M2File, reference: M2File, names: tuple[str, str]) -> Recut:
    """Join the sentences of both files up to their common boundaries, with their edits.

    Edits move with their tokens; no-ops are dropped unless an annotator has nothing else. Where
    tokens differ the blocks have those of the reference, and an edit that begins or ends inside
    one is widened to the whole token. ``names`` are for messages. Raises :class:`DataError` if the
    characters differ.
    """
    if not same_letters(hypothesis, reference):
        raise _other_text(hypothesis, reference, names)
    ends = _ends(hypothesis), _ends(reference)
    common = sorted({*ends[0]} & {*ends[1]})
    ours, theirs = Joiner(), Joiner()
    gold = [theirs.joined(run) for run in _runs(reference, ends[1], common)]
    proposed = [ours.joined(run) for run in _runs(hypothesis, ends[0], common)]
    proposed = [ours.moved(b, g.source) for b, g in zip(proposed, gold, strict=True)]
    files = replace(hypothesis, blocks=tuple(proposed)), replace(reference, blocks=tuple(gold))
    stood_in, texts = ours.stood_in + theirs.stood_in, ours.texts + theirs.texts
    return Recut(*files, (ours.sentences, theirs.sentences), ours.widened, stood_in, texts)


def _letters(file: M2File) -> str:
    return "".join("".join(source.split()) for source in file.sources)


def _ends(file: M2File) -> list[int]:
    return [*accumulate(len("".join(source.split())) for source in file.sources)]


def _runs(file: M2File, ends: Sequence[int], common: Sequence[int]) -> list[list[M2Block]]:
    runs: list[list[M2Block]] = [[] for _ in common]
    for block, end in zip(file.blocks, ends, strict=True):
        runs[bisect_left(common, end)].append(block)
    return runs


@dataclass
class Joiner:
    """Joins the sentences of one file and counts what that does."""

    sentences: int = 0
    widened: int = 0
    stood_in: int = 0
    texts: int = 0

    def joined(self, run: Sequence[M2Block]) -> M2Block:
        """Make one sentence of several, with all their edits."""
        if len(run) == 1:
            return run[0]
        self.sentences += len(run)
        self.texts += sum(len(block.texts) for block in run)
        names = dict.fromkeys(name for block in run for name, _ in block.lines) or {0: None}
        gold: dict[int, list[core.Edit]] = {name: [] for name in names}
        tokens: list[str] = []
        for block in run:
            for name, edits in gold.items():
                self.stood_in += bool(block.lines) and name not in block.gold
                edits += [_shifted(e, len(tokens)) for e in _edits(block, name)]
            tokens += block.source.split()
        return M2Block.of(" ".join(tokens), {name: tuple(edits) for name, edits in gold.items()})

    def moved(self, block: M2Block, source: str) -> M2Block:
        """Lay the edits of a block on other tokens with the same characters."""
        ours, theirs = block.source.split(), source.split()
        if ours == theirs:
            return replace(block, source=source)
        letters = "".join(ours)
        starts, bounds = ([0, *accumulate(map(len, tokens))] for tokens in (ours, theirs))
        lines: list[tuple[int, core.Edit]] = []
        for name, edit in block.lines:
            if edit.is_noop:
                lines.append((name, edit))
                continue
            start, end = starts[edit.start], starts[edit.end]
            first, last = bisect_right(bounds, start) - 1, bisect_left(bounds, end)
            before, after = letters[bounds[first] : start], letters[end : bounds[last]]
            self.widened += bool(before or after)
            words = [" ".join(filter(None, (before, c, after))) for c in edit.corrections]
            corrections = {"correction": words[0], "alternatives": tuple(words[1:])}
            lines.append((name, replace(edit, start=first, end=last, **corrections)))
        self.texts += len(block.texts)
        return M2Block(source, tuple(lines))


def _edits(block: M2Block, name: int) -> Sequence[core.Edit]:
    """Return an annotator's edits, or those of the first where this one is not listed."""
    return block.gold.get(name, block.gold[min(block.gold)])


def _shifted(edit: core.Edit, by: int) -> core.Edit:
    return replace(edit, start=edit.start + by, end=edit.end + by)


def _other_text(one: M2File, other: M2File, names: tuple[str, str]) -> core.DataError:
    letters = _letters(one), _letters(other)
    pairs = enumerate(zip(*letters, strict=False))
    at = next((n for n, (a, b) in pairs if a != b), min(map(len, letters)))
    here, there = (min(bisect_right(_ends(f), at), len(f.blocks) - 1) + 1 for f in (one, other))
    shown = [text[max(at - 10, 0) : at + 20] for text in letters]
    return core.DataError(
        f"the characters differ from {names[1]}, sentence {there}: {shown[0]!r} and {shown[1]!r}",
        where=f"{names[0]}, sentence {here}",
        fix="Both files must have the same source text; only white space and sentences may differ.",
    )
