"""M2 and SentM2: the official scorer's figures, its rules by hand, and bad input."""

from __future__ import annotations

import csv
import gzip
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammeter.alignment import matcher
from grammeter.core import Edit, Segment, UsageError
from grammeter.formats import Corpus, read_corpus, read_m2
from grammeter.formats.text import read_lines
from grammeter.metrics.m2 import M2, SentM2
from grammeter.resources import sample_corpus
from grammeter.verbs import score

# Figures: golden/classic, made with nusnlp/m2scorer 2122ffd (version 3.2) and cb874a7 (head);
# see the README there.


def golden(shared, name):
    path = shared / "golden" / "classic" / name
    opened = gzip.open if name.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.fixture(scope="module")
def conll(shared):
    folder = shared / "data" / "conll14_test"
    return read_corpus(
        source=folder / "source.txt",
        references=[folder / "noalt" / "official-2014.combined.m2"],
        systems=sorted((folder / "official_systems").iterdir()),
    )


@pytest.fixture(scope="module")
def table(conll):
    return score(conll, ["m2", "sentm2", "sentm2(annotator=last)"])


def counts(parts):
    return parts["tp"], parts["tp"] + parts["fp"], parts["tp"] + parts["fn"]


def wanted(row):
    return int(row["correct"]), int(row["proposed"]), int(row["gold_edits"])


def test_corpus_figures_under_all_settings(shared, conll):
    """All rows: both versions, three betas, alternatives, 0 to 5 unchanged words, case."""
    alternatives = shared / "data/conll14_test/alt/official-2014.combined-withalt.m2"
    gold = {
        "combined": conll.gold,
        "combined-withalt": [block.gold for block in read_m2(alternatives).blocks],
    }
    settings = {}
    rows = golden(shared, "m2_corpus.tsv")
    for row in rows:
        key = row["version"], row["gold"], row["max_unchanged"], row["ignore_ws_case"]
        settings.setdefault(key, []).append(row)
    for (version, edits, max_unchanged, ignore), group in settings.items():
        systems = {row["system"]: conll.systems[row["system"]] for row in group}
        corpus = Corpus(sources=conll.sources, systems=systems, gold=gold[edits])
        options = f"max_unchanged={max_unchanged}, row0={version}"
        options += ", ignore_case=true" if ignore == "1" else ""
        betas = {row["beta"]: f"m2(beta={row['beta']}, {options})" for row in group}
        table = score(corpus, list(betas.values()))
        for row in group:
            found = table[betas[row["beta"]]][row["system"]]
            assert counts(found.parts) == wanted(row), row
            figures = found.parts["precision"], found.parts["recall"], found.value
            published = [float(row[key]) for key in ("precision", "recall", "f")]
            assert figures == pytest.approx(published, abs=1e-12)
    assert len(rows) == 92


def test_every_sentence_and_its_annotator(shared, table):
    rows = golden(shared, "m2_sentences.tsv.gz")
    assert len(rows) == 17056
    for row in rows:
        system, line = row["system"], int(row["line"])
        running = table["m2"].segments[system].in_corpus
        assert running.chosen[line] == int(row["annotator"])
        assert running.values[line] == pytest.approx(float(row["f_running"]), abs=1e-12)
        for name in ("m2", "sentm2"):
            alone = table[name].segments[system]
            assert alone.chosen[line] == int(row["annotator_alone"])
            assert alone.values[line] == pytest.approx(float(row["f_best"]), abs=1e-12)
        last = table["sentm2(annotator=last)"].segments[system]
        assert last.values[line] == pytest.approx(float(row["f_last"]), abs=1e-12)
        assert counts_by_annotator(table, system, line) == row["counts_by_annotator"]


def counts_by_annotator(table, system, line):
    statistics = table["m2"].statistics[system]
    return ";".join(
        f"{label}:{','.join(map(str, row))}"
        for label, row, present in zip(
            statistics.labels, statistics.rows[line].tolist(), statistics.present[line], strict=True
        )
        if present
    )


def test_means_of_sentence_scores(shared, table):
    for row in golden(shared, "sentm2.tsv"):
        best = table["sentm2"][row["system"]].value
        last = table["sentm2(annotator=last)"][row["system"]].value
        assert best == pytest.approx(float(row["mean_best_annotator"]), abs=1e-12)
        assert last == pytest.approx(float(row["mean_last_annotator"]), abs=1e-12)


def test_sentence_scores_published_by_chollampatt_and_ng(shared, table):
    # data/meta_chollampatt_ng_2018: their program took the last annotator listed, not the best
    folder = shared / "data" / "meta_chollampatt_ng_2018" / "scores" / "sentence_scores_metrics"
    with gzip.open(folder / "m2score.txt.gz", "rt") as file:
        lines = file.read().splitlines()
    assert len(lines) == 17056
    scores = table["sentm2(annotator=last)"].segments
    for fields in (line.split("\t") for line in lines):
        assert scores[fields[3]].values[int(fields[4])] == pytest.approx(float(fields[5]), abs=1e-9)


def test_edits_of_two_systems(shared, conll):
    answers = {
        (row["system"], int(row["line"]), int(row["annotator"])): json.loads(row["edits"])
        for row in golden(shared, "m2_edits_AMU_POST.tsv.gz")
    }
    compared = 0
    for system in ("AMU", "POST"):
        for line, segment in enumerate(conll.segments(system)):
            for annotator, edits in M2().edits(segment).items():
                assert [list(e) for e in edits] == answers.get((system, line, annotator), [])
                compared += bool(edits)
    assert compared == len(answers)


@pytest.mark.parametrize(
    ("name", "gold", "lines"),
    [
        ("et_all", "lang_et_estgec/Tartu_L1_corpus/test/test_m2.txt", "m2_derived_et_all.txt.gz"),
        ("et_half", "lang_et_estgec/Tartu_L1_corpus/test/test_m2.txt", "m2_derived_et_half.txt.gz"),
        ("c13_half", "conll13_test/official_2013-preprocessed.m2", "m2_derived_c13_half.txt.gz"),
        ("c13_all", "conll13_test/official_2013-preprocessed.m2", "m2_derived_c13_all.txt.gz"),
    ],
)
def test_gold_applied_to_itself(shared, name, gold, lines):
    """Estonian gold is unsorted, so that even perfect outputs lose matches: as in the scorer."""
    file = read_m2(shared / "data" / gold, lenient=True)
    corpus = Corpus(
        sources=file.sources,
        systems={"x": read_lines(shared / "golden" / "classic" / lines)},
        gold=[{0: block.gold[0]} for block in file.blocks],
    )
    table = score(corpus, ["m2"])
    rows = {row["set"]: row for row in golden(shared, "m2_derived_corpus.tsv")}
    if name in rows:
        assert counts(table["m2"]["x"].parts) == wanted(rows[name])
    for row in golden(shared, "m2_derived_sentences.tsv.gz"):
        if row["set"] == name:
            found = table["m2"].statistics["x"].rows[int(row["line"]), 0].tolist()
            assert found == [int(row[key]) for key in ("correct", "proposed", "gold")], row


def test_pathological_inputs(shared):
    """Inputs on which the original needs minutes to hours: the counts are right."""
    folder = shared / "golden" / "classic"
    blocks = read_m2(folder / "pathological.m2").blocks
    hypotheses = (folder / "pathological.hyp.txt").read_text("utf-8").split("\n")
    rows = golden(shared, "pathological.tsv")
    for row in rows:
        line, annotator = int(row["line"]), int(row["annotator"])
        gold = {annotator: blocks[line].gold[annotator]}
        segment = Segment(blocks[line].source, hypotheses[line], (), gold)
        found = M2().statistics([segment]).rows[0, 0].tolist()
        assert found == [int(row[key]) for key in ("correct", "proposed", "gold")], row["name"]
        if row["edits_if_unique"]:
            edits = [list(edit) for edit in M2().edits(segment)[annotator]]
            assert edits == json.loads(row["edits_if_unique"])
    assert len(rows) == 24


def segment(source, hypothesis, **gold):
    by_annotator = {int(key[1:]): tuple(edits) for key, edits in gold.items()}
    return Segment(source, hypothesis, (), by_annotator)


def test_a_sentence_by_hand():
    one = segment("a b c d", "a x c", _0=[Edit(1, 2, "x"), Edit(3, 4, "d e")])
    scored = M2().evaluate([one])
    # proposed: b -> x, d -> nothing; gold: b -> x, d -> d e
    assert scored.parts == {"precision": 0.5, "recall": 0.5, "tp": 1, "fp": 1, "fn": 1}
    assert scored.value == 0.5


def test_nothing_proposed_and_nothing_to_find():
    assert M2().evaluate([segment("a b", "a b", _0=[])]).value == 1
    assert M2().evaluate([segment("a b", "a c", _0=[])]).value == 0
    assert M2().evaluate([segment("a b", "a b", _0=[Edit(0, 1, "c")])]).value == 0


@pytest.mark.parametrize(
    ("source", "hypothesis", "proposed"), [("", "", 0), ("a b", "", 1), ("", "a b", 1)]
)
def test_empty_sides(source, hypothesis, proposed):
    rows = M2().statistics([segment(source, hypothesis, _0=[])]).rows
    assert rows.tolist() == [[[0, proposed, 0]]]


def test_white_space_of_any_kind_separates():
    one = segment("a b c", "a  b\tx ", _0=[Edit(2, 3, "x")])
    assert M2().evaluate([one]).value == 1


def test_alternatives_count_as_right():
    gold = [Edit(0, 1, "b", "", ("c", "d"))]
    assert M2().evaluate([segment("a", "d", _0=gold)]).value == 1


def test_a_doubled_gold_edit_counts_twice():
    gold = [Edit(0, 1, "b"), Edit(0, 1, "b")]
    assert M2().statistics([segment("a x", "b x", _0=gold)]).rows.tolist() == [[[2, 1, 2]]]


def test_unsorted_gold_loses_matches_unless_sorted():
    one = segment("a x b", "c x d", _0=[Edit(2, 3, "d"), Edit(0, 1, "c")])
    assert M2().statistics([one]).rows.tolist() == [[[1, 2, 2]]]
    assert M2(sort_gold=True).statistics([one]).rows.tolist() == [[[2, 2, 2]]]


def test_case_can_be_ignored():
    one = segment("a b", "A b", _0=[])
    assert M2().evaluate([one]).value == 0
    assert M2(ignore_case=True).evaluate([one]).value == 1


def test_a_sentence_score_does_not_depend_on_what_came_before():
    words = [f"w{n}" for n in range(30)]
    missed = [Edit(n, n + 1, "v") for n in range(30)]
    first = segment(" ".join(words), " ".join(words), _0=missed)
    gold = [Edit(0, 1, "x"), Edit(1, 2, "y")]
    torn = segment(
        " ".join(words), " ".join(["x", "y", *words[2:]]), _0=[*gold, *missed[2:12]], _1=gold[:1]
    )
    scores = M2().sentences(M2().statistics([first, torn]))
    assert (scores.chosen[1], scores.values[1]) == (1, 1.25 / 2.25)
    # after what was missed, a second hit is worth more than ten further misses cost
    assert (scores.in_corpus.chosen[1], scores.in_corpus.values[1]) == (0, 0.5)
    assert SentM2(annotator=0).sentences(M2().statistics([first, torn])).in_corpus is None


def test_an_annotator_who_is_not_listed_gives_no_score():
    segments = [segment("a", "b", _0=[]), segment("a", "b", _0=[], _1=[])]
    metric = SentM2(annotator=1)
    scores = metric.sentences(metric.statistics(segments))
    assert np.isnan(scores.values).tolist() == [True, False]
    assert "not listed" in metric.evaluate(segments).reason
    with pytest.raises(UsageError, match="no annotator 7"):
        SentM2(annotator=7).evaluate(segments)


def test_explain_tells_matched_spurious_and_missed_apart():
    gold = [Edit(1, 2, "x", "R:NOUN"), Edit(3, 4, "y", "R:VERB")]
    explained = M2().explain(segment("a b c d", "z x c d", _0=gold))
    assert [(j.original, j.edit.correction, j.edit.type, j.verdict) for j in explained.edits] == [
        ("a", "z", "", "spurious"),
        ("b", "x", "R:NOUN", "matched"),
        ("d", "y", "R:VERB", "missed"),
    ]
    assert explained.parts["tp"] == 1


@pytest.mark.parametrize(
    "wrong", [{"beta": 0}, {"beta": -1.0}, {"max_unchanged": -1}, {"row0": "4"}]
)
def test_impossible_fields(wrong):
    with pytest.raises(UsageError):
        M2(**wrong)


WORDS = st.lists(st.sampled_from("abc"), max_size=5)


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=5))
def test_the_corpus_score_is_that_of_the_summands(pairs):
    segments = [segment(" ".join(a), " ".join(b), _0=[], _1=[Edit(0, 0, "b")]) for a, b in pairs]
    for metric in (M2(), SentM2(), SentM2(annotator="last")):
        statistics = metric.statistics(segments)
        whole = metric.value_of(metric.summands(statistics).sum(axis=0))
        assert whole == pytest.approx(metric.score(statistics).value, abs=1e-12)


# --- explanations --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def outputs():
    """All distinct outputs of the sample corpus."""
    sample = sample_corpus()
    corpus = read_corpus(
        source=sample / "source.txt",
        references=[sample / "gold.m2"],
        systems=sorted(sample.glob("systems/*.txt")),
    )
    found = {
        (segment.source, segment.hypothesis): segment
        for system in corpus.systems
        for segment in corpus.segments(system)
    }
    return list(found.values())


@pytest.mark.parametrize(
    "metric",
    [M2(), M2(beta=1.0), M2(ignore_case=True), M2(sort_gold=True), SentM2(annotator="last")],
    ids=str,
)
def test_an_explanation_is_of_the_statistics_and_the_edits(metric, outputs):
    for segment in outputs:
        found = metric.explain(segment)
        scores = metric.sentences(metric.statistics([segment]))
        assert (found.value, found.chosen) == (scores.values[0], scores.chosen[0])
        assert [found.parts[key] for key in ("tp", "fp", "fn")] == [
            scores.parts[key][0] for key in ("tp", "fp", "fn")
        ]
        verdicts = [judged.verdict for judged in found.edits]
        proposed = metric.edits(segment)[found.chosen]
        assert verdicts.count("spurious") == found.parts["fp"]
        assert len(verdicts) - verdicts.count("missed") == len(proposed)


def test_an_explanation_matches_a_sentence_once(monkeypatch, outputs):
    """Matching is most of the cost of a report."""
    calls = []

    def counted(*arguments, **settings):
        calls.append(arguments)
        return matcher(*arguments, **settings)

    monkeypatch.setattr("grammeter.metrics.m2.matcher", counted)
    changed = [s for s in outputs if s.source.split() != s.hypothesis.split()]
    for segment in changed:
        M2().explain(segment)
    assert len(calls) == len(changed)


def test_verdicts_know_the_order_of_the_gold_edits():
    gold = {0: (Edit(2, 3, "C"), Edit(0, 1, "A"))}  # not sorted: the scorer loses a match
    segment = Segment(source="a b c", hypothesis="A b C", references=(), gold=gold)
    lost, found = M2().explain(segment), M2(sort_gold=True).explain(segment)
    assert sorted(judged.verdict for judged in lost.edits) == ["matched", "missed", "spurious"]
    assert [judged.verdict for judged in found.edits] == ["matched", "matched"]
    assert (lost.parts["tp"], found.parts["tp"]) == (1, 2)
