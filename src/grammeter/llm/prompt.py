"""What a judge is asked: prompts, the sets and orders of targets, and flags of suspicious texts."""

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Literal

import numpy as np

from grammeter.core import DataError, UsageError, expanded

Name = Literal["llm-s", "llm-e"]  # score sentences as they are, or with their edits marked

PROMPTS = ("paper", "hardened")
"""The words of the paper; ours, which quote the texts and say that they are data."""

CRITERIA: Mapping[Name, tuple[str, ...]] = {
    "llm-s": ("grammaticality", "fluency", "meaning"),
    "llm-e": ("difficulty", "impact"),
}
"""The qualities that the paper's judges look at."""

USUAL, MOST = 5, 20  # targets scored side by side: in the paper, and at most
_EXTENTS = ("one sentence", "two sentences", "three sentences")
_PLACES = ("only", "last", "middle")
_FIELDS = ("CRITERION", "EXTENT", "CONTEXT", "PREVIOUS", "SOURCE", "FOLLOWING", "TARGETS", "FORMAT")
_PLACE = re.compile(r"\{([A-Z]+)\}")


Context = tuple[str, str, str]  # the lines before, of and after a sentence


@dataclass(frozen=True, slots=True)
class Question:
    """Outputs of one sentence to compare with each other, and its context."""

    previous: str  # three lines of the learner's text; the first and the last may be empty
    source: str
    following: str
    targets: tuple[str, ...]  # outputs as they are, or with their edits marked

    @property
    def context(self) -> Context:
        """The three lines."""
        return self.previous, self.source, self.following


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """The words of questions.

    - ``criterion``: one of :data:`CRITERIA`, or a sentence that says what to look at.
    - ``prompt``: ``paper``, ``hardened``, or a file: text with ``{TARGETS}`` and, if wanted,
      ``{CONTEXT}`` (or ``{PREVIOUS}``, ``{SOURCE}``, ``{FOLLOWING}``), ``{CRITERION}``,
      ``{FORMAT}`` (the form of the reply) and ``{EXTENT}`` ("three sentences").
    - ``numbered``: write ``1.`` and so on before targets; by default not in the paper's prompt,
      as printed.
    - ``context``: how many sentences around the source are shown: 0, 1 (the one before) or 2.

    Raises :class:`UsageError` if the criterion belongs to the other name, and :class:`DataError` if
    the file is no template.
    """

    name: Name
    criterion: str | None = None
    prompt: str = "paper"
    numbered: bool | None = None
    context: int = 2

    def __post_init__(self) -> None:
        known = CRITERIA[self.name]
        if not (self.criterion is None or self.criterion in known or " " in self.criterion):
            fix = f"{self.name} knows {', '.join(known)}; or none; or write a sentence."
            raise UsageError(f"{self.name}: criterion={self.criterion} is not possible", fix=fix)
        if "{CRITERION}" not in self._words and self.criterion is not None:
            raise UsageError(f"{self.prompt}: no place for a criterion", fix="Write {CRITERION}.")

    def render(self, question: Question) -> str:
        """Return the whole prompt; texts that look like a place are not replaced.

        Raises :class:`DataError` if a text has a line break: the rest of it could look like a part
        of the prompt; :class:`UsageError` if there are no targets, too many, or equal ones.
        """
        targets = question.targets
        if not 1 <= len(set(targets)) == len(targets) <= MOST:
            fault = f"{len(targets)} targets, {len(set(targets))} of them distinct"
            raise UsageError(fault, fix=f"Ask for 1 to {MOST} distinct ones at a time.")
        for text in (*question.context, *targets):
            if "\n" in text or "\r" in text:
                fix = "One sentence is one line."
                raise DataError(f"a sentence holds a line end: {text[:40]!r}", fix=fix)
        lines = [*map(self._shown, targets)]
        if self._numbers:
            lines = [f"{number}. {text}" for number, text in enumerate(lines, start=1)]
        return self._filled(tuple(map(self._shown, question.context)), lines)

    @property
    def template(self) -> str:
        """Id and hash of the words: ``paper-llm-s-fluency-1f2e3d4c5b6a``."""
        words = self._filled(("", "", ""), ["{TARGET}", "{TARGET}"])
        numbers = "" if self._numbers else "unnumbered"
        context = "" if self.context == 2 else f"context{self.context}"
        parts = (self.name, (self.criterion or "").replace(" ", "-")[:20], numbers, context)
        digest = hashlib.sha256(f"{words}\n{self._numbers}".encode()).hexdigest()[:12]
        return "-".join(filter(None, (Path(self.prompt).stem, *parts, digest)))

    @property
    def _numbers(self) -> bool:
        return self.prompt != "paper" if self.numbered is None else self.numbered

    @property
    def _words(self) -> str:
        own = self.prompt not in PROMPTS
        return _own(self.prompt) if own else _file(f"prompts/{self.prompt}-{self.name}.txt")

    def _shown(self, text: str) -> str:
        return json.dumps(text, ensure_ascii=False) if self.prompt == "hardened" else text

    def _filled(self, context: tuple[str, ...], targets: list[str]) -> str:
        count = len(targets)
        lines: list[str] = []
        for line in _file("prompts/output-format.txt").split("\n"):
            wanted = range(1, count + 1) if "{N}" in line else range(1)
            lines += [line.replace("{N}", str(number)) for number in wanted]
        rows = (line.split(": ", 1) for line in _file("prompts/criteria.txt").split("\n"))
        sentences = {name: text.replace("{PLACE}", _PLACES[self.context]) for name, text in rows}
        criterion = sentences.get(self.criterion or "", self.criterion)
        values = {
            "CRITERION": f"{criterion}\n" if criterion else "",
            "EXTENT": _EXTENTS[self.context],
            "CONTEXT": "\n".join(context[self.context == 0 : 1 + max(self.context, 1)]),
            **dict(zip(("PREVIOUS", "SOURCE", "FOLLOWING"), context, strict=True)),
            "TARGETS": "\n".join(targets),
            "FORMAT": "\n".join(lines),
        }
        return _PLACE.sub(lambda place: values[place[1]], self._words)


@cache
def _own(path: str) -> str:
    fix = f"Write the prompt as text with {', '.join(f'{{{field}}}' for field in _FIELDS)}."
    try:
        words = expanded(path).read_text(encoding="utf-8-sig").removesuffix("\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = f"no prompt: {error}; ours are {' and '.join(PROMPTS)}"
        raise DataError(reason, where=path, fix=fix) from None
    for number, line in enumerate(words.split("\n"), start=1):
        for name in _PLACE.findall(line):
            if name not in _FIELDS:
                raise DataError(f"nothing is called {{{name}}}", where=f"{path}:{number}", fix=fix)
    if "{TARGETS}" not in words:
        raise DataError("the targets have no place", where=path, fix="Write {TARGETS}.")
    return words


@cache
def _file(name: str) -> str:
    return files("grammeter.llm").joinpath(name).read_text(encoding="utf-8").removesuffix("\n")


def draw_sets(
    source: str, outputs: Sequence[str], *, times: int, seed: int, size: int = USUAL
) -> list[list[str]]:
    """Draw sets of at most ``size`` outputs, so that each is in at least ``times`` of them.

    Up to ``size`` outputs stand together in every set, in different orders while there are any
    left. More are shuffled and cut into sets, ``times`` times; outputs that have already been shown
    fill up the last set. ``source``: the sentence that they correct. ``outputs``: distinct texts,
    in any order. ``times``, ``seed``: 1 or more; 0 or more.
    """
    if times < 1 or seed < 0:
        fix = "Judge each once at least; seed >= 0."
        raise UsageError(f"each output {times} times, seed {seed}", fix=fix)
    if not outputs:
        return []
    sets: list[list[str]] = []
    for order in _orders(len(outputs), times, _random(seed, "sets", source, *sorted(outputs))):
        texts = [sorted(outputs)[place] for place in order]
        parts = [texts[start : start + size] for start in range(0, len(texts), size)]
        if len(parts) > 1:
            parts[-1] += texts[: size - len(parts[-1])]
        sets += parts
    return sets


def reorder(
    source: str, targets: Sequence[str], *, orders: int, seed: int, shuffle: bool = False
) -> list[list[int]]:
    """Return different orders of targets, the first as they are unless ``shuffle``."""
    known = [] if shuffle else [list(range(len(targets)))]
    if orders == len(known):  # nothing is drawn
        return known
    random = _random(seed, "orders", source, *targets)
    return known + _orders(len(targets), orders - len(known), random, known)


def _orders(
    size: int, count: int, random: np.random.Generator, known: Sequence[list[int]] = ()
) -> list[list[int]]:
    """Shuffle places ``count`` times; repeat an order only after all have been drawn."""
    seen = list(known)
    orders: list[list[int]] = []
    while len(orders) < count:
        if len(seen) >= math.factorial(size):
            seen = []
        order: list[int] = random.permutation(size).tolist()
        if order not in seen:
            seen.append(order)
            orders.append(order)
    return orders


def _random(seed: int, *texts: str) -> np.random.Generator:
    digest = hashlib.sha256("\0".join(texts).encode()).digest()
    return np.random.Generator(np.random.PCG64([seed, int.from_bytes(digest[:8], "big")]))


@lru_cache(maxsize=4096)
def suspicious(text: str) -> str | None:
    """Return the words for which a sentence is flagged, ``None`` if there are none.

    It is flagged for orders to ignore the task, requests for scores, parts of a prompt or reply.
    """
    patterns = _file("suspicious.txt").split("\n")
    matches = (re.search(pattern, text, re.IGNORECASE) for pattern in patterns)
    return next((match[0] for match in matches if match), None)
