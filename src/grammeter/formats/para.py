"""Files ``id TAB source TAB target ...``: sources and references, or outputs, of Chinese sets."""

from itertools import repeat, zip_longest
from pathlib import Path
from typing import NamedTuple

from grammeter import core, errant
from grammeter.formats.text import read_text, split_lines


class Para(NamedTuple):
    """A parallel file: ids and sources, and each line's targets, at least one."""

    ids: list[str]
    sources: list[str]
    targets: list[list[str]]

    def references(self) -> list[list[str | None]]:
        """Return the targets by reference: "no error" is the source, "cannot be annotated" none."""
        rows = zip(self.sources, self.targets, strict=True)
        return [*map(list, zip_longest(*(map(_meant, repeat(s), texts) for s, texts in rows)))]

    def outputs(self, lines: list[str], where: str) -> list[str]:
        """Return the outputs of lines ``id TAB source TAB target``; other lines as they are."""
        if [line.partition("\t")[0] for line in lines if "\t" in line] != self.ids:
            return lines
        texts = parse_para("\n".join(lines), where).references()
        if len(texts) > 1:
            fix = "An output has one text for each sentence."
            raise core.DataError(f"up to {len(texts)} targets in a line", where=where, fix=fix)
        return [text or errant.CANNOT for text in texts[0]]


def read_para(path: str | Path) -> Para:
    """Read a parallel file; raise :class:`DataError` with file and line."""
    return parse_para(read_text(path), str(path))


def parse_para(text: str, where: str) -> Para:
    """Read a parallel file from a text; ``where`` names it in messages."""
    para = Para([], [], [])
    for number, line in enumerate(split_lines(text.strip()), start=1):
        name, *cells = line.split("\t")
        if len(cells) < 2 or not all(cell.strip() for cell in cells):
            fault = f"{len(cells)} texts, or an empty one: {line[:40]!r}"
            fix = f"Write it as: id TAB source TAB target ...; {errant.NO_ERROR} if there is none."
            raise core.DataError(fault, where=f"{where}:{number}", fix=fix)
        para.ids.append(name)
        para.sources.append(cells[0])
        para.targets.append(cells[1:])
    return para


def _meant(source: str, target: str) -> str | None:
    text = target.strip()
    return None if text == errant.CANNOT else source if text == errant.NO_ERROR else target
