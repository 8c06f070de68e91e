"""A corpus from files: formats, rules, names, and every fault with its place."""

from __future__ import annotations

import gzip
import io
import sys
import unicodedata
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import pytest

from grammeter.core import DataError, Edit, LengthMismatchError, UsageError
from grammeter.formats.opened import UnicodeForm
from grammeter.formats.read import read_corpus

GOLD = """\
S he go home
A 1 2|||SVA|||goes|||REQUIRED|||-NONE-|||0

S all fine
A 0 1|||X|||All|||REQUIRED|||-NONE-|||0
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||1

"""
FILES = {
    "src.txt": "he go home\nall fine\n",
    "ref.txt": "he goes home\nall fine\n",
    "A.txt": "he goes home\nall fine\n",
    "B.out": "he go home\nAll fine",
    "gold.m2": GOLD,
    "one.txt": "he go home\n",
    "blank.txt": "he go home\nall fine\n\n",
    "empty.txt": "",
    "outside.m2": GOLD.replace("A 0 1", "A 0 3"),
    "unknown.m2": GOLD.replace("S all", "X rubbish\nS all").replace("\n\nX", "\nX", 1),
    "other.m2": GOLD.replace("S all fine", "S not fine"),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read(**parts: Any):
    return read_corpus(**({"source": "src.txt", "references": ["ref.txt"]} | parts))


def test_texts() -> None:
    corpus = read(systems=["A.txt", "B.out"])
    assert corpus.sources == ["he go home", "all fine"]
    assert corpus.references == [["he goes home", "all fine"]]
    assert dict(corpus.systems) == {
        "A": ["he goes home", "all fine"],
        "B": ["he go home", "All fine"],
    }
    assert (corpus.gold, corpus.text_rule, corpus.notices) == ([], "given", ())


def test_gold_gives_sources_edits_and_texts_by_the_rule() -> None:
    corpus = read_corpus(references=["gold.m2"], systems=["A.txt"])
    assert corpus.sources == ["he go home", "all fine"]
    assert corpus.gold[0] == {0: (Edit(1, 2, "goes", "SVA"),)}
    assert corpus.references == [["he goes home", "All fine"], ["he goes home", "all fine"]]
    assert corpus.text_rule == "gold(um=skip, missing=other)"
    other = read_corpus(references=["gold.m2"], missing_annotator="none")
    assert other.references[1] == [None, "all fine"]
    assert other.text_rule == "gold(um=skip, missing=none)"


def test_texts_go_before_texts_made_from_gold() -> None:
    corpus = read(references=["gold.m2", "src.txt"])
    assert corpus.references == [["he go home", "all fine"]]
    assert corpus.text_rule == "given"
    assert len(corpus.gold) == 2


def test_sources_from_m2() -> None:
    assert read(source="gold.m2").sources == ["he go home", "all fine"]


def test_m2_is_known_by_its_edits_whatever_its_name(folder: Path) -> None:
    (folder / "gold").write_text(GOLD, encoding="utf-8")
    (folder / "packed").write_bytes(gzip.compress(GOLD.encode()))
    for name in ("gold", "packed"):
        assert read_corpus(references=[name]).gold == read_corpus(references=["gold.m2"]).gold


def test_annotators_of_several_files_are_counted_on(folder: Path) -> None:
    third = GOLD.replace("|||0", "|||2").replace("|||1\n", "|||2\n")
    (folder / "third.m2").write_text(third, encoding="utf-8")
    clash = read_corpus(references=["gold.m2", "gold.m2"])
    assert [list(gold) for gold in clash.gold] == [[0, 2], [0, 1, 2, 3]]
    assert [list(g) for g in read_corpus(references=["gold.m2", "third.m2"]).gold] == [
        [0, 2],
        [0, 1, 2],
    ]


def test_white_space_of_sources_and_gold_may_differ(folder: Path) -> None:
    (folder / "wide.txt").write_text("he  go home \nall\u00a0fine\n", encoding="utf-8")
    corpus = read(source="wide.txt", references=["gold.m2"])
    assert corpus.sources[0] == "he  go home "
    assert any("wide.txt: 2 of 2 lines" in notice for notice in corpus.notices)


@pytest.mark.parametrize("part", ["src.txt", "ref.txt", "A.txt", "gold.m2"])
def test_bom_cr_and_gzip_everywhere(folder: Path, part: str) -> None:
    def all_parts():
        return read(references=["ref.txt", "gold.m2"], systems=["A.txt"])

    plain = all_parts()
    data = b"\xef\xbb\xbf" + FILES[part].replace("\n", "\r\n").encode()
    (folder / part).write_bytes(gzip.compress(data))
    odd = all_parts()
    assert odd.to_dict() == plain.to_dict()
    assert any(f"{part}: begins with a byte order mark" in notice for notice in odd.notices)
    assert any(f"{part}: line ends are CR LF" in notice for notice in odd.notices)


def test_systems_by_name() -> None:
    assert list(read(systems={"x": "A.txt", "y": "A.txt"}).systems) == ["x", "y"]
    assert list(read(systems=["A.txt", "A.txt"], names=["x", "y"]).systems) == ["x", "y"]


def test_an_empty_line_is_an_empty_sentence(folder: Path) -> None:
    (folder / "A.txt").write_text("\n\n", encoding="utf-8")
    assert list(read(systems=["A.txt"]).systems["A"]) == ["", ""]


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"systems": ["A.txt", Path("A.txt")]}, "two systems are called 'A'"),
        ({"systems": ["A.txt", "B.out"], "names": ["x", "x"]}, "two systems are called 'x'"),
        ({"systems": ["A.txt"], "names": ["x", "y"]}, "2 names for 1 outputs"),
        ({"source": None}, "no sources"),
        ({"source": "-", "systems": ["-"]}, "standard input is read twice"),
        ({"references": ["-", "ref.txt", "-"]}, "standard input is read twice"),
        ({"references": ["-"], "systems": {"A": "-"}}, "standard input is read twice"),
    ],
)
def test_wrong_usage(parts: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        read(**parts)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"systems": ["one.txt"]}, "one.txt: 1 lines, but src.txt has 2"),
        ({"systems": ["blank.txt"]}, "blank.txt: 3 lines, but src.txt has 2"),
        ({"references": ["ref.txt", "blank.txt"]}, "blank.txt: 3 lines, but src.txt has 2"),
        ({"source": "one.txt"}, "ref.txt: 2 lines, but one.txt has 1"),
        ({"source": "one.txt", "references": ["gold.m2"]}, "one.txt: 1 lines, but gold.m2 has 2"),
    ],
)
def test_unequal_lengths_name_files_and_counts(parts: dict[str, Any], message: str) -> None:
    with pytest.raises(LengthMismatchError, match=message):
        read(**parts)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"systems": ["nowhere"]}, "nowhere: there is no such file"),
        ({"systems": ["."]}, "this is a folder"),
        ({"references": ["empty.txt"]}, "empty.txt: the file is empty"),
        ({"references": ["outside.m2"]}, "outside.m2:5: edit 0 3 lies outside its sentence of 2"),
        ({"references": ["unknown.m2"]}, "unknown.m2:3: unknown line"),
        ({"source": "A.txt", "references": ["gold.m2"]}, "A.txt:1: differs from sentence 1 of"),
        ({"references": ["gold.m2", "other.m2"]}, "src.txt:2: differs from sentence 2 of other"),
    ],
)
def test_faults_have_their_place(parts: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        read(**parts)
    assert caught.value.exit_code == 3


@pytest.mark.parametrize("part", ["references", "systems"])
def test_one_path_where_a_list_belongs(part: str) -> None:
    with pytest.raises(UsageError, match=rf"Write {part}=\['A.txt'\]"):
        read(**{part: "A.txt"})


def test_gold_files_of_different_sizes(folder: Path) -> None:
    (folder / "short.m2").write_text("S he go home\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"gold\.m2: 2 lines, but short\.m2 has 1"):
        read_corpus(references=["gold.m2", "short.m2"])


def test_lenient_counts_what_it_passes_over() -> None:
    corpus = read_corpus(references=["outside.m2"], lenient=True)
    assert corpus.gold[1] == {0: (), 1: ()}
    (note,) = corpus.notes
    assert note.startswith("outside.m2:5: edit 0 3 lies outside")


def test_a_file_that_is_read_for_two_parts_is_noticed_once() -> None:
    corpus = read(source="outside.m2", references=["outside.m2"], lenient=True)
    assert len(corpus.notes) == 1


def test_lenient_never_passes_over_unequal_lengths() -> None:
    with pytest.raises(LengthMismatchError):
        read(systems=["one.txt"], lenient=True)


def test_overlapping_gold_is_noticed(folder: Path) -> None:
    edit = "A 0 2|||X|||y|||REQUIRED|||-NONE-|||0\n"
    (folder / "lap.m2").write_text(f"S a b\n{edit}{edit.replace('0 2', '1 2')}", encoding="utf-8")
    corpus = read_corpus(references=["lap.m2"])
    assert corpus.references == [["y"]]
    assert len(corpus.gold[0][0]) == 2
    assert any("lap.m2: 1 edits overlap" in note for note in corpus.notes)


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    data = io.BytesIO(FILES["A.txt"].encode())
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=data))
    assert read(systems=["-"]).systems["-"] == ["he goes home", "all fine"]


def test_normalisation_brings_texts_together(folder: Path) -> None:
    composed, split = "caf\u00e9", "cafe\u0301"
    (folder / "s").write_text(f"{split}\n", encoding="utf-8")
    (folder / "g.m2").write_text(
        f"S {composed}\nA 0 1|||X|||{split}s|||R|||-|||0\n", encoding="utf-8"
    )
    (folder / "h").write_text(f"{composed}s\n", encoding="utf-8")
    with pytest.raises(DataError, match="differs from sentence 1"):
        read_corpus(source="s", references=["g.m2"], systems=["h"])
    corpus = read_corpus(source="s", references=["g.m2"], systems=["h"], normalise="NFC")
    assert corpus.sources == [composed]
    assert corpus.gold[0][0][0].correction == f"{composed}s"
    assert corpus.references == [[f"{composed}s"]]
    assert corpus.normalisation == "NFC"
    assert read(normalise="NFD").normalisation == "NFD"


def test_normalisation_moves_no_offsets() -> None:
    """A lone acute accent becomes a space and a mark in the K forms: one token more."""
    for code in range(0x110000):
        if not 0xD800 <= code < 0xE000 and not chr(code).isspace():
            for form in get_args(UnicodeForm):
                assert len(unicodedata.normalize(form, chr(code)).split()) == 1
    with pytest.raises(UsageError, match="unknown Unicode form 'NFKC'"):
        read_corpus(references=["g.m2"], normalise="NFKC")  # type: ignore[arg-type]


def test_hidden_characters_are_said_once_a_file(folder: Path) -> None:
    (folder / "H.txt").write_text("he\xa0goes home\nall\u200b fine\xad\n", encoding="utf-8")
    (folder / "P.txt").write_text(
        "می\u200cروم\nall fine\n", encoding="utf-8"
    )  # joiners are letters
    (note,) = read(systems=["H.txt", "P.txt", "A.txt"]).notes
    assert note.startswith(
        "H.txt: no-break or invisible characters (U+00A0 x 1, U+200B x 1, U+00AD"
    )
    assert "first in line 1" in note


def test_files_of_other_unicode_forms_are_named(folder: Path) -> None:
    for name, text in {"C.txt": "caf\u00e9\nb\n", "D.txt": "cafe\u0301\nb\n"}.items():
        (folder / name).write_text(text, encoding="utf-8")
    (note,) = read(systems=["C.txt", "D.txt"]).notes
    assert note.startswith("D.txt: not in Unicode form NFC")
    assert not read(systems=["C.txt", "D.txt"], normalise="NFD").notes
    alike = read(source="D.txt", references=["D.txt"], systems=["D.txt"])
    assert not alike.notes
