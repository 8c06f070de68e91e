"""The annotator: files that package errant wrote, the package itself, and by hand."""

from __future__ import annotations

import os
from importlib.util import find_spec
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammeter.core import (
    Edit,
    MissingResourceError,
    UnknownNameError,
    UsageError,
    apply,
    without_overlaps,
)
from grammeter.errant import annotate, languages, pipelines
from grammeter.errant.annotate import Annotator, annotator
from grammeter.errant.languages import ENGLISH, NEUTRAL_RULES, UPOS_RULES, Language, language
from grammeter.errant.parse import Parser
from grammeter.errant.pipelines import find_pipeline, shipped_pipeline
from grammeter.formats import read_m2
from grammeter.resources import sample_corpus

SYSTEMS = (
    "AMU", "CAMB", "CUUI", "IITB", "INPUT", "IPN", "NTHU", "PKU", "POST", "RAC", "SJTU", "UFC",
    "UMC",
)  # fmt: skip
REAL_PAIRS = int(os.environ.get("GRAMMETER_ERRANT_PAIRS", "60"))

needs_spacy = pytest.mark.skipif(
    find_spec("spacy") is None, reason="spaCy is not installed (extra errant)"
)


def retype(annotator, source, edits, **options):
    """Type the edits of one sentence."""
    return annotator.retype_all([(source, edits)], **options)[0]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where parses are kept for all tests of this file."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def english(folder):
    pytest.importorskip("spacy")
    return annotator(str(shipped_pipeline()), cache_dir=folder)


@pytest.fixture(scope="module")
def spans_only(folder):
    pytest.importorskip("spacy")
    return annotator(str(shipped_pipeline()), types=False, cache_dir=folder)


@pytest.fixture(scope="module")
def neutral():
    return annotator("neutral")


def written(edits):
    return [f"{e.start} {e.end}|{e.type}|{e.correction}" for e in edits]


class TestGoldens:
    """Files of errant 3.0.2 with the pipeline that ships: ``shared/golden/errant/README.md``."""

    @staticmethod
    def lines(path):
        return path.read_text("utf-8").split("\n")[:1312]

    def pairs(self, shared, *texts):
        source = self.lines(shared / "data" / "conll14_test" / "source.txt")
        for text in texts:
            corrected = self.lines(shared / "data" / "conll14_test" / text)
            yield from zip(source, corrected, strict=True)

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("texts", "golden"),
        [
            *(([f"official_systems/{name}"], f"{name}.m2") for name in SYSTEMS),
            (["ref0.txt", "ref1.txt"], "ref_text.m2"),
        ],
    )
    def test_extracted(self, shared, english, spans_only, texts, golden):
        blocks = read_m2(shared / "golden" / "errant" / golden).blocks
        expected = [
            tuple(e for number, e in block.lines if number == which and not e.is_noop)
            for which in range(len(texts))
            for block in blocks
        ]
        pairs = list(self.pairs(shared, *texts))
        assert english.annotate(pairs) == expected
        assert spans_only.annotate(pairs) == [
            tuple(Edit(e.start, e.end, e.correction) for e in edits) for edits in expected
        ]

    @pytest.mark.slow
    @pytest.mark.parametrize("kind", ["gold", "auto"])
    def test_converted(self, shared, english, kind):
        given_blocks = read_m2(
            shared / "data" / "conll14_test" / "noalt" / "official-2014.combined.m2"
        ).blocks
        golden = read_m2(shared / "golden" / "errant" / f"official-2014.combined.{kind}.m2").blocks
        sentences = [(b.source, b.gold[number]) for b in given_blocks for number in b.gold]
        expected = [
            tuple(e for whose, e in new.lines if whose == number and not e.is_noop)
            for old, new in zip(given_blocks, golden, strict=True)
            for number in old.gold
        ]
        convert = english.retype_all if kind == "gold" else english.reextract_all
        assert convert(sentences) == expected


class TestPackage:
    def test_random_edits_of_real_sentences(self, english, spans_only):
        spacy = pytest.importorskip("spacy")
        errant = pytest.importorskip("errant")
        theirs = errant.load("en", spacy.load(shipped_pipeline()))
        pairs = list(random_edits(REAL_PAIRS))
        spans = spans_only.annotate(pairs)
        for pair, ours, bare in zip(pairs, english.annotate(pairs), spans, strict=True):
            edits = theirs.annotate(*map(theirs.parse, pair))
            assert [(e.start, e.end, e.correction, e.type) for e in ours] == [
                (e.o_start, e.o_end, " ".join(token.text for token in e.c_toks), e.type)
                for e in edits
            ], pair
            assert [(e.start, e.end, e.correction) for e in ours] == [
                (e.start, e.end, e.correction) for e in bare
            ]

    @pytest.mark.parametrize("merge", ["all-split", "all-merge", "all-equal"])
    @pytest.mark.parametrize("lev", [False, True])
    def test_options(self, folder, merge, lev):
        spacy = pytest.importorskip("spacy")
        errant = pytest.importorskip("errant")
        theirs = errant.load("en", spacy.load(shipped_pipeline()))
        ours = annotator(str(shipped_pipeline()), merge=merge, lev=lev, cache_dir=folder)
        pairs = list(random_edits(12))
        for pair, result in zip(pairs, ours.annotate(pairs), strict=True):
            edits = theirs.annotate(*map(theirs.parse, pair), lev, merge)
            assert [(e.start, e.end, e.type) for e in result] == [
                (e.o_start, e.o_end, e.type) for e in edits
            ]


def random_edits(number):
    """Change the sentences of the sample corpus: drop, repeat, swap, take, write wrongly."""
    corpus = sample_corpus()
    texts = [corpus / "ref0.txt", corpus / "source.txt", *sorted((corpus / "systems").iterdir())]
    sentences = [line.split() for path in texts for line in path.read_text("utf-8").splitlines()]
    words = sorted({word for sentence in sentences for word in sentence})
    for seed in range(number):
        draw = Random(seed)
        source = list(draw.choice(sentences))
        target = list(source)
        for _ in range(draw.choice([1, 1, 2, 3, 5, 8])):
            at = draw.randrange(len(target) + 1)
            end = min(len(target), at + draw.choice([0, 1, 1, 1, 2]))
            word = draw.choice(words)
            near = target[at:end]
            target[at:end] = draw.choice(
                [
                    [],
                    [word],
                    [*near, *near],
                    near[::-1],
                    [*near, word],
                    [word, *near],
                    [w.swapcase() for w in near],
                    [w[:1] + w[2:] for w in near if len(w) > 1],
                    [w + "s" for w in near],
                    ["".join(near)] if near else [],
                    [part for w in near for part in (w[:2], w[2:]) if part],
                ]
            )
        pair = (" ".join(source), " ".join(target))
        yield pair if draw.random() < 0.5 else pair[::-1]


@needs_spacy
class TestAnnotator:
    def test_by_hand(self, english):
        pair = ("This are gramamtical sentence .", "This is a grammatical sentence .")
        assert written(english.annotate([pair])[0]) == [
            "1 2|R:VERB:SVA|is",
            "2 2|M:DET|a",
            "2 3|R:SPELL|grammatical",
        ]

    def test_edits_come_back_pair_by_pair(self, english):
        one, two = ("a cat", "the cat"), ("a dog", "a dog .")
        result = english.annotate([one, two, one, ("x", "x"), two])
        assert result[0] == result[2] != result[1] == result[4]
        assert result[3] == ()
        assert english.annotate([]) == []

    def test_spaces_are_no_difference(self, english):
        assert english.annotate([("a  b ", " a\tb"), ("", " ")]) == [(), ()]
        assert english.annotate([(" an  cat ", "a cat")]) == english.annotate([("an cat", "a cat")])

    def test_empty_sides(self, english):
        inserted, deleted = english.annotate([("", "He sleeps ."), ("He sleeps .", "")])
        assert [(e.start, e.end, e.correction) for e in inserted] == [(0, 0, "He sleeps .")]
        assert [(e.start, e.end, e.correction) for e in deleted] == [(0, 3, "")]
        assert inserted[0].type[0] == "M"
        assert deleted[0].type[0] == "U"

    def test_without_types(self, english, spans_only):
        pairs = list(random_edits(30))
        full, bare = english.annotate(pairs), spans_only.annotate(pairs)
        assert {edit.type for edits in bare for edit in edits} == {""}
        assert bare == [tuple(Edit(e.start, e.end, e.correction) for e in edits) for edits in full]

    def test_spans_need_no_parse_where_words_decide(self, monkeypatch):
        made = Annotator(ENGLISH, Parser(find_pipeline(str(shipped_pipeline()))), types=False)
        monkeypatch.setattr(Parser, "_nlp", property(lambda self: pytest.fail("spaCy was loaded")))
        pairs = [("a cat", "the cat"), ("a cat .", "a cat"), ("cat .", "big old cat ."), ("x", "X")]
        assert [written(edits) for edits in made.annotate(pairs)] == [
            ["0 1||the"], ["2 3||"], ["0 0||big old"], ["0 1||X"]
        ]  # fmt: skip

    def test_one_sided_edits_need_one_parse(self, monkeypatch, folder):
        made = Annotator(ENGLISH, Parser(find_pipeline(str(shipped_pipeline())), folder))
        parse, parsed = Parser._parse_now, []
        monkeypatch.setattr(
            Parser,
            "_parse_now",
            lambda self, some, full: parsed.extend(some) or parse(self, some, full),
        )
        made.annotate([("A zebra slept .", "A big zebra slept ."), ("So he slept .", "he slept .")])
        assert [" ".join(tokens.texts) for tokens in parsed] == [
            "A big zebra slept .", "So he slept ."
        ]  # fmt: skip

    def test_work_is_remembered(self, monkeypatch, folder):
        made = Annotator(ENGLISH, Parser(find_pipeline(str(shipped_pipeline())), folder))
        pairs = list(random_edits(5))
        first = made.annotate(pairs)
        monkeypatch.setattr(made, "_extract", lambda pairs: pytest.fail("extracted again"))
        assert made.annotate(pairs) == first

    def test_memory_is_bounded(self, monkeypatch, spans_only):
        monkeypatch.setattr(annotate, "EDIT_LIMIT", 20)
        made = Annotator(ENGLISH, Parser(spans_only._parser.pipeline), types=False)
        made.annotate([(f"a {at}", f"b {at}") for at in range(100)])
        assert sum(1 + len(edits) for edits in made._known.values()) <= 22

    def test_parses_on_disk_are_enough(self, monkeypatch, tmp_path):
        pipeline, pairs = find_pipeline(str(shipped_pipeline())), list(random_edits(10))
        first = Annotator(ENGLISH, Parser(pipeline, tmp_path)).annotate(pairs)
        monkeypatch.setattr(Parser, "_nlp", property(lambda self: pytest.fail("spaCy was loaded")))
        assert Annotator(ENGLISH, Parser(pipeline, tmp_path)).annotate(pairs) == first

    def test_chunks_change_nothing(self, monkeypatch, english, folder):
        pairs = list(random_edits(20))
        monkeypatch.setattr(annotate, "CHUNK", 3)
        made = Annotator(ENGLISH, Parser(find_pipeline(str(shipped_pipeline())), folder))
        assert made.annotate(pairs) == english.annotate(pairs)

    @given(
        st.tuples(*[st.lists(st.sampled_from(["the", "The", "a", "cat", "cats", ".", "'s"]))] * 2)
    )
    def test_edits_apply(self, spans_only, pair):
        source, target = pair
        (edits,) = spans_only.annotate([(" ".join(source), " ".join(target))])
        assert apply(source, edits) == target


@needs_spacy
class TestGivenEdits:
    def test_retype(self, english):
        edits = [
            Edit(4, 5, "school", "Rloc-"),
            Edit(1, 3, "goes", "SVA", ("went",), "REQUIRED", "comment"),
            Edit(3, 4, "the", "Um"),
            Edit(-1, -1, "", "noop"),
        ]
        result = retype(english, "She go to to school .", edits)
        assert result == (
            Edit(1, 3, "goes", "R:OTHER", (), "REQUIRED", "comment"),
            Edit(3, 4, "the", "UNK"),
            Edit(5, 5, "", "UNK"),
        )

    def test_minimised_and_kept(self, english):
        edits = [Edit(1, 3, "has go", "X"), Edit(3, 4, "at", "Um")]
        assert written(retype(english, "She have go to school", edits)) == [
            "1 2|R:VERB:SVA|has",
            "3 4|UNK|at",
        ]
        whole = retype(english, "She have go to school", edits, minimise=False)
        assert [(e.start, e.end, e.correction) for e in whole] == [(1, 3, "has go"), (3, 4, "at")]
        remaining = retype(english, "She have go to school", edits, keep_types=True)
        assert written(remaining) == ["1 2|X|has", "3 4|Um|at"]

    def test_as_the_package(self, english):
        spacy = pytest.importorskip("spacy")
        errant = pytest.importorskip("errant")
        commands = pytest.importorskip("errant.commands.m2_to_m2")
        theirs = errant.load("en", spacy.load(shipped_pipeline()))
        for source, target in random_edits(40):
            (edits,) = english.annotate([(source, target)])
            draw = Random(source)
            given_edits = [  # as an annotator might: some only detected, overlapping now and then
                Edit(e.start, min(e.end + draw.randint(0, 1), len(source.split())), e.correction,
                     draw.choice(["Um", "X"]))
                for e in edits
            ]  # fmt: skip
            raw = [[e.start, e.end, e.type, e.correction] for e in given_edits]
            text, placed = commands.get_cor_and_edits(source, raw)
            documents = theirs.parse(source), theirs.parse(text)
            expected = []
            for *place, pseudo in placed:
                detects = place[-1] == "Um"
                edit = theirs.import_edit(*documents, place, min=not detects)
                words = pseudo if detects else " ".join(token.text for token in edit.c_toks)
                expected.append((edit.o_start, edit.o_end, words, edit.type))
            result = retype(english, source, given_edits)
            assert [(e.start, e.end, e.correction, e.type) for e in result] == expected

    def test_reextract(self, english):
        edits = [Edit(0, 3, "He goes to", "X"), Edit(0, 1, "It", "Um"), Edit(4, 4, "!", "Um")]
        (result,) = english.reextract_all([("He go to school", edits)])
        assert written(result) == ["0 1|UNK|It", "1 2|R:VERB:SVA|goes", "4 4|UNK|!"]

    def test_nothing_given(self, english):
        assert retype(english, "He goes .", []) == ()
        assert english.reextract_all([("He goes .", []), ("", [])]) == [(), ()]


class TestNeutral:
    """Against the edits of other tools and people: see docs/concepts/errant-edits.md."""

    FILES = (
        ("lang_de_falko_merlin/fm-test.m2", 5963, 0.7389, 0.8483),
        ("lang_et_estgec/Tartu_L1_corpus/test/test_m2.txt", 645, 0.8402, 0.9231),
        ("lang_zh/cherrant_samples/nlpcc2018_official.ref.m2.char", 4340, 0.8968, 0.8697),
        ("lang_zh/cherrant_samples/nlpcc2018_official.ref.m2.word", 4197, 0.8638, 0.942),
    )

    @pytest.mark.parametrize(("name", "number", "neutral", "plain"), FILES)
    def test_files(self, shared, name, number, neutral, plain):
        gold = []
        for block in read_m2(shared / "data" / name, lenient=True).blocks:
            for edits in block.gold.values():
                remaining, overlapping = without_overlaps(edits)
                if not overlapping:
                    gold.append((block.source, remaining))
        pairs = [(source, " ".join(apply(source.split(), edits))) for source, edits in gold]
        assert self.agreement(gold, pairs, "neutral") == (number, neutral)
        assert self.agreement(gold, pairs, "plain") == (number, plain)

    @staticmethod
    def agreement(gold, pairs, pipeline):
        result = annotator(pipeline).annotate(pairs)
        agreed = theirs = ours = 0
        for (source, target), (_, edits), new in zip(pairs, gold, result, strict=True):
            assert apply(source.split(), new) == target.split()
            old = {
                (e.start, e.end, e.correction)
                for e in edits
                if source.split()[e.start : e.end] != e.correction.split()
            }
            new = {(e.start, e.end, e.correction) for e in new}
            agreed, theirs, ours = agreed + len(old & new), theirs + len(old), ours + len(new)
        return theirs, round(2 * agreed / (theirs + ours), 4)

    def test_by_hand(self, neutral):
        result = neutral.annotate(
            [
                ("ein kleine Hund", "eine kleinen Hund"),
                ("er geht nach dem Haus", "er geht Haus"),
                ("so ist das", "so ist das nicht gut"),
                ("我 很 高 兴", "他 们 高 兴"),
                ("a b c x", "d x"),
            ]
        )
        assert [written(edits) for edits in result] == [
            ["0 1|R|eine", "1 2|R|kleinen"],
            ["2 4|U|"],
            ["3 3|M|nicht gut"],
            ["0 2|R|他 们"],
            ["0 3|R|d"],
        ]

    def test_given_edits(self, neutral):
        edits = [Edit(0, 1, "c", "X"), Edit(1, 2, "b", "X"), Edit(1, 2, "d", "UNK")]
        assert written(retype(neutral, "a b", edits)) == ["0 1|R|c", "2 2|UNK|", "1 2|UNK|d"]
        assert written(neutral.reextract_all([("a b", edits)])[0]) == ["0 1|R|c", "1 2|UNK|d"]

    def test_without_types_and_merged(self):
        made = annotator("neutral", types=False, merge="all-split")
        assert [e.type for e in made.annotate([("a b", "c d")])[0]] == ["", ""]

    def test_signature(self, neutral):
        assert neutral.notice is None
        assert neutral.signature() == {
            "pipeline": "neutral",
            "rules": "neutral-1",
            "merge": "rules",
            "align": "lev",
        }


class TestChoice:
    def test_equal_arguments_give_the_same_object(self, neutral):
        assert annotator("neutral") is neutral
        assert annotator("neutral", types=False) is not neutral

    def test_signature(self):
        made = annotator(str(shipped_pipeline()), merge="all-split", cache_dir="off")
        assert made.signature() == {
            "pipeline": "en_ud_sm-0.1.0",
            "pipeline-hash": "61014c813ee62b6c",
            "rules": "errant-3.0.2",
            "merge": "all-split",
            "align": "linguistic",
        }
        assert annotator(str(shipped_pipeline()), lev=True).signature()["align"] == "lev"

    def test_notice_of_the_default(self, monkeypatch, tmp_path):
        monkeypatch.setattr(pipelines, "_installed", lambda _package: None)
        assert "not comparable" in annotator(cache_dir=tmp_path).notice
        assert annotator(str(shipped_pipeline()), cache_dir=tmp_path).notice is None

    def test_mistakes(self):
        with pytest.raises(MissingResourceError, match="spacy download en_none_sm"):
            annotator("en_none_sm")
        with pytest.raises(UnknownNameError, match="'rules'"):
            annotator("neutral", merge="rule")


class FakePoint:
    value = "package:GERMAN"

    def __init__(self, loaded):
        self.loaded = loaded

    def load(self):
        if isinstance(self.loaded, Exception):
            raise self.loaded
        return self.loaded


class TestLanguages:
    @pytest.fixture
    def announce(self, monkeypatch):
        def announce(loaded):
            points = [FakePoint(loaded)]
            monkeypatch.setattr(languages, "entry_points", lambda group, name: points)
            languages._plugin.cache_clear()

        yield announce
        languages._plugin.cache_clear()

    def test_built_in(self):
        assert language("en") is ENGLISH
        assert language("xx") is UPOS_RULES is language("xx", "errant")
        assert language("en", "errant") is ENGLISH
        assert language("xx", "neutral") is NEUTRAL_RULES is language("en", "neutral")
        with pytest.raises(UnknownNameError, match="neutral"):
            language("xx", "natural")

    def test_from_a_package(self, announce):
        german = Language(
            rules="de-1",
            merge=NEUTRAL_RULES.merge,
            merges_by_changes=NEUTRAL_RULES.merges_by_changes,
            classify=lambda span, source, target: "R:DE",
            types_need="words",
        )
        announce(german)
        assert language("de") is german
        assert language("de", "errant") is UPOS_RULES
        made = Annotator(language("de"), None)
        assert written(made.annotate([("der Hund", "den Hund")])[0]) == ["0 1|R:DE|den"]
        assert made.signature()["rules"] == "de-1"

    def test_that_cannot_be_loaded(self, announce):
        announce(ImportError("no module"))
        with pytest.raises(UsageError, match="package:GERMAN"):
            language("de")

    @needs_spacy
    def test_neutral_rules_with_a_pipeline(self):
        parser = Parser(find_pipeline(str(shipped_pipeline())))
        made = Annotator(NEUTRAL_RULES, parser)
        assert written(made.annotate([("He have a cats .", "He has cats .")])[0]) == ["1 3|R|has"]
        assert made.signature()["align"] == "linguistic"
