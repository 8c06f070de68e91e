"""Judges in the place of metrics, and several files of scores: seen from outside."""

import json
import random
from dataclasses import replace

import pytest

import grammeter as gm
from grammeter.cli.main import main
from grammeter.formats import (
    benchmark,
    read_any_scores,
    read_judgments,
    read_score_file,
    write_judgments,
)
from grammeter.meta.sentence_design import TIE_RULES
from grammeter.meta.sides import join_scores
from grammeter.resources import sample_corpus

SYSTEMS = list("ABCDEF")
SAMPLE = sample_corpus()


def item(judge, segment, groups, ranks, **more):
    data = {"judge": judge, "segment": segment, "groups": groups, "ranks": ranks}
    return json.dumps({**data, "skipped": not ranks, **more})


def write(path, lines):
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def refused(capsys):
    def call(*arguments):
        code = main([*map(str, arguments)])
        assert code in (2, 3)
        return capsys.readouterr().err

    return call


@pytest.fixture
def people(tmp_path):
    """Sixty items of five outputs, two of the same sentence each."""
    rng = random.Random(1)
    lines, order = [], SYSTEMS
    for n in range(60):
        order = rng.sample(SYSTEMS, 6) if n % 8 == 0 else order if n % 2 else SYSTEMS
        shown = sorted(rng.sample(SYSTEMS, 5))
        ranks = [1 + order.index(s) // 2 for s in shown]
        lines.append(item("ann", 1 + n // 2, [[s] for s in shown], ranks))
    return write(tmp_path / "people.jsonl", lines)


@pytest.fixture
def model(tmp_path):
    """A model that scores; ranks follow the scores."""
    rng = random.Random(2)
    lines = []
    for n in range(1, 31):
        scores = [round(5 - 0.5 * at + rng.gauss(0, 1), 2) for at in range(len(SYSTEMS))]
        ranks = [1 + sum(other > score for other in scores) for score in scores]
        lines.append(item("gpt", n, [[s] for s in SYSTEMS], ranks, scores=scores))
    return write(tmp_path / "model.jsonl", lines)


@pytest.mark.parametrize("suffix", ["jsonl", "xml"])
def test_a_judge_agrees_with_itself(answer, suffix, tmp_path):
    file = SAMPLE / f"judgments.{suffix}"
    lines = file.read_bytes()
    both = [file, tmp_path / f"again.{suffix}"]
    both[1].write_bytes(lines)
    for pair in (both, [file, file]):
        at_level = answer("meta", "system", *pair)["metrics"]
        assert next(iter(at_level.values()))["pearson"]["value"] == pytest.approx(1)
        assert answer("meta", "window", *pair, "--size", "3")["windows"]
        assert answer("meta", "sentence", *pair)["metrics"]


def test_items_of_one_sentence_are_compared_each_by_itself(answer, people, tmp_path):
    """Ranks of other items would not compare: X is third beside better ones, second beside Y."""
    model = write(
        tmp_path / "m.jsonl",
        [
            item("m", 1, [["A"], ["B"], ["X"]], [1, 2, 3]),
            item("m", 1, [["X"], ["Y"]], [1, 2]),
        ],
    )
    human = write(tmp_path / "h.jsonl", [item("a", 1, [["A"], ["X"]], [1, 2]),
                                         item("a", 1, [["X"], ["Y"]], [1, 2])])  # fmt: skip
    result = answer("meta", "sentence", model, human, "--systems", "A", "X", "Y")["metrics"]["m"]
    assert (result["accuracy"]["value"], result["concordant"]) == (1, 2)
    assert answer("meta", "sentence", people, people)["metrics"]["people"]["accuracy"]["value"] == 1


def test_judgments_of_one_sentence_are_averaged(answer, tmp_path):
    """Two of three judges prefer A: the majority is the metric; one each is a tie."""
    votes = {1: [[1, 2], [1, 2], [2, 1]], 2: [[1, 2], [2, 1]]}
    lines = [item(f"m{n}", s, [["A"], ["B"]], r) for s, all_ in votes.items()
             for n, r in enumerate(all_)]  # fmt: skip
    human = [item("a", s, [["A"], ["B"]], [1, 2]) for s in votes]
    files = write(tmp_path / "m.jsonl", lines), write(tmp_path / "h.jsonl", human)
    result = answer("meta", "sentence", *files)["metrics"]["m"]
    assert (result["concordant"], result["discordant"], result["ties"]["metric"]) == (1, 0, 1)


def test_scores_are_the_metric_where_they_are(answer, tmp_path):
    """Ranks tie, scores do not."""
    groups = [["A"], ["B"]]
    human = write(tmp_path / "h.jsonl", [item("a", 1, groups, [1, 2])])
    scored = write(tmp_path / "m.jsonl", [item("m", 1, groups, [1, 1], scores=[4.5, 4.25])])
    bare = write(tmp_path / "n.jsonl", [item("m", 1, groups, [1, 1])])
    result = answer("meta", "sentence", scored, human, "--scores", bare)["metrics"]
    assert (result["m"]["concordant"], result["n"]["concordant"]) == (1, 0)
    assert result["n"]["ties"]["metric"] == 1


def test_a_judge_is_held_by_what_it_said_in_the_item_that_people_saw(answer, tmp_path):
    """The sentence's mean scores put X above Y; in the one item that people saw it is below."""
    shown = [[["X"], ["Y"], ["Z"]], [["X"], ["Y"]], [["X", "Y", "Z"]]]
    said = [[5, 2, 1], [3, 4], [None]]
    ranks = [[1, 2, 3], [2, 1], [1]]
    run = [item("m", 1, g, r, scores=s) for g, r, s in zip(shown, ranks, said, strict=True)]
    model = write(tmp_path / "m.jsonl", run)
    human = write(tmp_path / "h.jsonl", [item("ann", 1, shown[1], ranks[1]),
                                         item("ann", 1, shown[2], ranks[2])])  # fmt: skip
    made = answer("meta", "sentence", model, human, "--resamples", "0")["metrics"]["m"]
    assert (made["n"], made["missing"], made["concordant"], made["ties"]["both"]) == (4, 0, 1, 3)
    assert made["accuracy"]["value"] == 1
    assert "meta-same-items:2" in made["signature"]
    other = write(tmp_path / "o.jsonl", [item("ann", 1, [["Y"], ["Z"], ["X"]], [1, 2, 3])] * 2)
    made = answer("meta", "sentence", model, other, "--resamples", "0")["metrics"]["m"]
    assert made["accuracy"]["value"] == pytest.approx(1 / 3)  # Y above Z alone, in both
    skipped = [*run[:1], item("m", 1, shown[1], [], scores=[None, None]), run[2]]
    model = write(tmp_path / "m.jsonl", skipped)
    made = answer("meta", "sentence", model, human, "--missing", "drop", "--resamples", "0")
    assert made["metrics"]["m"]["missing"] == 1  # the other item's scores are none of this one


def test_each_time_that_an_item_was_judged_is_held_against_one(answer, tmp_path):
    """Two people say the opposite of one item, and so does the judge, once each."""
    groups = [["X"], ["Y"]]
    human = write(
        tmp_path / "h.jsonl", [item("a", 1, groups, [1, 2]), item("b", 1, groups, [2, 1])]
    )
    run = [item("m", 1, groups, [1, 2], scores=[5, 1]), item("m", 1, groups, [2, 1], scores=[2, 4])]
    model = write(tmp_path / "m.jsonl", run)
    once = write(tmp_path / "once.jsonl", run[:1])
    made = answer("meta", "sentence", model, human, "--scores", once, "--by-judge")
    assert made["metrics"]["m"]["accuracy"]["value"] == 1
    assert made["metrics"]["once"]["accuracy"]["value"] == 0.5
    alone = answer("meta", "sentence", model, human, "--judge", "b")["metrics"]["m"]
    assert alone["accuracy"]["value"] == made["by_judge"]["b"]["m"]["accuracy"]["value"] == 1


def test_every_rule_for_ties_at_once(answer, model, people):
    base = ["meta", "sentence", model, people, "--resamples", "50"]
    made = answer(*base, "--by-rule")["by_rule"]
    assert [*made] == [*TIE_RULES]
    for rule in ("seeda-script", "half"):
        alone = answer(*base, "--ties", rule)["metrics"]["model"]
        assert made[rule]["model"] == alone | {"signature": made[rule]["model"]["signature"]}


def test_a_benchmark_stands_in_the_place_of_a_file(answer, refused, shared, monkeypatch, tmp_path):
    monkeypatch.setenv("GRAMMETER_DATA", str(shared / "data"))
    people = benchmark("seeda-s").read_judgments()
    run = [replace(r, judge="m", scores=tuple(6.0 - rank for rank in r.ranks)) for r in people]
    write_judgments(tmp_path / "run.jsonl", run)
    call = ["meta", "sentence", tmp_path / "run.jsonl", "--resamples", "0"]
    made = answer(*call, "--benchmark", "seeda-s", "--systems", "base")["metrics"]["run"]
    assert made["accuracy"]["value"] == made["tau"]["value"] == 1
    assert made["concordant"] == 9381  # decided pairs, as in the paper's script
    assert "missing" in refused(*call)
    assert "first-segment" in refused(*call, "--benchmark", "seeda-s", "--first-segment", "1")


def test_an_output_without_a_score_is_missing(answer, model, people, tmp_path):
    lines = [json.loads(line) for line in model.read_text().splitlines()]
    lines[3]["scores"][0] = None
    part = write(tmp_path / "part.jsonl", map(json.dumps, lines))
    result = answer("meta", "sentence", part, people, "--missing", "drop")
    assert result["metrics"]["part"]["missing"] > 0
    assert any("1 of 30 judgments lack scores" in note for note in result["notes"])
    refused = answer("meta", "sentence", part, people)["metrics"]["part"]
    assert "missing=drop" in refused["accuracy"]["reason"]
    mean = answer("meta", "system", part, people, "--by", "mean")["metrics"]["part"]
    assert mean["pearson"]["value"] is not None


def test_mean_scores_at_system_level(answer, refused, model, people):
    ranked = answer("meta", "system", model, people)
    mean = answer("meta", "system", model, people, "--by", "mean")
    assert mean["metrics"] != ranked["metrics"]
    assert any("no scores to average" in note for note in mean["notes"])
    expected = {}
    for line in model.read_text().splitlines():
        data = json.loads(line)
        for (system,), score in zip(data["groups"], data["scores"], strict=True):
            expected.setdefault(system, []).append(score)
    table = join_scores({"model": read_any_scores(model)}, by="mean")["model"]
    for system, scores in expected.items():
        assert table[system].value == pytest.approx(sum(scores) / len(scores))
    assert "no scores to average" in refused("meta", "system", people, model, "--by", "mean")
    interval = answer("meta", "system", model, people, "--by", "mean", "--interval", "sentences")
    assert interval["metrics"]["model"]["pearson"]["low"] is not None
    none = answer("meta", "system", model, people, "--interval", "sentences")["metrics"]["model"]
    assert none["pearson"]["low"] is None
    assert none["pearson"]["reason"]


@pytest.mark.parametrize("by", ["expected-wins", "trueskill", "bradley-terry", "mean"])
def test_both_sides_are_ranked_alike_and_python_says_the_same(answer, model, people, by, tmp_path):
    shell = answer("meta", "system", model, people, "--by", by)
    sources = {"model": read_judgments(model)}
    ours = gm.meta_system(sources, read_judgments(people), by=by).to_dict()
    assert ours == shell | {"notes": ours["notes"]}
    if by != "mean":
        files = [tmp_path / "one.json", tmp_path / "two.json"]
        for file, source in zip(files, (model, people), strict=True):
            answer("rank", source, "--by", by, "-o", file)
        [result] = answer("meta", "system", *files)["metrics"].values()
        value = shell["metrics"]["model"]["pearson"]["value"]
        assert result["pearson"]["value"] == pytest.approx(value, abs=1e-9)


def test_what_nobody_judged_is_missing(answer, tmp_path, people):
    lines = people.read_text().splitlines()
    half = write(tmp_path / "half.jsonl", lines[:20])
    refused_ = answer("meta", "sentence", half, people)["metrics"]["half"]
    assert refused_["accuracy"]["value"] is None
    assert "no judgment of" in refused_["accuracy"]["reason"]
    dropped = answer("meta", "sentence", half, people, "--missing", "drop")["metrics"]["half"]
    assert dropped["accuracy"]["value"] == 1
    assert dropped["missing"] > 0


def test_by_has_something_to_do_on_either_side(refused, answer, model, tmp_path):
    human = tmp_path / "h.tsv"
    human.write_text("system\tvalue\n" + "".join(f"{s}\t{n}\n" for n, s in enumerate(SYSTEMS)))
    one, two = (answer("meta", "system", model, human, "--by", by)["metrics"]["model"]["pearson"]
                for by in ("mean", "trueskill"))  # fmt: skip
    assert one["value"] != two["value"]
    scores = tmp_path / "s.tsv"
    scores.write_text("metric\tsystem\tvalue\n" + "".join(f"x\t{s}\t1\n" for s in SYSTEMS))
    assert "nothing to do" in refused("meta", "system", scores, human, "--by", "mean")


# --- several files of scores ---------------------------------------------------------------


@pytest.fixture
def tables(tmp_path):
    def put(name, metric, systems="ABCDEF", offset=0, header="metric\tsystem\tvalue"):
        rows = [f"{metric}\t{s}\t{(n * 7 + offset) % 11}" for n, s in enumerate(systems)]
        return write(tmp_path / name, [header, *rows])

    return put


def test_several_files_are_one_table(answer, tables, people, model, tmp_path):
    one, two = tables("a.tsv", "x"), tables("b.tsv", "y", offset=3)
    both = answer("meta", "system", one, two, model, people)
    assert list(both["metrics"]) == ["x", "y", "model"]
    for file, name in ((one, "x"), (two, "y"), (model, "model")):
        alone = answer("meta", "system", file, people)["metrics"][name]
        assert {k: alone[k] for k in ("pearson", "spearman", "kendall")} == {
            k: both["metrics"][name][k] for k in ("pearson", "spearman", "kendall")
        }
    assert "y" in both["williams"]["pearson"]["x"] or "x" in both["williams"]["pearson"]["y"]
    in_python = gm.meta_system([read_score_file(one), read_score_file(two)], read_judgments(people))
    assert in_python["y"]["pearson"].value == both["metrics"]["y"]["pearson"]["value"]


def test_a_metric_twice_and_other_systems_are_refused(refused, answer, tables, people):
    one, two, few = tables("a.tsv", "x"), tables("b.tsv", "x"), tables("c.tsv", "z", "ABCDE")
    assert "both have a metric 'x'" in refused("meta", "system", one, two, people)
    assert "has no scores of F" in refused("meta", "system", one, few, people)
    assert "called" in refused("meta", "system", one, one, people)
    result = answer("meta", "system", one, few, people, "--drop", "F")
    assert list(result["metrics"]) == ["x", "z"]
    assert result["systems"] == [s for s in result["systems"] if s != "F"]


def test_files_of_scores_among_judgments_are_scores(answer, people, tmp_path, tables):
    rows = [f"x\t{s}\t{n}\t{-SYSTEMS.index(s)}" for s in SYSTEMS for n in range(1, 31)]
    file = write(tmp_path / "x.tsv", ["metric\tsystem\tsegment\tvalue", *rows])
    rows = [row.replace("x\t", "y\t", 1) for row in rows]
    other = write(tmp_path / "y.tsv", ["metric\tsystem\tsegment\tvalue", *rows])
    result = answer("meta", "sentence", file, other, people)["metrics"]
    assert list(result) == ["x", "y"]
    assert result["x"]["accuracy"] == result["y"]["accuracy"]


def test_notes_are_passed_on(answer, people, tmp_path):
    """Few sentences are said on both levels, whichever side they stand on."""
    few = write(tmp_path / "few.jsonl", people.read_text().splitlines()[:6])
    for verb in ("sentence", "system"):
        for sides in ((few, people), (people, few)):
            extra = ("--missing", "drop") if verb == "sentence" else ()
            notes = answer("meta", verb, *sides, *extra)["notes"]
            assert any("few judgments" in note for note in notes), (verb, sides)


def test_the_ranking_by_a_judge_stands_beside_its_correlations(answer, model, people, tmp_path):
    call = ["meta", "system", model, people, "--rankings", "--resamples", "50"]
    out = tmp_path / "meta.json"
    made = answer(*call, "-o", out)["rankings"]
    alone = answer("rank", model, "--resamples", "50")
    assert made.keys() == {"model"}
    for key in ("systems", "method"):
        assert made["model"][key] == alone[key]
    again = gm.read(out)
    best = alone["systems"][0]
    assert again.rankings["model"][best["system"]].score == best["score"]
    assert "rankings" not in answer(*call[:-3])


def test_each_reply_is_a_judgment(answer, tmp_path):
    """Two replies in two orders: three verdicts, of which one changes."""
    said = [{"order": [0, 1, 2], "scores": [5, 4, 3]}, {"order": [2, 0, 1], "scores": [3, 5, 5]}]
    lines = [item("m", n, [["A"], ["B"], ["C"]], [1, 2, 3], scores=[5, 4.5, 3], replies=said)
             for n in range(1, 31)]  # fmt: skip
    run = write(tmp_path / "run.jsonl", lines)
    made = answer("agree", run, "--replies", "--resamples", "0")
    assert (made["intra"]["n"], made["intra"]["observed"]) == (90, pytest.approx(2 / 3))
    assert any("each usable reply" in note for note in made["notes"])
    assert answer("agree", run, "--resamples", "0")["intra"]["n"] == 0
