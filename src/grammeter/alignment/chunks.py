"""The edits that segments need, and sentences cut into chunks by them.

:func:`partition` gives all versions of a sentence the same boundaries (CLEME), :func:`pieces`
cuts each version at its own edits (GoToScorer).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from grammeter.core import DataError, Edit, GoldEdits, Segment

Tokens = tuple[str, ...]

Extract = Callable[[Sequence[tuple[str, str]]], Sequence[Sequence[Edit]]]
"""Gives the edits of pairs of source and corrected text, as an annotator's ``annotate`` does."""


class SegmentEdits(NamedTuple):
    """The edits of a hypothesis, and those of each annotator or reference, by its number."""

    proposed: Sequence[Edit]
    gold: GoldEdits


class Change(NamedTuple):
    """The source tokens ``start:end`` become ``tokens``."""

    start: int
    end: int
    tokens: Tokens


Changes = tuple[Change, ...]  # what one version changes: sorted by span, without overlaps


class Chunk(NamedTuple):
    """Source tokens ``start:end``, each version's, and whether an edit of that version is here."""

    start: int
    end: int
    source: Tokens
    texts: tuple[Tokens, ...]
    changed: tuple[bool, ...]


class Piece(NamedTuple):
    """A part of one version: an edit, an unchanged token, or the empty place before one."""

    start: int
    end: int
    tokens: Tokens
    edited: bool


@dataclass(frozen=True, eq=False, slots=True)
class ChunkedSentence:
    """A source sentence and what each reference changes, by its number, ascending."""

    source: Tokens
    references: Mapping[int, Changes]


Target = tuple[ChunkedSentence, Changes]  # a sentence and what a hypothesis changes in it


def segment_edits(segments: Sequence[Segment], extract: Extract) -> list[SegmentEdits]:
    """Return the edits of each segment.

    Gold edits stand as they are; where a segment has none, edits are extracted from its reference
    texts, numbered from 0. All extraction is done in one call, each distinct pair of texts once.
    Raises DataError if a segment has neither gold edits nor a reference text; names the sentence.
    """
    for segment in segments:
        if not segment.gold and not segment.texts:
            fault = f"neither gold edits nor a reference for {segment.source[:40]!r}"
            raise DataError(fault, fix="Each sentence needs one reference at least.")
    texts = ((s.source, t) for s in segments for t in (s.hypothesis, *(() if s.gold else s.texts)))
    distinct = [pair for pair in dict.fromkeys(texts) if pair[0] != pair[1]]
    edits = dict(zip(distinct, map(tuple, extract(distinct)), strict=True))

    def edits_of(segment: Segment, text: str) -> tuple[Edit, ...]:
        return edits.get((segment.source, text), ())

    def gold_of(segment: Segment) -> GoldEdits:
        texts = enumerate(segment.references)
        return segment.gold or {n: edits_of(segment, text) for n, text in texts if text is not None}

    return [SegmentEdits(edits_of(one, one.hypothesis), gold_of(one)) for one in segments]


def ordered(source: Sequence[str], edits: Iterable[Edit]) -> Changes:
    """Return what edits change, sorted by span; insertions at one place keep their order.

    A correction that is empty or begins with ``-NONE-`` deletes; ``a||b`` is one token, as in the
    authors' programs. Raises :class:`ValueError` if edits overlap or reach outside the sentence.
    """
    unsorted = (Change(e.start, e.end, _tokens(e)) for e in edits if not e.is_noop)
    changes = sorted(unsorted, key=lambda change: change[:2])
    done = 0
    for change in changes:
        if change.start < done or change.end < change.start or change.end > len(source):
            kind = "overlaps another edit" if change.start < done else "lies outside the sentence"
            raise ValueError(f"edit {change.start} {change.end} {' '.join(change.tokens)!r} {kind}")
        done = change.end
    return tuple(changes)


def partition(source: Tokens, versions: Sequence[Changes]) -> list[Chunk]:
    """Cut a source and versions of it at the same places (Ye et al. 2023, chunk partition).

    Spans of changes are joined where they overlap or touch; each joined span is a chunk, and so
    is each stretch between them. The texts of a version, joined, are that version.
    """
    spans = _joined(sorted(change[:2] for version in versions for change in version))
    columns = [_texts(source, version, spans) for version in versions]
    chunks: list[Chunk] = []
    done = 0

    def add_unchanged(until: int) -> None:
        text, count = source[done:until], len(versions)
        if text:
            chunks.append(Chunk(done, until, text, (text,) * count, (False,) * count))

    for (start, end), *cells in zip(spans, *columns, strict=True):
        add_unchanged(start)
        texts, changed = zip(*cells, strict=True)
        chunks.append(Chunk(start, end, source[start:end], texts, changed))
        done = end
    add_unchanged(len(source))
    return chunks


def pieces(source: Tokens, changes: Changes) -> list[Piece]:
    """Cut one version at its own edits (Gotou et al. 2020).

    Each edit is a piece and each token outside edits. Before each of them, and at the end,
    stands an empty piece, unless an insertion stands there.
    """
    tokens = [Piece(at, at + 1, source[at : at + 1], edited=False) for at in range(len(source))]
    parts: list[Piece] = []
    done = 0
    for change in changes:
        parts += [*tokens[done : change.start], Piece(*change, edited=True)]
        done = change.end
    end = Piece(len(source), len(source), (), edited=False)
    cut: list[Piece] = []
    for part in (*parts, *tokens[done:], end):
        inserts = part.edited and part.start == part.end
        if not inserts and (not cut or cut[-1][:2] != (part.start, part.start)):
            cut.append(Piece(part.start, part.start, (), edited=False))
        if part is not end:
            cut.append(part)
    return cut


def read_targets(segments: Sequence[Segment], extract: Extract) -> list[Target]:
    """Return each segment's sentence and what its hypothesis changes.

    As :func:`segment_edits`, but runs of white space do not count, and DataError also if a source
    is empty or gold edits overlap. Segments of one source line share one :class:`ChunkedSentence`.
    """

    def normal_one(segment: Segment) -> Segment:
        source, hypothesis = _normal(segment.source), _normal(segment.hypothesis)
        references = tuple(text and _normal(text) for text in segment.references)
        return replace(segment, source=source, hypothesis=hypothesis, references=references)

    normal = list(map(normal_one, segments))
    known: dict[tuple[str, int, int], ChunkedSentence] = {}
    targets: list[Target] = []
    edits_of = segment_edits(normal, extract)
    for written, segment, edits in zip(segments, normal, edits_of, strict=True):
        key = (written.source, id(written.references), id(segment.gold) if segment.gold else 0)
        if key not in known:
            known[key] = _sentence(segment.source, edits.gold, where=f"sentence {len(known) + 1}")
        targets.append((known[key], ordered(known[key].source, edits.proposed)))
    return targets


def _tokens(edit: Edit) -> Tokens:
    tokens = tuple("||".join(edit.corrections).split())
    return () if tokens[:1] == ("-NONE-",) else tokens


def _joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _texts(
    source: Tokens, changes: Changes, spans: Sequence[tuple[int, int]]
) -> list[tuple[Tokens, bool]]:
    texts: list[tuple[Tokens, bool]] = []
    at = 0
    for start, end in spans:
        first, done, text = at, start, ()
        while at < len(changes) and changes[at].start <= end:
            text += source[done : changes[at].start] + changes[at].tokens
            done = changes[at].end
            at += 1
        texts.append((text + source[done:end], at > first))
    return texts


def _normal(text: str) -> str:
    return " ".join(text.split())


def _sentence(source: str, references: GoldEdits, *, where: str) -> ChunkedSentence:
    if not source:
        fix = "Leave the sentence out, in all files."
        raise DataError("the source is empty", where=where, fix=fix)
    tokens = tuple(source.split())
    try:
        changes = {label: ordered(tokens, references[label]) for label in sorted(references)}
    except ValueError as error:
        fix = "The edits of one annotator must not overlap; correct the M2 file."
        raise DataError(f"{error} ({source[:60]!r})", where=where, fix=fix) from None
    return ChunkedSentence(tokens, changes)
