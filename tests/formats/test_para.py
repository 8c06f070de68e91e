"""Parallel files of Chinese sets: ``id TAB source TAB target ...``."""

from __future__ import annotations

import pytest

from grammeter.core import DataError, UsageError
from grammeter.formats import read_corpus

LINES = "1\t甲乙\t甲丙\t没有错误\n2\t丁\t无法标注\n3\t戊\t戊己\n"


@pytest.fixture
def write(tmp_path):
    def written(name, text):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return written


def test_sources_and_references(write) -> None:
    corpus = read_corpus(para=write("dev.txt", LINES), systems=[write("out.txt", "甲\n乙\n丙\n")])
    assert corpus.sources == ["甲乙", "丁", "戊"]
    assert corpus.references == [["甲丙", None, "戊己"], ["甲乙", None, None]]
    assert list(corpus.systems["out"]) == ["甲", "乙", "丙"]
    assert list(corpus.unjudgeable) == [1]


def test_an_output_may_have_the_same_form(write) -> None:
    out = write("out.para", "1\t甲乙\t没有错误\n2\t丁\t无法标注\n3\t戊\t己\n")
    corpus = read_corpus(para=write("dev.txt", LINES), systems={"one": out})
    assert list(corpus.systems["one"]) == ["甲乙", "无法标注", "己"]
    assert corpus.notices == ()


@pytest.mark.parametrize("line", ["2\t丁", "2\t\t丙", "2\t丁\t丙\t", "丁"])
def test_a_faulty_line_is_named(write, line) -> None:
    path = write("dev.txt", f"1\t甲\t乙\n{line}\n3\t甲\t乙\n")
    with pytest.raises(DataError, match=r"dev\.txt:2"):
        read_corpus(para=path)


def test_an_output_with_other_ids_is_refused_with_its_line(write) -> None:
    out = write("out.txt", "1\t甲乙\t甲\n3\t戊\t己\n2\t丁\t丁\n")
    with pytest.raises(DataError, match=r"out\.txt:2: the id '3', where the source has '2'"):
        read_corpus(para=write("dev.txt", LINES), systems=[out])
    with pytest.raises(DataError, match=r"none\.txt: the file is empty"):
        read_corpus(para=write("none.txt", "\n"), systems=[out])


def test_two_targets_are_no_output(write) -> None:
    out = write("out.txt", "1\t甲乙\t甲\t乙\n2\t丁\t丁\n3\t戊\t己\n")
    with pytest.raises(DataError, match="2 targets"):
        read_corpus(para=write("dev.txt", LINES), systems=[out])


def test_sources_are_given_once(write) -> None:
    path = write("dev.txt", LINES)
    with pytest.raises(UsageError, match="twice"):
        read_corpus(para=path, source=path)
