"""Types: against package errant on tokens of any kind, and each rule by hand."""

from __future__ import annotations

import gzip
from random import Random

import pytest
from made_up import DEPS, PAIRS, POS, TAGS, WORDS, sentence

from grammeter.core import UsageError
from grammeter.errant.classify import classify, dictionary, english, stem
from grammeter.errant.pipelines import shipped_pipeline
from grammeter.errant.tokens import Span, split

pytest.importorskip("rapidfuzz", reason="extra errant is missing")


def type_of(source, target):
    return classify(Span(0, len(source), 0, len(target)), source, target)


def one(text, tag="NN", dep="dep", lemma="", pos="NOUN"):
    return sentence(text, lemmas=lemma or text.lower(), pos=pos, tags=tag, deps=dep)


NOTHING = split("")


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (one("'s", "POS"), "NOUN:POSS"),
        (one("n't", "RB"), "CONTR"),
        (one("to", "TO", "aux", pos="PART"), "VERB:FORM"),
        (one("to", "TO", "prep", pos="PART"), "PART"),
        (one("has", "VBZ", "aux"), "VERB:TENSE"),
        (one("the", "DT", "det"), "DET"),
        (one("in", "IN"), "PREP"),
        (one("seven", "CD", "det"), "DET"),
        (one("seven", "CD"), "OTHER"),
        (sentence("to go", tags="TO VB", deps="aux ROOT"), "VERB"),
        (sentence("has been", tags="VBZ VBN", deps="aux auxpass"), "VERB:TENSE"),
        (sentence("big dog", tags="JJ NN", deps="amod ROOT"), "OTHER"),
    ],
)
def test_one_sided(target, expected):
    assert type_of(NOTHING, target) == f"M:{expected}"
    assert type_of(target, NOTHING) == f"U:{expected}"


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        (one("Cat"), one("cat"), "ORTH"),
        (sentence("sub way"), one("subway"), "ORTH"),
        (sentence("a b"), sentence("b A"), "WO"),
        (one("'", "POS"), one("'s", "POS"), "NOUN:POSS"),
        (one("'s", "VBZ"), one("is", "VBZ"), "CONTR"),
        (one("ca", "MD"), one("can", "NN"), "CONTR"),
        (one("wo", "MD"), one("should", "MD"), "VERB:TENSE"),
        (one("was", "VBD"), one("were", "VBD"), "VERB:SVA"),
        # words that no dictionary has
        (one("informations", lemma="information"), one("information"), "NOUN:INFL"),
        (one("getted", "VBD", lemma="get"), one("got", "VBD", lemma="get"), "VERB:INFL"),
        (one("beautifull", "JJ", lemma="x"), one("beauty", "NN", lemma="x"), "MORPH"),
        (one("recieve", "VB"), one("receive", "VB"), "SPELL"),
        (one("eles", "RB"), one("else", "RB"), "SPELL"),
        (one("amounght", "IN"), one("number", "NN"), "NOUN"),
        (one("qqqqqq"), one("7", "CD"), "OTHER"),
        # forms of one lemma
        (one("big", "JJ", lemma="big"), one("bigger", "JJR", lemma="big"), "ADJ:FORM"),
        (one("cat", lemma="cat"), one("cats", "NNS", lemma="cat"), "NOUN:NUM"),
        (one("go", "VB", lemma="go"), one("going", "VBG", lemma="go"), "VERB:FORM"),
        (one("go", "VBP", lemma="go"), one("went", "VBD", lemma="go"), "VERB:TENSE"),
        (one("go", "VBP", lemma="go"), one("goes", "VBZ", lemma="go"), "VERB:SVA"),
        (one("may", "MD", "aux", "may"), one("might", "MD", "aux", "may"), "VERB:TENSE"),
        (one("bored", "VBN", "amod", "bore"), one("boring", "JJ", "amod", "bore"), "ADJ:FORM"),
        (one("musical", "JJ", lemma="m"), one("musicals", "NNS", lemma="m"), "NOUN:NUM"),
        (one("use", "NN", lemma="use"), one("used", "VBD", lemma="use"), "VERB:TENSE"),
        (one("use", "NN", lemma="use"), one("use-", "VB", lemma="use"), "MORPH"),
        (one("quick", "JJ"), one("quickly", "RB"), "MORPH"),
        # classes and relations
        (one("may", "MD", "aux"), one("will", "MD", "aux"), "VERB:TENSE"),
        (one("car"), one("house"), "NOUN"),
        (one("seven", "CD", "det"), one("the", "DT", "det"), "DET"),
        (one("up", "RP", "x"), one("upon", "IN", "y"), "PART"),
        (one("this", "DT"), one("he", "PRP", "nsubj"), "PRON"),
        (one("this", "DT"), one("his", "PRP", "poss"), "DET"),
        (one("one", "CD"), one("a", "DT"), "DET"),
        (one("other", "JJ"), one("another", "DT"), "DET"),
        (one("your", "PRP$"), one("yours", "PRP"), "PRON"),
        (one("no", "DT"), one("not", "RB"), "OTHER"),
        (one("car"), one("4x4", "CD"), "OTHER"),
        # letters
        (one("the", "DT"), one("that", "IN"), "PRON"),
        (one("good", "JJ"), one("well", "RB"), "ADV"),
        (one("a", "DT"), one("at", "IN"), "SPELL"),
        (one("then", "RB"), one("than", "IN"), "SPELL"),
        (one("house"), one("domestic", "JJ"), "ADJ"),
        (one("health"), one("healthy", "JJ"), "MORPH"),
        (one("exiting", "JJ"), one("exciting", "VBG"), "SPELL"),
        (one("learning", "VBG"), one("study"), "OTHER"),
        (one("learning", "VBG"), one("timetable"), "NOUN"),
        # several tokens
        (one("eat", "VBP", lemma="eat"),
         sentence("has eaten", "have eat", tags="VBZ VBN"), "VERB:TENSE"),
        (sentence("to eat", "to eat", tags="TO VB"), one("eating", "VBG", lemma="eat"),
         "VERB:FORM"),
        (sentence("look at", "look at", tags="VB RP"), one("see", "VB"), "VERB"),
        (one("friends", "NNS", lemma="friend"), sentence("friend 's", tags="NN POS"),
         "NOUN:POSS"),
        (sentence("more free", "more free", tags="RBR JJ"), one("freer", "JJR", lemma="free"),
         "ADJ:FORM"),
        (sentence("of the", tags="IN DT"), sentence("by day", tags="IN NN"), "OTHER"),
    ],
)  # fmt: skip
def test_replacements(source, target, expected):
    assert type_of(source, target) == f"R:{expected}"


def test_case_of_the_last_token_is_overlooked():
    doctor = sentence("Doctor", tags="NN")
    the_doctor = sentence("The doctor", tags="DT NN", deps="det ROOT")
    assert type_of(doctor, the_doctor) == "M:DET"
    assert type_of(the_doctor, doctor) == "U:DET"


def test_what_changes_nothing_is_unknown():
    assert type_of(NOTHING, NOTHING) == "UNK"
    assert type_of(one("a"), one("a")) == "UNK"
    assert type_of(sentence("a Cat"), sentence("a cat")) == "R:ORTH"


def test_verbs_after_auxiliaries_change_form():
    source = sentence("has went", "have go", tags="VBZ VBD", deps="aux ROOT", heads="1 1")
    target = sentence("has goes", "have go", tags="VBZ VBZ", deps="aux ROOT", heads="1 1")
    assert classify(Span(1, 2, 1, 2), source, target) == "R:VERB:FORM"
    alone = sentence("so goes", "so go", tags="RB VBZ", deps="advmod ROOT", heads="1 1")
    assert classify(Span(1, 2, 1, 2), source, alone) == "R:VERB:TENSE"


def test_later_auxiliaries_change_form():
    deps, heads, tags = "aux aux ROOT", "2 2 2", "MD VBP VBN"
    source = sentence("may have gone", "may have go", tags=tags, deps=deps, heads=heads)
    target = sentence("may has gone", "may have go", tags="MD VBZ VBN", deps=deps, heads=heads)
    assert classify(Span(1, 2, 1, 2), source, target) == "R:VERB:FORM"
    first = sentence("has gone", "have go", tags="VBZ VBN", deps="aux ROOT", heads="1 1")
    assert classify(Span(1, 2, 0, 1), source, first) == "R:VERB:SVA"


def test_an_unknown_tag_is_an_error():
    with pytest.raises(UsageError, match=r"'NOUN-x'.*\n.*Penn Treebank"):
        type_of(one("a", "NOUN-x"), one("b"))


def changed(draw, word):
    """Change a few letters of a word."""
    letters = list(word)
    for _ in range(draw.randint(0, 3)):
        at = draw.randrange(len(letters) + 1)
        letters[at : at + draw.randint(0, 1)] = draw.choice(["", *"aeiouxtsT"])
    return "".join(letters) or "x"


def test_equals_the_package():
    package = pytest.importorskip("errant_package")
    known, tags = sorted(dictionary()), [*TAGS, *english().categories]
    special = ["to", "'ll", "your", "yours", "no", "not", "that", "what", "good", "well", "all",
               "after", "later", "therefor", "therefore", "though", "thought", "everything",
               "most", "stress", "stressed", "everyone", *WORDS]  # fmt: skip
    for seed in range(10 * PAIRS):
        draw = Random(seed)

        def words(draw=draw):
            common = [draw.choice(special), draw.choice(known)]
            return [draw.choice([*common, changed(draw, common[1])]) for _ in range(4)]

        def parsed(texts, draw=draw):
            some = [draw.sample(of, draw.randint(1, 5)) for of in (POS, tags, DEPS)]
            columns = [" ".join(draw.choices(of, k=len(texts))) for of in some]
            lemmas = " ".join(draw.choices("xy", k=len(texts)))
            heads = " ".join(map(str, draw.choices(range(len(texts)), k=len(texts))))
            return sentence(" ".join(texts), lemmas, *columns, heads=heads)

        texts = words()
        others = [changed(draw, word) for word in texts] if draw.random() < 0.5 else words()
        source, target = parsed(texts), parsed(others)
        span = Span(*(end for _ in "xy" for end in sorted(draw.choices(range(4), k=2))))
        theirs = package.edit(source, target, span)
        assert classify(span, source, target) == package.classified(theirs), seed


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("", ""),
        ("Maximum", "maxim"),
        ("presumably", "presum"),
        ("multiply", "multiply"),
        ("provision", "provid"),
        ("owed", "ow"),
        ("ear", "ear"),
        ("crying", "cry"),
        ("string", "string"),
        ("cement", "cem"),
        ("it's", "it's"),
    ],
)
def test_lancaster(word, expected):
    assert stem(word) == expected


def test_lancaster_equals_the_package():
    package = pytest.importorskip("errant_package")
    draw = Random(1)
    made = ["".join(draw.choices("aeiouybtnslyi-'é1", k=draw.randint(0, 8))) for _ in range(3000)]
    for word in [*sorted(dictionary())[::40], *made]:
        assert stem(word) == package.errant_classifier.stemmer.stem(word), word


def test_the_dictionary_is_that_of_the_package():
    package = pytest.importorskip("errant_package")
    theirs = package.errant_classifier.spell
    assert dictionary() == {word for word in theirs if word.isalpha()}
    assert english().categories == package.errant_classifier.pos_map


def test_the_dictionary_ships_with_its_licence():
    folder = shipped_pipeline().parents[1] / "en_gb_large"
    packed = (folder / "words.txt.gz").read_bytes()
    assert len(gzip.decompress(packed).split()) == len(dictionary()) == 134039
    assert "Kevin Atkinson" in (folder / "LICENSE").read_text("utf-8")
    assert {"colour", "organise", "organize", "I"} <= dictionary()
    assert dictionary().isdisjoint({"recieve", "cat's", "color"})
