"""Kobayashi's tables from a user's answers of an evaluator, made here by a rule."""

import json
from collections import Counter

import pytest
from scipy.stats import pearsonr, spearmanr

from grammeter.cli.main import main
from grammeter.core import DataError
from grammeter.papers import kobayashi2024, reproduce
from grammeter.papers.materials import Materials

PAPER, EVALUATOR = "kobayashi2024", "GPT-4-S"
TAKEN = {"base": "INPUT GPT-3.5 REF-F", "+fluent": "INPUT"}
"""What the sets of systems leave out of the fifteen."""


def answer(segment, system):
    """Return a score from 1 to 5, by the first letter of the system and the sentence."""
    return 5 - (ord(system[0]) + segment * (segment % 3 == 0)) % 5


@pytest.fixture(scope="module")
def items(data):
    """Return the answers to the items of SEEDA as ``judge -o`` writes them; one is not usable."""
    lines = []
    for number, ranking in enumerate(Materials().judgments("seeda-s")):
        groups = [sorted(group) for group in ranking.groups]
        scores = [answer(ranking.segment, group[0]) for group in groups]
        line = {"judge": "some-model", "segment": ranking.segment, "groups": groups}
        if number:
            replies = [{"text": str(scores), "scores": scores, "order": [*range(len(groups))],
                        "attempt": 1, "tokens": [400, 30], "seconds": 1.5}]  # fmt: skip
            line |= {"ranks": [6 - score for score in scores], "scores": scores}
            line |= {"skipped": False, "replies": replies}
        else:
            line |= {"ranks": [], "scores": [None] * len(groups), "skipped": True, "replies": []}
        lines.append(line)
    return lines


@pytest.fixture(scope="module")
def cells(items, tmp_path_factory):
    file = tmp_path_factory.mktemp("answers") / "gpt4s.jsonl"
    file.write_text("".join(f"{json.dumps(item)}\n" for item in items), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kobayashi2024, "ROWS", {})  # of metrics, which take longer
        patch.setattr(kobayashi2024, "RUNS", 40)
        made = [
            cell
            for table in ("table1", "table1_sentence", "table2", "figure4")
            for cell in reproduce(PAPER, table, answers=[f"{EVALUATOR}={file}"]).cells
        ]
    return {(cell.table, cell.row, cell.column): cell for cell in made}


def of_evaluator(cells, table):
    return {key: cell for key, cell in cells.items()
            if key[0] == table and key[1].partition(": ")[0] == EVALUATOR}  # fmt: skip


@pytest.mark.parametrize(
    ("table", "number"), [("table1", 8), ("table1_sentence", 8), ("table2", 45), ("figure4", 5)]
)
def test_rows_are_made_from_the_answers(cells, table, number):
    made = of_evaluator(cells, table)
    assert len(made) == number
    assert all(cell.ours is not None for cell in made.values())
    verdicts = {cell.verdict for cell in made.values() if cell.published is not None}
    assert verdicts <= {"equal", "within tolerance", "differs"}  # made from data, not from print
    assert all("from the answers" in c.note for c in made.values() if c.verdict == "differs")
    others = {key[1]: c.verdict for key, c in cells.items() if not key[1].startswith(EVALUATOR)}
    assert not {"equal", "within tolerance"} & {*others.values()}


def test_correlations_are_those_of_the_scores(cells, data):
    people = Materials().seeda_people
    scores = {
        row.partition(": ")[2]: cell.ours
        for (_, row, column), cell in of_evaluator(cells, "table2").items()
        if column == "score"
    }
    assert len(scores) == 15
    assert sum(scores.values()) == pytest.approx(0, abs=1e-6)
    for judged, name in kobayashi2024.JUDGED.items():
        for chosen, left_out in TAKEN.items():
            systems = sorted(scores.keys() - set(left_out.split()))
            x, y = ([of[system] for system in systems] for of in (scores, people[name]))
            for short, coefficient in (("r", pearsonr), ("rho", spearmanr)):
                cell = cells["table1", EVALUATOR, f"{judged} {chosen} {short}"]
                assert cell.ours == pytest.approx(coefficient(x, y).statistic)


def test_a_tie_is_an_answer_at_the_level_of_sentences(cells):
    for column, *_ in kobayashi2024._columns():
        accuracy, tau = (
            cells["table1_sentence", EVALUATOR, f"{column} {end}"].ours
            for end in ("accuracy", "tau")
        )
        assert tau == pytest.approx(2 * accuracy - 1)
        assert 0 < accuracy < 1


def test_scores_are_counted(cells, items):
    counts = Counter(score for item in items for score in item["scores"] if score is not None)
    for score in range(1, 6):
        cell = cells["figure4", EVALUATOR, f"outputs with score {score}"]
        assert (cell.ours, cell.published) == (counts[score], None)


def test_answers_that_cannot_be_used(data, tmp_path, capsys):
    text, other = tmp_path / "text.jsonl", tmp_path / "other.jsonl"
    text.write_text("no answers\n", encoding="utf-8")
    group = {"groups": [["PIE"], ["T5"]], "ranks": [1, 2]}
    other.write_text(json.dumps({"judge": "m", "segment": 9999} | group) + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"text\.jsonl"):
        reproduce(PAPER, "table2", answers=[f"{EVALUATOR}={text}"])
    with pytest.raises(DataError, match=r"text\.jsonl"):
        reproduce(PAPER, "table2", answers=[f"my-model={text}"])
    with pytest.raises(DataError, match="there is no"):
        reproduce(PAPER, "table2", answers=[f"{EVALUATOR}={tmp_path / 'none.jsonl'}"])
    with pytest.raises(DataError, match="NAME=PATH"):
        reproduce(PAPER, "table2", answers=[str(text)])
    with pytest.raises(DataError, match="sentence 9999"):
        reproduce(PAPER, "table1_sentence", answers=[f"{EVALUATOR}={other}"])
    assert main(["reproduce", PAPER, "table2", "--answers", f"{EVALUATOR}={text}"]) == 3
    assert "text.jsonl" in capsys.readouterr().err


def test_an_evaluator_of_ones_own_has_rows_beside_those_of_the_paper(
    items, cells, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(kobayashi2024, "ROWS", {})
    monkeypatch.setattr(kobayashi2024, "RUNS", 40)
    file = tmp_path / "run.jsonl"
    file.write_text("".join(f"{json.dumps(item)}\n" for item in items), encoding="utf-8")
    for table in ("table1", "table1_sentence", "table2"):
        made = reproduce(PAPER, table, answers=[f"my-model={file}"])
        alone = {(c.row.replace("my-model", EVALUATOR), c.column): c for c in made.cells
                 if c.row.startswith("my-model")}  # fmt: skip
        theirs = of_evaluator(cells, table)
        assert alone
        assert alone.keys() == {key[1:] for key in theirs}
        for key, cell in alone.items():
            assert (cell.published, cell.ours) == (None, theirs[table, *key].ours)
            assert "the paper prints none" in cell.note
        assert any("my-model" in note for note in made.notes)
    command = ["reproduce", PAPER, "table2", "--answers", f"my-model={file}", "--as-printed"]
    assert main(command) == 0
    out = capsys.readouterr().out
    first = next(line for line in out.splitlines() if line.startswith("my-model"))
    assert first.split()[-1] == "[1]"
    assert "+ Meaning Preservation: REF-F 0.653 1-2 1" in " ".join(out.split())
