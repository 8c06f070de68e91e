"""ERRANT for other languages: words alone, a UD pipeline, and parses made elsewhere."""

from __future__ import annotations

import gzip
import json
import os
from importlib.util import find_spec
from pathlib import Path

import pytest

import grammeter as gm
from grammeter.cli.main import main
from grammeter.core import apply
from grammeter.errant import annotator, not_english, shipped_pipeline
from grammeter.errant.classify import classify_by_upos
from grammeter.errant.languages import UPOS_RULES
from grammeter.errant.parse import Parser
from grammeter.errant.pipelines import find_pipeline
from grammeter.errant.tokens import Span, split
from grammeter.formats import read_m2

needs_spacy = pytest.mark.skipif(find_spec("spacy") is None, reason="spaCy is not installed")
CZECH = "cs_core_news_sm"  # pip install cs-core-news-sm==0.2.1; not shipped: CC BY-NC-SA


def spans(edits):
    return [(edit.start, edit.end, edit.correction) for edit in edits]


class TestPlain:
    """Goldens: errant 3.0.2's own alignment and merger over tokens of class X or PUNCT."""

    @pytest.mark.parametrize("language", ["cs", "de", "et"])
    def test_as_errant_over_bare_tokens(self, shared, language):
        def text(kind):
            path = shared / "golden" / "errant_ud" / f"plain.{language}.{kind}.gz"
            return gzip.decompress(path.read_bytes()).decode()

        source, corrected = text("src").splitlines(), text("cor").splitlines()
        made = gm.edits_extract(source, [corrected], pipeline="plain")
        assert made.text() == text("m2")

    def test_by_hand(self):
        made = annotator("plain").annotate(
            [
                ("ein kleine Hund", "eine kleinen Hund"),
                ("er hat haus schuhe", "er hat Hausschuhe"),  # the same letters
                ("wir gehen , und", "und wir gehen"),
                ("我 很 高 兴", "他 们 高 兴"),
            ]
        )
        assert [
            [f"{e.type} {e.start} {e.end} {e.correction}" for e in edits] for edits in made
        ] == [
            ["R 0 1 eine", "R 1 2 kleinen"],
            ["R 2 4 Hausschuhe"],
            ["M 0 0 und", "U 2 4 "],
            ["R 0 1 他", "R 1 2 们"],
        ]

    def test_an_english_pipeline_for_another_language_is_said(self):
        corpus = gm.Corpus(
            sources=["Žlutý kůň"], references=[["Žlutí koně"]], systems={"A": ["Žlutý kůň"]}
        )
        table = gm.score(corpus, ["errant", "errant(pipeline=plain)", "gleu"])
        english, *others = [table[name].notes for name in table]
        assert "100% of the source's words have letters that English lacks" in english[-1]
        assert not any("English" in note for notes in others for note in notes)
        assert "English" in gm.edits_extract(["Žlutý kůň"], [["Žlutí koně"]]).notes[0]
        assert (
            not_english("en_ud_sm-0.1.0", ["A café in the old town of Bonn"] * 9 + ["a"])
            is not None
        )
        assert (
            not_english("en_ud_sm-0.1.0", ["A café", *["is in the old town of Bonn"] * 9]) is None
        )

    def test_signature(self):
        assert annotator("plain").signature() == {
            "pipeline": "plain", "rules": "plain-1", "merge": "rules", "align": "letters",
        }  # fmt: skip
        assert annotator("plain", lev=True).signature()["align"] == "lev"

    def test_other_rules_are_refused(self):
        for pipeline, rules in (("plain", "neutral"), ("neutral", "errant")):
            with pytest.raises(gm.UsageError, match="has its own rules"):
                annotator(pipeline, rules=rules)
        with pytest.raises(gm.UsageError, match="neither tokenise"):
            gm.edits_extract(["a"], [["b"]], pipeline="plain", tok=True)


class TestUposRules:
    @pytest.mark.parametrize(
        ("source", "target", "expected"),
        [
            ("-", "ADP:do", "M:ADP"),
            ("PUNCT:,", "-", "U:PUNCT"),
            ("NUM:5", "-", "U:OTHER"),
            ("NOUN:psa", "NOUN:psů", "R:NOUN"),
            ("NOUN:psa", "ADJ:psí", "R:OTHER"),
            ("VERB:a AUX:b", "VERB:c", "R:OTHER"),
            ("PROPN:praha", "PROPN:Praha", "R:ORTH"),
            ("NOUN:pod VERB:le", "ADP:podle", "R:ORTH"),
            ("ADJ:a NOUN:b", "NOUN:b ADJ:a", "R:WO"),
            ("NOUN:Pes", "DET:ten NOUN:pes", "M:DET"),
            ("X:a", "X:a", "UNK"),
        ],
    )
    def test_by_hand(self, source, target, expected):
        def tokens(written):
            pairs = [pair.split(":") for pair in written.split() if pair != "-"]
            columns = [[p[1] for p in pairs], [p[0] for p in pairs], [""] * len(pairs)]
            return split(" ".join(columns[0])).with_columns(*columns)

        one, other = tokens(source), tokens(target)
        kind = classify_by_upos(Span(0, len(one), 0, len(other)), one, other)
        assert kind == expected
        assert UPOS_RULES.gives(kind)

    def test_types_of_english_are_of_another_scheme(self):
        assert not any(map(UPOS_RULES.gives, ("R:NOUN:NUM", "R:SPELL", "M:ORTH", "R", "R:NUM")))

    def test_as_the_fork_for_czech(self, shared):
        """Spans of cainesap/errant @ 16d835e, which is errant 3.0.2, with this pipeline."""
        if find_spec(CZECH) is None:
            pytest.skip("pip install cs-core-news-sm==0.2.1")
        czech = annotator(CZECH, cache_dir="off")
        assert czech.signature()["pipeline-hash"] == "c0f24deb17d6b655"
        for name in (
            "refs",
            "Korektor",
            *(f"Naplava2022_{x}" for x in ("synthetic", "ag", "geccc")),
        ):
            blocks = read_m2(shared / "golden" / "errant_ud" / f"{name}.m2.gz").blocks
            rows = [(b.source, edits) for b in blocks for edits in b.gold.values()]
            pairs = [(source, " ".join(apply(source.split(), edits))) for source, edits in rows]
            made = czech.annotate(pairs)
            changes = [[e for e in edits if not e.is_noop] for _, edits in rows]
            assert list(map(spans, made)) == list(map(spans, changes))


LINES = ("She go to school every days .", "She goes to school every day .", "I have dog 's")


def rows(sentences):
    """Write CoNLL-U with the shipped pipeline."""
    parser = Parser(find_pipeline(str(shipped_pipeline())))
    for parse in parser.parse(map(split, sentences)):
        for n, (text, lemma, pos, tag) in enumerate(
            zip(parse.texts, parse.lemmas, parse.pos, parse.tags, strict=True), start=1
        ):
            yield "\t".join([str(n), text, lemma, pos, tag, *"_____"])
        yield ""


class TestParse:
    @pytest.fixture
    def text(self):
        return "".join(f"{line}\n" for line in rows(LINES))

    @pytest.fixture
    def file(self, tmp_path, text):
        path = tmp_path / "all.conllu"
        path.write_text(f"# newdoc\n{text}")
        return path

    @needs_spacy
    def test_spans_as_with_the_pipeline_itself(self, file):
        pairs = [(LINES[0], LINES[1]), (LINES[1], LINES[0]), (LINES[0], LINES[2]), ("", LINES[2])]
        english = annotator(str(shipped_pipeline())).annotate(pairs)
        made = annotator(str(file)).annotate(pairs)
        assert list(map(spans, made)) == list(map(spans, english))
        assert [e.type for e in made[0]] == ["R:VERB", "R:NOUN"]
        assert annotator(str(file)).signature()["rules"] == "errant-upos-1"

    @needs_spacy
    def test_shell_and_python_agree(self, file, tmp_path, monkeypatch, capsys):
        monkeypatch.chdir(tmp_path)
        source, corrected = tmp_path / "src.txt", tmp_path / "cor.txt"
        source.write_text(f"{LINES[0]}\n")
        corrected.write_text(f"{LINES[1]}\n")
        extract = ["edits", "extract", "-orig", "src.txt", "-cor", "cor.txt", "-out", "-"]
        assert main([*extract, "--parse", str(file)]) == 0
        made = gm.edits_extract(source, [corrected], parse=file).text()
        assert capsys.readouterr().out == made
        assert "R:NOUN" in made
        score = [
            "score",
            "-s",
            "src.txt",
            "-r",
            "cor.txt",
            "-m",
            "errant",
            "gleu",
            "--hyps",
            "src.txt",
        ]
        assert main([*score, "--parse", str(file), "--format", "json"]) == 0
        signature = json.loads(capsys.readouterr().out)["metrics"]["errant"]["signature"]
        corpus = gm.read_corpus(source=source, references=[corrected], systems=[source])
        table = gm.score(corpus, ["errant", "gleu"], parse=file)
        assert signature == str(table["errant"].signature)
        assert "|pipeline:all.conllu|" in signature
        assert "|rules:errant-upos-1|" in signature
        assert table["errant"].metric == f"errant(pipeline={file})"
        with pytest.raises(gm.UsageError, match="no metric looks at a parse"):
            gm.score(corpus, ["gleu", "errant(pipeline=plain)"], parse=file)
        with pytest.raises(gm.UsageError, match="Give one of them"):
            gm.edits_extract(source, [corrected], parse=file, pipeline="plain")

    @needs_spacy
    def test_a_missing_sentence_is_named(self, file):
        with pytest.raises(gm.DataError, match="'I have cat' and 1 more"):
            annotator(str(file)).annotate([(LINES[0], "I have cat"), (LINES[0], "x y")])

    @needs_spacy
    def test_a_file_that_changes_is_read_anew(self, file, text):
        assert annotator(str(file)).annotate([(LINES[0], LINES[1])])[0][0].type == "R:VERB"
        file.write_text(text.replace("VERB", "NOUN"))
        os.utime(file, ns=(1, 1))
        assert annotator(str(file)).annotate([(LINES[0], LINES[1])])[0][0].type == "R:NOUN"

    def test_of_any_form(self, tmp_path):
        path = tmp_path / "fr.conllu.gz"
        lines = [
            "1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_", "1\tde\tde\tADP\t_\t_\t_\t_\t_\t_",
            "2\tle\tle\tDET\t_\t_\t_\t_\t_\t_", "3\t1 000\t1000\tNUM\t_\t_\t_\t_\t_\t_",
            "3.1\tx\tx\tX\t_\t_\t_\t_\t_\t_", "4\tPain\t_\tNOUN\t_\t_\t_\t_\t_\t_", "", "",
            "1\tpain\tpain\tNOUN\t_\t_\t_\t_\t_\t_", "", "1\tpain\tpain\tVERB\t_\t_\t_\t_\t_\t_",
        ]  # fmt: skip
        path.write_bytes(gzip.compress("\r\n".join(lines).encode("utf-8-sig")))
        made = annotator(str(path))
        assert "1 sentences are parsed again" in made.notice
        (parse,) = made._parser.parse([split("du 1 000 Pain")])
        assert parse.pos == ("ADP", "NUM", "NUM", "NOUN")
        assert parse.lemmas == ("de", "1", "000", "pain")
        assert made._parser.parse([split("pain")])[0].pos == ("NOUN",)

    @pytest.mark.parametrize(
        ("content", "fault"),
        [
            (b"1\ta\n", ":1: no line of CoNLL-U"),
            (b"# x\nx\ta\ta\tX\t_\t_\t_\t_\t_\t_\n", ":2: no line of CoNLL-U"),
            (b"1\ta\ta\tNN\t_\t_\t_\t_\t_\t_\n", ":1: 'NN' is no universal part of speech"),
            (b"# \xff\n", ":1: not UTF-8"),
            (b"\x1f\x8b\x08", "cannot be read"),
        ],
    )
    def test_that_is_none(self, tmp_path, content, fault):
        path = tmp_path / "x.conllu"
        path.write_bytes(content)
        with pytest.raises(gm.DataError, match=fault) as caught:
            annotator(str(path))
        assert caught.value.fix

    def test_that_is_not_there(self):
        with pytest.raises(gm.DataError, match="there is no such file"):
            annotator(str(Path("nowhere.conllu")))


@needs_spacy
def test_rules_of_a_metric_decide_the_edits():
    corpus = gm.Corpus(
        sources=["He have a cats ."],
        references=[["He has cats ."]],
        systems={"A": ["He has cats ."]},
    )
    pipeline = str(shipped_pipeline())
    names = [f"errant(pipeline={pipeline}, rules={rules})" for rules in ("errant", "neutral")]
    table = gm.score(corpus, names)
    counts = [table[name]["A"].parts["tp"] for name in names]
    assert counts == [2, 1]
    rules = [dict(table[name].signature)["rules"] for name in names]
    assert rules == ["errant-3.0.2", "neutral-1"]
