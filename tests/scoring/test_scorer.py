"""gm.Scorer: the scores of ``score``, again and again, from any thread, in bounded memory."""

from __future__ import annotations

import threading

import pytest

import grammeter as gm
from grammeter.core import LengthMismatchError, UsageError
from grammeter.metrics import Gleu
from grammeter.scoring import scorer as module

SOURCES = ["he go home .", "all fine .", "they was late"]
HYPOTHESES = ["he goes home .", "all fine .", "they were lately"]
REFERENCES = ["he goes home .", "all fine .", "they were late"]
OTHERS = ["he went home .", "all is fine .", "they were late"]


@pytest.fixture
def scorer():
    return gm.Scorer(["gleu", "errant(pipeline=neutral)"])


@pytest.fixture
def counted(monkeypatch):
    """How many segments GLEU was asked for, call by call."""
    asked = []
    count = Gleu.statistics

    def counting(self, segments):
        asked.append(len(segments))
        return count(self, segments)

    monkeypatch.setattr(Gleu, "statistics", counting)
    return asked


def alone(metric, source, hypothesis, references):
    corpus = gm.Corpus(
        sources=[source], references=[[text] for text in references], systems={"it": [hypothesis]}
    )
    return gm.score(corpus, [metric])[metric].segments["it"].values[0]


@pytest.mark.parametrize(
    ("references", "lists"),
    [
        (REFERENCES, [[text] for text in REFERENCES]),
        ([[text] for text in REFERENCES], [[text] for text in REFERENCES]),
        (list(zip(REFERENCES, OTHERS, strict=True)), list(zip(REFERENCES, OTHERS, strict=True))),
        ([REFERENCES[0], OTHERS[:1] * 3, tuple(REFERENCES)], [
            REFERENCES[:1], OTHERS[:1] * 3, REFERENCES]),
    ],
)  # fmt: skip
def test_each_sentence_has_the_score_that_score_gives_it_alone(scorer, references, lists):
    found = scorer(SOURCES, HYPOTHESES, references)
    for metric in ("gleu", "errant(pipeline=neutral)"):
        assert found[metric] == [
            alone(metric, *row) for row in zip(SOURCES, HYPOTHESES, lists, strict=True)
        ]


def test_the_corpus_score_is_that_of_score(scorer):
    references = [REFERENCES[:1], [OTHERS[1], REFERENCES[1]], REFERENCES[2:]]
    found = scorer.corpus(SOURCES, HYPOTHESES, references)
    corpus = gm.Corpus(
        sources=SOURCES,
        references=[[REFERENCES[0], OTHERS[1], REFERENCES[2]], [None, REFERENCES[1], None]],
        systems={"it": HYPOTHESES},
    )
    table = gm.score(corpus, ["gleu", "errant(pipeline=neutral)"])
    for name, score in found.items():
        assert score.value == table[name]["it"].value


def test_metrics_are_keyed_as_they_were_given():
    metric = gm.metric("gleu(order=2)")
    scorer = gm.Scorer([metric, "gleu( order = 3 )"])
    assert list(scorer(SOURCES, HYPOTHESES, REFERENCES)) == ["gleu(order=2)", "gleu( order = 3 )"]
    assert scorer.metrics == (metric, gm.metric("gleu(order=3)"))


def test_known_sentences_are_not_scored_again(counted):
    scorer = gm.Scorer(["gleu"])
    first = scorer(SOURCES, HYPOTHESES, REFERENCES)
    assert scorer(SOURCES, HYPOTHESES, REFERENCES) == first
    scorer([*SOURCES, "new"], [*HYPOTHESES, "new"], [*REFERENCES, "new"])
    scorer(SOURCES[:1] * 5, HYPOTHESES[:1] * 5, OTHERS[:1] * 5)
    assert [count for count in counted if count] == [3, 1, 1]


def test_no_more_is_remembered_than_allowed(counted, monkeypatch):
    monkeypatch.setattr(module, "REMEMBERED", 2)
    scorer = gm.Scorer(["gleu"])
    scorer(SOURCES, HYPOTHESES, REFERENCES)
    assert len(scorer._known) == 2
    scorer(SOURCES[1:], HYPOTHESES[1:], REFERENCES[1:])  # the last two are known
    scorer(SOURCES[:1], HYPOTHESES[:1], REFERENCES[:1])  # the first is not
    assert [count for count in counted if count] == [3, 1]


def test_what_went_wrong_is_told_and_tried_again(monkeypatch):
    count, failing = Gleu.statistics, True

    def sometimes(self, segments):
        if failing and any("go" in segment.source.split() for segment in segments):
            raise RuntimeError("out of memory")
        return count(self, segments)

    monkeypatch.setattr(Gleu, "statistics", sometimes)
    scorer = gm.Scorer(["gleu"])
    found = scorer(SOURCES, HYPOTHESES, REFERENCES)["gleu"]
    assert found[0] is None
    assert None not in found[1:]
    assert scorer.reasons(SOURCES, HYPOTHESES, REFERENCES) == {
        "gleu": ["RuntimeError: out of memory", "", ""]
    }
    failing = False
    assert scorer(SOURCES, HYPOTHESES, REFERENCES)["gleu"][0] is not None


def test_threads_get_the_scores_of_one(scorer):
    rows = [(f"{text} {number}", f"{out} {number}", text) for number in range(20)
            for text, out in zip(SOURCES, HYPOTHESES, strict=True)]  # fmt: skip
    expected = gm.Scorer(["gleu", "errant(pipeline=neutral)"])(*zip(*rows, strict=True))
    found, faults = {}, []

    def work(number):
        try:
            part = rows[number % 3 :: 3]
            found[number] = scorer(*zip(*part, strict=True))
        except Exception as error:
            faults.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    for number, scores in found.items():
        for name, values in scores.items():
            assert values == expected[name][number % 3 :: 3]


def test_the_runtime_of_the_maker_holds_in_other_threads(tmp_path):
    seen = []

    class Seeing(Gleu):
        def statistics(self, segments):
            from grammeter.models import current

            seen.append(current().batch_tokens)
            return super().statistics(segments)

    with gm.using(gm.Runtime(batch_tokens=77)):
        scorer = gm.Scorer([Seeing()])
    thread = threading.Thread(target=scorer, args=(SOURCES, HYPOTHESES, REFERENCES))
    thread.start()
    thread.join()
    assert seen == [77]


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ((SOURCES, HYPOTHESES), UsageError, "references"),
        ((SOURCES, HYPOTHESES, [REFERENCES[0], None, REFERENCES[2]]), UsageError, "references"),
        ((SOURCES, HYPOTHESES, [REFERENCES[0], [], REFERENCES[2]]), UsageError, "references"),
        ((SOURCES, HYPOTHESES[:2], REFERENCES), LengthMismatchError, "hypotheses"),
        ((SOURCES, HYPOTHESES, REFERENCES[:1]), LengthMismatchError, "references"),
        ((SOURCES, HYPOTHESES, []), LengthMismatchError, "references"),
        (("abc", "abd", "abe"), UsageError, "one text"),
        ((SOURCES, HYPOTHESES, "abc"), UsageError, "one text"),
    ],
)
def test_what_cannot_be_scored_is_refused(scorer, arguments, error, said):
    with pytest.raises(error, match=said):
        scorer(*arguments)


@pytest.mark.parametrize(
    ("metrics", "said"),
    [([], "no metric"), (["gleu", "gleu"], "twice"), ("gleu", "list"), (["glue"], "glue")],
)
def test_scorers_that_cannot_be(metrics, said):
    with pytest.raises(UsageError, match=said):
        gm.Scorer(metrics)


@pytest.mark.parametrize("metric", ["m2", "gotoscorer(pipeline=neutral)"])
def test_metrics_that_do_not_score_sentences_of_texts(metric):
    with pytest.raises(UsageError, match=r"gold|corpus"):
        gm.Scorer([metric])(SOURCES, HYPOTHESES, REFERENCES)


def test_nothing_is_scored_as_nothing(scorer):
    assert scorer([], [], []) == {"gleu": [], "errant(pipeline=neutral)": []}
