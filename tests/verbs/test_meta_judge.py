"""What the answers of a judge tell of it: laws, goldens by hand, and the command line."""

from __future__ import annotations

import json
import random
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr

import grammeter as gm
from grammeter.cli.main import main
from grammeter.formats import read_judgments
from grammeter.resources import sample_corpus

SYSTEMS = list("ABCDE")
SAMPLE = sample_corpus()


def reply(order, scores, **more):
    return {"text": "", "order": [*order], "scores": scores, "attempt": 1, "tokens": [100, 20],
            "seconds": 0.5, "finish": "stop", **more}  # fmt: skip


def item(segment, replies, scores=None, groups=SYSTEMS):
    if scores is None:
        by_group = [[r["scores"][r["order"].index(g)] for r in replies] for g in range(len(groups))]
        scores = [sum(of) / len(of) for of in by_group]
    best = sorted(set(scores), reverse=True)
    return gm.Ranking(
        judge="m",
        segment=segment,
        groups=tuple((name,) for name in groups),
        ranks=tuple(1 + best.index(score) for score in scores),
        scores=tuple(map(float, scores)),
        replies=tuple(replies),
    )


def shuffled(score, items=40, orders=3, repeats=1):
    """Items shown in several orders; ``score`` gets the output, its place, and random numbers."""
    rng = random.Random(1)
    made = []
    for segment in range(1, items + 1):
        replies = []
        for _ in range(orders):
            order = rng.sample(range(len(SYSTEMS)), len(SYSTEMS))
            for _ in range(repeats):
                scores = [score(group, place, rng) for place, group in enumerate(order)]
                replies.append(reply(order, scores))
        made.append(item(segment, replies))
    return made


def figures(rankings, **options):
    (profile,) = gm.meta_judge(rankings, **{"resamples": 0, **options}).judges.values()
    return {name: of.value for name, of in profile.figures.items()} | {"": profile}


def test_a_judge_that_prefers_the_first_place_changes_every_verdict():
    made = figures(shuffled(lambda group, place, rng: 5 - place))
    assert made["changed-swapped"] == 1
    assert made["r-place"] == made["tau-place"] == pytest.approx(-1)
    assert [made[f"place-{n}"] for n in range(1, 6)] == [5, 4, 3, 2, 1]
    assert made["kappa-swapped"] < 0


def test_a_judge_that_does_not_look_at_the_place_changes_none():
    made = figures(shuffled(lambda group, place, rng: 5 - group, repeats=2))
    assert made["changed-swapped"] == made["changed-same"] == 0
    assert made["kappa-swapped"] == made["kappa-same"] == 1
    assert made["apart-same"] == made["apart-swapped"] == 0
    assert abs(made["r-place"]) < 0.2


def test_a_judge_that_throws_dice_agrees_with_itself_by_chance():
    made = gm.meta_judge(shuffled(lambda *of: of[2].randint(1, 5), items=150, repeats=2))
    (profile,) = made.judges.values()
    for name in ("kappa-same", "kappa-swapped", "r-place", "tau-place"):
        low, high = profile.figures[name].interval
        assert low < 0 < high, name
    assert profile.verdicts["same"] >= 150 * 3 * 10


def test_figures_of_two_replies_by_hand():
    """A above B twice, C tied with A, then below; two answers in one order, one in another."""
    one, two = reply([0, 1, 2], [4, 2, 4]), reply([0, 1, 2], [5, 2, 3])
    three = reply([1, 0, 2], [3, 4, 4])
    profile = figures([item(1, [one, two, three], groups="ABC")])
    assert profile["changed-same"] == pytest.approx(1 / 3)  # A and C
    assert profile["apart-same"] == pytest.approx((1 + 0 + 1) / 3)
    tied = 1 / 6  # of the six verdicts
    chance = tied**2 + (1 - tied) ** 2 / 2
    assert profile["kappa-same"] == pytest.approx((2 / 3 - chance) / (1 - chance))
    assert profile[""].verdicts == {"same": 3, "swapped": 2}  # A and B, three against one and two
    assert profile["changed-swapped"] == 0
    assert profile["place-1"] == (4 + 5 + 3) / 3
    assert profile[""].scores == {"2": 2, "3": 2, "4": 4, "5": 1}


def test_what_was_read_and_what_was_not_is_counted():
    lines = [
        reply([0, 1], [5, 4], read="ok"),
        reply([0, 1], None, read="invalid", finish="length"),
        reply([0, 1], [4, 4], read="coerced", repairs=["a fence", "prose"], attempt=2),
        reply([0, 9], [4, 4]),  # of no group
        reply([0, 1], [4, None]),
    ]
    one = item(1, lines, scores=[4.5, 4], groups="AB")
    alone = gm.Ranking(judge="m", segment=2, groups=(("A", "B"),), ranks=(1,), scores=(None,))
    skipped = gm.Ranking(judge="m", segment=3, groups=(("A",), ("B",)), skipped=True)
    profile = figures([one, alone, skipped])[""]
    assert (profile.items, profile.due, profile.scored) == (3, 2, 1)
    assert (profile.replies, profile.usable, profile.asked_again) == (5, 2, 1)
    assert profile.read == {"ok": 1, "invalid": 1, "a fence": 1, "prose": 1}
    assert profile.finish == {"stop": 4, "length": 1}
    assert (profile.tokens, profile.seconds) == ((500, 100), 2.5)


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """Outputs of five lengths; every change is one edit."""
    folder = tmp_path_factory.mktemp("texts")
    source = [f"we see the {'big ' * (n % 3)}house number {n} ." for n in range(40)]
    (folder / "src.txt").write_text("\n".join(source) + "\n")
    for at, name in enumerate(SYSTEMS):
        outputs = [line.replace("the ", "the " + "very " * ((at + n) % 5))
                   for n, line in enumerate(source)]  # fmt: skip
        (folder / f"{name}.txt").write_text("\n".join(outputs) + "\n")
    return {"source": folder / "src.txt", "hyps": [folder / f"{name}.txt" for name in SYSTEMS]}


@pytest.mark.parametrize("sign", [1, -1])
def test_a_score_that_is_a_function_of_length_goes_with_it(texts, sign):
    lines = [[*path.read_text().splitlines()] for path in texts["hyps"]]
    run = [
        item(n + 1, [], scores=[3 + sign * len(of[n].split()) / 100 for of in lines])
        for n in range(40)
    ]
    made = figures(run, **texts)
    assert [made["r-tokens"], made["tau-tokens"]] == pytest.approx([sign, sign])
    assert abs(made["r-edits"]) < 1


def test_correlations_within_items_are_those_of_centred_columns(texts):
    rng = random.Random(3)
    run = [item(n, [], scores=[rng.randint(1, 5) for _ in SYSTEMS]) for n in range(1, 41)]
    made = figures(run, **texts)
    lengths = np.array([[len(line.split()) for line in path.read_text().splitlines()]
                        for path in texts["hyps"]]).T  # fmt: skip
    scores = np.array([ranking.scores for ranking in run])
    centred = [(of - of.mean(axis=1, keepdims=True)).ravel() for of in (lengths, scores)]
    assert made["r-tokens"] == pytest.approx(pearsonr(*centred).statistic)
    one = figures(run[:1], **texts)
    assert one["tau-tokens"] == pytest.approx(kendalltau(lengths[0], scores[0]).statistic)
    pairs = [*combinations(range(5), 2)]
    x, y = (np.array([np.sign(row[a] - row[b]) for row in of for a, b in pairs])
            for of in (lengths, scores))  # fmt: skip
    assert made["tau-tokens"] == pytest.approx(x @ y / np.sqrt((x @ x) * (y @ y)))


# --- beside people -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def run_file(tmp_path_factory):
    """The judgments of the sample's first judge, as a language model would have given them."""
    people = read_judgments([SAMPLE / "judgments.xml"])
    first = people[0].judge
    lines = []
    for ranking in (r for r in people if r.judge == first and not r.skipped):
        scores = [6 - rank for rank in ranking.ranks]
        data = {"judge": "m", "segment": ranking.segment, "groups": ranking.groups}
        replies = [reply(range(len(scores)), scores)] if len(scores) > 1 else []
        lines.append(data | {"ranks": ranking.ranks, "scores": scores, "replies": replies})
    path = tmp_path_factory.mktemp("run") / "run.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


@pytest.fixture
def answer(capsys):
    def call(*arguments, code=0):
        assert main([*map(str, arguments)]) == code
        return capsys.readouterr()

    return call


def test_beside_people_from_the_command_line(answer, run_file, tmp_path):
    people = read_judgments([SAMPLE / "judgments.xml"])
    first = people[0].judge
    systems = sorted(SAMPLE.glob("systems/*.txt"))
    call = ["meta", "judge", run_file, SAMPLE / "judgments.xml", "-s", SAMPLE / "source.txt",
            "--hyps", *systems, "--resamples", "50", "--format", "json"]  # fmt: skip
    out = tmp_path / "judge.json"
    made = json.loads(answer(*call, "-o", out, "--figure", tmp_path / "curve.svg").out)
    assert made["kind"] == "meta-judge"
    assert gm.read(out).to_dict()["judges"].keys() == {"m"}
    assert ">items<" in (tmp_path / "curve.svg").read_text()
    judge = made["judges"]["m"]
    assert {"r-tokens", "tau-edits", "r-place", "mean"} <= judge["figures"].keys()
    assert made["people"].keys() == {"r-tokens", "tau-tokens", "r-edits", "tau-edits"}
    assert any("two orders" in note for note in made["notes"])
    assert made["curves"]["m"]["r"]["mean"][-1] > 0.9
    again = json.loads(answer(*call).out)
    assert again == made  # the same seed, the same bytes
    for example in made["examples"]:
        assert example["person"] != first  # with whom it agrees in all
        assert example["scores"][0] < example["scores"][1]
        assert example["ranks"][0] < example["ranks"][1]
        assert len(example["texts"]) == 2
        assert example["source"]
    assert 0 < len(made["examples"]) <= 5
    assert json.loads(answer(*call, "--examples", "1").out)["examples"] == made["examples"][:1]


def test_scores_that_are_peoples_ranks_stand_beside_them_on_a_diagonal(run_file):
    run = read_judgments([run_file])
    people = read_judgments([SAMPLE / "judgments.xml"])
    one = [r for r in people if r.judge == people[0].judge]
    (profile,) = gm.meta_judge([*run, *one], resamples=0).judges.values()
    for score, counts in profile.beside_people.items():
        assert [n for n, count in enumerate(counts, 1) if count] == [6 - int(score)]
    assert gm.meta_judge([*run, *one]).examples == ()


def test_what_judge_wrote_is_read_with_its_replies(run_file, tmp_path):
    assert gm.read(run_file) == read_judgments([run_file])
    assert gm.read(run_file)[0].replies
    gm.write_result(gm.meta_judge(run_file, resamples=20), tmp_path / "j.json")
    stored = gm.read(tmp_path / "j.json")
    assert "meta-judge" in str(stored)
    assert not isinstance(stored, gm.Judgments)


def test_a_judge_that_thinks_as_a_person_agrees_with_this_person_in_all(run_file):
    people = gm.read_judgments([SAMPLE / "judgments.xml"])
    first = [r for r in people if r.judge == people[0].judge]
    run = gm.read_judgments([run_file])
    times = Counter(ranking.segment for ranking in run)  # a sentence judged twice contradicts
    once = [ranking for ranking in [*run, *first] if times[ranking.segment] == 1]
    agreement = gm.agree(once, resamples=0).to_dict()
    assert agreement["pairs"][f"{people[0].judge}|m"]["kappa"] == 1
    for by in ("expected-wins", "trueskill"):
        (metric,) = gm.meta_system(run, first, by=by).values()
        assert metric["pearson"].value == metric["spearman"].value == pytest.approx(1)
    (metric,) = gm.meta_sentence(run, first, resamples=0).values()
    assert (metric.tau.value, metric.accuracy.value) == (1, 1)


def test_tables_and_pandas(run_file):
    pytest.importorskip("pandas")
    made = gm.meta_judge(run_file, resamples=20)
    frame = made.to_pandas()
    assert list(frame.columns) == ["judge", "figure", "value", "low", "high"]
    assert "mean" in list(frame["figure"])
    text = str(made)
    for title in ("Scores", "Replies", "Sureness and bias", "How many items it takes"):
        assert title in text
    assert any("own scores" in note for note in made.notes)
    assert "--source and --hyps" in text


def test_faults_say_what_to_do(answer, run_file):
    call = ["meta", "judge"]
    said = answer(*call, SAMPLE / "judgments.xml", code=3).err
    assert "nobody gave scores" in said
    assert "grammeter agree" in said
    said = answer(*call, run_file, "-s", SAMPLE / "source.txt", code=2).err
    assert "--hyps" in said
    assert "out of range" in answer(*call, run_file, "--least", "2", code=2).err
    few = sorted(SAMPLE.glob("systems/*.txt"))[:2]
    assert (
        "Outputs are given of"
        in answer(*call, run_file, "-s", SAMPLE / "source.txt", "--hyps", *few, code=3).err
    )


def test_the_report_has_a_section_about_judges_with_scores(run_file, texts):
    people = gm.read_judgments([SAMPLE / "judgments.xml"])
    run = gm.read_judgments([run_file])
    page = gm.report(run, [people], resamples=20)
    (judges,) = [section for section in page.sections if section.anchor == "judges"]
    assert {"Scores", "Replies", "Largest disagreements with people"} <= set(judges.captions)
    assert judges.drawings
    alone = gm.report(people, [people], resamples=20)
    (by_people,) = [s for s in page.sections if s.anchor == "ranking"]
    (expected,) = [s for s in alone.sections if s.anchor == "ranking"]
    assert by_people.tables[0].rows == expected.tables[0].rows  # the model is none of the people
    assert "judges" not in [section.anchor for section in alone.sections]
    (agreement,) = [s for s in page.sections if s.anchor == "agreement"]
    assert "m" in {row[0] for table in agreement.tables for row in table.rows}
