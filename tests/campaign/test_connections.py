"""Many connections to a server that runs: all are answered, and idle ones lock nobody out."""

import contextlib
import http.client
import socket
import sys
from urllib.parse import urlsplit

import pytest

pytest.importorskip("waitress", reason="the extra 'campaign' is not installed")
pytest.importorskip("whitenoise", reason="the extra 'campaign' is not installed")

import browsers
from made_campaigns import made

HALF = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
SECONDS = 20


def few_files():
    import resource

    resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))


@pytest.fixture(scope="module")
def served(blank, tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    database = folder / "campaign.db"
    database.write_bytes(blank.read_bytes())
    made(database)
    from django.db import connection

    connection.close()
    return folder


@pytest.fixture(scope="module")
def address(served):
    with browsers.serving("campaign.db", served) as (base, _):
        yield urlsplit(base).netloc


def ask(address):
    connection = http.client.HTTPConnection(address, timeout=SECONDS)
    with contextlib.closing(connection):
        connection.request("GET", "/")
        assert connection.getresponse().status == 200


def opened(address, count, sent, stack):
    host, port = address.split(":")
    for _ in range(count):
        line = socket.create_connection((host, int(port)), timeout=SECONDS)
        stack.callback(line.close)
        line.sendall(sent)


def test_three_hundred_browsers_keep_their_connections(address):
    lines = [http.client.HTTPConnection(address, timeout=SECONDS) for _ in range(300)]
    with contextlib.ExitStack() as stack:
        for line in lines:
            stack.callback(line.close)
        for turn in range(2):
            for line in lines:
                line.request("GET", "/")
                answer = line.getresponse()
                answer.read()
                assert answer.status == 200
                assert turn == 0 or line.sock is not None, "the connection was closed"
        ask(address)


@pytest.mark.parametrize("sent", [b"", HALF], ids=["idle", "half-sent"])
def test_connections_that_ask_nothing_lock_nobody_out(address, sent):
    with contextlib.ExitStack() as stack:
        opened(address, 300, sent, stack)
        ask(address)


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of open files")
@pytest.mark.parametrize("sent", [b"", HALF], ids=["idle", "half-sent"])
def test_more_connections_than_files_may_be_open(served, sent):
    """Those that rest longest are closed for those that come."""
    with (
        browsers.serving("campaign.db", served, preexec_fn=few_files) as (base, _),
        contextlib.ExitStack() as stack,
    ):
        address = urlsplit(base).netloc
        for _ in range(4):
            opened(address, 100, sent, stack)
            ask(address)
