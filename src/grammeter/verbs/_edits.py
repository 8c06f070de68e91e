"""Make, convert and compare M2 files, as ERRANT's three programs do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import permutations
from typing import Literal

from grammeter.core import (
    DETECTION_ONLY,
    NOOP,
    DataError,
    Edit,
    GoldEdits,
    LengthMismatchError,
    without_overlaps,
)
from grammeter.errant import (
    ENGLISH,
    Annotator,
    EditComparison,
    Rules,
    Tokens,
    compare_edits,
    foreign_types,
)
from grammeter.formats import M2Block, M2File

UNCHANGED = Edit(-1, -1, "", NOOP)
"""The edit of an annotator who changes nothing."""

Redo = Literal["auto", "gold"]
"""Extract edits anew from the corrected text, or keep their spans and type them."""


def extract_edits(
    sources: Sequence[str],
    corrected: Sequence[Sequence[str]],
    annotator: Annotator,
    *,
    tokenise: Callable[[Sequence[str]], Sequence[Tokens]] | None = None,
    origins: Sequence[str] = (),
) -> list[M2Block]:
    """Extract the edits that lead from sources to corrected texts, as ``errant_parallel``.

    Parameters
    ----------
    sources
        One text a sentence.
    corrected
        Shape ``[annotators][sentences]``.
    annotator
        What extracts.
    tokenise
        Splits raw texts, such as :func:`~grammeter.alignment.tokenised` with the annotator's
        pipeline; by default white space separates tokens.
    origins
        Names for messages: of the sources, then of each of the corrected texts.

    Returns
    -------
    list of M2Block
        One for each source; an empty source has none. A text that differs from its source in
        white space alone leaves no line at all, not even that it is unchanged.

    Raises
    ------
    LengthMismatchError
        If the texts are not equally many.
    """
    names = origins or ("sources", *(f"corrected[{n}]" for n in range(len(corrected))))
    for name, texts in zip(names[1:], corrected, strict=True):
        if len(texts) != len(sources):
            raise LengthMismatchError(name, len(texts), names[0], len(sources))
    rows = [row for row in zip(sources, *corrected, strict=True) if row[0].strip()]
    texts = sorted({text for row in rows for text in row})
    raw = dict(zip(texts, tokenise(texts), strict=True)) if tokenise else None
    spaced = {text: " ".join(raw[text].texts if raw else text.split()) for text in texts}
    keys = dict(zip(texts, texts, strict=True)) if raw else spaced
    pairs = list(dict.fromkeys((keys[row[0]], keys[text]) for row in rows for text in row[1:]))
    extracted = annotator.annotate(pairs, raw) if raw else annotator.annotate(pairs)
    edits = dict(zip(pairs, extracted, strict=True))

    def block(source: str, *versions: str) -> M2Block:
        unchanged = source.strip() if raw else spaced[source]
        lines = (
            [UNCHANGED] if text.strip() == unchanged else edits[keys[source], keys[text]]
            for text in versions
        )
        numbered = ((number, edit) for number, line in enumerate(lines) for edit in line)
        return M2Block(spaced[source], tuple(numbered))

    return [block(*row) for row in rows]


def convert_edits(
    file: M2File,
    annotator: Annotator,
    *,
    redo: Redo,
    minimise: bool = True,
    keep_types: bool = False,
    where: str = "m2",
    lenient: bool = False,
) -> M2File:
    """Extract anew or type the edits of an M2 file, as ``errant_m2``.

    Parameters
    ----------
    file
        Of alternative corrections the first is taken.
    annotator
        What extracts or types.
    redo
        ``auto`` or ``gold``.
    minimise, keep_types
        Only for ``gold``: shrink edits to what they change; keep their types.
    where
        Names the file in messages.
    lenient
        Apply edits that overlap one upon the other, as the package does, and report them.

    Raises
    ------
    DataError
        If edits of one annotator overlap.
    """
    notices: list[str] = []
    wanted: list[tuple[str, Sequence[Edit]]] = []
    for number, block in enumerate(file.blocks, start=1):
        for name, edits in block.gold.items():
            overlaps = _overlaps(edits)
            if overlaps:
                text = f"annotator {name}: {overlaps} edits overlap an earlier one"
                _refuse(f"{where}, sentence {number}", text, notices, lenient)
            if edits:
                wanted.append((block.source, edits))
    if redo == "auto":
        done = annotator.reextract_all(wanted)
    else:
        done = annotator.retype_all(wanted, minimise=minimise, keep_types=keep_types)
    return M2File(tuple(_rewritten(file.blocks, done)), (*file.notices, *notices))


def compare_m2(
    hypothesis: M2File,
    reference: M2File,
    rules: Rules,
    *,
    beta: float = 0.5,
    origins: tuple[str, str] = ("hypothesis", "reference"),
    lenient: bool = False,
) -> tuple[EditComparison, tuple[str, ...]]:
    """Compare two M2 files, as ``errant_compare``.

    Parameters
    ----------
    hypothesis, reference
        Annotators compete in the order of the file.
    rules, beta
        As for :func:`~grammeter.errant.compare.compare_edits`; F is rounded to 4 decimals where
        references are chosen.
    origins
        Names for messages.
    lenient
        Pass over sentences that differ between the files, and report them.

    Returns
    -------
    comparison, notices
        The comparison, and what was passed over in reading and here.

    Raises
    ------
    LengthMismatchError
        If the files have unequal numbers of sentences.
    DataError
        If a sentence is not the same in both files.
    """
    sizes = len(hypothesis.blocks), len(reference.blocks)
    if sizes[0] != sizes[1]:
        raise LengthMismatchError(origins[0], sizes[0], origins[1], sizes[1])
    notices = [*hypothesis.notices, *reference.notices]
    sources = zip(hypothesis.sources, reference.sources, strict=True)
    for number, (one, other) in enumerate(sources, start=1):
        if one.split() != other.split():
            text = f"other tokens than in {origins[1]}: {one[:40]!r} and {other[:40]!r}"
            _refuse(f"{origins[0]}, sentence {number}", text, notices, lenient)
    proposed, gold = (
        [_in_file_order(block) for block in file.blocks] for file in (hypothesis, reference)
    )
    return compare_edits(proposed, gold, rules, beta=beta), tuple(notices)


def type_notes(hypothesis: M2File, reference: M2File) -> tuple[str, ...]:
    """Return a note where one file has ERRANT's types and the other those of another scheme."""
    files = ("hypothesis", hypothesis), ("reference", reference)
    foreign = {
        name: foreign_types((block.gold for block in file.blocks), ENGLISH) for name, file in files
    }
    return tuple(
        f"the {name} has types of another scheme ({', '.join(types[:3])}): figures by type mix"
        " both; type it with ERRANT's rules first: grammeter edits convert -gold"
        for (name, types), (_, other) in permutations(foreign.items())
        if types and not other
    )


def _in_file_order(block: M2Block) -> GoldEdits:
    names = dict.fromkeys(name for name, _ in block.lines)
    return {name: block.gold[name] for name in names} or block.gold


def _rewritten(blocks: Iterable[M2Block], done: Iterable[tuple[Edit, ...]]) -> Iterable[M2Block]:
    """Put new edits, in the order of the blocks' annotators with edits, into the blocks."""
    remaining = iter(done)
    for block in blocks:
        lines: list[tuple[int, Edit]] = []
        for name, edits in block.gold.items() if block.lines else ():
            new = next(remaining) if edits else [UNCHANGED]
            lines += [(name, edit) for edit in new]
        yield M2Block(block.source.rstrip(), tuple(lines))


def _overlaps(edits: Iterable[Edit]) -> int:
    """Count the edits that overlap an earlier one; those that only detect change nothing."""
    return len(without_overlaps(e for e in edits if e.type not in DETECTION_ONLY)[1])


def _refuse(where: str, text: str, notices: list[str], lenient: bool) -> None:
    if not lenient:
        raise DataError(text, where=where, fix="Correct the file, or use --lenient.")
    notices.append(f"{where}: {text}; passed over")
