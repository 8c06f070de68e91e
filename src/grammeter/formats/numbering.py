"""Which sentence a number in a file of judgments means.

JSON lines count from 1, other forms from 0 or from 1, and do not say which. The outputs that
were judged show it for one file. Between files that are read together, groups of equal outputs
and items that show the same outputs tell: systems that wrote the same for a sentence in one
file did so in the others.
"""

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any

from grammeter.core import DataError, Ranking, UsageError, listed, repeated_segments
from grammeter.formats.judged import Basis, FirstSegment, Judgments, file_of
from grammeter.formats.tables import placed

Outputs = Mapping[str, Sequence[str]]  # the systems' outputs by name, one text a sentence
_FIX = "Give the very outputs that were judged, whole; without --first-segment the number is found."


def with_numbers(
    judgments: Judgments, where: str, stated: FirstSegment | None, systems: Outputs | None,
    drop: Container[str],
) -> Judgments:  # fmt: skip
    """Count one file's segments from 1, not 0; for options see ``judgments.read_judgments``."""
    file = judgments.files[0]
    sure = file.form == "jsonl" or stated is not None
    if stated is not None and file.form != "jsonl":
        judgments = shifted(judgments, stated, "stated")
    if systems is None:
        return judgments
    evidence = Evidence(systems, drop)
    first = 0 if sure else evidence.first_segment(judgments)
    evidence.check_all(judgments, first or 0)
    if sure:
        return judgments
    if first is not None:
        return shifted(judgments, first, "found")
    notice = f"{where}: the outputs do not tell whether sentences count from 0 or 1; 0 is taken"
    return replace(judgments, notices=(*judgments.notices, notice))


def shifted(judgments: Judgments, first: FirstSegment, basis: Basis) -> Judgments:
    """Count the segments from 1, for a file that begins with ``first``."""
    file = replace(judgments.files[0], first_segment=first, basis=basis)
    for ranking, origin in zip(judgments.rankings, judgments.origins, strict=True):
        if ranking.segment == first:
            fault = "sentence 0 in a file that is to count from 1"
            raise DataError(fault, where=origin, fix="Let it count from 0.")
    moved = tuple(replace(ranking, segment=ranking.segment - first) for ranking in judgments)
    return replace(judgments, rankings=moved, files=(file,))


class Evidence:
    """The outputs that were judged; white space aside. Systems in ``drop`` may lack them."""

    def __init__(self, outputs: Outputs | None, drop: Container[str] = ()) -> None:
        rows = (outputs or {}).items()
        self.texts = {name: [" ".join(text.split()) for text in texts] for name, texts in rows}
        self.drop, self.given = drop, outputs is not None

    def check(self, groups: Sequence[Sequence[str]], segment: int, text: str | None = None) -> None:
        """Raise :class:`DataError` unless each group has one output, ``text`` if it is known."""
        for name in [name for group in groups for name in group if self.given]:
            if name not in self.texts and name not in self.drop:
                fix = f"Outputs are given of: {', '.join(sorted(self.texts))}."
                raise DataError(f"unknown system {name!r}", fix=fix)
        folded = None if text is None else " ".join(text.split())
        if fault := self._contradiction(groups, segment, folded):
            raise DataError(f"does not fit the outputs: {fault}", fix=_FIX)

    def check_all(self, judgments: Judgments, base: FirstSegment) -> None:
        """Raise :class:`DataError` for the first ranking that does not fit, counted so."""
        for ranking, origin in zip(judgments.rankings, judgments.origins, strict=True):
            with placed(origin):
                self.check(ranking.groups, ranking.segment - base)

    def first_segment(self, judgments: Judgments) -> FirstSegment | None:
        """Return the number of the first sentence that fits best; ``None`` if both are as good."""

        def misfits(base: FirstSegment) -> tuple[int, int]:
            of = [(ranking, ranking.segment - base) for ranking in judgments]
            contrary = sum(self._contradiction(r.groups, n) is not None for r, n in of)
            return contrary, sum(self._odd(r, n) for r, n in of)

        zero, one = misfits(0), misfits(1)
        return None if zero == one else 0 if zero < one else 1

    def _contradiction(
        self, groups: Sequence[Sequence[str]], segment: int, text: str | None = None
    ) -> str | None:
        for group in groups:
            texts = {name: self._text(name, segment) for name in group if name in self.texts}
            if None in texts.values():
                return f"there is no sentence {segment}"
            first = next(iter(texts), "")
            for name, other in texts.items():
                if other != texts[first]:
                    return f"{first} and {name} have different outputs for sentence {segment}"
                if text is not None and other != text:
                    return f"the edits do not make the output of {name} for sentence {segment}"
        return None

    def _odd(self, ranking: Ranking, segment: int) -> bool:
        """Whether systems with one output stand in several groups."""
        known = ([self._text(n, segment) for n in of if n in self.texts] for of in ranking.groups)
        texts = [next(iter(of), None) for of in known]
        pairs = combinations(zip(texts, ranking.ranks, strict=False), 2)  # skipped: no ranks
        return any(a == b and a is not None and one != other for (a, one), (b, other) in pairs)

    def _text(self, name: str, segment: int) -> str | None:
        texts = self.texts[name]
        return texts[segment - 1] if 0 < segment <= len(texts) else None


# --- several files ---------------------------------------------------------------------------
_SHIFTS: Mapping[int, FirstSegment] = {0: 0, -1: 1}
"""How far numbers that were read as from 0 have to move, and the number of the first sentence."""

_MOST = 0.1
"""Share of pairs of systems that may contradict where sentences are counted alike: outputs are told
to be equal with or without white space, and people slip."""

_Sentence = tuple[set[Any], set[Any], set[Any], set[Any]]
"""Items that were shown; pairs of systems with equal outputs, with different ones, and those that
tie where equal outputs were not put into groups, which may be equal."""


@dataclass(frozen=True, slots=True)
class _Fit:
    """How two files go together at one shift of their numbers."""

    common: int  # sentences of both
    backed: int  # of these, sentences with the same item, or two systems that are equal in both
    alike: int  # pairs of systems that are equal in both
    contrary: int  # pairs that are equal in one and different in the other

    @property
    def possible(self) -> bool:
        return self.contrary <= _MOST * (self.alike + self.contrary)


def document_notes(judgments: Judgments) -> tuple[str, ...]:
    """Return a note if several documents have the same sentence number."""
    if not (repeated := repeated_segments(judgments)):
        return ()
    names = sorted({name for documents in repeated.values() for name in documents})
    text = f"{len(repeated)} numbers of sentences stand in several documents ({listed(names, 3)})"
    return (f"{text}: sentences are told apart by document, too",)


def join(parts: Sequence[Judgments]) -> Judgments:
    """Concatenate the judgments of several files, with sentences counted alike.

    A file whose numbering is only assumed gets the one that fits the others. If it is assumed
    for all files, they are taken to count alike unless something contradicts it. Raises
    :class:`UsageError` if it is unknown how the sentences of one file lie to those of the others.
    """
    if len(parts) == 1:
        return parts[0]
    parts = _numbered(list(parts))
    joined = Judgments.joined(parts)
    notes = [*joined.notes, *_doubts(parts)]
    if not any(document_notes(part) for part in parts):
        notes += document_notes(joined)
    return replace(joined, notes=tuple(notes))


def _numbered(parts: list[Judgments]) -> list[Judgments]:
    """Find the numbering of each file, unless it is assumed for all, and nothing tells it."""
    for n, part in enumerate(parts):  # they are read as if all began with a sentence 0
        if _is_open(part) and any(ranking.segment == 1 for ranking in part):
            parts[n] = shifted(part, 0, "found")
    if all(map(_is_open, parts)):
        shifts = ((a, b, _best(fits)) for a, b, fits in _fits_of_pairs(parts))
        if (first := next(((a, b, by) for a, b, by in shifts if by), None)) is None:
            return parts
        a, b, by = first  # the one whose numbers are larger counts from 1
        parts[a] = shifted(parts[a], 0 if by < 0 else 1, "found")
        parts[b] = shifted(parts[b], 1 if by < 0 else 0, "found")
    while unknown := [n for n, part in enumerate(parts) if _is_open(part)]:
        known = _sentences(ranking for part in parts if not _is_open(part) for ranking in part)
        of = {n: _sentences(parts[n]) for n in unknown}
        fits = {n: {by: _fit(of[n], known, by) for by in _SHIFTS} for n in unknown}
        found = {n: best for n, fit in fits.items() if (best := _best(fit)) is not None}
        for n, best in found.items():
            parts[n] = shifted(parts[n], _SHIFTS[best], "found")
        if not found:
            apart = (n for n, fit in fits.items() if any(one.common for one in fit.values()))
            if (n := next(apart, None)) is None:
                break
            fault = f"{_name(parts[n])} counts sentences from 0 or from 1, and nothing shows which"
            fault += " fits the files read with it"
            fix = "Say --first-segment 0 or 1 (first_segment=), or give judged outputs (--hyps,"
            raise UsageError(fault, fix=f"{fix} systems=).")
    return parts


def _is_open(part: Judgments) -> bool:
    return part.files[0].basis == "default"


def _fits_of_pairs(parts: Sequence[Judgments]) -> Iterator[tuple[int, int, dict[int, _Fit]]]:
    sentences = [_sentences(part) for part in parts]
    for a, b in combinations(range(len(parts)), 2):
        yield a, b, {shift: _fit(sentences[b], sentences[a], shift) for shift in (-1, 0, 1)}


def _best(fits: Mapping[int, _Fit]) -> int | None:
    ordered = sorted((s for s in fits if fits[s].possible), key=lambda s: -fits[s].backed)
    backed = [fits[shift].backed for shift in ordered]
    if not any(backed) or (len(backed) > 1 and backed[0] < 2 * backed[1] + 3):
        return None
    return ordered[0]


def _doubts(parts: Sequence[Judgments]) -> Iterator[str]:
    """Say which files contradict each other, and which two are only assumed to count alike."""
    assumed = all(map(_is_open, parts))
    for a, b, fits in _fits_of_pairs(parts):
        fit, names = fits[0], f"{_name(parts[a])} and {_name(parts[b])}"
        if not fit.possible:
            count = f"of {fit.alike + fit.contrary} pairs of systems with equal outputs in one file"
            count += f", {fit.contrary} are different in the other: are these the same outputs, and"
            yield f"{names}: {count} the same numbers of sentences?"
        if assumed and fit.common and _best(fits) is None:
            assumed = False  # said once
            yield f"{names} are taken to count sentences alike; nothing in them shows it"


def _name(part: Judgments) -> str:
    return file_of(part.origins[0])


def _sentences(rankings: Iterable[Ranking]) -> dict[int, _Sentence]:
    """Collect what is said of the outputs of each sentence.

    Where no group has two systems, equal outputs were not put together: then systems with
    different ranks have different outputs, and those that tie may have the same.
    """
    sentences: dict[int, _Sentence] = defaultdict(lambda: (set(), set(), set(), set()))
    some = [ranking for ranking in rankings if len(ranking.systems) > 1]
    grouping = any(len(group) > 1 for ranking in some for group in ranking.groups)
    for ranking in some:
        items, equal, different, tied = sentences[ranking.segment]
        items.add(frozenset(map(frozenset, ranking.groups)))
        for group in ranking.groups:
            equal.update(map(frozenset, combinations(group, 2)))
        # a skipped item has no ranks, so all its groups tie
        ranked = zip(ranking.groups, ranking.ranks or [1] * len(ranking.groups), strict=True)
        for (group, rank), (rest, other) in combinations(ranked, 2):
            pairs = different if grouping or rank != other else tied
            pairs.update(map(frozenset, product(group, rest)))
    return sentences


def _fit(ours: Mapping[int, _Sentence], theirs: Mapping[int, _Sentence], shift: int) -> _Fit:
    common = backed = alike = contrary = 0
    for segment, (items, equal, different, tied) in ours.items():
        if (their := theirs.get(segment + shift)) is not None:
            both = len((equal & (their[1] | their[3])) | (tied & their[1]))
            common, alike = common + 1, alike + both
            contrary += len(equal & their[2]) + len(different & their[1])
            backed += bool(both or items & their[0])
    return _Fit(common, backed, alike, contrary)
