"""Cases of RobustGEC: a sentence and variants with the same errors, each with its correction."""

from dataclasses import dataclass
from itertools import groupby, zip_longest
from pathlib import Path

from grammeter.core import DataError, checked
from grammeter.formats.text import read_lines


@dataclass(frozen=True)
class RobustnessCases:
    """Cases in their order: the original, then its variants, each as source and correction."""

    cases: tuple[tuple[tuple[str, str], ...], ...]

    def __post_init__(self) -> None:
        if not self.cases or min(map(len, self.cases)) < 2 or len(set(map(len, self.cases))) > 1:
            fix = "Each case has its original and as many variants as the others, at least one."
            raise DataError("cases without variants, or with different numbers of them", fix=fix)

    def __len__(self) -> int:
        return len(self.cases)

    @property
    def variants(self) -> int:
        """How many variants each original has."""
        return len(self.cases[0]) - 1


@checked
def read_robustness(path: str | Path) -> RobustnessCases:
    """Read a file such as RobustGEC's ``para.txt`` (Zhang et al. 2023).

    Blocks with empty lines between them: ``O-S`` and ``O-T`` before the original and its
    correction, then ``A1-S``, ``A1-T``, ``A2-S`` ... before the variants and theirs. Raises
    :class:`DataError`, with file and line, where a block has other lines than these, or than the
    first block has.
    """
    lines = read_lines(path)
    runs = groupby(range(len(lines)), key=lambda number: lines[number].strip() != "")
    blocks = [[*numbers] for filled, numbers in runs if filled]
    if not blocks:
        fix = "It needs blocks of lines 'O-S sentence', 'O-T correction', 'A1-S sentence' ..."
        raise DataError("there is no case", where=str(path), fix=fix)
    size = max(4, len(blocks[0]) + len(blocks[0]) % 2)
    names = ["O", *(f"A{number}" for number in range(1, size // 2))]
    labels = [f"{name}-{side}" for name in names for side in "ST"]
    cases: list[tuple[tuple[str, str], ...]] = []
    for block in blocks:
        texts: list[str] = []
        for number, label in zip_longest(block, labels, fillvalue=None):
            line = "" if number is None else lines[number].strip().replace("\t", " ", 1)
            begin, _, text = line.partition(" ")
            if begin != label:
                fault = f"{label or ''!r} is expected here, and the line begins {begin[:20]!r}"
                fix = "A case has O-S, O-T, A1-S, A1-T ... like the first; an empty line ends it."
                where = f"{path}:{(block[-1] + 1 if number is None else number) + 1}"
                raise DataError(fault, where=where, fix=fix)
            texts.append(text.strip())
        cases.append(tuple(zip(texts[::2], texts[1::2], strict=True)))
    return RobustnessCases(tuple(cases))
