"""The wire: one request to an OpenAI-compatible endpoint, and whatever comes of it, as a value.

The SDK's own repetitions and its parsing are off: what a server says, and what it cost, must
reach the cache even where it cannot be read.
"""

from __future__ import annotations

import asyncio
import os
import re
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from grammeter.core import MissingResourceError, require
from grammeter.llm.request import is_local
from grammeter.llm.runtime import Endpoint

Trouble = Literal["", "unreachable", "timeout", "broken"]
"""Why there is no reply: nobody there, too late, or a connection that broke off."""

_CONNECT = 5.0
_UNREACHABLE = {"ConnectError", "ConnectTimeout", "ProxyError"}
_KEY_LIKE = re.compile(r"\bsk-[\w*.-]{6,}")
_NO_KEY = "none"


@dataclass(frozen=True, slots=True)
class Raw:
    """What came back.

    Attributes
    ----------
    status
        Of HTTP; 0 if nothing came.
    text
        The body, keys blotted out; where nothing came, what is known of the reason.
    headers
        Of the reply; names in lower case.
    trouble
        Why nothing came.
    seconds
        How long it took.
    started
        When it was sent, in seconds since 1970.
    """

    status: int = 0
    text: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    trouble: Trouble = ""
    seconds: float = 0.0
    started: float = 0.0


class Transport:
    """A connection to an endpoint; to be closed.

    Raises
    ------
    MissingResourceError
        If there is no key for a server elsewhere, or the SDK is not installed.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._key = key_of(endpoint)
        self._sdk: Any = require("openai", extra="llm")
        self._client = self._sdk.AsyncOpenAI(
            api_key=self._key,
            base_url=endpoint.base_url,
            max_retries=0,
            http_client=self._sdk.DefaultAsyncHttpxClient(**_wire(endpoint.base_url, self._sdk)),
        )

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()

    async def send(self, body: Mapping[str, Any], timeout: float) -> Raw:
        """Send one request, once.

        Parameters
        ----------
        body
            Of the request.
        timeout
            Seconds for all of it; the SDK's would start anew with each piece that comes.
        """
        started, clock = time.time(), time.perf_counter()
        status, text, headers, trouble = 0, "", dict[str, str](), ""
        try:
            async with asyncio.timeout(timeout):
                response = await self._post(body)
            status = response.status_code
            text = redact(response.text, self._key, alike=status != 200)
            headers = {name.lower(): value for name, value in response.headers.items()}
        except TimeoutError:
            trouble = "timeout"
        except self._sdk.APIConnectionError as error:
            trouble, text = _trouble(error), redact(str(error.__cause__ or error), self._key)
        return Raw(status, text, headers, trouble, time.perf_counter() - clock, started)

    async def _post(self, body: Mapping[str, Any]) -> Any:
        """Return the response of HTTP, whatever its status."""
        try:
            # the resource's own `create` builds the same request, at half as much time again
            reply = await self._client.post(
                "/chat/completions", body=body, cast_to=self._sdk.HttpxBinaryResponseContent
            )
        except self._sdk.APIStatusError as error:
            return error.response
        return reply.response


def _wire(base_url: str, sdk: Any) -> dict[str, Any]:
    """Return how the client of HTTP is set up: no redirect may carry the key elsewhere."""
    settings = {"timeout": sdk.Timeout(None, connect=_CONNECT), "follow_redirects": False}
    if is_local(base_url):
        settings["trust_env"] = False  # a proxy is not asked for a server on this machine
    if base_url.startswith("http://"):
        # it trusts nobody, which is enough where nothing is encrypted, and loads quickly
        settings["verify"] = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return settings


def key_of(endpoint: Endpoint) -> str:
    """Return the key of an endpoint; a server on this machine needs none.

    Raises
    ------
    MissingResourceError
        If there is none, or what there is cannot be one.
    """
    key = os.environ.get(endpoint.key_variable, "").strip()
    if not key and is_local(endpoint.base_url):
        return _NO_KEY
    if not key:
        raise MissingResourceError(
            f"no key: the environment variable {endpoint.key_variable} is not set",
            fix=f"Set {endpoint.key_variable} to the key of your account, or name another"
            " variable (--key-variable) or a server on this machine (--base-url).",
        )
    if not (key.isascii() and key.isprintable()):
        raise MissingResourceError(
            f"the environment variable {endpoint.key_variable} holds letters that no key has",
            fix="Copy the key once more.",
        )
    return key


def redact(text: str, key: str, *, alike: bool = True) -> str:
    """Blot out a key that a server has echoed; ``alike``: and what looks like a part of one."""
    blotted = text.replace(key, "[key]") if key != _NO_KEY and len(key) >= 8 else text
    return _KEY_LIKE.sub("[key]", blotted) if alike else blotted


def _trouble(error: BaseException) -> Trouble:
    cause = type(error.__cause__).__name__
    if cause in _UNREACHABLE:
        return "unreachable"
    return "timeout" if "Timeout" in type(error).__name__ else "broken"
