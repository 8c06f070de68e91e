"""Tables of all verbs that print scores: digits, percent, bold and marks in every form."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from grammeter.cli.main import main
from grammeter.cli.output import FORMATS, style
from grammeter.core import Column
from grammeter.resources import sample_corpus

SAMPLE = sample_corpus()
JUDGMENTS = str(SAMPLE / "judgments.xml")
SCORES = "SCORES"
CALLS = {
    "compare": ["compare", SCORES, "--resamples", "99"],
    "compare --baseline": ["compare", SCORES, "--baseline", "Eager", "--resamples", "99"],
    "rank": ["rank", JUDGMENTS, "--bootstrap", "20"],
    "rank --head-to-head": ["rank", JUDGMENTS, "--head-to-head"],
    "rank --validate": ["rank", JUDGMENTS, "--validate", "2", "--bootstrap", "20"],
    "rank --learning-curve": ["rank", JUDGMENTS, "--learning-curve", "--bootstrap", "20"],
    "agree": ["agree", JUDGMENTS],
    "agree --correlate": ["agree", JUDGMENTS, "--correlate"],
    "meta system": ["meta", "system", SCORES, JUDGMENTS, "--leave-one-out", "--top-k"],
    "meta sentence": ["meta", "sentence", SCORES, JUDGMENTS, "--bootstrap", "20", "--by-judge"],
    "meta window": ["meta", "window", SCORES, JUDGMENTS],
    "meta beta": ["meta", "beta", SCORES, JUDGMENTS, "-m", "m2", "--beta", "0.5,1"],
    "meta maege": [
        *("meta", "maege", "-s", str(SAMPLE / "source.txt"), "-r", str(SAMPLE / "gold.m2")),
        *("-m", "m2"),
    ],
}  # fmt: skip
MARKED = {
    "compare --baseline": r"0.0100$^{*}$",
    "rank --head-to-head": r"0.13$^{**}$",
    "agree": r"0.6312$^{*}$",
    "compare": "& a &",
}
WITHOUT_BEST = {
    "rank --head-to-head", "rank --validate", "rank --learning-curve", "agree",
    "agree --correlate",
}  # fmt: skip


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("scores") / "scores.json")
    outputs = [str(file) for file in sorted((SAMPLE / "systems").iterdir())]
    files = ["-s", str(SAMPLE / "source.txt"), "-r", str(SAMPLE / "gold.m2"), "--hyps", *outputs]
    assert main(["score", *files, "-m", "m2", "green", "-o", path, "--quiet"]) == 0
    return path


@pytest.fixture
def run(stored, capsys):
    capsys.readouterr()

    def call(name, *options):
        words = [stored if word == SCORES else word for word in CALLS[name]]
        assert main([*words, *options, "--quiet"]) == 0
        return capsys.readouterr().out

    return call


def rows_of(latex):
    return [line for line in latex.splitlines() if line.endswith(r"\\")]


@pytest.mark.parametrize("name", CALLS)
def test_latex_is_whole(run, name):
    """Braces, mathematics and columns fit, and no character is left that LaTeX would obey."""
    text = run(name, "--format", "latex")
    tables = text.split("\\begin{tabular}{")[1:]
    assert tables
    for table in tables:
        columns, body = table.split("}\n", 1)
        for row in rows_of(body):
            assert len(re.findall(r"(?<!\\)&", row)) == len(columns) - 1
            assert row.count("{") == row.count("}")
            assert row.count("$") % 2 == 0
            outside = re.sub(r"\$[^$]*\$", "", row)
            assert not re.search(r"(?<!\\)[%#_^~]", outside)
        assert [line for line in body.splitlines() if line and line[0] not in "\\%"] == [
            row for row in rows_of(body) if row[0] != "\\"
        ]


@pytest.mark.parametrize("name", CALLS)
def test_the_best_is_bold_in_latex_and_markdown(run, name):
    latex, markdown = (run(name, "--format", form) for form in ("latex", "markdown"))
    bold = re.findall(r"\\textbf\{([^}]*)\}", latex)
    assert [cell.replace("$", "") for cell in bold] == re.findall(r"\*\*([-\d.]+)\*\*", markdown)
    assert bool(bold) == (name not in WITHOUT_BEST)
    assert "**" not in re.sub(r"\*\* p <=|\d\*\*", "", run(name))


@pytest.mark.parametrize(("name", "cell"), MARKED.items())
def test_marks_are_raised_in_latex_and_explained(run, name, cell):
    text = run(name, "--format", "latex")
    assert cell in text
    assert any(
        line.startswith("% ") and ("*" in line or "share a letter" in line)
        for line in text.splitlines()
    )


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("form", ["table", "tsv", "markdown", "latex"])
def test_digits_as_asked(run, name, form):
    """Figures have one decimal; those of p-values, settings and signatures are their own."""
    usual, short = (run(name, "--format", form, *more) for more in ([], ["--digits", "1"]))
    assert len(usual.splitlines()) == len(short.splitlines())
    one, none = (len(re.findall(r"(?<![\d.])\d\.\d(?![\d.])", text)) for text in (short, usual))
    figures = len(re.findall(r"(?<![\d.])0\.\d", usual))
    assert one - none > figures / 4


@pytest.mark.parametrize("name", ["compare", "compare --baseline", "rank", "rank --head-to-head"])
def test_digits_are_those_that_are_printed_with_percent_too(run, name):
    text = run(name, "--percent", "--digits", "1", "--format", "tsv")
    assert re.search(r"\t\d\d\.\d\t", text)
    assert not re.search(r"\t0\.\d\d\d\t", text)


@pytest.mark.parametrize("name", CALLS)
def test_json_is_not_rounded(run, name):
    exact, short = (run(name, "--format", "json", *more) for more in ([], ["--digits", "1"]))
    assert exact == short


def test_decimals_that_are_not_asked_for():
    third = Column("x", "number", digits=3)
    args = [SimpleNamespace(digits=None, format=form) for form in FORMATS if form != "json"]
    written = [style(each).write(1 / 3, third) for each in args]
    assert written == ["0.333", "0.333333", "0.333", "0.333"]
    assert style(SimpleNamespace(digits=0, format="tsv")).write(1 / 3, third) == "0"
