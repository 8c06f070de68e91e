"""Edits to texts: references from gold edits, outputs from the edits of M2 files."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from grammeter.core import (
    DETECTION_ONLY,
    DataError,
    Edit,
    GoldEdits,
    UsageError,
    apply,
    without_overlaps,
)
from grammeter.formats.m2 import M2Block, M2File, parse_m2
from grammeter.formats.text import checked_lines, read_text, system_name


@dataclass(frozen=True, kw_only=True)
class TextRule:
    """How gold edits become reference texts.

    GLEU moves by up to a point between the rules, so they are named in signatures.

    Attributes
    ----------
    um
        ``skip``: edits of the types ``Um`` and ``UNK``, which only mark an error, are not
        applied; ``apply``: they are.
    missing
        The text of an annotator who is not listed for a sentence. ``other``: that of the first
        annotator who is (the combined CoNLL-14 file leaves out an annotator who agreed with
        another); ``source``: the unchanged sentence; ``none``: there is no such text.
    """

    um: Literal["skip", "apply"] = "skip"
    missing: Literal["other", "source", "none"] = "other"

    def __str__(self) -> str:
        return f"gold(um={self.um}, missing={self.missing})"


def reference_texts(
    sources: Sequence[str], gold: Sequence[GoldEdits], rule: TextRule
) -> tuple[list[list[str | None]], int]:
    """Apply gold edits.

    Returns
    -------
    texts, left_out
        The texts, shape ``[annotators][sentences]``, annotators ascending; and how many edits
        were not applied because they overlap an earlier one of the same annotator.
    """
    annotators = sorted({number for edits in gold for number in edits})
    left_out = 0
    columns: list[list[str | None]] = [[] for _ in annotators]
    for source, by_annotator in zip(sources, gold, strict=True):
        texts: dict[int, str] = {}
        for number, edits in by_annotator.items():
            texts[number], overlaps = corrected(source, edits, rule)
            left_out += overlaps
        for column, number in zip(columns, annotators, strict=True):
            column.append(texts[number] if number in texts else _stand_in(source, texts, rule))
    return columns, left_out


def corrected(source: str, edits: Sequence[Edit], rule: TextRule) -> tuple[str, int]:
    """Return the corrected sentence and how many overlapping edits were left out."""
    wanted = [e for e in edits if rule.um == "apply" or e.type not in DETECTION_ONLY]
    if not wanted:
        return " ".join(source.split()), 0
    edits, left_out = without_overlaps(wanted)
    return " ".join(apply(source.split(), edits)), len(left_out)


def _stand_in(source: str, texts: dict[int, str], rule: TextRule) -> str | None:
    if rule.missing == "other" and texts:
        return texts[min(texts)]
    return None if rule.missing == "none" else " ".join(source.split())


_WITH_ANNOTATOR = re.compile(r"(.+):(\d+)", re.DOTALL)
_EDIT_LINE = re.compile(r"^A -?\d+ -?\d+\|\|\|", re.MULTILINE)


def is_m2(text: str, path: str | Path) -> bool:
    """Whether a file is M2: by its name, or because it holds lines of edits."""
    name = str(path).removesuffix(".gz")
    return name.endswith(".m2") or _EDIT_LINE.search(text) is not None


def split_annotator(path: str | Path) -> tuple[str | Path, int | None]:
    """Return file and annotator of ``out.m2:1``; the whole path is a file if there is such."""
    match = _WITH_ANNOTATOR.fullmatch(str(path))
    if match is None or os.path.exists(path):
        return path, None
    return match[1], int(match[2])


def output_name(path: str | Path) -> str:
    """Return the name of a system: that of its file, with the annotator if one is named."""
    file, annotator = split_annotator(path)
    return system_name(file) if annotator is None else f"{system_name(file)}:{annotator}"


def check_no_annotator(path: str | Path) -> None:
    """Raise :class:`UsageError` if the path of a text names an annotator."""
    file, annotator = split_annotator(path)
    if annotator is not None:
        raise UsageError(
            f"{path}: annotator {annotator} is asked for, and {file} is no M2 file",
            fix=f"Write {file} if it is the output itself.",
        )


def read_output(path: str | Path) -> list[str]:
    """Read the output of one system by the usual :class:`~grammeter.formats.gold.TextRule`."""
    file, _ = split_annotator(path)
    text = read_text(file)
    if is_m2(text, file):
        return output_texts(parse_m2(text, str(file)), path, TextRule())[0]
    check_no_annotator(path)
    return checked_lines(text, file)


def read_text_lines(path: str | Path) -> list[str]:
    """Read a text, one sentence a line; raise :class:`DataError` if it is an M2 file."""
    text = read_text(path)
    if _EDIT_LINE.search(text):
        raise DataError(
            "this is M2 where a text belongs",
            where=str(path),
            fix="Extract the edits of an M2 file anew with 'grammeter edits convert -auto'.",
        )
    return checked_lines(text, path)


def output_texts(file: M2File, path: str | Path, rule: TextRule) -> tuple[list[str], int]:
    """Apply the edits of the annotator that ``path`` names, ``out.m2:1``, or of the only one.

    Returns
    -------
    texts, left_out
        A text for each sentence, and how many edits were left out because they overlap others.

    Raises
    ------
    UsageError
        If it is not clear whose edits are meant, or nobody has the number.
    DataError
        If a sentence lacks the annotator, and the rule has no text for it.
    """
    name, annotator = split_annotator(path)
    known = sorted({number for block in file.blocks for number, _ in block.lines}) or [0]
    if annotator is None and len(known) > 1:
        raise UsageError(
            f"{name}: M2 with {len(known)} annotators; whose text is the output?",
            fix=f"Name one: {' or '.join(f'{name}:{number}' for number in known[:5])}. Gold edits"
            " stand behind -r.",
        )
    if annotator is not None and annotator not in known:
        raise UsageError(
            f"{name}: no annotator {annotator}", fix=f"It has {', '.join(map(str, known))}."
        )
    number = known[0] if annotator is None else annotator
    made = [
        _text(block, number, f"{name}, sentence {at}", rule)
        for at, block in enumerate(file.blocks, start=1)
    ]
    return [text for text, _ in made], sum(left_out for _, left_out in made)


def _text(block: M2Block, number: int, where: str, rule: TextRule) -> tuple[str, int]:
    edits = block.gold.get(number)
    if edits is None and block.lines:
        if rule.missing == "none":
            raise DataError(
                f"no line of annotator {number}",
                where=where,
                fix="Write a noop line, or say whose text stands in: --missing-annotator source.",
            )
        edits = () if rule.missing == "source" else block.gold[min(block.gold)]
    return corrected(block.source, edits or (), rule)
