"""Labels of sentences: from tables, M2 files and texts, by sentence and by document."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammeter.core import DataError, UsageError
from grammeter.formats import Corpus, format_m2, read_corpus
from grammeter.formats.labels import key_of, read_labels
from grammeter.formats.m2 import parse_m2

M2 = """\
# domain = NF
# note =
S a b

# domain = R

# sex = F
S c
A 0 1|||X|||d|||REQUIRED|||-NONE-|||0

S e
# domain =
"""
FILES = {
    "src.txt": "a b\nc\ne\n",
    "meta.tsv": "document\tdomain\tsex\nd1\tNF\tF\nd1\tNF\t\nd2\tR\tM\n",
    "short.tsv": "domain\nNF\nNF\n",
    "by_document.tsv": "id\tlevel\nd2\tB1\nd1\tA2\nd9\tC1\n",
    "twice.tsv": "id\tlevel\nd1\tB1\nd1\tA2\n",
    "meta.jsonl": '{"domain": "NF"}\n{"domain": "R"}\n{"domain": "R"}\n',
    "gold.m2": M2.removesuffix("# domain =\n"),
    "keys.txt": "# domain = NF\na b\nc\n# domain = R\n\n# plain\n",
    "essays.md": "### essay_id = one \r\na b\r\n\r\nc\r\n\r\n### essay_id = two\r\ne\r\n\r\n",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("spelled", "labels"),
    [
        ("meta.tsv:domain", {"domain": ["NF", "NF", "R"]}),
        ("meta.tsv:domain,sex", {"domain": ["NF", "NF", "R"], "sex": ["F", "(none)", "M"]}),
        ("meta.jsonl:domain", {"domain": ["NF", "R", "R"]}),
        ("gold.m2:domain", {"domain": ["NF", "R", "R"]}),
        ("gold.m2:sex", {"sex": ["(none)", "F", "F"]}),
        ("keys.txt:domain", {"domain": ["NF", "NF", "R", "R"]}),
        ("essays.md:essay_id", {"essay_id": ["one", "one", "one", "two"]}),
        ("by_document.tsv:level@document", {"level": ["A2", "A2", "B1"]}),
    ],
)
def test_a_label_a_sentence(spelled: str, labels: dict[str, list[str]]) -> None:
    assert read_labels(spelled, documents=["d1", "d1", "d2"])[0] == labels


def test_a_missing_label_is_said_once() -> None:
    notices = read_labels("meta.tsv:domain,sex")[1]
    assert notices == ["meta.tsv: 1 of 3 sentences have no sex: they are (none)"]


@pytest.mark.parametrize(
    ("spelled", "words"),
    [
        ("meta.tsv:cefr", "domain"),
        ("gold.m2:cefr", "domain"),
        ("twice.tsv:level@document", "twice.tsv:3: the document 'd1' comes twice"),
        ("none.tsv:domain", "no such file"),
        ("keys.txt:domain@document", "keys.txt"),
    ],
)
def test_faults_are_named(spelled: str, words: str) -> None:
    with pytest.raises(DataError, match=words):
        read_labels(spelled, documents=["d1", "d1", "d2"])


def test_a_document_that_the_table_lacks() -> None:
    with pytest.raises(DataError, match=r"by_document.tsv: 1 documents have no line: d3"):
        read_labels("by_document.tsv:level@document", documents=["d1", "d3"])


@pytest.mark.parametrize("spelled", ["meta.tsv", ":domain", "meta.tsv:", "meta.tsv:sex,sex"])
def test_what_names_no_file_and_column(spelled: str) -> None:
    with pytest.raises(UsageError, match="FILE:COLUMN"):
        read_labels(spelled)


def test_labels_of_documents_need_documents() -> None:
    with pytest.raises(UsageError, match="--documents"):
        read_labels("by_document.tsv:level@document")


def test_a_corpus_with_documents_and_groups() -> None:
    corpus = read_corpus(
        source="src.txt", documents="meta.tsv:document", group_by="by_document.tsv:level@document"
    )
    assert list(corpus.documents) == ["d1", "d1", "d2"]
    assert corpus.groups == {"level": ["A2", "A2", "B1"]}
    assert "3 sentences of 2 documents" in corpus.notes[-1]
    again = Corpus.from_dict(corpus.to_dict())
    assert (again.documents, again.groups) == (corpus.documents, corpus.groups)


def test_crossed_labels() -> None:
    corpus = read_corpus(source="src.txt", group_by="meta.tsv:domain,sex")
    assert corpus.group_labels == ["NF, F", "NF, (none)", "R, M"]


def test_the_number_of_labels_is_checked() -> None:
    with pytest.raises(DataError, match=r"short.tsv: 2 lines, but src.txt has 3"):
        read_corpus(source="src.txt", group_by="short.tsv:domain")


def test_keys_in_a_labelled_text_are_no_sentences() -> None:
    corpus = read_corpus(source="keys.txt", group_by="keys.txt:domain")
    assert corpus.sources == ["a b", "c", "", "# plain"]
    assert len(read_corpus(source="keys.txt")) == 6


def test_essays_in_a_labelled_text() -> None:
    corpus = read_corpus(source="essays.md", documents="essays.md:essay_id")
    assert corpus.sources == ["a b", "", "c", "e"]
    assert corpus.documents == ["one", "one", "one", "two"]


def test_keys_of_m2_are_kept() -> None:
    text = format_m2(parse_m2(FILES["gold.m2"], "gold.m2").blocks)
    assert text.replace("\n\n", "\n") == FILES["gold.m2"].replace("\n\n", "\n")
    with pytest.raises(DataError, match="outside a block"):
        parse_m2("# no key\nS a\n", "x.m2")


@given(st.text("ab #", max_size=5), st.text("ab =", max_size=5))
def test_a_line_of_a_key(key: str, value: str) -> None:
    pair = key_of(f"# {key} = {value}")
    name = key.strip()
    assert pair == ((name, value.strip()) if name and name[0] != "#" else None)
