"""Which sentence a number in a file of judgments means, as the outputs show it."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from grammeter.core import DataError, Ranking
from grammeter.formats.judged import Basis, FirstSegment, Judgments

Outputs = Mapping[str, Sequence[str]]
"""The systems' outputs by name, one text a sentence."""

_BASES: tuple[FirstSegment, FirstSegment] = (0, 1)
_FIX = (
    "Give the very outputs that were judged, all their sentences; --first-segment, if given, may"
    " be wrong: without it the number is found."
)


def with_numbers(
    judgments: Judgments,
    where: str,
    *,
    stated: FirstSegment | None = None,
    systems: Outputs | None = None,
    drop: Container[str] = (),
) -> Judgments:
    """Count the segments of one file from 1; they were read as if it began with 0.

    ``stated``, ``systems``, ``drop``: see :func:`grammeter.formats.judgments.read_judgments`.
    """
    file = judgments.files[0]
    evidence = _Evidence.of(systems) if systems is not None else None
    if evidence:
        evidence.check_names(judgments, drop)
    if stated is not None and file.form != "jsonl":
        judgments = shifted(judgments, stated, "stated")
    if not evidence:
        return judgments
    if file.form == "jsonl" or stated is not None:
        evidence.check(judgments, 0, _FIX)
        return judgments
    first = evidence.first_segment(judgments)
    if first is not None:
        return shifted(judgments, first, "found")
    notice = f"{where}: the outputs do not tell whether sentences count from 0 or 1; 0 is taken"
    return replace(judgments, notices=(*judgments.notices, notice))


def shifted(judgments: Judgments, first: FirstSegment, basis: Basis) -> Judgments:
    """Count the segments from 1, for a file that begins with ``first``."""
    file = replace(judgments.files[0], first_segment=first, basis=basis)
    for ranking, origin in zip(judgments.rankings, judgments.origins, strict=True):
        if ranking.segment == first:
            raise DataError(
                "sentence 0 in a file that is to count from 1",
                where=origin,
                fix="Let it count from 0.",
            )
    moved = tuple(replace(ranking, segment=ranking.segment - first) for ranking in judgments)
    return replace(judgments, rankings=moved, files=(file,))


@dataclass(frozen=True, slots=True)
class _Evidence:
    """The outputs that were judged; all that matters is which texts are equal."""

    texts: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, systems: Outputs) -> _Evidence:
        return cls({name: [" ".join(t.split()) for t in texts] for name, texts in systems.items()})

    def check_names(self, judgments: Judgments, drop: Container[str]) -> None:
        for ranking, origin in zip(judgments.rankings, judgments.origins, strict=True):
            for name in ranking.systems:
                if name not in self.texts and name not in drop:
                    raise DataError(
                        f"unknown system {name!r}",
                        where=origin,
                        fix=f"Outputs are given of: {', '.join(sorted(self.texts))}.",
                    )

    def check(self, judgments: Judgments, base: FirstSegment, fix: str) -> None:
        for ranking, origin in zip(judgments.rankings, judgments.origins, strict=True):
            if fault := self.contradiction(ranking, base):
                raise DataError(f"does not fit the outputs: {fault}", where=origin, fix=fix)

    def first_segment(self, judgments: Judgments) -> FirstSegment | None:
        """Return the number of the first sentence; ``None`` if both are as good."""
        fitting = {base: self._fitting(judgments, base) for base in _BASES}
        if max(fitting.values()) < len(judgments):
            self.check(judgments, max(_BASES, key=fitting.__getitem__), _FIX)
        odd = {
            base: sum(self._odd(ranking, base) for ranking in judgments)
            for base in _BASES
            if fitting[base] == len(judgments)
        }
        fewest = min(odd.values())
        best: list[FirstSegment] = [base for base in _BASES if odd.get(base) == fewest]
        return best[0] if len(best) == 1 else None

    def _fitting(self, judgments: Judgments, base: FirstSegment) -> int:
        """Return how many rankings fit until the first that does not."""
        return next(
            (n for n, ranking in enumerate(judgments) if self.contradiction(ranking, base)),
            len(judgments),
        )

    def contradiction(self, ranking: Ranking, base: FirstSegment) -> str | None:
        """Say why a ranking, read as if counted from 0, cannot belong to these outputs."""
        segment = ranking.segment - base
        for group in ranking.groups:
            texts = {name: self._text(name, segment) for name in group if name in self.texts}
            if None in texts.values():
                return f"there is no sentence {segment}"
            first = next(iter(texts), "")
            for name, text in texts.items():
                if text != texts[first]:
                    return f"{first} and {name} have different outputs for sentence {segment}"
        return None

    def _odd(self, ranking: Ranking, base: FirstSegment) -> bool:
        """Whether two outputs are the same text, and yet one is ranked better."""
        segment = ranking.segment - base
        texts = [
            next((self._text(name, segment) for name in group if name in self.texts), None)
            for group in ranking.groups
        ]
        ranked = zip(texts, ranking.ranks, strict=False)  # a skipped ranking has no ranks
        return any(
            a == b and a is not None and better != worse
            for (a, better), (b, worse) in combinations(ranked, 2)
        )

    def _text(self, name: str, segment: int) -> str | None:
        texts = self.texts[name]
        return texts[segment - 1] if 0 < segment <= len(texts) else None
