"""The connection to an endpoint: one request, its response, and what a failure means."""

from __future__ import annotations

import asyncio
import email.utils
import ipaddress
import os
import re
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, Literal, Protocol
from urllib.parse import urlsplit

from grammeter.core import MissingResourceError, UsageError, require
from grammeter.llm.cost import Usage
from grammeter.llm.endpoint import Endpoint
from grammeter.llm.nearby import CONNECT, Nearby, NoResponseError, Trouble
from grammeter.llm.reply import error_of, has_message, json_object


@dataclass(frozen=True)
class Raw:
    """The response to a request, if there is one."""

    status: int = 0  # of HTTP; 0: no response
    text: str = ""  # the body without keys; if there is no response, the reason
    headers: Mapping[str, str] = field(default_factory=dict[str, str])  # names in lower case
    trouble: Trouble = ""  # why there is no response
    seconds: float = 0.0  # from the request to the response
    started: float = 0.0  # seconds since 1970

    @cached_property
    def body(self) -> dict[str, Any]:
        """The JSON object in the text."""
        return json_object(self.text)

    @cached_property
    def usage(self) -> Usage:
        """The usage that the body reports."""
        return Usage.of(self.body)

    @cached_property
    def failure(self) -> Failure | None:
        """Why the request failed; ``None`` if the body is a completion."""
        if self.trouble:
            return _without_reply(self)
        error = error_of(self.body)
        if self.status == 200 and not error:
            if has_message(self.body):
                return None
            return Failure(
                f"no chat completion: {_shown(self.text)}",
                "again-briefly",
                charged=True,
                fix="Check the base URL: something else answers there.",
            )
        status = _status(self.status, error)
        message = error.get("message")
        text = message if isinstance(message, str) and message else self.text
        reason = f"HTTP {status}: {_shown(text)}".rstrip(": ") if status else _shown(text)
        return _by_status(status, reason, self, error)


@cache
def server(base_url: str) -> str:
    """Return host, port and path of an address, without user, password and query."""
    try:
        parts = urlsplit(base_url)
        host, port, path = parts.hostname, parts.port, parts.path
    except ValueError:
        host, port, path = None, None, ""
    if not host:
        raise UsageError("the base URL names no host", fix="Write it as http://localhost:8000/v1")
    name = f"[{host}]" if ":" in host else host
    return (f"{name}:{port}{path}" if port else f"{name}{path}").rstrip("/")


def host(endpoint: Endpoint) -> str:
    """Return who answers: a server, or ``transformers`` in this process."""
    return endpoint.backend if endpoint.in_process else server(endpoint.base_url)


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


_UNREACHABLE = {"ConnectError", "ConnectTimeout", "ProxyError"}
_KEY_LIKE = re.compile(r"\bsk-[\w*.-]{6,}")
_NO_KEY = "none"


class Wire(Protocol):
    """What takes requests to who answers them."""

    async def send(self, body: Mapping[str, Any], timeout: float) -> Raw:
        """Return the response to a request, or why there is none, after ``timeout`` seconds."""
        ...

    async def aclose(self) -> None:
        """Send nothing more."""
        ...


class Transport:
    """A connection to an endpoint; close it after use."""

    def __init__(self, endpoint: Endpoint) -> None:
        url, self._key = endpoint.base_url, key_of(endpoint)
        near = is_local(url) and url.startswith("http://")
        self._connections = Nearby(url, self._key) if near else _Distant(url, self._key)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._connections.aclose()

    async def send(self, body: Mapping[str, Any], timeout: float) -> Raw:
        """Send once, within ``timeout`` seconds in all; the SDK's restarts with each piece."""
        started, clock = time.time(), time.perf_counter()
        status, text, headers, trouble = 0, "", dict[str, str](), ""
        try:
            async with asyncio.timeout(timeout):
                response = await self._connections.post(body)
            status = response.status_code
            text = redact(response.text, self._key, alike=status != 200)
            headers = {name.lower(): value for name, value in response.headers.items()}
        except TimeoutError:
            trouble = "timeout"
        except NoResponseError as error:
            trouble, text = error.trouble, redact(str(error), self._key)
        return Raw(status, text, headers, trouble, time.perf_counter() - clock, started)


class _Distant:
    """Connections of OpenAI's SDK, which takes proxies and certificates into account."""

    def __init__(self, base_url: str, key: str) -> None:
        self._sdk: Any = require("openai", extra="llm")
        http = self._sdk.DefaultAsyncHttpxClient(**_settings(base_url, self._sdk))
        self._client = self._sdk.AsyncOpenAI(
            api_key=key, base_url=base_url, max_retries=0, http_client=http
        )

    async def aclose(self) -> None:
        await self._client.close()

    async def post(self, body: Mapping[str, Any]) -> Any:
        """Return the HTTP response, whatever its status."""
        try:
            # the SDK's own `create` builds the same request, but takes 1.5 times as long
            reply = await self._client.post(
                "/chat/completions", body=body, cast_to=self._sdk.HttpxBinaryResponseContent
            )
        except self._sdk.APIStatusError as error:
            return error.response
        except self._sdk.APIConnectionError as error:
            raise NoResponseError(_trouble(error), error.__cause__ or error) from error
        return reply.response


def _settings(base_url: str, sdk: Any) -> dict[str, Any]:
    """Return the settings of the HTTP client: no redirect may send the key elsewhere."""
    settings = {"timeout": sdk.Timeout(None, connect=CONNECT), "follow_redirects": False}
    if is_local(base_url):
        settings["trust_env"] = False  # no proxy for a server on this machine
    if base_url.startswith("http://"):
        # a context without certificates loads quickly, and nothing is encrypted here
        settings["verify"] = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return settings


def key_of(endpoint: Endpoint) -> str:
    """Return the key of an endpoint; a server on this machine needs none."""
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


Then = Literal["again", "again-briefly", "leave", "refused", "end"]
"""``again``: repeat within the patience; ``again-briefly``: repeat a few times; ``leave`` this
call; ``refused``: the model will not answer it; ``end`` the run: any other call would fail too."""

_AGAIN = {408, 409, 429}
_END: Mapping[int, str] = {
    401: "Check the key.",
    402: "Check the account: it has no money left.",
    403: "Check what the key's account may use.",
    404: "Check the base URL (it ends in /v1 as a rule) and the name of the model.",
    405: "Check the base URL: it ends in /v1 as a rule.",
    **dict.fromkeys((301, 302, 303, 307, 308), "Check the base URL: the server has moved."),
}
_NO_MONEY = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active",
             "insufficient_balance"}  # fmt: skip
_FILTERED = re.compile(r"content_filter|content_policy|ResponsibleAI|moderation|flagged",
                       re.IGNORECASE)  # fmt: skip
_SHOWN = 300


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a request brought no completion."""

    reason: str  # for people
    then: Then  # what the client does
    wait: float | None = None  # seconds that the server asks to wait
    charged: bool = False  # whether the provider may have charged it
    # what the user can do
    fix: str = "Run the same command again later: it goes on where it stopped."


def _without_reply(raw: Raw) -> Failure:
    if raw.trouble == "unreachable":
        return Failure(
            f"no connection: {_shown(raw.text)}", "again",
            fix="Check the base URL, and whether the server is running.",
        )  # fmt: skip
    if raw.trouble == "timeout":
        return Failure("no reply in time", "again", charged=True)
    return Failure(f"the connection broke off: {_shown(raw.text)}", "again", charged=True)


def _status(status: int, error: Mapping[str, Any]) -> int:
    """Return the status to act on: gateways put that of their provider into the body."""
    code = error.get("code")
    if status != 200:
        return status
    return code if isinstance(code, int) and 400 <= code < 600 else 502


def _by_status(status: int, reason: str, raw: Raw, error: Mapping[str, Any]) -> Failure:
    names = {str(error.get(name)) for name in ("code", "type")}
    if names & _NO_MONEY:
        return Failure(reason, "end", fix=_END[402])
    if status in (400, 403) and _FILTERED.search(raw.text):
        return Failure(reason, "refused")
    if status in _END:
        return Failure(reason, "end", fix=_END[status])
    wanted = raw.headers.get("x-should-retry", "").lower()
    if status in _AGAIN or status >= 500 or wanted == "true":
        if wanted == "false":
            return Failure(f"{reason} (and not to be repeated)", "end")
        return Failure(reason, "again", wait=retry_after(raw.headers))
    return Failure(reason, "leave")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a server asks to wait; ``None`` if it asks for none."""
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        text = headers.get(name, "").strip()
        if re.fullmatch(r"\d{1,9}(\.\d*)?", text, re.ASCII):
            return float(text) * unit
    moment = _time(headers, "retry-after")
    if moment is None:
        return None
    sent = _time(headers, "date")  # by the same clock as the first time
    return max(0.0, moment - (time.time() if sent is None else sent))


def _time(headers: Mapping[str, str], name: str) -> float | None:
    """Return a date in a header as seconds since 1970, ``None`` if there is none."""
    try:
        return email.utils.parsedate_to_datetime(headers.get(name, "")).timestamp()
    except (TypeError, ValueError, IndexError, OverflowError):
        return None


def _shown(text: str) -> str:
    line = " ".join(text.split())
    return f"{line[:_SHOWN]}..." if len(line) > _SHOWN else line or "an empty reply"
