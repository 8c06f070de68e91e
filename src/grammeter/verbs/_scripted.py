"""A judge that follows a script, to see the whole journey without model, network and key."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from grammeter import formats, llm
from grammeter.resources import sample_corpus

Body = Mapping[str, Any]
SCRIPTED = "llm-s(model=scripted)"
"""The metric that this judge stands for; no model has this name."""


def nowhere() -> llm.Endpoint:
    """Return an endpoint of this name, without a cache."""
    return llm.Endpoint(base_url="http://scripted.localhost/v1", cache_dir="off", concurrency=64)


def sample() -> tuple[formats.Corpus, formats.Judgments]:
    """Return the sample corpus and what its invented judges said of it."""
    folder = sample_corpus()
    outputs = sorted(folder.glob("systems/*.txt"))
    corpus = formats.read_corpus(source=folder / "source.txt", systems=outputs)
    return corpus, formats.read_judgments(folder / "judgments.xml", systems=corpus.systems)


class Scripted:
    """Takes one point of five off for each word that the nearest reference has not, or more of."""

    identity = "scripted"

    def __init__(self) -> None:
        files = [sample_corpus() / name for name in ("ref0.txt", "ref1.txt")]
        texts = [file.read_text("utf-8") for file in files]
        self._known = [Counter(line.split()) for text in texts for line in text.splitlines()]

    def answered(self, model: str, calls: Sequence[llm.Call]) -> list[llm.Outcome]:
        """Answer calls as a model would: by text that is read as any reply."""
        return llm.ask(model, calls, self)

    def check(self, requests: Sequence[Body]) -> None:
        """Refuse nothing."""

    def answer(self, requests: Sequence[Body]) -> Iterator[list[tuple[int, Body]]]:
        """Yield all replies."""
        yield [(place, self._reply(request)) for place, request in enumerate(requests)]

    def _reply(self, request: Body) -> Body:
        prompt: str = request["messages"][-1]["content"]
        targets = prompt.partition("# targets\n")[2].partition("\n\n")[0].split("\n")
        points = {
            f"target{number}_score": self._points(re.sub(r"^\d+\. ", "", target))
            for number, target in enumerate(targets, start=1)
        }
        message = {"role": "assistant", "content": json.dumps(points)}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        nothing = {"prompt_tokens": 0, "completion_tokens": 0}
        return {"model": self.identity, "choices": [choice], "usage": nothing}

    def _points(self, target: str) -> int:
        words = Counter(target.split())
        far = (max((words - near).total(), (near - words).total()) for near in self._known)
        return max(1, 5 - min(far))
