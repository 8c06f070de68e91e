"""Values that pass between callers and the client: calls, replies, outcomes, estimates."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, cast

State = Literal["ok", "coerced", "reasked", "refused", "invalid", "error"]
"""How a call ended. ``ok``: the first reply was valid; ``coerced``: valid after tolerant reading;
``reasked``: a later reply was valid; the others have no scores."""

AttemptState = Literal["ok", "coerced", "refused", "invalid", "cut", "failed"]
"""Result of one request; ``cut``: the reply ended at its limit; ``failed``: no completion."""

ANSWERED: frozenset[State] = frozenset({"ok", "coerced", "reasked"})


def object_of(value: object) -> dict[str, Any]:
    """Return a parsed JSON value as an object; an empty one for any other value."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def json_object(text: str) -> dict[str, Any]:
    """Parse a JSON object; return an empty one for any other text."""
    try:
        return object_of(json.loads(text))
    except (ValueError, RecursionError):
        return {}


def error_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the error in a body; some servers send one with status 200."""
    error: Any = body.get("error")
    return object_of(error) or ({"message": str(error)} if error else {})


def has_message(body: Mapping[str, Any]) -> bool:
    """Whether a body is a chat completion."""
    try:
        return isinstance(body["choices"][0]["message"], dict)
    except (KeyError, IndexError, TypeError):
        return False


def finish_of(body: Mapping[str, Any]) -> str | None:
    """Return why a completion ended, ``None`` if unknown."""
    if not has_message(body):
        return None
    reason: Any = body["choices"][0].get("finish_reason")
    return reason[:40] if isinstance(reason, str) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One question to the model: score some targets."""

    prompt: str  # the whole message
    targets: int  # number of scores expected
    template: str  # id and hash of the prompt's template
    repeat: int = 0  # distinguishes repeated questions with equal words


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One reply to a call, usable or not; None stands for what the server does not report."""

    text: str
    scores: tuple[int, ...] | None  # in the order shown, 1 to 5; None: not usable
    attempt: int  # its number among the replies to the call, from 1
    tokens: tuple[int | None, int | None]  # of the prompt and of the reply
    seconds: float  # from the request to the reply
    finish: str | None  # why the reply ended, as the server names it


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of a call."""

    state: State
    scores: tuple[int, ...] | None = None  # one per target, 1 to 5, if the state is in ANSWERED
    reply: str = ""  # text of the last reply
    reason: str = ""  # why there are no scores, or what was tolerated
    attempts: int = 0  # requests sent, including those of earlier runs
    replies: tuple[Reply, ...] = ()  # all replies, in order


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What calls would cost.

    Attributes
    ----------
    calls, known
        Distinct calls; how many of them the cache answers.
    tokens_in, tokens_out
        Tokens of the calls that would be sent, without repetitions.
    cost
        In ``currency``; ``None`` if the price of the model is unknown.
    basis
        How tokens were counted.
    date
        Date of the price table, if it has one.
    """

    calls: int
    known: int
    tokens_in: int
    tokens_out: int
    cost: float | None
    currency: str
    basis: str
    date: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return ``{"kind": "estimate", ...}``."""
        fields = {name: value for name, value in asdict(self).items() if name != "date"}
        return {"kind": "estimate", **fields}
