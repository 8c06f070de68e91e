"""Read a chat completion: its text, refusal, finish reason and scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from grammeter.llm.calls import AttemptState, finish_of, object_of
from grammeter.llm.reader import read


@dataclass(frozen=True, slots=True)
class Completion:
    """The content of a chat completion."""

    came: AttemptState  # "cut" if the reply ended at its limit, whatever it contains
    text: str
    scores: tuple[int, ...] | None = None  # one per target
    reason: str = ""  # why there are no scores, or what was tolerated


def completion(body: Mapping[str, Any], targets: int) -> Completion:
    """Read the first choice of a chat completion that has a message; expect ``targets`` scores."""
    message: Mapping[str, Any] = body["choices"][0]["message"]
    text, refusal = _text(message.get("content")), _text(message.get("refusal"))
    if refusal.strip():
        return Completion("refused", refusal, reason="the model refused")
    match finish_of(body):
        case "content_filter":
            return Completion("refused", text, reason="the provider's filter stopped the reply")
        case "length":
            return Completion("cut", text, reason="the reply was cut at its limit (max_output)")
        case _:
            reading = read(text, targets)
    if reading.scores is None:
        return Completion("invalid", text, reason=reading.reason)
    return Completion("coerced" if reading.coerced else "ok", text, reading.scores, reading.reason)


def name_of(body: Mapping[str, Any], field: str) -> str | None:
    """Return a short text field of a body, such as the model's name or the fingerprint."""
    value = body.get(field)
    return _text(value)[:200] if isinstance(value, str) else None


def _text(content: object) -> str:
    """Return a text that can be encoded; some servers send a list of parts."""
    if isinstance(content, list):
        texts = [object_of(part).get("text") for part in cast("list[Any]", content)]
        content = "".join(text for text in texts if isinstance(text, str))
    return content.encode("utf-8", "replace").decode() if isinstance(content, str) else ""
