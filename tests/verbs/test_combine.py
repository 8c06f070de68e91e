"""Outputs combined by votes over edits and by minimum risk, and what a perfect one could reach.

Goldens: ``golden/combination`` (independent code, standard library only): votes over the seven
systems of grammarly/pillars-of-gec @1014de0, whose two released ensembles are the same texts, and
oracles over the ERRANT edits of the twelve official systems of CoNLL-2014.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from fractions import Fraction
from hashlib import sha256
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import grammeter as gm
import page_examples
from fake_metric import Errors, counted
from grammeter import errant, formats, scoring

SAMPLE = gm.sample_corpus()


@pytest.fixture(scope="module")
def corpus():
    return gm.read_corpus(
        source=SAMPLE / "source.txt",
        references=[SAMPLE / "gold.m2"],
        systems=sorted((SAMPLE / "systems").glob("*.txt")),
    )


@pytest.fixture(scope="module")
def seven(shared):
    folder = shared / "data" / "combination"
    systems = sorted((folder / "systems").iterdir())
    return gm.read_corpus(source=folder / "source.txt", systems=systems)


@pytest.fixture(scope="module")
def official(shared):
    folder = next(shared.glob("data/*/official_systems"))
    return gm.read_corpus(
        source=shared / "data" / "combination" / "source.txt",
        references=[shared / "golden" / "errant" / "official-2014.combined.auto.m2"],
        systems=[path for path in sorted(folder.iterdir()) if path.name != "INPUT"],
    )


# least -> edits, sentences changed, SHA-256 of the text: golden/combination/vote.json
VOTES = {
    1: (3061, 1095, "65ce6ba95c725642324699514434ac71487a0e5b60389d5af9ffe5fb3726f24d"),
    2: (2209, 989, "bac1b0d2c838db69b383e8503c7f5ae61ef1fff4c92ca07b45503b034b9774d2"),
    3: (1725, 896, "460d3853e3a1dd82dd39025dbd70af4600e64f0591d8334c92ba7284c47b42c4"),
    4: (1367, 792, "4e151b34ac60ee0a87427ec89dd0e6c085bed1bf1db2f5850de4ebeec6a49aad"),
    5: (1033, 659, "b10f95332e3996159097d21797c500ad70656991962d3b43d4a454b912dc074f"),
    6: (733, 522, "2782be8a2cdfe6f0dfa6198ad327618e808308c296830b013e192409ad61f496"),
    7: (438, 352, "9edaf80c2265fe69902100b63efa695412ff93025c1d3b7ecbdcb439e584527a"),
}
THREE = "580c459fa35f708b13e8e42d4db6b2d7b65ea09d3ff8eb2bc316480b89c45bf8"


def digest(combined) -> str:
    return sha256(combined.text().encode()).hexdigest()


def test_votes_of_seven_systems_make_the_golden_texts(seven):
    for least, want in VOTES.items():
        combined = gm.combine(seven, least=least)
        assert (combined.edits, combined.changed, digest(combined)) == want
    usual = gm.combine(seven)
    assert (digest(usual), usual.least, usual.clashes) == (VOTES[4][2], 4, 0)
    doubled = gm.combine(seven, weights={"T5-11B": 2})
    assert (doubled.least, digest(doubled)) != (4, digest(usual))


def test_the_released_ensemble_of_three(seven, shared):
    names = ("Chat-LLaMa-2-13B-FT", "EditScorer", "UL2-20B")
    three = gm.Corpus(sources=seven.sources, systems={name: seven.systems[name] for name in names})
    assert digest(gm.combine(three)) == THREE
    released = shared / "data" / "combination" / "ens_m3.txt"
    assert sha256(released.read_bytes()).hexdigest() == THREE


def test_oracles_by_errant_are_the_goldens(official, shared):
    """``oracle_errant.json``; the pipeline that made its edits."""
    want = json.loads((shared / "golden/combination/oracle_errant.json").read_text("utf-8"))
    metric = gm.metrics.Errant(pipeline=str(shared / "data" / "spacy_en_ud_sm" / "base"))

    def counts(of):
        return {name: of[name] for name in ("tp", "fp", "fn")}

    best = gm.combine(official, oracle="sentence", metric=metric)
    assert counts(best.oracle.parts) == counts(want["sentence_oracle"])
    assert counts(best.worst.parts) == counts(want["sentence_worst"])
    assert best.chosen == want["sentence_oracle_chosen"]
    assert best.oracle.value == pytest.approx(0.6751, abs=5e-5)
    right = gm.combine(official, oracle="edits", metric=metric)
    assert counts(right.oracle.parts) == counts(want["edit_oracle"])
    assert counts(right.union.parts) == counts(want["union"])
    assert right.oracle.value == pytest.approx(0.8384, abs=5e-5)
    for name, score in right.systems.items():
        assert counts(score.parts) == counts(want["single"][name])


def test_votes_over_errant_edits_are_the_goldens(official, shared):
    """``oracle_errant.json``, vote: counted as edits, without extracting them anew."""
    want = json.loads((shared / "golden/combination/oracle_errant.json").read_text("utf-8"))
    files = [formats.read_m2(shared / f"golden/errant/{name}.m2") for name in official.systems]
    for least in (1, 3, 6):
        winners = []
        for blocks in zip(*(file.blocks for file in files), strict=True):
            edits = [[e for _, e in block.lines if not e.is_noop] for block in blocks]
            plain = [[gm.Edit(e.start, e.end, e.correction) for e in of] for of in edits]
            votes = [Fraction(1)] * len(plain)
            winners.append({0: tuple(scoring.vote(plain, votes, Fraction(least).__le__)[0])})
        counts = errant.compare_edits(winners, official.gold, errant.Rules()).counts
        row = want["vote"][str(least)]
        assert (counts.tp, counts.fp, counts.fn) == (row["tp"], row["fp"], row["fn"])


WORDS = st.lists(st.sampled_from("abcd"), max_size=5).map(" ".join)


@settings(max_examples=150)
@given(st.lists(WORDS, min_size=3, max_size=5), st.integers(1, 4), st.booleans())
def test_votes_are_those_of_a_slow_twin(texts, least, heavy):
    source, *outputs = texts
    systems = {f"s{at}": [text] for at, text in enumerate(outputs)}
    weights = {"s1": 2} if heavy else {}
    least = min(least, len(outputs))
    combined = gm.combine(
        gm.Corpus(sources=[source], systems=systems), least=least, weights=weights
    )
    assert combined.texts == (twin(source.split(), outputs, least, [1, 1 + heavy, 1, 1]),)


def twin(source, outputs, least, weights):
    """The rule, word by word: every candidate in turn, every token of a kept edit marked."""
    edits = [changes(source, output.split()) for output in outputs]
    votes = {}
    for of, weight in zip(edits, weights, strict=False):
        for edit in of:
            votes[edit] = votes.get(edit, 0) + weight
    ordered = sorted(
        ((-votes[e], system, place, e) for system, of in enumerate(edits)
         for place, e in enumerate(of)),
    )  # fmt: skip
    kept = []
    for number, _, _, edit in ordered:
        if -number >= least and edit not in kept and not any(bumps(edit, k) for k in kept):
            kept.append(edit)
    words = []
    for at in range(len(source) + 1):
        words += [w for s, e, new in kept if s == e == at for w in new]
        words += [w for s, e, new in kept if s == at < e for w in new]
        if at < len(source) and not any(s <= at < e for s, e, _ in kept):
            words.append(source[at])
    return " ".join(words)


def changes(source, output):
    codes = SequenceMatcher(None, source, output).get_opcodes()
    return [(a, b, tuple(output[c:d])) for tag, a, b, c, d in codes if tag != "equal"]


def bumps(one, other):
    shared = set(range(*one[:2])) & set(range(*other[:2]))
    inserts = [edit for edit in (one, other) if edit[0] == edit[1]]
    if len(inserts) == 2:
        return one[0] == other[0]
    if len(inserts) == 1:
        (insert,) = inserts
        longer = one if insert is other else other
        return longer[0] < insert[0] < longer[1]
    return bool(shared)


def test_an_insertion_at_the_edge_of_a_replacement_is_no_clash_and_comes_first():
    systems = {"A": ["a x b c"], "B": ["a y c"], "C": ["a y x c"]}
    combined = gm.combine(gm.Corpus(sources=["a b c"], systems=systems), least=1)
    assert combined.texts == ("a x y c",)  # A inserts before b, B replaces b; C clashes with B
    assert (combined.edits, combined.clashes) == (2, 1)


def test_equal_votes_go_to_the_system_that_stands_first():
    for one, other in (("x", "y"), ("y", "x")):
        systems = {"A": [f"a {one}"], "B": [f"a {other}"]}
        combined = gm.combine(gm.Corpus(sources=["a b"], systems=systems), least=1)
        assert combined.texts == (f"a {one}",)
        assert any("stands first decides: A, B" in note for note in combined.notes)


def test_shares_and_weights_that_are_no_whole_numbers_are_exact():
    systems = {name: ["b" if name < "D" else "a"] for name in "ABCDEFGHIJ"}
    corpus = gm.Corpus(sources=["a"], systems=systems)
    assert gm.combine(corpus, share=0.3).texts == ("a",)  # 3 votes of 10 are not more than 0.3
    assert gm.combine(corpus, share=0.29).texts == ("b",)
    tenths = dict.fromkeys(systems, 0.1)
    assert gm.combine(corpus, weights=tenths, least=0.3).texts == ("b",)
    shown = gm.combine(corpus, weights=tenths, share=0.3).to_dict()
    assert "least" not in shown
    assert shown["share"] == 0.3


def test_edits_by_errant(corpus):
    words = gm.combine(corpus, least=2)
    rules = gm.combine(corpus, least=2, edit_rule="errant", pipeline="plain")
    assert words.texts != rules.texts
    assert "pipeline:plain" in str(rules.signature)
    every = gm.Corpus(sources=corpus.sources, systems=dict.fromkeys("AB", corpus.systems["Fluent"]))
    for options in ({}, {"edit_rule": "errant", "pipeline": "neutral"}):
        joined = [" ".join(text.split()) for text in corpus.systems["Fluent"]]
        assert list(gm.combine(every, **options).texts) == joined


@pytest.mark.parametrize("weights", [{}, {"Echo": 3, "Fluent": 0.5}])
def test_minimum_risk_is_that_of_a_slow_twin(corpus, weights):
    part = corpus.take(range(12))
    combined = gm.combine(part, by="minimum-risk", metric="gleu(iterations=1)", weights=weights)
    scorer = gm.Scorer(["gleu(iterations=1)"])
    votes = {name: weights.get(name, 1) for name in part.systems}
    for line, text in enumerate(combined.texts):
        means = {}
        for one, other in product(part.systems, repeat=2):
            times = votes[other] if one != other else max(votes[other] - 1, 0)
            texts = [[of[line]] for of in (part.sources, part.systems[one], part.systems[other])]
            (value,) = scorer(*texts)["gleu(iterations=1)"]
            means.setdefault(one, []).append((times, value))
        risks = {n: sum(t * v for t, v in m) / sum(t for t, _ in m) for n, m in means.items()}
        best = max(risks.values())
        first = next(name for name in risks if risks[name] > best - 1e-9)
        assert text == part.systems[first][line]
    assert sum(combined.chosen.values()) == 12


@dataclass(frozen=True, kw_only=True)
class Longer(Errors):
    """Tokens of the output by those of the source: lower is better."""

    def statistics(self, segments):
        sizes = [(len(s.hypothesis.split()), len(s.source.split())) for s in segments]
        return counted(*(list(column) for column in zip(*sizes, strict=True)))


def test_minimum_risk_without_references_takes_each_sentences_best(corpus):
    combined = gm.combine(corpus, by="minimum-risk", metric=Longer())
    assert any("no reference" in note for note in combined.notes)
    lines = zip(*corpus.systems.values(), strict=True)
    assert list(combined.texts) == [min(line, key=lambda text: len(text.split())) for line in lines]
    worst = gm.combine(corpus, oracle="sentence", metric=Longer())
    assert worst.oracle.value < worst.worst.value


@pytest.mark.parametrize("metric", ["errant(pipeline=plain)", "m2", "sentm2", "gleu", "cleme"])
def test_no_combination_and_no_system_passes_the_oracle(corpus, metric):
    if metric == "cleme":
        metric = "cleme(pipeline=plain)"
    found = gm.combine(corpus, oracle="sentence", metric=metric)
    mean = metric in ("sentm2",)
    best = max(score.value for score in found.systems.values())
    assert found.worst.value <= min(s.value for s in found.systems.values()) + 1e-9 <= best + 1e-9
    assert found.oracle.value >= best - 1e-9
    assert sum(found.chosen.values()) == len(corpus)
    again = gm.score(
        gm.Corpus(sources=corpus.sources, references=corpus.references, gold=corpus.gold,
                  systems={"best": found.texts}), [metric],
    )  # fmt: skip
    assert again[metric]["best"].value == pytest.approx(found.oracle.value)
    if mean:
        lines = zip(*(gm.score(corpus, [metric])[metric].segments[n].values
                      for n in corpus.systems), strict=True)  # fmt: skip
        assert found.oracle.value == pytest.approx(sum(map(max, lines)) / len(corpus))


@pytest.mark.parametrize("metric", ["errant(pipeline=plain)", "m2", "senterrant(pipeline=plain)"])
def test_the_oracle_over_edits_of_one_system_twice_is_its_right_edits(corpus, metric):
    systems = dict.fromkeys(("A", "B"), corpus.systems["Fluent"])
    twice = gm.Corpus(sources=corpus.sources, gold=corpus.gold, systems=systems)
    united = gm.combine(twice, oracle="edits", metric=metric)
    alone = united.systems["A"]
    assert united.union.parts == alone.parts
    assert united.union.value == alone.value
    assert (united.oracle.parts["fp"], united.oracle.parts["precision"]) == (0, 1)
    more = gm.combine(corpus, oracle="edits", metric=metric)
    assert more.oracle.value >= united.oracle.value > alone.value
    assert more.chosen is None
    with pytest.raises(gm.UsageError, match="--oracle sentence"):
        more.text()


def test_unjudged_sentences_count_in_no_oracle():
    gold = [{0: (gm.Edit(0, 1, "b", "R"),)}, {}, {0: ()}]
    systems = {"A": ["b", "x", "c"], "B": ["a", "y", "c"]}
    corpus = gm.Corpus(sources=["a", "a", "c"], gold=gold, systems=systems)
    best = gm.combine(corpus, oracle="sentence", metric="m2")
    assert (best.chosen, best.oracle.parts["tp"]) == ({"A": 2, "B": 0}, 1)
    assert best.texts == ("b", "x", "c")
    assert any("unjudged" in note for note in best.notes)
    assert gm.combine(corpus, oracle="edits", metric="m2").oracle.value == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"least": 7}, "7 votes of 6"),
        ({"least": 0}, "0 votes"),
        ({"share": 1.0}, "more than 1"),
        ({"least": 2, "share": 0.1}, "two thresholds"),
        ({"weights": {"Nobody": 1}}, "unknown system"),
        ({"weights": ["Echo=-1"]}, "Echo=-1"),
        ({"weights": ["Echo=many"]}, "Echo=many"),
        ({"weights": ["Echo=1", "Echo=2"]}, "impossible"),
        ({"metric": "m2"}, "--metric belongs to"),
        ({"pipeline": "plain"}, "--pipeline belongs to"),
        ({"by": "minimum-risk"}, "no metric"),
        ({"by": "minimum-risk", "metric": "m2"}, "needs gold edits"),
        ({"by": "minimum-risk", "metric": "gleu", "least": 1}, "--least belongs to"),
        ({"by": "minimum-risk", "metric": "gotoscorer"}, "whole corpus"),
        ({"by": "majority"}, "unknown way of combining"),
        ({"edit_rule": "letters"}, "unknown edit rule"),
        ({"oracle": "words", "metric": "m2"}, "unknown oracle"),
        ({"oracle": "edits"}, "no metric"),
        ({"oracle": "edits", "metric": "gleu"}, "gleu does not hold single edits"),
        ({"oracle": "edits", "metric": "m2", "weights": {"Echo": 2}}, "--weights belongs to"),
        ({"oracle": "edits", "metric": "m2", "edit_rule": "errant"}, "--edit-rule belongs to"),
    ],
)
def test_wrong_usage(corpus, options, message):
    with pytest.raises(gm.UsageError, match=message):
        gm.combine(corpus, **options)


def test_the_command_line(tmp_path, monkeypatch, corpus):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(SAMPLE / "systems", "out")
    for name in ("source.txt", "gold.m2"):
        shutil.copy(SAMPLE / name, name)
    start = "grammeter combine -s source.txt --hyps out/Careful.txt out/Eager.txt out/Fluent.txt"
    code, printed = page_examples.run(f"{start} -o all.txt --format json")
    shown = json.loads(printed)
    systems = {name: corpus.systems[name] for name in ("Careful", "Eager", "Fluent")}
    ours = gm.combine(gm.Corpus(sources=corpus.sources, systems=systems))
    assert (code, shown) == (0, ours.to_dict())
    assert (tmp_path / "all.txt").read_text("utf-8") == ours.text()
    code, printed = page_examples.run(f"{start} -o - --quiet")
    assert printed.startswith(ours.text())
    assert "note: where votes of clashing edits are equal" in printed
    code, printed = page_examples.run(f"{start} -r gold.m2 -m m2 --oracle sentence -o best.txt")
    assert "oracle: sentence" in printed
    best = gm.combine(gm.Corpus(sources=corpus.sources, gold=corpus.gold, systems=systems),
                      oracle="sentence", metric="m2")  # fmt: skip
    assert (tmp_path / "best.txt").read_text("utf-8") == best.text()
    (tmp_path / "short.txt").write_text("one line\n", "utf-8")
    bad = {
        "--hyps out/Eager.txt": (2, "nothing to combine"),
        "--hyps out/Eager.txt short.txt": (3, "short.txt: 1 lines"),
        "--hyps out/Eager.txt out/Eager.txt": (3, "two systems are called 'Eager'"),
        "--hyps out/Eager.txt out/Fluent.txt --least 3": (2, "3 votes of 2"),
        "--hyps out/*.txt -r gold.m2 -m m2 --oracle edits -o x.txt": (2, "--output belongs to"),
    }
    for options, (exit_code, message) in bad.items():
        code, printed = page_examples.run(f"grammeter combine -s source.txt {options}")
        assert (code, message in printed) == (exit_code, True), printed
    assert not (tmp_path / "x.txt").exists()


def test_references_of_a_systems_own_make_no_oracle(corpus):
    own = {name: formats.OwnReferences(references=corpus.references) for name in corpus.systems}
    mine = replace(corpus, references=(), gold=(), own=own)
    assert gm.combine(mine).texts == gm.combine(corpus).texts
    with pytest.raises(gm.UsageError, match="references of their own"):
        gm.combine(mine, oracle="sentence", metric="gleu")
    with pytest.raises(gm.UsageError, match="references of their own"):
        gm.meta_attack(mine, ["gleu"])
