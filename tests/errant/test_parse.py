"""Pipelines, batched parsing, and parses on disk."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from grammeter.core import MissingResourceError, UsageError, cache_folder
from grammeter.errant import pipelines
from grammeter.errant.parse import FILE, ParseCache, Parser, idle_without_dependencies
from grammeter.errant.pipelines import find_pipeline, shipped_pipeline
from grammeter.errant.tokens import Tokens, split

SENTENCES = [
    split(text)
    for text in (
        "She go to school every days .",
        "She goes to school every day .",
        "I have n't seen the dogs ' house .",
        "Running quickly , they was caught",
        "ok",
        "",
    )
]


@pytest.fixture(scope="module")
def parser():
    pytest.importorskip("spacy")
    return Parser(find_pipeline(str(shipped_pipeline())))


class Unloadable(Parser):
    """A parser for which everything must be cached."""

    @property
    def _nlp(self):
        raise AssertionError("spaCy was asked")


def columns(tokens: Tokens):
    return (tokens.lemmas, tokens.pos, tokens.tags, tokens.deps, tokens.heads)


class TestPipelines:
    def test_the_shipped_one_is_the_one_that_was_made(self, shared):
        theirs = find_pipeline(str(shared / "data" / "spacy_en_ud_sm" / "base"))
        ours = find_pipeline(str(shipped_pipeline()))
        assert ours.hash == theirs.hash == "61014c813ee62b6c"
        assert (ours.name, ours.version, ours.language) == ("en_ud_sm", "0.1.0", "en")
        assert ours.notice is None

    def test_hash_depends_on_content_not_place(self, tmp_path):
        copy = tmp_path / "copy"
        shutil.copytree(shipped_pipeline(), copy)
        assert find_pipeline(str(copy)).hash == find_pipeline(str(shipped_pipeline())).hash
        (copy / "tagger" / "cfg").write_text("{}")
        assert find_pipeline(str(copy)).hash != find_pipeline(str(shipped_pipeline())).hash

    def test_default_without_the_usual_one_has_a_notice(self, monkeypatch):
        monkeypatch.setattr(pipelines, "_installed", lambda _package: None)
        result = find_pipeline()
        assert result.folder == shipped_pipeline()
        assert "not comparable" in result.notice
        assert "\n" not in result.notice

    def test_default_is_the_usual_one_where_installed(self, tmp_path, monkeypatch):
        package = tmp_path / "en_core_web_sm"
        data = package / "en_core_web_sm-3.8.0"
        data.mkdir(parents=True)
        meta = json.dumps({"lang": "en", "name": "core_web_sm", "version": "3.8.0"})
        for folder in (package, data):
            (folder / "meta.json").write_text(meta)
        (package / "__init__.py").write_text("raise AssertionError('imported')")
        monkeypatch.syspath_prepend(str(tmp_path))
        result = find_pipeline()
        assert (result.name, result.version, result.folder) == ("en_core_web_sm", "3.8.0", data)
        assert result.notice is None
        assert find_pipeline("en_core_web_sm") == find_pipeline(str(package)) == result

    @pytest.mark.parametrize(
        ("parts", "noted"), [([], True), (["tok2vec", "ner"], True), (["tagger"], False)]
    )
    def test_one_without_parts_of_speech_has_a_notice(self, parts, noted, tmp_path):
        meta = {"lang": "de", "name": "x", "version": "1", "pipeline": parts}
        (tmp_path / "meta.json").write_text(json.dumps(meta))
        notice = find_pipeline(str(tmp_path)).notice or ""
        assert ("no parts of speech; pipeline=plain" in notice) == noted

    @pytest.mark.parametrize(
        ("wanted", "fix"),
        [("xx_none_sm", "spacy download xx_none_sm"), ("./nowhere", "a folder that spaCy wrote")],
    )
    def test_unknown(self, wanted, fix):
        with pytest.raises(MissingResourceError, match=fix):
            find_pipeline(wanted)

    def test_damaged(self, tmp_path):
        (tmp_path / "meta.json").write_text("{}")
        with pytest.raises(MissingResourceError, match=r"meta\.json"):
            find_pipeline(str(tmp_path))

    def test_neutral_is_none(self):
        with pytest.raises(UsageError, match="neither tokenise nor parse"):
            find_pipeline("neutral")


class TestParser:
    def test_as_spacy_parses_one_by_one(self, parser):
        import spacy
        from spacy.tokens import Doc

        nlp = spacy.load(shipped_pipeline())
        for tokens in parser.parse(SENTENCES):
            doc = nlp(Doc(nlp.vocab, words=list(tokens.texts)))
            assert tokens.texts == tuple(token.text for token in doc)
            assert tokens.lowers == tuple(token.lower_ for token in doc)
            assert columns(tokens) == (
                tuple(token.lemma_ for token in doc),
                tuple(token.pos_ for token in doc),
                tuple(token.tag_ for token in doc),
                tuple(token.dep_ for token in doc),
                tuple(token.head.i for token in doc),
            )
            children = [[child.i for child in token.children] for token in doc]
            assert [tokens.children(at) for at in range(len(tokens))] == children

    def test_without_dependencies_the_rest_is_the_same(self, parser):
        alone = Parser(parser.pipeline)
        for tokens, full in zip(
            alone.parse(SENTENCES, dependencies=False), parser.parse(SENTENCES), strict=True
        ):
            assert tokens.tagged
            assert columns(tokens)[:3] == columns(full)[:3]
            assert tokens.parsed == (not len(tokens))
        assert all(tokens.parsed for tokens in alone.parse(SENTENCES))

    def test_each_sentence_once(self, parser, monkeypatch):
        fresh, seen = Parser(parser.pipeline), []
        parse = fresh._parse_now
        monkeypatch.setattr(
            fresh, "_parse_now", lambda some, full: seen.extend(some) or parse(some, full)
        )
        fresh.parse([*SENTENCES, *SENTENCES])
        fresh.parse(SENTENCES, dependencies=False)
        assert seen == [tokens for tokens in SENTENCES if len(tokens)]

    def test_memory_is_bounded(self, parser):
        fresh = Parser(parser.pipeline, token_limit=10)
        fresh.parse(SENTENCES)
        assert sum(map(len, fresh._known)) <= 10 + max(map(len, SENTENCES))

    def test_a_pipeline_whose_classes_depend_on_relations_keeps_its_parser(self):
        spacy = pytest.importorskip("spacy")
        nlp = spacy.load(shipped_pipeline())
        assert idle_without_dependencies(nlp) == ["parser", "dep_mapper"]
        ruler = nlp.add_pipe("attribute_ruler", last=True)
        ruler.add(patterns=[[{"TAG": "VBZ"}]], attrs={"POS": "AUX"})
        assert idle_without_dependencies(nlp) == ["parser", "dep_mapper"]
        ruler.add(patterns=[[{"TAG": "VBZ", "DEP": "aux"}]], attrs={"POS": "AUX"})
        assert idle_without_dependencies(nlp) == []

    def test_a_pipeline_with_unknown_parts_keeps_its_parser(self):
        spacy = pytest.importorskip("spacy")
        nlp = spacy.load(shipped_pipeline())
        nlp.add_pipe("merge_noun_chunks")
        assert idle_without_dependencies(nlp) == []

    def test_needs_spacy(self, parser, monkeypatch):
        monkeypatch.setitem(sys.modules, "spacy", None)
        with pytest.raises(MissingResourceError, match=r"pip install 'grammeter\[errant\]'"):
            Parser(parser.pipeline).parse(SENTENCES)


class TestCache:
    def test_round_trip_without_spacy(self, parser, tmp_path):
        first = Parser(parser.pipeline, tmp_path).parse(SENTENCES)
        again = Unloadable(parser.pipeline, tmp_path).parse(SENTENCES)
        assert again == first

    def test_a_fuller_parse_replaces_a_leaner_one(self, parser, tmp_path):
        Parser(parser.pipeline, tmp_path).parse(SENTENCES, dependencies=False)
        Unloadable(parser.pipeline, tmp_path).parse(SENTENCES, dependencies=False)
        with pytest.raises(AssertionError, match="asked"):
            Unloadable(parser.pipeline, tmp_path).parse(SENTENCES)
        Parser(parser.pipeline, tmp_path).parse(SENTENCES)
        Unloadable(parser.pipeline, tmp_path).parse(SENTENCES, dependencies=False)

    def test_other_pipelines_have_other_parses(self, tmp_path):
        tokens = split("a b").with_columns("cd", "ef", "gh")
        ParseCache(tmp_path, "one").write([tokens])
        assert ParseCache(tmp_path, "one").read([split("a  b ")]) == [tokens]
        assert ParseCache(tmp_path, "two").read([split("a b")]) == [None]
        assert ParseCache(tmp_path, "one").read([split("b a"), tokens]) == [None, tokens]

    def test_odd_values_are_stored(self, tmp_path):
        cache = ParseCache(tmp_path, "")
        odd = split("a b").with_columns(["c\x1fd", "\ud800"], "ef", "gh")
        empty = split("c d").with_columns(["", ""], "ef", "gh")
        cache.write([odd, empty])
        assert cache.read([split("a b"), split("c d")]) == [odd, empty]

    @pytest.mark.parametrize("damage", [b"", b"no database" * 100])
    def test_a_damaged_file_is_done_without(self, parser, tmp_path, damage):
        (tmp_path / FILE).write_bytes(damage)
        assert Parser(parser.pipeline, tmp_path).parse(SENTENCES) == parser.parse(SENTENCES)

    def test_damaged_rows_are_parsed_anew(self, parser, tmp_path):
        first = Parser(parser.pipeline, tmp_path).parse(SENTENCES)
        with sqlite3.connect(tmp_path / FILE) as connection:
            connection.execute("UPDATE parses SET parse = replace(parse, 'ROOT', 'x\x1e')")
        connection.close()
        assert Parser(parser.pipeline, tmp_path).parse(SENTENCES) == first

    def test_a_folder_that_cannot_be_written(self, parser, tmp_path):
        (tmp_path / "file").write_text("in the way")
        blocked = Parser(parser.pipeline, tmp_path / "file" / "cache")
        assert blocked.parse(SENTENCES) == parser.parse(SENTENCES)

    def test_a_file_that_has_grown_too_large_is_begun_anew(self, tmp_path, monkeypatch):
        tokens = split("a b").with_columns("cd", "ef", "gh")
        ParseCache(tmp_path, "").write([tokens])
        monkeypatch.setattr("grammeter.errant.parse.SIZE_LIMIT", 1)
        assert ParseCache(tmp_path, "").read([tokens]) == [None]

    def test_two_processes_at_once(self, tmp_path):
        script = (
            "import sys; from pathlib import Path\n"
            "from grammeter.errant.parse import ParseCache\n"
            "from grammeter.errant.tokens import split\n"
            "cache = ParseCache(Path(sys.argv[1]), 'x')\n"
            "for at in range(30):\n"
            "    cache.write([split(f'{sys.argv[2]} {at}').with_columns('ab', 'cd', 'ef')])\n"
            "    cache.write([split(f'both {at}').with_columns('ab', 'cd', 'ef')])\n"
        )
        commands = [[sys.executable, "-c", script, str(tmp_path), name] for name in "pq"]
        running = [subprocess.Popen(command) for command in commands]
        assert [process.wait() for process in running] == [0, 0]
        texts = [f"{name} {at}" for name in ("p", "q", "both") for at in range(30)]
        assert None not in ParseCache(tmp_path, "x").read([split(text) for text in texts])

    def test_where_it_lies(self, monkeypatch, tmp_path):
        monkeypatch.delenv("GRAMMETER_CACHE", raising=False)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        assert cache_folder() == tmp_path / "grammeter"
        assert cache_folder("here") == Path("here")
        assert cache_folder("off") is None
        monkeypatch.delenv("XDG_CACHE_HOME")
        assert cache_folder() == Path.home() / ".cache" / "grammeter"
        monkeypatch.setenv("GRAMMETER_CACHE", "off")
        assert cache_folder() is None
        assert cache_folder(tmp_path) == tmp_path
        monkeypatch.setenv("GRAMMETER_CACHE", str(tmp_path))
        assert cache_folder() == tmp_path
