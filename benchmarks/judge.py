"""The client of LLM judges: wall and CPU time of 600 calls to a server that takes 200 ms.

The server runs in a process of its own. The peer is the SDK's ``create`` behind a semaphore: no
cache, no limits, no bill. Ratios below 1 mean that the client is the cheaper one.

Usage: python benchmarks/judge.py [CALLS [CONCURRENCY [ROUNDS]]]          (default: 600 32 3)
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from grammeter.judge import client
from grammeter.judge.calls import Call
from grammeter.judge.reader import schema
from grammeter.judge.runtime import Endpoint, using

SERVER = Path(__file__).parents[1] / "tests" / "scripted_endpoint.py"
MODEL = "scripted-1"
ESSAY = "After reading the context to understand the flow , please assign a score . " * 16


def main() -> None:
    given = [int(text) for text in sys.argv[1:]]
    count, concurrency, rounds = [*given, *(600, 32, 3)[len(given) :]]
    server = subprocess.Popen(
        [sys.executable, str(SERVER), "--delay", "0.2"], stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    url = server.stdout.readline().strip()
    try:
        measure("import openai", 1, lambda: __import__("openai"))
        print(
            f"{count} calls, {concurrency} at once; the server alone: "
            f"{0.2 * -(-count // concurrency):.2f} s wall; load {os.getloadavg()[0]:.1f}"
        )
        for _ in range(rounds):
            compare(url, calls(count), concurrency)
    finally:
        server.kill()
        server.wait()


def compare(url: str, asked: Sequence[Call], concurrency: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        endpoint = Endpoint(base_url=url, concurrency=concurrency, cache_dir=Path(folder))
        with using(endpoint):
            wall, cpu = measure("client", len(asked), lambda: client.ask(MODEL, asked))
            measure("again, from the cache", len(asked), lambda: client.ask(MODEL, asked))
    peer_wall, peer_cpu = measure(
        "the SDK alone", len(asked), lambda: asyncio.run(bare(url, asked, concurrency))
    )
    print(f"client / SDK alone: wall {wall / peer_wall:.2f}, CPU {cpu / peer_cpu:.2f}")


def measure(name: str, count: int, work: Callable[[], object]) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(f"{name}: {wall:.2f} s wall, {1000 * cpu / count:.2f} ms CPU a call")
    return wall, cpu


async def bare(url: str, asked: Sequence[Call], concurrency: int) -> None:
    import openai

    gate = asyncio.Semaphore(concurrency)
    async with openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as sdk:

        async def one(call: Call) -> None:
            shape = {"name": "scores", "strict": True, "schema": schema(call.targets)}
            async with gate:
                await sdk.chat.completions.create(
                    model=MODEL,
                    messages=[{"role": "user", "content": call.prompt}],
                    temperature=0,
                    top_p=1,
                    seed=1,
                    max_tokens=256,
                    response_format={"type": "json_schema", "json_schema": shape},
                )

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
