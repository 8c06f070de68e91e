"""Essays and documents: reading, what is missing, both levels, goldens."""

from __future__ import annotations

import json

import pytest

import grammeter as gm
from grammeter.cli.main import main
from grammeter.core import DataError, GrammeterError, UnknownNameError
from grammeter.formats.essays import parse_essays
from grammeter.formats.tokenization import splitting

SOURCE = "### essay_id = one\nHe go home .\nI see .\n\n### essay_id = two \nShe go .\n\n"
REFERENCE = SOURCE.replace("go", "goes")
META = "document\tkind\none\tx\none\tx\ntwo\ty\n"
M2 = """S He go home .
A 1 2|||R:VERB|||goes|||REQUIRED|||-NONE-|||0
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||1

S I see .
A 1 2|||R:VERB|||look|||REQUIRED|||-NONE-|||0

S She go .
A 1 2|||R:VERB|||goes|||REQUIRED|||-NONE-|||0

"""


@pytest.fixture
def write(tmp_path):
    def written(name, text):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
        return str(tmp_path / name)

    return written


def read(write, hyp, **options):
    files = {"source": write("src.md", SOURCE), "references": [write("ref.md", REFERENCE)]}
    return gm.read_corpus(**files, systems=[write("hyp.md", hyp)], **options)


def sentences(write, *hyps, **options):
    documents = write("meta.tsv", META) + ":document"
    return gm.read_corpus(
        references=[write("gold.m2", M2)], systems=list(hyps), documents=documents, **options
    )


def test_essays_are_read_as_the_original_reads_them():
    text = "before\n### essay_id = a \n one\n\ntwo\n\n### essay_id = b\n"
    essays = parse_essays(text, "x.md")
    assert essays.texts == {"a": (" one\n\ntwo\n\n", "x.md:2"), "b": ("", "x.md:7")}


@pytest.mark.parametrize("last", ["a", ""])
def test_ids_twice_or_empty_are_refused_with_their_line(last):
    with pytest.raises(DataError, match=r"x\.md:3: "):
        parse_essays(f"### essay_id = a\ntext\n### essay_id = {last}\n", "x.md")


def test_an_essay_is_a_line_whatever_the_order_of_the_output(write):
    one, two = REFERENCE.split("### essay_id = ")[1:]
    corpus = read(write, f"### essay_id = {two}### essay_id = {one}")
    assert corpus.sources == ["He go home . I see .", "She go ."]
    assert corpus.systems["hyp"] == ["He goes home . I see .", "She goes ."]
    assert corpus.documents == ["one", "two"]
    assert corpus.settings == {"level": "text"}
    assert corpus.report == {"texts": {"essays": 2, "missing": {}}}
    assert corpus.notices == ("files with lines '### essay_id = ID' are read as essays",)


@pytest.mark.parametrize("name", ["level", "missing_essay", "missing_reference", "normalise"])
def test_unknown_words_are_refused(write, name):
    with pytest.raises(UnknownNameError, match=r"unknown .* 'nix'"):
        read(write, REFERENCE, **{name: "nix"})


def test_what_stands_before_the_first_essay_is_left_out_and_noted(write):
    corpus = read(write, f"Here are the corrected\nessays:\n\n{REFERENCE}")
    assert corpus.systems["hyp"] == ["He goes home . I see .", "She goes ."]
    (note,) = corpus.notes
    assert note.endswith("hyp.md: what stands before the first essay is left out:"
                         " 'Here are the corrected essays:'")  # fmt: skip


STRANGER = "### essay_id = one\nx\n### essay_id = two\ny\n### essay_id = three\nz\n"


def test_an_essay_that_the_source_lacks_is_refused_with_its_line(write):
    with pytest.raises(DataError, match=r"hyp\.md:5: the source has no essay 'three'"):
        read(write, STRANGER)


@pytest.mark.parametrize(
    "hyp", ["### essay_id = two\ny\n", "### essay_id = one\n\n### essay_id = two\ny"]
)
def test_missing_and_empty_essays(write, hyp):
    with pytest.raises(DataError, match=r"1 of 2 essays are missing or empty: one\n.*bang"):
        read(write, hyp)
    for rule, text in {"bang": "!", "source": "He go home . I see .", "empty": ""}.items():
        corpus = read(write, hyp, missing_essay=rule)
        assert corpus.systems["hyp"] == [text, "y"]
        assert corpus.settings == {"level": "text", "missing-essay": rule}
        assert corpus.report["texts"]["missing"] == {"hyp": ["one"]}
        assert "hyp: 1 of 2 essays are missing" in " ".join(corpus.notes)


@pytest.mark.parametrize(
    ("rule", "text"), [("fewer", None), ("copy-first", "He goes home . I see .")]
)
def test_an_essay_that_a_reference_lacks(write, rule, text):
    refs = [write("ref.md", REFERENCE), write("ref2.md", "### essay_id = two\nShe went .\n")]
    corpus = gm.read_corpus(source=write("src.md", SOURCE), references=refs, missing_reference=rule)
    assert corpus.references[1] == [text, "She went ."]
    assert ("missing-reference" in corpus.settings) == (text is not None)


def test_documents_are_laid_back_on_sentences(write):
    one = "### essay_id = one\nHe goes home .\n\nI see .\n"
    corpus = sentences(write, write("hyp.md", f"### essay_id = two\nShe goes .\n\n{one}"))
    assert corpus.systems["hyp"] == ["He goes home .", "I see .", "She goes ."]
    assert corpus.settings == {"sentences": "laid-back"}
    assert corpus.report["texts"]["placed"] == {
        "hyp": {"documents": 2, "sentences": 3, "empty": 0, "short": 0, "long": 0}
    }


def test_a_folder_of_documents(write, tmp_path):
    """A file with a line for each sentence has these lines, though none is like the source's."""
    write("out/001_one.txt", "x\nHe goes home . I see .\n")
    write("out/two-Best.txt", "She goes .")
    corpus = sentences(write, str(tmp_path / "out"))
    assert corpus.systems["out"] == ["x", "He goes home . I see .", "She goes ."]
    assert (corpus.settings, corpus.report["texts"].get("placed")) == ({}, None)
    write("out/001_one.txt", "\nx\nHe goes home . I see .\n\n")
    assert sentences(write, str(tmp_path / "out")).systems == corpus.systems
    write("out/three.txt", "x")
    with pytest.raises(DataError, match=r"three\.txt: this file is of no document"):
        sentences(write, str(tmp_path / "out"))


def test_empty_short_and_long_sentences_are_counted(write):
    hyp = "### essay_id = one\nHe go home\n### essay_id = two\n" + "She go . " * 3
    placed = sentences(write, write("hyp.md", hyp)).report["texts"]["placed"]["hyp"]
    assert (placed["empty"], placed["short"], placed["long"]) == (1, 0, 1)


def test_a_missing_document_has_its_source_sentences(write):
    hyp = write("hyp.md", "### essay_id = two\nShe goes .")
    corpus = sentences(write, hyp, missing_essay="source")
    assert corpus.systems["hyp"] == ["He go home .", "I see .", "She goes ."]


def test_sentences_are_joined_to_documents(write):
    hyp = write("hyp.txt", "He goes home .\nI look .\nShe go .\n")
    corpus = sentences(write, hyp, level="text")
    assert corpus.systems["hyp"] == ["He goes home . I look .", "She go ."]
    first = [(e.start, e.end, e.correction) for e in corpus.gold[0][0]]
    assert first == [(1, 2, "goes"), (5, 6, "look")]
    assert [e.start for e in corpus.gold[0][1]] == [5]  # of the first, where this one is not listed
    assert corpus.notes[0] == "3 sentences are joined to 2 documents"
    assert "1 times an annotator" in corpus.notes[1]
    assert corpus.references[0] == ["He goes home . I look .", "She goes ."]
    assert len(corpus) == len(corpus.documents) == 2


def test_a_document_of_a_sentence_that_cannot_be_judged_cannot(write):
    documents = write("meta.tsv", META) + ":document"
    refs = [write("table.jsonl", "".join(
        json.dumps({"source": "a", "systems": {"x": "b"}, "references": [ref]}) + "\n"
        for ref in ("b", None, "c")
    ))]  # fmt: skip
    corpus = gm.read_corpus(corpus=refs[0], documents=documents, level="text")
    assert corpus.references == [[None, "c"]]
    assert list(corpus.unjudgeable) == [0]
    assert corpus.systems == {"x": ["b b", "b"]}


def test_a_reference_that_lacks_a_sentence_of_a_document_takes_another_and_says_so(write):
    corpus = sentences(write, write("hyp.txt", "a\nb\nc\n"), level="text", missing_annotator="none")
    assert corpus.references[1] == ["He go home . I look .", None]
    assert "2 times an annotator" in " ".join(corpus.notes)


def test_every_sentence_needs_a_document(write):
    hyps, documents = [write("hyp.txt", "a\nb\nc\n")], write("meta.tsv", "document\na\n\nb\n")
    files = {"references": [write("gold.m2", M2)], "systems": hyps}
    with pytest.raises(DataError, match="1 sentences have no document, the first is sentence 2"):
        gm.read_corpus(**files, documents=f"{documents}:document", level="text")
    short = write("short.tsv", "document\na\n") + ":document"
    with pytest.raises(DataError, match=r"short\.tsv: 1 lines, but .*gold\.m2 has 3"):
        gm.read_corpus(**files, documents=short, level="text")


def test_labels_of_joined_sentences_agree(write):
    kinds = write("kinds.tsv", "kind\nx\ny\ny\n") + ":kind"
    with pytest.raises(
        DataError, match="sentences of the document 'one' have several values of kind"
    ):
        sentences(write, write("hyp.txt", "a\nb\nc\n"), level="text", group_by=kinds)


def test_what_cannot_go_together_is_refused(write, tmp_path):
    gold, hyp = write("gold.m2", M2), write("hyp.md", SOURCE)
    (tmp_path / "out").mkdir()
    documents, refs = write("meta.tsv", META) + ":document", [write("ref.md", SOURCE)]
    lines = write("s.txt", "a\nb\nc\n")
    for options, message in (
        ({"references": [gold], "systems": [hyp]}, r"hyp\.md: essays or documents"),
        ({"references": [gold], "systems": [str(tmp_path / "out")]}, "this is a folder"),
        ({"references": [gold], "level": "text"}, "--level text, and the source has sentences"),
        ({"source": hyp, "level": "sentence"}, "--level sentence, and the source has whole essays"),
        ({"source": lines, "references": refs, "documents": documents}, r"ref\.md: a reference of"),
    ):
        with pytest.raises(GrammeterError, match=message) as caught:
            gm.read_corpus(**options)
        assert "--documents" in str(caught.value) or "--level text" in str(caught.value)


def test_the_command_line_and_what_has_no_effect(write, capsys):
    files = ["-s", write("src.md", SOURCE), "-r", write("ref.md", REFERENCE)]
    hyps = ["--hyps", write("hyp.md", "### essay_id = two\nShe goes .")]
    words = ["score", *files, *hyps, "-m", "gleu", "--format", "json"]
    assert main([*words]) == 3
    assert "missing or empty: one" in capsys.readouterr().err
    assert main([*words, "--missing-essay", "bang", "--missing-reference", "copy-first"]) == 0
    said = capsys.readouterr()
    data = json.loads(said.out)
    assert data["segments"] == 2
    assert data["texts"] == {"essays": 2, "missing": {"hyp": ["one"]}}
    assert "|level:text|missing-essay:bang|" in data["metrics"]["gleu"]["signature"]
    plain = ["score", "-r", write("gold.m2", M2), "--hyps", write("hyp.txt", "a\nb\nc\n")]
    idle = ["--missing-essay bang", "--missing-reference copy-first", "--level sentence"]
    assert main([*plain, "-m", "m2", *" ".join(idle).split()]) == 0
    said = capsys.readouterr().err
    assert all(f"{option.split()[0]} has no effect" in said for option in idle)


def test_syntok_splits_as_in_the_shared_task(shared):
    """golden/text_level/syntok.tsv: syntok 1.4.4 as MultiGEC-2025's scripts use it."""
    rows = (shared / "golden" / "text_level" / "syntok.tsv").read_text("utf-8").splitlines()[1:]
    pairs = [[json.loads(cell) for cell in row.split("\t")] for row in rows]
    split = splitting("syntok")
    assert split.lines(text for text, _ in pairs) == [tokens for _, tokens in pairs]
    assert split.label == "syntok"


@pytest.mark.parametrize("count", [1, 2])
def test_goldens_of_the_shared_task(shared, count):
    """golden/text_level: essays as MultiGEC-2025's functions write them; gleu 1.1.0's figures."""
    folder, golden = shared / "data" / "lang_cs_geccc" / "md", shared / "golden" / "text_level"
    names = ["GPT4o", "Opravidlo", "GPT4o-three-missing"]
    corpus = gm.read_corpus(
        source=folder / "cs-geccc819-orig-test.md",
        references=[folder / f"cs-geccc819-ref{k}-test.md" for k in range(1, count + 1)],
        systems=[folder / f"{name}.md" for name in names],
        tokenize="syntok",
        missing_essay="bang",
    )
    for name, lines in corpus.systems.items():
        theirs = (golden / f"{name}.tmp.txt").read_text("utf-8").splitlines()
        assert lines == [line.strip() for line in theirs]
    expected = json.loads((golden / "figures.json").read_text())
    published = expected["gleu_of_the_protocol_x100"][
        "one_reference" if count == 1 else "two_references"
    ]
    column = gm.score(corpus, ["gleu"])["gleu"]
    assert {name: 100 * column[name].value for name in names} == pytest.approx(
        {name: published[name] for name in names}, abs=6e-5
    )
    assert "|level:text|tok:syntok|missing-essay:bang|" in str(column["GPT4o"].signature)
    assert len(corpus.report["texts"]["missing"]["GPT4o-three-missing"]) == 3


def test_goldens_of_documents_laid_back(shared):
    """golden/raw_outputs/realigned.tsv: all boundaries of two outputs thrown away, found again."""
    data = shared / "data" / "lang_cs_geccc"
    meta, m2 = data / "geccc819.meta.tsv", "m2(row0=head)"
    corpus = gm.read_corpus(
        references=[data / "geccc819.m2"],
        systems=[data / "md" / f"{name}.md" for name in ("Opravidlo", "GPT4o")],
        documents=f"{meta}:document",
        group_by=f"{meta}:domain",
        tokenize="corpus",
        raw=[data / "geccc819.input", data / "geccc819.gold"],
    )
    table = gm.score(corpus, [m2]).to_dict()
    groups = table["groups"]["metrics"][m2] | {"All": table["metrics"][m2]["systems"]}
    header, *rows = (shared / "golden" / "raw_outputs" / "realigned.tsv").read_text().splitlines()
    for name, *cells in (row.split("\t") for row in rows):
        ours = [f"{100 * groups[group][name]['value']:.2f}" for group in header.split("\t")[1:]]
        assert ours == cells


def test_goldens_of_both_levels(shared):
    """Tokenised outputs on GECCC's 819 sentences, M2 (head): text_level.md, section 4."""
    data = shared / "data" / "lang_cs_geccc"
    files = {
        "references": [data / "geccc819.m2"],
        "systems": sorted((data / "tokenised").iterdir()),
    }
    by_level = {
        "sentence": {"ag": 0.6982, "geccc": 0.7468, "synthetic": 0.5181, "Korektor": 0.4471},
        "text": {"ag": 0.6779, "geccc": 0.7253, "synthetic": 0.5015, "Korektor": 0.4298},
    }
    for level, figures in by_level.items():
        corpus = gm.read_corpus(
            **files, documents=f"{data / 'geccc819.meta.tsv'}:document", level=level
        )
        scores = gm.score(corpus, ["m2(row0=head)"])["m2(row0=head)"]
        values = {name.removeprefix("Naplava2022_"): s.value for name, s in scores.items()}
        assert values == pytest.approx(figures, abs=5e-5)
