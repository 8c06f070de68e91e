"""Items with a known answer: tutorial and attention items.

One JSON object a line::

    {"source": "He go home .", "outputs": ["He goes home .", "He go to home ."], "ranks": [1, 2],
     "explanation": "The verb agrees with its subject .", "loud": true, "before": "", "after": ""}

(on one line). ``ranks`` is a right answer; outputs with equal ranks here may be ranked in any way.
``task`` is the item's own task, default: that of the campaign; it is one whose answers are in an
order (``ranking``, ``edits``, ``best-worst``, ``direct``).
``explanation`` is shown after a wrong answer, in the tutorial after every answer. ``loud`` asks
again after a wrong answer; the default is true for tutorial items, false for attention items.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from grammeter import core, formats
from grammeter.campaign.tasks import Kind

LARGEST = 2**20  # most characters of a file
_TEXTS = ("source", "explanation", "before", "after", "task")
_FIX = 'Write {"source": "...", "outputs": ["...", "..."], "ranks": [1, 2]} on one line.'


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """An item with a known answer; see the module."""

    source: str
    outputs: tuple[str, ...]
    ranks: tuple[int, ...]
    explanation: str = ""
    loud: bool = False
    before: str = ""
    after: str = ""
    task: str = ""  # of the item; empty: that of the campaign


def read_checks(path: str | Path, kind: Kind) -> tuple[Check, ...]:
    """Read a file; see :func:`parse_checks`."""
    return parse_checks(formats.read_text(path), str(path), kind)


def parse_checks(text: str, where: str, kind: Kind) -> tuple[Check, ...]:
    """Read items with a known answer; ``where`` names them in messages."""
    if len(text) > LARGEST:
        fault = f"{len(text)} characters"
        raise core.DataError(fault, where=where, fix=f"Items with answers have {LARGEST}.")
    checks = list[Check]()
    for at, line in enumerate(formats.checked_lines(text, where), start=1):
        try:
            with formats.placed(f"{where}:{at}"):
                data = formats.parse_line(line, _FIX, [*Check.__dataclass_fields__])
            checks.append(_from_json(data, kind))
        except ValueError as error:
            raise core.DataError(str(error), where=f"{where}:{at}", fix=_FIX) from None
    return tuple(checks)


def _from_json(data: Mapping[str, Any], kind: Kind) -> Check:
    texts = {key: data.get(key, "") for key in _TEXTS}
    loud = data.get("loud", kind == Kind.TUTORIAL)
    if not all(isinstance(text, str) for text in texts.values()) or not texts["source"]:
        raise ValueError("source, explanation, before, after, task are texts, source not empty")
    if not isinstance(loud, bool):
        raise ValueError("loud is true or false")
    for key, of in (("outputs", str), ("ranks", int)):
        values: Any = data.get(key)
        if not isinstance(values, list) or not values:
            raise ValueError(f"{key} is a list with something in it")
        if {*map(type, cast("list[object]", values))} != {of}:
            raise ValueError(f"{key} holds something other than {of.__name__}")
    ranks, outputs = tuple(data["ranks"]), tuple(text.strip() for text in data["outputs"])
    if len(outputs) < 2 or len(set(outputs)) < len(outputs):
        raise ValueError("it takes two different outputs at least")
    if len(ranks) != len(outputs) or min(ranks) < 1 or len(set(ranks)) < 2:
        raise ValueError("each output has a rank from 1 on, and not all of them the same")
    return Check(**texts, outputs=outputs, ranks=ranks, loud=loud)
