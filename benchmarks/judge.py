"""The client of LLM judges: wall and CPU time of 600 calls to a server that takes 200 ms.

The server runs in a process of its own. The peer is its HTTP library behind a semaphore: no
cache, no limits, no bill. Ratios below 1 mean that the client is the cheaper one.

Then 5,000 calls, 64 at once, to a server that takes 50 ms, against the ideal: 50 ms for 64 calls.
That server does nothing but wait, so that the two of them get along with two processors.

Usage: python benchmarks/judge.py [CALLS [CONCURRENCY [ROUNDS]]]          (default: 600 32 3)
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from rows import Goal, Row
from stopwatch import peak

from grammeter.llm import Endpoint, client, using
from grammeter.llm.reply import Call, schema

SERVER = Path(__file__).parents[1] / "tests" / "scripted_endpoint.py"
MODEL = "scripted-1"
ESSAY = "After reading the context to understand the flow , please assign a score . " * 16


def main() -> None:
    if sys.argv[1:2] == ["--wait"]:
        asyncio.run(wait(float(sys.argv[2])))
    given = [int(text) for text in sys.argv[1:]]
    count, concurrency, rounds = [*given, *(600, 32, 3)[len(given) :]]
    with serving() as url:
        measure("import aiohttp", 1, lambda: __import__("aiohttp"))
        print(
            f"{count} calls, {concurrency} at once; the server alone: "
            f"{0.2 * -(-count // concurrency):.2f} s wall; load {os.getloadavg()[0]:.1f}"
        )
        for _ in range(rounds):
            compare(url, calls(count), concurrency)
    for row in many():
        print(row.work, f"{row.ours:.2f} {row.unit}, ideal / ours {row.ratio:.2f}, {row.memory} MB")


@contextmanager
def serving(*words: str) -> Iterator[str]:
    """Serve answers after 200 ms, or run another server; gives the address."""
    command = words or (str(SERVER), "--delay", "0.2")
    server = subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        yield server.stdout.readline().strip()
    finally:
        server.kill()
        server.wait()


def rows(shared: Path | None = None, *, count: int = 600, concurrency: int = 32) -> Iterator[Row]:
    del shared  # prompts are made up
    __import__("aiohttp")
    with serving() as url:
        (wall, cpu), (again_wall, _), (peer_wall, peer_cpu) = compare(
            url, calls(count), concurrency
        )
    work = f"{count} calls to a server that takes 200 ms, {concurrency} at once"
    yield Row(work, wall, "s wall", "aiohttp alone", peer_wall, goals=(Goal(6),))
    yield Row(f"{work}: our own time a call", 1000 * cpu / count, "ms CPU", "aiohttp alone",
              1000 * peer_cpu / count, goals=(Goal(3),))  # fmt: skip
    yield Row(f"{count} replies from the cache", again_wall, "s wall")
    yield from many()


def many(count: int = 5000, concurrency: int = 64, delay: float = 0.05) -> Iterator[Row]:
    """Many calls to a quick server, against the time that they take there."""
    few, ideal = count // 10, -(-count // concurrency) * delay
    with serving(__file__, "--wait", str(delay)) as url, tempfile.TemporaryDirectory() as folder:
        asked = calls(count)
        with using(Endpoint(base_url=url, concurrency=concurrency, cache_dir=Path(folder))):
            measure("a tenth", few, lambda: client.ask(MODEL, asked[:few]))
            before = peak()
        with using(Endpoint(base_url=url, concurrency=concurrency, cache_dir=Path(folder, "2"))):
            wall, cpu = measure("all", count, lambda: client.ask(MODEL, asked))
    work = f"{count:,} calls to a server that takes {1000 * delay:g} ms, {concurrency} at once"
    least = Goal(1 / 1.3, "ratio")
    yield Row(work, wall, "s wall", "the server alone", ideal, memory=peak(), goals=(least,))
    yield Row(f"{work}: our own time a call", 1000 * cpu / count, "ms CPU", goals=(Goal(1),))
    yield Row(f"{work}: memory beyond a tenth of them", peak() - before, "MB", goals=(Goal(30),))


async def wait(delay: float) -> None:
    """Serve the same reply to all, ``delay`` seconds after each request."""
    scores = ", ".join(f'"target{n}_score": {n}' for n in range(1, 5))
    message = {"role": "assistant", "content": f"{{{scores}}}"}
    body = json.dumps({"choices": [{"index": 0, "finish_reason": "stop", "message": message}],
                       "usage": {"prompt_tokens": 400, "completion_tokens": 40}})  # fmt: skip
    reply = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(EOFError, OSError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = re.search(rb"(?i)content-length: *(\d+)", head)
                await reader.readexactly(int(length[1]) if length else 0)
                await asyncio.sleep(delay)
                writer.write(reply)

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


def compare(
    url: str, asked: Sequence[Call], concurrency: int
) -> tuple[tuple[float, float], tuple[float, float], tuple[float, float]]:
    """Return wall and CPU seconds of the client, of the client again, of aiohttp alone."""
    with tempfile.TemporaryDirectory() as folder:
        endpoint = Endpoint(base_url=url, concurrency=concurrency, cache_dir=Path(folder))
        with using(endpoint):
            ours = measure("client", len(asked), lambda: client.ask(MODEL, asked))
            again = measure("again, from the cache", len(asked), lambda: client.ask(MODEL, asked))
    alone = measure("aiohttp alone", len(asked), lambda: asyncio.run(bare(url, asked, concurrency)))
    print(f"client / aiohttp alone: wall {ours[0] / alone[0]:.2f}, CPU {ours[1] / alone[1]:.2f}")
    return ours, again, alone


def measure(name: str, count: int, work: Callable[[], object]) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(f"{name}: {wall:.2f} s wall, {1000 * cpu / count:.2f} ms CPU a call")
    return wall, cpu


async def bare(url: str, asked: Sequence[Call], concurrency: int) -> None:
    import aiohttp

    gate = asyncio.Semaphore(concurrency)
    async with aiohttp.ClientSession() as http:

        async def one(call: Call) -> None:
            shape = {"name": "scores", "strict": True, "schema": schema(call.targets)}
            body = {
                "model": MODEL,
                "messages": [{"role": "user", "content": call.prompt}],
                "response_format": {"type": "json_schema", "json_schema": shape},
            }
            async with gate, http.post(f"{url}/chat/completions", json=body) as reply:
                await reply.json()

        await asyncio.gather(*(one(call) for call in asked))


def calls(count: int) -> list[Call]:
    """Return questions on four targets of some twenty words, as long as those of SEEDA."""
    found: list[Call] = []
    for number in range(count):
        targets = "\n".join(f"{place}. In conclusion , {number} people harm {place} others ."
                            for place in range(1, 5))  # fmt: skip
        prompt = f"{ESSAY}\n# targets\n{targets}\n\n# output format\nJSON"
        found.append(Call(prompt=prompt, targets=4, template="bench"))
    return found


if __name__ == "__main__":
    main()
