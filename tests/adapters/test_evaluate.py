"""The shape of ``evaluate``: what compute gives is what score gives."""

import pytest

import grammeter as gm
from grammeter.adapters.loops import Evaluate
from grammeter.core import DataError, UsageError

SOURCES = ["he go home .", "all fine ."]
PREDICTIONS = ["he goes home .", "all is fine ."]
REFERENCES = [["he goes home .", "he went home ."], "all fine ."]


def expected(metric="gleu"):
    corpus = gm.Corpus(
        sources=SOURCES,
        references=[["he goes home .", "all fine ."], ["he went home .", None]],
        systems={"it": PREDICTIONS},
    )
    return gm.score(corpus, [metric])[metric]["it"]


def test_compute_scores_as_a_corpus_with_parts():
    result = Evaluate("gleu", "errant(pipeline=neutral)").compute(
        predictions=PREDICTIONS, sources=SOURCES, references=REFERENCES
    )
    assert result["gleu"] == expected().value
    assert result["gleu.std"] == expected().parts["std"]
    edits = "errant(pipeline=neutral)"
    assert result[f"{edits}.tp"] == expected(edits).parts["tp"]


def test_a_sentence_without_reference_is_refused():
    with pytest.raises(DataError, match="2: this sentence cannot be judged: no reference"):
        Evaluate("gleu").compute(
            predictions=PREDICTIONS, sources=SOURCES, references=[REFERENCES[0], None]
        )


@pytest.mark.parametrize(
    "inputs",
    [
        {"predictions": PREDICTIONS, "sources": []},
        {"predictions": PREDICTIONS, "sources": SOURCES[:1], "references": REFERENCES},
        {"predictions": PREDICTIONS, "sources": SOURCES, "references": REFERENCES[:1]},
    ],
)
def test_lists_of_unequal_lengths_are_refused(inputs):
    with pytest.raises(DataError, match="lines, but"):
        Evaluate("gleu").compute(**inputs)


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({"predictions": PREDICTIONS, "sources": SOURCES}, "references"),
        ({"predictions": PREDICTIONS, "sources": None}, "sources is None"),
        ({"predictions": "ab", "sources": "ab", "references": "ab"}, "is one text"),
        ({"predictions": ["ab"], "sources": ["ab"], "references": "a"}, "is one text"),
    ],
)
def test_what_is_missing_is_named(inputs, said):
    with pytest.raises(UsageError, match=said):
        Evaluate("gleu").compute(**inputs)
