"""Gong et al. 2022 again: what comes out without models, and how figures of models are marked."""

import json
import math

import pytest

from grammeter.cli.main import main
from grammeter.core import MissingResourceError, ScoreTable
from grammeter.metrics import metric
from grammeter.papers import conll14
from grammeter.papers._reproduce import list_tasks, run_tasks
from grammeter.papers.materials import COLUMNS, Materials

PAPER = "gong2022"
PLAIN = {"M2", "SentM2"}


@pytest.fixture(scope="module")
def cells(reproduced):
    return _by_table(reproduced(PAPER).cells)


def _by_table(found):
    return {(cell.table, cell.row, cell.column): cell for cell in found}


# --- without models ------------------------------------------------------------------------


@pytest.mark.parametrize("table", ["table4", "table5"])
def test_the_eight_correlations_of_m2_are_equal(cells, table):
    """Printed figures: specification of the metrics with models, section 11."""
    found = {key: cell for key, cell in cells.items() if key[0] == table and key[1] in PLAIN}
    assert [cell.published for cell in found.values()] == [
        0.623, 0.687, 0.672, 0.720, 0.871, 0.731, 0.864, 0.758,
    ]  # fmt: skip
    assert {cell.verdict for cell in found.values()} == {"equal"}
    assert all(round(cell.ours, 3) == cell.published for cell in found.values())


def test_errant_comes_near_but_for_two_figures(cells):
    found = {
        (row, column): cell.verdict
        for (table, row, column), cell in cells.items()
        if table == "table4" and "ERRANT" in row
    }
    assert len(found) == 8
    differing = {key for key, verdict in found.items() if verdict == "differs"}
    assert differing == {("SentERRANT", "EW Spearman"), ("SentERRANT", "TS Spearman")}
    cell = cells["table4", "SentERRANT", "EW Spearman"]
    assert round(cell.ours, 3) == 0.775
    assert "not known" in cell.note
    assert "pipeline" in cells["table4", "ERRANT", "EW Pearson"].note


def test_what_needs_a_model_says_so(cells):
    modelled = {"SentPT-M2", "PT-ERRANT", "BERTScore", "SentPT-M2, weights inverted"}
    found = [cell for (_, row, _), cell in cells.items() if row in modelled]
    assert len(found) == 4 * 5
    for cell in found:
        assert (cell.verdict, cell.ours) == ("needs", None)
        assert "--models" in cell.note


@pytest.mark.parametrize("table", ["table6", "table7", "figure2"])
def test_what_is_not_known_holds_no_figure(cells, table):
    (cell,) = (cell for key, cell in cells.items() if key[0] == table)
    assert (cell.verdict, cell.published, cell.ours) == ("needs", None, None)


# --- with models ---------------------------------------------------------------------------


class _Answering(Materials):
    """Has scores of all metrics: where a model is needed, those of SentM2."""

    def __init__(self, made):
        super().__init__(models=True)
        self._made = made

    def scored(self, name, metrics):
        table = self._made.scored("conll14", ["sentm2"])
        columns = dict.fromkeys(map(str, metrics), table["sentm2"])
        return ScoreTable(table.systems, table.segments, columns)


def _having(*models):
    def find(name):
        if name not in models:
            raise MissingResourceError(f"no {name}", fix=f"Run: get {name}")

    return find


@pytest.fixture
def answering(data, materials):
    return _Answering(materials)


def _modelled(monkeypatch, answering, *here):
    monkeypatch.setattr(conll14, "find_model", _having(*here))
    tasks = list_tasks(PAPER, "table5")
    found = _by_table(run_tasks(tasks, answering).cells)
    return {key[1:]: cell for key, cell in found.items() if key[1] not in PLAIN}


def test_a_model_that_stands_in_is_never_called_equal(answering, monkeypatch):
    found = _modelled(monkeypatch, answering, conll14.OFFLINE)
    assert len(found) == 12
    for cell in found.values():
        assert cell.verdict == "needs"
        assert cell.ours is not None
        assert conll14.MODEL in cell.note
        assert conll14.OFFLINE in cell.note


def test_the_model_of_the_paper_is_judged(answering, monkeypatch):
    found = _modelled(monkeypatch, answering, conll14.MODEL, conll14.OFFLINE)
    cell = found["SentPT-M2", "EW Pearson"]
    assert (cell.published, cell.verdict) == (0.949, "differs")  # it is SentM2's .871
    assert cell.note == f"by sent-pt-m2(model={conll14.MODEL})"


def test_without_any_model_the_command_is_told(answering, monkeypatch):
    found = _modelled(monkeypatch, answering)
    for cell in found.values():
        assert cell.verdict == "needs"
        assert math.isnan(cell.ours)
        assert f"get {conll14.OFFLINE}" in cell.note


@pytest.mark.parametrize("model", [conll14.MODEL, conll14.OFFLINE])
def test_metrics_use_the_model(model):
    for metrics in conll14._corpora(model).values():
        assert all(metric(spelling).models() == {"model": model} for spelling in metrics)


def test_on_the_shell_models_are_made_on_request(data, capsys, monkeypatch):
    monkeypatch.setattr(conll14, "find_model", _having())
    notes = {}
    for flags in ([], ["--models"]):
        assert main(["reproduce", PAPER, "figure3", "--format", "json", *flags]) == 0
        found = json.loads(capsys.readouterr().out)["cells"]
        assert [cell["column"] for cell in found] == list(COLUMNS)
        assert {cell["verdict"] for cell in found} == {"needs"}
        notes[bool(flags)] = found[0]["note"]
    assert "--models" in notes[False]
    assert f"get {conll14.OFFLINE}" in notes[True]
