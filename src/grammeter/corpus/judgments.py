"""Human judgments from files: Appraise-2015 XML, WMT CSV, JSON lines.

The format is told by the content when reading, by the name when writing. Appraise and WMT files
count sentences from 0 or from 1 and do not say which; :func:`read_judgments` says how that is
found out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grammeter.core.errors import DataError, LengthMismatchError, UsageError
from grammeter.core.judgment import Ranking
from grammeter.corpus.appraise import format_appraise, parse_appraise
from grammeter.corpus.judged import FirstSegment, Form, JudgmentFile, Judgments, Separator
from grammeter.corpus.judged_lines import format_lines, parse_lines
from grammeter.corpus.text import (
    STDIN,
    decode,
    encoding_notices,
    read_bytes,
    read_lines,
    system_name,
    write_text,
)
from grammeter.corpus.wmt import format_wmt, is_wmt, parse_wmt

__all__ = [
    "FirstSegment",
    "Form",
    "JudgmentFile",
    "Judgments",
    "Separator",
    "format_judgments",
    "parse_judgments",
    "read_judgments",
    "read_outputs",
    "write_judgments",
]

PathLike = str | Path
Outputs = Mapping[str, Sequence[str]]
"""The systems' outputs by name, one text a sentence."""

SUFFIXES: dict[str, Form] = {".xml": "appraise", ".csv": "wmt", ".jsonl": "jsonl"}

_BASES: tuple[FirstSegment, FirstSegment] = (0, 1)


def read_judgments(
    paths: PathLike | Sequence[PathLike],
    *,
    first_segment: FirstSegment | None = None,
    systems: Outputs | None = None,
    separator: Separator | None = None,
) -> Judgments:
    """Read the judgments of one file, or of several, one after the other.

    Parameters
    ----------
    paths
        Files, plain or gzip; ``-`` is standard input.
    first_segment
        The number that Appraise and WMT files give to the first sentence. Without it, the one
        is taken for which all systems of each group have the same output, white space aside,
        if ``systems`` are given, else 0. JSON lines count from 1.
    systems
        The outputs that were judged, by name. Groups are checked against them.
    separator
        What stands between the names of systems that wrote the same, in Appraise and WMT
        files; default: commas if the file has one there, else spaces.

    Raises
    ------
    DataError
        With file and line: a file that is empty, broken or of another format, a document type,
        a rank outside the scale, a system twice in one item or unknown, or judgments that do
        not fit the outputs.
    UsageError
        If a file is named twice.
    """
    listed = [paths] if isinstance(paths, str | Path) else list(paths)
    if not listed or len(set(map(str, listed))) != len(listed):
        named = ", ".join(map(str, listed)) or "none"
        raise UsageError(f"judgments from {named}", fix="Name each file once, and one at least.")
    parts: list[Judgments] = []
    for path in listed:
        data = read_bytes(path)
        found = parse_judgments(
            decode(data, path),
            str(path),
            first_segment=first_segment,
            systems=systems,
            separator=separator,
        )
        parts.append(replace(found, notices=(*encoding_notices(data, path), *found.notices)))
    return parts[0] if len(parts) == 1 else _joined(parts)


def parse_judgments(
    text: str,
    where: str,
    *,
    first_segment: FirstSegment | None = None,
    systems: Outputs | None = None,
    separator: Separator | None = None,
) -> Judgments:
    """Read judgments from a text; ``where`` names it in messages.

    See :func:`read_judgments` for the rest.
    """
    form = _form_of(text, where)
    if form == "jsonl":
        found = parse_lines(text, where)
    else:
        parse = parse_appraise if form == "appraise" else parse_wmt
        found = parse(text, where, separator=separator)
    if not found.rankings:
        raise DataError("no judgment in this file", where=where, fix="It needs one item at least.")
    numbered = _numbered(found, where, first_segment, systems)
    return replace(numbered, notices=(*numbered.notices, *_without_pairs(found, where)))


def write_judgments(
    path: PathLike,
    judgments: Judgments | Sequence[Ranking],
    *,
    form: Form | None = None,
    first_segment: FirstSegment | None = None,
) -> None:
    """Write judgments; :func:`read_judgments` gives them back.

    What was read from one file is written with that file's own numbering, separator and
    attributes. WMT CSV holds less than the other formats: :func:`~grammeter.corpus.wmt.format_wmt`
    says what is lost.

    Parameters
    ----------
    form
        Default: by the name, ``.xml``, ``.csv`` or ``.jsonl``, with ``.gz`` after that if packed.
    first_segment
        The number of the first sentence; default: that of the file they were read from, else 0.

    Raises
    ------
    DataError
        If the format cannot hold a judgment, or the file cannot be written.
    UsageError
        If the name does not tell the format.
    """
    text = format_judgments(judgments, form or _form_by_name(path), first_segment=first_segment)
    write_text(path, text)


def format_judgments(
    judgments: Judgments | Sequence[Ranking],
    form: Form,
    *,
    first_segment: FirstSegment | None = None,
) -> str:
    """Return judgments as text; see :func:`write_judgments`."""
    files = judgments.files if isinstance(judgments, Judgments) else ()
    file = files[0] if len(files) == 1 and files[0].form == form else JudgmentFile(form=form)
    if form == "jsonl":
        return format_lines(judgments)
    same = file.blocks and sum(block.count for block in file.blocks) == len(judgments)
    blocks = file.blocks if same else ()
    stated = first_segment if first_segment is not None else file.first_segment if same else 0
    if form == "wmt":
        return format_wmt(judgments, first_segment=stated, blocks=blocks)
    separator = file.separator
    return format_appraise(judgments, first_segment=stated, separator=separator, blocks=blocks)


def read_outputs(paths: Iterable[PathLike]) -> dict[str, list[str]]:
    """Read the outputs that were judged, each system named after its file.

    Raises
    ------
    DataError
        If a file is absent, unreadable or empty, or two differ in length.
    UsageError
        If two systems have one name.
    """
    outputs: dict[str, list[str]] = {}
    first: PathLike = ""
    for path in paths:
        name, lines = system_name(path), read_lines(path)
        if name in outputs:
            raise UsageError(f"two systems are called {name!r}", fix="Rename one of the files.")
        if outputs and len(lines) != (count := len(next(iter(outputs.values())))):
            raise LengthMismatchError(str(path), len(lines), str(first), count)
        first = first or path
        outputs[name] = lines
    return outputs


def _joined(parts: Sequence[Judgments]) -> Judgments:
    return Judgments(
        tuple(ranking for part in parts for ranking in part.rankings),
        tuple(file for part in parts for file in part.files),
        tuple(origin for part in parts for origin in part.origins),
        tuple(notice for part in parts for notice in part.notices),
    )


def _form_of(text: str, where: str) -> Form:
    """Tell the format by the content."""
    start = text.lstrip()[:1]
    if not start:
        raise DataError("the file is empty", where=where, fix="Judgments need one item at least.")
    if start == "<":
        return "appraise"
    if start == "{":
        return "jsonl"
    if is_wmt(text):
        return "wmt"
    raise DataError(
        "judgments of no known format",
        where=f"{where}:1",
        fix="Known are Appraise XML (<appraise-results>), WMT CSV (a first line with judgeID and"
        ' system1Id) and JSON lines ({"judge": ...}).',
    )


def _form_by_name(path: PathLike) -> Form:
    name = str(path)
    suffix = Path(name.removesuffix(".gz")).suffix
    if suffix not in SUFFIXES or name == STDIN:
        raise UsageError(
            f"the name {name!r} does not tell the format of judgments",
            fix=f"Let it end in {', '.join(SUFFIXES)}, with .gz after that if packed.",
        )
    return SUFFIXES[suffix]


def _without_pairs(judgments: Judgments, where: str) -> Iterator[str]:
    counts = {
        "skipped": sum(ranking.skipped for ranking in judgments),
        "without outputs": sum(not (r.groups or r.skipped) for r in judgments),
        "with one output": sum(len(r.groups) == 1 and not r.skipped for r in judgments),
    }
    told = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    if told:
        yield f"{where}: {told} of {len(judgments)} items; they compare no outputs"


def _numbered(
    judgments: Judgments,
    where: str,
    stated: FirstSegment | None,
    systems: Outputs | None,
) -> Judgments:
    """Give segments their numbers from 1, which were read as if the file began with 0."""
    file = judgments.files[0]
    evidence = _Evidence.of(systems) if systems is not None else None
    if evidence:
        evidence.check_names(judgments)
    if file.form == "jsonl":
        if evidence:
            evidence.check(judgments, 0, "Give the outputs that were judged.")
        return judgments
    if stated is not None:
        shifted = _shifted(judgments, replace(file, first_segment=stated, basis="stated"))
        if evidence:
            evidence.check(shifted, 0, "Leave the number of the first sentence out to find it.")
        return shifted
    if not evidence:
        return judgments
    found = evidence.first_segment(judgments)
    if found is None:
        told = f"{where}: the outputs do not tell whether sentences count from 0 or 1; 0 is taken"
        return replace(judgments, notices=(*judgments.notices, told))
    return _shifted(judgments, replace(file, first_segment=found, basis="found"))


def _shifted(judgments: Judgments, file: JudgmentFile) -> Judgments:
    if file.first_segment:
        for ranking, origin in zip(judgments.rankings, judgments.origins, strict=True):
            if ranking.segment == 1:
                raise DataError(
                    "sentence 0 in a file that is to count from 1",
                    where=origin,
                    fix="Let it count from 0.",
                )
    moved = tuple(
        replace(ranking, segment=ranking.segment - file.first_segment)
        for ranking in judgments.rankings
    )
    return replace(judgments, rankings=moved, files=(file,))


@dataclass(frozen=True, slots=True)
class _Evidence:
    """The outputs that were judged, as far as they matter: two texts are equal or not."""

    texts: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, systems: Outputs) -> _Evidence:
        return cls({name: [" ".join(t.split()) for t in texts] for name, texts in systems.items()})

    def check_names(self, judgments: Judgments) -> None:
        for ranking, origin in zip(judgments.rankings, judgments.origins, strict=True):
            for name in ranking.systems:
                if name not in self.texts:
                    raise DataError(
                        f"unknown system {name!r}",
                        where=origin,
                        fix=f"Outputs are given of: {', '.join(sorted(self.texts))}.",
                    )

    def check(self, judgments: Judgments, base: FirstSegment, fix: str) -> None:
        for ranking, origin in zip(judgments.rankings, judgments.origins, strict=True):
            if told := self.contradiction(ranking, base):
                raise DataError(f"does not fit the outputs: {told}", where=origin, fix=fix)

    def first_segment(self, judgments: Judgments) -> FirstSegment | None:
        """Return the number of the first sentence; ``None`` if both are as good."""
        fits = [base for base in _BASES if self._length(judgments, base) == len(judgments)]
        if len(fits) == 1:
            return fits[0]
        if not fits:
            better = max(_BASES, key=lambda base: self._length(judgments, base))
            self.check(judgments, better, "Give the outputs that were judged, all their sentences.")
        doubles = [sum(self._doubled(r, base) for r in judgments) for base in _BASES]
        return None if doubles[0] == doubles[1] else _BASES[doubles.index(min(doubles))]

    def _length(self, judgments: Judgments, base: FirstSegment) -> int:
        """Return how many rankings fit until the first that does not."""
        return next(
            (n for n, ranking in enumerate(judgments) if self.contradiction(ranking, base)),
            len(judgments),
        )

    def contradiction(self, ranking: Ranking, base: FirstSegment) -> str | None:
        """Say why a ranking, read as if counted from 0, cannot belong to these outputs."""
        for group in ranking.groups:
            texts = self._texts(group, ranking.segment - base)
            if None in texts:
                return f"there is no sentence {ranking.segment - base}"
            if len(set(texts)) > 1:
                other = next(
                    name for name, text in zip(group, texts, strict=True) if text != texts[0]
                )
                return (
                    f"{group[0]} and {other} should have one output for sentence"
                    f" {ranking.segment - base}, and have two"
                )
        return None

    def _doubled(self, ranking: Ranking, base: FirstSegment) -> bool:
        """Whether two outputs that were shown apart are the same text."""
        firsts = [self._texts(group[:1], ranking.segment - base)[0] for group in ranking.groups]
        return len(set(firsts)) < len(firsts)

    def _texts(self, group: Sequence[str], segment: int) -> list[str | None]:
        return [
            self.texts[name][segment - 1] if 0 < segment <= len(self.texts[name]) else None
            for name in group
        ]
