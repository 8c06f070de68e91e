"""The connection to an endpoint: one request, its response, and what a failure means."""

import asyncio
import ipaddress
import json
import os
import re
import ssl
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, Literal
from urllib.parse import urlsplit

from grammeter import version
from grammeter.core import MissingResourceError, UsageError, require
from grammeter.llm import cost, reply
from grammeter.llm.endpoint import ADVICE, Endpoint

Trouble = Literal["", "unreachable", "timeout", "broken"]
"""Why there is no reply: no server, too late, or a broken connection."""


@dataclass(frozen=True)
class Raw:
    """The response to a request, if there is one."""

    status: int = 0  # of HTTP; 0: no response
    text: str = ""  # the body without keys; if there is no response, the reason
    headers: Mapping[str, str] = field(default_factory=dict[str, str])  # names in lower case
    trouble: Trouble = ""  # why there is no response
    seconds: float = 0.0  # from the request to the response
    started: float = 0.0  # seconds since 1970
    sent: str = ""  # the request as JSON

    @cached_property
    def body(self) -> dict[str, Any]:
        """The JSON object in the text."""
        return reply.json_object(self.text)

    @cached_property
    def usage(self) -> cost.Usage:
        """The usage that the body reports."""
        return cost.Usage.of(self.body)

    @cached_property
    def failure(self) -> "Failure | None":
        """Why the request failed; ``None`` if the body is a completion."""
        if self.trouble:
            return _without_reply(self)
        error = reply.error_of(self.body)
        if self.status == 200 and not error:
            if reply.has_message(self.body):
                return None
            fix = "Check the base URL: something else answers there."
            fault = f"no chat completion: {_shown(self.text)}"
            return Failure(fault, "again-briefly", charged=True, fix=fix)
        code, status = error.get("code"), self.status
        if status == 200:  # gateways put that of their provider into the body
            status = code if isinstance(code, int) and 400 <= code < 600 else 502
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
    with suppress(ValueError):
        address = ipaddress.ip_address(host)
        return address.is_loopback or address.is_unspecified
    return host == "localhost" or host.endswith(".localhost")


CONNECT = 5.0  # seconds to wait for a connection
_KEY_LIKE = re.compile(r"\bsk-[\w*.-]{6,}")
_NO_KEY = "none"


class Transport:
    """Connections to an endpoint, made in a running loop; close them after use."""

    def __init__(self, endpoint: Endpoint) -> None:
        url, self._key = urlsplit(endpoint.base_url), key_of(endpoint)
        place, path = url.netloc.rpartition("@")[2], url.path.rstrip("/")
        self._url = url._replace(netloc=place, path=f"{path}/chat/completions").geturl()
        self._http: Any = require("aiohttp", extra="llm")
        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        self._session = self._http.ClientSession(
            connector=self._http.TCPConnector(limit=0, ssl=_certificates(endpoint.base_url)),
            timeout=self._http.ClientTimeout(total=None, sock_connect=CONNECT),
            headers=headers | {"User-Agent": f"grammeter/{version.__version__}"},
            cookie_jar=self._http.DummyCookieJar(),
            trust_env=not is_local(endpoint.base_url),  # no proxy for a server on this machine
        )

    async def aclose(self) -> None:
        """Close all connections."""
        await self._session.close()

    async def send(self, body: Mapping[str, Any], timeout: float) -> Raw:
        """Send once, within ``timeout`` seconds in all; no redirect may take the key elsewhere."""
        started, clock = time.time(), time.perf_counter()
        status, text, headers, trouble = 0, "", dict[str, str](), ""
        sent = json.dumps(body, sort_keys=True)
        try:
            post = self._session.post(self._url, data=sent.encode("ascii"), allow_redirects=False)
            async with asyncio.timeout(timeout), post as response:
                content: bytes = await response.read()
            status = response.status
            text = redact(content.decode("utf-8", "replace"), self._key, alike=status != 200)
            headers = {name.lower(): value for name, value in response.headers.items()}
        except (self._http.ClientConnectorError, self._http.ConnectionTimeoutError) as error:
            trouble, text = "unreachable", redact(str(error), self._key)
        except TimeoutError:
            trouble = "timeout"
        except (self._http.ClientError, OSError, ValueError) as error:
            trouble, text = "broken", redact(str(error) or type(error).__name__, self._key)
        return Raw(status, text, headers, trouble, time.perf_counter() - clock, started, sent)


def _certificates(base_url: str) -> Any:
    """Return whose certificates are trusted; nothing is encrypted over HTTP."""
    if not base_url.startswith("https://"):
        return True
    usual = os.environ.get("SSL_CERT_FILE") or require("certifi", extra="llm").where()
    return ssl.create_default_context(cafile=usual)


def key_of(endpoint: Endpoint) -> str:
    """Return the key of an endpoint; a server on this machine needs none."""
    key = os.environ.get(endpoint.key_variable, "").strip()
    if not key and is_local(endpoint.base_url):
        return _NO_KEY
    if not key:
        fault = f"no key: the environment variable {endpoint.key_variable} is not set"
        fix = f"Set {endpoint.key_variable} to the key of your account, or name another"
        fix += " variable (--key-variable) or a server on this machine (--base-url)."
        raise MissingResourceError(fault, fix=fix)
    if not (key.isascii() and key.isprintable()):
        fault = f"the environment variable {endpoint.key_variable} holds letters that no key has"
        raise MissingResourceError(fault, fix="Copy the key once more.")
    return key


def redact(text: str, key: str, *, alike: bool = True) -> str:
    """Replace a key that a server has echoed and, if ``alike``, all that looks like a key."""
    redacted = text.replace(key, "[key]") if key != _NO_KEY and len(key) >= 8 else text
    return _KEY_LIKE.sub("[key]", redacted) if alike else redacted


Then = Literal["again", "again-briefly", "leave", "refused", "end"]
"""``again``: repeat within the patience; ``again-briefly``: repeat a few times; ``leave`` this
call; ``refused``: the model will not answer it; ``end`` the run: any other call would fail too."""

_AGAIN = {408, 409, 429}
_END = {int(status): fix for status, fix in ADVICE["status"].items()}
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
        fix = "Check the base URL, and whether the server is running."
        return Failure(f"no connection: {_shown(raw.text)}", "again", fix=fix)
    if raw.trouble == "timeout":
        return Failure("no reply in time", "again", charged=True)
    return Failure(f"the connection broke off: {_shown(raw.text)}", "again", charged=True)


def _by_status(status: int, reason: str, raw: Raw, error: Mapping[str, Any]) -> Failure:
    if {str(error.get(name)) for name in ("code", "type")} & _NO_MONEY:
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
    """Return the seconds that a server asks to wait; ``None`` if it asks for none, or by a date."""
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        text = headers.get(name, "").strip()
        if re.fullmatch(r"\d{1,9}(\.\d*)?", text, re.ASCII):
            return float(text) * unit
    return None


def _shown(text: str) -> str:
    line = " ".join(text.split())
    return f"{line[:_SHOWN]}..." if len(line) > _SHOWN else line or "an empty reply"
