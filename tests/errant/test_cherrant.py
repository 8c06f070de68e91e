"""Edits of Chinese characters: goldens of ChERRANT, a slow twin, laws, and what is made up."""

from __future__ import annotations

import gzip
from functools import partial
from importlib.util import find_spec

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammeter.core import DataError, MissingResourceError, apply
from grammeter.errant import cherrant
from grammeter.errant.cherrant import characters, chinese_annotator, resources_of, traditional
from grammeter.verbs import edits_extract

PLAIN = chinese_annotator("all", None, "none")
needs_zh = pytest.mark.skipif(
    not (find_spec("opencc") and find_spec("pypinyin")), reason="the extra zh is not installed"
)


def golden(path):
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode()


# Goldens: the program at commit 3922193 of 2023-06-09 without its tables, simplified and not

GOLD = "lang_zh/MuCGEC_dev.txt", "mucgec_dev.gold.all.no_resources{}.m2.gz"
HYP = "lang_zh/example_pred_dev.txt", "mucgec_dev.hyp.all.no_resources{}.m2.gz"
MADE = "adversarial.tsv", "adversarial.all.no_resources{}.m2"


@pytest.mark.parametrize(("texts", "m2"), [GOLD, HYP, MADE])
@pytest.mark.parametrize("simplify", ["none", pytest.param("t2s", marks=needs_zh)])
def test_m2_of_the_program_byte_for_byte(shared, texts, m2, simplify) -> None:
    folder = shared / ("golden/cherrant" if texts == MADE[0] else "data")
    wanted = golden(
        shared / "golden/cherrant" / m2.format("" if simplify == "t2s" else ".not_simplified")
    )
    made = edits_extract(para=folder / texts, scheme="cherrant", simplify=simplify)
    assert made.text() == wanted


def test_first_is_the_first_list_of_all(shared) -> None:
    path = shared / "golden/cherrant/adversarial.tsv"
    every, first = (
        edits_extract(para=path, scheme="cherrant", simplify="none", alignments=which)
        for which in ("all", "first")
    )
    assert "-A1" in every.text()
    lines, wanted = iter(every.text().splitlines(keepends=True)), []
    keep = True
    for line in lines:
        keep = "-A0 " in line or "-A" not in line if line[0] == "T" else keep or line[0] in "S\n"
        wanted += [line] * keep
    assert first.text() == "".join(wanted)


# A slow twin: the whole matrix, all steps of each cell, and recursion

TEXTS = st.text("甲乙丙。，他", max_size=7)


def twin(source, target):
    rows, columns = len(source) + 1, len(target) + 1
    cost = {(i, 0): float(i) for i in range(rows)} | {(0, j): float(j) for j in range(columns)}
    steps = {(i, 0): ["D"] for i in range(rows)} | {(0, j): ["I"] for j in range(columns)}
    for i in range(1, rows):
        for j in range(1, columns):
            one, other = source[i - 1], target[j - 1]
            if one == other:
                cost[i, j], steps[i, j] = cost[i - 1, j - 1], ["M"]
                continue
            marks = (one in "，") + (other in "，")
            ways = {"T": float("inf"), "S": cost[i - 1, j - 1]}
            ways["S"] += 4 / 6.0 + 0.5 + (0.25, 0.499, 0.0)[marks]
            ways |= {"I": cost[i, j - 1] + 1, "D": cost[i - 1, j] + 1}
            back = 2
            while i - back >= 0 and j - back >= 0:
                if cost[i - back + 1, j - back + 1] == cost[i - back, j - back]:
                    break
                if sorted(source[i - back : i]) == sorted(target[j - back : j]):
                    ways["T"] = cost[i - back, j - back] + (back - 1)  # one rounding
                    break
                back += 1
            least = cost[i, j] = min(ways.values())
            steps[i, j] = [f"T{back}" if s == "T" else s for s, c in ways.items() if c == least]

    def walk(i, j, behind):
        if i == j == 0:
            return [behind]
        found = []
        for step in steps[i, j] if abs(len(source) - len(target)) <= 10 else steps[i, j][:1]:
            up, left = {"D": (1, 0), "I": (0, 1)}.get(step, (int(step[1:] or 1),) * 2)
            change = (step[0], i - up, i, j - left, j)
            found += walk(i - up, j - left, [change, *behind] if step != "M" else behind)
        return found

    return walk(len(source), len(target), [])


@given(TEXTS, TEXTS, TEXTS)
def test_alignments_are_those_of_the_slow_twin(start, source, target) -> None:
    source, target = start + source, start + target
    sides = characters(source), characters(target)
    alignments = cherrant._alignments(PLAIN._costs, *sides, False)
    made = [[*map(tuple, changes)] for changes in alignments]
    assert made == twin(source, target)


@given(st.text("甲乙丙。，他", min_size=1, max_size=25), st.text("甲乙丙。，他", max_size=12))
def test_the_edits_of_each_list_make_the_target(source, target) -> None:
    lists = PLAIN.lists(source, target)
    assert (lists == []) == (source == target)
    assert len(set(lists)) == len(lists)
    for edits in lists:
        assert apply(characters(source), edits) == [*target]


# What is made up


@pytest.mark.parametrize(
    ("source", "target", "edits"),
    [
        ("甲 乙\u3000丙", "甲乙丙", []),
        ("甲乙丙丁", "甲丙乙丁", ["W 1 3 丙 乙"]),
        ("甲，乙丙", "乙，甲丙", ["W 0 3 乙 ， 甲"]),  # swapped over a match
        ("甲乙丙丁", "丙丁甲乙", ["W 0 4 丙 丁 甲 乙"]),  # moved over a match
        ("甲丙", "甲丁", ["S 1 2 丁"]),
        ("甲[缺失成分]丙", "甲丙", ["R 1 2 "]),
        ("甲乙", "没有错误", []),
        ("甲乙", " 无法标注 ", ["NA -1 -1 "]),
    ],
)
def test_edits(source, target, edits) -> None:
    (first, *_) = PLAIN.lists(source, target) or [()]
    assert [f"{e.type} {e.start} {e.end} {e.correction}" for e in first] == edits


def test_too_many_alignments_are_cut_with_a_note(monkeypatch) -> None:
    monkeypatch.setattr(cherrant, "MOST", 50)
    made = cherrant.Characters("all", resources_of(None), "none")
    pair = "他她他" * 20, "她他" * 29
    assert len(made.lists(*pair)) == 50
    assert [note[:30] for note in made.notes([pair, pair])] == [
        "alignments of 1 corrected texts"[:30]
    ]
    assert not [*made.notes([("甲", "乙")])]


def test_long_texts_need_no_recursion() -> None:
    (edits,) = chinese_annotator("first", None, "none").lists("甲乙" * 700, "甲丙" * 700)
    assert len(edits) == 700


def test_traditional_characters_are_seen() -> None:
    assert [*traditional("這是简体，thé貓")] == ["這", "貓"]
    assert len([*PLAIN.notes([("是", "這是")])]) == 1


# Resources: the user's own tables, here invented ones


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "cilin.txt").write_bytes("Aa01A01= 甲 乙\nBa01B01= 乙 词语\n".encode("gbk"))
    (tmp_path / "confusion_dict.txt").write_bytes("丙 丁 戊\r\n".encode())
    return tmp_path


@needs_zh
def test_tables_are_read(folder) -> None:
    tables = resources_of(str(folder))
    assert tables.meanings == {
        "甲": ("A", "a", "01"),
        "乙": ("B", "a", "01"),
        "词语": ("B", "a", "01"),
    }
    pairs = ("戊丙", "丙戊", "他她", "甲丙")  # confused both ways, of one sound, neither
    assert [tables.alike(*pair) for pair in pairs] == [True, True, True, False]
    assert tables.signature["resources"] == "cilin+confusion+pinyin"
    cost = partial(cherrant._cost, tables)
    assert cost("甲", "乙") == pytest.approx(2 / 6 + 0.5 + 0.25)  # the last class of 乙 counts
    assert cost("甲", "丙") == pytest.approx(4 / 6 + 0.5 + 0.25)
    assert cost("他", "她") == pytest.approx(4 / 6 + 0.25)
    assert cost("，", "！") == pytest.approx(4 / 6 + 0.5)


@needs_zh
def test_faulty_tables_are_named(folder, tmp_path) -> None:
    with pytest.raises(MissingResourceError, match=r"cilin\.txt"):
        resources_of(str(tmp_path / "none"))
    (folder / "cilin.txt").write_bytes(b"Aa01 \xff\xff")
    with pytest.raises(DataError, match="gbk"):
        resources_of(str(folder))
