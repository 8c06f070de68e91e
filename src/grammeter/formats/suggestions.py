"""What checkers suggest, from their own output: LanguageTool, Harper, Vale, reviewdog.

A checker names places in a raw text and what might stand there. LanguageTool counts places in
UTF-16 units and Harper in characters, from the beginning of the text that was sent: JSON lines
answer each line of the source, a single value the whole source with its line ends. Vale names lines
and characters from 1, the last one included; reviewdog (``rdjson``, ``rdjsonl``) lines and bytes of
UTF-8 from 1.
"""

import json
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

from grammeter import core
from grammeter.formats.text import read_text, split_lines

SuggestionForm = Literal["languagetool", "harper", "vale", "reviewdog"]
"""Checkers whose output is read."""

UNCORRECTED = "UNK"
"""ERRANT's type of an edit that says where, not what."""


class Suggestion(NamedTuple):
    """Characters ``start:end`` of a text, what may replace them, and the rule that says so."""

    start: int
    end: int
    texts: tuple[str, ...]
    rule: str

    def edit(self, line: str, best: int = 1) -> core.Edit:
        """Return the edit of a line's tokens, with the ``best`` first texts; ``UNK`` without any.

        A token that a text begins or ends within, or sticks to, is part of the edit.
        """
        before, after, old = line[: self.start], line[self.end :], line.split()
        new = [f"{before}{text}{after}".split() for text in self.texts[:best]]
        first, last = len(before.split()), len(after.split())
        while first and any(t[:first] != old[:first] for t in (*new, before.split())):
            first -= 1
        while last and any(t[-last:] != old[-last:] for t in (*new, after.split())):
            last -= 1
        end = len(old) - last
        if not new:
            return core.Edit(first, end, " ".join(old[first:end]), UNCORRECTED)
        text, *more = dict.fromkeys(" ".join(t[first : len(t) - last]) for t in new)
        return core.Edit(first, end, text, self.rule, tuple(more))


def read_suggestions(
    path: str | Path, lines: Sequence[str], form: SuggestionForm
) -> list[list[Suggestion]]:
    """Read what a checker said of some lines: a list for each, its places those of the line.

    A place that goes over a line end is cut there. Raises :class:`DataError`, with file and line,
    for another form, a place outside the text, or another number of answers than of lines.
    """
    where = str(path)
    answers = _answers(read_text(path), where, form)
    apart = len(answers) != 1 or len(lines) == 1
    if apart and len(answers) != len(lines):
        raise core.LengthMismatchError(where, len(answers), "source", len(lines))
    by_line: list[list[Suggestion]] = [[] for _ in lines]
    for number, answer in enumerate(answers):
        text = lines[number] if apart else "\n".join(lines)
        starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
        try:
            for start, end, texts, rule in _READERS[form](answer, text, starts):
                if not 0 <= start <= end <= len(text):
                    raise ValueError(f"characters {start} to {end} of {len(text)}")
                at = bisect_right(starts, start) - 1
                known = tuple(dict.fromkeys(t for t in texts if t != text[start:end]))
                last = min(end, starts[at + 1] - 1)
                one = Suggestion(start - starts[at], last - starts[at], known, rule)
                by_line[number if apart else at].append(one)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            fault = f"not what {form} writes of this text: {type(error).__name__}: {error}"
            fix = "Name the checker (--form), and the very text that it read (-s)."
            raise core.DataError(fault, where=f"{where}:{number + 1}", fix=fix) from None
    return by_line


def _answers(text: str, where: str, form: SuggestionForm) -> list[Any]:
    try:
        whole: Any = json.loads(text)
        return [[whole]] if form == "reviewdog" and "location" in whole else [whole]
    except (ValueError, RecursionError):
        pass
    answers: list[Any] = []
    for number, line in enumerate(split_lines(text), start=1):
        try:
            answers.append(json.loads(line))
        except (ValueError, RecursionError) as error:
            fix = "Write one answer of the checker for the whole text, or one a line."
            raise core.DataError(f"no JSON: {error}", where=f"{where}:{number}", fix=fix) from None
    return [answers] if form == "reviewdog" else answers


def _characters(data: bytes, end: int, encoding: str) -> int:
    """Return how many characters so many bytes are."""
    if not 0 <= end <= len(data):
        raise ValueError(f"byte {end} of {len(data)}")
    return len(data[:end].decode(encoding))


_Places = Iterator[tuple[int, int, Sequence[str], str]]  # start, end, texts, rule


def _languagetool(answer: Any, text: str, starts: Sequence[int]) -> _Places:
    units = text.encode("utf-16-le")
    for match in answer["matches"]:
        ends = match["offset"], match["offset"] + match["length"]
        start, end = (_characters(units, 2 * place, "utf-16-le") for place in ends)
        texts = [replacement["value"] for replacement in match["replacements"]]
        yield start, end, texts, match["rule"]["id"]


def _harper(answer: Any, text: str, starts: Sequence[int]) -> _Places:
    for lint in _lints(answer):
        start, end = lint["span"]["start"], lint["span"]["end"]
        texts: list[str] = []
        # "Remove", or {"ReplaceWith": letters}, {"InsertAfter": letters}
        for one in lint["suggestions"]:
            kind, letters = (one, "") if type(one) is str else next(iter(one.items()))
            texts.append(text[start:end] * (kind == "InsertAfter") + "".join(letters))
        yield start, end, texts, lint["lint_kind"]


def _lints(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the objects with a span, whatever lists and objects they stand in."""
    if isinstance(value, dict):
        known = cast("dict[str, Any]", value)
        yield from [known] if "span" in known else _lints(list(known.values()))
    elif isinstance(value, list):
        for part in cast("list[Any]", value):
            yield from _lints(part)


def _vale(answer: Any, text: str, starts: Sequence[int]) -> _Places:
    for alerts in answer.values():
        for alert in alerts:
            first, last = alert["Span"]
            number: int = alert["Line"]
            texts: Any = {"replace": alert["Action"]["Params"] or (), "remove": ("",)}
            of = texts.get(alert["Action"]["Name"], ())
            yield starts[number - 1] + first - 1, starts[number - 1] + last, of, alert["Check"]


def _reviewdog(answer: Any, text: str, starts: Sequence[int]) -> _Places:
    lines = text.split("\n")

    def place(of: Mapping[str, int], usual: int) -> int:
        line = lines[of["line"] - 1].encode()
        return starts[of["line"] - 1] + _characters(line, of.get("column", usual) - 1, "utf-8")

    for diagnostic in [*answer["diagnostics"]] if "diagnostics" in answer else [*answer]:
        usual = json.dumps(diagnostic["location"]["range"])
        texts: dict[str, list[str]] = {}
        for one in diagnostic.get("suggestions", ()):
            texts.setdefault(json.dumps(one.get("range")), []).append(one["text"])
        for written, of in (texts or {usual: []}).items():
            ends: dict[str, dict[str, int]] = json.loads(written) or json.loads(usual)
            start, end = ends["start"], ends.get("end", ends["start"])
            whole = len(lines[end["line"] - 1].encode()) + 1
            rule = diagnostic.get("code", {}).get("value") or diagnostic["message"]
            yield place(start, 1), place(end, whole), of, rule


_READERS: Mapping[str, Callable[[Any, str, Sequence[int]], _Places]] = {
    "languagetool": _languagetool, "harper": _harper, "vale": _vale, "reviewdog": _reviewdog,
}  # fmt: skip
