"""The second task: each change is judged, then the corrections are ranked."""

import re

import pytest

pytest.importorskip("whitenoise", reason="the extra 'campaign' is not installed")

import itertools

from hypothesis import given
from hypothesis import strategies as st

from grammeter.campaign import conf
from grammeter.core import apply
from grammeter.formats import EditJudgments, read_judgments
from made_campaigns import form_of, made

SENTENCES = st.lists(st.sampled_from(["a", "b", "B", "."]), max_size=8).map(" ".join)


@pytest.fixture
def edits(database):
    return made(
        database,
        task="edits",
        sources=["He go home now ."],
        systems={"A": ["He goes to home ."], "B": ["He go home now ."]},
    )


def fields_of(client, address):
    page = client.get(address).content.decode()
    return sorted(set(re.findall(r'name="(edit-\d+-\d+)"', page))), page


@given(SENTENCES, SENTENCES)
def test_edits_make_the_output_of_the_source(source, output):
    conf.configure("x.db")
    from grammeter.campaign.services.answers import edits_of, pieces

    found = edits_of(source, output)
    assert apply(source.split(), found) == output.split()
    assert all(one.end < other.start for one, other in itertools.pairwise(found))
    drawn = pieces(source, found)
    assert " ".join(piece.new for piece in drawn if piece.new) == " ".join(output.split())
    assert " ".join(piece.old for piece in drawn if piece.old) == " ".join(source.split())
    kinds = {"insert": (False, True), "delete": (True, False), "replace": (True, True)}
    for piece in drawn:
        if piece.kind != "same":
            assert (bool(piece.old), bool(piece.new)) == kinds[piece.kind]
    numbers = [piece.number for piece in drawn if piece.kind != "same"]
    assert numbers == list(range(1, len(found) + 1))


def test_a_change_is_shown_between_its_neighbours():
    conf.configure("x.db")
    from grammeter.campaign.services.answers import edits_of, in_context

    source = "He go home now ."
    first, second = edits_of("He go home now .", "He goes to home .")
    assert [(p.kind, p.new) for p in in_context(source, first)] == [
        ("same", "He"), ("replace", "goes to"), ("same", "home")
    ]  # fmt: skip
    assert [(p.kind, p.old) for p in in_context(source, second)] == [
        ("same", "home"), ("delete", "now"), ("same", ".")
    ]  # fmt: skip


def test_each_change_is_judged_before_the_ranks_count(edits):
    client = edits.client(0)
    address, hidden, size = form_of(client)
    names, page = fields_of(client, address)
    assert len(names) == 2
    assert page.count('class="verdict"') == 2
    ranks = {f"rank-{place}": 1 for place in range(size)}
    refused = client.post(address, {**hidden, **ranks, names[0]: "valid"})
    assert refused.status_code == 422
    assert "without a verdict" in refused.content.decode()
    assert f'name="{names[0]}" value="valid" checked' in refused.content.decode()
    unknown = client.post(address, {**hidden, **ranks, **dict.fromkeys(names, "perhaps")})
    assert unknown.status_code == 422
    verdicts = {names[0]: "valid", names[1]: "invalid"}
    assert client.post(address, {**hidden, **ranks, **verdicts}).status_code == 302
    shown = fields_of(client, address)[1]
    assert f'name="{names[1]}" value="invalid" checked' in shown
    from grammeter.campaign.services import results

    (row,) = results.details(edits.campaign)
    assert sorted(row["verdicts"]) == [[], ["valid", "invalid"]]
    assert len(results.judgments(edits.campaign)) == 1


def test_a_draft_may_lack_verdicts_and_a_skip_too(edits):
    client = edits.client(0)
    address, _, _ = form_of(client)
    names, _ = fields_of(client, address)
    draft = {"action": "draft", "key": "d", names[1]: "valid"}
    assert client.post(address, draft, headers={"accept": "application/json"}).status_code == 200
    assert f'name="{names[1]}" value="valid" checked' in fields_of(client, address)[1]
    skip = {"action": "skip", "key": "s", "reason": "no sense"}
    assert client.post(address, skip).status_code == 302


def test_ranking_campaigns_ask_for_no_verdict(database):
    client = made(database).client(0)
    address, _, _ = form_of(client)
    names, page = fields_of(client, address)
    assert names == []
    assert 'class="verdict"' not in page


def test_the_export_holds_each_edit_with_its_verdict(edits, tmp_path):
    """Round trip: what stands in the file makes the outputs of the source again."""
    import json

    from grammeter.campaign.services import results
    from grammeter.core import Edit

    client = edits.client(0)
    address, hidden, size = form_of(client)
    names, _ = fields_of(client, address)
    draft = {"action": "draft", "key": "d", names[1]: "invalid"}
    client.post(address, draft, headers={"accept": "application/json"})
    ranks = {f"rank-{place}": 1 for place in range(size)}
    client.post(address, {**hidden, **ranks, names[0]: "valid", names[1]: "invalid"})
    path = tmp_path / "details.jsonl"
    path.write_text(results.text(edits.campaign, "details"), encoding="utf-8")
    _, *rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    texts = {"A": "He goes to home .", "B": "He go home now ."}
    for row, verdicts in zip(rows, ([None, "invalid"], ["valid", "invalid"]), strict=True):
        for systems, own in zip(row["shown"], row["edits"], strict=True):
            made_of = [Edit(each["start"], each["end"], each["correction"]) for each in own]
            source = ["He", "go", "home", "now", "."]
            assert " ".join(apply(source, made_of)) == texts[systems[0]]
            assert [each["verdict"] for each in own] == (verdicts if systems == ["A"] else [])
    judged = read_judgments(path)
    assert isinstance(judged, EditJudgments)
    (item,) = judged.checked(["He go home now ."])
    assert {e.verdict for own in item.edits for e in own} == {True, False}
    (changed,) = (own for own in rows[-1]["edits"] if own)
    assert changed == [
        {"start": 1, "end": 2, "correction": "goes to", "verdict": "valid"},
        {"start": 3, "end": 4, "correction": "", "verdict": "invalid"},
    ]


def test_a_skipped_item_has_edits_without_verdicts(edits):
    from grammeter.campaign.services import results

    client = edits.client(0)
    address, _, _ = form_of(client)
    client.post(address, {"action": "skip", "key": "s", "reason": "no sense"})
    (row,) = results.details(edits.campaign)
    assert sorted(map(len, row["edits"])) == [0, 2]
    assert {each["verdict"] for own in row["edits"] for each in own} == {None}


def test_ranking_campaigns_export_no_edits(database):
    from grammeter.campaign.services import results

    one = made(database)
    client = one.client(0)
    address, hidden, size = form_of(client)
    client.post(address, {**hidden, **{f"rank-{place}": 1 for place in range(size)}})
    (row,) = results.details(one.campaign)
    assert row["edits"] is None


SHARED = {"A": ["He goes home now ."], "B": ["He goes to home ."], "C": ["He go home ."]}
"""go -> goes is in A; goes to, and no now, in B; no now in C."""


def submitted(client, verdict, **more):
    """Answer the item at hand, one verdict for all that is asked; return how many that were."""
    address, hidden, size = form_of(client)
    names, page = fields_of(client, address)
    ranks = {f"rank-{place}": 1 for place in range(size)}
    sent = {**hidden, **ranks, **dict.fromkeys(names, verdict), **more}
    assert client.post(address, sent).status_code == 302
    return len(names), page, address


def verdicts_of(one):
    """Return judge -> (start, end, correction) -> the verdicts in the latest versions."""
    from grammeter.campaign.services import results

    latest = {
        (row["judge"], row["number"], row["turn"]): row for row in results.details(one.campaign)
    }
    found = {}
    for row in latest.values():
        for edit in itertools.chain.from_iterable(row["edits"]):
            key = row["judge"], row["turn"], (edit["start"], edit["end"], edit["correction"])
            found.setdefault(key, set()).add(edit["verdict"])
    return found


def test_a_change_that_several_outputs_share_is_asked_once(database):
    one = made(database, task="edits", sources=["He go home now ."], systems=SHARED)
    asked, page, _ = submitted(one.client(0), "valid")
    assert asked == 3, "goes; goes to; without now"
    assert page.count("the same change as in correction") == 1
    found = verdicts_of(one)
    assert len(found) == 3
    assert all(words == {"valid"} for words in found.values())


def test_a_change_of_another_item_is_not_asked_again(database):
    from grammeter.campaign import creating
    from grammeter.campaign.services import campaigns, judges
    from grammeter.core import Item
    from grammeter.formats import Corpus

    one = made(database, sources=["x ."], systems={"A": ["y ."], "B": ["z ."]})
    corpus = Corpus(sources=["He go home now ."], systems=SHARED)
    pairs = [Item(segment=1, systems=pair, item=f"{pair}") for pair in ("AB", "BC", "CA")]
    plan = creating.Plan(name="pairs", judges=2, task="edits", overlap=1.0)
    one.campaign = campaigns.create(plan, corpus, pairs)
    one.tokens = judges.invite(one.campaign, 2)
    client, other = one.client(0), one.client(1)
    asked = [submitted(client, "valid") for _ in pairs]
    assert sum(count for count, _, _ in asked) == 3, "each of three changes once"
    assert "you judged this change before: valid" in asked[-1][1]
    first = asked[0][2]
    names, _ = fields_of(client, first)
    assert len(names) == asked[0][0], "where it was asked it can be corrected"
    ranks = {"rank-0": 1, "rank-1": 1}
    sent = {**ranks, **dict.fromkeys(names, "invalid"), "key": "again"}
    assert client.post(first, sent).status_code == 302
    submitted(other, "valid")
    found = verdicts_of(one)
    assert all(len(words) == 1 for words in found.values()), "one verdict of one judge"
    mine = [words for (judge, _, _), words in found.items() if judge == "judge01"]
    assert mine.count({"invalid"}) == len(names)


def test_a_repeat_asks_afresh(database):
    systems = {"A": ["He goes .", "a b"], "B": ["He go !", "b a"]}
    one = made(database, task="edits", sources=["He go .", "b b"], systems=systems, repeats=1)
    client = one.client(0)
    first, second, again = (submitted(client, word)[0] for word in ("valid", "valid", "invalid"))
    assert again in (first, second)
    turns = {turn: words for (_, turn, _), words in verdicts_of(one).items()}
    assert turns == {0: {"valid"}, 1: {"invalid"}}
