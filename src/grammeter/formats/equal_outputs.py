"""Names of systems that wrote the same: ``A B``, ``A,B`` or ``A+B`` in place of one name.

Names may contain these characters, too, so the whole file decides how they are read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from grammeter.core import DataError
from grammeter.formats.judged import Separator, split_names

PLUS = "+"


@dataclass(frozen=True, slots=True)
class Names:
    """How the cells of one file are split into names of systems."""

    separator: Separator
    joined: frozenset[str] = frozenset()  # names with ``+`` that stand for several systems
    whole: frozenset[str] = frozenset()  # cells that are the name of one system, as they are
    notes: tuple[str, ...] = ()  # what was guessed

    def split(self, cell: str) -> tuple[str, ...]:
        """Return the systems that a cell names; raise :class:`DataError` for an empty name."""
        if cell in self.whole:
            return (cell,)
        names = split_names(cell, self.separator)
        return tuple(part for name in names for part in _parts(name, self.joined))


def find_names(
    items: Sequence[Sequence[str]],
    *,
    separator: Separator | None = None,
    is_system: Callable[[str], bool] = lambda name: False,
) -> Names:
    """Find out how to split cells.

    Commas separate names if any cell has one, else spaces do; but spaces belong to the names
    if splitting gives one system two outputs of one item, and no part stands alone anywhere.
    A name with ``+`` stands for several systems if each part stands alone elsewhere, and never
    beside it in one item.

    Parameters
    ----------
    items
        The cells of each item.
    separator
        What separates names; if it is given, nothing is guessed.
    is_system
        Whether a cell is known to be the name of a system; such cells are not split.
    """
    cells = {cell for item in items for cell in item}
    whole = frozenset(cell for cell in cells if is_system(cell))
    if separator is not None:
        return Names(separator, whole=whole)
    separator, notes = _separator(items, cells - whole)
    plain = Names(separator, whole=whole)
    joined = _joined(items, plain, is_system)
    return Names(separator, joined, whole, (*notes, *_plus_notes(joined, _named(cells, plain))))


def check_names(items: Sequence[Sequence[str]]) -> None:
    """Raise :class:`DataError` if a name would be read back as the names of several systems."""
    joined = _joined(items, Names("comma"), lambda name: False)
    if joined:
        raise DataError(
            f"the format cannot hold the system name {min(joined)!r} beside those of its parts",
            fix="Rename the system, or write JSON lines.",
        )


def _separator(
    items: Sequence[Sequence[str]], cells: Collection[str]
) -> tuple[Separator, list[str]]:
    if any("," in cell for cell in cells):
        return "comma", []
    several = {cell for cell in cells if len(cell.split()) > 1}
    parts = {part for cell in several for part in cell.split()}
    if several and parts.isdisjoint(cells) and any(_clash(item, several) for item in items):
        note = f"names of systems are taken to hold spaces, such as {min(several)!r}"
        return "comma", [f"{note}: none of their words is a system of its own"]
    return "space", []


def _clash(item: Sequence[str], several: Collection[str]) -> bool:
    words = [word for cell in {*item} & {*several} for word in {*cell.split()}]
    return len(set(words)) < len(words)


def _named(cells: Iterable[str], plain: Names) -> set[str]:
    return {name for cell in cells if cell.strip(" ,") for name in _split(cell, plain)}


def _split(cell: str, plain: Names) -> list[str]:
    """Split without complaint: who reads the cells complains, and knows the line."""
    if cell in plain.whole:
        return [cell]
    parts = cell.split(",") if plain.separator == "comma" else cell.split()
    return [part.strip() for part in parts]


def _joined(
    items: Sequence[Sequence[str]], plain: Names, is_system: Callable[[str], bool]
) -> frozenset[str]:
    shown = [[name for cell in item for name in _split(cell, plain)] for item in items]
    names = {name for some in shown for name in some}
    joined = {
        name
        for name in names
        if PLUS in name
        and not is_system(name)
        and all(part in names or is_system(part) for part in name.split(PLUS))
    }
    for some in shown if joined else ():
        parts = Counter(part for name in some for part in _parts(name, joined))
        twice = {part for part, count in parts.items() if count > 1}
        joined -= {name for name in some if twice & {*name.split(PLUS)}}
    return frozenset(joined)


def _parts(name: str, joined: Collection[str]) -> list[str]:
    return name.split(PLUS) if name in joined else [name]


def _plus_notes(joined: Collection[str], names: Collection[str]) -> Iterator[str]:
    if joined:
        yield (
            f"{_listed(joined)}: read as systems that wrote the same, for each part of it stands"
            " alone elsewhere"
        )
    doubtful = {
        name
        for name in names
        if PLUS in name and name not in joined and {*name.split(PLUS)} & {*names}
    }
    if doubtful:
        yield f"{_listed(doubtful)}: read as the name of one system"


def _listed(names: Collection[str]) -> str:
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"{min(names)!r}{more}"
