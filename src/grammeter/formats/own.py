"""References of a system's own, such as post-edits of its outputs: which files have them."""

from collections.abc import Iterator, Sequence
from glob import escape, glob
from pathlib import Path

from grammeter import core
from grammeter.formats import rating_files
from grammeter.formats.opened import PathLike
from grammeter.formats.text import STDIN

MARK = "{system}"


def is_ratings(path: PathLike) -> bool:
    """Whether a file of references has the name of JSON: ratings with the judges' corrections."""
    return str(path).removesuffix(".gz").endswith(".json")


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
    if STDIN in map(str, references):
        fix = "Give shared references as a file beside those of each system."
        raise core.UsageError("standard input is read once for each system", fix=fix)
    for name in systems:
        for path in marked:
            if not Path(file := str(path).replace(MARK, name)).is_file():
                fault = f"the system {name} has no references of its own: there is no such file"
                raise core.DataError(fault, where=file, fix=f"Write it, or leave {name} out.")
    return {n: [str(path).replace(MARK, n) for path in references] for n in systems}


def strangers(references: Sequence[PathLike], systems: Sequence[str]) -> Iterator[str]:
    """Yield notices of files that would be references of a system that is not here."""
    for path in references:
        used = {Path(str(path).replace(MARK, name)) for name in systems}
        files = glob(escape(str(path)).replace(MARK, "*")) if MARK in str(path) else []
        others = sorted(file for file in files if Path(file) not in used and Path(file).is_file())
        if others:
            yield f"no system has the references {core.listed(others)}; they are not read"


_OF_RATINGS = (
    "Give {'data': [{'systems': {NAME: {'output': TEXT, 'annotators': {JUDGE: {'corrected': TEXT}}}"
    "}}]}, with the names of --hyps; or texts, or M2."
)


def corrected(
    text: str, where: str, system: str, outputs: Sequence[str]
) -> tuple[list[list[str | None]], list[str]]:
    """Read ratings of Östling et al. (2024): a reference by judge, and notes.

    White space is folded to single spaces; ``None`` where a judge corrected nothing.
    """
    found = rating_files.annotated(text, where, _OF_RATINGS)
    judges = dict.fromkeys(name for of in found for name in of.judges)
    ours = {of.number: of for of in found if of.system == system}
    rows: list[dict[str, str]] = []
    others = 0
    for number in range(1, max((of.number for of in found), default=0) + 1):
        if number not in ours:
            fault = f"no ratings with corrections of {system}"
            raise core.DataError(fault, where=f"{where}:sentence {number}", fix=_OF_RATINGS)
        of = ours[number]
        others += [_folded(of.text)] != [*map(_folded, outputs[number - 1 : number])]
        texts = {name: said.get("corrected") for name, said in of.judges.items()}
        rows.append({name: _folded(str(text)) for name, text in texts.items() if text is not None})
    if not any(rows):
        fault = f"no judge corrected an output of {system}"
        raise core.DataError(fault, where=where, fix=_OF_RATINGS)
    said = f"{where}: {others} outputs of {system} are not those that the judges corrected"
    return [[row.get(name) for row in rows] for name in judges], [said] if others else []


def _folded(text: str) -> str:
    return " ".join(text.split())
