"""What an endpoint takes: found out by asking, remembered for each server and model.

Structured output is asked for in three ways, the strictest first: a JSON schema, any JSON object,
the words of the prompt alone. Whatever is taken, every reply is read with the same strictness:
some servers accept a schema and do not enforce it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, get_args

Rung = Literal["json_schema", "json_object", "plain"]
RUNGS: tuple[Rung, ...] = get_args(Rung)

LimitField = Literal["max_completion_tokens", "max_tokens"]

_OTHER_LIMIT: Mapping[str, LimitField] = {
    "max_completion_tokens": "max_tokens",
    "max_tokens": "max_completion_tokens",
}

_NAMES: Mapping[str, re.Pattern[str]] = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in {
        "response_format": r"response_format|json_(schema|object)|structured.?output|\bgrammar\b",
        "temperature": r"\btemperature\b",
        "top_p": r"\btop_p\b",
        "seed": r"\bseed\b",
        "max_completion_tokens": r"\bmax_completion_tokens\b",
        "max_tokens": r"\bmax_tokens\b",
    }.items()
}
"""How complaints name a field."""

_TOO_LONG = re.compile(r"context.?(length|window|size)|too (long|many tokens)", re.IGNORECASE)
"""A prompt that is too long names fields that are not to blame."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """What one model of one server takes.

    Attributes
    ----------
    rung
        How structured output is asked for.
    dropped
        Fields that were refused.
    limit_field
        How the limit of the output is called.
    renamed
        Whether the endpoint refused the other name of that limit.
    """

    rung: Rung = "json_schema"
    dropped: frozenset[str] = frozenset()
    limit_field: LimitField = "max_tokens"
    renamed: bool = False

    @classmethod
    def at_first(cls, *, openai: bool) -> Self:
        """Return what is tried first: OpenAI's own service has retired ``max_tokens``."""
        return cls(limit_field="max_completion_tokens" if openai else "max_tokens")

    def response_format(self, schema: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the field that asks for a reply of this schema."""
        if self.rung == "plain":
            return None
        if self.rung == "json_object":
            return {"type": "json_object"}
        shape = {"name": f"scores_{len(schema['required'])}", "strict": True, "schema": schema}
        return {"type": "json_schema", "json_schema": shape}

    def without(self, field: str) -> Abilities:
        """Return what is left when the endpoint refuses a field."""
        if field == "response_format":
            return replace(self, rung=RUNGS[RUNGS.index(self.rung) + 1])
        if field == self.limit_field and not self.renamed:
            return replace(self, limit_field=_OTHER_LIMIT[field], renamed=True)
        return replace(self, dropped=self.dropped | {field})

    @property
    def concessions(self) -> list[str]:
        """What was not taken, for people: ``response_format=json_schema``, ``seed``."""
        rungs = [f"response_format={rung}" for rung in RUNGS[: RUNGS.index(self.rung)]]
        return rungs + sorted(self.dropped)

    def to_json(self) -> str:
        """Return text that :meth:`from_json` reads."""
        fields = {
            "rung": self.rung,
            "dropped": sorted(self.dropped),
            "limit_field": self.limit_field,
            "renamed": self.renamed,
        }
        return json.dumps(fields)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what :meth:`to_json` wrote.

        Raises
        ------
        ValueError
            If it did not write that.
        """
        data: Any = json.loads(text)
        try:
            found = cls(data["rung"], frozenset(data["dropped"]), data["limit_field"],
                        data["renamed"])  # fmt: skip
            fits = found.rung in RUNGS and found.limit_field in _OTHER_LIMIT
        except (KeyError, TypeError) as error:
            raise ValueError(f"not abilities: {text[:80]}") from error
        if not fits:
            raise ValueError(f"not abilities: {text[:80]}")
        return found


def refused_field(text: str, parameter: str | None, sent: Iterable[str]) -> str | None:
    """Return the field that a complaint is about.

    Parameters
    ----------
    text
        The body of a reply with status 400 or 422.
    parameter
        The field that it names in its place for it.
    sent
        The fields of the request.

    Returns
    -------
    str or None
        One of the fields that can be left out; ``None`` if none was sent that is named.
    """
    if _TOO_LONG.search(text):
        return None
    own = [name for name in _NAMES if name in set(sent)]
    for words in (parameter or "", text):
        found = next((name for name in own if _NAMES[name].search(words)), None)
        if found:
            return found
    return None
