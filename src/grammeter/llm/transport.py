"""Send one request to an OpenAI-compatible endpoint and return any response as a value.

The SDK's own retries and parsing are off: the response and its cost must reach the cache even if
it cannot be read.
"""

from __future__ import annotations

import asyncio
import os
import re
import ssl
import time
from collections.abc import Mapping
from typing import Any

from grammeter.core import MissingResourceError, require
from grammeter.llm.request import is_local
from grammeter.llm.runtime import Endpoint, Raw, Trouble

_CONNECT = 5.0
_UNREACHABLE = {"ConnectError", "ConnectTimeout", "ProxyError"}
_KEY_LIKE = re.compile(r"\bsk-[\w*.-]{6,}")
_NO_KEY = "none"


class Transport:
    """A connection to an endpoint; close it after use.

    Raises
    ------
    MissingResourceError
        If there is no key for a remote server, or the SDK is not installed.
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
        """Send one request, once; ``timeout`` limits the seconds of the whole response.

        The SDK's own timeout starts again with each piece of it.
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
        """Return the HTTP response, whatever its status."""
        try:
            # the SDK's own `create` builds the same request, but takes 1.5 times as long
            reply = await self._client.post(
                "/chat/completions", body=body, cast_to=self._sdk.HttpxBinaryResponseContent
            )
        except self._sdk.APIStatusError as error:
            return error.response
        return reply.response


def _wire(base_url: str, sdk: Any) -> dict[str, Any]:
    """Return the settings of the HTTP client: no redirect may send the key elsewhere."""
    settings = {"timeout": sdk.Timeout(None, connect=_CONNECT), "follow_redirects": False}
    if is_local(base_url):
        settings["trust_env"] = False  # no proxy for a server on this machine
    if base_url.startswith("http://"):
        # a context without certificates loads quickly, and nothing is encrypted here
        settings["verify"] = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return settings


def key_of(endpoint: Endpoint) -> str:
    """Return the key of an endpoint; a server on this machine needs none.

    Raises
    ------
    MissingResourceError
        If there is none, or its value cannot be a key.
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
    """Replace a key that a server has echoed and, if ``alike``, all that looks like a key."""
    redacted = text.replace(key, "[key]") if key != _NO_KEY and len(key) >= 8 else text
    return _KEY_LIKE.sub("[key]", redacted) if alike else redacted


def _trouble(error: BaseException) -> Trouble:
    cause = type(error.__cause__).__name__
    if cause in _UNREACHABLE:
        return "unreachable"
    return "timeout" if "Timeout" in type(error).__name__ else "broken"
