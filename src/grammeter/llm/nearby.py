"""HTTP to a server on this machine: as little work for a request as possible.

The SDK takes two milliseconds of one processor for a request, so that a server nearby would wait
for its client. Encryption, proxies and redirects are left to the SDK.
"""

from __future__ import annotations

import asyncio
import json
from asyncio import StreamReader, StreamWriter
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

from grammeter.version import __version__

Trouble = Literal["", "unreachable", "timeout", "broken"]
"""Why there is no reply: no server, too late, or a broken connection."""

CONNECT = 5.0
"""Seconds to wait for a connection."""


class NoResponseError(Exception):
    """There is no server, or what came from it is no whole HTTP response."""

    def __init__(self, trouble: Trouble, error: BaseException) -> None:
        super().__init__(str(error) or type(error).__name__)
        self.trouble: Trouble = trouble


class Response(NamedTuple):
    """A whole response; names of headers are in lower case."""

    status_code: int
    headers: Mapping[str, str]
    text: str


class Nearby:
    """Connections to a server on this machine, kept for later requests; close it after use."""

    def __init__(self, base_url: str, key: str) -> None:
        parts = urlsplit(base_url)
        self._place = parts.hostname, parts.port or 80
        self._head = (
            f"POST {parts.path.rstrip('/')}/chat/completions HTTP/1.1\r\n"
            f"Host: {parts.netloc.rpartition('@')[2]}\r\n"
            f"Authorization: Bearer {key}\r\nUser-Agent: grammeter/{__version__}\r\n"
            "Accept: application/json\r\nContent-Type: application/json\r\nContent-Length: "
        )
        self._idle: list[tuple[StreamReader, StreamWriter]] = []

    async def post(self, body: Mapping[str, Any]) -> Response:
        """Send a body; raise :class:`NoResponseError` if nothing whole comes back."""
        data = json.dumps(body).encode()
        reader, writer = await self._connection()
        try:
            writer.write(f"{self._head}{len(data)}\r\n\r\n".encode("latin-1") + data)
            response = await _read(reader)
        except (OSError, EOFError, ValueError, asyncio.LimitOverrunError) as error:
            writer.transport.abort()
            raise NoResponseError("broken", error) from error
        except BaseException:  # out of time
            writer.transport.abort()
            raise
        if response.headers.get("connection", "").lower() == "close" or reader.at_eof():
            writer.close()
        else:
            self._idle.append((reader, writer))
        return response

    async def aclose(self) -> None:
        """Close all connections."""
        for _, writer in self._idle:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _connection(self) -> tuple[StreamReader, StreamWriter]:
        while self._idle:
            reader, writer = self._idle.pop()
            if not reader.at_eof() and not writer.is_closing():
                return reader, writer
            writer.close()
        try:
            async with asyncio.timeout(CONNECT):
                return await asyncio.open_connection(*self._place)
        except OSError as error:  # a timeout, too
            raise NoResponseError("unreachable", error) from error


async def _read(reader: StreamReader) -> Response:
    status = 100
    headers: dict[str, str] = {}
    while status // 100 == 1:  # a server may say that it goes on
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        version, code, *_ = first.split(" ", 2)
        if not version.startswith("HTTP/1."):
            raise ValueError(f"no HTTP: {first[:80]}")
        status = int(code)
        pairs = (line.partition(":") for line in lines if line)
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    if "chunked" in headers.get("transfer-encoding", "").lower():
        data = await _chunks(reader)
    elif "content-length" in headers:
        data = await reader.readexactly(int(headers["content-length"]))
    else:
        data = await reader.read()
    return Response(status, headers, data.decode("utf-8", "replace"))


async def _chunks(reader: StreamReader) -> bytes:
    parts: list[bytes] = []
    while size := int((await reader.readuntil(b"\r\n")).partition(b";")[0], 16):
        parts.append(await reader.readexactly(size))
        await reader.readexactly(2)
    while await reader.readuntil(b"\r\n") != b"\r\n":
        pass  # trailing headers
    return b"".join(parts)
