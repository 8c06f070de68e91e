"""MAEGE against the public program's figures, a slow twin, and cases done by hand."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections import Counter
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import made_models
from grammeter.core import (
    Edit,
    Score,
    SegmentScores,
    Signature,
    Statistics,
    UnknownNameError,
    UsageError,
)
from grammeter.formats import read_m2
from grammeter.meta._maege import chain_result, maege
from grammeter.meta.partial import MaegeDesign, binomial_of, partial_outputs, worth_uncorrected
from grammeter.metrics import BUILT_IN, metric

GOLD_M2 = "data/conll14_test/alt/official-2014.combined-withalt.m2"


@dataclass
class Measure:
    """A metric that is a function of source, hypothesis and references; a corpus is its mean."""

    of: object
    needs: ClassVar = "nothing"
    higher_is_better: ClassVar = True
    seen: list = field(default_factory=list)

    def pooled_statistics(self, segments, copies):
        assert len(segments) == len(copies)
        self.seen += segments
        values = np.array([self.of(segment) for segment in segments], dtype=float)
        return Statistics(
            values[:, None, None], np.ones((len(segments), 1), dtype=bool), (0,), ("value",)
        )

    def score(self, statistics):
        return Score(float(statistics.rows.mean()), self.signature(), len(statistics))

    def sentences(self, statistics):
        return SegmentScores(statistics.rows[:, 0, 0], np.full(len(statistics), -1), {})

    def signature(self, context=None):
        return Signature.of("measure", context or {})


class Against(Measure):
    needs: ClassVar = "texts"


class Worse(Measure):
    higher_is_better: ClassVar = False


def distance(a, b):
    """Levenshtein distance, a column of the table at a time in the bits of a number (Myers)."""
    full, last = (1 << len(a)) - 1, 1 << len(a) >> 1
    places = dict.fromkeys(b, 0)
    for place, letter in enumerate(a):
        places[letter] = places.get(letter, 0) | 1 << place
    up, down, result = full, 0, len(a)
    for letter in b:
        here = places[letter]
        level = (((here & up) + up) ^ up) | here
        rise, fall = down | ~(level | up) & full, up & level
        result += bool(rise & last) - bool(fall & last)
        rise = rise << 1 | 1
        up = (fall << 1 | ~(here | down | rise)) & full
        down = rise & (here | down) & full
    return result if a else len(b)


# --- the public program --------------------------------------------------------------------


@pytest.fixture(scope="module")
def golden(shared):
    # borgr/EoE 68e8058 on the combined CoNLL-14 file; see shared/golden/neural/README.md
    return json.loads((shared / "golden/neural/maege.json").read_text())


@pytest.fixture(scope="module")
def conll14(shared):
    blocks = read_m2(shared / GOLD_M2).blocks
    return [block.source for block in blocks], [block.gold for block in blocks]


def sha(texts):
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def per_sentence(chains):
    return Counter(Counter(chain.sentence for chain in chains).values())


@pytest.mark.parametrize(("seed", "limit"), [(1, 1), (2, 1), (1, 5)])
def test_chains_are_those_of_the_public_program(golden, conll14, seed, limit):
    expected = golden["seeds"][f"seed{seed}_maxperm{limit}"]
    chains = partial_outputs(*conll14, MaegeDesign(seed=seed, max_orders=limit)).chains
    texts = [text for chain in chains for text in chain.texts]
    worth = np.concatenate([chain.worth for chain in chains])
    sentences = list(dict.fromkeys(str(chain.sentence) for chain in chains))
    lengths = Counter(len(chain.texts) for chain in chains)
    assert sha(texts) == expected["nodes_sha256"]
    assert sha(sentences) == expected["source_ids_sha256"]
    assert (len(sentences), len(chains), len(texts)) == (
        expected["sources"], expected["chains"], expected["nodes"],
    )  # fmt: skip
    assert {str(k): v for k, v in per_sentence(chains).items()} == expected["chains_per_source"]
    assert {str(k): v for k, v in lengths.items()} == expected["chain_length_histogram"]
    assert worth.sum() == pytest.approx(expected["human_sum"], abs=1e-9)
    assert worth.min() == pytest.approx(expected["human_min"], abs=1e-12)
    assert texts.count("") == expected["empty_nodes"]
    repeated = sum(len(set(chain.texts)) < len(chain.texts) for chain in chains)
    assert repeated == expected["chains_with_repeated_text"]


@pytest.mark.parametrize("seed", [1, 2])
def test_pseudo_scores_of_the_first_sentences(golden, conll14, seed):
    expected = golden["seeds"][f"seed{seed}_maxperm1"]["human_first_3_sources"]
    chains = partial_outputs(*conll14, MaegeDesign(seed=seed)).chains
    for chain, worth in zip(chains, expected, strict=False):
        assert chain.worth == pytest.approx(worth, abs=1e-9)


def test_sentences_without_chains_are_counted(golden, conll14):
    # a block without any edit line reads as "nothing to correct": 117 of the 184 with one chain
    dropped = partial_outputs(*conll14, MaegeDesign()).dropped
    expected = golden["filter"]["dropped"]
    assert dropped["long"] == expected["long"]
    assert dropped["uncorrected"] == expected["noop"] + 117
    assert dropped["one chain"] == expected["one_chain"] - 117


@pytest.mark.parametrize("seed", [1, 2])
def test_corpora_are_those_of_the_public_program(golden, conll14, seed):
    expected = golden["seeds"][f"seed{seed}_maxperm1"]["corpora"]
    corpora = partial_outputs(*conll14, MaegeDesign(seed=seed)).corpora
    assert [sha(line.text for line in lines) for lines in corpora] == expected["text_sha256"]
    assert [len(lines) for lines in corpora] == expected["sizes"]
    assert sha(str(line.sentence) for line in corpora[0]) == expected["ids_sha256"]
    for lines, histogram in zip(corpora, expected["applied_histogram"], strict=True):
        counts = Counter(str(line.applied) for line in lines)
        assert counts == histogram
    assert [binomial_of(mean) for mean in range(11)] == [
        pytest.approx(tuple(pair)) for pair in expected["binomial_n_p"]
    ]


@pytest.mark.parametrize("seed", [1, 2])
def test_random_sources_are_those_of_the_public_program(golden, conll14, seed):
    expected = golden["seeds"][f"seed{seed}_maxperm1"]["random_sources_sha256"]
    chains = partial_outputs(*conll14, MaegeDesign(seed=seed, given="random")).chains
    assert sha(chain.source for chain in chains) == expected


def likeness(segment):
    """1 - distance / characters of the source."""
    source, text = segment.source, segment.hypothesis
    return 1 - distance(source, text) / len(source) if source else 1.0


@pytest.mark.parametrize(
    ("source", "name"),
    [("source", "LD_source_to_output"), ("random", "LD_random_source_to_output")],
)
def test_correlations_are_those_of_the_public_program(golden, conll14, source, name):
    expected = golden["seeds"]["seed1_maxperm1"][name]
    outcome = {}
    for ties in ("half", "concordant", "drop"):
        measure = cached(likeness)
        outcome[ties] = maege(
            *conll14, {"LD": measure}, design=MaegeDesign(ties=ties, given=source)
        )
    halves = outcome["half"]["LD"]
    assert halves.sentence["pearson"].statistic == pytest.approx(
        expected["sentence_pearson"], abs=1e-9
    )
    assert halves.sentence["spearman"].statistic == pytest.approx(
        expected["sentence_spearman"], abs=1e-9
    )
    pairs = expected["chain_pairs"]
    assert halves.chain.concordant == pairs["concordant"]
    assert halves.chain.discordant == pairs["discordant"]
    assert halves.chain.ties == pairs["metric_ties"]
    taus = {ties: result["LD"].chain.kendall for ties, result in outcome.items()}
    assert taus["half"] == pytest.approx(expected["chain_tau_ties_half"], abs=1e-9)
    assert taus["drop"] == pytest.approx(expected["chain_tau_ties_skipped"], abs=1e-9)
    stable, pvalue = expected["chain_tau_reference_stable_sort"]
    assert taus["concordant"] == pytest.approx(stable, abs=1e-9)
    assert outcome["concordant"]["LD"].chain.pvalue == pytest.approx(pvalue, abs=1e-9)


_KNOWN = {}


def cached(function):
    """Remember values between tests: the table of distances is slow."""

    def known(segment):
        key = segment.source, segment.hypothesis
        if key not in _KNOWN:
            _KNOWN[key] = function(segment)
        return _KNOWN[key]

    return Measure(known)


def test_corpus_correlations_are_those_of_the_public_program(golden, conll14):
    expected = golden["seeds"]["seed1_maxperm1"]["corpora"]
    result = maege(*conll14, {"LD": cached(likeness)})["LD"]
    assert result.values == pytest.approx(expected["LD_to_corpus0_mean"], abs=1e-9)
    values = [result.corpus[kind].statistic for kind in ("pearson", "spearman")]
    assert values == pytest.approx(expected["LD_pearson_spearman"], abs=1e-9)


# --- small corpora -------------------------------------------------------------------------

SOURCES = ["a b c", "a b", "a a a b"]
GOLD = [
    {0: (Edit(0, 1, "x"), Edit(2, 3, "y")), 2: (Edit(1, 2, "z"),)},
    {0: (Edit(0, 0, "w"),), 1: (Edit(1, 2, ""),)},
    {0: (Edit(0, 1, "x"), Edit(1, 2, "y"), Edit(2, 3, "z"))},
]


def right(segment):
    return sum(word in "wxyz" for word in segment.hypothesis.split())


def test_a_perfect_metric_has_perfect_chains():
    gold = [*GOLD]
    gold[1] = {0: (Edit(0, 0, "w"),), 1: (Edit(1, 2, "z"),)}
    result = maege(SOURCES, gold, {"right": Measure(right)}, design=MaegeDesign(max_orders=9))[
        "right"
    ]
    assert (result.chain.kendall, result.chain.ties, result.chain.discordant) == (1.0, 0, 0)
    assert result.corpus["pearson"].statistic > 0.5


def test_less_is_better_is_turned_round():
    plain = maege(SOURCES, GOLD, {"m": Measure(right)})["m"]
    turned = maege(SOURCES, GOLD, {"m": Worse(lambda s: -right(s))})["m"]
    assert turned.chain == plain.chain
    assert turned.sentence == plain.sentence
    assert turned.corpus == plain.corpus
    assert turned.values == pytest.approx(-plain.values)


def test_each_distinct_text_is_scored_once():
    measure = Measure(right)
    result = maege(SOURCES, GOLD, {"m": measure}, design=MaegeDesign(max_orders=9))["m"]
    seen = [(segment.source, segment.hypothesis) for segment in measure.seen]
    assert len(seen) == len(set(seen)) == result.texts


def test_the_annotator_of_a_chain_is_left_out():
    measure = Against(right)
    result = maege(SOURCES, GOLD, {"m": measure}, design=MaegeDesign(max_orders=9))["m"]
    assert (result.sentences, result.lines) == (2, 2)  # nobody else corrected the third
    texts = {s.hypothesis: s for s in measure.seen if s.source == "a b c"}
    assert texts["x b c"].references == ("a z c",)
    assert texts["x b c"].gold == {0: (Edit(1, 2, "z"),)}
    assert texts["a z c"].references == ("x b y",)
    assert len({(s.source, s.hypothesis, s.references) for s in measure.seen}) == result.texts


def test_all_annotators_on_demand():
    measure = Against(right)
    result = maege(SOURCES, GOLD, {"m": measure}, design=MaegeDesign(max_orders=9, against="all"))[
        "m"
    ]
    assert (result.sentences, result.lines) == (3, 3)
    assert {s.references for s in measure.seen if s.source == "a b c"} == {("x b y", "a z c")}
    assert len({id(s.gold) for s in measure.seen}) == 3  # one object for each line


def test_given_texts():
    measure = Against(right)
    texts = [["r", "s", "t"], ["u", None, None]]
    design = MaegeDesign(against="given")
    maege(SOURCES, GOLD, {"m": measure}, references=texts, design=design)
    assert {s.references for s in measure.seen if s.source == "a b"} == {("s", None)}
    assert all(not s.gold for s in measure.seen)


@pytest.mark.parametrize("source", ["random", "reference"])
def test_another_source_comes_without_gold_edits(source):
    measure = Against(right)
    maege(SOURCES, GOLD, {"m": measure}, design=MaegeDesign(given=source))
    assert all(not s.gold and s.references for s in measure.seen)
    outputs = partial_outputs(SOURCES, GOLD, MaegeDesign(given=source))
    for chain in outputs.chains:
        assert chain.source in (chain.texts[-1:] if source == "reference" else chain.texts)
    for position, line in itertools.product(range(3), range(11)):
        of_line = {lines[position].text for lines in outputs.corpora}
        known = {"x b y", "a z c", "w a b", "a ", "x y z b"} if source == "reference" else of_line
        assert outputs.corpora[line][position].source in known


def test_worth_as_released_and_as_intended():
    assert worth_uncorrected("abcd efghi", 3, "released") == pytest.approx(1 - 3 / 10)
    assert worth_uncorrected("abcd efghi", 3, "intended") == pytest.approx(1 - 2 / 2)
    assert worth_uncorrected("", 2, "released") == -1


def test_applied_target():
    result = maege(SOURCES, GOLD, {"m": Measure(right)}, design=MaegeDesign(target="applied"))
    assert result.target == pytest.approx(result.applied)
    assert result.applied[0] == 0
    assert result.target.tolist() != list(range(11))


def test_unusable_sentences_are_counted_not_lost():
    long = "a . " * 100
    sources = ["a", "b c", long, "a b"]
    two = {0: (Edit(0, 1, "x"),), 1: (Edit(0, 1, "y"),)}
    gold = [{0: (Edit(0, 1, "x"),), 1: ()}, {0: (Edit(0, 1, "x"),)}, two, two]
    outputs = partial_outputs(sources, gold, MaegeDesign())
    assert outputs.dropped == {"uncorrected": 1, "long": 1, "one chain": 1}
    assert [len(lines) for lines in outputs.corpora] == [3] * 11


def test_nothing_to_measure_is_nan_with_a_reason():
    result = maege(["a"], [{0: ()}], {"m": Measure(right)})["m"]
    data = result.to_dict()
    assert data["corpus"]["pearson"] is data["sentence"]["spearman"] is None
    assert data["chain"]["kendall"] is None
    assert set(data["reasons"]) == {"corpus", "sentence", "chain"}
    assert result.texts == 0


def test_a_text_without_score_is_told():
    bad = Measure(lambda s: math.nan if s.hypothesis == "x b y" else right(s))
    result = maege(SOURCES, GOLD, {"m": bad}, design=MaegeDesign(max_orders=9))["m"]
    assert math.isnan(result.chain.kendall)
    assert result.chain.reason == "some texts have no score"
    assert "have no value" in result.sentence["spearman"].reason


def test_same_seed_same_bytes():
    def written(seed):
        result = maege(SOURCES * 9, GOLD * 9, {"m": Measure(right)}, design=MaegeDesign(seed=seed))
        return json.dumps(result.to_dict(), allow_nan=False)

    assert written(3) == written(3)
    assert written(3) != written(4)


def test_global_generators_are_left_alone():
    state = np.random.get_state()[1].tolist()
    maege(SOURCES, GOLD, {"m": Measure(right)})
    assert np.random.get_state()[1].tolist() == state


# --- pairs ---------------------------------------------------------------------------------


@given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=6), min_size=1, max_size=4))
def test_chain_results_are_those_of_a_count_by_hand(chains):
    pairs = [pair for chain in chains for pair in itertools.combinations(chain, 2)]
    up = sum(a < b for a, b in pairs)
    down = sum(a > b for a, b in pairs)
    n = len(pairs)
    arrays = [np.array(chain, dtype=float) for chain in chains]
    expected = {
        "half": (up - down, n),
        "concordant": (n - 2 * down, n),
        "drop": (up - down, up + down),
    }
    for ties, (above, below) in expected.items():
        result = chain_result(arrays, ties)
        assert (result.concordant, result.discordant, result.ties) == (up, down, n - up - down)
        if below:
            assert result.kendall == pytest.approx(above / below)
            assert result.pvalue == pytest.approx(
                math.erfc(abs(above) / math.sqrt(2 * below)), abs=1e-12
            )
        else:
            assert math.isnan(result.kendall)
            assert result.reason


# --- every metric, and what is refused ------------------------------------------------------

ENGLISH = [
    "He go to school every days .",
    "She have two cat and dog .",
    "I likes apple .",
]
CORRECTED = [
    {
        0: (Edit(1, 2, "goes", "R:VERB:SVA"), Edit(5, 6, "day", "R:NOUN:NUM")),
        1: (Edit(1, 2, "went", "R:VERB"), Edit(4, 6, "", "U:OTHER")),
    },
    {
        0: (Edit(1, 2, "has", "R:VERB:SVA"), Edit(3, 4, "cats", "R:NOUN:NUM")),
        1: (Edit(3, 4, "cats", "R:NOUN:NUM"), Edit(5, 5, "a", "M:DET")),
    },
    {0: (Edit(1, 2, "like", "R:VERB:SVA"),), 1: (Edit(2, 2, "an", "M:DET"),)},
]


WITHOUT_MODELS = [
    name for name in BUILT_IN if name not in {*made_models.SPELLINGS, "llm-s", "llm-e"}
]
"""Language models that judge are asked side by side, which partial corrections are not."""


@pytest.mark.parametrize("name", made_models.SPELLINGS)
def test_every_metric_with_a_model_can_be_measured(name, tmp_path):
    kinds = ("encoder", "regressor", "causal", "seq2seq")
    models = {kind: getattr(made_models, kind)(tmp_path / kind) for kind in kinds}
    measured = metric(made_models.SPELLINGS[name].format(**models))
    result = maege(ENGLISH, CORRECTED, {name: measured}, design=MaegeDesign(against="all"))[name]
    assert np.isfinite(result.values).all()
    assert not result.reasons


@pytest.mark.parametrize("name", WITHOUT_MODELS)
def test_every_metric_can_be_measured(name):
    if hasattr(metric(name), "pipeline"):
        pytest.importorskip("spacy", reason="the extra 'errant' is not installed")
    result = maege(ENGLISH, CORRECTED, {name: metric(name)}, design=MaegeDesign(against="all"))[
        name
    ]
    assert np.isfinite(result.values).all()
    assert not result.reasons
    assert result.values[-1] >= result.values[0] or not metric(name).higher_is_better


def test_m2_scores_each_text_alone():
    designs = MaegeDesign(against="all", max_orders=3)
    result = [
        maege(ENGLISH, CORRECTED, {n: metric(n)}, design=designs)[n] for n in ("m2", "sentm2")
    ]
    assert result[0].chain == result[1].chain
    assert result[0].sentence == result[1].sentence


def test_gold_edits_do_not_fit_another_source():
    with pytest.raises(UsageError, match="m2 needs gold edits"):
        maege(ENGLISH, CORRECTED, {"m2": metric("m2")}, design=MaegeDesign(given="random"))
    with pytest.raises(UsageError, match="m2 needs gold edits, not texts"):
        maege(ENGLISH, CORRECTED, {"m2": metric("m2")}, design=MaegeDesign(against="given"))


def test_what_is_missing_is_told():
    with pytest.raises(UsageError, match="no gold edits"):
        maege(["a"], [], {"m": Measure(right)})
    with pytest.raises(UsageError, match="no metric"):
        maege(SOURCES, GOLD, {})
    with pytest.raises(UsageError, match="no reference texts"):
        maege(SOURCES, GOLD, {"m": Measure(right)}, design=MaegeDesign(against="given"))


@pytest.mark.parametrize("wrong", [{"seed": -1}, {"seed": 2**32}, {"max_orders": 0}])
def test_numbers_out_of_range(wrong):
    with pytest.raises(UsageError):
        MaegeDesign(**wrong)


@pytest.mark.parametrize("field_", ["ties", "pseudo", "target", "given", "against"])
def test_unknown_rules(field_):
    with pytest.raises(UnknownNameError, match=field_):
        MaegeDesign(**{field_: "other"})


def test_an_unknown_metric_is_told():
    with pytest.raises(UnknownNameError):
        maege(SOURCES, GOLD, {"m": Measure(right)})["n"]
