"""Tables of text: what each form looks like, and that no cell breaks out of it."""

import csv
import io
import math
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_metric import counted, scored, systems
from grammeter.core import (
    FORMS,
    Column,
    MetricScores,
    MissingResourceError,
    Score,
    ScoreTable,
    Style,
    Table,
    best_rows,
    display_width,
    format_number,
    single_line,
    terminal,
    unshielded,
    write_tables,
)

TABLE = Table.of(
    ("system", Column("m2", "score", best="high", tsv=4), Column("diff", "score", sign=True)),
    [("AMU", 0.3501, -0.0232), ("CAMB_2", 0.3733, 0.1)],
    ("m2: m2|beta:0.5",),
)


def test_text():
    assert TABLE.write() == (
        "system      m2     diff\n"
        "------  ------  -------\n"
        "AMU     0.3501  -0.0232\n"
        "CAMB_2  0.3733  +0.1000\n"
        "\n"
        "m2: m2|beta:0.5\n"
    )


def test_tsv_has_no_notes():
    assert TABLE.write("tsv") == (
        "system\tm2\tdiff\nAMU\t0.3501\t-0.023200\nCAMB_2\t0.3733\t+0.100000\n"
    )  # fmt: skip


def test_markdown():
    assert TABLE.write("markdown") == (
        "| system | m2 | diff |\n"
        "| --- | ---: | ---: |\n"
        "| AMU | 0.3501 | -0.0232 |\n"
        "| CAMB\\_2 | **0.3733** | +0.1000 |\n"
        "\n"
        "- m2: m2\\|beta:0.5\n"
    )


def test_latex():
    assert TABLE.write("latex") == (
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
    lines = Table.of(("x",), [(cell,)]).write("latex").splitlines()
    assert lines[4] == expected + r" \\"


def test_a_note_cannot_leave_its_comment():
    table = Table.of(("x",), (), ("one\n\\input{evil}",))
    assert table.write("latex").splitlines()[-1] == "% one \\input{evil}"


@pytest.mark.parametrize("form", FORMS)
def test_every_form_ends_its_lines_and_takes_no_rows(form):
    assert Table.of(("a", "b"), ()).write(form).endswith("\n")


HOSTILE = "\x1b[31mred\x1b[0m \u202eevil\u202c\u2066x\u2069\u200f\u061c\x07\x9b\u200bé"


def test_hostile_names_are_disarmed_on_the_terminal():
    assert terminal(HOSTILE) == "[31mred[0m evilxé"
    text = Table.of((HOSTILE,), [(HOSTILE,)], (HOSTILE,)).write()
    assert not {"Cc", "Cf"} & {unicodedata.category(c) for c in text if c != "\n"}


@pytest.mark.parametrize("form", FORMS)
def test_no_form_lets_control_characters_through(form):
    text = Table.of(("a",), [(HOSTILE,)], (HOSTILE,)).write(form)
    assert "Cc" not in {unicodedata.category(c) for c in text if c != "\n"}


CELLS = st.text(st.characters(codec="utf-8"), max_size=8)


@given(st.lists(st.tuples(CELLS, CELLS), max_size=5))
def test_tsv_reads_back(rows):
    text = Table.of(("a", "b"), rows).write("tsv")
    found = list(csv.reader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE))
    cells = [[unshielded(cell) for cell in row] for row in found]
    assert cells == [["a", "b"], *([single_line(cell) for cell in row] for row in rows)]


@given(st.lists(st.tuples(CELLS, CELLS), max_size=5))
def test_text_is_aligned_and_markdown_keeps_its_columns(rows):
    table = Table.of((Column("a", "number"), Column("b", "number")), rows)
    lines = table.write().split("\n")[:-1]
    assert len(lines) == len(rows) + 2
    widths = {display_width(line) for line in lines if not line.endswith(" ")}
    assert max(widths, default=0) == display_width(lines[1])
    for line in table.write("markdown").split("\n")[:-1]:
        assert line.replace("\\\\", "").replace("\\|", "").count("|") == 3


def test_wide_letters_count_two_columns():
    table = Table.of(("系统", Column("x", "count")), [("ab", 1), ("é", 22)])
    assert table.write() == "系统   x\n----  --\nab     1\né     22\n"


def test_rows_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="other lengths"):
        Table.of(("x", "y"), [("a",)])


@pytest.mark.parametrize(
    ("unit", "cell", "people", "programs"),
    [
        ("score", 0.35014, "0.3501", "0.350140"),
        ("score", 7, "7.0000", "7.000000"),
        ("number", math.nan, "NaN", "NaN"),
        ("count", 12, "12", "12"),
        ("count", 0.5, "0.5", "0.5"),
        ("count", (2, 4), "2-4", "2-4"),
        ("count", (3, 3), "3", "3"),
        ("interval", (0.1, 0.2), "[0.1000, 0.2000]", "[0.100000, 0.200000]"),
        ("interval", (math.nan, math.nan), "", ""),
        ("share", 0.3501, "35.01%", "35.01%"),
        ("pvalue", 0.00001, "<0.0001", "1e-05"),
        ("pvalue", 0.25, "0.2500", "0.25"),
        ("pvalue", math.nan, "NaN", "NaN"),
        ("number", "never", "never", "never"),
        ("text", None, "", ""),
    ],
)
def test_units(unit, cell, people, programs):
    column = Column("x", unit)
    assert (Style().write(cell, column), Style("tsv").write(cell, column)) == (people, programs)


def test_digits_and_percent_belong_to_scores():
    asked = Style(digits=1, percent=True)
    assert asked.write(0.35014, Column("x", "score")) == "35.0"
    assert asked.write((0.1, 0.2), Column("x", "interval")) == "[10.0, 20.0]"
    assert asked.write(0.35014, Column("x", "number")) == "0.4"
    assert Style(percent=True).write(0.35014, Column("x", "score", 2)) == "35.01"


def test_titles_stand_above_several_tables():
    tables = [Table.of(("a",), [("1",)], title=title) for title in ("One", "Two")]
    assert write_tables(tables, "markdown").count("## ") == 2
    assert write_tables(tables, "tsv") == "# One\na\n1\n\n# Two\na\n1\n"
    assert write_tables(tables[:1], "tsv") == "a\n1\n"


def test_without_pandas_the_way_to_get_it_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingResourceError, match=r"grammeter\[pandas\]"):
        TABLE.to_pandas()


def test_pandas_gets_the_raw_values():
    frame = TABLE.to_pandas()
    assert frame["m2"].tolist() == [0.3501, 0.3733]


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


def test_scores():
    words = [10, 10]
    table = scored({"a": counted([5, 4], words), "b": counted([7, 9], words)}, ("share", "errors"))
    laid_out = table.table()
    assert [column.head for column in laid_out.columns] == ["system", "share", "errors"]
    assert laid_out.rows == (("a", 0.45, 0.45), ("b", 0.8, 0.8))
    assert laid_out.best_cells() == {(1, 1), (0, 2)}
    assert laid_out.notes == (
        f"share: {table['share'].signature}",
        f"errors (lower is better): {table['errors'].signature}",
    )
    assert laid_out.write(Style("tsv")).splitlines()[1].split("\t")[:2] == ["a", "0.4500"]


def test_scores_say_what_is_missing():
    full = scored(systems({"a": 0.5}))["share"]
    scores = {"a": full["a"], "b": Score(math.nan, full.signature, 3, reason="no model")}
    column = MetricScores("share", full.signature, True, scores)
    table = ScoreTable(("a", "b", "c"), 3, {"share": column}).table()
    assert [line.split()[1:] for line in table.write().splitlines()[3:5]] == [["NaN"], []]
    assert table.best_cells() == {(0, 1)}
    assert table.notes[1:] == ("share, b: no score: no model",)


MARKED = Table.of(
    ("system", Column("m2", "score", 2, 2, best="high"), Column("p", "pvalue")),
    [("AMU", 0.35, 0.0312), ("CAMB", 0.37, 0.5)],
    marks={(0, 2): " *", (1, 1): "ab'", (0, 1): ""},
)


def test_marks_stand_behind_their_cells_and_do_not_move_the_numbers():
    assert MARKED.write("tsv").splitlines()[1:] == ["AMU\t0.35\t0.0312 *", "CAMB\t0.37ab'\t0.5"]
    assert MARKED.write().splitlines()[2:] == [
        "AMU     0.35     0.0312 *",
        "CAMB    0.37ab'  0.5000",
    ]
    assert MARKED.write("markdown").splitlines()[2:] == [
        "| AMU | 0.35 | 0.0312 \\* |", "| CAMB | **0.37**ab' | 0.5000 |",
    ]  # fmt: skip


def test_marks_are_raised_in_latex_and_not_bold():
    assert MARKED.write("latex").splitlines()[4:6] == [
        r"AMU & 0.35 & 0.0312$^{*}$ \\",
        r"CAMB & \textbf{0.37}$^{\mathrm{ab'}}$ & 0.5000 \\",
    ]
