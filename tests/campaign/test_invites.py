"""One-time links, sessions, consent, the end, forgetting."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from grammeter.core import UnknownNameError, UsageError
from judged_campaigns import answer, come_in, made_campaign, work


@pytest.fixture
def campaign(database):
    return made_campaign(10, strategy="pool", judges=0)


def test_tokens_have_128_bits_and_only_a_hash_is_kept(campaign):
    import base64

    from grammeter.campaign.models import AuditEntry, Invite
    from grammeter.campaign.services import judges

    (token,) = judges.invite(campaign, 1)
    assert len(base64.urlsafe_b64decode(token + "==")) == 16
    assert token not in str(list(Invite.objects.values())) + str(list(AuditEntry.objects.values()))
    assert judges.links("https://a.example/", [token]) == {
        "judge01": f"https://a.example/join/{token}/"
    }


def test_an_invite_works_once(campaign):
    from grammeter.campaign.services import judges

    (token,) = judges.invite(campaign, 1)
    judge = judges.redeem(token)
    assert judge.name == "judge01"
    with pytest.raises(judges.InviteRefused, match="used"):
        judges.redeem(token)


def test_an_invite_works_once_for_many_who_come_at_once(campaign):
    from django.db import connection

    from grammeter.campaign.services import judges

    (token,) = judges.invite(campaign, 1)
    begin = threading.Barrier(6)

    def come(_):
        try:
            begin.wait()
            return judges.redeem(token).pk
        except judges.InviteRefused:
            return None
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        assert sum(found is not None for found in pool.map(come, range(6))) == 1


@pytest.mark.parametrize("token", ["", "nonsense", "\0", "é" * 300, "\ud800"])
def test_invented_invites_are_refused(campaign, token):
    from grammeter.campaign.services import judges

    with pytest.raises(judges.InviteRefused, match="unknown"):
        judges.redeem(token)


def test_expired_and_revoked_invites_are_refused(campaign):
    from django.utils import timezone

    from grammeter.campaign.models import Invite
    from grammeter.campaign.services import judges

    expired, revoked, blocked = judges.invite(campaign, 3)
    rows = list(Invite.objects.order_by("pk"))
    Invite.objects.filter(pk=rows[0].pk).update(expires=timezone.now() - timedelta(seconds=1))
    judges.revoke(rows[1])
    judges.block(rows[2].judge)
    for token, told in ((expired, "expired"), (revoked, "revoked"), (blocked, "revoked")):
        with pytest.raises(judges.InviteRefused, match=told):
            judges.redeem(token)


def test_a_plan_has_places_for_its_judges_only(database):
    from grammeter.campaign.models import Invite
    from grammeter.campaign.services import judges

    campaign = made_campaign(10, judges=2)
    judges.invite(campaign, 2)
    with pytest.raises(UsageError, match="0 places"):
        judges.invite(campaign, 1)
    judges.revoke(Invite.objects.first())
    (token,) = judges.invite(campaign, 1)
    assert judges.redeem(token).name == "judge01"


def test_a_second_invite_ends_the_first_session(campaign):
    from grammeter.campaign.services import judges

    (judge,) = come_in(campaign)
    kept = judges.session_of(judge)
    assert judges.from_session(kept) == judge
    unused, token = judges.invite(campaign, judge=judge), judges.invite(campaign, judge=judge)
    with pytest.raises(judges.InviteRefused, match="revoked"):
        judges.redeem(unused[0])
    same = judges.redeem(token[0])
    assert same == judge
    assert judges.from_session(kept) is None
    assert judges.from_session(judges.session_of(same)) == judge


@pytest.mark.parametrize(
    "kept", [None, {}, {"judge": 1, "access": ""}, {"judge": 1, "access": "é"}]
)
def test_sessions_that_let_nobody_in(campaign, kept):
    from grammeter.campaign.services import judges

    come_in(campaign)
    assert judges.from_session(kept) is None


@pytest.mark.parametrize(("n", "days"), [(0, 1), (1, 0), (1, 10**6)])
def test_numbers_out_of_range(campaign, n, days):
    from grammeter.campaign.services import judges

    with pytest.raises(UsageError):
        judges.invite(campaign, n, days=days)


def test_consent_and_the_form(database):
    from grammeter.campaign.models import Background
    from grammeter.campaign.services import judges

    (judge,) = come_in(made_campaign(5, strategy="pool", judges=0, consent="May we?"))
    assert judges.needs(judge) == "consent"
    judges.consent(judge)
    judges.tell_background(judge, first_language=" German\0 " + "x" * 300, experience="x" * 2999)
    judge.refresh_from_db()
    assert not judges.needs(judge)
    found = Background.objects.get(judge=judge)
    assert found.first_language == "German " + "x" * 193
    assert len(found.experience) == 2000  # as much as the page lets one write


def test_who_judges_are_can_be_read_apart_from_judgments(database):
    from grammeter.campaign.services import judges, results

    campaign = made_campaign(5, strategy="pool", judges=0, consent="May we?")
    first, _ = come_in(campaign, 2)
    judges.consent(first)
    judges.tell_background(first, first_language="Estonian", experience="ten years")
    judges.note(first, "Ann Example")
    work(first)
    one, two = judges.people(campaign)
    assert one.pop("consented").startswith("20")
    assert one == {
        "judge": "judge01", "who": "Ann Example", "first_language": "Estonian",
        "experience": "ten years", "remarks": "",
    }  # fmt: skip
    assert (two["judge"], two["consented"], two["first_language"]) == ("judge02", None, "")
    told = str([*results.details(campaign), results.judgments(campaign)])
    assert not any(word in told for word in ("Estonian", "ten years", "Ann Example"))
    judges.forget(first)
    assert judges.people(campaign)[0]["first_language"] == judges.people(campaign)[0]["who"] == ""


def test_an_empty_form_keeps_nothing(campaign):
    from grammeter.campaign.models import Background
    from grammeter.campaign.services import judges

    (judge,) = come_in(campaign)
    judges.tell_background(judge)
    assert not judges.needs(judge)
    assert not Background.objects.exists()


def test_codes_at_the_end(database):
    from django.core.exceptions import PermissionDenied

    from grammeter.campaign.criteria import Check
    from grammeter.campaign.services import assign, judges

    checks = tuple(Check(source=f"{at} .", outputs=("a", "b"), ranks=(1, 2)) for at in range(4))
    campaign = made_campaign(
        20, judges=2, overlap=20, attention=checks, pass_code="GOOD", fail_code="BAD",
        redirect="https://crowd.example/done?code={code}",
    )  # fmt: skip
    good, bad = come_in(campaign, 2)
    with pytest.raises(PermissionDenied):
        judges.completion(good)
    work(good)
    wrong = 0
    while (found := assign.next_assignment(bad)) is not None:
        attention = found.item.kind == "attention"
        wrong += attention
        ranks = [2 - place for place in found.shown_order] if attention and wrong < 3 else None
        answer(bad, found, ranks=ranks)
    ended = [judges.completion(judge) for judge in (good, bad)]
    assert [(each.passed, each.code) for each in ended] == [(True, "GOOD"), (False, "BAD")]
    assert ended[0].url == "https://crowd.example/done?code=GOOD"


def test_a_code_is_quoted_in_the_address(database):
    from grammeter.campaign.services import judges

    campaign = made_campaign(
        4, judges=1, pass_code="A&B #1/2", fail_code="F", redirect="https://a.example/?c={code}"
    )
    (judge,) = come_in(campaign)
    work(judge)
    ended = judges.completion(judge)
    assert (ended.code, ended.url) == ("A&B #1/2", "https://a.example/?c=A%26B%20%231%2F2")


def test_links_come_in_the_order_of_the_judges_they_are_for(campaign):
    from grammeter.campaign.services import judges

    tokens = judges.invite(campaign, 2)
    assert list(judges.links("x", tokens)) == ["judge01", "judge02"]
    assert list(judges.links("x", tokens[::-1])) == ["judge02", "judge01"]
    assert judges.redeem(tokens[1]).name == "judge02"


def test_forgetting_keeps_the_judgments(campaign):
    from django.contrib.sessions.models import Session

    from grammeter.campaign.models import AuditEntry, Background, Invite, Judge, Judgment
    from grammeter.campaign.services import assign, judges, results

    (judge,) = come_in(campaign)
    Judge.objects.filter(pk=judge.pk).update(contact="ann@example.org")
    judges.tell_background(judge, first_language="Welsh")
    kept = judges.session_of(judge)
    answer(judge, assign.next_assignment(judge), comment="I am Ann")
    before = results.judgments(campaign)
    judges.forget(Judge.objects.get(pk=judge.pk), rename="person1")
    after = results.judgments(campaign)
    assert [ranking.ranks for ranking in after] == [ranking.ranks for ranking in before]
    assert {ranking.judge for ranking in after} == {"person1"}
    everything = "".join(
        str(list(model.objects.values()))
        for model in (AuditEntry, Background, Invite, Judge, Judgment, Session)
    )
    for word in ("Ann", "ann@", "Welsh", "judge01"):
        assert word not in everything, word
    assert judges.from_session(kept) is None
    assert not Invite.objects.filter(judge=judge).exists()
    (other,) = come_in(campaign)
    with pytest.raises(UsageError, match="taken"):
        judges.forget(other, rename="person1")
    assert judges.invite(campaign, 1)


def test_unknown_judges(campaign):
    from grammeter.campaign.services import judges

    come_in(campaign)
    with pytest.raises(UnknownNameError, match="judge01"):
        judges.find(campaign, "judge1")


def test_guessing_is_slowed_down(database, monkeypatch):
    import time

    from grammeter.campaign.services import organisers

    ann = "ann", "1.2.3.4"
    for _ in range(organisers.FREE - 1):
        organisers.failed(*ann)
    assert organisers.wait(*ann) == 0
    organisers.failed(*ann)
    organisers.failed(*ann)
    assert 1 < organisers.wait(*ann) <= 2
    assert organisers.wait("bob", "1.2.3.4") == 0
    for _ in range(30):
        organisers.failed(*ann)
    assert organisers.LONGEST - 5 < organisers.wait(*ann) <= organisers.LONGEST
    later = time.monotonic() + organisers.LONGEST + 1
    monkeypatch.setattr(time, "monotonic", lambda: later)
    assert organisers.wait(*ann) == 0
    organisers.succeeded(*ann)
    organisers.failed(*ann)
    assert organisers.wait(*ann) == 0


def test_organisers_see_their_own_campaigns(database):
    from django.contrib.auth.models import User

    from grammeter.campaign.services import organisers

    for name in ("ann", "bob", "eve"):
        assert organisers.save_account(name, "a long password 1", every_campaign=name == "eve")
    assert not organisers.save_account("bob", "another password 2")
    anns = made_campaign(5, name="anns", owner=("ann",))
    ours = made_campaign(5, name="ours")
    ann, bob, eve = (User.objects.get(username=name) for name in ("ann", "bob", "eve"))
    assert bob.check_password("another password 2")
    assert bob.password.startswith("argon2")
    assert list(organisers.campaigns_of(ann)) == [anns, ours]
    assert list(organisers.campaigns_of(bob)) == [ours]
    assert list(organisers.campaigns_of(eve)) == [anns, ours]
    with pytest.raises(UnknownNameError, match="organiser"):
        made_campaign(5, name="x", owner=("zoe",))


@pytest.mark.parametrize(("name", "password"), [("ann", "short"), ("a b", "a long password 1")])
def test_accounts_that_are_refused(database, name, password):
    from grammeter.campaign.services import organisers

    with pytest.raises(UsageError, match="account"):
        organisers.save_account(name, password)
