"""A clock that is set by years: durations do not follow it, and nobody is locked out."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest

from robust.places import CORPUS, environment, make
from scripted_endpoint import ScriptedEndpoint, status

YEARS = 3 * 365 * 24 * 3600.0
JUMPS = [YEARS, -YEARS]

JUMPING = """
import time
_true, _calls = time.time, [0]
def _jumping():
    _calls[0] += 1
    return _true() + (0, %(years)r, -%(years)r)[_calls[0] %% 3]
time.time = _jumping
""" % {"years": YEARS}  # noqa: UP031
"""Put before a program: each look at the clock finds it set by years."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All that verbs read."""
    return make(tmp_path_factory.mktemp("clock") / "place")


def run(folder: Path, words: str, *, jumping: bool) -> subprocess.CompletedProcess[str]:
    code = "import sys; from grammeter.cli.main import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", (JUMPING if jumping else "") + code, *words.split()],
        cwd=folder, env=environment(folder), capture_output=True, text=True, timeout=120,
    )  # fmt: skip


def test_batch(place: Path) -> None:
    for jumping, out in ((False, "calm"), (True, "wild")):
        words = f"batch pairs-0.jsonl --reference reference -m gleu(iterations=2) -o {out}"
        done = run(place, words, jumping=jumping)
        assert done.returncode == 0, done.stderr
        assert "-" not in done.stderr.partition(" s,")[0].rpartition(" ")[2]  # seconds
    calm, wild = (place / name / "pairs-0.jsonl" for name in ("calm", "wild"))
    assert calm.read_bytes() == wild.read_bytes()


def test_a_judge_with_rates_and_a_server_that_asks_for_patience(place: Path) -> None:
    pytest.importorskip("aiohttp", reason="the extra 'llm' is not installed")

    kept = []
    for jumping in (False, True):
        busy = [status(429, headers={"retry-after-ms": "20"})] * 3
        with ScriptedEndpoint(lambda *_: busy.pop() if busy else None) as server:  # noqa: B023
            words = (
                f"judge {CORPUS} -m llm-s(model=tiny) --base-url {server.url}"
                f" --cache-dir kept{jumping} --requests-per-minute 60000 -o out{jumping}.jsonl"
            )
            done = run(place, words, jumping=jumping)
            assert done.returncode == 0, done.stderr
        lines = (place / f"out{jumping}.jsonl").read_text("utf-8")
        kept.append(re.sub(r'"seconds": [\d.]+', "", lines))
    assert kept[0] == kept[1]


def test_progress(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from grammeter.cli.output import Progress

    shown = Progress()
    for done in range(3):
        monkeypatch.setattr(time, "time", lambda: YEARS * done)  # noqa: B023
        shown("rows", done, 3)
    assert capsys.readouterr().err == ""  # not a second has passed


# --- campaigns -----------------------------------------------------------------------------


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> argparse.Namespace:
    """The clock that campaigns look at; ``clock.jump`` is added."""
    pytest.importorskip("django", reason="the extra 'campaign' is not installed")
    from django.utils import timezone

    found, now, true = argparse.Namespace(jump=0.0), timezone.now, time.time
    monkeypatch.setattr(timezone, "now", lambda: now() + timedelta(seconds=found.jump))
    monkeypatch.setattr(time, "time", lambda: true() + found.jump)
    return found


@pytest.fixture
def campaign(tmp_path: Path):
    """A small one, and two judges at work; outputs are dealt as they are asked for."""
    pytest.importorskip("django", reason="the extra 'campaign' is not installed")
    from grammeter.campaign import conf

    path = tmp_path / "campaign.db"
    conf.configure(path)
    from django.core.cache import cache
    from django.db import connections

    from grammeter.campaign.services import database
    from made_campaigns import made

    cache.clear()
    database.open_or_make(path)
    yield made(path, strategy="pool")
    connections.close_all()


@pytest.mark.parametrize("jump", [-YEARS, 24 * 3600.0])
def test_answers_are_saved(jump: float, campaign, clock) -> None:
    from grammeter.campaign.models import Judgment
    from made_campaigns import form_of

    judge = campaign.client(0)
    _, form, _ = form_of(judge)
    clock.jump = jump
    url, form, size = form_of(judge)
    ranks = {f"rank-{place}": "1" for place in range(size)}
    assert judge.post(url, {**form, **ranks, "action": "submit"}).status_code in (200, 302)
    clock.jump = 0
    assert Judgment.objects.filter(complete=True, automatic=False).count() == 1


@pytest.mark.parametrize("jump", JUMPS)
def test_who_guessed_is_not_locked_out_for_years(jump: float, campaign, clock) -> None:
    from grammeter.campaign.services import organisers

    ann = "ann", "192.0.2.1"
    for _ in range(organisers.FREE + 3):
        organisers.failed(*ann)
    assert 0 < organisers.wait(*ann) <= 8
    clock.jump = jump
    assert organisers.wait(*ann) <= 8
    organisers.failed(*ann)
    clock.jump = 0
    assert organisers.wait(*ann) <= organisers.LONGEST


@pytest.mark.parametrize("jump", JUMPS)
def test_what_judges_left_open_is_given_to_others(jump: float, campaign, clock) -> None:
    from grammeter.campaign.models import Assignment, Judge
    from grammeter.campaign.services.assign import _release_stale
    from grammeter.campaign.tasks import State
    from made_campaigns import form_of

    form_of(campaign.client(0))
    (opened,) = Assignment.objects.filter(state=State.OPEN)
    other = Judge.objects.exclude(pk=opened.judge_id).first()
    assert _release_stale(other) == 0
    clock.jump = jump
    assert _release_stale(other) == 1
    clock.jump = 0
    assert Assignment.objects.get(pk=opened.pk).state == State.RELEASED


def test_a_session_that_has_ended_by_the_clock_asks_to_come_again(campaign, clock) -> None:
    judge = campaign.client(0)
    clock.jump = YEARS
    assert judge.get("/judge/").status_code in (302, 403, 404)


def test_invites_end_by_the_clock_and_a_new_one_can_be_made(campaign, clock) -> None:
    from grammeter.campaign.services import judges

    clock.jump = YEARS
    with pytest.raises(judges.InviteRefused, match="has expired"):
        judges.redeem(campaign.tokens[0])
    (token,) = judges.invite(campaign.campaign, 1)
    assert judges.redeem(token).name
