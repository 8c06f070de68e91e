"""Recipes of data sets: what their papers print comes out of one command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import grammeter as gm
from grammeter.cli.main import main
from grammeter.cli.parser import parser_of
from grammeter.core import MissingResourceError, UnknownNameError, UsageError
from grammeter.formats import RECIPES, dataset, list_datasets, read_benchmark, recipe

PRINTED = {
    "conll14": [
        ("conll14_test/official_systems/AMU", 35.01),
        ("conll14_test/official_systems/CAMB", 37.33),
        ("conll14_test/official_systems/CUUI", 36.79),
    ],
    "jfleg": [("jfleg/test/test.src", 40.54)],
    "jfleg-dev": [("jfleg/dev/dev.src", 38.21)],
    "falko-merlin": [("lang_de_falko_merlin/systems/finetuned.fm-test.out", 70.24)],
    "mucgec": [("lang_zh/example_pred_dev.txt", 36.24)],
    "geccc819": [
        ("lang_cs_geccc/tokenised/Naplava2022_geccc.txt", 74.68),
        ("lang_cs_geccc/tokenised/Naplava2022_ag.txt", 69.82),
        ("lang_cs_geccc/tokenised/Naplava2022_synthetic.txt", 51.81),
        ("lang_cs_geccc/tokenised/Korektor.txt", 44.71),
    ],
}
"""Output and printed score x 100: the shared task's overview (Ng et al. 2014, table 6); README of
keisks/jfleg; finetuned.fm-test.out.eval of grammatical/magec-wnut2019; README of
strakova/gec_tool_comparison. MuCGEC: 36.22 is printed, with the program's resources; 36.24 is
what its specification measured without."""

SENTENCES = {
    "conll14": 1312, "conll14-alt": 1312, "conll13": 1381, "jfleg": 747, "jfleg-dev": 754,
    "cweb-g": 3981, "cweb-s": 2864, "falko-merlin": 2337, "estgec": 1453, "geccc819": 819,
    "mucgec": 1137,
}  # fmt: skip


@pytest.fixture
def data(shared, monkeypatch):
    monkeypatch.setenv("GRAMMETER_DATA", str(shared / "data"))
    return shared / "data"


@pytest.mark.parametrize("name", PRINTED)
def test_printed_scores(name, data, capsys):
    outputs = {str(data / path): value for path, value in PRINTED[name]}
    words = ["score", "--benchmark", name, "--format", "json", "--quiet", "--hyps", *outputs]
    assert main(words) == 0
    table = json.loads(capsys.readouterr().out)
    (column,) = table["metrics"].values()
    scores = [100 * system["value"] for system in column["systems"].values()]
    assert scores == [pytest.approx(value, abs=0.005) for value in outputs.values()]
    assert f"|benchmark:{name}|" in column["signature"]
    assert any(recipe(name).how in note for note in table["notes"])


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_reads_its_data(name, data):
    corpus = read_benchmark(name)
    assert len(corpus) == SENTENCES[name]
    assert corpus.settings["benchmark"] == name
    assert len(corpus.judged) == SENTENCES[name] - (3 if name == "mucgec" else 0)
    for spelled in recipe(name).metrics:
        assert gm.metric(spelled).needs == "nothing" or corpus.gold or corpus.references


def test_choices_are_the_recipes():
    (parser,) = parser_of("score").parsers()
    (option,) = (action for action in parser._actions if action.dest == "benchmark")
    assert list(option.choices) == list(RECIPES)


def test_their_files_belong_to_their_data_sets():
    for known in RECIPES.values():
        files = {file.path for file in dataset(known.dataset).files if not file.optional}
        assert {*known.references, *filter(None, [known.source, known.para])} <= files


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A small set in the place of JFLEG, its folder named by --data."""
    monkeypatch.setenv("GRAMMETER_DATA", str(tmp_path / "nothing"))
    (tmp_path / "jfleg/test").mkdir(parents=True)
    for name in ("src", "ref0", "ref1", "ref2", "ref3"):
        (tmp_path / f"jfleg/test/test.{name}").write_text("A cat sits here .\n", "utf-8")
    return tmp_path


@pytest.mark.parametrize("inner", ["", "jfleg"])
def test_data_from_a_folder(inner, folder, capsys):
    out = str(folder / "jfleg/test/test.src")
    words = ["score", "--benchmark", "jfleg", "--hyps", out, "--format", "tsv"]
    assert main([*words, "--data", str(folder / inner)]) == 0
    assert capsys.readouterr().out == "system\tgleu\ntest.src\t1.0000\n"
    assert main([*words, "--data", str(folder / inner), "-m", "chrf"]) == 0
    assert capsys.readouterr().out == "system\tchrf\ntest.src\t1.0000\n"
    assert main(words) == 4
    assert "grammeter data get jfleg" in capsys.readouterr().err
    assert main([*words, "--data", str(folder / "elsewhere")]) == 3


def test_what_does_not_go_together(folder, capsys):
    with pytest.raises(UsageError, match="given twice: by --benchmark"):
        read_benchmark("jfleg", references=["x"])
    with pytest.raises(UnknownNameError, match="jfleg"):
        read_benchmark("jflegs")
    with pytest.raises(MissingResourceError, match="jfleg"):
        read_benchmark("jfleg")
    out = str(folder / "jfleg/test/test.src")
    assert main(["score", "-s", out, "-r", out, "--hyps", out]) == 2
    assert "no metric" in capsys.readouterr().err
    assert main(["score", "-s", out, "-r", out, "--hyps", out, "-m", "gleu", "--data", "x"]) == 0
    assert "--data has no effect" in capsys.readouterr().err


def test_the_page_has_all_sets_and_recipes():
    page = (Path(__file__).parents[2] / "docs" / "datasets.md").read_text("utf-8")
    entries = [listing.dataset for listing in list_datasets()]
    for name in [*(entry.name for entry in entries), *RECIPES]:
        assert f"| `{name}` |" in page
    for entry in entries:
        assert entry.files or (entry.scored in page and entry.form in page)
    for known in RECIPES.values():
        assert f"| {known.how} | {known.checked} |" in page
