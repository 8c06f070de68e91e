"""Laws of ``rank``: the shell is Python, no option is passed over, few judgments are noted."""

import json
from dataclasses import replace

import pytest

import grammeter as gm
from grammeter.cli import main
from grammeter.cli.parser import parser_of
from grammeter.core import Ranking
from grammeter.ranking.methods import BradleyTerry

SAMPLE = gm.sample_corpus() / "judgments.xml"
HYPS = sorted((gm.sample_corpus() / "systems").glob("*.txt"))

QUESTIONS = {
    "ranking": ([], {}),
    "--head-to-head": (["--head-to-head"], {"head_to_head": True}),
    "--validate": (["--validate", "3"], {"validate": 3}),
    "--learning-curve": (["--learning-curve"], {"learning_curve": True}),
    "--draw-radius": (["--draw-radius"], {"draw_radius": True}),
}
SETTINGS = {
    "--by": (["bradley-terry"], {"by": "bradley-terry"}),
    "--unit": (["pair"], {"unit": "pair"}),
    "--resamples": (["45"], {"resamples": 45}),
    "--seed": (["5"], {"seed": 5}),
    "--confidence": (["0.8"], {"confidence": 0.8}),
    "--divisor": (["met-opponents"], {"divisor": "met-opponents"}),
    "--prior": (["0.5", "--by", "bradley-terry"], {"by": BradleyTerry(prior=0.5)}),
    "--repeats": (["2"], {"repeats": 2}),
    "--training": (["makefile"], {"training": "makefile"}),
    "--judge": (["judge01", "judge02"], {"judge": ["judge01", "judge02"]}),
    "--without-judge": (["judge03"], {"without_judge": ["judge03"]}),
    "--systems": (["Fluent", "Echo", "Eager"], {"systems": ["Fluent", "Echo", "Eager"]}),
    "--drop": (["Fluent"], {"drop": ["Fluent"]}),
    "--extraction": (["unexpanded"], {"extraction": "unexpanded"}),
}
ELSEWHERE = {
    "--help", "--head-to-head", "--validate", "--learning-curve", "--draw-radius",  # questions
    "--first-segment", "--hyps", "--origin", "--documents",  # how files are read
    "--criterion", "--average", "--missing-score", "--layout", "--scale",  # of ratings
    "--types", "--source", "--pipeline",  # of judgments of edits
    "--processes", "--figure", "--format", "--output", "--quiet", "--percent", "--digits",
}  # fmt: skip


@pytest.fixture
def call(capsys):
    def run(*options, path=SAMPLE):
        code = main.main(["rank", str(path), *map(str, options)])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def test_all_options_are_under_these_laws():
    longs = [[o for o in a.option_strings if o[:2] == "--"] for a in parser_of("rank")._actions]
    names = {options[0] for options in longs if options} - {"--help", "--debug"}
    assert names - set(SETTINGS) - ELSEWHERE <= {"--same-sentences", "--numbering"}


@pytest.mark.parametrize("option", SETTINGS)
@pytest.mark.parametrize("question", QUESTIONS)
def test_an_option_does_the_same_in_python_or_is_refused(call, question, option):
    flags, settings = QUESTIONS[question]
    words, more = SETTINGS[option]
    code, text, error = call(*flags, option, *words, "--format", "json")
    if code == 2:
        assert option in error or (option == "--prior" and "--by" in error)
        return
    judgments = gm.read_judgments(SAMPLE)
    data = json.loads(text)
    assert data == json.loads(json.dumps(gm.rank(judgments, **settings, **more).to_dict()))
    assert data != gm.rank(judgments, **settings).to_dict()


def test_processes_that_share_nothing_are_said_to(call):
    assert "--processes has no effect" in call("--processes", "2", "--resamples", "40")[2]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_dropped_system_is_as_if_it_had_never_been_shown(question):
    _, settings = QUESTIONS[question]
    judgments = gm.read_judgments(SAMPLE)
    bare = []
    for ranking in judgments:
        shown = [
            (tuple(name for name in group if name != "Fluent"), rank)
            for group, rank in zip(ranking.groups, ranking.ranks or ranking.groups, strict=True)
        ]
        left = [(group, rank) for group, rank in shown if group]
        ranks = tuple(rank for _, rank in left) if ranking.ranks else ()
        bare.append(replace(ranking, groups=tuple(group for group, _ in left), ranks=ranks))
    ours = gm.rank(judgments, drop=["Fluent"], **settings).to_dict()
    theirs = gm.rank(bare, **settings).to_dict()
    others = sorted({name for ranking in bare for name in ranking.systems})
    named = gm.rank(judgments, systems=others, **settings).to_dict()
    for data in (ours, theirs, named):
        assert "Fluent" not in json.dumps({**data, "signature": ""})
        data.pop("signature")
    assert ours == theirs == named


def test_a_set_of_systems_has_a_name():
    names = ("BART", "BERT-fuse", "GECToR-BERT", "GECToR-ens", "LM-Critic", "PIE", "REF-M",
             "Riken-Tohoku", "T5", "TemplateGEC", "TransGEC", "UEDIN-MS", "INPUT", "A")  # fmt: skip
    items = [
        Ranking(judge="x", segment=n, groups=tuple((name,) for name in names),
                ranks=tuple(1 + (n + at) % 5 for at in range(len(names))))
        for n in range(1, 8)
    ]  # fmt: skip
    found = gm.rank(items, systems=["base"], resamples=40)
    assert set(found) == set(names[:12])
    assert set(gm.rank(items, systems=["+input"], drop=["T5"], resamples=40)) == (
        set(names[:13]) - {"T5"}
    )
    assert set(gm.rank(items, systems=["all"], resamples=40)) == set(names)


# --- few judgments ---------------------------------------------------------------------------


def few(sentences):
    return [
        Ranking(judge="x", segment=n, groups=(("A",), ("B",), ("C",)), ranks=(1, 2, 3))
        for n in range(1, sentences + 1)
    ]


@pytest.mark.parametrize("form", ["table", "json", "tsv", "markdown"])
@pytest.mark.parametrize("question", QUESTIONS)
def test_few_judgments_are_said_to_be_few_even_quietly(call, tmp_path, question, form):
    path = tmp_path / "few.jsonl"
    gm.write_judgments(path, few(5))
    flags = ["--validate", "2"] if question == "--validate" else QUESTIONS[question][0]
    code, text, error = call(*flags, "--quiet", "--format", form, path=path)
    assert code == 0
    assert "15 comparisons in 5 rankings of 5 sentences" in text + error
    assert "fewer than 30 comparisons: A (10), B (10), C (10)" in text + error


def test_enough_judgments_are_not():
    assert not any("few" in note for note in gm.rank(few(30), resamples=40).notes)
    assert any("few" in note for note in gm.rank(few(29), resamples=40).notes)


@pytest.mark.parametrize("unit", ["sentence", "ranking"])
def test_one_unit_alone_gives_no_ranges(unit):
    found = gm.rank(few(1), unit=unit, resamples=40)
    assert any(f"one {unit}" in note for note in found.notes)


def test_ranges_of_random_games_are_said_to_be_narrow(call):
    options = ("--by", "trueskill", "--resamples", "40", "--quiet")
    assert "--unit sentence" in call(*options)[1]
    assert "--unit sentence" not in call(*options, "--unit", "sentence")[1]


def test_figures_that_names_decide_say_so(call):
    assert "depend on names" in call("--extraction", "unexpanded", "--quiet")[1]
    assert "depend on names" not in call("--quiet")[1]


def test_a_curve_that_ends_at_1_says_why(call):
    assert "a new campaign needs more" in call("--learning-curve", "--quiet")[1]


# --- opponents never met -------------------------------------------------------------------


def chain():
    """A meets B, B meets C, and A never meets C."""
    pairs = (("A", "B"), ("B", "A"), ("B", "C"), ("A", "B"))
    return [
        Ranking(judge="x", segment=10 * n + k, groups=((a,), (b,)), ranks=(1, 2))
        for n in range(1, 11)
        for k, (a, b) in enumerate(pairs)
    ]


def test_the_mean_over_opponents_met():
    all_, met = (
        gm.rank(chain(), divisor=divisor, resamples=40) for divisor in (None, "met-opponents")
    )
    assert {name: row.score for name, row in all_.items()} == pytest.approx(
        {"A": (2 / 3 + 0) / 2, "B": (1 / 3 + 1) / 2, "C": 0}
    )
    assert {name: row.score for name, row in met.items()} == pytest.approx(
        {"A": 2 / 3, "B": (1 / 3 + 1) / 2, "C": 0}
    )
    assert any("1 of 3 pairs of systems were never compared" in note for note in all_.notes)
    assert not any("never compared" in note for note in met.notes)
    assert met["A"].reason == "no decided comparison, left out of the mean: C"


def test_counts_taken_as_one_are_said_to_be(call, tmp_path):
    found = gm.rank(few(40), head_to_head=True)
    assert any("3 pairs of systems" in note and "as 1" in note for note in found.notes)
    assert all(0 < cell.pvalue <= 1 for cell in gm.rank(few(2000), head_to_head=True).cells)


# --- outputs of the systems that take part -------------------------------------------------------


@pytest.mark.parametrize("who", [("--drop", "Fluent"), ("--systems", "Careful", "Echo", "Eager")])
def test_outputs_are_needed_of_those_who_take_part(call, who):
    dropped = {"--drop": {"Fluent"}, "--systems": {"Fluent", "Speller", "Thorough"}}[who[0]]
    hyps = [path for path in HYPS if path.stem not in dropped]
    code, text, _ = call(*who, "--hyps", *hyps, "--format", "json", "--resamples", "40")
    assert code == 0
    assert "first-segment:0 (found)" in text
    without = json.loads(call(*who, "--format", "json", "--resamples", "40")[1])
    assert json.loads(text)["systems"] == without["systems"]
    assert call("--hyps", *hyps)[0] == 3


def test_outputs_that_do_not_fit_are_still_found(call, tmp_path):
    path = tmp_path / "Echo.txt"
    path.write_text("other\n" * len(HYPS[0].read_text("utf-8").splitlines()), "utf-8")
    hyps = [path if each.stem == "Echo" else each for each in HYPS if each.stem != "Fluent"]
    code, _, error = call("--drop", "Fluent", "--hyps", *hyps)
    assert code == 3
    assert "different outputs" in error
