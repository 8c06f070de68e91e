"""What a campaign comes to: the same as `rank` and `agree` on its export."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from grammeter.core import DataError
from grammeter.formats import read_judgments, write_judgments
from grammeter.verbs import agree, rank
from judged_campaigns import answer, come_in, made_campaign, work


@pytest.fixture
def campaign(database):
    campaign = made_campaign(24, judges=2, overlap=0.5, repeats=0.2)
    for judge in come_in(campaign, 2):
        work(judge)
    return campaign


@pytest.mark.parametrize("name", ["out.xml", "out.jsonl", "out.xml.gz"])
def test_the_organisers_figures_are_those_of_the_export(campaign, tmp_path, name):
    from grammeter.campaign.services import results

    path = tmp_path / name
    found = results.judgments(campaign)
    write_judgments(path, found)
    again = read_judgments(path)
    assert again.rankings == found.rankings
    ours, theirs = agree(results.judgments(campaign)).to_dict(), agree(again).to_dict()
    assert {**ours, "signature": ""} == {**theirs, "signature": ""}
    ours, theirs = rank(results.judgments(campaign), resamples=50), rank(again, resamples=50)
    assert ours.rows == theirs.rows


def test_csv_holds_the_pairs(campaign, tmp_path):
    from grammeter.campaign.services import results

    (told,) = write_judgments(tmp_path / "out.csv", found := results.judgments(campaign))
    assert "cannot hold everything" in told
    again = read_judgments(tmp_path / "out.csv")
    assert agree(again).total.expanded == agree(found).total.expanded


def test_every_judgment_once_with_its_latest_version(campaign):
    from grammeter.campaign.models import Assignment
    from grammeter.campaign.services import results

    before = results.judgments(campaign)
    assert len(before) == Assignment.objects.count()
    changed = Assignment.objects.filter(item__places__place=1).first()
    size = len(changed.shown_order)
    for _ in range(3):
        answer(changed.judge, changed, ranks=[1] * size)
    after = results.judgments(campaign)
    assert len(after) == len(before)
    different = [
        at for at, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1]
    ]
    assert len(different) <= 1
    assert after[different[0]].ranks == (1,) * size


def test_groups_have_all_systems_and_ranks_follow_the_texts(campaign):
    from grammeter.campaign.services import results

    for ranking in results.judgments(campaign):
        assert sorted(ranking.systems)[0] == "Aye"
        by_rank = [group for _, group in sorted(zip(ranking.ranks, ranking.groups, strict=True))]
        assert by_rank == sorted(by_rank)  # judges rank by the texts, which hold the names


def test_attention_and_tutorial_are_no_judgments(database):
    from grammeter.campaign.criteria import Check
    from grammeter.campaign.services import results

    check = Check(source="s", outputs=("a", "b"), ranks=(1, 2))
    campaign = made_campaign(10, judges=1, tutorial=(check,), attention=(check,))
    (judge,) = come_in(campaign)
    work(judge)
    assert len(results.judgments(campaign)) == 10
    (found,) = results.progress(campaign).judges
    assert (found.attention, found.attention_right, found.passed) == (1, 1, True)
    assert found.done == found.planned == 10


def test_progress(campaign):
    from grammeter.campaign.services import results

    found = results.progress(campaign)
    assert (found.items, found.wanted, found.taken) == (24, 36, 36)
    assert found.done == sum(judge.done for judge in found.judges) == 36 + 2 * 4
    assert all(judge.joined and judge.finished and not judge.blocked for judge in found.judges)
    json.dumps(asdict(found))


def test_nothing_yet(database):
    from grammeter.campaign.services import results

    campaign = made_campaign()
    with pytest.raises(DataError, match="no judgment"):
        agree(results.judgments(campaign))
    with pytest.raises(DataError, match="nothing to rank"):
        rank(results.judgments(campaign))


def test_times(database):
    from grammeter.campaign.services import assign, results

    (judge,) = come_in(campaign := made_campaign(15, judges=1))
    answer(judge, assign.next_assignment(judge), active_seconds=12.5, wall_seconds=100)
    answer(judge, assign.next_assignment(judge), wall_seconds=7)
    seconds = [r.seconds for r in results.judgments(campaign) if len(r.groups) > 1]
    assert seconds == [12.5, 7.0]
    assert results.progress(campaign).judges[0].active_seconds == 12.5


def test_details_tell_everything(campaign):
    from grammeter.campaign.services import results

    head, rows = results.header(campaign), list(results.details(campaign))
    assert len(head["texts"]) == 64
    assert head["signature"].startswith("sample|")
    assert len(rows) == len(results.judgments(campaign))
    for row in rows:
        assert len(row["shown"]) == len(row["ranks"])
        assert sorted(row["order"]) == list(range(len(row["ranks"])))
    json.dumps([head, *rows], allow_nan=False)


def test_the_log(campaign):
    from grammeter.campaign.models import AuditEntry

    actions = [entry.action for entry in AuditEntry.objects.filter(campaign=campaign)]
    assert actions == ["join", "join", "invite", "create"]


def test_progress_and_pass_are_told_alike(database):
    """The table of all judges counts by itself; what a judge is told is counted for the judge."""
    from grammeter.campaign.criteria import Check
    from grammeter.campaign.models import Judge
    from grammeter.campaign.services import judges, results

    checks = tuple(Check(source=f"s{at}", outputs=("a", "b"), ranks=(1, 2)) for at in range(3))
    campaign = made_campaign(12, judges=3, overlap=1.0, attention=checks, pass_threshold=0.6)
    right, wrong, half = come_in(campaign, 3)
    work(right)
    for judge, most in ((wrong, 100), (half, 4)):
        for found in list_of(judge, most):
            answer(judge, found, ranks=[1] * len(found.shown_order))
    told = {row.judge: row.passed for row in results.progress(campaign).judges}
    assert told == {judge.name: judges.passed(judge) for judge in Judge.objects.all()}
    assert (told[right.name], told[wrong.name]) == (True, False)


def list_of(judge, most):
    from grammeter.campaign.services import assign

    for _ in range(most):
        if (found := assign.next_assignment(judge)) is None:
            return
        yield found
