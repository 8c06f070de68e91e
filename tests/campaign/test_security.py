"""What nobody may do: forge, look at another's items, smuggle script in, guess."""

import contextlib
import re
import sys
import warnings
from datetime import timedelta

import pytest

pytest.importorskip("whitenoise", reason="the extra 'campaign' is not installed")

from made_campaigns import PASSWORD, answer_all, form_of, made, organiser

HOSTILE = '<script>alert(1)</script> "quoted" & <img src=x onerror=alert(2)>'
PAGES = ("/", "/login", "/judge/", "/organise/", "/nowhere", "/join/invented/")


@pytest.fixture
def pilot(database):
    return made(database)


def full(size, rank=1):
    return {f"rank-{place}": rank for place in range(size)}


@pytest.mark.parametrize("page", PAGES)
def test_every_page_has_strict_headers(pilot, page):
    headers = pilot.client().get(page).headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["X-Frame-Options"] == "DENY"
    assert "no-store" in headers["Cache-Control"]
    assert "Access-Control-Allow-Origin" not in headers


@pytest.mark.parametrize("name", ["style.css", "item.js", "icon.svg"])
def test_files_of_the_server_are_for_its_own_pages(pilot, name):
    answer = pilot.client().get(f"/static/campaign/{name}")
    assert answer.status_code == 200
    assert b"".join(answer.streaming_content)
    answer.close()
    assert "Access-Control-Allow-Origin" not in answer.headers
    assert "default-src 'self'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "path",
    ["campaign/../../campaign.db", "../campaign.db.key", "..%2f..%2fcampaign.db", "/etc/passwd",
     "campaign/..%5c..%5ccampaign.db"],
)  # fmt: skip
def test_no_file_but_the_servers_own_can_be_asked_for(pilot, path):
    assert pilot.client().get(f"/static/{path}").status_code == 404


def test_templates_escape_everything():
    from importlib.resources import files

    folder = files("grammeter.campaign") / "templates"
    texts = [path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.html"))]
    assert len(texts) > 20
    for text in texts:
        assert not re.search(r"\|\s*safe|autoescape|safeseq|json_script", text)


def test_sessions_hold_plain_values(pilot):
    from django.conf import settings

    assert settings.SESSION_SERIALIZER.endswith(".JSONSerializer")
    assert settings.SESSION_ENGINE.endswith(".db")


def test_no_page_holds_script_or_style_of_its_own(pilot):
    judge, ann = pilot.client(0), organiser(pilot)
    base = f"/organise/{pilot.campaign.pk}"
    pages = [judge.get(form_of(judge)[0]), judge.get("/judge/answers"), judge.get("/judge/about")]
    pages += [ann.get(f"{base}/{part}") for part in ("", "results", "judges", "audit")]
    for page in pages:
        text = page.content.decode()
        assert page.status_code == 200
        assert not re.search(r"<script(?![^>]*\bsrc=)", text), "inline script"
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:", text)
        assert not re.search(r"""(?:src|href|action)=["']?(?:https?:)?//""", text)


def test_cookies_are_for_the_server_alone(pilot):
    client = pilot.client(0)
    client.get("/judge/guidelines")
    for cookie in client.cookies.values():
        assert cookie["httponly"]
        assert cookie["samesite"] == "Lax"
        assert not cookie["secure"]


def test_under_https_cookies_are_secure_and_the_check_is_clean(database):
    one = made(database, https=True)
    client = one.client()
    assert client.get("/").status_code == 301
    client.post(f"/join/{one.tokens[0]}/", secure=True)
    client.get("/judge/about", secure=True)
    assert client.cookies
    assert all(cookie["secure"] for cookie in client.cookies.values())
    assert "max-age" in client.get("/", secure=True).headers["Strict-Transport-Security"]
    from django.core.checks import run_checks

    assert run_checks(include_deployment_checks=True) == []


def test_a_post_without_a_token_is_refused_everywhere(pilot):
    from django.test import Client

    from grammeter.campaign.urls import urlpatterns

    paths = [f"/{re.sub('<int:[a-z]+>', '1', str(each.pattern))}" for each in urlpatterns]
    organised = organiser(pilot)
    organised.handler.enforce_csrf_checks = True
    assert len(paths) >= 25
    for path in (re.sub("<str:[a-z]+>", "xml", path) for path in paths):
        assert Client(enforce_csrf_checks=True).post(path, {"x": "1"}).status_code == 403, path
        answer = organised.post(path, {"x": "1"})
        assert answer.status_code == 403, path
        assert "too old to be sent" in answer.content.decode()


def rows_of(database):
    """Return the whole database as text."""
    import sqlite3

    with contextlib.closing(sqlite3.connect(database)) as reader:
        return list(reader.iterdump())


@pytest.mark.parametrize("strategy", ["planned", "pool", "adaptive"])
@pytest.mark.parametrize("stage", ["invited", "at work", "finished"])
def test_looking_changes_nothing(database, strategy, stage):
    """What changes something is a POST: a link in a message, or a program that looks, cannot."""
    one = made(database, consent="Agree?", strategy=strategy)
    ann, judge = organiser(one), one.client() if stage == "invited" else one.client(0)
    if stage == "invited":
        judge.post(f"/join/{one.tokens[0]}/")
    if stage == "finished":
        answer_all(judge)
    before = rows_of(database)
    for client in (one.client(), judge, ann):
        for path in all_paths(one):
            for look in (client.get, client.head, client.options):
                look(path)
            assert rows_of(database) == before, path


def all_paths(one):
    """Return an address of each page; things with a number are the first of their kind."""
    from grammeter.campaign.urls import urlpatterns

    values = {"<int:number>": "1", "<int:judge>": "1", "<int:invite>": "2", "<str:form>": "people",
              "<str:token>": one.tokens[1]}  # fmt: skip
    paths = [f"/{each.pattern}" for each in urlpatterns]
    for name, value in values.items():
        paths = [path.replace(name, value) for path in paths]
    assert not any("<" in path for path in paths)
    return paths


def test_a_judge_with_a_token_gets_through(pilot):
    client = pilot.client(0)
    address, hidden, size = form_of(client)
    client.handler.enforce_csrf_checks = True
    token = client.get("/judge/session", headers={"accept": "application/json"}).json()["token"]
    assert client.post(address, {**hidden, **full(size)}).status_code == 403
    sent = client.post(address, {**hidden, **full(size)}, headers={"x-csrftoken": token})
    assert sent.status_code == 302


def test_another_judges_item_is_out_of_reach(pilot):
    one, other = pilot.client(0), pilot.client(1)
    address, hidden, size = form_of(one)
    assert form_of(other)[0] != address
    assert other.get(address).status_code == 403
    assert other.post(address, {**hidden, **full(size)}).status_code == 403
    script = {"accept": "application/json"}
    assert other.post(address, {**hidden, **full(size)}, headers=script).status_code == 403
    from grammeter.campaign.models import Judgment

    assert not Judgment.objects.exists()


def test_an_item_of_later_is_out_of_reach(pilot):
    client = pilot.client(0)
    first = form_of(client)[0]
    number = int(first.split("/")[3]) + 1
    assert client.get(f"/judge/items/{number}/").status_code == 403
    assert client.get("/judge/items/999999/").status_code == 403
    assert client.get("/judge/items/99999999999999999999/").status_code in (403, 404)


def test_nobody_judges_before_consent(database):
    one = made(database, consent="Agree?")
    client = one.client()
    client.post(f"/join/{one.tokens[0]}/")
    from grammeter.campaign.models import Judge, Judgment
    from grammeter.campaign.services import assign

    found = assign.next_assignment(Judge.objects.order_by("pk")[0])
    sent = {"key": "k", **full(len(found.shown_order))}
    answer = client.post(f"/judge/items/{found.pk}/", sent)
    assert answer.headers["Location"] == "/judge/consent"
    assert not Judgment.objects.exists()


def test_used_expired_revoked_and_invented_invites_let_nobody_in(pilot):
    from django.utils import timezone

    from grammeter.campaign.models import Invite

    used, other = pilot.tokens
    assert pilot.client().post(f"/join/{used}/").status_code == 302
    assert pilot.client().post(f"/join/{used}/").status_code == 410
    for wrong in (other[:-4] + "0000", "x", "%00", "é" * 50, "a" * 5000):
        for answer in (
            pilot.client().get(f"/join/{wrong}/"),
            pilot.client().post(f"/join/{wrong}/"),
        ):
            assert answer.status_code in (404, 410)
    Invite.objects.filter(redeemed=None).update(expires=timezone.now() - timedelta(seconds=1))
    assert pilot.client().post(f"/join/{other}/").status_code == 410
    Invite.objects.update(expires=timezone.now() + timedelta(1), revoked=timezone.now())
    assert pilot.client().post(f"/join/{other}/").status_code == 410


def test_a_token_is_stored_nowhere(pilot):
    pilot.client(0)
    for path in pilot.database.parent.glob("campaign.db*"):
        data = path.read_bytes()
        assert not any(token.encode() in data for token in pilot.tokens)


def test_an_ended_session_is_told_apart_by_script_and_by_people(pilot):
    client = pilot.client(0)
    address, hidden, size = form_of(client)
    client.cookies.clear()
    script = client.post(address, {**hidden, **full(size)}, headers={"accept": "application/json"})
    assert script.status_code == 401
    assert script.json()["faults"]
    assert client.post(address, {**hidden, **full(size)}).status_code == 403
    assert client.get("/judge/session").json()["judge"] is None


def test_joining_changes_the_session_and_the_csrf_token(pilot):
    client = pilot.client()
    client.get("/login")
    session = client.session
    session["planted"] = True
    session.save()
    before = client.cookies["sessionid"].value if "sessionid" in client.cookies else ""
    client.post(f"/join/{pilot.tokens[0]}/")
    assert client.cookies["sessionid"].value != before


def test_hostile_text_is_shown_as_text(database):
    one = made(
        database,
        name="<i>pilot</i>",
        guidelines=HOSTILE,
        sources=["ok .", HOSTILE, "end ."],
        systems={"A": ["ok !", f"{HOSTILE} !", "End ."], "B": ["k .", "<svg/onload=x>", "e"]},
    )
    client = one.client(0)
    pages = [client.get("/judge/guidelines").content.decode()]
    for _ in range(3):
        address, hidden, size = form_of(client)
        pages.append(client.get(address).content.decode())
        client.post(address, {**hidden, **full(size), "comment": HOSTILE})
        pages.append(client.get(address).content.decode())
    pages.append(client.get("/judge/answers").content.decode())
    ann = organiser(one)
    base = f"/organise/{one.campaign.pk}"
    pages += [ann.get(f"{base}/{part}").content.decode() for part in ("", "judges", "audit")]
    together = "".join(pages)
    assert "&lt;script&gt;alert(1)" in together
    assert "&lt;i&gt;pilot" in together
    assert not re.search(r"<script>|<img|<svg|<i>", together)


@pytest.mark.parametrize(
    "wrong",
    [
        {"rank-0": "9"}, {"rank-0": "0"}, {"rank-0": "-1"}, {"rank-0": "1.5"}, {"rank-0": "²"},
        {"rank-0": "1" * 9}, {"key": ""}, {"key": "k" * 65}, {"key": "a b"}, {"active": "nan"},
        {"active": "-1"}, {"wall": "inf"}, {"wall": "x"}, {"action": "delete"},
        {"comment": "x" * 10_001}, {"wall": "1e99"},
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("script", [True, False])
def test_a_malformed_answer_is_refused_with_words(pilot, wrong, script):
    client = pilot.client(0)
    address, hidden, size = form_of(client)
    headers = {"accept": "application/json"} if script else {}
    answer = client.post(address, {**hidden, **full(size), **wrong}, headers=headers)
    assert answer.status_code == 422
    if script:
        assert answer.json()["faults"][0]
    from grammeter.campaign.models import Judgment

    assert not Judgment.objects.exists()


def test_more_than_a_form_holds_is_refused(pilot):
    client = pilot.client(0)
    address, hidden, size = form_of(client)
    large = client.post(address, {**hidden, **full(size), "comment": "x" * 3 * 2**20})
    many = "&".join(f"f{at}=1" for at in range(6000))
    kind = "application/x-www-form-urlencoded"
    fields = client.generic("POST", address, many, content_type=kind)
    assert large.status_code in (400, 413, 422)
    assert fields.status_code == 400
    odd = client.generic("POST", address, b"\xff\xfe%ff=%zz", content_type=kind)
    assert odd.status_code == 422
    broken = client.generic(
        "POST", address, b"--x\r\n", content_type="multipart/form-data; boundary=x"
    )
    assert broken.status_code in (400, 422)


def test_null_bytes_and_surrogates_do_no_harm(pilot):
    client = pilot.client(0)
    address, hidden, size = form_of(client)
    sent = {**hidden, **full(size), "comment": "a\0b \u202e \ufffd"}
    assert client.post(address, sent).status_code == 302
    from grammeter.campaign.models import Judgment

    assert Judgment.objects.get().comment == "ab \u202e \ufffd"


def test_organisers_pages_want_a_login_and_the_right_organiser(pilot):
    base = f"/organise/{pilot.campaign.pk}"
    parts = ("", "progress", "results", "judges", "audit")
    judge = pilot.client(0)
    for part in parts:
        assert judge.get(f"{base}/{part}").headers["Location"].startswith("/login?next=")
    mine = organiser(pilot, "ann")
    stranger = organiser(pilot, "bob")
    from django.contrib.auth.models import User

    pilot.campaign.owners.set([User.objects.get(username="ann")])
    for part in parts:
        assert mine.get(f"{base}/{part}").status_code == 200
        assert stranger.get(f"{base}/{part}").status_code == 404
    for action in ("invite", "close", "reopen", "export/xml"):
        assert stranger.post(f"{base}/{action}", {"count": "1", "days": "1"}).status_code == 404
    pilot.campaign.refresh_from_db()
    assert not pilot.campaign.closed
    assert "pilot" not in stranger.get("/organise/").content.decode()


def test_no_note_on_a_judge_of_another_campaign(pilot):
    other = f"/organise/{pilot.campaign.pk + 1}/judges/1/note"
    assert organiser(pilot).post(other, {"contact": "x"}).status_code == 404
    assert (
        pilot.client(0)
        .post(other.replace(str(pilot.campaign.pk + 1), str(pilot.campaign.pk)), {"contact": "x"})
        .headers["Location"]
        .startswith("/login")
    )


def test_things_of_another_campaign_cannot_be_reached_through_ones_own(pilot):
    from grammeter.campaign import creating
    from grammeter.campaign.models import Invite, Judge
    from grammeter.campaign.services import campaigns, judges
    from grammeter.core import Item
    from grammeter.formats import Corpus

    corpus = Corpus(sources=["a"], systems={"A": ["b"], "B": ["c"]})
    plan = creating.Plan(name="other", judges=1)
    other = campaigns.create(plan, corpus, [Item(segment=1, systems=("A", "B"))])
    judges.invite(other, 1)
    client = organiser(pilot)
    base = f"/organise/{pilot.campaign.pk}"
    judge, invite = Judge.objects.get(campaign=other), Invite.objects.get(campaign=other)
    assert client.post(f"{base}/judges/{judge.pk}/block").status_code == 404
    assert client.post(f"{base}/judges/{judge.pk}/again").status_code == 404
    assert client.post(f"{base}/invites/{invite.pk}/revoke").status_code == 404
    assert client.post(f"{base}/export/../../etc").status_code == 404
    assert client.post(f"{base}/export/exe").status_code == 404


def test_guessing_passwords_is_slowed_down(pilot):
    organiser(pilot)
    client = pilot.client()
    answers = [
        client.post("/login", {"username": "ann", "password": f"wrong {at}"}) for at in range(8)
    ]
    codes = [answer.status_code for answer in answers]
    assert codes[:5] == [403] * 5
    assert codes[-1] == 429
    assert int(answers[-1].headers["Retry-After"]) >= 1
    right = client.post("/login", {"username": "ann", "password": PASSWORD})
    assert right.status_code == 429


def guess(client, address, count, name="ann"):
    sent = [{"username": name, "password": f"wrong {at}"} for at in range(count)]
    return [client.post("/login", one, REMOTE_ADDR=address).status_code for one in sent]


@pytest.mark.parametrize("forms", [("192.0.2.7", "192.0.2.8"), ("2001:db8::7", "2001:db8:0:1::7")])
def test_nobody_elsewhere_can_lock_an_organiser_out(pilot, forms):
    organiser(pilot)
    theirs, mine = forms
    client = pilot.client()
    assert guess(client, theirs, 7)[-1] == 429
    right = {"username": "ann", "password": PASSWORD}
    assert client.post("/login", right, REMOTE_ADDR=theirs).status_code == 429
    assert client.post("/login", right, REMOTE_ADDR=mine).status_code == 302


def test_an_address_that_guesses_at_many_names_has_to_wait(pilot, monkeypatch):
    from grammeter.campaign.services import organisers

    monkeypatch.setattr(organisers, "FREE_OF_ADDRESS", 8)
    client = pilot.client()
    codes = [guess(client, f"2001:db8::{at}", 1, f"name{at}")[0] for at in range(10)]
    assert codes[:8] == [403] * 8
    assert codes[-1] == 429


def test_passwords_are_kept_by_argon2(pilot):
    organiser(pilot)
    from django.contrib.auth.models import User

    assert User.objects.get(username="ann").password.startswith("argon2$argon2id$")


def test_the_login_leads_to_no_other_host(pilot):
    organiser(pilot)
    for onwards in ("https://evil.example/", "//evil.example", "javascript:alert(1)", "\\\\evil"):
        sent = {"username": "ann", "password": PASSWORD, "next": onwards}
        assert pilot.client().post("/login", sent).headers["Location"] == "/organise/"
    sent = {"username": "ann", "password": PASSWORD, "next": "/organise/1/audit"}
    assert pilot.client().post("/login", sent).headers["Location"] == "/organise/1/audit"


def test_a_foreign_host_name_is_refused(pilot):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert pilot.client().get("/", headers={"host": "evil.example"}).status_code == 400


def told_in_the_log(name, message):
    """Return what the server writes of a refused request."""
    import logging

    from grammeter.campaign.conf import OneLine

    try:
        raise ValueError("long")
    except ValueError:
        given = (name, logging.ERROR, "f", 1, message, (), sys.exc_info())
    return OneLine().format(logging.getLogger(name).makeRecord(*given))


def test_a_foreign_host_name_is_told_in_one_line():
    told = "Invalid HTTP_HOST header: 'evil.example'. You may need to add 'evil.example' to ALLOWED"
    shown = told_in_the_log("django.security.DisallowedHost", told)
    assert "\n" not in shown
    assert "'evil.example'. If it is yours, serve with --allowed-host" in shown


def test_any_refused_request_is_told_in_one_line():
    told = "The number of GET/POST parameters exceeded settings.DATA_UPLOAD_MAX_NUMBER_FIELDS."
    shown = told_in_the_log("django.security.TooManyFieldsSent", told)
    assert shown.startswith("refused a request: The number of GET/POST parameters")
    assert "\n" not in shown


def test_the_log_takes_refused_requests_by_that_line():
    from django.conf import settings

    found = settings.LOGGING["loggers"]["django.security"]
    assert found["handlers"] == ["line"]
    assert not found["propagate"]


def test_who_may_look_may_ask_for_the_headers_alone(pilot):
    judge, ann = pilot.client(0), organiser(pilot)
    base = f"/organise/{pilot.campaign.pk}"
    address = form_of(judge)[0]
    mine = [(judge, page) for page in ("/", "/judge/session", "/judge/answers", address)]
    theirs = [(ann, f"{base}/{page}") for page in ("", "results", "judges", "audit")]
    for client, page in (*mine, *theirs, (pilot.client(), "/login")):
        looked, asked = client.get(page), client.head(page)
        assert asked.status_code == looked.status_code, page
        assert asked.content == b""
        assert asked.headers["Content-Security-Policy"]


def test_logging_out_is_a_post_and_ends_the_session(pilot):
    client = organiser(pilot)
    assert client.get("/logout").status_code == 405
    client.post("/logout")
    assert client.get("/organise/").status_code == 302
