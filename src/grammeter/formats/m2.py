"""The M2 format: a sentence and its edits by several annotators; edits as texts.

::

    S This are a sentence .
    A 1 2|||R:VERB:SVA|||is|||REQUIRED|||-NONE-|||0
    A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||1

A blank line ends a block. Corrections may list alternatives, ``in||at``; ``-NONE-`` or nothing
deletes. An annotator with a line of the type ``NA`` cannot say what is right, and is not listed
for the sentence. Lines ``T0-A0 ...`` (ChERRANT's corrected texts) and ``# key = value`` (before a
sentence) are kept, lines ``I ...`` are skipped.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Literal, cast

from grammeter import core
from grammeter.formats import text as plain

HEAD = re.compile(r"(?:#|### (?=essay_id =))\s*([^\s#=](?:[^=]*[^\s=])?)\s*=\s*(.*?)\s*")
"""What holds from here on: ``# key = value``, or ``### essay_id = ID`` of MultiGEC."""

_DELETION = "-NONE-"
_EDIT_LINE = re.compile(r"^A -?\d+ -?\d+\|\|\|", re.MULTILINE)
_TEXT_LINE = re.compile(r"T\d+(-A\d+)?\s")
_FIELDS = 6
_NOOP = core.Edit(-1, -1, "", "noop")
_NA = core.Edit(-1, -1, "", core.UNANNOTATABLE)


@dataclass(frozen=True)
class M2Block:
    """One sentence, its tokens separated by white space, and its edits.

    ``lines`` are ``(annotator, edit)`` in the order of the file, no-ops included; ``texts`` are
    ChERRANT's ``T`` lines, each with the number of edits before it; ``heads`` the lines
    ``# key = value`` before the sentence.
    """

    source: str
    lines: tuple[tuple[int, core.Edit], ...] = ()
    texts: tuple[tuple[int, str], ...] = ()
    heads: tuple[str, ...] = ()

    @classmethod
    def of(cls, source: str, gold: core.GoldEdits) -> "M2Block":
        """Build a block from gold edits; an annotator without edits gets a no-op, nobody ``NA``."""
        lines = [(number, edit) for number, edits in gold.items() for edit in edits or [_NOOP]]
        return cls(source, tuple(lines or [(0, _NA)]))

    @cached_property
    def gold(self) -> core.GoldEdits:
        """Edits of each annotator, no no-ops; without lines annotator 0; nobody who says ``NA``."""
        by_annotator: dict[int, list[core.Edit]] = {} if self.lines else {0: []}
        for annotator, edit in self.lines:
            edits = by_annotator.setdefault(annotator, [])
            if not edit.is_noop:
                edits.append(edit)
        silent = {annotator for annotator, edit in self.lines if edit.type == core.UNANNOTATABLE}
        return {n: tuple(edits) for n, edits in sorted(by_annotator.items()) if n not in silent}


@dataclass(frozen=True)
class M2File:
    """A block for each sentence; faults passed over, with file and line; remarks on encoding."""

    blocks: tuple[M2Block, ...]
    notices: tuple[str, ...] = ()
    remarks: tuple[str, ...] = field(default=(), compare=False)

    @property
    def sources(self) -> list[str]:
        """The source sentences."""
        return [block.source for block in self.blocks]


def read_m2(path: str | Path, *, lenient: bool = False) -> M2File:
    """Read an M2 file, plain or gzip; ``-`` is standard input.

    ``lenient``: pass over what the original programs pass over: edits outside their sentence and
    unknown lines. Each is counted in ``notices``. Raises :class:`DataError` with file and line.
    """
    data = plain.read_bytes(path)
    file = parse_m2(text := plain.decode(data, path), str(path), lenient=lenient)
    remarks = plain.encoding_notices(data, path) + plain.hidden_notes(text, path)
    return replace(file, remarks=tuple(remarks))


def parse_m2(text: str, where: str, *, lenient: bool = False) -> M2File:
    """Read M2 from a text; ``where`` names it in messages."""
    reader = _Reader(where, lenient)
    runs = groupby(enumerate(plain.split_lines(text), start=1), key=lambda line: line[1] != "")
    blocks = [block for filled, run in runs if filled and (block := reader.block(run))]
    if not blocks:
        raise core.DataError("no sentence in this file", where=where, fix="M2 needs lines 'S ...'.")
    return M2File(tuple(blocks), tuple(reader.notices))


def format_m2(blocks: Iterable[M2Block]) -> str:
    """Return blocks as M2 text; raise :class:`DataError` for what would be read differently."""
    return "".join(_format_block(block) for block in blocks)


def _format_block(block: M2Block) -> str:
    lines = [*block.heads, f"S {block.source}" if block.source else "S "]
    texts = list(block.texts)
    for position, (annotator, edit) in enumerate(block.lines):
        while texts and texts[0][0] == position:
            lines.append(texts.pop(0)[1])
        lines.append(_format_edit(annotator, edit, named=bool(block.texts)))
    lines += [text for _, text in texts]
    return "\n".join(map(plain.checked_line, lines)) + "\n\n"


def _format_edit(annotator: int, edit: core.Edit, *, named: bool) -> str:
    """Write an edit; ``named``: a deletion has a name, as ChERRANT writes it."""
    # between bars an empty text would be lost
    bare = not edit.is_noop and not edit.alternatives and not named
    correction = "||".join(text or ("" if bare else _DELETION) for text in edit.corrections)
    middle = f"{edit.type}|||{correction}|||{edit.required}|||{edit.comment}"
    line = f"A {edit.start} {edit.end}|||{middle}|||{annotator}"
    try:
        same = _parse_edit(line) == (annotator, edit)
    except ValueError:
        same = False
    if not same:
        fix = "Bars in a text and spaces at its ends would be read differently."
        raise core.DataError(f"M2 cannot hold this edit: {line[:80]!r}", fix=fix)
    return line


def _parse_edit(line: str) -> tuple[int, core.Edit]:
    parts = line[2:].split("|||")
    if len(parts) != _FIELDS:
        raise ValueError(f"{len(parts)} fields instead of {_FIELDS}")
    start, end = (int(offset) for offset in parts[0].split())
    if (annotator := int(parts[5])) < 0:
        raise ValueError(f"annotator {annotator}, less than 0")
    texts = [text.strip() for text in parts[2].split("||")]
    correction, *alternatives = ("" if text == _DELETION else text for text in texts)
    return annotator, core.Edit(start, end, correction, parts[1], tuple(alternatives), *parts[3:5])


class _Reader:
    def __init__(self, where: str, lenient: bool) -> None:
        self.where, self.lenient = where, lenient
        self.notices: list[str] = []
        self.heads: list[str] = []  # of the sentence to come

    def block(self, lines: Iterable[tuple[int, str]]) -> M2Block | None:
        source: str | None = None
        edits: list[tuple[int, core.Edit]] = []
        texts: list[tuple[int, str]] = []
        for number, line in lines:
            if line[:2] == "S " or line == "S":
                if source is not None:
                    fault = "a second S line in one block"
                    fix = "Put a blank line before each sentence; each has one S line."
                    raise core.DataError(fault, where=f"{self.where}:{number}", fix=fix)
                source = line[2:]
            elif source is None and HEAD.fullmatch(line):
                self.heads.append(line)
            elif source is None:
                self.fault(number, f"outside a block: {line[:40]!r}", "Blocks begin with 'S ...'.")
            elif line[:2] == "A ":
                edits.append(self.edit(number, line, len(source.split())))
            elif _TEXT_LINE.match(line):
                texts.append((len(edits), line))
            elif line[:2] != "I ":
                self.fault(number, f"unknown line: {line[:40]!r}", "Lines begin with S or A.")
        if source is None:
            return None
        heads, self.heads = tuple(self.heads), []
        return M2Block(source, tuple(edits), tuple(texts), heads)

    def edit(self, number: int, line: str, tokens: int) -> tuple[int, core.Edit]:
        try:
            annotator, edit = _parse_edit(line)
        except ValueError as error:
            fault = f"not an edit: {error}"
            fix = "Write it as: A start end|||type|||correction|||REQUIRED|||-NONE-|||annotator"
            raise core.DataError(fault, where=f"{self.where}:{number}", fix=fix) from None
        nowhere = edit.is_noop or (edit.type == core.UNANNOTATABLE and edit.start < 0)
        if nowhere or 0 <= edit.start <= edit.end <= tokens:
            return annotator, edit
        fault = f"edit {edit.start} {edit.end} lies outside its sentence of {tokens} tokens"
        fix = "Correct the offsets, or use --lenient to drop such edits as the original does."
        self.fault(number, fault, fix)
        # the original drops the edit, yet the annotator counts as having seen the sentence
        return annotator, core.Edit(-1, -1, "", "noop", (), edit.required, edit.comment)

    def fault(self, number: int, message: str, fix: str) -> None:
        where = f"{self.where}:{number}"
        if not self.lenient:
            raise core.DataError(message, where=where, fix=fix)
        self.notices.append(f"{where}: {message}; passed over")


# --- edits to texts -------------------------------------------------------------------------
@dataclass(frozen=True, kw_only=True)
class TextRule:
    """How gold edits become reference texts; named in signatures, as GLEU moves with the rule.

    - ``um``: ``skip``: edits of the types ``Um`` and ``UNK``, which only mark an error, are not
      applied; ``apply``: they are.
    - ``missing``: the text of an annotator who is not listed for a sentence. ``other``: that of
      the first annotator who is (the combined CoNLL-14 file leaves out an annotator who agreed with
      another); ``source``: the unchanged sentence; ``none``: there is no such text.
    """

    um: Literal["skip", "apply"] = "skip"
    missing: Literal["other", "source", "none"] = "other"

    def __str__(self) -> str:
        return f"gold(um={self.um}, missing={self.missing})"


def reference_texts(
    sources: Sequence[str], gold: Sequence[core.GoldEdits], rule: TextRule
) -> tuple[list[list[str | None]], int]:
    """Apply gold edits.

    Return the texts, shape ``[annotators][sentences]``, annotators ascending; and how many edits
    were not applied because they overlap an earlier one of the same annotator.
    """
    annotators = sorted({number for edits in gold for number in edits})
    left_out = 0
    columns: list[list[str | None]] = [[] for _ in annotators]
    for source, by_annotator in zip(sources, gold, strict=True):
        first = by_annotator[min(by_annotator)] if by_annotator else ()
        stand_in = {"other": first, "source": (), "none": None}[rule.missing]
        for column, number in zip(columns, annotators, strict=True):
            edits = by_annotator.get(number, stand_in if by_annotator else None)
            if edits is None:
                column.append(None)
                continue
            wanted = [e for e in edits if rule.um == "apply" or e.type not in core.DETECTION_ONLY]
            applied, overlaps = core.without_overlaps(wanted)
            column.append(" ".join(core.apply(source.split(), applied)))
            left_out += len(overlaps) if number in by_annotator else 0
    return columns, left_out


def is_m2(text: str, path: str | Path) -> bool:
    """Whether a file is M2: by its name, or because it holds lines of edits."""
    return plain.bare_name(path).endswith(".m2") or has_edits(text)


def has_edits(text: str) -> bool:
    """Whether a text has lines of edits, as M2 has them."""
    return _EDIT_LINE.search(text) is not None


def named_outputs(
    paths: Sequence[str | Path] | Mapping[str, str | Path], names: Sequence[str] | None = None
) -> dict[str, str | Path]:
    """Name systems by ``names``, their keys, or after their files."""
    files = [*paths.values()] if isinstance(paths, Mapping) else [*paths]
    if names is None:
        names = [*paths] if isinstance(paths, Mapping) else [*map(plain.system_name, files)]
    if len(names) != len(files):
        fault = f"{len(names)} names for {len(files)} outputs"
        raise core.UsageError(fault, fix="Give one name for each output.")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        both = ", ".join(str(p) for p, name in zip(files, names, strict=True) if name == twice)
        fault = f"two systems are called {twice!r}: {both}"
        raise core.UsageError(fault, fix="Rename one file, or use --names.")
    return dict(zip(names, files, strict=True))


def output_texts(file: M2File, path: str | Path, rule: TextRule) -> tuple[list[str], int]:
    """Apply the edits of the only annotator; also return how many overlap, left out."""
    if (known := len({number for block in file.blocks for number, _ in block.lines})) > 1:
        fix = "Give the edits of one, whose text is the output. Gold edits are for -r."
        raise core.UsageError(f"{path}: M2 with {known} annotators", fix=fix)
    gold: list[core.GoldEdits] = [{0: next(iter(of.gold.values()), ())} for of in file.blocks]
    (texts,), left_out = reference_texts(file.sources, gold, rule)
    return cast("list[str]", texts), left_out
