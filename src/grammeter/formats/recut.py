"""One text in two M2 files, cut into other sentences or tokens: both brought to common sentences.

Both are cut wherever *both* have a boundary of sentences at the same number of characters, white
space aside, which is exact and needs no parameter. Where one source was normalised, so that the
characters differ, its tokens are laid on those of the other first (:func:`alignment.laid_back`).
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise, takewhile
from typing import Any

from grammeter import alignment, core
from grammeter.formats.m2 import M2Block, M2File

_MOST_PAIRS = 400_000_000  # of tokens that are aligned at once; one byte each

NOTES = {
    "other": "the sources differ in {} tokens: the hypothesis' is laid on the reference's by the"
    " alignment of least cost, and what they differ in is no edit",
    "same": "{} edits are left out: the reference's source has what they put",
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
        if any(self.joined) or self.counts["other"]:
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
        return core.stamped({"kind": "edit-alignment", **counts, "joined": joined, "notes": notes})


def common_sentences(hypothesis: M2File, reference: M2File, names: tuple[str, str]) -> Recut:
    """Join the sentences of both files up to their common boundaries, with their edits.

    Edits move with their tokens; no-ops are dropped unless an annotator has nothing else. Where
    tokens differ the blocks have those of the reference, and an edit that begins or ends inside
    one is widened to the whole token. ``names`` are for messages. Raises :class:`DataError` if
    half of the tokens differ.
    """
    files, counts = (hypothesis, reference), Counter[str]()
    ends = [*map(_ends, files)]
    if letters(hypothesis) != letters(reference):
        counts["other"] = _differing(*files)
        if not _are_few(counts["other"], reference):
            raise _other_text(files, names)
        ends = _laid(*files)
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


def same_text(one: M2File, other: M2File) -> bool:
    """Whether sources have the same characters, or, as far as one was normalised, tokens."""
    return letters(one) == letters(other) or _are_few(_differing(one, other), other)


def _differing(*files: M2File) -> int:
    one, other = (Counter(" ".join(file.sources).split()) for file in files)
    return max(one.total(), other.total()) - (one & other).total()


def _are_few(differing: int, file: M2File) -> bool:
    return 2 * differing < sum(len(source.split()) for source in file.sources)


def _laid(hypothesis: M2File, reference: M2File) -> list[list[int]]:
    """Return where sentences end, in tokens of the hypothesis; those of the reference as laid."""
    ours, theirs = ([source.split() for source in of.sources] for of in (hypothesis, reference))
    once, again = Counter(hypothesis.sources), Counter(reference.sources)
    place = {source: number for number, source in enumerate(reference.sources)}
    cuts = [(0, 0)]  # around each sentence that is in both files, once; between, both have some
    for at, source in enumerate(hypothesis.sources):
        more = at - cuts[-1][0], place.get(source, -1) - cuts[-1][1]
        if once[source] == again[source] == 1 and (min(more) > 0 or more == (0, 0)):
            cuts += [(at, place[source]), (at + 1, place[source] + 1)]
    while (cuts[-1][0] < len(ours)) != (cuts[-1][1] < len(theirs)):
        del cuts[-2:]
    parts: list[int] = []
    for (a, c), (b, d) in pairwise([*cuts, (len(ours), len(theirs))]):
        tokens = [token for sentence in ours[a:b] for token in sentence]
        if len(tokens) * sum(map(len, theirs[c:d])) > _MOST_PAIRS:
            fix = "Realign each document in files of its own."
            raise core.DataError(f"{len(tokens)} tokens without a common sentence", fix=fix)
        parts += map(len, alignment.laid_back(tokens, theirs[c:d]) if c < d else ())
    return [[*accumulate(map(len, ours))], [*accumulate(parts)]]


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
    if text != "".join(theirs):
        return _carried(block, source, counts)
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


def _carried(block: M2Block, source: str, counts: Counter[str]) -> M2Block:
    """Move the edits of a block to the tokens of another source that its tokens are aligned to."""
    tokens = source.split()
    first, last = alignment.crossings(block.source.split(), tokens)
    gold: dict[int, tuple[core.Edit, ...]] = {}
    for name, edits in block.gold.items():
        starts = [last[e.start] if e.start < e.end else first[e.start] for e in edits]
        pairs = zip(edits, starts, strict=True)
        laid = [replace(e, start=start, end=first[e.end]) for e, start in pairs]
        gold[name] = tuple(e for e in laid if e.corrections != (" ".join(tokens[e.start : e.end]),))
        counts["same"] += len(edits) - len(gold[name])
    counts["texts"] += len(block.texts)
    return M2Block.of(source, gold)


def _ends(file: M2File) -> list[int]:
    return [*accumulate(len("".join(source.split())) for source in file.sources)]


def _runs(file: M2File, ends: Sequence[int], common: Sequence[int]) -> list[list[M2Block]]:
    runs: list[list[M2Block]] = [[] for _ in common]
    for block, end in zip(file.blocks, ends, strict=True):
        runs[bisect_left(common, end)].append(block)
    return runs


def _other_text(files: Sequence[M2File], names: tuple[str, str]) -> core.DataError:
    pairs = zip(*map(letters, files), strict=False)
    at = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    here, there = (min(bisect_right(_ends(f), at), len(f.blocks) - 1) + 1 for f in files)
    fault = f"the characters differ from {names[1]}, sentence {there}"
    fix = "Both files must have the same source text; at most half of the tokens may differ."
    return core.DataError(fault, where=f"{names[0]}, sentence {here}", fix=fix)
