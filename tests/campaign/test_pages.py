"""What judges and organisers see, without script: every page, and the way through them."""

import html
import json
import re

import pytest

pytest.importorskip("whitenoise", reason="the extra 'campaign' is not installed")

from made_campaigns import SYSTEMS, answer_all, form_of, made, organiser

TUTORIAL = {
    "source": "He sing .",
    "outputs": ("He sings .", "He sing ."),
    "ranks": (1, 2),
    "explanation": "The verb agrees.",
}


def checks(**how):
    from grammeter.campaign.criteria import Check

    return (Check(**TUTORIAL, **how),)


@pytest.fixture
def pilot(database):
    return made(database)


def text(answer):
    return answer.content.decode()


def details(one):
    from grammeter.campaign.services import results

    return list(results.details(one.campaign))


def test_a_judge_is_led_from_the_invite_to_the_end(database):
    one = made(
        database, consent="We study <b>this</b>.", guidelines="Be fair.", pass_code="P1",
        fail_code="F1", redirect="https://example.org/?c={code}",
    )  # fmt: skip
    client = one.client()
    first = client.post(f"/join/{one.tokens[0]}/", follow=True)
    assert "<form" in text(first)
    assert "We study &lt;b&gt;this&lt;/b&gt;." in text(first)
    assert client.get("/judge/done", follow=True).redirect_chain[-1][0] == "/judge/consent"
    assert "tick the box" in text(client.post("/judge/consent", {}))
    assert client.post("/judge/consent", {"agree": "yes"}, follow=True).redirect_chain[-1][0] == (
        "/judge/about"
    )
    told = {"first_language": "Sorbian", "experience": "teacher", "remarks": ""}
    shown = client.post("/judge/about", told, follow=True)
    assert "Be fair." in text(shown)
    assert (
        client.post("/judge/guidelines", follow=True)
        .redirect_chain[-1][0]
        .startswith("/judge/items/")
    )
    assert answer_all(client) == 4
    end = text(client.get("/judge/done"))
    assert "P1" in end
    assert 'href="https://example.org/?c=P1"' in end
    assert "F1" not in end
    from grammeter.campaign.models import Background

    assert Background.objects.get().first_language == "Sorbian"


def test_the_item_page_shows_context_and_changes_and_no_system(pilot):
    client = pilot.client(0)
    pages = []
    while client.get("/judge/").headers["Location"] != "/judge/done":
        address, hidden, size = form_of(client)
        pages.append(text(client.get(address)))
        ranks = {f"rank-{place}": 1 for place in range(size)}
        client.post(address, {**hidden, **ranks})
    page = next(page for page in pages if '<p class="target" dir="auto">She like cats .' in page)
    assert "He go home ." in page
    assert "They was late ." in page
    assert "<del>like</del>" in page
    assert "<ins>likes</ins>" in page
    assert "<ins>a</ins>" in page
    assert page.count('<section class="card') == 2  # two systems wrote the same
    for name in SYSTEMS:
        assert name not in "".join(pages)


def test_a_plain_form_ranks_and_comments(pilot):
    client = pilot.client(0)
    address, hidden, size = form_of(client)
    ranks = {f"rank-{place}": size - place for place in range(size)}
    answer = client.post(address, {**hidden, **ranks, "comment": "so so"})
    assert answer.headers["Location"].startswith("/judge/items/")
    (row,) = details(pilot)
    assert row["ranks"] == [size - place for place in range(size)]
    assert row["comment"] == "so so"
    assert row["complete"]
    assert row["active_seconds"] is row["wall_seconds"] is None


def test_what_is_missing_is_said_and_what_was_sent_is_kept(pilot):
    client = pilot.client(0)
    address, hidden, _ = form_of(client)
    answer = client.post(address, {**hidden, "rank-0": 2, "comment": "not yet"})
    assert answer.status_code == 422
    assert "without a rank" in text(answer)
    assert "not yet" in text(answer)
    assert re.search(r'name="rank-0" value="2" checked', text(answer))
    assert details(pilot) == []
    again = client.post(address, {**hidden, "action": "skip"})
    assert again.status_code == 422
    assert "without a reason" in text(again)
    assert client.post(address, {**hidden, "action": "skip", "reason": "broken"}).status_code == 302
    assert details(pilot)[0]["skipped"]


def test_a_form_sent_twice_is_kept_once(pilot):
    client = pilot.client(0)
    address, hidden, size = form_of(client)
    sent = {**hidden, **{f"rank-{place}": 1 for place in range(size)}}
    for _ in range(3):
        assert client.post(address, sent).status_code == 302
    assert len(details(pilot)) == 1


def test_a_draft_does_not_count_and_is_shown_again(pilot):
    client = pilot.client(0)
    address, _, _ = form_of(client)
    sent = {"action": "draft", "key": "d1", "rank-1": "2", "active": "3.5", "wall": "4"}
    answer = client.post(address, sent, headers={"accept": "application/json"})
    assert answer.json()["version"] == 1
    shown = text(client.get(address))
    assert re.search(r'name="rank-1" value="2" checked', shown)
    assert 'data-active="3.50"' in shown
    assert 'data-wall="4.00"' in shown
    assert not details(pilot)[0]["complete"]
    from grammeter.campaign.services import results

    assert len(results.judgments(pilot.campaign)) == 0


def test_an_earlier_answer_can_be_corrected(pilot):
    client = pilot.client(0)
    address, hidden, size = form_of(client)
    client.post(address, {**hidden, **{f"rank-{place}": 1 for place in range(size)}})
    second, _, _ = form_of(client)
    assert second != address
    assert f'data-back="{address}"' in text(client.get(second))
    assert address in text(client.get("/judge/answers"))
    page = text(client.get(address))
    assert "You answered this item before" in page
    key = re.search(r'name="key" value="([^"]*)"', page)[1]
    client.post(address, {"key": key, **{f"rank-{place}": 2 for place in range(size)}})
    assert form_of(client)[0] == second
    from grammeter.campaign.services import results

    (ranking,) = results.judgments(pilot.campaign)
    assert set(ranking.ranks) == {2}


@pytest.mark.parametrize("right", [True, False])
def test_a_tutorial_item_answers_back(database, right):
    one = made(database, tutorial=checks(loud=False))
    client = one.client(0)
    address, hidden, _ = form_of(client)
    shown = text(client.get(address))
    best = shown.index("<ins>sings</ins>") > shown.index("Correction B")
    ranks = (2, 1) if best == right else (1, 2)
    answer = client.post(address, {**hidden, "rank-0": ranks[0], "rank-1": ranks[1]}, follow=True)
    assert answer.redirect_chain[-1][0] == address
    assert ("Right." if right else "Not quite.") in text(answer)
    assert "The verb agrees." in text(answer)
    assert 'id="continue"' in text(answer)
    assert form_of(client)[0] != address


def test_a_loud_attention_item_is_asked_again(database):
    one = made(database, attention=checks(loud=True), judges=2)
    client = one.client(0)
    seen = []
    while client.get("/judge/").headers["Location"] != "/judge/done":
        address, hidden, size = form_of(client)
        page = text(client.get(address))
        seen.append((address, "look at this item again" in page))
        tied = size == 2 and "He sing ." in page and not seen[-1][1]
        ranks = [1, 1] if tied else list(range(1, size + 1))
        if seen[-1][1] and page.index("<ins>sings</ins>") > page.index("Correction B"):
            ranks = [2, 1]
        client.post(address, {**hidden, **{f"rank-{n}": rank for n, rank in enumerate(ranks)}})
    again = [address for address, asked in seen if asked]
    assert len(again) == 1
    assert (again[0], False) in seen


def test_a_closed_campaign_takes_nothing_more(pilot):
    from grammeter.campaign.services import campaigns

    client = pilot.client(0)
    address, hidden, size = form_of(client)
    campaigns.close(pilot.campaign)
    sent = {**hidden, **{f"rank-{place}": 1 for place in range(size)}}
    assert client.post(address, sent).status_code == 422
    assert "closed" in text(client.get("/judge/", follow=True))


def test_an_output_without_words_and_one_like_the_source_are_named(database):
    one = made(database, sources=["a b"], systems={"X": [""], "Y": ["a b"]})
    client = one.client(0)
    page = text(client.get(form_of(client)[0]))
    assert "[EMPTY]" in page
    assert "(no change)" in page
    assert "<del>a b</del>" in page


def test_the_organiser_sees_progress_results_and_export(pilot):
    for at in (0, 1):
        assert answer_all(pilot.client(at)) == 4
    client = organiser(pilot)
    number = pilot.campaign.pk
    assert "pilot" in text(client.get("/organise/"))
    shown = text(client.get(f"/organise/{number}/"))
    assert "judge01" in shown
    assert "finished" in shown
    part = text(client.get(f"/organise/{number}/progress", headers={"hx-request": "true"}))
    assert "judge02" in part
    assert "<html" not in part
    from grammeter.campaign.services import results
    from grammeter.verbs import agree, rank

    found = results.judgments(pilot.campaign)
    for unit in ("sentence", "pair"):
        page = html.unescape(text(client.get(f"/organise/{number}/results?unit={unit}")))
        ranked = rank(found, unit=unit)
        assert ranked.notes
        assert all(f"Note: {note}" in page for note in (*ranked.notes, *agree(found).notes))
        for row in ranked.rows:
            assert row.system in page
            assert f"{row.score:.4f}" in page
        agreed = agree(found)
        assert f"{agreed.alpha_inter.value:.4f}" in page
        assert f"{agreed.pairs['judge01', 'judge02'].value:.4f}" in page
    for form, suffix in (("xml", "xml"), ("csv", "csv"), ("jsonl", "jsonl")):
        answer = client.post(f"/organise/{number}/export/{form}")
        assert answer.headers["Content-Disposition"] == f'attachment; filename="pilot.{suffix}"'
        assert "Alphasystem" in text(answer)
    lines = text(client.post(f"/organise/{number}/export/details")).splitlines()
    assert json.loads(lines[0])["kind"] == "campaign-details"
    assert len(lines) == 9
    log = text(client.get(f"/organise/{number}/audit"))
    assert "export" in log
    assert "ann" in log


def test_a_part_that_renews_itself_leads_the_page_to_the_login(pilot):
    part = f"/organise/{pilot.campaign.pk}/progress"
    answer = pilot.client().get(part, headers={"hx-request": "true"})
    assert answer.headers["HX-Redirect"] == f"/login?next=/organise/{pilot.campaign.pk}/"
    client = organiser(pilot)
    assert "hx-get" in text(client.get(f"/organise/{pilot.campaign.pk}/"))
    assert "hx-get" not in text(client.get(f"/organise/{pilot.campaign.pk}/?still"))


def test_results_are_computed_anew_when_answers_come(pilot):
    client = organiser(pilot)
    address = f"/organise/{pilot.campaign.pk}/results"
    assert "None yet" in text(client.get(address))
    answer_all(pilot.client(0))
    assert "None yet" not in text(client.get(address))


def test_the_organiser_invites_revokes_and_blocks(database):
    one = made(database, strategy="pool")
    client = organiser(one)
    base = f"/organise/{one.campaign.pk}"
    shown = text(client.post(f"{base}/invite", {"count": "2", "days": "3"}))
    links = re.findall(r"http://testserver/join/[\w-]+/", shown)
    assert len(links) == 2
    assert links[0] not in text(client.get(f"{base}/judges"))
    revoked = re.findall(rf"{base}/invites/(\d+)/revoke", text(client.get(f"{base}/judges")))[0]
    client.post(f"{base}/invites/{revoked}/revoke")
    states = [one.client().post(link).status_code for link in reversed(links)]
    assert states == [410, 302]
    for wrong in ({"count": "0", "days": "3"}, {"count": "x", "days": ""}, {"count": "99999"}):
        assert client.post(f"{base}/invite", wrong).status_code == 422


def test_the_organiser_notes_who_a_judge_is(pilot):
    from grammeter.campaign.models import AuditEntry, Judge
    from grammeter.campaign.services import judges, results

    client = organiser(pilot)
    base = f"/organise/{pilot.campaign.pk}"
    judge = Judge.objects.order_by("pk")[0]
    kept = client.post(f"{base}/judges/{judge.pk}/note", {"contact": "  Ann <b>\0 Example "})
    assert kept.status_code == 302
    shown = text(client.get(f"{base}/judges"))
    assert 'value="Ann &lt;b&gt; Example"' in shown
    told = [str(row) for row in results.details(pilot.campaign)]
    told += [str(entry.detail) for entry in AuditEntry.objects.all()]
    assert not any("Example" in each for each in told)
    judges.forget(judge)
    client.post(f"{base}/judges/{judge.pk}/note", {"contact": "Ann again"})
    judge.refresh_from_db()
    assert judge.contact == ""


def test_the_organiser_is_told_for_whom_links_are(database):
    one = made(database, strategy="pool")
    address = f"/organise/{one.campaign.pk}/invite"
    shown = text(organiser(one).post(address, {"count": "2", "days": "3"}))
    assert "in this order judge03, judge04" in shown


def test_a_blocked_judge_is_out_and_a_new_link_ends_the_old_session(pilot):
    judge, other = pilot.client(0), pilot.client(1)
    client = organiser(pilot)
    base = f"/organise/{pilot.campaign.pk}"
    from grammeter.campaign.models import Judge

    first, second = Judge.objects.order_by("pk")
    shown = text(client.post(f"{base}/judges/{first.pk}/again"))
    link = re.search(r"http://testserver(/join/[\w-]+/)", shown)[1]
    assert judge.get("/judge/").status_code == 302
    fresh = one_more = pilot.client()
    assert fresh.post(link).status_code == 302
    assert judge.get("/judge/").status_code == 403
    assert one_more.get("/judge/").status_code == 302
    client.post(f"{base}/judges/{second.pk}/block")
    assert other.get("/judge/").status_code == 403


def test_the_browser_that_used_a_link_may_open_it_again(pilot):
    client = pilot.client(0)
    again = client.get(f"/join/{pilot.tokens[0]}/")
    assert again.status_code == 302
    assert again.headers["Location"] == "/judge/"
    assert pilot.client().get(f"/join/{pilot.tokens[0]}/").status_code == 410


def test_only_the_button_uses_an_invite_up(pilot):
    """Programs that check mail, and previews, look at all links."""
    address = f"/join/{pilot.tokens[0]}/"
    for _ in range(3):
        looked = pilot.client().get(address)
        assert 'method="post"' in text(looked)
        pilot.client().head(address)
    judge = pilot.client()
    judge.get(address)
    assert judge.post(address).status_code == 302
    assert pilot.client().get(address).status_code == 410
    assert pilot.client().post(address).status_code == 410


def test_a_judge_whose_item_was_given_away_goes_on_by_a_button(pilot):
    from grammeter.campaign.models import Assignment

    judge = pilot.client(0)
    item = judge.get("/judge/").headers["Location"]
    Assignment.objects.filter(state="open").update(state="released")
    assert 'action="/judge/"' in text(judge.get("/judge/"))
    following = judge.post("/judge/").headers["Location"]
    assert following.startswith("/judge/items/")
    assert following != item


def test_a_judge_from_another_browser_need_not_read_the_guidelines_again(pilot):
    from grammeter.campaign.models import Judge
    from grammeter.campaign.services import judges

    answered = pilot.client(0)
    address, hidden, size = form_of(answered)
    answered.post(address, {**hidden, **{f"rank-{place}": 1 for place in range(size)}})
    (token,) = judges.invite(pilot.campaign, judge=Judge.objects.order_by("pk")[0])
    client = pilot.client()
    client.post(f"/join/{token}/")
    assert client.get("/judge/").headers["Location"].startswith("/judge/items/")


def test_the_organiser_closes_and_reopens(pilot):
    from grammeter.campaign.models import AuditEntry

    ann, judge = organiser(pilot), pilot.client(0)
    address, hidden, size = form_of(judge)
    base = f"/organise/{pilot.campaign.pk}/"
    assert "Yes, close it" in text(ann.get(base))
    assert ann.post(f"{base}close").headers["Location"] == base
    assert "Open it again" in text(ann.get(base))
    assert judge.get("/judge/").headers["Location"] == "/judge/done"
    assert "This campaign is closed" in text(judge.get("/judge/done"))
    full = {**hidden, **{f"rank-{place}": 1 for place in range(size)}}
    assert judge.post(address, full).status_code == 422
    ann.post(f"{base}reopen")
    assert judge.get("/judge/").headers["Location"] == address
    assert judge.post(address, full).status_code == 302
    entries = AuditEntry.objects.filter(campaign=pilot.campaign)[:4]
    told = [(entry.who, entry.action) for entry in entries]
    assert ("ann", "close") in told
    assert ("ann", "reopen") in told


def test_a_pool_without_an_end_tells_no_total(database):
    endless = made(database, strategy="pool")
    client = endless.client(0)
    page = text(client.get(form_of(client)[0]))
    assert "0 answered" in page
    assert "<progress" not in page


def test_imported_judges_are_told_apart_from_those_who_have_not_come(database):
    from grammeter.campaign import creating
    from grammeter.campaign.services import campaigns
    from grammeter.core import Ranking
    from grammeter.formats import Corpus, Judgments

    one = made(database)
    corpus = Corpus(sources=["a"], systems={"A": ["b"], "B": ["c"]})
    ranking = Ranking(judge="old", segment=1, groups=(("A",), ("B",)), ranks=(1, 2))
    plan = creating.Plan(name="import", strategy="pool")
    number = campaigns.create(plan, corpus, (), Judgments((ranking,))).pk
    client = organiser(one)
    for part in ("", "judges"):
        assert "imported" in text(client.get(f"/organise/{number}/{part}"))
