"""A scoring program for Codabench: ``python -m grammeter.adapters.codabench INPUT OUTPUT``.

``INPUT`` is Codabench's input folder: ``INPUT/ref`` holds ``source.txt`` and either ``gold.m2`` or
``reference*.txt``, ``INPUT/res`` the one submitted file. ``OUTPUT/scores.json`` gets a number under
each metric's spelling.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from grammeter import formats, verbs
from grammeter.core import DataError, GrammeterError, disk_faults, json_number

SOURCE = "source.txt"


def score_submission(
    folder: str | Path, output: str | Path, metrics: Sequence[str], *, percent: bool = False
) -> dict[str, float | None]:
    """Score the submission of a Codabench folder and write ``scores.json``.

    ``folder``, ``output``: the folder with ``ref`` and ``res`` inside; the one where
    ``scores.json`` goes. ``metrics``: spellings. ``percent``: multiply scores by 100. Raises
    :class:`DataError` if ``ref`` lacks its files, ``res`` holds not one file, or one of another
    length, or the output cannot be written.
    """
    reference, submitted = Path(folder) / "ref", Path(folder) / "res"
    if not (source := reference / SOURCE).is_file():
        raise DataError("there is no such file", where=str(source), fix="Add it to the bundle.")
    systems = {"submission": _only_file(submitted)}
    corpus = formats.read_corpus(source=source, references=_references(reference), systems=systems)
    table = verbs.score(corpus, metrics)
    values = {name: json_number(column["submission"].value) for name, column in table.items()}
    if percent:
        values = {name: None if value is None else value * 100 for name, value in values.items()}
    with disk_faults(Path(output), "Name another folder."):
        Path(output).mkdir(parents=True, exist_ok=True)
    formats.write_object(values, Path(output) / "scores.json")
    return values


def main(argv: Sequence[str] | None = None) -> int:
    """Run the scoring program; an error is written to standard error and ends it."""
    parser = argparse.ArgumentParser(prog="grammeter.adapters.codabench", description=__doc__)
    parser.add_argument("input")
    parser.add_argument("output")
    parser.add_argument("-m", "--metrics", nargs="+", default=["m2"], metavar="METRIC")
    parser.add_argument("--percent", action="store_true")
    args = parser.parse_args(argv)
    try:
        score_submission(args.input, args.output, args.metrics, percent=args.percent)
    except GrammeterError as error:
        parser.exit(error.exit_code, f"{error}\n")  # to the log that the submitter sees
    return 0


def _references(folder: Path) -> list[Path]:
    paths = [*sorted(folder.glob("*.m2")), *sorted(folder.glob("reference*.txt"))]
    if not paths:
        fix = "Add them to the reference data of the bundle."
        raise DataError("neither gold.m2 nor reference*.txt is there", where=str(folder), fix=fix)
    return paths


def _only_file(folder: Path) -> Path:
    # hidden files and metadata come from the packer or from Codabench, not from the submitter
    foreign = ("metadata", "metadata.yaml")
    files = [p for p in sorted(folder.rglob("*")) if p.is_file()]
    files = [p for p in files if not p.name.startswith(".") and p.name not in foreign]
    if len(files) != 1:
        fault = f"{len(files)} files where one submission belongs"
        fix = "Submit a zip with one text file, one corrected sentence a line."
        raise DataError(fault, where=str(folder), fix=fix)
    return files[0]


if __name__ == "__main__":
    raise SystemExit(main())
