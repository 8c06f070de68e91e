"""An OpenAI-compatible server on the loopback address that answers, and misbehaves, by a script.

::

    with ScriptedEndpoint() as server:                        # always a good answer
        ... server.url, server.requests, server.repeated ...
    with ScriptedEndpoint(lambda prompt, attempt: [status(429)][attempt - 1 :]) as server: ...

A script gets the prompt and the number of its attempt (from 1; a remark after the output format
makes no other prompt) and returns a reply, or a list whose first member is the reply; ``None`` or
an empty list stand for a good answer. Run as a program, it serves in a process of its own and
prints its address (see ``--help``).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import socket
import struct
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

TOKENS_OUT = 20


@dataclass(frozen=True)
class Reply:
    """What goes over the wire.

    ``wait`` delays it by some seconds; ``cut`` resets the connection after so many bytes of
    the body.
    """

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    wait: float = 0.0
    cut: int | None = None


Script = Callable[[str, int], Reply | Sequence[Reply] | None]


@dataclass(frozen=True)
class Received:
    """A request as it came."""

    prompt: str
    body: dict[str, Any]
    headers: Mapping[str, str]


def score(target: str) -> int:
    """Return the score that a good answer gives to a text, 1 to 5."""
    return 1 + hashlib.sha256(" ".join(target.split()).encode()).digest()[0] % 5


def targets(prompt: str) -> list[str]:
    """Return the texts under ``# targets``, their numbers removed."""
    block = prompt.partition("# targets\n")[2].partition("\n\n# output format")[0]
    return [re.sub(r"^\d+\. ", "", line) for line in block.split("\n")]


def prompt_of(*texts: str) -> str:
    """Return the shortest prompt that asks for texts."""
    return "\n".join(["# targets", *texts, "", "# output format", "JSON"])


def good(prompt: str) -> str:
    """Return the text of a good answer."""
    return json.dumps({f"target{n}_score": score(t) for n, t in enumerate(targets(prompt), 1)})


def completion(
    content: str | None,
    *,
    finish: str = "stop",
    refusal: str | None = None,
    tokens: tuple[int, int] = (100, TOKENS_OUT),
    **more: Any,
) -> Reply:
    """Return a whole chat completion with this text."""
    message = {"role": "assistant", "content": content, "refusal": refusal}
    body = {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "scripted-1",
        "system_fingerprint": "fp_scripted",
        "choices": [{"index": 0, "finish_reason": finish, "message": message}],
        "usage": {
            "prompt_tokens": tokens[0],
            "completion_tokens": tokens[1],
            "total_tokens": sum(tokens),
        },
        **more,
    }
    return Reply(body=json.dumps(body).encode())


def status(
    number: int,
    message: str = "scripted",
    *,
    headers: Mapping[str, str] | None = None,
    **error: Any,
) -> Reply:
    """Return an error as such servers write it."""
    body = json.dumps({"error": {"message": message, **error}}).encode()
    return Reply(status=number, body=body, headers=headers or {})


class ScriptedEndpoint:
    """The server; a context manager.

    Attributes
    ----------
    requests
        All that came, in order.
    most
        The most requests that were being answered at one time.
    """

    def __init__(
        self,
        script: Script | None = None,
        *,
        delay: float = 0.0,
        answer: Callable[[str], str] = good,
        port: int = 0,
    ) -> None:
        self.script = script
        self.delay = delay
        self.answer = answer
        self.requests: list[Received] = []
        self.most = 0
        self._now = 0
        self._seen: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.endpoint = self

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def repeated(self) -> int:
        """Requests beyond the first of each prompt."""
        return len(self.requests) - len(self._seen)

    def __enter__(self) -> Self:
        loop = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        loop.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Take no more connections; those that are open are served on."""
        self._server.shutdown()
        self._server.server_close()

    def serve(self) -> None:
        self._server.serve_forever()

    def reply_to(self, received: Received) -> Reply:
        with self._lock:
            self.requests.append(received)
            question = received.prompt.partition("# output format")[0]  # without later remarks
            self._seen[question] += 1
            attempt = self._seen[question]
            self._now += 1
            self.most = max(self.most, self._now)
        reply = self.script(received.prompt, attempt) if self.script else None
        if not isinstance(reply, Reply):
            reply = reply[0] if reply else None
        if reply is None:
            tokens = len(received.prompt) // 4, TOKENS_OUT
            reply = completion(self.answer(received.prompt), tokens=tokens)
        time.sleep(self.delay + reply.wait)
        with self._lock:
            self._now -= 1
        return reply


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    endpoint: ScriptedEndpoint

    def handle_error(self, *_: object) -> None:
        """Clients that are killed leave broken pipes; that is what the tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._write(Reply(body=b'{"object": "list", "data": []}'))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = body["messages"][-1]["content"]
        self._write(self.server.endpoint.reply_to(Received(prompt, body, dict(self.headers))))

    def _write(self, reply: Reply) -> None:
        self.send_response(reply.status)
        headers = {"Content-Type": "application/json", "Content-Length": str(len(reply.body))}
        for name, value in {**headers, **reply.headers}.items():
            self.send_header(name, value)
        buffer: list[bytes] = self._headers_buffer  # one write for head and body: no 40 ms pause
        buffer.append(b"\r\n" + (reply.body if reply.cut is None else reply.body[: reply.cut]))
        self.flush_headers()
        if reply.cut is not None:
            linger = struct.pack("ii", 1, 0)  # closing sends a reset
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.close_connection = True


def main() -> None:
    parser = argparse.ArgumentParser(description="Serve until killed; the first line is the URL.")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each answer")
    args = parser.parse_args()
    endpoint = ScriptedEndpoint(delay=args.delay)
    sys.stdout.write(f"{endpoint.url}\n")
    sys.stdout.flush()
    endpoint.serve()


if __name__ == "__main__":
    main()
