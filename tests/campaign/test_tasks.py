"""All kinds of judgments: pages, checks of answers, files for the other verbs."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("whitenoise", reason="the extra 'campaign' is not installed")

from grammeter.core import DataError, UsageError
from played_tasks import SOURCES, SYSTEMS, TASKS, answer_of, at_item, fields, mixed, play


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


def exported(made, task):
    from grammeter.campaign.services import exports

    return exports.export(made.campaign, task)


def sit(database, task, sentence=1, **plan):
    """Return a campaign with one item, the judge's browser, address, page and hidden fields."""
    made = mixed(database, [task], sentences=[sentence], judges=1, **plan)
    client = made.client(0)
    return made, client, *at_item(client)


def refused(client, address, fields):
    answer = client.post(address, {**fields, "action": "submit"})
    assert answer.status_code == 422, answer.content
    return answer.content.decode()


def test_all_tasks_in_one_campaign(database, tmp_path):
    made = mixed(database)
    for judge in range(2):
        client = made.client(judge)
        guide = client.get("/judge/guidelines").content.decode()
        assert "slider" in guide
        assert "cannot say" in guide
        assert play(client) == len(TASKS)
    from grammeter.campaign import campaign_export

    result = campaign_export("mixed", output=f"{tmp_path}/out/", database=database)
    assert [one.task for one in result.exports] == list(TASKS)
    assert all((one.answers, one.skipped) == (2, 0) for one in result.exports)
    names = {str(path.relative_to(tmp_path / "out")) for path in tmp_path.rglob("out/**/*.*")}
    assert names == {
        "ranking.jsonl", "edits.jsonl", "edits.marks.jsonl", "marks.jsonl", "best-worst.jsonl",
        "rating.jsonl", "direct.jsonl", "post-edit.jsonl", "source.txt",
        *(f"{folder}/{name}.txt" for folder in ("outputs", "post", "post2") for name in SYSTEMS),
    }  # fmt: skip
    with pytest.raises(UsageError, match="several tasks"):
        campaign_export("mixed", output=tmp_path / "one.jsonl", database=database)
    with pytest.raises(UsageError, match="several tasks"):
        _ = result.text


def test_ratings_are_lines_of_scores_by_criterion(database):
    made, client, address, page, hidden = sit(database, "rating")
    assert "Is the correction grammatical?" in page
    assert "No error." in page
    names = fields(page)
    assert names["score-0-0"] == ["1", "2", "3", "4", "none"]
    answer = dict.fromkeys(list(names)[:-1], "3") | {"score-1-2": "none"}
    del answer["score-0-1"]
    sent = {**hidden, **{name: value for name, value in answer.items() if "score" in name}}
    assert "without a score for fluency" in refused(client, address, sent)
    assert "score of 5" in refused(client, address, {**sent, "score-0-1": "5"})
    assert "score of &#x27;three&#x27;" in refused(client, address, {**sent, "score-0-1": "three"})
    assert client.post(address, {**sent, "score-0-1": "4"}).status_code == 302
    rows = lines(exported(made, "rating").files["rating.jsonl"])
    assert {tuple(row["system"]) for row in rows} == {("Alpha", "Gamma"), ("Beta",)}
    assert {row["judge"] for row in rows} == {"judge01"}
    assert [row["scale"] for row in rows] == [[1, 4], [1, 4]]
    scores = [row["scores"] for row in rows]
    assert {"grammaticality": 3, "fluency": 4, "meaning": 3} in scores
    assert {"grammaticality": 3, "fluency": 3, "meaning": None} in scores


def test_a_draft_of_a_rating_is_shown_again(database):
    _, client, address, _, _ = sit(database, "rating")
    draft = {"action": "draft", "key": "d", "score-1-0": "2", "score-0-2": "none"}
    assert client.post(address, draft, headers={"accept": "application/json"}).status_code == 200
    page = client.get(address).content.decode()
    assert 'name="score-1-0" value="2" checked' in page
    assert 'name="score-0-2" value="none" checked' in page
    assert page.count(" checked>") - page.count('class="show-edits" checked>') >= 2


def test_direct_assessment_is_a_number_from_0_to_100(database):
    made, client, address, page, hidden = sit(database, "direct")
    assert page.count('type="range"') == 2
    assert fields(page)["score-0-0"] == []
    assert "without a score" in refused(client, address, {**hidden, "score-0-0": "5"})
    wrong = {**hidden, "score-0-0": "5", "score-1-0": "101"}
    assert "from 0 to 100" in refused(client, address, wrong)
    cannot = {**hidden, "score-0-0": "5", "score-1-0": "none"}
    assert "from 0 to 100" in refused(client, address, cannot)
    good = {**hidden, "score-0-0": "0", "score-1-0": "100"}
    assert client.post(address, good).status_code == 302
    rows = lines(exported(made, "direct").files["direct.jsonl"])
    assert sorted(row["scores"]["overall"] for row in rows) == [0, 100]
    assert rows[0]["scale"] == [0, 100]


def test_best_and_worst_are_ranks_1_2_3(database):
    made, client, address, page, hidden = sit(database, "best-worst", sentence=2)
    assert fields(page)["best"] == ["1", "2", "3"]
    same = {**hidden, "best": "2", "worst": "2"}
    assert "0 corrections are best" in refused(client, address, same)
    assert "0 corrections are worst" in refused(client, address, {**hidden, "best": "2"})
    unknown = {**hidden, "best": "4", "worst": "1"}
    assert "0 corrections are best" in refused(client, address, unknown)
    assert client.post(address, {**hidden, "best": "3", "worst": "1"}).status_code == 302
    shown = client.get(address).content.decode()
    assert 'name="best" value="3" checked' in shown
    (row,) = lines(exported(made, "best-worst").files["best-worst.jsonl"])
    assert row["ranks"] == [3, 2, 1]


def test_marks_are_judgments_of_edits(database, tmp_path):
    import grammeter as gm

    made, client, address, page, hidden = sit(database, "marks")
    names = [name for name in fields(page) if name.startswith("edit")]
    assert len(names) == 2
    assert 'name="rank-' not in page
    assert "without a verdict" in refused(client, address, {**hidden, names[0]: "valid"})
    sent = {**hidden, names[0]: "valid", names[1]: "invalid"}
    assert client.post(address, sent).status_code == 302
    path = tmp_path / "marks.jsonl"
    path.write_text(exported(made, "marks").files["marks.jsonl"], encoding="utf-8")
    read = gm.read_judgments(path)
    (item,) = read
    assert (item.judge, item.segment, item.item) == ("judge01", 1, "1")
    assert sorted(edit.verdict for _, edit in item.occurrences()) == [False, True]
    assert not [notice for notice in read.notices if "unknown" in notice]
    assert read.checked(SOURCES, SYSTEMS)


def test_post_edits_are_parallel_files(database):
    made, client, address, page, hidden = sit(database, "post-edit", sentence=3)
    texts = {name: of[0] for name, of in fields(page).items() if name.startswith("text")}
    assert sorted(texts.values()) == ["They was late .", "They was lately .", "They were late ."]
    sent = {**hidden, **texts, "text-1": "  "}
    page = refused(client, address, sent)
    assert "empty text" in page
    assert fields(page)["text-1"] == [""]
    assert "empty text" in refused(client, address, {**hidden, "empty-1": "yes"})
    sent |= {"empty-1": "yes", "text-0": "They were\r\n late  ."}
    assert client.post(address, sent).status_code == 302
    again = client.get(address).content.decode()
    assert fields(again)["text-0"] == ["They were late ."]
    assert 'name="empty-1" value="yes" checked' in again
    files = exported(made, "post-edit").files
    assert files["source.txt"] == "They was late .\n"
    assert files["outputs/Beta.txt"] == "They was lately .\n"
    posts = [files[f"post/{name}.txt"] for name in SYSTEMS]
    assert "\n" in posts
    assert "They were late .\n" in posts
    rows = lines(files["post-edit.jsonl"])
    assert {row["system"][0]: f"{row['post_edit']}\n" for row in rows} == dict(
        zip(SYSTEMS, posts, strict=True)
    )


def test_sentences_without_all_post_edits_are_said(database):
    made = mixed(database, ["post-edit"] * 3, sentences=[1, 2, 3], judges=1)
    client = made.client(0)
    assert play(client, 2) == 2
    export = exported(made, "post-edit")
    assert export.files["source.txt"].count("\n") == 2
    assert "2 of 3 sentences" in export.notes[0]
    assert all(export.files[f"post/{name}.txt"].count("\n") == 2 for name in SYSTEMS)


def test_without_a_sentence_of_all_systems_each_has_its_own(database):
    from grammeter.campaign import creating
    from grammeter.campaign.services import campaigns, exports, judges
    from grammeter.core import Item
    from grammeter.formats import Corpus
    from made_campaigns import Made

    mixed(database)
    pairs = [("Alpha", "Beta"), ("Beta", "Gamma")]
    items = [Item(segment=at, systems=pair) for at, pair in enumerate(pairs, start=2)]
    plan = creating.Plan(name="parts", judges=1, task="post-edit")
    campaign = campaigns.create(plan, Corpus(sources=SOURCES, systems=SYSTEMS), items)
    made = Made(campaign, database, judges.invite(campaign, 1))
    play(made.client(0))
    export = exported(made, "post-edit")
    assert "one system at a time" in export.notes[0]
    assert export.files["source/Gamma.txt"] == "They was late .\n"
    assert export.files["post/Beta.txt"].count("\n") == 2
    found = exports.standing(campaign, "post-edit").data["systems"]
    assert {name: of["sentences"] for name, of in found.items()} == dict(
        zip(SYSTEMS, (1, 2, 1), strict=True)
    )


def test_a_skipped_item_is_counted_and_not_written(database):
    made, client, address, _, _ = sit(database, "rating")
    skip = {"action": "skip", "key": "s", "reason": "no sense", "score-0-0": "3"}
    assert client.post(address, skip).status_code == 302
    export = exported(made, "rating")
    assert (export.answers, export.skipped, export.files["rating.jsonl"]) == (0, 1, "")


def test_a_repeat_of_a_rating_is_a_file_of_its_own(database):
    made = mixed(database, ["rating", "rating"], sentences=[1, 2], judges=1, repeats=1)
    assert play(made.client(0)) == 3
    export = exported(made, "rating")
    assert len(lines(export.files["rating.jsonl"])) == 5
    assert len(lines(export.files["rating.repeats.jsonl"])) in (2, 3)
    assert "rating.repeats.jsonl alone" in export.notes[0]


def test_the_latest_version_of_an_answer_counts(database):
    made, client, address, page, hidden = sit(database, "direct")
    first = {**hidden, **answer_of(page)}
    client.post(address, first)
    client.post(address, {"key": "b", "score-0-0": "1", "score-1-0": "2"})
    rows = lines(exported(made, "direct").files["direct.jsonl"])
    assert sorted(row["scores"]["overall"] for row in rows) == [1, 2]
    from grammeter.campaign.services import results

    assert [row["version"] for row in results.details(made.campaign)] == [1, 2]


def test_one_output_is_asked_about_unless_it_must_be_compared(database):
    from grammeter.campaign import creating
    from grammeter.campaign.services import campaigns, judges
    from grammeter.core import Item
    from grammeter.formats import Corpus
    from made_campaigns import Made

    made = mixed(database)
    items = [Item(segment=at, systems=("A",), task=task) for at, task in enumerate(TASKS, start=1)]
    corpus = Corpus(sources=SOURCES, systems={"A": SYSTEMS["Alpha"]})
    campaign = campaigns.create(creating.Plan(name="one", judges=1), corpus, items)
    made = Made(campaign, database, judges.invite(campaign, 1))
    client = made.client(0)
    assert play(client) == 4
    assert client.get("/judge/answers").content.decode().count("answered</td>") == 4


@pytest.mark.parametrize("task", ["best-worst", "direct"])
def test_attention_items_of_other_tasks(database, task):
    from grammeter.campaign.criteria import Check

    check = Check(source="x", outputs=("xx", "yy", "zz"), ranks=(1, 3, 2), loud=True)
    made = mixed(database, [task], judges=1, task=task, attention=(check,))
    client = made.client(0)
    for _ in range(3):
        address, page, hidden = at_item(client)
        if ">zz<" in page:
            break
        client.post(address, {**hidden, **answer_of(page)})
    order = [next(o for o in check.outputs if f">{o}<" in card) for card in page.split("<h3")[1:]]
    place = {text: at for at, text in enumerate(order)}
    if task == "direct":
        wrong = {f"score-{at}-0": "50" for at in range(3)}
        right = {f"score-{place[o]}-0": n for o, n in zip(check.outputs, (90, 5, 40), strict=True)}
    else:
        wrong = {"best": place["yy"] + 1, "worst": place["xx"] + 1}
        right = {"best": place["xx"] + 1, "worst": place["yy"] + 1}
    client.post(address, {"key": "one", **wrong})
    assert "Please look at this item again" in client.get(address).content.decode()
    client.post(address, {"key": "two", **right})
    page = client.get(address).content.decode()
    assert "Please look at this item again" not in page


@pytest.mark.parametrize("task", ["rating", "marks", "post-edit"])
def test_tasks_without_a_right_order_take_no_checks(database, task):
    from grammeter.campaign.criteria import Check

    check = Check(source="x", outputs=("a", "b"), ranks=(1, 2))
    with pytest.raises(UsageError, match=f"known answer has the task '{task}'") as error:
        mixed(database, [task], task=task, tutorial=(check,))
    assert "direct" in error.value.fix


def test_unknown_tasks_and_adaptive_campaigns(database):
    from grammeter.core import UnknownNameError

    with pytest.raises(UnknownNameError, match="item 2"):
        mixed(database, ["rating", "ratings"])
    with pytest.raises(UsageError, match="adaptive campaign has the task 'rating'"):
        mixed(database, ["rating"], strategy="adaptive", judges=0)


def test_the_rank_of_a_campaign_leaves_other_tasks_out(database):
    from grammeter.campaign.services import results

    made = mixed(database)
    play(made.client(0))
    assert {ranking.segment for ranking in results.judgments(made.campaign)} == {1, 2}
    assert {r.segment for r in results.judgments(made.campaign, "best-worst")} == {4}


def test_the_organiser_sees_the_result_of_each_task(database):
    import io
    import zipfile

    from grammeter.campaign.views import organise
    from made_campaigns import organiser

    made = mixed(database)
    organise._sections.cache_clear()  # campaigns of other tests have the same number
    browser = organiser(made)
    address = f"/organise/{made.campaign.pk}/"
    page = browser.get(f"{address}results").content.decode()
    assert page.count("None yet") == 8
    for judge in range(2):
        play(made.client(judge))
    page = browser.get(f"{address}results").content.decode()
    assert "None yet" not in page
    for part in ("accept-rate", "nld", "unchanged", "Best-worst", "fluency", "overall"):
        assert part in page, part
    assert "rate each correction by criteria" in browser.get(address).content.decode()
    packed = browser.post(f"{address}export/tasks")
    with zipfile.ZipFile(io.BytesIO(packed.content)) as file:
        assert "rating.jsonl" in file.namelist()
        assert "post/Beta.txt" in file.namelist()


def test_a_campaign_without_rankings_offers_no_files_of_rankings(database):
    from made_campaigns import organiser

    made = mixed(database, ["rating"])
    page = organiser(made).get(f"/organise/{made.campaign.pk}/").content.decode()
    assert "export/tasks" in page
    assert "export/details" in page
    assert "export/xml" not in page


def test_imported_rankings_stay_rankings(database):
    import grammeter as gm
    from grammeter.campaign.services import results
    from grammeter.core import Ranking
    from grammeter.formats import Corpus, Judgments

    corpus = Corpus(sources=SOURCES, systems=SYSTEMS)
    ranking = Ranking(judge="ann", segment=2, groups=tuple((n,) for n in SYSTEMS), ranks=(1, 2, 2))
    gm.campaign_import(
        "old", corpus, Judgments((ranking,)), n=2, task="best-worst", database=database
    )
    from grammeter.campaign.models import Campaign

    campaign = Campaign.objects.get(name="old")
    assert set(campaign.items.values_list("task", flat=True)) == {"ranking", "best-worst"}
    assert list(results.judgments(campaign)) == [ranking]


def test_the_results_are_those_of_the_exported_files(database, tmp_path):
    """The other verbs read the files as they are, and say what the live page says."""
    import grammeter as gm
    from grammeter.campaign import campaign_export, campaign_status

    made = mixed(database)
    for judge in range(2):
        play(made.client(judge))
    folder = tmp_path / "out"
    campaign_export("mixed", output=f"{folder}/", database=database)
    tasks = campaign_status("mixed", database=database).tasks
    assert list(tasks) == list(TASKS[1:])

    def ranked(name, **settings):
        return gm.rank(gm.read_judgments(folder / name), **settings).to_dict()

    assert tasks["best-worst"].data == ranked("best-worst.jsonl")
    assert tasks["marks"].data == ranked("marks.jsonl", by="accept-rate")
    assert tasks["edits"].data == ranked("edits.marks.jsonl", by="accept-rate")
    of = {"by": "mean", "criterion": "grammaticality"}
    assert tasks["rating"].data == ranked("rating.jsonl", **of)
    assert tasks["direct"].data == ranked("direct.jsonl")
    corpus = gm.read_corpus(
        source=folder / "source.txt",
        systems=sorted((folder / "outputs").iterdir()),
        references=[str(folder / "post/{system}.txt"), str(folder / "post2/{system}.txt")],
    )
    scores = gm.score(corpus, ["nld"]).to_dict()["metrics"]["nld"]["systems"]
    ours = tasks["post-edit"].data["systems"]
    assert {name: of["value"] for name, of in scores.items()} == {
        name: of["nld"] for name, of in ours.items()
    }
    assert ours["Alpha"] == {"nld": 0.0, "unchanged": 1.0, "sentences": 1}
    text = campaign_status("mixed", database=database).write()
    assert "accept-rate" in text
    data = campaign_status("mixed", database=database).to_dict()
    assert set(data["tasks"]) == set(TASKS[1:])


def test_from_items_to_figures_on_the_command_line(database, tmp_path, monkeypatch, capsys):
    from grammeter.campaign import conf
    from grammeter.cli.main import main
    from made_campaigns import Made

    monkeypatch.chdir(tmp_path)
    (tmp_path / "source.txt").write_text("\n".join(SOURCES) + "\n", encoding="utf-8")
    for name, texts in SYSTEMS.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")
    tasks = ("rating", "marks", "post-edit", None)
    items = [
        {"segment": at, "systems": [*SYSTEMS], **({"task": task} if task else {})}
        for at, task in enumerate(tasks, start=2)
    ]
    (tmp_path / "items.jsonl").write_text("".join(f"{json.dumps(i)}\n" for i in items), "utf-8")
    outputs = [f"{name}.txt" for name in SYSTEMS]
    create = ["campaign", "create", "all", "-s", "source.txt", "--hyps", *outputs, "--items"]
    create += ["items.jsonl", "--task", "direct", "--judges", "2", "--overlap", "4"]
    assert main([*create, "--database", str(database)]) == 0
    conf.configure(database, serve=True, hosts=("testserver",))
    from grammeter.campaign.models import Campaign
    from grammeter.campaign.services import judges

    campaign = Campaign.objects.get(name="all")
    made = Made(campaign, database, judges.invite(campaign, 2))
    for judge in range(2):
        assert play(made.client(judge)) == 4
    capsys.readouterr()

    def run(*words, code=0):
        assert main([*words]) == code, capsys.readouterr().err
        return capsys.readouterr()

    base = ["campaign", "export", "all", "--database", str(database)]
    assert "several tasks (marks, rating, direct, post-edit)" in run(*base, code=2).err
    assert "post-edit: 2 judgments, 0 of them skipped" in run(*base, "-o", "out/").err
    means = json.loads(
        run("rank", "out/rating.jsonl", "--criterion", "fluency", "--format", "json").out
    )
    assert set(means["criteria"]) == {"grammaticality", "fluency", "meaning"}
    rates = run("rank", "out/marks.jsonl", "--by", "accept-rate", "--format", "json").out
    assert {row["score"] for row in json.loads(rates)["systems"]} <= {1.0, None}
    for name in ("rating", "marks", "direct"):
        assert json.loads(run("agree", f"out/{name}.jsonl", "--format", "json").out)
    hyps = [f"out/outputs/{name}.txt" for name in SYSTEMS]
    own = ["-r", "out/post/{system}.txt", "-m", "nld", "ter", "--format", "json"]
    scores = json.loads(run("score", "-s", "out/source.txt", "--hyps", *hyps, *own).out)
    assert scores["references"] == "own"
    assert scores["metrics"]["nld"]["systems"]["Alpha"]["value"] == 0
    corpus = ["-s", "source.txt", "-r", "Alpha.txt", "--hyps", *outputs]
    run("score", *corpus, "-m", "chrf", "-o", "s.json")
    gold = "".join(f"S {text}\n\n" for text in SOURCES)
    (tmp_path / "gold.m2").write_text(gold, encoding="utf-8")
    run("meta", "sentence", "s.json", "out/rating.jsonl", "--criterion", "fluency")
    run("meta", "system", "s.json", "out/direct.jsonl")
    run("meta", "edits", "out/marks.jsonl", "-s", "source.txt", "-r", "gold.m2")


CRITERIA = """
[accuracy]
question = "Is it right?"
scale = [0, 5]

[style.anchors]
-1 = "worse"
0 = "the same"
1 = "better"
"""


def test_criteria_from_a_file(database, tmp_path):
    import grammeter as gm
    from grammeter.campaign import conf

    (tmp_path / "criteria.toml").write_text(CRITERIA, encoding="utf-8")
    corpus = gm.Corpus(sources=SOURCES, systems=SYSTEMS)
    gm.campaign_create(
        "rated", corpus, n=1, task="rating", criteria=tmp_path / "criteria.toml", database=database
    )
    conf.configure(database, serve=True, hosts=("testserver",))
    from grammeter.campaign.models import Campaign
    from grammeter.campaign.services import judges
    from made_campaigns import Made

    campaign = Campaign.objects.get(name="rated")
    made = Made(campaign, database, judges.invite(campaign, 1))
    client = made.client(0)
    address, page, hidden = at_item(client)
    assert fields(page)["score-0-0"] == ["0", "1", "2", "3", "4", "5", "none"]
    assert fields(page)["score-0-1"] == ["-1", "0", "1", "none"]
    answer = {**answer_of(page), "score-0-1": "-1"}
    assert client.post(address, {**hidden, **answer}).status_code == 302
    rows = lines(exported(made, "rating").files["rating.jsonl"])
    assert {(row["criterion"], *row["scale"]) for row in rows} == {
        ("accuracy", 0, 5), ("style", -1, 1)
    }  # fmt: skip
    assert -1 in {row["score"] for row in rows}


@pytest.mark.parametrize(
    ("text", "where", "fault"),
    [
        ("[a]\nscale = [1, 4]\n[b\n", "", "no TOML.*line 3"),
        ("", "", "no criterion"),
        ("[a]\nscale = [1, 4]\n\n[b]\nscale = [4, 1]\n", ":4", "scale of 'b'"),
        ("[a]\nscale = [1, 100]\n", ":1", "2 to 11 points"),
        ("[a.anchors]\n1 = 'x'\n3 = 'y'\n", ":1", "without an anchor"),
        ("[a]\nscale = [1, 2]\n[a.anchors]\n3 = 'y'\n", ":1", "some of them"),
        ("[a.anchors]\none = 'x'\n", ":1", "2 to 11 points"),
        ("[a]\nscale = ['1', '2']\n", ":1", "whole number"),
        ("[a]\nscale = 5\n", ":1", "a list"),
        ("a = 3\n", ":1", "no table"),
        ("[a]\nsteps = 3\n", ":1", "no table of"),
        ("[a]\nquestion = 3\n", ":1", "a text"),
        ("[mean]\nscale = [1, 4]\n", ":1", "no good name"),
    ],
)
def test_impossible_criteria(tmp_path, text, where, fault):
    from grammeter.campaign.criteria import read_criteria

    (tmp_path / "c.toml").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=fault) as error:
        read_criteria(tmp_path / "c.toml")
    assert error.value.where == f"{tmp_path / 'c.toml'}{where}"
    assert error.value.fix


def test_a_campaign_that_ranks_nothing_lacks_no_ranking(database):
    from grammeter.campaign import campaign_status

    mixed(database, ["rating"])
    status = campaign_status("mixed", database=database)
    assert list(status.reasons) == ["rating"]
    assert "ranking" not in status.write()
    data = status.to_dict()
    assert (data["agreement"], data["ranking"], data["notes"]) == (None, None, [])
    listed = campaign_status(database=database).to_dict()
    assert data["grammeter"] == listed["grammeter"]
