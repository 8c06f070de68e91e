"""Runs that are broken off, and runs side by side: nothing is lost, little is paid twice."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
import time

import pytest

from llm_calls import ask, calls
from scripted_endpoint import ScriptedEndpoint

PROGRAM = """
import sys
from pathlib import Path
from grammeter.llm import client
from grammeter.llm.reply import Call
from grammeter.llm.endpoint import Endpoint, using
url, folder = sys.argv[1:]
calls = [Call(prompt=f"# targets\\na {n}\\nb\\n\\n# output format\\nJSON", targets=2, template="t")
         for n in range(200)]
with using(Endpoint(base_url=url, cache_dir=Path(folder), concurrency=8, backoff=0.001)):
    print([outcome.scores for outcome in client.ask("scripted-1", calls)])
"""


def start(server, folder):
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, server.url, str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return out


def test_a_kill_costs_the_calls_in_flight_at_most(tmp_path):
    with ScriptedEndpoint(delay=0.02) as server:
        with start(server, tmp_path) as process:
            while len(server.requests) < 60:
                assert process.poll() is None
                time.sleep(0.005)
            process.kill()
            process.wait()
        assert len(server.requests) < 200
        server.delay = 0.0
        with start(server, tmp_path) as process:
            finish(process)
        assert len({received.prompt for received in server.requests}) == 200
        assert server.repeated <= 8


@pytest.mark.parametrize("seed", [1, 2])
def test_kills_at_any_time_cost_the_calls_in_flight_at_most(tmp_path, seed):
    """Eight are in flight; between two kills the run goes on from what is stored."""
    chance, limits = random.Random(seed), []
    with ScriptedEndpoint(delay=0.02) as server:
        for _ in range(4):
            limits.append(len(server.requests) + chance.randrange(1, 50))
            with start(server, tmp_path) as process:
                while len(server.requests) < limits[-1]:
                    assert process.poll() is None
                    time.sleep(chance.random() * 0.01)
                process.kill()
        with start(server, tmp_path) as process:
            finish(process)
        assert len({received.prompt for received in server.requests}) == 200
        assert server.repeated <= 4 * 8
        sent = len(server.requests)
        with start(server, tmp_path) as process:
            finish(process)
        assert len(server.requests) == sent, "nothing is paid twice"


def test_two_processes_may_share_the_cache(tmp_path):
    with ScriptedEndpoint(delay=0.02) as server:
        with start(server, tmp_path) as one, start(server, tmp_path) as other:
            assert finish(one) == finish(other)
        assert server.repeated < 100, "most of what one has asked the other finds"


@pytest.mark.parametrize("notebook", [False, True])
def test_an_interruption_keeps_everything(endpoint, notebook):
    async def cell():
        return ask(here, calls(100))

    def run():
        with contextlib.closing(
            asyncio.new_event_loop()
        ) as loop:  # unlike asyncio.run: no own handler
            loop.run_until_complete(cell())

    def interrupt():
        while len(server.requests) < 10:
            time.sleep(0.002)
        os.kill(os.getpid(), signal.SIGINT)

    with ScriptedEndpoint(delay=0.01) as server:
        here = endpoint(server, concurrency=2)
        threading.Thread(target=interrupt, daemon=True).start()
        with pytest.raises(KeyboardInterrupt):
            _ = run() if notebook else ask(here, calls(100))
        assert len(server.requests) < 100
        server.delay = 0.0
        assert len(ask(here, calls(100))) == 100
        assert server.repeated <= 2
