"""A model in this process in the place of a server."""

import asyncio
import json
import signal
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from grammeter.llm.transport import Raw

Body = Mapping[str, Any]  # a request or a reply, in the shape of OpenAI's chat completions


class Chat(Protocol):
    """A model that answers many requests at once."""

    @property
    def identity(self) -> str:
        """All that replies depend on besides the requests."""
        ...

    def check(self, requests: Sequence[Body]) -> None:
        """Raise a GrammeterError if a request cannot be answered, before any is."""
        ...

    def answer(self, requests: Sequence[Body]) -> Iterator[list[tuple[int, Body]]]:
        """Yield batches of replies, each with the place of its request, in any order."""
        ...


class Local:
    """A connection to a model in this process: requests that wait are answered together."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self._waiting: list[tuple[Body, asyncio.Future[Raw]]] = []
        self._work: asyncio.Task[None] | None = None

    async def aclose(self) -> None:
        """Answer nothing more."""
        if self._work is not None:
            self._work.cancel()

    async def send(self, body: Body, timeout: float) -> Raw:
        """Return the reply; it may take any time. Errors of the model are passed on."""
        del timeout
        answer: asyncio.Future[Raw] = asyncio.get_running_loop().create_future()
        self._waiting.append((body, answer))
        if self._work is None or self._work.done():
            self._work = asyncio.create_task(self._answer())
            self._work.add_done_callback(lambda work: work.cancelled() or work.exception())
        return await answer

    async def _answer(self) -> None:
        """Answer what waits, and then what came meanwhile."""
        while self._waiting:
            count = 0
            while count < len(self._waiting):  # let all who are about to ask do so
                count = len(self._waiting)
                await asyncio.sleep(0)
            asked, self._waiting = self._waiting, []
            try:
                await self._answer_all([body for body, _ in asked], [to for _, to in asked])
            except Exception as error:
                for _, answer in asked:
                    if not answer.done():
                        answer.set_exception(error)  # for who waits to raise

    async def _answer_all(self, asked: list[Body], to: list[asyncio.Future[Raw]]) -> None:
        batches = self._chat.answer(asked)
        while True:
            started = time.time()
            with _stoppable():
                batch = next(batches, None)
            if batch is None:
                return
            seconds = time.time() - started
            for place, body in batch:
                if not to[place].done():
                    raw = Raw(200, json.dumps(body), seconds=seconds, started=started)
                    to[place].set_result(raw)
            await asyncio.sleep(0)  # these are stored before the next batch begins


@contextmanager
def _stoppable() -> Generator[None]:
    """Let Ctrl-C stop the work inside at once: asyncio's handler waits until that is done."""
    handler: Any = signal.getsignal(signal.SIGINT)
    if not hasattr(handler, "func"):  # asyncio's is a partial
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
