"""A client that asks nobody: scores come from a function of each target."""

from __future__ import annotations

import hashlib

from grammeter.llm.reply import Estimate, Outcome
from scripted_endpoint import targets


def by_hash(target):
    """Return a score from 1 to 5 that depends on the text alone."""
    return 1 + hashlib.sha256(target.encode()).digest()[0] % 5


class FakeClient:
    """Stands in for ``grammeter.llm.client``.

    ``score`` makes a number of a target, or the name of a state in which its call ends.
    """

    def __init__(self, score=by_hash):
        self.score = score
        self.calls = []
        self.models = set()

    def ask(self, model, calls):
        self.models.add(model)
        self.calls += dict.fromkeys(calls)
        return [self.outcome(call) for call in calls]

    def outcome(self, call):
        shown = targets(call.prompt)
        assert len(shown) == call.targets
        scores = [self.score(target) for target in shown]
        state = next((score for score in scores if isinstance(score, str)), None)
        if state:
            return Outcome(state=state, reason="scripted", attempts=3)
        return Outcome(state="ok", scores=tuple(scores), attempts=1)

    def estimate(self, model, calls):
        return Estimate(
            calls=len(set(calls)),
            known=0,
            tokens_in=sum(len(call.prompt) // 4 for call in set(calls)),
            tokens_out=0,
            cost=None,
            currency="USD",
            basis="characters / 4",
        )

    @property
    def prompts(self):
        return [call.prompt for call in self.calls]

    @property
    def shown(self):
        return [targets(prompt) for prompt in self.prompts]


def install(monkeypatch, score=by_hash):
    """Let all questions of a test go to a new fake client, and return it."""
    from grammeter.llm import client
    from grammeter.verbs import judge  # loads what must have the true one

    assert callable(judge)
    fake = FakeClient(score)
    monkeypatch.setattr(client, "ask", fake.ask)
    monkeypatch.setattr(client, "estimate", fake.estimate)
    return fake
