"""Work that ends its process; spawned processes import it from here."""

import os
import signal
from pathlib import Path

from grammeter.engine import ray
from grammeter.engine.rows import process
from grammeter.formats import PARTIAL

FLAG = "GRAMMETER_TEST_FLAG"


def once(job, block, form):
    """Score, but end the process at one block, the first time."""
    flag = Path(os.environ[FLAG])
    if block.first == 13 and not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return process(job, block, form)


class Worker(ray._Worker):
    """An actor that ends its process in the middle of one shard, the first time."""

    def score(self, item):
        flag = Path(os.environ[FLAG])
        if item.shard.name == "part-1.jsonl" and not flag.exists():
            flag.touch()
            item.output.with_name(item.output.name + PARTIAL).write_text("half a li")
            os.kill(os.getpid(), signal.SIGKILL)
        return super().score(item)


class Faulty(ray._Worker):
    """An actor with a mistake of its own."""

    def score(self, item):
        raise ZeroDivisionError("a mistake")
