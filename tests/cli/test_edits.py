"""The verb ``edits``, called as the main program calls it."""

from __future__ import annotations

import contextlib
import io
import json
import sys
import warnings

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fake_annotator import FakeAnnotator
from grammeter.cli.parser import parser_of
from grammeter.core import DataError, LengthMismatchError, UsageError
from grammeter.verbs import _edits


def parse(*arguments):
    return parser_of("edits").parse_args([str(argument) for argument in arguments])


def call(*arguments):
    args = parse(*arguments)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = args.run(args) or 0
    assert code == 0
    return out.getvalue()


@pytest.fixture
def fake(monkeypatch):
    made = FakeAnnotator()
    made.opened = []

    def opened(pipeline, *, rules=None, merge, lev):
        made.opened.append((pipeline, merge, lev))
        return made

    monkeypatch.setattr(_edits.errant, "annotator", opened)
    return made


@pytest.fixture
def write(tmp_path):
    def written(name, *lines):
        path = tmp_path / name
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return path

    return written


def edit(span, kind, correction, annotator=0):
    return f"A {span}|||{kind}|||{correction}|||REQUIRED|||-NONE-|||{annotator}"


# extract


def test_extract(fake, write, tmp_path, capsys):
    source = write("src.txt", "a b c", "", "a  b", "d e", "f")
    first = write("one.txt", "a x c", "new", "a b", "d e ", "f")
    second = write("two.txt", "a b c", "", "a  b", "d  e", "g f")
    out = tmp_path / "out.m2"
    assert call("extract", "-orig", source, "-cor", first, second, "-out", out) == ""
    assert out.read_text("utf-8").split("\n") == [
        "S a b c", edit("1 2", "R:OTHER", "x", 0), edit("-1 -1", "noop", "-NONE-", 1), "",
        "S a b", edit("-1 -1", "noop", "-NONE-", 0), "",  # only white space differs: no line
        "S d e", edit("-1 -1", "noop", "-NONE-", 0), "",
        "S f", edit("-1 -1", "noop", "-NONE-", 0), edit("0 0", "M:OTHER", "g", 1), "", "",
    ]  # fmt: skip
    assert capsys.readouterr().err == (
        f"note: 1 empty lines of {source} are left out\nnote: a fake pipeline\n"
    )
    assert fake.opened == [(None, "rules", False)]


def test_extract_to_standard_output_says_what_counts_quiet_or_not(fake, write, capsys):
    source = write("src.txt", "a b c")
    text = call("extract", "-orig", source, "-cor", source, "-out", "-", "--quiet")
    assert text == f"S a b c\n{edit('-1 -1', 'noop', '-NONE-')}\n\n"
    assert capsys.readouterr().err == "note: a fake pipeline\n"


def test_options_of_the_annotator(fake, write):
    source = write("src.txt", "a b c")
    files = ("-orig", source, "-cor", source, "-out", "-")
    call("extract", *files, "-lev", "-merge", "all-split", "--pipeline", "some/where")
    assert fake.opened == [("some/where", "all-split", True)]


def test_texts_are_brought_to_one_unicode_form(write, capsys):
    source, corrected = write("src.txt", "cafe\u0301 x\r"), write("cor.txt", "caf\u00e9 x")
    files = ("-orig", source, "-cor", corrected, "-out", "-", "--pipeline", "plain")
    assert edit("0 1", "R", "caf\u00e9") in call("extract", *files)
    said = capsys.readouterr().err
    assert f"{source}: line ends are CR LF" in said
    assert f"{source}: not in Unicode form NFC" in said
    assert edit("-1 -1", "noop", "-NONE-") in call("extract", *files, "--normalise", "NFC")


@pytest.mark.parametrize("parse", ["none.conllu", "none", "."])
def test_a_parse_that_is_no_file(write, parse, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    source = write("src.txt", "a b c")
    with pytest.raises(DataError, match=f"{parse}: there is no such file"):
        call("extract", "-orig", source, "-cor", source, "-out", "-", "--parse", parse)


def test_m2_is_no_text(fake, write, tmp_path):
    text, m2 = write("a.txt", "a b"), write("a.m2", "S a b", edit("0 1", "R:NOUN", "x"))
    for orig, cor in ((m2, text), (text, m2)):
        with pytest.raises(DataError, match="M2 where a text belongs"):
            call("extract", "-orig", orig, "-cor", cor, "-out", tmp_path / "out.m2")


def test_unequal_texts_are_refused_and_nothing_is_written(fake, write, tmp_path):
    source, short = write("src.txt", "a", "b", "c"), write("short.txt", "a", "b")
    out = tmp_path / "out.m2"
    with pytest.raises(LengthMismatchError) as caught:
        call("extract", "-orig", source, "-cor", source, short, "-out", out)
    assert f"{short}: 2 lines, but {source} has 3" in str(caught.value)
    assert not out.exists()


# convert

GOLD = (
    "S a b c d",
    edit("2 3", "Nn", "x||y", 0),
    edit("0 1", "Um", "", 0),
    edit("-1 -1", "noop", "-NONE-", 2),
    "",
    "S e ",
    "",
    "S f g",
    edit("1 2", "ArtOrDet", "-NONE-", 1),
)


@pytest.mark.parametrize(("flag", "kind"), [("-auto", "R:AUTO"), ("-gold", "R:GOLD")])
def test_convert(fake, write, flag, kind):
    assert call("convert", flag, write("gold.m2", *GOLD), "-out", "-").split("\n") == [
        "S a b c d", edit("0 1", kind, "", 0), edit("2 3", kind, "x", 0),
        edit("-1 -1", "noop", "-NONE-", 2), "",
        "S e", "",
        "S f g", edit("1 2", kind, "", 1), "", "",
    ]  # fmt: skip


def test_convert_options(fake, write):
    gold = write("gold.m2", *GOLD)
    call("convert", "-gold", gold, "-out", "-")
    call("convert", "-gold", gold, "-out", "-", "-no_min", "-old_cats", "-merge", "all-merge")
    assert [made[1:] for made in fake.calls] == [(True, False), (False, True)]
    assert fake.opened[1] == (None, "all-merge", False)


def test_overlapping_edits_are_refused_or_reported(fake, write, capsys):
    gold = write(
        "gold.m2", "S a b c", edit("0 2", "Nn", "x"), edit("1 3", "Nn", "y"),
        edit("1 2", "Um", ""),
    )  # fmt: skip
    with pytest.raises(DataError, match="sentence 1: annotator 0: 1 edits overlap an earlier one"):
        call("convert", "-gold", gold, "-out", "-")
    text = call("convert", "-gold", gold, "-out", "-", "--lenient")
    assert text.count("R:GOLD") == 3  # all are passed on: the annotator knows how the original does
    assert "1 edits overlap an earlier one; passed over" in capsys.readouterr().err


# with a real pipeline: golden/errant has what errant_parallel and errant_m2 of errant 3.0.2 write


@pytest.fixture
def pipeline(shared, monkeypatch):
    pytest.importorskip("spacy")
    monkeypatch.setenv("GRAMMETER_CACHE", "off")
    return shared / "data" / "spacy_en_ud_sm" / "base"


def test_extract_equals_the_original(shared, pipeline, tmp_path):
    data, out = shared / "data" / "conll14_test", tmp_path / "out.m2"
    outputs = data / "official_systems" / "UFC"
    call("extract", "-orig", data / "source.txt", "-cor", outputs, "-out", out,
         "--pipeline", pipeline)  # fmt: skip
    assert out.read_bytes() == (shared / "golden" / "errant" / "UFC.m2").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["auto", "gold"])
def test_convert_equals_the_original(shared, pipeline, tmp_path, kind):
    data, out = shared / "data" / "conll14_test" / "noalt", tmp_path / "out.m2"
    name = "official-2014.combined"
    call("convert", f"-{kind}", data / f"{name}.m2", "-out", out, "--pipeline", pipeline)
    assert out.read_bytes() == (shared / "golden" / "errant" / f"{name}.{kind}.m2").read_bytes()


def test_raw_text_is_tokenised_by_the_pipeline(pipeline, write):
    """The tokens and offsets are those of errant_parallel -tok, which keeps double spaces, too."""
    source = write("src.txt", "I don't  know, he said.", "No!")
    other = write("cor.txt", "I didn't know, he said.", "No!")
    text = call("extract", "-orig", source, "-cor", other, "-out", "-", "-tok",
                "--pipeline", pipeline)  # fmt: skip
    assert text.split("\n") == [
        "S I do n't know , he said .", edit("1 2", "R:VERB:TENSE", "did"), "",
        "S No !", edit("-1 -1", "noop", "-NONE-"), "", "",
    ]  # fmt: skip


# compare: the figures of golden/errant/compare are what errant_compare of errant 3.0.2 prints

FLAGS = {
    "": [],
    ".b1.ds": ["-b", "1.0", "-ds"],
    ".dt.cat1": ["-dt", "-cat", "1"],
    ".cse.cat3": ["-cse", "-cat", "3"],
    ".single.cat2": ["-single", "-cat", "2"],
    ".filt": ["-filt", "R:NOUN:NUM", "M:DET"],
}


@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("reference", ["auto", "gold"])
@pytest.mark.parametrize("system", ["AMU", "CAMB", "INPUT"])
def test_compare_prints_what_the_original_prints(shared, system, reference, flags):
    folder = shared / "golden" / "errant"
    expected = (folder / "compare" / f"{system}.{reference}{flags}.txt").read_text("utf-8")
    files = folder / f"{system}.m2", folder / f"official-2014.combined.{reference}.m2"
    assert call("compare", "-hyp", files[0], "-ref", files[1], *FLAGS[flags]) == expected


VERBOSE = """\
----------------------------------------
Original sentence 0: a b c
----------------------------------------
SENTENCE 0 - HYP 0 - REF 0
HYPOTHESIS EDITS : [(0, 1, '', 'U:DET'), (2, 2, 'x', 'M:PREP')]
REFERENCE EDITS  : [(0, 1, '', 'U:DET')]
Local TP/FP/FN   : 1 1 0
Local P/R/F0.5  : 0.5 1.0 0.5556
Global TP/FP/FN  : 1 1 0
Global P/R/F0.5  : 0.5 1.0 0.5556
----------------------------------------
SENTENCE 0 - HYP 0 - REF 1
HYPOTHESIS EDITS : [(0, 1, '', 'U:DET'), (2, 2, 'x', 'M:PREP')]
REFERENCE EDITS  : []
Local TP/FP/FN   : 0 2 0
Local P/R/F0.5  : 0.0 1.0 0.0
Global TP/FP/FN  : 0 2 0
Global P/R/F0.5  : 0.0 1.0 0.0
----------------------------------------
^^ HYP 0, REF 0 chosen for sentence 0
Local results:
   Category   TP   FP   FN
      U:DET    1    0    0
     M:PREP    0    1    0

=========== Span-Based Correction ============
TP	FP	FN	Prec	Rec	F0.5
1	1	0	0.5	1.0	0.5556
==============================================

"""
HYPOTHESIS = ("S a b c", edit("0 1", "U:DET", ""), edit("2 2", "M:PREP", "x"))
REFERENCE = ("S a b c", edit("0 1", "U:DET", ""), edit("-1 -1", "noop", "-NONE-", 1))


def test_compare_sentence_by_sentence(write):
    """The text is what errant_compare of errant 3.0.2 prints."""
    files = write("hyp.m2", *HYPOTHESIS), write("ref.m2", *REFERENCE)
    assert call("compare", "-hyp", files[0], "-ref", files[1], "-v") == VERBOSE


def test_compare_as_json(write, tmp_path):
    files = write("hyp.m2", *HYPOTHESIS), write("ref.m2", *REFERENCE)
    out = tmp_path / "x.json"
    text = call(
        "compare", "-hyp", files[0], "-ref", files[1], "-cat", 1, "--format", "json", "-o", out
    )
    data = json.loads(text)
    assert json.loads(out.read_text("utf-8")) == data
    assert (data["kind"], data["mode"], data["segments"]) == (
        "edit-comparison",
        "span-correction",
        1,
    )
    assert data["parts"] == {"precision": 0.5, "recall": 1.0, "tp": 1, "fp": 1, "fn": 0}
    assert data["value"] == pytest.approx(5 / 9)
    assert data["types"]["M"]["fp"] == 1


@pytest.mark.parametrize(("flags", "said"), [(["-cat", "1"], True), (["-cse"], True), ([], False)])
def test_types_of_two_schemes_are_named(write, flags, said):
    one = write("h.m2", "S a b", edit("0 1", "R:NOUN", "x"))
    other = write("r.m2", "S a b", edit("0 1", "Nn", "x"))
    assert ("another scheme (Nn)" in call("compare", "-hyp", one, "-ref", other, *flags)) is said
    assert "scheme" not in call("compare", "-hyp", one, "-ref", one, *flags)


def test_both_ways_to_write_a_deletion_are_one(write):
    one = write("one.m2", "S a b", edit("0 1", "U:DET", ""))
    other = write("other.m2", "S a b", edit("0 1", "U:DET", "-NONE-"))
    assert "\n1\t0\t0\t" in call("compare", "-hyp", one, "-ref", other)


def test_unequal_or_different_files_are_refused(write, capsys):
    two = write("two.m2", "S a", "", "S b")
    one, other = write("one.m2", "S a"), write("other.m2", "S a", "", "S c")
    with pytest.raises(LengthMismatchError, match=r"two\.m2: 2 lines, but .*one\.m2 has 1"):
        call("compare", "-hyp", two, "-ref", one)
    with pytest.raises(DataError, match="sentence 2: other tokens than in"):
        call("compare", "-hyp", two, "-ref", other)
    assert "passed over" in call("compare", "-hyp", two, "-ref", other, "--lenient")


def test_faulty_lines_have_file_and_line(write):
    good, bad = write("good.m2", "S a"), write("bad.m2", "S a", "A 0 9|||X|||y|||R|||N|||0")
    with pytest.raises(DataError, match=r"bad\.m2:2: edit 0 9 lies outside"):
        call("compare", "-hyp", good, "-ref", bad)
    with pytest.raises(DataError, match="no such file"):
        call("compare", "-hyp", "nowhere.m2", "-ref", good)


@pytest.mark.parametrize("beta", ["0", "nan", "1e200"])
def test_beta_out_of_range(write, beta):
    good = write("good.m2", "S a")
    with pytest.raises(UsageError, match="-b"):
        call("compare", "-hyp", good, "-ref", good, "-b", beta)


@pytest.mark.parametrize(
    "arguments",
    [
        "", "extract -orig x -cor y", "convert x -out y",
        "convert -auto -gold x -out y", "compare -hyp x", "compare -hyp x -ref y -dt -ds",
        "compare -hyp x -ref y -cat 4", "extract -orig x -cor y -out z -merge some",
    ],
)  # fmt: skip
def test_wrong_usage_exits_with_2(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        parse(*arguments.split())
    assert caught.value.code == 2
    assert capsys.readouterr().out == ""


# compare against the package itself, where it is installed

SENTENCES = ("a", "a b", "a b c")
TYPES = ("R:NOUN", "M:DET", "R:NOUN:NUM", "UNK")


@st.composite
def blocks(draw, size, annotators):
    lines = []
    for annotator in range(annotators):
        result = draw(st.integers(0, 3))
        if not result and draw(st.booleans()):
            lines.append(edit("-1 -1", "noop", "-NONE-", annotator))
        for _ in range(result):
            start = draw(st.integers(0, size))
            end = draw(st.integers(start, size))
            kind, text = draw(st.sampled_from(TYPES)), draw(st.sampled_from(["", "x", "x y"]))
            lines.append(edit(f"{start} {end}", kind, text, annotator))
    return lines


@st.composite
def two_files(draw):
    sources = draw(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=4))
    return [
        "\n\n".join(
            "\n".join([f"S {source}", *draw(blocks(len(source.split()), annotators))])
            for source in sources
        )
        + "\n\n"
        for annotators in (draw(st.integers(1, 2)), draw(st.integers(1, 3)))
    ]


FLAGS_OF_THE_PACKAGE = st.tuples(
    st.sampled_from(["", "-dt", "-ds", "-cs", "-cse"]),
    st.sampled_from(["", "-single", "-multi", "-single -multi"]),
    st.sampled_from(["", "-cat 1", "-cat 2", "-cat 3"]),
    st.sampled_from(["", "-filt M:DET UNK"]),
    st.sampled_from(["", "-b 2", "-b 0.3"]),
    st.sampled_from(["", "-v"]),
).map(lambda flags: " ".join(flags).split())


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(two_files(), FLAGS_OF_THE_PACKAGE)
def test_compare_equals_the_package(tmp_path_factory, texts, flags):
    folder = tmp_path_factory.mktemp("m2")
    files = folder / "hyp.m2", folder / "ref.m2"
    for path, text in zip(files, texts, strict=True):
        path.write_text(text, encoding="utf-8")
    arguments = ["-hyp", str(files[0]), "-ref", str(files[1]), *flags]
    assert call("compare", *arguments) == printed_by_the_package(arguments)


@pytest.mark.slow
@pytest.mark.parametrize("flags", FLAGS)
def test_compare_of_all_systems_equals_the_package(shared, flags):
    golden = shared / "golden" / "errant"
    reference = golden / "official-2014.combined.auto.m2"
    systems = sorted((shared / "data" / "conll14_test" / "official_systems").iterdir())
    assert len(systems) == 13
    for path in systems:
        files = ["-hyp", str(golden / f"{path.name}.m2"), "-ref", str(reference)]
        arguments = [*files, *FLAGS[flags]]
        assert call("compare", *arguments) == printed_by_the_package(arguments), path.name


def printed_by_the_package(arguments):
    original = pytest.importorskip("errant.commands.compare_m2")
    remaining, sys.argv = sys.argv, ["errant_compare", *arguments]
    try:
        with contextlib.redirect_stdout(io.StringIO()) as out, warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # it leaves its files open
            original.main()
    finally:
        sys.argv = remaining
    return out.getvalue()
