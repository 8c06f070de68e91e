"""Requests: what an endpoint accepts, and the body and the cache key of a call."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_args

from grammeter import core
from grammeter.llm import cost, transport
from grammeter.llm.endpoint import Endpoint, Structured, current
from grammeter.llm.reply import Call, form, schema

STRUCTURED: tuple[Structured, ...] = get_args(Structured)
LIMIT_FIELDS = ("max_tokens", "max_completion_tokens")
_STRUCTURED = r"response_format|json_(schema|object)|structured.?output|\bgrammar\b"
_PLAIN = ("temperature", "top_p", "seed", "max_completion_tokens", "max_tokens")
_NAMES: Mapping[str, re.Pattern[str]] = {
    "response_format": re.compile(_STRUCTURED, re.IGNORECASE),
    **{name: re.compile(rf"\b{name}\b", re.IGNORECASE) for name in _PLAIN},
}
"""How error messages name a field."""

_TOO_LONG = re.compile(r"context.?(length|window|size)|too (long|many tokens)", re.IGNORECASE)
"""Errors about a prompt that is too long mention fields that are not the cause."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """What one model of one server accepts: all but the fields and forms that it has refused.

    A form of replies is refused as ``response_format=json_schema``.
    """

    refused: frozenset[str] = frozenset()

    @property
    def limit_field(self) -> str:
        """Name of the output limit: the newer one if the endpoint refuses ``max_tokens``."""
        return LIMIT_FIELDS["max_tokens" in self.refused]

    def form(self, structured: Structured) -> Structured:
        """Return the form of replies to ask for: ``structured``, or less if that is refused."""
        forms = STRUCTURED[STRUCTURED.index(structured) :]
        return next(f for f in forms if f == "off" or f"response_format={f}" not in self.refused)

    def without(self, field: str, structured: Structured = "json_schema") -> "Abilities":
        """Return the abilities without a field, or the form of replies in use, that is refused."""
        name = f"{field}={self.form(structured)}" if field == "response_format" else field
        return Abilities(self.refused | {name})

    def concessions(self, structured: Structured = "json_schema") -> frozenset[str]:
        """Return what was refused, but for renamed fields and forms that are not used."""
        unused = STRUCTURED[: STRUCTURED.index(structured)]
        return self.refused - {"max_tokens", *(f"response_format={form}" for form in unused)}


def refused_field(text: str, parameter: object, sent: Iterable[str]) -> str | None:
    """Return the field that a 400 or 422 is about (its ``param``, or by ``text``), or ``None``."""
    if _TOO_LONG.search(text):
        return None
    optional = [name for name in _NAMES if name in set(sent)]
    places = (parameter if isinstance(parameter, str) else "", text)
    return next((f for place in places for f in optional if _NAMES[f].search(place)), None)


FIRST_SEED = 1  # the seed of the first repeat, unless `body` says another; each further one adds 1
_REMARK = (
    "\n\nYour last reply could not be used: {reason}. Reply in the output format above, with one"
    " whole number from 1 to 5 for each target, and nothing else."
)


def request_settings() -> dict[str, object]:
    """Return the settings of all requests to the current endpoint, for signatures."""
    endpoint = current()
    system, extra = endpoint.system_message, _sampling(endpoint, 0)
    names = {"temperature": "temperature", "top-p": "top_p", "sampling-seed": "seed"}
    sampled = {shown: extra.pop(name) for shown, name in names.items() if name in extra}
    hashed = None if system is None else hashlib.sha256(system.encode()).hexdigest()[:12]
    if endpoint.read == "text":
        sampled |= {"max-output": endpoint.max_output, "attempts": endpoint.attempts}
        sampled |= {} if endpoint.enforced == STRUCTURED[0] else {"structured": endpoint.enforced}
    return {
        "endpoint": transport.host(endpoint),
        **({"read": endpoint.read} if endpoint.in_process else {}),
        **sampled,
        **({} if hashed is None else {"system-message": hashed}),
        **({"body": json.dumps(extra, sort_keys=True)} if extra else {}),
    }


def _sampling(endpoint: Endpoint, repeat: int) -> dict[str, Any]:
    """Return the settings of a request; of these, what an endpoint refuses is left out.

    None of them changes a likelihood, and ``seed`` in ``body`` neither.
    """
    if endpoint.read == "likelihood":
        return {name: value for name, value in endpoint.extra.items() if name != "seed"}
    usual = {"temperature": endpoint.temperature, "top_p": endpoint.top_p, "seed": FIRST_SEED}
    fields = {name: int(value) if value == int(value) else value for name, value in usual.items()}
    fields |= endpoint.extra
    return fields | {"seed": fields["seed"] + repeat}


@dataclass(frozen=True)
class Request:
    """A call to one model of an endpoint; its prompt must be valid Unicode."""

    endpoint: Endpoint
    model: str  # as the server names it
    call: Call

    def __post_init__(self) -> None:
        try:
            f"{self.call.prompt}{self.endpoint.system_message}".encode()
        except UnicodeEncodeError as error:
            fault = f"a prompt holds half a character: {error.object[error.start]!r}"
            raise core.DataError(fault, fix="Read the texts as UTF-8.") from None

    @property
    def server(self) -> str:
        """Who answers, as returned by :func:`~.transport.host`."""
        return transport.host(self.endpoint)

    @property
    def foreseen(self) -> tuple[int, int]:
        """Estimate the tokens of the messages and of a valid reply."""
        texts = [message["content"] for message in self._messages("")]
        return sum(map(cost.guess_in, texts)), cost.guess_out(self.call.targets)

    @cached_property
    def key(self) -> str:
        """SHA-256 of the whole request, including parameters that the server may ignore."""
        structured = self.endpoint.enforced
        whole = {
            "server": self.server,
            "model": self.model,
            "messages": self._messages(""),
            "schema": schema(self.call.targets),
            **_sampling(self.endpoint, self.call.repeat),
            "template": self.call.template,
        }
        if self.endpoint.read == "likelihood":
            whole |= form(self.call.targets)
        else:
            whole |= {"max_tokens": self.endpoint.max_output, "repeat": self.call.repeat}
            whole |= {} if structured == STRUCTURED[0] else {"structured": structured}
        text = json.dumps(whole, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode("ascii")).hexdigest()

    def body(
        self, abilities: Abilities, *, remark: str = "", doubled: bool = False
    ) -> dict[str, Any]:
        """Return the body; ``remark``: on the last reply; ``doubled``: twice the output is fine."""
        fields = _sampling(self.endpoint, self.call.repeat)
        if self.endpoint.read == "likelihood":
            fields |= form(self.call.targets)
        else:
            if (form_of := abilities.form(self.endpoint.enforced)) != "off":
                fields["response_format"] = _response_format(form_of, self.call.targets)
            fields[abilities.limit_field] = self.endpoint.max_output * (1 + doubled)
        wanted = ((name, value) for name, value in fields.items() if value is not None)
        accepted = {name: value for name, value in wanted if name not in abilities.refused}
        return {"model": self.model, "messages": self._messages(remark), **accepted}

    def _messages(self, remark: str) -> list[dict[str, str]]:
        ending = _REMARK.format(reason=remark) if remark else ""
        prompt = {"role": "user", "content": self.call.prompt + ending}
        system = self.endpoint.system_message
        return [prompt] if system is None else [{"role": "system", "content": system}, prompt]


def _response_format(structured: Structured, targets: int) -> dict[str, Any]:
    named = {"name": f"scores_{targets}", "strict": True, "schema": schema(targets)}
    return {"type": structured, **({"json_schema": named} if structured == "json_schema" else {})}
