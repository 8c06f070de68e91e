"""What all verbs share: where results go, in which form, and what is said beside them."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

FORMATS = ("table", "json", "tsv", "latex", "markdown")


def add_output(
    parser: argparse.ArgumentParser,
    *,
    formats: Iterable[str] = FORMATS,
    file: str | None = "also write the result to a file, as JSON",
) -> None:
    """Add ``--format``, ``-o`` and ``--quiet``."""
    parser.add_argument(
        "--format", choices=list(formats), default=next(iter(formats)), help="default: %(default)s"
    )
    if file:
        parser.add_argument("-o", "--output", metavar="FILE", help=file)
    parser.add_argument("--quiet", action="store_true", help="no notices and no progress")


def print_json(data: Mapping[str, Any]) -> None:
    """Print one JSON object to standard output."""
    from grammeter.corpus.objects import object_text

    sys.stdout.write(object_text(data) + "\n")


def emit(args: argparse.Namespace, data: Mapping[str, Any], draw: Callable[[], str]) -> None:
    """Write the result to ``-o`` as JSON, and to standard output in the form asked for."""
    from grammeter.corpus.objects import write_object

    if args.output:
        write_object(data, args.output)
    if args.format == "json":
        print_json(data)
    else:
        sys.stdout.write(draw())


def notice(args: argparse.Namespace, text: str) -> None:
    """Say something on standard error, unless ``--quiet``."""
    if not args.quiet:
        from grammeter.report.tables import terminal

        print(f"note: {terminal(text)}", file=sys.stderr)


class Progress:
    """A progress line on standard error: only on a terminal, only for work of over a second."""

    def __init__(self, note: Callable[[], str] | None = None) -> None:
        self._note = note
        self._start = self._last = time.monotonic()
        self._label = ""
        self._shown = False

    def __call__(self, label: str, done: int, total: int) -> None:
        """Report that ``done`` of ``total`` items are finished."""
        now = time.monotonic()
        if label != self._label:
            self.clear()
            self._label, self._start = label, now
        if now - self._start < 1 or (now - self._last < 0.2 and done != total):
            return
        self._last, self._shown = now, True
        rate = done / (now - self._start)
        left = f", {(total - done) / rate:.0f} s left" if rate and total else ""
        of = f" of {total}" if total else ""
        note = f", {self._note()}" if self._note else ""
        sys.stderr.write(f"\r\x1b[K{label}: {done}{of} ({rate:.0f}/s{left}){note}")
        sys.stderr.flush()

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
        self._shown = False


def progress_wanted(args: argparse.Namespace) -> bool:
    """Whether to draw progress: not when quiet, piped, or on a dumb terminal."""
    return not args.quiet and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
