"""What passes between those who ask and the client: calls, outcomes, estimates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

State = Literal["ok", "coerced", "reasked", "refused", "invalid", "error"]
"""How a call ended. ``ok``: at once and as wished; ``coerced``: read with tolerance;
``reasked``: after a repetition; the others brought no scores."""

ANSWERED: frozenset[State] = frozenset({"ok", "coerced", "reasked"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One question: score some targets.

    Attributes
    ----------
    prompt
        The whole message to the model.
    targets
        How many scores are due.
    template
        Id and hash of the prompt's template.
    repeat
        Tells repeated questions with equal words apart.
    """

    prompt: str
    targets: int
    template: str
    repeat: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One reply to a call, usable or not.

    Attributes
    ----------
    text
        What the model wrote.
    scores
        One for each target in the order shown, 1 to 5; ``None`` if the reply cannot be used.
    attempt
        Its number among the replies to the call, from 1.
    tokens
        Of the prompt and of the reply; ``None`` where the server does not say.
    seconds
        Until the reply was there.
    finish
        Why the reply ended, in the server's word; ``None`` if it does not say.
    """

    text: str
    scores: tuple[int, ...] | None
    attempt: int
    tokens: tuple[int | None, int | None]
    seconds: float
    finish: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a call.

    Attributes
    ----------
    state
        How it ended.
    scores
        One for each target, 1 to 5; ``None`` unless the state is one of ``ANSWERED``.
    reply
        The last raw text.
    reason
        Why there are no scores, or what was tolerated.
    attempts
        Requests that it took, those of earlier runs included.
    replies
        All replies to it, in order.
    """

    state: State
    scores: tuple[int, ...] | None = None
    reply: str = ""
    reason: str = ""
    attempts: int = 0
    replies: tuple[Reply, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What calls would cost.

    Attributes
    ----------
    calls, known
        Distinct calls; how many of them the cache answers.
    tokens_in, tokens_out
        Of the calls that would be sent, without repetitions.
    cost
        In ``currency``; ``None`` if the price of the model is not known.
    basis
        How tokens were counted.
    date
        Of the table of prices, if it has one.
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
        return {
            "kind": "estimate",
            "calls": self.calls,
            "known": self.known,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "cost": self.cost,
            "currency": self.currency,
            "basis": self.basis,
        }
