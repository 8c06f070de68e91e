"""One text cut into other sentences or tokens: common sentences, and nothing lost."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import grammeter as gm
from grammeter.cli.main import main
from grammeter.core import DataError, Edit, apply
from grammeter.formats import M2Block, M2File, read_m2
from grammeter.formats.recut import common_sentences, same_text

NAMES = ("hyp.m2", "ref.m2")


def cut(words, ends):
    """An M2 file of sentences that end behind so many words; each word "x" becomes "y"."""
    bounds = sorted({0, len(words), *(end for end in ends if end <= len(words))})
    sentences = [words[a:b] for a, b in pairwise(bounds)]
    edits = [tuple(Edit(i, i + 1, "y") for i, w in enumerate(s) if w == "x") for s in sentences]
    return M2File(
        tuple(M2Block.of(" ".join(s), {0: e}) for s, e in zip(sentences, edits, strict=True))
    )


def corrected(file):
    return [" ".join(apply(b.source.split(), b.gold[0])) for b in file.blocks]


WORDS = st.lists(st.sampled_from(["x", "a", "bc", "."]), min_size=1, max_size=12)
ENDS = st.sets(st.integers(1, 12))


@given(WORDS, ENDS, ENDS)
def test_cut_where_both_are_and_nothing_lost(words, one, other):
    hyp, ref = cut(words, one), cut(words, other)
    done = common_sentences(hyp, ref, NAMES)
    both = [*sorted({e for e in one & other if e < len(words)}), len(words)]
    expected = [" ".join(words[a:b]) for a, b in zip([0, *both], both, strict=False)]
    assert done.hypothesis.sources == done.reference.sources == expected
    for file, before in ((done.hypothesis, hyp), (done.reference, ref)):
        assert " ".join(corrected(file)) == " ".join(corrected(before))
    assert gm.edits_compare(hyp, ref, realign=True).comparison.counts.fp == 0
    assert not done.counts.total()


@given(WORDS, st.sets(st.integers(1, 20)), ENDS)
def test_other_tokens_keep_every_character(words, inner, ends):
    letters = "".join(words)
    bounds = sorted({0, len(letters), *(i for i in inner if i < len(letters))})
    ref = M2File((M2Block(" ".join(letters[a:b] for a, b in pairwise(bounds))),))
    hyp = cut(words, ends)
    done = common_sentences(hyp, ref, NAMES)
    (block,) = done.hypothesis.blocks
    assert block.source == ref.blocks[0].source
    if len({i for e in block.gold[0] for i in range(e.start, e.end)}) == sum(
        e.end - e.start for e in block.gold[0]
    ):  # no two edits were widened to one token
        text = "".join(apply(block.source.split(), block.gold[0]))
        assert text == letters.replace("x", "y")


def test_an_edit_inside_a_token_is_widened_and_counted():
    hyp = M2File((M2Block("can not go", ((0, Edit(1, 2, "never", "R", ("hardly",))),)),))
    ref = M2File((M2Block("cannot"), M2Block("go")))
    done = common_sentences(hyp, ref, NAMES)
    (block,) = done.hypothesis.blocks
    assert block.lines == ((0, Edit(0, 1, "can never", "R", ("can hardly",))),)
    assert done.counts["widened"] == 1
    assert "1 edits are widened" in " ".join(done.notes)


def test_annotators_who_are_not_listed_for_a_part_stand_in_and_are_counted():
    ref = M2File((M2Block.of("a", {0: (Edit(0, 1, "b"),)}), M2Block.of("c", {0: (), 1: ()})))
    done = common_sentences(M2File((M2Block("a c"),)), ref, NAMES)
    assert done.reference.blocks[0].gold == {0: (Edit(0, 1, "b"),), 1: (Edit(0, 1, "b"),)}
    assert done.counts["stood_in"] == 1


def test_a_sentence_that_cannot_be_judged_makes_its_block_so():
    ref = M2File((M2Block.of("a", {0: (Edit(0, 1, "b"),)}), M2Block.of("c d", {})))
    done = common_sentences(M2File((M2Block("a cd", ref.blocks[1].lines),)), ref, NAMES)
    assert [block.gold for block in (*done.reference.blocks, *done.hypothesis.blocks)] == [{}, {}]
    assert "1 joined sentences hold one that cannot be judged" in " ".join(done.notes)


def test_other_characters_are_refused_with_both_places():
    hyp, ref = (M2File((M2Block("a b"), M2Block(text))) for text in ("c d", "x y z"))
    with pytest.raises(DataError, match=r"hyp\.m2, sentence 2: .*ref\.m2, sentence 2"):
        common_sentences(hyp, ref, NAMES)


@given(
    WORDS, ENDS, ENDS, st.lists(st.tuples(st.integers(0, 12), st.sampled_from(["", "d", "a d"])))
)
def test_a_source_that_was_normalised_is_laid_on_the_other(words, one, other, changes):
    """Nothing but the changed tokens is lost, and what both have stays equal."""
    normal = [*words]
    for at, put in changes:
        normal[at : at + 1] = put.split()
    hyp, ref = cut(normal or ["d"], one), cut(words, other)
    assume(same_text(hyp, ref))
    done = common_sentences(hyp, ref, NAMES)
    assert done.hypothesis.sources == done.reference.sources
    assert " ".join(done.reference.sources) == " ".join(words)
    for block in done.hypothesis.blocks:
        assert all(0 <= e.start <= e.end <= len(block.source.split()) for e in block.gold[0])
    if not changes:
        assert gm.edits_compare(hyp, ref, realign=True).comparison.counts.f(0.5) == 1


def test_an_edit_goes_with_its_tokens_and_one_that_is_done_is_left_out():
    edits = (Edit(0, 1, "„"), Edit(2, 3, "goes", "R", ("went",)), Edit(3, 3, "now"))
    hyp = M2File((M2Block.of('" he go', {0: edits}), M2Block.of("Yes yes .", {0: ()})))
    ref = M2File((M2Block("„ he then go Yes yes ."),))
    done = common_sentences(hyp, ref, NAMES)
    (block,) = done.hypothesis.blocks
    assert block.gold == {0: (replace(edits[1], start=3, end=4), replace(edits[2], start=4, end=4))}
    assert (done.counts["other"], done.counts["same"]) == (2, 1)
    assert "1 edits are left out: the reference's source has what they put" in done.notes


def test_goldens_of_documents_cut_anew(shared, tmp_path, capsys):
    """golden/text_level: 196 documents, one side cut anew; blocks by another program."""
    folder = shared / "golden" / "text_level"
    files = ["-hyp", str(folder / "recut.hyp.m2"), "-ref", str(folder / "recut.ref.m2")]
    out = [str(tmp_path / name) for name in NAMES]
    assert main(["edits", "align", *files, "-out-hyp", out[0], "-out-ref", out[1]]) == 0
    assert "blocks\t716\njoined sentences\t202\t177\nwidened edits\t0\n" in capsys.readouterr().out
    blocks = [row.split("\t") for row in (folder / "recut.blocks.tsv").read_text().splitlines()[1:]]
    hyp, ref = map(read_m2, out)
    assert [len(source.split()) for source in ref.sources] == [int(row[3]) for row in blocks]
    assert hyp.sources == ref.sources
    counts = gm.edits_compare(hyp, ref).comparison.counts
    assert (counts.tp, counts.fp, counts.fn) == (1914, 0, 0)
    assert main(["edits", "compare", *files]) == 3
    assert "--realign" in capsys.readouterr().err
    assert main(["edits", "compare", *files, "--realign"]) == 0
    assert "\n1914\t0\t0\t1.0\t1.0\t1.0\n" in capsys.readouterr().out


def test_a_golden_with_a_normalised_source_has_the_same_blocks_and_edits(shared, tmp_path, capsys):
    folder, path = shared / "golden" / "text_level", tmp_path / "hyp.m2"
    lines = (folder / "recut.hyp.m2").read_text("utf-8").split("\n")
    quotes = str.maketrans("„“–", '""-')
    normal = (line.translate(quotes) if line[:2] == "S " else line for line in lines)
    path.write_text("\n".join(normal), "utf-8")
    files = ["-hyp", str(path), "-ref", str(folder / "recut.ref.m2")]
    assert main(["edits", "compare", *files, "--realign"]) == 0
    said = capsys.readouterr().out
    assert "\n1914\t0\t0\t1.0\t1.0\t1.0\n" in said
    assert "716 blocks" in said
    assert "the sources differ in" in said


def test_nothing_to_realign_is_said_and_standard_output_is_the_file(tmp_path, capsys):
    path = tmp_path / "one.m2"
    path.write_text("S a\nA 0 1|||R|||b|||REQUIRED|||-NONE-|||0\n\n")
    both = ["-hyp", str(path), "-ref", str(path)]
    assert main(["edits", "align", *both, "-out-hyp", "-", "-out-ref", str(tmp_path / "r.m2")]) == 0
    said = capsys.readouterr()
    assert said.out == path.read_text() == (tmp_path / "r.m2").read_text()
    assert "nothing to realign" in said.err


@pytest.mark.parametrize(
    "verb",
    [
        "compare -hyp odd.m2 -ref odd.m2",
        "align -hyp odd.m2 -ref odd.m2 -out-hyp a -out-ref b",
        "convert -auto odd.m2 -out a --pipeline plain",
        "split odd.m2 --share 0.5 -out a -test b",
    ],
)
def test_line_ends_and_invisible_characters_are_said_on_stderr(verb, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    block = "S a\u200b b\nA 0 1|||R|||c|||REQUIRED|||-NONE-|||0\n\n"
    (tmp_path / "odd.m2").write_bytes((2 * block).replace("\n", "\r\n").encode())
    assert main(["edits", *verb.split()]) == 0
    said = capsys.readouterr()
    assert "odd.m2: line ends are CR LF" in said.err
    assert "odd.m2: no-break or invisible characters (U+200B x 2)" in said.err
    assert "odd.m2" not in said.out
