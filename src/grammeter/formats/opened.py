"""Which files have references, also of a system's own; texts, in one Unicode form if wanted."""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from glob import escape, glob
from itertools import product
from pathlib import Path
from typing import Literal, get_args

from grammeter import core
from grammeter.formats import m2, sgml
from grammeter.formats import text as plain

UnicodeForm = Literal["NFC", "NFD"]
"""Neither splits a token; the others do."""
PathLike = str | Path
MARK = "{system}"
"""Stands for a system's name in files of its own references, such as post-edits of its outputs."""


@dataclass
class TextReader:
    """Reads texts in a Unicode form; collects notices, of line ends, and graver notes."""

    form: UnicodeForm | None = None
    notices: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])
    composed: dict[str, bool] = field(default_factory=dict[str, bool])  # by file: is it in NFC

    def __post_init__(self) -> None:
        core.UnknownNameError.check("Unicode form", self.form or "NFC", get_args(UnicodeForm))

    def text(self, path: PathLike) -> str:
        """Return the text of a file, in the wanted Unicode form."""
        data = plain.read_bytes(path)
        self.notices += plain.encoding_notices(data, path)
        text = plain.decode(data, path)
        self.notes += plain.hidden_notes(text, path)
        self.composed[str(path)] = unicodedata.is_normalized("NFC", text)
        normal = unicodedata.normalize(self.form, text) if self.form else text
        if normal != text and sgml.is_sgml(text, path):
            fault = f"{self.form} changes characters that mistakes count"
            fix = "Leave --normalise out, or give the gold edits as M2."
            raise core.DataError(fault, where=str(path), fix=fix)
        return normal

    def sentences(self, path: PathLike) -> list[str]:
        """Return the sentences of a text, one a line; DataError if it is an M2 file."""
        text = self.text(path)
        if m2.has_edits(text):
            fix = "Extract the edits of an M2 file anew with 'grammeter edits convert -auto'."
            raise core.DataError("this is M2 where a text belongs", where=str(path), fix=fix)
        return plain.checked_lines(text, path)

    def remarks(self) -> list[str]:
        """Return what users must know of the texts that were read: line ends, Unicode."""
        return [*dict.fromkeys([*self.notices, *self.notes, *self.form_notes()])]

    def form_notes(self) -> list[str]:
        """Return a note if the letters of some files are composed, and of others not."""
        others = [path for path, composed in self.composed.items() if not composed]
        mixed = not self.form and 0 < len(others) < len(self.composed)
        said = "not in Unicode form NFC, as the other files are: tokens that look alike may differ"
        said = f"{core.listed(others)}: {said}; --normalise NFC makes them equal"
        return [said] if mixed else []


def is_ratings(path: PathLike) -> bool:
    """Whether a file of references has the name of JSON: ratings with the judges' corrections."""
    return plain.bare_name(path).endswith(".json")


def reference_files(
    references: Sequence[PathLike], systems: Sequence[str]
) -> dict[str, Sequence[PathLike]]:
    """Return the files of references, under "" if all systems share them, else by system.

    Raises :class:`DataError` if a system has no file, :class:`UsageError` if there is no system.
    """
    marked = [path for path in references if MARK in str(path)]
    if not marked and not any(map(is_ratings, references)):
        return {"": references}
    if not systems:
        fault = f"{references[0]}: references of each system's own, and there is no system"
        raise core.UsageError(fault, fix="Give outputs (--hyps), or references that all share.")
    for name, path in product(systems, marked):
        if not Path(file := str(path).replace(MARK, name)).is_file():
            fault = f"the system {name} has no references of its own: there is no such file"
            raise core.DataError(fault, where=file, fix=f"Write it, or leave {name} out.")
    return {n: [str(path).replace(MARK, n) for path in references] for n in systems}


def strangers(references: Sequence[PathLike], systems: Sequence[str]) -> Iterator[str]:
    """Yield notices of files that would be references of a system that is not here."""
    for path in map(str, references):
        files = glob(escape(path).replace(MARK, "*")) if MARK in path else []
        if others := sorted({*files} - {path.replace(MARK, name) for name in systems}):
            yield f"no system has the references {core.listed(others)}; they are not read"
