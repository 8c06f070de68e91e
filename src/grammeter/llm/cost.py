"""What calls cost: prices, guesses of tokens, and the bill of a run."""

import json
import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from grammeter import core, version
from grammeter.llm.reply import State, object_of

BASIS = "4 characters a token in, 10 tokens a target out; hidden reasoning is not foreseen"
_MILLION = 1_000_000
_FRAME = 16  # maximum number of tokens around a message
_DATED = re.compile(r"-\d{4}-\d{2}-\d{2}$")


@dataclass(frozen=True, slots=True)
class Price:
    """Price of a million tokens, in some currency."""

    input: float
    output: float

    def __post_init__(self) -> None:
        if not all(math.isfinite(price) and price >= 0 for price in (self.input, self.output)):
            raise ValueError(f"a price is {self.input}, {self.output}")

    def of(self, tokens_in: int, tokens_out: int) -> float:
        """Return the cost of tokens."""
        return (tokens_in * self.input + tokens_out * self.output) / _MILLION


@dataclass(frozen=True, slots=True)
class Prices:
    """A price table: its currency, the price of each model, and its date."""

    currency: str
    models: dict[str, Price]
    date: str | None = None

    def of(self, model: str, *, free: bool = False) -> Price | None:
        """Return the price of a model; a name with a date falls back to the name without it."""
        if free:
            return Price(0, 0)
        return self.models.get(model) or self.models.get(_DATED.sub("", model))


_MOST = 2**24  # characters read at most: a device file may never end


def read_prices(path: str | Path | None = None) -> Prices:
    """Read a table of prices, by default the one that ships."""
    shipped = files("grammeter.llm").joinpath("prices.json")
    try:
        with (Path(path) if path else shipped).open(encoding="utf-8-sig") as file:
            data: Any = json.loads(file.read(_MOST))
        rows = data["models"].items()
        models = {name: Price(float(of["input"]), float(of["output"])) for name, of in rows}
        date = data.get("date")
        return Prices(str(data["currency"]), models, None if date is None else str(date))
    except (OSError, LookupError, ValueError, TypeError, AttributeError, OverflowError,
            RecursionError) as error:  # fmt: skip
        reason = core.words_of(error)
    fix = 'Write {"currency": "USD", "models": {"NAME": {"input": 2.5, "output": 10}}},'
    fix += " prices per million tokens."
    raise core.DataError(f"no table of prices: {reason}", where=str(path or "prices.json"), fix=fix)


def guess_in(text: str) -> int:
    """Estimate the tokens of a message."""
    return math.ceil(len(text) / 4)


def guess_out(targets: int) -> int:
    """Estimate the tokens of a valid reply."""
    return 4 + 10 * targets


def most_in(text: str) -> int:
    """Return an upper bound of the tokens of a message: a token has at least one byte."""
    return len(text.encode("utf-8")) + _FRAME


@dataclass(frozen=True, slots=True)
class Usage:
    """The usage that a reply reports; ``None``: it reports none."""

    tokens_in: int | None = None  # of the prompt
    tokens_out: int | None = None  # of the reply, including hidden reasoning
    reasoning: int = 0  # how many of tokens_out are hidden reasoning

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> "Usage":
        """Read ``usage`` of a chat completion."""
        usage = object_of(body.get("usage"))
        names = ("prompt_tokens", "completion_tokens", "total_tokens")
        read, written, total = (_count(usage.get(name)) for name in names)
        if read is None or written is None:
            return cls()
        hidden = _count(object_of(usage.get("completion_tokens_details")).get("reasoning_tokens"))
        # some servers leave reasoning out of the second number, but not out of the total
        return cls(read, max(written, (total or 0) - read), hidden or 0)


def _count(value: object) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value < 1 << 53 else None


@dataclass
class Bill:
    """The cost of a run so far."""

    requests: int = 0  # sent, including repetitions
    tokens_in: int = 0  # that replies reported
    tokens_out: int = 0  # the same, including hidden reasoning
    reasoning: int = 0  # how many of ``tokens_out`` were hidden
    # requests that may have been charged but reported no usage: their tokens are estimated; those
    # of a broken reply are counted as the maximum allowed
    guessed: int = 0
    spent: float = 0.0  # the price of all these tokens, in ``currency``
    unpriced: int = 0  # requests to models without a price, which ``spent`` does not include
    currency: str = ""
    known: int = 0  # calls that the cache answered
    states: Counter[State] = field(default_factory=Counter[State])  # how calls ended, with those
    # what endpoints refused: fields of the request, forms of structured output
    concessions: set[str] = field(default_factory=set[str])

    @property
    def tokens(self) -> int:
        """All tokens, in and out."""
        return self.tokens_in + self.tokens_out

    @property
    def cost(self) -> float | None:
        """Total price, or ``None`` if any price is unknown."""
        return None if self.unpriced else self.spent

    def add(self, usage: Usage, price: Price | None, *, guess: tuple[int, int]) -> None:
        """Count the tokens of a request that was, or may have been, charged."""
        tokens_in = guess[0] if usage.tokens_in is None else usage.tokens_in
        tokens_out = guess[1] if usage.tokens_out is None else usage.tokens_out
        self.guessed += usage.tokens_in is None or usage.tokens_out is None
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

    def to_dict(self) -> dict[str, Any]:
        """Return ``{"kind": "bill", ...}``."""
        names = ("requests", "tokens_in", "tokens_out", "reasoning", "guessed", "cost",
                 "currency", "known")  # fmt: skip
        shape = {name: getattr(self, name) for name in names}
        shape |= {"states": dict(sorted(self.states.items()))}
        shape |= {"concessions": sorted(self.concessions)}
        return {"kind": "bill", "grammeter": version.__version__} | shape
