"""What all verbs share: where results go, in which form, and what is said beside them."""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

from grammeter import core

FORMATS = ("table", "json", "tsv", "latex", "markdown")
TSV_DIGITS = 6  # decimals in tables for programs, unless others are asked for

_COLOURS = {
    r"^.*(?=\n *-[- ]*-$)": 1,  # bold: the heading above a line of dashes
    r"^ *\+ matched .*|\[\+ .*?\]": 32,  # green
    r"^ *- spurious .*|\[- .*?\]": 31,  # red
    r"^ *\? missed .*|\[\? .*?\]": 33,  # yellow
}

TABLES = (".tex", ".tsv", ".csv", ".md", ".txt")
"""Names of files that look as if a table stood in them."""


def add_output(
    parser: Any, *, formats: Iterable[str] = FORMATS,
    file: str | bool = "also write the result to a file, as JSON",
) -> None:  # fmt: skip
    """Add ``--format``, ``-o`` and ``--quiet``."""
    parser.add_argument(
        "--format", choices=list(formats), default=next(iter(formats)), help="default: %(default)s"
    )
    if file:
        parser.add_argument("-o", "--output", metavar="FILE", help=file)
    parser.add_argument("--quiet", action="store_true", help="no notices and no progress")


def add_numbers(
    parser: Any, *, usual: int = 4, tsv: int = TSV_DIGITS, percent: bool = True
) -> None:
    """Add ``--digits`` (by default ``usual``, in TSV ``tsv``) and ``--percent``."""
    if percent:
        parser.add_argument("--percent", action="store_true", help="multiply by 100 in print")
    fewer = "; two fewer with --percent" if percent else ""
    digits = f"{usual}" if tsv == usual else f"{usual}, in TSV {tsv}"
    help = f"decimals, default: {digits}{fewer}"
    parser.add_argument("--digits", type=int, choices=range(18), metavar="N", help=help)


def style(args: argparse.Namespace) -> core.Style:
    """Return how numbers are to be printed."""
    digits, percent = getattr(args, "digits", None), getattr(args, "percent", False)
    return core.Style(args.format, digits, percent, core.terminal_width())


def put(path: str | None, text: str) -> None:
    """Write a text to a file, or to standard output where there is none, or ``-``."""
    from grammeter.formats import STDIN, write_text

    if path in (None, STDIN):
        sys.stdout.write(text)
    else:
        write_text(path, text)


def print_json(data: Mapping[str, Any]) -> None:
    """Print one JSON object to standard output."""
    from grammeter.formats import object_text

    sys.stdout.write(object_text(core.stamped(data)) + "\n")


def emit(args: argparse.Namespace, result: core.Result, **options: Any) -> None:
    """Write a result to ``-o`` as JSON, and print it; ``options`` are those of its ``tables``."""
    emit_data(args, result.to_dict(), lambda: result.write(style(args), **options))


def print_result(args: argparse.Namespace, result: core.Result, **options: Any) -> None:
    """Write a result to standard output alone, where ``-o`` has another meaning."""
    _print(args, core.stamped(result.to_dict()), lambda: result.write(style(args), **options))


def emit_data(args: argparse.Namespace, data: Mapping[str, Any], draw: Callable[[], str]) -> None:
    """Write plain values to ``-o`` as JSON, and to standard output as JSON or as drawn."""
    from grammeter.formats import write_object

    data = core.stamped(data)
    if output := getattr(args, "output", None):
        write_object(data, output)
        if str(output).endswith(TABLES):
            notice(args, f"{output}: this is JSON, as -o writes it; for a table: > FILE")
    _print(args, data, draw)


def _print(args: argparse.Namespace, data: Mapping[str, Any], draw: Callable[[], str]) -> None:
    """Print JSON, or a drawing with notes below, ``--quiet`` or not; TSV's go to standard error."""
    if args.format == "json":
        print_json(data)
        return
    sys.stdout.write(painted(draw()) if args.format == "table" else draw())
    if args.format == "tsv":
        remark(data["notes"])
    else:
        sys.stdout.write(core.write_notes(data["notes"], args.format, core.terminal_width()))


def painted(text: str) -> str:
    """Colour headings and the verdicts on edits, if standard output is a terminal that shows it.

    ``NO_COLOR`` in the environment says no (no-color.org).
    """
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    for pattern, code in _COLOURS.items():
        text = re.sub(pattern, f"\x1b[{code}m\\g<0>\x1b[0m", text, flags=re.MULTILINE)
    return text


def remark(notes: Iterable[str]) -> None:
    """Print the notes of a result that has no room for them to standard error, always."""
    for note in notes:
        print(f"note: {core.terminal(note)}", file=sys.stderr)


def notice(args: argparse.Namespace, text: str) -> None:
    """Say something on standard error, unless ``--quiet``."""
    if not args.quiet:
        remark([text])


class Progress:
    """A progress line on standard error after a second; ``logged``: a line a minute to a file."""

    EVERY = 60.0  # seconds, where it is logged

    def __init__(self, note: Callable[[], str] | None = None, *, logged: bool = False) -> None:
        self._note, self._logged = note, logged
        self._start = self._last = time.monotonic()
        self._label = ""
        self._shown = False

    def __call__(self, label: str, done: int, total: int) -> None:
        """Report that ``done`` of ``total`` items are finished."""
        now = time.monotonic()
        if label != self._label:
            self.clear()
            self._label, self._start = label, now
        if self._logged and now - self._last >= self.EVERY and now != self._start:
            self._last = now
            print(self._line(done, total, now), file=sys.stderr, flush=True)
        if self._logged or now - self._start < 1 or (now - self._last < 0.2 and done != total):
            return
        self._last, self._shown = now, True
        sys.stderr.write(f"\r\x1b[K{self._line(done, total, now)}")
        sys.stderr.flush()

    def _line(self, done: int, total: int, now: float) -> str:
        rate = done / (now - self._start)
        left = f", {_span((total - done) / rate)} left" if rate and total else ""
        of = f" of {total}" if total else ""
        note = f", {self._note()}" if self._note else ""
        return f"{self._label}: {done}{of} ({rate:.0f}/s{left}){note}"

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
        self._shown = False


def _span(seconds: float) -> str:
    if seconds < 600:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


@contextmanager
def progress(
    args: argparse.Namespace, note: Callable[[], str] | None = None
) -> Generator[Progress, None, None]:
    """Show the progress of the work inside, where it is wanted; the line goes with it."""
    shown = Progress(note, logged=not progress_wanted(args))
    try:
        with nullcontext() if args.quiet else core.reporting(shown):
            yield shown
    finally:
        shown.clear()


def teller(args: argparse.Namespace, shown: Progress) -> Callable[[str], None]:
    """Return what says messages of trainings, and takes away the progress line before."""

    def tell(text: str) -> None:
        shown.clear()
        notice(args, text)

    return tell


def progress_wanted(args: argparse.Namespace) -> bool:
    """Whether to draw progress: not when quiet, piped (a line a minute), or on a dumb terminal."""
    return not args.quiet and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
