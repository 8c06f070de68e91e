"""A campaign with all tasks, and judges who answer them on their pages by a rule."""

from __future__ import annotations

import re

from grammeter.core import Item
from grammeter.formats import Corpus
from made_campaigns import Made

TASKS = ("ranking", "edits", "marks", "best-worst", "rating", "direct", "post-edit")
SOURCES = [
    "He go home now .",
    "She like cats .",
    "They was late .",
    "I has two dog .",
    "We is here .",
    "It rain a lot .",
    "You was right .",
]
SYSTEMS = {
    "Alpha": ["He goes home now .", "She likes cats .", "They were late .", "I have two dogs .",
              "We are here .", "It rains a lot .", "You were right ."],
    "Beta": ["He go to home now .", "She like a cats .", "They was lately .", "I has dogs .",
             "We is at here .", "It rain lots .", "You was rightly ."],
    "Gamma": ["He goes home now .", "She like cats .", "They was late .", "I have two dog .",
              "We are here .", "It raining a lot .", "You was right ."],
}  # fmt: skip
"""Alpha and Gamma write the same in the sentences 1 and 5."""


def mixed(database, tasks=TASKS, *, name="mixed", sentences=None, **plan) -> Made:
    """Make a campaign with an item of each task, by default sentence 1 for the first task, ..."""
    from grammeter.campaign import conf

    conf.configure(database, serve=True, hosts=("testserver",))
    from grammeter.campaign import creating
    from grammeter.campaign.services import campaigns, judges

    segments = sentences or range(1, len(tasks) + 1)
    items = [
        Item(segment=segment, systems=tuple(SYSTEMS), task=task)
        for task, segment in zip(tasks, segments, strict=True)
    ]
    settings = {"name": name, "judges": 2, "overlap": 1.0, **plan}
    campaign = campaigns.create(
        creating.Plan(**settings), Corpus(sources=SOURCES, systems=SYSTEMS), items
    )
    return Made(campaign, database, judges.invite(campaign, settings["judges"]))


def fields(page: str) -> dict[str, list[str]]:
    """Return the names of a form's fields with the values that can be chosen."""
    form = page[page.index('id="item"') :]
    found: dict[str, list[str]] = {}
    for name, value in re.findall(r'type="radio" name="([^"]+)" value="([^"]*)"', form):
        found.setdefault(name, []).append(value)
    for name in re.findall(r'type="number" name="([^"]+)"', form):
        found[name] = []
    for name, text in re.findall(r'<textarea[^>]* name="([^"]+)"[^>]*>([^<]*)<', form):
        found[name] = [text]
    return found


def answer_of(page: str) -> dict[str, str]:
    """Answer what a page asks: ranks as shown, all edits valid, scores by place."""
    answer: dict[str, str] = {}
    for name, values in fields(page).items():
        part, _, rest = name.partition("-")
        place = int(rest.partition("-")[0]) if rest and part != "edit" else 0
        if part == "rank":
            answer[name] = str(place + 1)
        elif part == "edit":
            answer[name] = "valid"
        elif part == "score":
            answer[name] = values[place] if values else str(90 - 20 * place)
        elif part == "text":
            answer[name] = values[0].replace("was", "were")
        elif name in ("best", "worst"):
            answer[name] = values[0 if name == "best" else -1]
    return answer


def at_item(client) -> tuple[str, str, dict[str, str]]:
    """Go to the item at hand; return its address, its page, and the hidden fields."""
    answer = client.get("/judge/", follow=True)
    page = answer.content.decode()
    assert 'id="item"' in page, page[:400]
    hidden = dict(re.findall(r'<input type="hidden" name="(key)" value="([^"]*)"', page))
    return answer.request["PATH_INFO"], page, hidden


def play(client, most: int = 100) -> int:
    """Answer whatever comes as a plain form does; return how many items that were."""
    for count in range(most):
        if client.get("/judge/").headers["Location"] == "/judge/done":
            return count
        address, page, hidden = at_item(client)
        sent = client.post(address, {**hidden, **answer_of(page), "action": "submit"})
        assert sent.status_code == 302, sent.content.decode()[:3000]
    return most
