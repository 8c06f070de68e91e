"""Tables of text: what each form looks like, and that no cell breaks out of it."""

import csv
import io
import math
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_metric import counted, scored, systems
from grammeter.core import MetricScores, Score, ScoreTable, unshielded
from grammeter.rendering.scores import scores_table
from grammeter.rendering.tables import (
    FORMS,
    Table,
    best_rows,
    display_width,
    format_number,
    render,
    single_line,
    terminal,
    to_latex,
    to_markdown,
    to_text,
    to_tsv,
)

TABLE = Table(
    header=("system", "m2", "diff"),
    rows=(("AMU", "0.3501", "-0.0232"), ("CAMB_2", "0.3733", "+0.1000")),
    align="lrr",
    notes=("m2: m2|beta:0.5",),
    best=frozenset({(1, 1)}),
)


def test_text():
    assert to_text(TABLE) == (
        "system      m2     diff\n"
        "------  ------  -------\n"
        "AMU     0.3501  -0.0232\n"
        "CAMB_2  0.3733  +0.1000\n"
        "\n"
        "m2: m2|beta:0.5\n"
    )


def test_tsv_has_no_notes():
    assert to_tsv(TABLE) == (
        "system\tm2\tdiff\nAMU\t0.3501\t-0.0232\nCAMB_2\t0.3733\t+0.1000\n"
    )  # fmt: skip


def test_markdown():
    assert to_markdown(TABLE, bold_best=True) == (
        "| system | m2 | diff |\n"
        "| --- | ---: | ---: |\n"
        "| AMU | 0.3501 | -0.0232 |\n"
        "| CAMB\\_2 | **0.3733** | +0.1000 |\n"
        "\n"
        "- m2: m2\\|beta:0.5\n"
    )


def test_latex():
    assert to_latex(TABLE, bold_best=True) == (
        "\\begin{tabular}{lrr}\n"
        "\\toprule\n"
        "system & m2 & diff \\\\\n"
        "\\midrule\n"
        "AMU & 0.3501 & $-$0.0232 \\\\\n"
        "CAMB\\_2 & \\textbf{0.3733} & $+$0.1000 \\\\\n"
        "\\bottomrule\n"
        "\\end{tabular}\n"
        "% m2: m2|beta:0.5\n"
    )


def test_bold_is_a_choice():
    assert "**" not in to_markdown(TABLE)
    assert "textbf" not in to_latex(TABLE)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("a&b%c$d#e_f", r"a\&b\%c\$d\#e\_f"),
        ("{x}~^\\", r"\{x\}\textasciitilde{}\textasciicircum{}\textbackslash{}"),
        ("<a|b>", r"\textless{}a\textbar{}b\textgreater{}"),
        ("[-0.1, +0.2]", r"{[}$-$0.1, $+$0.2]"),
        ("T5-3B", "T5-3B"),
        ("*", "{*}"),
        ("two\nlines", "two lines"),
    ],
)
def test_latex_escapes(cell, expected):
    lines = to_latex(Table(("x",), ((cell,),), "l")).splitlines()
    assert lines[4] == expected + r" \\"


def test_a_note_cannot_leave_its_comment():
    table = Table(("x",), (), "l", notes=("one\n\\input{evil}",))
    assert to_latex(table).splitlines()[-1] == "% one \\input{evil}"


@pytest.mark.parametrize("form", FORMS)
def test_every_form_ends_its_lines_and_takes_no_rows(form):
    text = render(Table(("a", "b"), (), "lr"), form)
    assert text.endswith("\n")
    assert text == render(Table(("a", "b"), (), "lr"), form, bold_best=True)


HOSTILE = "\x1b[31mred\x1b[0m \u202eevil\u202c\u2066x\u2069\u200f\u061c\x07\x9b\u200bé"


def test_hostile_names_are_disarmed_on_the_terminal():
    assert terminal(HOSTILE) == "[31mred[0m evilxé"
    text = to_text(Table((HOSTILE,), ((HOSTILE,),), "l", notes=(HOSTILE,)))
    assert not {"Cc", "Cf"} & {unicodedata.category(c) for c in text if c != "\n"}


@pytest.mark.parametrize("form", FORMS)
def test_no_form_lets_control_characters_through(form):
    text = render(Table(("a",), ((HOSTILE,),), "l", notes=(HOSTILE,)), form)
    assert "Cc" not in {unicodedata.category(c) for c in text if c != "\n"}


CELLS = st.text(st.characters(codec="utf-8"), max_size=8)


@given(st.lists(st.tuples(CELLS, CELLS), max_size=5))
def test_tsv_reads_back(rows):
    text = to_tsv(Table(("a", "b"), tuple(rows), "ll"))
    found = list(csv.reader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE))
    cells = [[unshielded(cell) for cell in row] for row in found]
    assert cells == [["a", "b"], *([single_line(cell) for cell in row] for row in rows)]


@given(st.lists(st.tuples(CELLS, CELLS), max_size=5))
def test_text_is_aligned_and_markdown_keeps_its_columns(rows):
    table = Table(("a", "b"), tuple(rows), "rr")
    lines = to_text(table).split("\n")[:-1]
    assert len(lines) == len(rows) + 2
    widths = {display_width(line) for line in lines if not line.endswith(" ")}
    assert max(widths, default=0) == display_width(lines[1])
    for line in to_markdown(table).split("\n")[:-1]:
        assert line.replace("\\\\", "").replace("\\|", "").count("|") == 3


def test_wide_letters_count_two_columns():
    table = Table(("系统", "x"), (("ab", "1"), ("é", "22")), "lr")
    assert to_text(table) == "系统   x\n----  --\nab     1\né     22\n"


@pytest.mark.parametrize(
    ("rows", "align"), [((("a",),), "lr"), ((("a", "b"),), "l"), ((("a", "b"),), "lc")]
)
def test_tables_that_do_not_fit_are_refused(rows, align):
    with pytest.raises(ValueError, match="do not fit"):
        Table(("x", "y"), rows, align)


@pytest.mark.parametrize(
    ("value", "options", "expected"),
    [
        (0.35014, {}, "0.3501"),
        (0.35014, {"percent": True}, "35.01"),
        (0.35014, {"digits": 2}, "0.35"),
        (0.35014, {"digits": 1, "percent": True}, "35"),
        (0.0232, {"sign": True}, "+0.0232"),
        (-0.0232, {"sign": True}, "-0.0232"),
        (-0.00001, {}, "0.0000"),
        (-0.00001, {"sign": True}, "0.0000"),
        (0.0, {"sign": True}, "0.0000"),
        (-3, {}, "-3.0000"),
        (math.nan, {"percent": True}, "NaN"),
        (math.inf, {}, "inf"),
    ],
)
def test_numbers(value, options, expected):
    assert format_number(value, **options) == expected


@pytest.mark.parametrize(
    ("values", "higher", "expected"),
    [
        ([1, 3, 3], True, [1, 2]),
        ([1, 3, 3], False, [0]),
        ([math.nan, 2], False, [1]),
        ([math.nan], True, []),
        ([], True, []),
    ],
)
def test_best_rows(values, higher, expected):
    assert best_rows(values, higher_is_better=higher) == expected


def test_scores_table():
    words = [10, 10]
    table = scored({"a": counted([5, 4], words), "b": counted([7, 9], words)}, ("share", "errors"))
    found = scores_table(table)
    assert found.header == ("system", "share", "errors")
    assert found.rows == (("a", "0.4500", "0.4500"), ("b", "0.8000", "0.8000"))
    assert found.best == {(1, 1), (0, 2)}
    assert found.notes == (
        f"share: {table['share'].signature}",
        f"errors (lower is better): {table['errors'].signature}",
    )
    assert scores_table(table, percent=True).rows[0] == ("a", "45.00", "45.00")
    assert scores_table(table, digits=6).rows[0][1] == "0.450000"
    assert to_tsv(found).splitlines()[1].split("\t")[:2] == ["a", "0.4500"]


def test_scores_table_says_what_is_missing():
    full = scored(systems({"a": 0.5}))["share"]
    scores = {"a": full["a"], "b": Score(math.nan, full.signature, 3, reason="no model")}
    column = MetricScores("share", full.signature, True, scores)
    found = scores_table(ScoreTable(("a", "b", "c"), 3, {"share": column}))
    assert [row[1] for row in found.rows][1:] == ["NaN", ""]
    assert found.best == {(0, 1)}
    assert found.notes[1:] == ("share, b: no score: no model",)


MARKED = Table(
    ("system", "m2", "p"),
    (("AMU", "0.35", "0.0312"), ("CAMB", "0.37", "0.5")),
    "lrl",
    best=frozenset({(1, 1)}),
    marks={(0, 2): " *", (1, 1): "ab'", (0, 1): ""},
)


def test_marks_stand_behind_their_cells():
    assert to_tsv(MARKED).splitlines()[1:] == ["AMU\t0.35\t0.0312 *", "CAMB\t0.37ab'\t0.5"]
    assert to_text(MARKED).splitlines()[2:] == ["AMU        0.35  0.0312 *", "CAMB    0.37ab'  0.5"]
    assert to_markdown(MARKED, bold_best=True).splitlines()[2:] == [
        "| AMU | 0.35 | 0.0312 \\* |", "| CAMB | **0.37**ab' | 0.5 |",
    ]  # fmt: skip


def test_marks_are_raised_in_latex_and_not_bold():
    assert to_latex(MARKED, bold_best=True).splitlines()[4:6] == [
        r"AMU & 0.35 & 0.0312$^{*}$ \\",
        r"CAMB & \textbf{0.37}$^{\mathrm{ab'}}$ & 0.5 \\",
    ]
