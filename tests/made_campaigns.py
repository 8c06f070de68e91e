"""Small campaigns in a database of their own, and judges who sit before them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

SOURCES = ["He go home .", "She like cats .", "They was late .", "I has two dog ."]
SYSTEMS = {
    "Alphasystem": ["He goes home .", "She likes cats .", "They were late .", "I have two dogs ."],
    "Betasystem": ["He go to home .", "She like a cats .", "They was lately .", "I has dogs ."],
    "Gammasystem": ["He go home .", "She likes cats .", "They was late .", "I have two dog ."],
}
PASSWORD = "a long and quiet evening"


@dataclass
class Made:
    """A campaign, its database, and one token for each judge."""

    campaign: object
    database: Path
    tokens: list[str]

    def client(self, at: int | None = None):
        """Return a browser without script; with a number, that judge sits before it, at work."""
        from django.test import Client

        client = Client()
        if at is not None:
            assert client.post(f"/join/{self.tokens[at]}/").status_code == 302
            client.post("/judge/consent", {"agree": "yes"})
            client.post("/judge/about", {"empty": "yes"})
            client.post("/judge/guidelines")
        return client


def made(database: Path, *, sources=None, systems=None, https=False, **plan) -> Made:
    """Make a campaign of all sentences that all judges see; ``plan`` adds to it.

    The database has all tables, such as that of the fixture ``database``.
    """
    from grammeter.campaign import conf

    conf.configure(database, serve=True, hosts=("testserver",), https=https)
    from grammeter.campaign import creating
    from grammeter.campaign.services import campaigns, judges
    from grammeter.core import Item
    from grammeter.formats import Corpus

    sources = sources or SOURCES
    systems = systems or SYSTEMS
    corpus = Corpus(sources=sources, systems=systems, references=())
    names = tuple(systems)
    settings = {"name": "pilot", "judges": 2, "overlap": 1.0, **plan}
    if settings.get("strategy", "planned") != "planned":
        settings.pop("judges")
    items = [Item(segment=at, systems=names) for at in range(1, len(sources) + 1)]
    campaign = campaigns.create(creating.Plan(**settings), corpus, items)
    return Made(campaign, database, judges.invite(campaign, 2))


def organiser(folder_made: Made, name: str = "ann", **account):
    """Return a browser in which an organiser is logged in."""
    from grammeter.campaign.services import organisers

    organisers.save_account(name, PASSWORD, **account)
    client = folder_made.client()
    answer = client.post("/login", {"username": name, "password": PASSWORD})
    assert answer.status_code == 302
    return client


def form_of(client) -> tuple[str, dict[str, str], int]:
    """Go to the item at hand; return its address, the hidden fields, and how many outputs."""
    answer = client.get("/judge/", follow=True)
    text = answer.content.decode()
    assert answer.status_code == 200
    assert 'id="item"' in text, text[:400]
    hidden = dict(re.findall(r'<input type="hidden" name="(key)" value="([^"]*)"', text))
    return answer.request["PATH_INFO"], hidden, len(re.findall(r'<section class="card', text))


def answer_all(client, rank=lambda place: place + 1) -> int:
    """Answer whatever comes, as a plain form does; return how many items that were."""
    for count in range(200):
        if client.get("/judge/").headers["Location"] == "/judge/done":
            return count
        address, hidden, size = form_of(client)
        ranks = {f"rank-{place}": rank(place) for place in range(size)}
        assert client.post(address, {**hidden, **ranks, "action": "submit"}).status_code == 302
    raise AssertionError("no end")
