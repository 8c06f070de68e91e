"""A finished evaluation becomes a campaign."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grammeter.core import DataError, Ranking, UsageError
from grammeter.formats import Judgments, format_judgments, read_corpus, read_judgments
from grammeter.resources import sample_corpus
from grammeter.verbs import agree, rank
from judged_campaigns import come_in, made_corpus, work


def loaded(corpus, judgments, more=(), **settings):
    from grammeter.campaign import creating
    from grammeter.campaign.services import campaigns

    plan = creating.Plan(**{"name": "old", "strategy": "pool", **settings})
    return campaigns.create(plan, corpus, more, judgments)


@pytest.fixture(scope="module")
def sample():
    folder = sample_corpus()
    systems = sorted((folder / "systems").iterdir())
    corpus = read_corpus(source=folder / "source.txt", systems=systems)
    return corpus, read_judgments(folder / "judgments.xml", systems=corpus.systems)


def test_in_and_out_again(database, sample):
    from grammeter.campaign.services import results

    corpus, judgments = sample
    found = results.judgments(loaded(corpus, judgments))
    assert found.rankings == judgments.rankings
    assert found.files == judgments.files
    assert format_judgments(found, "appraise") == format_judgments(judgments, "appraise")
    assert agree(found).to_dict() == agree(judgments).to_dict()


def test_the_study_of_2015(database, shared):
    from grammeter.campaign.services import results

    data = shared / "data"
    systems = sorted((data / "conll14_test" / "official_systems").iterdir())
    corpus = read_corpus(source=data / "conll14_test" / "source.txt", systems=systems)
    judgments = read_judgments(data / "human_gjg15" / "judgments.xml", systems=corpus.systems)
    campaign = loaded(corpus, judgments)
    assert results.judgments(campaign).rankings == judgments.rankings
    assert results.progress(campaign).items == campaign.items.count()
    ranked = rank(results.judgments(campaign), unit="pair", resamples=200)
    assert [row.system for row in ranked.rows if row.cluster == 1] == ["AMU"]
    assert max(row.cluster for row in ranked.rows) == 4  # table 3b


def ranking(judge="ann", segment=2, groups=(("Aye", "Bee"), ("Cee",)), **settings):
    ranks = () if settings.get("skipped") else tuple(range(1, len(groups) + 1))
    return Ranking(judge=judge, segment=segment, groups=groups, ranks=ranks, **settings)


def test_the_same_item_of_two_judges_and_of_one_twice(database):
    from grammeter.campaign.services import results

    given = (
        ranking(item="a"),
        ranking("bob", item="a", groups=(("Cee",), ("Aye", "Bee"))),
        ranking(item="a", seconds=3.0),
        ranking(item="b", groups=(), skipped=True),
        ranking(item="b", skipped=True),
        ranking(segment=1, groups=(("Aye", "Bee", "Cee", "Dee"),)),
    )
    campaign = loaded(made_corpus(), Judgments(given))
    assert results.judgments(campaign).rankings == given
    item = campaign.items.get(name="a")
    assert sorted(item.assignments.values_list("judge__name", "turn", "slot")) == [
        ("ann", 0, 1), ("ann", 1, None), ("bob", 0, 2)
    ]  # fmt: skip
    assert (item.wanted, item.taken) == (2, 2)


def test_one_goes_on_with_new_items(database):
    from grammeter.campaign import creating
    from grammeter.campaign.services import campaigns, judges, results

    corpus = made_corpus()
    plan = creating.Plan(name="old", strategy="pool")
    more = campaigns.draw_items(plan, corpus, n=6, select="uniform")
    campaign = loaded(corpus, Judgments((ranking("judge01", item="1"),)), more=more)
    (judge,) = come_in(campaign)
    assert judge.name == "judge02"
    work(judge)
    assert len(results.judgments(campaign)) == 7
    again = judges.invite(campaign, judge=campaign.judges.get(name="judge01"))
    assert len(again) == 1


def test_nothing_new_to_do(database):
    from grammeter.campaign.services import assign

    campaign = loaded(made_corpus(), Judgments((ranking(),)))
    (judge,) = come_in(campaign)
    assert assign.next_assignment(judge) is None


@pytest.mark.parametrize("wrong", [{"segment": 99}, {"groups": (("Aye",), ("Eve",))}])
def test_judgments_that_do_not_fit(database, wrong):
    from grammeter.campaign.models import Campaign

    judgments = Judgments((ranking(), replace(ranking(), **wrong)), origins=("j.xml:1", "j.xml:2"))
    with pytest.raises(DataError) as error:
        loaded(made_corpus(), judgments)
    assert error.value.where == "j.xml:2"
    assert not Campaign.objects.exists()


def test_an_import_is_not_planned(database):
    with pytest.raises(UsageError, match="planned"):
        loaded(made_corpus(), Judgments((ranking(),)), strategy="planned", judges=2)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("", "empty"),
        ("nonsense", "not JSON"),
        ("[]", "no JSON object"),
        ('{"sourcee": "x"}', "unknown key"),
        ('{"source": "", "outputs": ["a", "b"], "ranks": [1, 2]}', "no source"),
        ('{"source": "x", "outputs": ["a"], "ranks": [1]}', "two different"),
        ('{"source": "x", "outputs": ["a", "a "], "ranks": [1, 2]}', "two different"),
        ('{"source": "x", "outputs": ["a", "b"], "ranks": [1, 1]}', "not all of them the same"),
        ('{"source": "x", "outputs": ["a", "b"], "ranks": [1, true]}', "ranks"),
        ('{"source": "x", "outputs": "ab", "ranks": [1, 2]}', "outputs"),
        ('{"source": "x", "outputs": ["a", "b"], "ranks": [1, 2], "loud": 1}', "loud"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_items_with_answers_that_are_none(tmp_path, line, told):
    from grammeter.campaign.criteria import read_checks

    (tmp_path / "checks.jsonl").write_text(line, encoding="utf-8")
    with pytest.raises(DataError, match=told) as error:
        read_checks(tmp_path / "checks.jsonl", loud=False)
    assert "checks.jsonl" in error.value.where


def test_tutorials_are_loud_and_attention_is_silent(tmp_path):
    from grammeter.campaign.criteria import read_checks

    line = '{"source": "x", "outputs": ["a ", "b"], "ranks": [1, 2]}'
    (tmp_path / "c").write_text(line, encoding="utf-8")
    for loud in (True, False):
        (found,) = read_checks(tmp_path / "c", loud=loud)
        assert found.loud == loud
        assert found.outputs == ("a ", "b")
