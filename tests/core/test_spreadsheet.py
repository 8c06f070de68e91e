"""Names that a spreadsheet would compute: text in the file, the same name when it is read."""

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammeter.cli.main import main
from grammeter.core.texts import shielded, unshielded

NAMES = ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "'=1", "''@x", "-2+3|cmd'!A0", "-rm", "+"]


@given(st.text(st.sampled_from("'=+-@ab1. \t|"), max_size=8))
def test_what_is_written_is_read_back(text):
    assert unshielded(shielded(text)) == text
    assert shielded(text)[:1] not in ("=", "@")


@pytest.mark.parametrize("text", ["-0.0232", "+0.1000", "-1", "-", "-0.2 [-0.3, 0.1] *", "-1e-05",
                                  "'tis", "a=b", ""])  # fmt: skip
def test_numbers_and_other_words_stay(text):
    assert shielded(text) == text == unshielded(text)


def test_judgments_as_csv(tmp_path, capsys):
    names = ["=1+1", "@SUM(A1)", "'=x", "plain"]
    line = {"judge": "-boss", "segment": 1, "groups": [[name] for name in names], "item": "=2+2",
            "ranks": [1, 2, 3, 4]}  # fmt: skip
    source, target = tmp_path / "j.jsonl", tmp_path / "j.csv"
    source.write_text(json.dumps(line) + "\n")
    from grammeter.formats import read_judgments, write_judgments

    write_judgments(target, read_judgments(source))
    cells = [cell for row in csv.reader(target.read_text().splitlines()) for cell in row]
    assert not [cell for cell in cells if cell[:1] in ("=", "+", "-", "@")]
    (read,) = read_judgments(target)
    assert (sorted(read.systems), read.judge, read.item) == (sorted(names), "-boss", "=2+2")
    capsys.readouterr()
    assert main(["rank", str(source), "--format", "tsv", "--quiet"]) == 0
    table = csv.reader(io.StringIO(capsys.readouterr().out), delimiter="\t")
    assert not [cell for row in table for cell in row if cell[:1] in ("=", "@")]


@pytest.mark.parametrize("name", NAMES)
def test_scores_by_sentence(tmp_path, name):
    (tmp_path / "s.txt").write_text("a b\nc d\n")
    (tmp_path / "h.txt").write_text("a b\nc e\n")
    table = tmp_path / "t.tsv"
    files = [str(tmp_path / file) for file in ("s.txt", "h.txt")]
    assert main(["score", "-s", files[0], "-r", files[0], "-m", "gleu", "--hyps", files[1],
                 f"--names={name}", "--segments", str(table), "--quiet"]) == 0  # fmt: skip
    from grammeter.formats import read_score_file

    assert read_score_file(table).systems == (name,)
    assert not table.read_text().partition("\n")[2].startswith(("=", "@"))
