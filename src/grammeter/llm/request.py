"""A request: its key in the cache, and its body for what an endpoint accepts."""

from __future__ import annotations

import hashlib
import ipaddress
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from grammeter.core import DataError, UsageError
from grammeter.llm.calls import Call
from grammeter.llm.ladder import Abilities
from grammeter.llm.reader import schema

TEMPERATURE = 0
TOP_P = 1
SEED = 1
"""Settings of every request; one that an endpoint refuses is left out."""

_REMARK = (
    "\n\nYour last reply could not be used: {reason}. Reply in the output format above, with one"
    " whole number from 1 to 5 for each target, and nothing else."
)


@dataclass(frozen=True)
class Request:
    """A call to one model of one server.

    Raises
    ------
    DataError
        If the prompt is not valid Unicode: it has half a character.
    """

    server: str  # as returned by server()
    model: str  # as the server names it
    call: Call
    max_output: int  # maximum tokens of a reply

    def __post_init__(self) -> None:
        try:
            self.call.prompt.encode("utf-8")
        except UnicodeEncodeError as error:
            raise DataError(
                f"a prompt holds half a character: {error.object[error.start]!r}",
                fix="Read the texts as UTF-8.",
            ) from None

    @cached_property
    def key(self) -> str:
        """SHA-256 of the whole request, including parameters that the server may ignore."""
        whole = {
            "server": self.server,
            "model": self.model,
            "messages": self._messages(""),
            "schema": schema(self.call.targets),
            "temperature": TEMPERATURE,
            "top_p": TOP_P,
            "seed": SEED,
            "max_tokens": self.max_output,
            "template": self.call.template,
            "repeat": self.call.repeat,
        }
        text = json.dumps(whole, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode("ascii")).hexdigest()

    def body(
        self, abilities: Abilities, *, remark: str = "", doubled: bool = False
    ) -> dict[str, Any]:
        """Return the body to send.

        Parameters
        ----------
        abilities
            What the endpoint accepts.
        remark
            Why the last reply was unusable, for the model to read; may be empty.
        doubled
            Allow twice the output.
        """
        fields = {
            "temperature": TEMPERATURE,
            "top_p": TOP_P,
            "seed": SEED,
            "response_format": abilities.response_format(schema(self.call.targets)),
            abilities.limit_field: self.max_output * (1 + doubled),
        }
        accepted = {
            name: value
            for name, value in fields.items()
            if value is not None and name not in abilities.dropped
        }
        return {"model": self.model, "messages": self._messages(remark), **accepted}

    def _messages(self, remark: str) -> list[dict[str, str]]:
        ending = _REMARK.format(reason=remark) if remark else ""
        return [{"role": "user", "content": self.call.prompt + ending}]


def server(base_url: str) -> str:
    """Return host, port and path of an address, without user, password and query.

    Raises
    ------
    UsageError
        If it names no host.
    """
    try:
        parts = urlsplit(base_url)
        host, port, path = parts.hostname, parts.port, parts.path
    except ValueError:
        host, port, path = None, None, ""
    if not host:
        raise UsageError("the base URL names no host", fix="Write it as http://localhost:8000/v1")
    name = f"[{host}]" if ":" in host else host
    return (f"{name}:{port}{path}" if port else f"{name}{path}").rstrip("/")


def is_local(base_url: str) -> bool:
    """Whether an address is on this machine."""
    host = urlsplit(base_url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified
