"""Connections: what comes from servers, odd ones among them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from socketserver import StreamRequestHandler, ThreadingTCPServer

import pytest

from grammeter.llm import Endpoint
from grammeter.llm.transport import Transport
from scripted_endpoint import Reply, ScriptedEndpoint, completion, prompt_of, status

BODY = {"model": "m", "messages": [{"role": "user", "content": prompt_of("ä", "b")}]}


def send(url, *bodies, timeout=5.0, pause=0.0):
    """Send bodies one after the other over one transport; return what came."""

    async def sent(wire, body):
        await asyncio.sleep(pause)
        return await wire.send(body, timeout)

    async def all_of_them():
        wire = Transport(Endpoint(base_url=url))
        async with contextlib.aclosing(wire):
            return [await sent(wire, body) for body in bodies]

    return asyncio.run(all_of_them())


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-a-secret")


GOOD = completion('{"target1_score": 4, "target2_score": 3}')


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (GOOD, (200, "")),
        (status(429, "slow", headers={"Retry-After": "7", "X-Other": "x"}), (429, "")),
        (status(500, "no"), (500, "")),
        (Reply(status=307, headers={"Location": "http://127.0.0.1:1/v1"}), (307, "")),
        (Reply(body=b'{"a": "\xff"}'), (200, "")),
        (Reply(cut=0, body=GOOD.body), (0, "broken")),
        (Reply(cut=9, body=GOOD.body), (0, "broken")),
        (Reply(body=GOOD.body, wait=1.0), (0, "timeout")),
    ],
)
def test_what_came(reply, expected):
    with ScriptedEndpoint(lambda *_: reply) as server:
        (raw,) = send(server.url, BODY, timeout=0.4)
        (received,) = server.requests
    assert (raw.status, raw.trouble) == expected
    assert received.body == BODY
    headers = {name.lower(): value for name, value in received.headers.items()}
    assert headers["authorization"] == "Bearer sk-not-a-secret"
    assert raw.headers.get("retry-after") == reply.headers.get("Retry-After")
    if raw.status:
        assert raw.text == reply.body.decode("utf-8", "replace")
    assert "sk-not" not in raw.text


def test_nobody_there():
    with ScriptedEndpoint() as server:
        url = server.url
    (raw,) = send(url, BODY)
    assert (raw.status, raw.trouble) == (0, "unreachable")
    assert raw.text


# --- servers that write what they like --------------------------------------------------------


@pytest.fixture
def serving():
    """Serve bytes for each request of a connection, then close it: ``serving(b"...", ...)``."""
    with contextlib.ExitStack() as stack:

        def serve(*answers, close=True):
            class Handler(StreamRequestHandler):
                def handle(self):
                    connections.append(self.client_address)
                    for answer in answers:
                        length = 0
                        while line := self.rfile.readline().strip():
                            name, _, value = line.partition(b":")
                            length = int(value) if name.lower() == b"content-length" else length
                        if not length:
                            return
                        self.rfile.read(length)
                        self.wfile.write(answer)

            connections = []
            server = ThreadingTCPServer(("127.0.0.1", 0), Handler)
            server.daemon_threads = True
            stack.callback(server.server_close)
            stack.callback(server.shutdown)
            threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
            return f"http://127.0.0.1:{server.server_address[1]}/v1", connections

        yield serve


OK = b"HTTP/1.1 200 OK\r\n"
TEXT = json.dumps({"text": "ä" * 70_000}, ensure_ascii=False)
DATA = TEXT.encode()
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
HALF = len(DATA) // 2


@pytest.mark.parametrize(
    "answer",
    [
        OK + b"content-length: %d\r\n\r\n" % len(DATA) + DATA,
        OK + b"\r\n" + DATA,
        CHUNKED + b"%x;a=b\r\n%s\r\n0\r\n\r\n" % (len(DATA), DATA),
        CHUNKED
        + b"%X\r\n%s\r\n%x\r\n%s\r\n" % (HALF, DATA[:HALF], len(DATA) - HALF, DATA[HALF:])
        + b"0\r\nX-Trailer: 1\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n" + OK + b"Content-Length:%d\r\n\r\n" % len(DATA) + DATA,
        b"HTTP/1.0 200 Fine\r\n\r\n" + DATA,
    ],
)
def test_forms_of_a_response(serving, answer):
    url, _ = serving(answer)
    (raw,) = send(url, BODY)
    assert (raw.status, raw.trouble, raw.text) == (200, "", TEXT)


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"SSH-2.0-OpenSSH\r\n\r\n",
        b"HTTP/1.1 fine\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n",
        OK + b"Content-Length: ten\r\n\r\n",
        OK + b"Content-Length: 10\r\n\r\n123",
        CHUNKED + b"zz\r\n",
        CHUNKED + b"9\r\n123",
        OK + b"X-Long: " + b"x" * 2**17,
    ],
)
def test_what_is_no_response(serving, answer):
    url, _ = serving(answer)
    (raw,) = send(url, BODY)
    assert (raw.status, raw.trouble) == (0, "broken")
    assert raw.text
    assert raw.failure.then == "again"


def test_connections_are_used_again(serving):
    url, connections = serving(*[OK + b"Content-Length: 2\r\n\r\n{}"] * 5)
    assert [raw.status for raw in send(url, *[BODY] * 5)] == [200] * 5
    assert len(connections) == 1


def test_a_connection_that_the_server_ends_is_not_used_again(serving):
    fine = OK + b"Content-Length: 2\r\n\r\n{}"
    url, connections = serving(fine, fine)
    assert [raw.status for raw in send(url, *[BODY] * 3, pause=0.05)] == [200] * 3
    assert len(connections) == 2
    url, connections = serving(OK + b"Connection: close\r\nContent-Length: 2\r\n\r\n{}", fine)
    assert [raw.status for raw in send(url, *[BODY] * 3, pause=0.05)] == [200] * 3
    assert len(connections) == 3
