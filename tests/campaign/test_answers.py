"""Every version of an answer is kept, once."""

from __future__ import annotations

import math
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from grammeter.core import DataError
from judged_campaigns import answer, come_in, key, made_campaign


@pytest.fixture
def campaign(database):
    return made_campaign(12, strategy="pool", judges=0)


@pytest.fixture
def judge(campaign):
    (judge,) = come_in(campaign)
    return judge


@pytest.fixture
def opened(judge):
    from grammeter.campaign.services import assign

    return assign.next_assignment(judge)


def save(judge, opened, **settings):
    from grammeter.campaign.services import answers

    size = len(opened.shown_order)
    chosen = {"ranks": list(range(1, size + 1)), "key": key(), **settings}
    return answers.save(judge, opened, **chosen)


def seen(campaign):
    """Return the judgments that somebody made."""
    from grammeter.campaign.services import results

    return [ranking for ranking in results.judgments(campaign) if len(ranking.groups) > 1]


def test_what_comes_twice_is_kept_once(judge, opened):
    first = save(judge, opened, key="a", comment="one")
    again = save(judge, opened, key="a", comment="two")
    assert first == again
    assert again.comment == "one"
    assert opened.judgments.count() == 1


def test_what_comes_twice_at_once_is_kept_once(judge, opened):
    from django.db import connection

    begin = threading.Barrier(6)

    def send(at):
        try:
            begin.wait()
            return save(judge, opened, key=f"k{at % 2}").pk
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        assert len(set(pool.map(send, range(6)))) == 2
    assert sorted(opened.judgments.values_list("version", flat=True)) == [1, 2]


def test_drafts_do_not_count_and_versions_never_change(judge, opened):
    from grammeter.campaign.services import answers

    size = len(opened.shown_order)
    save(judge, opened, ranks=[1] + [None] * (size - 1), complete=False)
    opened.refresh_from_db()
    assert opened.state == "open"
    assert seen(judge.campaign) == []
    save(judge, opened, ranks=[1] * size)
    save(judge, opened, ranks=[size] * size)
    save(judge, opened, ranks=[None] * size, complete=False)
    (ranking,) = seen(judge.campaign)
    assert ranking.ranks == (size,) * size
    assert [row.version for row in opened.judgments.all()] == [1, 2, 3, 4]
    assert answers.latest(opened).version == 4


def test_skipping_takes_a_reason_and_can_be_taken_back(judge, opened):
    with pytest.raises(DataError, match="reason"):
        save(judge, opened, skipped=True)
    save(judge, opened, skipped=True, reason="not English")
    (ranking,) = seen(judge.campaign)
    assert (ranking.skipped, ranking.ranks) == (True, ())
    assert len(ranking.groups) == len(opened.shown_order)
    save(judge, opened)
    (ranking,) = seen(judge.campaign)
    assert not ranking.skipped


def test_another_judges_item_is_refused(campaign, judge, opened):
    from django.core.exceptions import PermissionDenied

    from grammeter.campaign.services import answers

    (other,) = come_in(campaign)
    with pytest.raises(PermissionDenied):
        answers.save(other, opened, ranks=[1] * len(opened.shown_order), key="a")
    for number in (opened.pk, 10**6):
        with pytest.raises(PermissionDenied):
            answers.assignment_of(other, number)
    assert answers.assignment_of(judge, opened.pk) == opened
    assert not opened.judgments.exists()


def test_an_item_that_was_not_shown_is_refused(database):
    from django.core.exceptions import PermissionDenied

    from grammeter.campaign.services import answers

    (judge,) = come_in(made_campaign(5, judges=1))
    planned = judge.assignments.first()
    with pytest.raises(PermissionDenied):
        answers.save(judge, planned, ranks=[], key="a")


def test_a_blocked_judge_saves_nothing(judge, opened):
    from django.core.exceptions import PermissionDenied

    from grammeter.campaign.services import judges

    judges.block(judge)
    with pytest.raises(PermissionDenied):
        save(judge, opened)


@pytest.mark.parametrize(
    "settings",
    [
        {"key": ""},
        {"key": "a b"},
        {"key": "k" * 65},
        {"ranks": [1]},
        {"ranks": [0, 0, 0, 0]},
        {"ranks": [9, 9, 9, 9]},
        {"ranks": ["1", "1", "1", "1"]},
        {"ranks": [True] * 4},
        {"ranks": [None] * 4},
        {"ranks": ()},
        {"comment": "x" * 10_001},
        {"active_seconds": -1.0},
        {"wall_seconds": math.nan},
        {"wall_seconds": math.inf},
    ],
)
def test_impossible_answers_leave_nothing(judge, opened, settings):
    if len(settings.get("ranks", ())) == 4:
        settings = {"ranks": settings["ranks"][: len(opened.shown_order)]}
    with pytest.raises(DataError):
        save(judge, opened, **settings)
    assert not opened.judgments.exists()


def test_history_is_what_was_shown_in_order(judge):
    from grammeter.campaign.services import answers, assign

    shown = []
    for _ in range(3):
        shown.append(assign.next_assignment(judge))
        answer(judge, shown[-1])
    shown.append(assign.next_assignment(judge))
    assert list(answers.history(judge)) == shown
    assert [found.state for found in answers.history(judge)] == ["done"] * 3 + ["open"]


def checked(kind, loud, ranks=(1, 2, 2)):
    from grammeter.campaign.criteria import Check

    check = Check(source="s .", outputs=("a", "b", "c"), ranks=ranks, loud=loud, explanation="so")
    return {kind: (check,)}


def first_check(kind, loud, **settings):
    """Return a judge who is shown a checked item, and the ranks 1 for "a" and 2 for the rest."""
    from grammeter.campaign.services import assign

    campaign = made_campaign(4, strategy="pool", judges=0, **checked(kind, loud), **settings)
    (judge,) = come_in(campaign)
    while (found := assign.next_assignment(judge)).item.kind == "normal":
        answer(judge, found)
    return judge, found, [[1, 2, 2][place] for place in found.shown_order]


def test_a_tutorial_answers_back_and_asks_again(database):
    from grammeter.campaign.services import answers, assign
    from grammeter.campaign.views.judging import page_values

    judge, found, right = first_check("tutorial", True)
    assert page_values(found)["kind"] == "tutorial"
    told = answers.feedback(save(judge, found, ranks=[3 - rank for rank in right]))
    assert (told.right, told.again, told.explanation) == (False, True, "so")
    assert list(told.ranks) == right
    assert assign.next_assignment(judge) == found
    told = answers.feedback(save(judge, found, ranks=right))
    assert (told.right, told.again) == (True, False)
    assert assign.next_assignment(judge) != found
    found.refresh_from_db()
    assert found.correct is False  # the first answer counts
    assert seen(judge.campaign) == []


def test_after_three_wrong_answers_one_may_go_on(database):
    from grammeter.campaign.services import answers, assign

    judge, found, right = first_check("tutorial", True)
    wrong = [3 - rank for rank in right]
    again = [answers.feedback(save(judge, found, ranks=wrong)).again for _ in range(3)]
    assert again == [True, True, False]
    assert assign.next_assignment(judge) != found


@pytest.mark.parametrize("loud", [True, False])
def test_attention_items_are_loud_or_silent(database, loud, monkeypatch):
    from grammeter.campaign.services import answers, assign, judges
    from grammeter.campaign.views.judging import page_values

    monkeypatch.setattr(assign, "ATTENTION_EVERY", 1)
    judge, found, right = first_check("attention", loud, pass_code="P", fail_code="F")
    assert page_values(found)["kind"] == ""
    told = answers.feedback(save(judge, found, ranks=[3 - rank for rank in right]))
    assert (told is not None and told.again) == loud
    assert (assign.next_assignment(judge) == found) == loud
    assert not judges.passed(judge)


def test_ties_in_the_right_answer_may_be_ranked_in_any_way(database):
    judge, found, right = first_check("tutorial", False)
    ranks = [rank if place < 2 else 3 for rank, place in zip(right, found.shown_order, strict=True)]
    assert save(judge, found, ranks=ranks).correct
    assert not save(judge, found, ranks=[1, 1, 1]).correct
    assert save(judge, found, skipped=True, reason="no idea").correct is False


def test_verdicts_on_edits(database):
    from grammeter.campaign.services import assign

    (judge,) = come_in(made_campaign(5, strategy="pool", judges=0, task="edits"))
    found = assign.next_assignment(judge)
    size = len(found.shown_order)
    rows = [["good", "bad"]] * size
    assert save(judge, found, verdicts=rows).verdicts == rows
    assert save(judge, found, verdicts=[[None]] * size, complete=False).verdicts == [[None]] * size
    for wrong in ([["good"]] * (size + 1), [[None]] * size, [["x" * 50]] * size):
        with pytest.raises(DataError):
            save(judge, found, verdicts=wrong)


def test_a_task_without_edits_keeps_no_verdicts(judge, opened):
    assert save(judge, opened, verdicts=[["good"]]).verdicts is None


def test_hostile_text_is_kept_as_text(judge, opened):
    text = "<script>alert(1)</script> \u202e \x00 '; DROP TABLE"
    assert save(judge, opened, comment=text).comment == text.replace("\x00", "")
