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
_BASES: tuple[FirstSegment, FirstSegment] = (0, 1)
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

        def fitting_first(base: FirstSegment) -> int:
            rows = enumerate(judgments)
            misfits = (n for n, r in rows if self._contradiction(r.groups, r.segment - base))
            return next(misfits, len(judgments))

        fitting = {base: fitting_first(base) for base in _BASES}
        if max(fitting.values()) < len(judgments):
            return max(_BASES, key=fitting.__getitem__)
        bases: list[FirstSegment] = [base for base in _BASES if fitting[base] == len(judgments)]
        odd = {base: sum(self._odd(r, base) for r in judgments) for base in bases}
        best: list[FirstSegment] = [base for base in bases if odd[base] == min(odd.values())]
        return best[0] if len(best) == 1 else None

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

    def _odd(self, ranking: Ranking, base: FirstSegment) -> bool:
        segment = ranking.segment - base
        known = ([self._text(n, segment) for n in of if n in self.texts] for of in ranking.groups)
        texts = [next(iter(of), None) for of in known]
        pairs = combinations(zip(texts, ranking.ranks, strict=False), 2)  # skipped: no ranks
        return any(a == b and a is not None and one != other for (a, one), (b, other) in pairs)

    def _text(self, name: str, segment: int) -> str | None:
        texts = self.texts[name]
        return texts[segment - 1] if 0 < segment <= len(texts) else None


# --- several files ---------------------------------------------------------------------------

# how far numbers that were read as from 0 have to move -> the number of the first sentence
_BY_SHIFT: Mapping[int, FirstSegment] = {0: 0, -1: 1}

# share of pairs of systems that may contradict where sentences are counted alike: outputs are
# told to be equal with or without white space, and people slip
_MOST = 0.1

_TOLD = ("items", "equal", "different", "tied")
_Sentence = dict[str, set[Any]]
"""Of a sentence: ``items``, groups that were shown; and pairs of systems with ``equal`` outputs,
``different`` ones, or ``tied``, which are ungrouped and may be equal."""

_Sentences = Mapping[int, _Sentence]


@dataclass(frozen=True, slots=True)
class _Fit:
    """How two files go together at one shift of their numbers."""

    common: int  # sentences of both
    backed: int  # of these, sentences with the same item, or two systems that are equal in both
    alike: int  # pairs of systems that are equal in both, as far as these tell
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
    parts, assumed = _numbered(list(parts))
    joined = Judgments.joined(parts)
    notes = [*joined.notes, *assumed, *_contradictions(parts)]
    if not any(document_notes(part) for part in parts):
        notes += document_notes(joined)
    return replace(joined, notes=tuple(notes))


def _numbered(parts: list[Judgments]) -> tuple[list[Judgments], list[str]]:
    """Find the numbering of each file; also return what was assumed."""
    for n, part in enumerate(parts):  # they are read as if all began with a sentence 0
        if _is_open(part) and any(ranking.segment == 1 for ranking in part):
            parts[n] = shifted(part, 0, "found")
    if all(_is_open(part) for part in parts):
        if not (bases := _bases_among(parts)):
            return parts, _assumed_alike(parts)
        parts = _with_bases(parts, bases)
    while any(_is_open(part) for part in parts):
        known = _sentences(ranking for part in parts if not _is_open(part) for ranking in part)
        unknown = {n: _sentences(part) for n, part in enumerate(parts) if _is_open(part)}
        fits = {n: {by: _fit(of, known, by) for by in _BY_SHIFT} for n, of in unknown.items()}
        bases: dict[int, FirstSegment] = {
            n: _BY_SHIFT[best] for n, fit in fits.items() if (best := _best(fit)) is not None
        }
        if not bases:
            _check_apart(parts, fits)
            break
        parts = _with_bases(parts, bases)
    return parts, []


def _is_open(part: Judgments) -> bool:
    return part.files[0].basis == "default"


def _with_bases(parts: Sequence[Judgments], bases: Mapping[int, FirstSegment]) -> list[Judgments]:
    return [shifted(p, bases[n], "found") if n in bases else p for n, p in enumerate(parts)]


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


def _bases_among(parts: Sequence[Judgments]) -> dict[int, FirstSegment]:
    """Find files whose sentences lie one number apart; the others stay without a base."""
    bases: dict[int, FirstSegment] = {}
    for a, b, fits in _fits_of_pairs(parts):
        if shift := _best(fits):
            pair: dict[int, FirstSegment] = {a: 0, b: 1} if shift < 0 else {a: 1, b: 0}
            if any(bases.get(n, base) != base for n, base in pair.items()):
                raise _unknown(parts[a], "other numberings fit to different files")
            bases |= pair
    return bases


def _assumed_alike(parts: Sequence[Judgments]) -> list[str]:
    """Say so where files share sentences, and nothing shows that they count them alike."""
    for a, b, fits in _fits_of_pairs(parts):
        if fits[0].common and _best(fits) is None:
            names = f"{_name(parts[a])} and {_name(parts[b])}"
            return [f"{names} are taken to count sentences alike; nothing in them shows it"]
    return []


def _check_apart(parts: Sequence[Judgments], fits: Mapping[int, Mapping[int, _Fit]]) -> None:
    """Raise an error if a file of unknown numbering shares sentences with the others."""
    for n, by_shift in fits.items():
        if any(fit.common for fit in by_shift.values()):
            why = "nothing in them tells which"
            if not any(fit.possible for fit in by_shift.values()):
                why = "outputs that are equal in one are different in the other, either way"
            raise _unknown(parts[n], why)


def _unknown(part: Judgments, why: str) -> UsageError:
    fault = f"{_name(part)} counts sentences from 0 or from 1, and the files read with it do not"
    fix = "Say --first-segment 0 or 1 (first_segment=), or give judged outputs (--hyps, systems=)."
    return UsageError(f"{fault} count alike or do not show it: {why}", fix=fix)


def _contradictions(parts: Sequence[Judgments]) -> Iterator[str]:
    for a, b, fits in _fits_of_pairs(parts):
        fit = fits[0]
        if not fit.possible:
            count = f"of {fit.alike + fit.contrary} pairs of systems with equal outputs in one file"
            count += f", {fit.contrary} are different in the other: are these the same outputs, and"
            yield f"{_name(parts[a])} and {_name(parts[b])}: {count} the same numbers of sentences?"


def _name(part: Judgments) -> str:
    return file_of(part.origins[0])


def _sentences(rankings: Iterable[Ranking]) -> dict[int, _Sentence]:
    """Collect what is said of the outputs of each sentence.

    Where no group has two systems, equal outputs were not put together: then systems with
    different ranks have different outputs, and those that tie may have the same.
    """
    sentences: dict[int, _Sentence] = defaultdict(lambda: {kind: set() for kind in _TOLD})
    some = [ranking for ranking in rankings if len(ranking.systems) > 1]
    grouping = any(len(group) > 1 for ranking in some for group in ranking.groups)
    for ranking in some:
        sentence = sentences[ranking.segment]
        sentence["items"].add(frozenset(map(frozenset, ranking.groups)))
        for group in ranking.groups:
            sentence["equal"].update(map(frozenset, combinations(group, 2)))
        # a skipped item has no ranks, so all its groups tie
        ranked = zip(ranking.groups, ranking.ranks or [1] * len(ranking.groups), strict=True)
        for (group, rank), (rest, other) in combinations(ranked, 2):
            pairs = sentence["different"] if grouping or rank != other else sentence["tied"]
            pairs.update(map(frozenset, product(group, rest)))
    return sentences


def _fit(ours: _Sentences, theirs: _Sentences, shift: int) -> _Fit:
    common = backed = alike = contrary = 0
    for segment, our in ours.items():
        if (their := theirs.get(segment + shift)) is None:
            continue
        both = len(
            (our["equal"] & (their["equal"] | their["tied"])) | (our["tied"] & their["equal"])
        )
        common += 1
        alike += both
        contrary += len(our["equal"] & their["different"]) + len(our["different"] & their["equal"])
        backed += bool(both or our["items"] & their["items"])
    return _Fit(common, backed, alike, contrary)
