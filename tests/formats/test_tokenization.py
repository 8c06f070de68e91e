"""Raw outputs: told, split as the corpus or otherwise, and what is reported of it."""

from __future__ import annotations

from importlib.metadata import version

import pytest

import grammeter as gm
from grammeter.formats.tokenization import raw_share

GOLD = """\
S I do n't know him , but he go home .
A 8 9|||R:VERB:SVA|||goes|||REQUIRED|||-NONE-|||0

S It 's a apple .
A 2 3|||R:DET|||an|||REQUIRED|||-NONE-|||0
A 2 3|||R:DET|||the|||REQUIRED|||-NONE-|||1

"""
FILES = {
    "gold.m2": GOLD,
    "source.raw": "I don't know him, but he go home.\nIt's a apple.\n",
    "gold.raw": "I don't know him, but he goes home.\nIt's an apple.\tIt's the apple.\n",
    "out.txt": "I don't know him, but he goes home.\nIt's an apple.\n",
    "tokens.txt": "I do n't know him , but he goes home .\nIt 's an apple .\n",
    "stranger.txt": "He's, well: it's raining; isn't it?\n(No!)\n",
}
TOKENS = FILES["tokens.txt"].splitlines()
RAW = {"tokenize": "corpus", "raw": ["source.raw", "gold.raw"]}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)


def read(*systems, **options):
    return gm.read_corpus(**({"references": ["gold.m2"], "systems": systems} | options))


def said(corpus):
    return "\n".join(corpus.notes), "\n".join(corpus.notices)


def test_an_output_that_looks_raw_is_noted_with_the_option_to_use():
    corpus = read("out.txt", "tokens.txt")
    assert corpus.systems["out"] == FILES["out.txt"].splitlines()
    notes, notices = said(corpus)
    assert "out.txt: looks raw: in 27.3% of its tokens a mark is joined to its word" in notes
    assert "tokens.txt" not in notes
    assert "to split out: --tokenize corpus --raw FILE" in notices
    assert (corpus.settings, corpus.report) == ({}, {})


def test_nothing_is_noted_where_it_is_meant_so_or_the_sources_are_raw():
    for corpus in (
        read("out.txt", tokenize="whitespace"),
        read("tokens.txt"),
        read("out.txt", references=["gold.raw"], source="source.raw"),
    ):
        assert corpus.notes == ()


def test_corpus_gives_the_tokens_of_the_corpus_and_reports():
    corpus = read("out.txt", "tokens.txt", **RAW)
    assert corpus.systems == {"out": TOKENS, "tokens": TOKENS}
    assert corpus.settings == {"tok": "corpus(2+3 lines)"}
    report = corpus.report["tokenization"]
    assert report["files"] == {
        "source.raw": {"texts": 2, "learned": 2},
        "gold.raw": {"texts": 3, "learned": 3},
    }
    assert (report["sources"]["raw"], report["sources"]["share"]) == (2, 1.0)
    assert report["systems"]["tokens"] == {"split": False, "raw_share": 0.0}
    ours = report["systems"]["out"]
    assert (ours["chunks"], ours["unseen"], ours["gaps"], ours["lines_changed"]) == (11, 0, 29, 2)
    notes, notices = said(corpus)
    assert notes == "--tokenize corpus has split out; not raw, left as they are: tokens"
    assert "gold.raw: 3 of 3 texts teach" in notices
    assert "out: 0 of 11 chunks unseen (0.00%)" in notices


def test_what_was_split_stands_in_the_signature_and_in_the_json():
    table = gm.score(read("out.txt", **RAW), ["m2", "gleu"])
    assert table["m2"]["out"].value == 1
    assert [column.signature["tok"] for column in table.columns.values()] == 2 * [
        "corpus(2+3 lines)"
    ]
    assert table.to_dict()["tokenization"]["systems"]["out"]["split"] is True


def test_strange_text_is_doubted_even_if_quiet():
    notes, _ = said(read("stranger.txt", **RAW))
    assert "stranger: 7 of 7 chunks unseen (100.00%, above 15%: its tokens are doubtful" in notes
    assert "gaps below third context" in notes


def test_without_raw_outputs_the_option_says_that_it_did_nothing():
    corpus = read("tokens.txt", **RAW)
    assert said(corpus)[0] == "--tokenize corpus has no effect: no output looks raw"
    assert corpus.settings == {}


def test_raw_references_alone_teach_and_texts_count_as_tokens():
    corpus = read("out.txt", tokenize="corpus", raw=["gold.raw"])
    assert corpus.systems["out"] == TOKENS
    assert corpus.settings["tok"] == "corpus(3 lines)"
    assert corpus.report["tokenization"]["sources"]["raw"] == 0
    of_texts = {"source": "tokens.txt", "references": ["tokens.txt"], "tokenize": "corpus"}
    assert read("out.txt", raw=["gold.raw"], **of_texts).systems["out"] == TOKENS


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"tokenize": "corpus"}, gm.UsageError, "--raw FILE.*spacy:NAME"),
        ({"raw": ["gold.raw"]}, gm.UsageError, "--raw.*no use with --tokenize none"),
        ({"raw": ["gold.raw"], "tokenize": "chars"}, gm.UsageError, "no use"),
        ({"tokenize": "corpsu"}, gm.UsageError, "Did you mean 'corpus'"),
        ({"tokenize": "spacy"}, gm.UsageError, "no tokeniser is spelled 'spacy'"),
        ({"tokenize": "chars:x"}, gm.UsageError, "no tokeniser is spelled 'chars:x'"),
        ({"tokenize": "spacy:qq"}, gm.MissingResourceError, "language 'qq'"),
        ({"tokenize": "spacy:no_such"}, gm.MissingResourceError, "no pipeline 'no_such'"),
        (RAW | {"raw": ["gold.m2"]}, gm.DataError, "gold.m2: 7 lines, but gold.m2 has 2"),
        (RAW | {"raw": ["stranger.txt"]}, gm.DataError, "stranger.txt: none of its texts"),
        (RAW | {"raw": ["none.raw"]}, gm.DataError, "there is no such file"),
    ],
)
def test_refusals(options, error, words):
    with pytest.raises(error, match=f"(?s){words}"):
        read("out.txt", **options)


def test_a_token_over_white_space_is_refused_with_its_line(tmp_path):
    (tmp_path / "wide.raw").write_text("I don't know him, but he go home.\nIt's a app le.\n")
    with pytest.raises(gm.DataError, match=r"wide\.raw:2: a token of the source has white space"):
        read("out.txt", tokenize="corpus", raw=["wide.raw"])


def test_standard_input_is_read_once():
    with pytest.raises(gm.UsageError, match="standard input is read twice"):
        read("-", tokenize="corpus", raw=["-"])


def test_a_table_and_a_corpus_in_memory_are_split_too(tmp_path):
    corpus = read("out.txt")
    gm.formats.write_records(tmp_path / "all.jsonl", corpus)
    table = gm.read_corpus(corpus="all.jsonl", tokenize="corpus", raw=["source.raw"])
    raw = {"source.raw": FILES["source.raw"].splitlines()}
    again = gm.formats.tokenised(corpus, "corpus", raw)
    assert table.systems == again.systems == {"out": TOKENS}


def test_few_texts_of_this_corpus_are_noted(tmp_path):
    (tmp_path / "few.raw").write_text("I don't know him, but he go home.\nOf another corpus.\n")
    notes, _ = said(read("out.txt", tokenize="corpus", raw=["few.raw"]))
    assert "few.raw: 1 of 2 texts teach how the corpus is tokenised" in notes


def test_characters_split_outputs_and_without_gold_edits_sources_and_references_too():
    corpus = read("out.txt", tokenize="chars")
    assert corpus.sources[1] == "It 's a apple ."
    assert corpus.systems["out"][1] == "I t ' s a n a p p l e ."
    corpus = read(
        "out.txt", tokenize="chars", source="source.raw", references=["out.txt", "tokens.txt"]
    )
    assert corpus.sources[1] == "I t ' s a a p p l e ."
    assert [texts[1] for texts in corpus.references] == 2 * ["I t ' s a n a p p l e ."]
    assert corpus.settings == {"tok": "chars"}
    assert said(corpus)[0] == "--tokenize chars has split sources, references, out"


def test_tokens_of_the_corpus_that_a_tokeniser_would_split_are_noted():
    assert "chars: in 100.0% of the source sentences this splits the corpus'" in said(
        read("out.txt", tokenize="chars"))[0]  # fmt: skip
    assert "splits the corpus" not in "".join(said(read("out.txt", tokenize="spacy:en")))


def test_a_raw_text_with_odd_ends_and_characters_is_noted(tmp_path):
    (tmp_path / "odd.raw").write_bytes(
        "\ufeffI don't know him,\u00a0but he go home.\r\nIt's a apple.\r\n".encode()
    )
    corpus = read("out.txt", tokenize="corpus", raw=["odd.raw", "gold.raw"])
    assert corpus.systems["out"] == TOKENS
    notes, notices = said(corpus)
    assert "odd.raw: no-break or invisible characters (U+00A0 x 1), first in line 1" in notes
    assert "odd.raw: begins with a byte order mark" in notices
    assert "odd.raw: line ends are CR LF" in notices


def test_a_byte_order_mark_inside_a_raw_output_is_left_out_and_said(tmp_path):
    text = FILES["out.txt"].replace("It's", "\ufeffIt's")
    (tmp_path / "joined.txt").write_text(text, encoding="utf-8")
    corpus = read("joined.txt", **RAW)
    assert corpus.systems["joined"] == TOKENS
    assert "joined.txt: no-break or invisible characters (U+FEFF x 1)" in said(corpus)[0]


def test_chinese_is_hinted_to_characters(tmp_path):
    (tmp_path / "zh.txt").write_text("我 喜 欢 。\n", encoding="utf-8")
    (tmp_path / "raw.txt").write_text("我喜欢。\n", encoding="utf-8")
    corpus = gm.read_corpus(source="zh.txt", references=["zh.txt"], systems=["raw.txt"])
    assert "looks raw" in said(corpus)[0]
    assert "--tokenize chars" in said(corpus)[1]


def test_spacy_splits_by_a_language_or_a_pipeline():
    corpus = read("out.txt", tokenize="spacy:en")
    assert corpus.systems["out"] == TOKENS
    assert corpus.settings["tok"] == f"spacy:en-{version('spacy')}"
    assert "|tok:spacy:en-" in str(gm.score(corpus, ["m2"])["m2"].signature)
    folder = gm.errant.shipped_pipeline()
    corpus = read("out.txt", tokenize=f"spacy:{folder}")
    assert corpus.systems["out"] == TOKENS
    assert corpus.settings["tok"].startswith("spacy:en_ud_sm-")


def test_share_of_joined_marks():
    assert raw_share(["He goes home.", "Yes, he does ."]) == 2 / 7
    assert raw_share(["3.5 U.S. 10: -", ""]) == 0
    assert raw_share([]) == 0


DOMAINS = ("NF", "NWI", "R", "SL")


@pytest.fixture(scope="module")
def czech(shared):
    data = shared / "data" / "lang_cs_geccc"
    return gm.read_corpus(
        references=[data / "geccc819.m2"],
        systems=[data / "raw" / "Opravidlo.txt", data / "raw" / "GPT4o.txt"],
        tokenize="corpus",
        raw=[data / "geccc819.input", data / "geccc819.gold"],
        documents=f"{data / 'geccc819.meta.tsv'}:document",
        group_by=f"{data / 'geccc819.meta.tsv'}:domain",
    )


def test_sources_come_out_held_out_by_document(czech):
    sources = czech.report["tokenization"]["sources"]
    assert (sources["raw"], sources["share"]) == (819, 1.0)
    held = sources["held_out"]
    assert (held["parts"], held["by"]) == (10, "document")
    assert (held["lines"], held["chunks"], held["of_chunks"]) == (791, 8816, 8855)


def test_published_cells_come_out(czech, shared):
    """M2 F0.5 by strakova/gec_tool_comparison: their scorer is a fork of its head."""
    _, *rows = (shared / "golden" / "raw_outputs" / "cells.tsv").read_text("utf-8").splitlines()
    published = {
        system: list(map(float, cells[:5]))
        for system, tokens, *cells in (row.split("\t") for row in rows)
        if tokens == "published"
    }
    domains = czech.groups["domain"]
    chosen = [[i for i, name in enumerate(domains) if name == one] for one in DOMAINS]
    for system, cells in published.items():
        ours = []
        for lines in [*chosen, range(len(czech))]:
            corpus = gm.Corpus(
                sources=[czech.sources[i] for i in lines],
                gold=[czech.gold[i] for i in lines],
                systems={system: [czech.systems[system][i] for i in lines]},
            )
            value = gm.score(corpus, ["m2(row0=head)"])["m2(row0=head)"][system].value
            ours.append(round(100 * value, 2))
        assert ours == cells
