"""The sentences of a report as compact JSON, in pieces that a page reads when it needs them.

Nothing is repeated: edits are written once per sentence, types and systems by number; a text that
follows from the source and its edits is left out. ``templates/data.js`` reads the pieces.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from grammeter.rendering.page import Browser, DrawnEdit, PageSentence

Json = str | int | float | None | list["Json"] | dict[str, "Json"]

PIECE = 200
"""Number of sentences in a piece."""

VERDICTS = (None, "matched", "spurious", "missed")
_LEAST_DIGITS, _MOST_DIGITS = 4, 9
_MARKUP = re.compile("[<>&\u2028\u2029\ud800-\udfff]")

Key = tuple[int, int, str, str]


def packed(browser: Browser) -> Iterator[str]:
    """Return the head, then the sentences, :data:`PIECE` at a time.

    The head is what the page needs before it shows the first sentence; its ``metrics`` have
    name, whether higher is better, and the decimals of the values; its ``types`` have name and
    number of sentences. A sentence is ``[source, references, edits, outputs]``; an edit
    ``[start, end, correction, type]``; an output ``[systems, marks, values]`` and, unless its
    edits make it out of the source, its text. A mark is four times the place of the edit and
    the place of its verdict in :data:`VERDICTS`; a value is a whole number of its last decimal.
    White space in a source, and in a text that is not written, counts as single spaces.
    """
    digits, types = _digits(browser), _types(browser)
    yield script_json(
        {
            "systems": list(browser.systems),
            "metrics": [
                [name, int(higher), places]
                for (name, higher), places in zip(browser.metrics, digits, strict=True)
            ],
            "types": [[name, number] for name, number in types.items()],
            "judgedBy": browser.judged_by,
            "count": len(browser.sentences),
            "piece": PIECE,
        }
    )
    numbers = {name: place for place, name in enumerate(types)}
    for first in range(0, len(browser.sentences), PIECE):
        piece = browser.sentences[first : first + PIECE]
        yield script_json([_sentence(sentence, numbers, digits) for sentence in piece])


def script_json(value: Json) -> str:
    r"""Write JSON that may stand in a ``script`` element: ``<`` as ``\u003c`` and so on."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _MARKUP.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _sentence(sentence: PageSentence, numbers: dict[str, int], digits: Sequence[int]) -> Json:
    words = sentence.source.split()
    edits = {_key(edit): None for output in sentence.outputs for edit in output.edits}
    places = {key: place for place, key in enumerate(edits)}
    return [
        " ".join(words),
        list(sentence.references),
        [[start, end, text, numbers[kind]] for start, end, text, kind in edits],
        _outputs(sentence, words, places, digits),
    ]


def _outputs(
    sentence: PageSentence, words: Sequence[str], places: dict[Key, int], digits: Sequence[int]
) -> Json:
    """Write the outputs; outputs that differ only in white space are one."""
    systems_of: dict[tuple[tuple[Json, ...], ...], list[Json]] = {}
    for output in sentence.outputs:
        marks = (4 * places[_key(edit)] + VERDICTS.index(edit.verdict) for edit in output.edits)
        values = (_whole(*pair) for pair in zip(output.values, digits, strict=True))
        own = () if _corrected(words, output.edits) == output.text.split() else (output.text,)
        systems_of.setdefault((tuple(marks), tuple(values), own), []).extend(output.systems)
    commonest = sorted(systems_of.items(), key=lambda pair: -len(pair[1]))
    return [[systems, list(marks), list(vs), *own] for (marks, vs, own), systems in commonest]


def _corrected(words: Sequence[str], edits: Iterable[DrawnEdit]) -> list[str] | None:
    """Apply the edits of the output, as the page does; ``None`` if they overlap."""
    done, made = 0, list[str]()
    for edit in edits:
        if edit.verdict == "missed":
            continue
        if not done <= edit.start <= edit.end <= len(words):
            return None
        made += [*words[done : edit.start], *edit.correction.split()]
        done = edit.end
    return [*made, *words[done:]]


def _key(edit: DrawnEdit) -> Key:
    return edit.start, edit.end, edit.correction, edit.type


def _types(browser: Browser) -> dict[str, int]:
    """Return the number of sentences with each type, by name."""
    counts = Counter(
        kind
        for sentence in browser.sentences
        for kind in {edit.type for output in sentence.outputs for edit in output.edits}
    )
    return {name: counts[name] for name in sorted(counts)}


def _digits(browser: Browser) -> list[int]:
    """Return the decimals of each metric: four, or more if all its values are small."""
    sizes = [0.0] * len(browser.metrics)
    for sentence in browser.sentences:
        for output in sentence.outputs:
            for place, value in enumerate(output.values):
                if math.isfinite(value):
                    sizes[place] = max(sizes[place], abs(value))
    return [_places(size) for size in sizes]


def _places(size: float) -> int:
    wanted = 3 - math.floor(math.log10(size)) if size > 0 else 0
    return min(max(wanted, _LEAST_DIGITS), _MOST_DIGITS)


def _whole(value: float, digits: int) -> Json:
    """Round once: the page shows and sorts by the number that ``format_number`` writes."""
    if math.isnan(value):
        return None
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return int(f"{value:.{digits}f}".replace(".", ""))
