"""A chat completion and what it says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from grammeter.llm.attempts import AttemptState
from grammeter.llm.faults import finish_of
from grammeter.llm.reader import read

_FILTERED = "content_filter"
_CUT = "length"


@dataclass(frozen=True, slots=True)
class Completion:
    """What came of a request that brought a completion.

    Attributes
    ----------
    came
        ``cut`` if the reply ended at its limit, whatever can be read in it.
    text
        The reply.
    scores
        One for each target, or ``None``.
    reason
        Why there are no scores, or what was tolerated.
    """

    came: AttemptState
    text: str
    scores: tuple[int, ...] | None = None
    reason: str = ""


def completion(body: Mapping[str, Any], targets: int) -> Completion:
    """Read the first choice of a chat completion.

    Parameters
    ----------
    body
        It has a choice with a message.
    targets
        How many scores are due.
    """
    choice: Mapping[str, Any] = body["choices"][0]
    message: Mapping[str, Any] = choice["message"]
    text, refusal = _text(message.get("content")), _text(message.get("refusal"))
    finish = finish_of(body)
    if refusal.strip():
        return Completion("refused", refusal, reason="the model refused")
    if finish == _FILTERED:
        return Completion("refused", text, reason="the provider's filter stopped the reply")
    if finish == _CUT:
        return Completion("cut", text, reason="the reply was cut at its limit (max_output)")
    reading = read(text, targets)
    if reading.scores is None:
        return Completion("invalid", text, reason=reading.reason)
    came: AttemptState = "coerced" if reading.coerced else "ok"
    return Completion(came, text, reading.scores, reading.reason)


def name_of(body: Mapping[str, Any], field: str) -> str | None:
    """Return a short text that a body has at its top: the model's name, the fingerprint."""
    value = body.get(field)
    return _text(value)[:200] if isinstance(value, str) else None


def _text(content: object) -> str:
    """Return a text that can be written; some servers send it in parts."""
    if isinstance(content, list):
        parts = cast(list[Any], content)
        content = "".join(
            cast(dict[str, Any], part)["text"]
            for part in parts
            if isinstance(part, dict) and isinstance(cast(dict[str, Any], part).get("text"), str)
        )
    return content.encode("utf-8", "replace").decode() if isinstance(content, str) else ""
