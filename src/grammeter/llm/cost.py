"""What calls cost: tokens, prices, the bill of a run."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from grammeter.core import DataError
from grammeter.llm.calls import State
from grammeter.version import __version__

BASIS = "4 characters a token in, 10 tokens a target out; hidden reasoning is not foreseen"

_MILLION = 1_000_000
_FRAME = 16
"""Tokens around a message at most."""

_DATED = re.compile(r"-\d{4}-\d{2}-\d{2}$")


@dataclass(frozen=True, slots=True)
class Price:
    """Of a million tokens, in some currency."""

    input: float
    output: float

    def of(self, tokens_in: int, tokens_out: int) -> float:
        """Return what these tokens cost."""
        return (tokens_in * self.input + tokens_out * self.output) / _MILLION


@dataclass(frozen=True, slots=True)
class Prices:
    """A table of prices: its currency, the price of each model, and of which day they are."""

    currency: str
    models: dict[str, Price]
    date: str | None = None

    def of(self, model: str) -> Price | None:
        """Return the price of a model; a dated name may go by its bare one."""
        return self.models.get(model) or self.models.get(_DATED.sub("", model))


_MOST = 2**24
"""Letters that are read: a device may never end."""


def read_prices(path: Path | None = None) -> Prices:
    """Read a table of prices, by default the one that ships.

    Raises
    ------
    DataError
        If it is not such a table.
    """
    shipped = files("grammeter.llm").joinpath("prices.json")
    try:
        with (path or shipped).open(encoding="utf-8-sig") as file:
            data: Any = json.loads(file.read(_MOST))
        models = {name: _price(row) for name, row in data["models"].items()}
        date = data.get("date")
        return Prices(str(data["currency"]), models, None if date is None else str(date))
    except OSError as error:
        told = f"it cannot be read: {error.strerror}"
    except KeyError as error:
        told = f"it lacks {error}"
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        told = str(error)
    raise DataError(
        f"no table of prices: {told}",
        where=str(path or "prices.json"),
        fix='Write {"currency": "USD", "models": {"NAME": {"input": 2.5, "output": 10}}},'
        " prices per million tokens.",
    )


def _price(row: Any) -> Price:
    price = Price(float(row["input"]), float(row["output"]))
    if not all(math.isfinite(value) and value >= 0 for value in (price.input, price.output)):
        raise ValueError(f"a price is {row}")
    return price


def guess_in(text: str) -> int:
    """Return about how many tokens a message takes."""
    return math.ceil(len(text) / 4)


def guess_out(targets: int) -> int:
    """Return about how many tokens a good reply takes."""
    return 4 + 10 * targets


def most_in(text: str) -> int:
    """Return a number of tokens that a message does not pass: a token has a byte at least."""
    return len(text.encode("utf-8")) + _FRAME


@dataclass(frozen=True, slots=True)
class Usage:
    """What a reply says it took; ``None``: it does not say.

    Attributes
    ----------
    tokens_in, tokens_out
        Of the prompt, and of all that was written for it, hidden reasoning with it.
    reasoning
        How many of ``tokens_out`` are hidden.
    """

    tokens_in: int | None = None
    tokens_out: int | None = None
    reasoning: int = 0

    @classmethod
    def of(cls, body: dict[str, Any]) -> Usage:
        """Read ``usage`` of a chat completion."""
        usage: Any = body.get("usage")
        if not isinstance(usage, dict):
            return cls()
        fields: dict[str, Any] = usage  # pyright: ignore[reportUnknownVariableType]
        asked, written, total = (
            _count(fields.get(name)) for name in ("prompt_tokens", "completion_tokens",
                                                  "total_tokens")
        )  # fmt: skip
        if asked is None or written is None:
            return cls()
        details: Any = fields.get("completion_tokens_details")
        hidden = _count(details.get("reasoning_tokens")) if isinstance(details, dict) else 0  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
        # some servers leave reasoning out of the second number, but not out of the total
        return cls(asked, max(written, (total or 0) - asked), hidden or 0)


def _count(value: object) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value < 1 << 53 else None


@dataclass
class Bill:
    """What a run has cost so far.

    Attributes
    ----------
    requests
        Sent, repetitions included.
    tokens_in, tokens_out
        As replies told, hidden reasoning included.
    reasoning
        How many of ``tokens_out`` were hidden.
    guessed
        Requests that may have been charged and told nothing: their tokens are counted as
        foreseen, those of a broken reply as the most that was allowed.
    spent
        The price of all that, in ``currency``.
    unpriced
        Requests to models without a price; ``spent`` lacks them.
    known
        Calls that the cache answered.
    states
        How calls ended, those from the cache included.
    concessions
        What endpoints did not take: fields of the request, forms of structured output.
    """

    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    reasoning: int = 0
    guessed: int = 0
    spent: float = 0.0
    unpriced: int = 0
    currency: str = ""
    known: int = 0
    states: Counter[State] = field(default_factory=Counter[State])
    concessions: set[str] = field(default_factory=set[str])

    @property
    def tokens(self) -> int:
        """All tokens, in and out."""
        return self.tokens_in + self.tokens_out

    @property
    def cost(self) -> float | None:
        """The price of everything; ``None`` if a price is not known."""
        return None if self.unpriced else self.spent

    def add(self, usage: Usage, price: Price | None, *, guess: tuple[int, int]) -> None:
        """Count the tokens of a request that was charged, or may have been."""
        told = usage.tokens_in is not None and usage.tokens_out is not None
        tokens_in = usage.tokens_in if usage.tokens_in is not None else guess[0]
        tokens_out = usage.tokens_out if usage.tokens_out is not None else guess[1]
        self.guessed += not told
        self.tokens_in += tokens_in
        self.tokens_out += tokens_out
        self.reasoning += usage.reasoning
        if price is None:
            self.unpriced += 1
        else:
            self.spent += price.of(tokens_in, tokens_out)

    def __str__(self) -> str:
        """Return one line for people."""
        parts = [f"{self.requests} requests", f"{self.tokens_in} tokens in",
                 f"{self.tokens_out} out"]  # fmt: skip
        if self.reasoning:
            parts[-1] += f" ({self.reasoning} of them hidden reasoning)"
        if self.guessed:
            parts.append(f"{self.guessed} requests told no usage and are guessed")
        if self.cost is not None:
            parts.append(f"{self.cost:.4f} {self.currency}".rstrip())
        elif self.spent:
            parts.append(f"more than {self.spent:.4f} {self.currency}: a price is not known")
        else:
            parts.append("price not known")
        return ", ".join(parts)

    def to_json(self) -> dict[str, Any]:
        """Return ``{"kind": "bill", ...}``."""
        return {
            "kind": "bill",
            "grammeter": __version__,
            "requests": self.requests,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "reasoning": self.reasoning,
            "guessed": self.guessed,
            "cost": self.cost,
            "currency": self.currency,
            "known": self.known,
            "states": dict(sorted(self.states.items())),
            "concessions": sorted(self.concessions),
        }
