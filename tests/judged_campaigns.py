"""Campaigns for tests of the services, and judges that answer by a rule."""

from __future__ import annotations

import itertools

from grammeter.formats import Corpus

SYSTEMS = ("Aye", "Bee", "Cee", "Dee")
_keys = itertools.count()


def made_corpus(sentences: int = 30) -> Corpus:
    """Four systems: Aye and Bee often write the same; each fifth sentence has one output."""
    texts = {
        name: [
            f"output {line} ."
            if line % 5 == 0
            else f"output {line} by {'Aye' if name == 'Bee' and line % 2 else name} ."
            for line in range(sentences)
        ]
        for name in SYSTEMS
    }
    return Corpus(sources=[f"source {line} ." for line in range(sentences)], systems=texts)


def made_campaign(n: int = 20, sentences: int = 30, **settings):
    """Make a campaign; settings are those of a plan."""
    from grammeter.campaign import creating
    from grammeter.campaign.services import campaigns

    corpus = made_corpus(sentences)
    plan = creating.Plan(**{"name": "pilot", "judges": 2, **settings})
    items = campaigns.draw_items(plan, corpus, n=n, select="uniform")
    return campaigns.create(plan, corpus, items)


def come_in(campaign, n: int = 1):
    """Invite judges, and let them come."""
    from grammeter.campaign.services import judges

    return [judges.redeem(token) for token in judges.invite(campaign, n)]


def key() -> str:
    return f"key-{next(_keys)}"


def answer(judge, assignment, ranks=None, **settings):
    """Hand an answer in: by the outputs' texts in alphabetical order, unless given."""
    from grammeter.campaign.services import answers

    if ranks is None:
        texts = answers.outputs(assignment)
        ranks = [sorted(texts).index(text) + 1 for text in texts]
    return answers.save(judge, assignment, ranks=ranks, key=key(), **settings)


def work(judge, most: int = 1000) -> list:
    """Let a judge answer all there is; return the assignments."""
    from grammeter.campaign.services import assign

    done = []
    while len(done) < most and (found := assign.next_assignment(judge)) is not None:
        answer(judge, found)
        done.append(found)
    return done
