"""Sentence-level meta-evaluation: published figures, a slow twin, and what may go wrong."""

import csv
import gzip
import json
import math
from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sentence_twin as twin
from grammeter.core import (
    DataError,
    MetricScores,
    Ranking,
    ScoreTable,
    SegmentScores,
    Signature,
    UnknownNameError,
    UsageError,
)
from grammeter.formats import Corpus, Judgments, read_corpus, read_judgments, read_outputs
from grammeter.formats.scores import parse_score_file
from grammeter.meta.segment import correlate_sentences
from grammeter.meta.sentence_design import (
    BOTH,
    CELLS,
    RULES,
    TIE_RULES,
    SentenceDesign,
    cell_numbers,
    tie_calibrated,
)
from grammeter.stats import resample_counts
from grammeter.verbs import score

PUBLISHED = {"gleu": "GLEU", "imeasure": "I", "m2score": "M2"}
EXACT = SentenceDesign(resamples=0)


def segments(values):
    values = np.array(values, dtype=float)
    return SegmentScores(values, np.full(len(values), -1), {}, "nobody scored it")


def column(by_system, *, higher=True):
    result = {name: segments(values) for name, values in by_system.items()}
    return MetricScores("toy", Signature.of("toy", {}), higher, {}, result)


def table_of(size=2, **metrics):
    systems = tuple(next(iter(metrics.values())).segments)
    return ScoreTable(systems, size, metrics)


def ranked(segment, groups, judge="j", **more):
    names = tuple(tuple(group.split()) for group in groups)
    return Ranking(judge=judge, segment=segment, groups=names, **more)


def design(**fields):
    return SentenceDesign(**{"resamples": 0, **fields})


# --- Chollampatt & Ng 2018, Table 3 ----------------------------------------------------------


@pytest.fixture(scope="module")
def gjg15(shared):
    return read_judgments(shared / "data/human_gjg15/judgments.xml", first_segment=0)


@pytest.fixture(scope="module")
def published_scores(shared):
    folder = shared / "data/meta_chollampatt_ng_2018/scores/sentence_scores_metrics"
    texts = (gzip.decompress((folder / f"{name}.txt.gz").read_bytes()) for name in PUBLISHED)
    return parse_score_file(b"".join(texts).decode(), "cn18.txt")


@pytest.fixture(scope="module")
def golden(shared):
    """Printed figures, and those of the authors' script, release of 2018, rerun on its data."""
    return json.loads((shared / "golden/ranking/seed001_sentence_level.json").read_text("utf-8"))


@pytest.mark.parametrize(("rule", "name"), [("no-ties", "NoTies"), ("h-ties", "HTies")])
@pytest.mark.parametrize("pairs", ["expanded", "unexpanded"])
def test_table_3_of_chollampatt_and_ng(gjg15, published_scores, golden, pairs, rule, name):
    chosen = SentenceDesign(pairs=pairs, ties=rule, unit="pair", resamples=1000, seed=1)
    result = correlate_sentences(published_scores, gjg15.rankings, design=chosen)
    for metric, printed in PUBLISHED.items():
        expected, ours = golden["reproduced"][f"{pairs}|{metric}"], result[metric]
        assert round(ours.tau.value, 3) == golden["published_table3"][pairs][printed][name]
        assert ours.tau.value == pytest.approx(expected[name], abs=1e-12)
        counts = ours.counts
        assert counts.concordant == expected["concordant"]
        assert counts.discordant == expected["discordant"]
        assert counts.metric_ties == expected["metric_tie_only"]
        assert counts.human_ties == expected["human_tie_only"]
        assert counts.both_ties == expected["both_tie"]
        assert counts.tie_share == pytest.approx(expected["metric_tie_rate"], abs=1e-12)
        low, high, _ = expected[f"{name}_ci"]
        # both ends are quantiles of 1,000 random resamples
        assert ours.tau.low == pytest.approx(low, abs=0.1 * (high - low))
        assert ours.tau.high == pytest.approx(high, abs=0.1 * (high - low))
    starred = {
        m for m, p in PUBLISHED.items() if golden["published_table3"][pairs][p].get("star") == name
    }
    assert starred == {m for m in result if _clearly_best(result, m)}


def _clearly_best(result, metric):
    """A star in the table: the interval lies above those of all others."""
    return all(result[metric].tau.low > result[m].tau.high for m in result if m != metric)


def test_the_number_of_decided_unexpanded_pairs(gjg15, published_scores, golden):
    """The paper prints 14,584 beside the table: GLEU's concordant and discordant pairs."""
    result = correlate_sentences(
        published_scores, gjg15.rankings, design=design(pairs="unexpanded"), metrics=["gleu"]
    )["gleu"].counts
    assert result.concordant + result.discordant == golden["published_counts"]["unexpanded"][1]
    assert sum(result.cells[:4]) == golden["true_counts"]["unexpanded"][1] == 14_822


def test_the_m2_row_from_our_own_scores(shared, gjg15):
    """Their sentence score is that of the last annotator; the best annotator's is higher."""
    conll = shared / "data/conll14_test"
    corpus = read_corpus(
        source=conll / "source.txt",
        references=[conll / "noalt/official-2014.combined.m2"],
        systems=sorted((conll / "official_systems").iterdir()),
    )
    scores = score(corpus, ["sentm2(annotator=last)", "sentm2"])
    expected = {  # from the brief of the published slips: last annotator as printed, best annotator
        ("expanded", "no-ties"): (0.300, 0.351),
        ("expanded", "h-ties"): (0.617, 0.618),
        ("unexpanded", "no-ties"): (0.266, 0.305),
        ("unexpanded", "h-ties"): (0.348, 0.350),
    }
    for (pairs, rule), figures in expected.items():
        result = correlate_sentences(scores, gjg15.rankings, design=design(pairs=pairs, ties=rule))
        assert tuple(round(agreement.tau.value, 3) for agreement in result.values()) == figures


# --- SEEDA -------------------------------------------------------------------------------------

SETS = {"base": "base", "+INPUT": "+input", "+REF-F_GPT-3.5": "+fluent", "all": "all"}
RELEASED = {
    "seeda-script": ("ACC_released", "TAU_released"),
    "wrong": ("ACC_tie_wrong", "TAU_tie_wrong"),
    "three-way": ("ACC_tie_wrong", "TAU_tie_neutral"),
    "half": ("ACC_tie_half", "TAU_tie_neutral"),
    "drop": ("ACC_tie_dropped", "TAU_tie_dropped"),
}


M2 = "M2_sentF0.5_best_ref"
GLEU = "GLEU_sent_smoothed_mean2refs"
BUG = "|LM-Critic:=PIE(old bug)"


@pytest.fixture(scope="module")
def seeda(shared):
    """Judgments by granularity, and the scores that the released script was run on."""
    golden, data = shared / "golden/seeda", shared / "data/seeda"
    outputs = read_outputs(sorted((data / "outputs/all").glob("*.txt")))
    words = {name: [line.split(" ") for line in lines] for name, lines in outputs.items()}
    metrics = {
        "chars": column({n: [len(" ".join(w)) for w in words[n]] for n in words}),
        "tokens_split_space": column({n: [len(w) for w in words[n]] for n in words}),
        "constant0": column({n: [0] * len(words[n]) for n in words}),
    }
    at, stored = _stored(golden / "gleu_sentence_smoothed.tsv")
    near = {n: np.full(1312, np.nan) for n in words}
    for name, values in near.items():
        values[at] = [5 - min(4, _distance(words[name][n], words["INPUT"][n])) for n in at]
    metrics["5-min(4,token_levenshtein_to_INPUT)"] = column(near)
    # the golden has the M2 scores to 5 digits only, which ties two pairs that differ
    for name, scores in ((GLEU, stored), (M2, _sentence_m2(shared, outputs, at))):
        values = {system: np.full(1312, np.nan) for system in outputs}
        for system, column_ in values.items():
            column_[at] = scores[system]
        metrics[name] = column(values)
        metrics[name + BUG] = column(values | {"LM-Critic": values["PIE"]})
    judgments = {
        key: read_judgments(data / f"judgments_{key}.xml", first_segment=1).rankings
        for key in ("edit", "sent")
    }
    return table_of(1312, **metrics), judgments


def _distance(first, second):
    """Return Levenshtein's distance of two lists of tokens."""
    row = list(range(len(second) + 1))
    for i, token in enumerate(first, start=1):
        before, row[0] = row[0], i
        for j, other in enumerate(second, start=1):
            before, row[j] = row[j], min(before + (token != other), row[j] + 1, row[j - 1] + 1)
    return row[-1]


def _stored(path):
    rows = list(csv.DictReader(path.read_text("utf-8").splitlines(), delimiter="\t"))
    names = [name for name in rows[0] if name not in ("row", "src_index0")]
    return [int(row["src_index0"]) for row in rows], {n: [float(r[n]) for r in rows] for n in names}


def _sentence_m2(shared, outputs, at):
    conll = shared / "data/conll14_test"
    whole = read_corpus(
        source=conll / "source.txt", references=[conll / "noalt/official-2014.combined.m2"]
    )
    judged = Corpus(
        sources=[whole.sources[n] for n in at],
        gold=[whole.gold[n] for n in at],
        systems={name: [lines[n] for n in at] for name, lines in outputs.items()},
    )
    scores = score(judged, ["sentm2"])["sentm2"].segments
    _, stored = _stored(shared / "golden/seeda/m2_sentence_f05_best.tsv")
    for name, result in scores.items():
        np.testing.assert_allclose(result.values, stored[name], atol=5.1e-6)
    return {name: _as_released(result.parts) for name, result in scores.items()}


def _as_released(parts):
    """F as the script computed it, from precision and recall: equal counts may differ by a digit.

    Ours from counts are equal where they should be, which ties two more pairs.
    """
    tp, proposed = parts["tp"].astype(float), (parts["tp"] + parts["fp"]).astype(float)
    gold = (parts["tp"] + parts["fn"]).astype(float)
    precision = np.divide(tp, proposed, out=np.ones_like(tp), where=proposed > 0)
    recall = np.divide(tp, gold, out=np.ones_like(tp), where=gold > 0)
    below = 0.25 * precision + recall
    above = 1.25 * precision * recall
    return np.divide(above, below, out=np.zeros_like(tp), where=below > 0)


def _released_rows(shared):
    text = (shared / "golden/seeda/sentence_level_checks.tsv").read_text("utf-8")
    return list(csv.DictReader(text.splitlines(), delimiter="\t"))


def test_the_released_script_of_seeda(shared, seeda):
    """corr_sentence.py of tmu-nlp/SEEDA @0c6c07f, run on these scores; printed to 6 decimals."""
    table, judgments = seeda
    rows = _released_rows(shared)
    compared = Counter()
    for (key, chosen), (rule, heads) in product(product(judgments, SETS), RELEASED.items()):
        result = correlate_sentences(
            table, judgments[key], design=design(ties=rule), systems=[SETS[chosen]]
        )
        for row in rows:
            if (row["granularity"], row["set"]) != (key, chosen):
                continue
            ours = result[row["metric"]]
            counts = ours.counts
            figures = (
                sum(counts.cells[:4]),
                counts.concordant,
                counts.discordant,
                counts.metric_ties,
            )
            names = ("n_pairs", "concordant", "discordant", "metric_ties")
            assert figures == tuple(int(row[name]) for name in names), row
            for estimate, head in zip((ours.accuracy, ours.tau), heads, strict=True):
                expected = pytest.approx(float(row[head]), abs=6e-7, nan_ok=True)
                assert estimate.value == expected, row
            compared[rule] += 1
    assert set(compared.values()) == {len(rows)} == {64}


def test_the_rule_of_the_released_script_pair_by_pair(seeda):
    """Its rule, worded anew, equals ours to 1e-12 in all its settings."""
    table, judgments = seeda
    for rankings in judgments.values():
        pairs = list(twin.pairs_of(rankings))
        for name in SETS.values():
            result = correlate_sentences(
                table, rankings, design=design(ties="seeda-script"), systems=[name]
            )
            names = set(result.systems)
            chosen = [pair for pair in pairs if pair[1] in names and pair[2] in names]
            for metric, ours in result.items():
                values = {s: x.values.tolist() for s, x in table[metric].segments.items()}
                relations = [
                    (human, _relation(values[a][at - 1], values[b][at - 1]))
                    for at, a, b, human in chosen
                ]
                tau, accuracy = twin.tau_and_accuracy(relations, "seeda-script")
                assert ours.tau.value == pytest.approx(tau, abs=1e-12)
                assert ours.accuracy.value == pytest.approx(accuracy, abs=1e-12)


def test_constants_that_another_package_is_tested_with(seeda):
    """gec-metrics @320c830 tests its SEEDA base set with the length of the output."""
    table, judgments = seeda
    for key, accuracy in (("edit", 0.5365853658536586), ("sent", 0.5455708346658139)):
        result = correlate_sentences(
            table,
            judgments[key],
            design=design(ties="seeda-script"),
            systems=["base"],
            metrics=["chars"],
        )["chars"]
        assert result.accuracy.value == pytest.approx(accuracy, abs=1e-12)


def test_pair_counts_of_seeda(shared, seeda):
    table, judgments = seeda
    text = (shared / "golden/seeda/pair_counts.tsv").read_text("utf-8")
    modes = {"expanded": "expanded", "one_per_group(any member in set)": "unexpanded"}
    checked = 0
    for row in csv.DictReader(text.splitlines(), delimiter="\t"):
        if row["mode"] not in modes:
            continue
        result = correlate_sentences(
            table,
            judgments[row["granularity"]],
            design=design(pairs=modes[row["mode"]], ties="seeda-script"),
            systems=[SETS[row["set"]]],
            metrics=["constant0"],
            judges=None if row["annotator"] == "all" else [row["annotator"]],
        )["constant0"]
        assert result.counts.metric_ties == int(row["non_tie_pairs"]), row
        if row["mode"] == "expanded":
            published = float(row["acc_of_constant_metric_released_script"])
            assert result.accuracy.value == pytest.approx(published, abs=6e-7)
        checked += 1
    assert checked == 64


def _relation(first, second):
    return int(first > second) - int(first < second)


# --- the slow twin -----------------------------------------------------------------------------

NAMES = "abcd"


@st.composite
def judged(draw):
    rankings = []
    for _ in range(draw(st.integers(1, 5))):
        groups = draw(st.lists(st.sampled_from([0, 1, 2, 3]), min_size=4, max_size=4))
        ranked_groups = [
            tuple(n for n, g in zip(NAMES, groups, strict=True) if g == k) for k in range(4)
        ]
        ranked_groups = [group for group in ranked_groups if group]
        ranks = draw(
            st.lists(st.integers(1, 3), min_size=len(ranked_groups), max_size=len(ranked_groups))
        )
        rankings.append(
            Ranking(
                judge=draw(st.sampled_from("xy")),
                segment=draw(st.integers(1, 3)),
                groups=tuple(ranked_groups),
                ranks=tuple(ranks),
                skipped=draw(st.integers(0, 9)) == 0,
            )
        )
    scores = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=3, max_size=3)
    return rankings, {name: draw(scores) for name in NAMES}


@given(judged(), st.sampled_from(TIE_RULES), st.booleans(), st.booleans())
def test_equals_the_slow_twin(data, rule, expanded, higher):
    rankings, values = data
    extraction = "expanded" if expanded else "unexpanded"
    table = table_of(3, toy=column(values, higher=higher))
    pairs = list(twin.pairs_of(rankings, extraction))
    if not pairs:
        with pytest.raises(DataError, match="no two outputs"):
            correlate_sentences(table, rankings, design=design(pairs=extraction))
        return
    result = correlate_sentences(table, rankings, design=design(pairs=extraction, ties=rule))["toy"]
    better = 1 if higher else -1
    relations = [
        (human, better * _relation(values[a][at - 1], values[b][at - 1]))
        for at, a, b, human in pairs
    ]
    tau, accuracy = twin.tau_and_accuracy(relations, rule, better)
    assert result.counts.total == len(pairs)
    if tau is None:
        assert math.isnan(result.tau.value)
        assert f"under the rule {rule}" in result.tau.reason
    else:
        assert result.tau.value == pytest.approx(tau, abs=1e-12)
        assert result.accuracy.value == pytest.approx(accuracy, abs=1e-12)


@given(st.lists(st.tuples(st.sampled_from([-1, 0, 1]), st.integers(-4, 4)), max_size=12))
def test_tie_calibration_equals_trying_every_threshold(data):
    human = np.array([h for h, _ in data], dtype=np.int64)
    difference = np.array([d / 4 for _, d in data])
    accuracy, epsilon = tie_calibrated(human, difference)
    if not data:
        assert math.isnan(accuracy)
        assert math.isnan(epsilon)
        return
    tried = {}
    for threshold in sorted({0.0, *np.abs(difference).tolist()}):
        said = np.where(np.abs(difference) <= threshold, 0, np.sign(difference))
        tried.setdefault(float((said == human).mean()), threshold)
    assert accuracy == pytest.approx(max(tried), abs=1e-12)
    assert epsilon == tried[max(tried)]


def test_each_cell_has_its_case():
    human, metric = np.array([1, 1, 1, -1, 0, 0]), np.array([1, -1, 0, 0, 1, 0])
    assert cell_numbers(human, metric).tolist() == list(range(len(CELLS)))
    turned = cell_numbers(human, metric, higher_is_better=False).tolist()
    assert turned == [0, 1, 3, 2, 4, BOTH]


@pytest.mark.parametrize("rule", ["seeda-script", "half", "wrong"])
def test_tau_is_accuracy_stretched_where_every_pair_is_right_or_wrong(rule):
    counts = np.array([[5, 3, 2, 1, 4, 2], [0, 0, 1, 0, 0, 9]])
    weights = RULES[rule]
    tau, accuracy = (figure(counts) for figure in weights.figures)
    assert tau == pytest.approx(2 * accuracy - 1)


# --- chance ------------------------------------------------------------------------------------

SIX = [ranked(n, ["a", "b", "c"], ranks=(1, 2, 2 + n % 2), judge="xy"[n % 2]) for n in range(1, 7)]
GOOD = column({"a": [3] * 6, "b": [2, 2, 2, 2, 2, 4], "c": [1] * 6})
POOR = column({"a": [1, 2, 3, 1, 2, 3], "b": [2, 2, 2, 2, 2, 2], "c": [3, 2, 1, 3, 1, 2]})


@pytest.mark.parametrize("unit", ["ranking", "sentence"])
def test_intervals_of_units_equal_a_naive_loop(unit):
    rankings = [*SIX, ranked(1, ["a", "b"], ranks=(1, 2), judge="z")]
    chosen = design(resamples=50, seed=3, unit=unit, confidence=0.8)
    result = correlate_sentences(table_of(6, good=GOOD, poor=POOR), rankings, design=chosen)
    names = [n if unit == "ranking" else r.segment for n, r in enumerate(rankings)]
    units = sorted(set(names))
    drawn = np.concatenate(list(resample_counts(len(units), 50, seed=3)))
    for metric, scores in (("good", GOOD), ("poor", POOR)):
        values = {s: x.values for s, x in scores.segments.items()}
        taus = []
        for counts in drawn:
            relations = [
                (human, _relation(values[a][at - 1], values[b][at - 1]))
                for name, ranking in zip(names, rankings, strict=True)
                for at, a, b, human in twin.pairs_of([ranking])
                for _ in range(int(counts[units.index(name)]))
            ]
            taus.append(twin.tau_and_accuracy(relations, "no-ties")[0])
        low, high = np.quantile(taus, [0.1, 0.9])
        assert result[metric].tau.low == pytest.approx(low, abs=1e-12)
        assert result[metric].tau.high == pytest.approx(high, abs=1e-12)


def test_the_interval_of_pairs_is_that_of_drawn_pairs():
    """Drawing pairs one by one has the same distribution as one multinomial draw of the cells."""
    chosen = design(resamples=4000, unit="pair", ties="h-ties")
    result = correlate_sentences(table_of(6, poor=POOR), SIX, design=chosen)["poor"]
    random = np.random.default_rng(5)
    cells = np.repeat(np.arange(6), result.counts.cells)
    drawn = random.choice(cells, size=(4000, len(cells)))
    counts = np.stack([(drawn == cell).sum(axis=1) for cell in range(6)], axis=-1)
    low, high = np.quantile(RULES["h-ties"].figures[0](counts), [0.025, 0.975])
    assert result.tau.low == pytest.approx(low, abs=0.06)
    assert result.tau.high == pytest.approx(high, abs=0.06)


def test_same_seed_same_figures_and_metrics_do_not_disturb_each_other():
    chosen = design(resamples=100, permutations=100)
    both = correlate_sentences(table_of(6, good=GOOD, poor=POOR), SIX, design=chosen)
    again = correlate_sentences(table_of(6, good=GOOD, poor=POOR), SIX, design=chosen)
    alone = correlate_sentences(table_of(6, poor=POOR), SIX, design=chosen)
    assert both.to_dict() == again.to_dict()
    assert both["poor"] == alone["poor"]


def test_permutations_tell_a_good_metric_from_a_poor_one():
    rankings = [ranked(n, ["a", "b", "c"], ranks=(1, 2, 3)) for n in range(1, 7)] * 3
    table = table_of(6, good=GOOD, twin=GOOD, poor=POOR)
    result = correlate_sentences(table, rankings, design=design(permutations=500, unit="ranking"))
    for figure in ("tau", "accuracy"):
        assert result.pvalues[figure]["good", "twin"] == 1.0
        assert result.pvalues[figure]["good", "poor"] < 0.05
    assert result.to_dict()["permutation"]["tau"]["good"]["twin"] == 1.0
    assert "permutation" not in correlate_sentences(table, rankings, design=EXACT).to_dict()


# --- what may go wrong -------------------------------------------------------------------------


def test_a_missing_score_leaves_no_value_unless_told_to_drop_its_pairs():
    holes = column({"a": [1, 1], "b": [0, math.nan], "c": [0.5, 0.5]})
    rankings = [ranked(n, ["a", "b", "c"], ranks=(1, 2, 3)) for n in (1, 2)]
    table = table_of(2, holes=holes, whole=column({"a": [1, 1], "b": [0, 0], "c": [0, 0]}))
    refused = correlate_sentences(table, rankings)
    data = refused.to_dict()["metrics"]["holes"]
    assert data["tau"]["value"] is None
    assert data["tau"]["reason"] == (
        "no score of b for sentence 2 (nobody scored it); 2 of 6 pairs lack a score"
        " (missing=drop leaves them out)"
    )
    assert data["tie_calibrated"]["accuracy"] is None
    assert refused["whole"].tau.value == 4 / 6
    dropped = correlate_sentences(table, rankings, design=design(missing="drop"))["holes"]
    assert (dropped.counts.total, dropped.counts.missing) == (4, 2)
    assert dropped.tau.value == 0.5  # (a, b) and (a, c) right, (b, c) wrong; (a, c) right


def test_a_missing_score_of_a_sentence_that_nobody_judged_does_not_matter():
    table = table_of(2, toy=column({"a": [1, math.nan], "b": [0, 0]}))
    result = correlate_sentences(table, [ranked(1, ["a", "b"], ranks=(1, 2))], design=EXACT)
    assert result["toy"].tau.value == 1.0
    assert result["toy"].counts.missing == 0


def test_a_metric_without_sentence_scores_has_none_beside_one_that_has():
    bare = MetricScores("bare", Signature.of("bare", {}), True, {})
    table = ScoreTable(("a", "b"), 1, {"toy": column({"a": [1], "b": [0]}), "bare": bare})
    rankings = [ranked(1, ["a", "b"], ranks=(1, 2))]
    result = correlate_sentences(table, rankings, design=design(missing="drop", permutations=5))
    assert math.isnan(result["bare"].tau.value)
    assert "no sentence scores of a, b" in result["bare"].tau.reason
    assert result.pvalues == {}
    with pytest.raises(DataError, match="of systems, not of sentences"):
        correlate_sentences(table, rankings, metrics=["bare"])


def test_a_constant_metric_is_told_apart_from_a_missing_one():
    table = table_of(1, flat=column({"a": [1], "b": [1]}))
    rankings = [ranked(1, ["a", "b"], ranks=(1, 2))]
    assert correlate_sentences(table, rankings, design=EXACT)["flat"].tau.value == 0
    dropped = correlate_sentences(table, rankings, design=design(ties="drop", resamples=9))["flat"]
    assert dropped.tau.reason == "no pair that counts under the rule drop"
    assert dropped.tau.to_dict() == {"value": None, "reason": dropped.tau.reason}
    assert not math.isnan(dropped.calibrated[0])


def test_a_resample_may_hold_no_pair_that_counts():
    rankings = [ranked(n, ["a", "b"], ranks=(1, 1 + (n == 1))) for n in (1, 2, 3)]
    table = table_of(3, toy=column({"a": [1] * 3, "b": [0] * 3}))
    result = correlate_sentences(table, rankings, design=design(resamples=50))["toy"].tau
    assert result.value == 1.0
    shape = result.to_dict()
    assert shape.pop("reason").endswith("of 50 resamples")
    assert shape == {"value": 1.0, "low": None, "high": None}


def test_systems_on_one_side_are_named():
    table = table_of(1, toy=column({"a": [1], "b": [0], "extra": [0]}))
    rankings = [ranked(1, ["a", "b stranger"], ranks=(1, 2))]
    with pytest.raises(DataError, match=r"extra.*stranger|stranger.*extra") as caught:
        correlate_sentences(table, rankings)
    assert "--drop" in str(caught.value)
    for chosen in ({"systems": ["a", "b"]}, {"drop": ["extra", "stranger"]}):
        result = correlate_sentences(table, rankings, design=EXACT, **chosen)
        assert result.systems == ("a", "b")
        assert result["toy"].counts.total == 1


def test_the_rest_of_a_group_stays_when_its_first_system_goes():
    table = table_of(1, toy=column({"a": [1], "b": [0], "c": [0]}))
    rankings = [ranked(1, ["c", "a b"], ranks=(1, 2))]
    result = correlate_sentences(table, rankings, design=design(pairs="unexpanded"), drop=["a"])
    assert result["toy"].counts.metric_ties == 1


def test_a_judged_sentence_beyond_the_scores_is_refused():
    table = table_of(1, toy=column({"a": [1], "b": [0]}))
    with pytest.raises(DataError, match="sentence 2 is judged, but scores end at sentence 1"):
        correlate_sentences(table, [ranked(2, ["a", "b"], ranks=(1, 2))])


def test_judges_can_be_chosen_and_measured_apart():
    table = table_of(6, good=GOOD)
    all_ = correlate_sentences(table, SIX, design=design(resamples=20), per_judge=True)
    assert list(all_.by_judge) == ["x", "y"]
    parts = [judge["good"].counts.cells for judge in all_.by_judge.values()]
    assert tuple(map(sum, zip(*parts, strict=True))) == all_["good"].counts.cells
    one = correlate_sentences(table, SIX, design=design(resamples=20), judges=["x"])
    assert one.judges == ("x",)
    assert one["good"].counts == all_.by_judge["x"]["good"].counts
    assert one["good"].tau == all_.by_judge["x"]["good"].tau
    assert one["good"].signature["meta-judges"] == "x"
    with pytest.raises(UnknownNameError, match="judge 'nobody'"):
        correlate_sentences(table, SIX, judges=["nobody"])


def test_the_signature_tells_all_settings():
    result = correlate_sentences(
        table_of(6, poor=column({"a": [0] * 6, "b": [1] * 6, "c": [2] * 6}, higher=False)),
        Judgments(tuple(SIX)),
        design=SentenceDesign(resamples=10, permutations=10, seed=7),
    )
    assert dict(result["poor"].signature) | {"version": ""} == {
        "meta-pairs": "expanded",
        "meta-ties": "no-ties",
        "meta-missing": "refuse",
        "meta-resamples": "10",
        "meta-permutations": "10",
        "meta-confidence": "0.95",
        "meta-unit": "sentence",
        "meta-seed": "7",
        "meta-systems": "3",
        "meta-judges": "2",
        "meta-rankings": "6",
        "meta-first-segment": "1 (format)",
        "meta-direction": "lower is better",
        "version": "",
    }
    assert result["poor"].tau.value == 1.0


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"ties": "tau-b"}, UnknownNameError),
        ({"pairs": "both"}, UnknownNameError),
        ({"unit": "judge"}, UnknownNameError),
        ({"missing": "zero"}, UnknownNameError),
        ({"resamples": -1}, UsageError),
        ({"seed": -1}, UsageError),
        ({"confidence": 1.0}, UsageError),
    ],
)
def test_wrong_settings_are_refused(fields, error):
    with pytest.raises(error):
        SentenceDesign(**fields)


def test_an_unknown_metric_is_refused():
    with pytest.raises(UnknownNameError, match="good"):
        correlate_sentences(table_of(6, good=GOOD), SIX, metrics=["godo"])
    with pytest.raises(UnknownNameError):
        correlate_sentences(table_of(6, good=GOOD), SIX, design=EXACT)["bad"]


def test_the_public_shape():
    result = correlate_sentences(table_of(6, good=GOOD), SIX, design=design(ties="h-ties"))
    data = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert data["kind"] == "meta-sentence"
    assert (data["pairs"], data["ties"]) == ("expanded", "h-ties")
    assert (data["systems"], data["judges"], data["rankings"]) == (["a", "b", "c"], ["x", "y"], 6)
    metric = data["metrics"]["good"]
    assert set(metric["ties"]) == {"metric", "human", "both"}
    assert metric["n"] == 18 == metric["concordant"] + metric["discordant"] + 3


def test_soft_pairwise_accuracy_comes_with_permutations():
    rankings = [ranked(n, ["a", "b", "c"], ranks=(1, 2, 3)) for n in range(1, 7)]
    worst = column({"a": [1] * 6, "b": [2] * 6, "c": [3] * 6})
    turned = column({"a": [1] * 6, "b": [2] * 6, "c": [3] * 6}, higher=False)
    holes = column({"a": [1] * 6, "b": [math.nan] * 6, "c": [3] * 6})
    table = table_of(6, worst=worst, turned=turned, holes=holes)
    result = correlate_sentences(table, rankings, design=design(permutations=2000, unit="pair"))
    assert result.soft["turned"].value == pytest.approx(1, abs=0.01)
    assert result.soft["worst"].value == pytest.approx(1 / 64, abs=0.02)
    data = result.to_dict()["soft_pairwise_accuracy"]
    assert data["holes"] == {
        "value": None,
        "reason": "a system has no score for a judged sentence",
    }
