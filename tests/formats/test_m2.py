"""The M2 format: dialects, faults, and what is written as it was read."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammeter.core import DataError, Edit
from grammeter.formats.m2 import M2Block, format_m2, parse_m2, read_m2
from grammeter.formats.text import read_text, write_text

EXAMPLE = """\
S This are a sentence .
A 1 2|||R:VERB:SVA|||is|||REQUIRED|||-NONE-|||0
A 4 4|||M:OTHER|||long||one|||REQUIRED|||a comment|||0
A 2 3|||U:DET||||||OPTIONAL|||-NONE-|||2
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||1

S Nothing to say .

"""

WORDS = st.text(
    st.characters(exclude_characters="|\n\r", exclude_categories=["Cs", "Zs", "Zl", "Zp", "Cc"]),
    min_size=1,
    max_size=4,
).filter(lambda word: word != "-NONE-")
CORRECTIONS = st.lists(WORDS, max_size=3).map(" ".join)
FIELDS = st.text(st.characters(exclude_characters="|\n\r", exclude_categories=["Cs"]), max_size=5)


@st.composite
def blocks(draw: st.DrawFn) -> M2Block:
    words = draw(st.lists(WORDS, max_size=5))
    lines = draw(st.lists(st.tuples(st.integers(0, 3), edits(len(words))), max_size=4))
    places = draw(st.lists(st.integers(0, len(lines)), max_size=2).map(sorted))
    texts = tuple((place, f"T{place}-A0 some text") for place in places)
    return M2Block(" ".join(words), tuple(lines), texts)


def edits(words: int) -> st.SearchStrategy[Edit]:
    spans = st.tuples(*[st.integers(0, words)] * 2).map(sorted)
    return st.just(Edit(-1, -1, "", "noop")) | st.builds(
        lambda span, *rest: Edit(*span, *rest),
        spans,
        CORRECTIONS,
        FIELDS.filter(lambda kind: kind != "noop"),
        st.lists(CORRECTIONS, max_size=2).map(tuple),
        FIELDS,
        FIELDS,
    )


@given(st.lists(blocks(), min_size=1, max_size=3))
def test_what_is_written_is_read_back(given_: list[M2Block]) -> None:
    assert list(parse_m2(format_m2(given_), "f").blocks) == given_


@pytest.mark.parametrize("name", ["a.m2", "a.m2.gz"])
def test_files_come_out_byte_for_byte(tmp_path: Path, name: str) -> None:
    (tmp_path / "in.m2").write_text(EXAMPLE, encoding="utf-8", newline="")
    write_text(tmp_path / name, format_m2(read_m2(tmp_path / "in.m2").blocks))
    assert format_m2(read_m2(tmp_path / name).blocks) == EXAMPLE


def test_what_stands_in_a_block() -> None:
    first, second = parse_m2(EXAMPLE, "f").blocks
    assert first.source == "This are a sentence ."
    assert first.gold == {
        0: (
            Edit(1, 2, "is", "R:VERB:SVA"),
            Edit(4, 4, "long", "M:OTHER", ("one",), comment="a comment"),
        ),
        1: (),
        2: (Edit(2, 3, "", "U:DET", required="OPTIONAL"),),
    }
    assert list(first.gold) == [0, 1, 2]
    assert second.gold == {0: ()}


@pytest.mark.parametrize("text", [EXAMPLE.rstrip("\n"), "\n\n" + EXAMPLE + "\n\n"])
def test_blank_lines_around_blocks_do_not_matter(text: str) -> None:
    assert parse_m2(text, "f") == parse_m2(EXAMPLE, "f")


def test_cr_bom_and_gold_order(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbf" + EXAMPLE.replace("\n", "\r\n").encode())
    assert read_m2(tmp_path / "a") == parse_m2(EXAMPLE, "f")


def test_edits_keep_the_order_of_the_file() -> None:
    text = "S a b\nA 1 2|||X|||y|||R|||-|||0\nA 0 1|||X|||x|||R|||-|||0\n"
    assert [edit.start for edit in parse_m2(text, "f").blocks[0].gold[0]] == [1, 0]


def test_dialects() -> None:
    text = (
        "S a b c\n"
        "T0-A0 x b c\n"
        "A 0 1|||X|||-NONE-|||REQUIRED|||-NONE-|||0\n"
        "I ignored\n"
        "T0 x b c\n"
        "A 0 1|||X||| in || at |||REQUIRED|||-NONE-|||0\n"
        "\n"
        "S\n"
    )
    first, empty = parse_m2(text, "f").blocks
    assert [edit.corrections for edit in first.gold[0]] == [("",), ("in", "at")]
    assert first.texts == ((0, "T0-A0 x b c"), (1, "T0 x b c"))
    assert (empty.source, empty.gold) == ("", {0: ()})


def test_sources_may_be_odd() -> None:
    source = "a\u2028b\u0085c \u200f😀 \u00a0 300 " + "the " * 300
    (block,) = parse_m2(f"S {source}\n", "f").blocks
    assert block.source == source


@pytest.mark.parametrize(
    ("lines", "line", "message"),
    [
        (["S a", "S b"], 2, "a second S line in one block"),
        (["S a b", "A 0 3|||X|||z|||R|||-|||0"], 2, "edit 0 3 lies outside its sentence of 2"),
        (["S a b", "A -1 0|||X|||z|||R|||-|||0"], 2, "edit -1 0 lies outside"),
        (["S a b", "A 2 1|||X|||z|||R|||-|||0"], 2, "edit 2 1 lies outside"),
        (["S a", "B 0 1"], 2, "unknown line: 'B 0 1'"),
        (["S a", " "], 2, "unknown line: ' '"),
        (["A 0 1|||X|||z|||R|||-|||0"], 1, "outside a block"),
        (["S a", "", "", "rubbish"], 4, "outside a block: 'rubbish'"),
    ],
)
def test_faults_name_the_line_and_lenient_passes_over_some(
    lines: list[str], line: int, message: str
) -> None:
    text = "\n".join([*lines, "", "S last", ""])
    with pytest.raises(DataError, match=f"^g\\.m2:{line}: {message}"):
        parse_m2(text, "g.m2")
    if "S line" in message:
        return
    file = parse_m2(text, "g.m2", lenient=True)
    assert len(file.notices) == 1
    assert file.notices[0].startswith(f"g.m2:{line}: ")
    assert file.blocks[-1].source == "last"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("A 0 1|||X|||z|||R|||-", "5 fields instead of 6"),
        ("A 0 1|||X|||z|||y|||R|||-|||0", "7 fields"),
        ("A 0|||X|||z|||R|||-|||0", "not enough values"),
        ("A x 1|||X|||z|||R|||-|||0", "invalid literal"),
        ("A 0 1|||X|||z|||R|||-|||first", "invalid literal"),
        ("A 0 1|||X|||z|||R|||-|||-1", "annotator -1, less than 0"),
    ],
)
@pytest.mark.parametrize("lenient", [False, True])
def test_what_is_no_edit_is_never_passed_over(line: str, message: str, lenient: bool) -> None:
    with pytest.raises(DataError, match=f"^f:2: not an edit: .*{message}"):
        parse_m2(f"S a\n{line}\n", "f", lenient=lenient)


@pytest.mark.parametrize("lenient", [False, True])
def test_two_s_lines_are_an_error_even_if_lenient(lenient: bool) -> None:
    with pytest.raises(DataError, match="f:2: a second S line"):
        parse_m2("S a\nS b\n", "f", lenient=lenient)


def test_a_dropped_edit_leaves_its_annotator() -> None:
    """As in the original: the annotator has seen the sentence."""
    (block,) = parse_m2("S a\nA 0 9|||X|||z|||R|||-|||1\n", "f", lenient=True).blocks
    assert block.gold == {1: ()}


@pytest.mark.parametrize("text", ["", "\n\n"])
def test_no_sentence(text: str) -> None:
    with pytest.raises(DataError, match="f: no sentence in this file"):
        parse_m2(text, "f")


@pytest.mark.parametrize(
    "block",
    [
        M2Block("a\nb"),
        M2Block("a\r"),
        M2Block("a", ((0, Edit(0, 1, "b\nS c")),)),
        M2Block("a", ((0, Edit(0, 1, "b|||c")),)),
        M2Block("a", ((0, Edit(0, 1, "b||c")),)),
        M2Block("a", ((0, Edit(0, 1, "b|")),)),
        M2Block("a", ((0, Edit(0, 1, " b")),)),
        M2Block("a", ((0, Edit(0, 1, "-NONE-")),)),
        M2Block("a", ((-1, Edit(0, 1, "b")),)),
    ],
)
def test_what_m2_cannot_hold_is_not_written(block: M2Block) -> None:
    with pytest.raises(DataError):
        format_m2([block])


@pytest.mark.parametrize(
    "name",
    [
        "conll14_test/noalt/official-2014.combined.m2",
        "conll14_test/alt/official-2014.combined-withalt.m2",
        "conll13_test/official_2013-preprocessed.m2",
        "cweb/m2/CWEB-S.dev.m2.gz",
        "lang_de_falko_merlin/fm-test.m2",
    ],
)
def test_published_files_come_out_byte_for_byte(shared: Path, name: str) -> None:
    path = shared / "data" / name
    assert format_m2(read_m2(path).blocks) == read_text(path)


def test_cherrant_s_dialect_is_read_back(shared: Path) -> None:
    path = shared / "data/lang_zh/cherrant_samples/demo.ref.m2.char"
    blocks = read_m2(path).blocks
    assert any(block.texts for block in blocks)
    assert parse_m2(format_m2(blocks), "f").blocks == blocks
