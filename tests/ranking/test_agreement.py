"""Agreement of judges: the tables of Grundkiewicz et al. (2015), and slow twins."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from dataclasses import astuple, replace
from functools import partial
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammeter.core import DataError, Ranking, UnknownNameError
from grammeter.formats import read_judgments
from grammeter.ranking import LEAST, in_mean
from grammeter.stats import kappa, krippendorff_alpha
from grammeter.verbs import agree

judge_correlations = partial(agree, correlate=True)


def ranking(judge, *groups, segment=1, **more):
    """``ranking("a", "X Y 1", "Z 2")``: systems of each output, then its rank."""
    split = [group.split() for group in groups]
    return Ranking(
        judge=judge,
        segment=segment,
        groups=tuple(tuple(words[:-1]) for words in split),
        ranks=tuple(int(words[-1]) for words in split),
        **more,
    )


@pytest.fixture(scope="module")
def judgments(shared):
    return read_judgments(shared / "data/human_gjg15/judgments.xml")


@pytest.fixture(scope="module")
def golden(shared):
    def load(name):
        return json.loads((shared / "golden/ranking" / f"{name}.json").read_text())

    return load


# --- the published tables --------------------------------------------------------------------


def test_table_1_all_45_numbers(judgments, golden):
    table = golden("table1_judgment_stats")
    agreement = agree(judgments)
    rows = [astuple(agreement.counts[judge]) for judge in table["rows"][:-1]]
    assert [list(row) for row in (*rows, astuple(agreement.total))] == table["published"]


def test_table_2(judgments, golden):
    """Figures of the paper's script, run on the released data: golden/pair/README.md."""
    table = golden("table2_kappa")["reproduced"]
    agreement = agree(judgments)
    assert agreement.inter.value == pytest.approx(table["inter"], abs=1e-12)
    assert agreement.intra.value == pytest.approx(table["intra"], abs=1e-12)
    assert (agreement.inter.n, agreement.intra.n) == (30_594, 1_631)
    assert {"|".join(judges) for judges in agreement.pairs} == set(table["pairwise"])
    for judges, pair in agreement.pairs.items():
        row = table["pairwise"]["|".join(judges)]
        if row is None:
            assert math.isnan(pair.value)
            assert pair.reason == "nothing was judged twice"
            continue
        figures = (pair.value, pair.observed, pair.chance, pair.n)
        expected = (row["kappa"], row["PA"], row["PE"], row["L"])
        assert figures == pytest.approx(expected, abs=1e-12)
        assert in_mean(pair) == (row["L"] >= LEAST)


def test_table_2_as_printed(judgments, golden):
    printed = golden("table2_kappa")["published"]["pairwise"]
    names = [f"annotator0{n}" for n in range(1, 9)]
    result = agree(judgments).pairs
    compared = 0
    for a, row in printed.items():
        for b, cell in enumerate(row, start=1):
            if cell is None:
                continue
            pair = result[names[int(a) - 1], names[b - 1]]
            shown = f"{pair.value:.2f}".lstrip("0") if in_mean(pair) else "*"
            assert shown == cell, (a, b)
            compared += 1
    assert compared == 36


def test_orientation_free_kappa(judgments, golden):
    variants = golden("table2_kappa")["variants"]
    agreement = agree(judgments, kappa="orientation-free")
    expected = variants["orientation_free_PE_weighted_inter"]
    assert agreement.inter.value == pytest.approx(expected, abs=1e-12)
    expected = variants["orientation_free_PE_weighted_intra"]
    assert agreement.intra.value == pytest.approx(expected, abs=1e-12)
    assert agreement.beside == "script"


def test_table_6_all_72_cells_and_both_means(judgments, golden):
    table = golden("table6_inter_annotator_correlation")
    correlations = judge_correlations(judgments)
    assert list(correlations.weights.values()) == table["weights(expanded pairs)"]
    judges = list(correlations.rest)
    cells = 0
    for row in range(9):
        for column in range(9):
            if row == column:
                continue
            a, b = sorted((row, column))
            pair = (
                correlations.rest[judges[a]] if b == 8 else correlations.pairs[judges[a], judges[b]]
            )
            figure = pair.spearman if row < column else pair.pearson
            assert figure == pytest.approx(table["reproduced"][row][column], abs=1e-12)
            assert f"{figure:.2f}".lstrip("0") == table["published"][row][column]
            cells += 1
    assert cells == 72
    means = table["reproduced_weighted_mean"]
    assert correlations.mean.spearman == pytest.approx(means["rho"], abs=1e-12)
    assert correlations.mean.pearson == pytest.approx(means["r"], abs=1e-12)
    assert correlations.mean.n == 8
    assert round(correlations.mean.spearman, 2) == 0.72
    assert round(correlations.mean.pearson, 2) == 0.80


def test_csv_of_the_same_judgments_agrees(judgments, shared):
    """Pairs of outputs hold all that kappa needs."""
    pairs = read_judgments(shared / "data/human_gjg15/8judgments.csv.gz")
    # the CSV counts items, not sentences: the same two outputs in another item are new there
    assert agree(pairs).counts["annotator01"].unexpanded == 3525
    whole = [replace(r, segment=int(r.item) + 1) for r in judgments if len(r.groups) > 1]
    assert agree(pairs).inter == agree(whole).inter


# --- what counts -----------------------------------------------------------------------------


def test_the_same_outputs_in_another_order_are_the_same():
    agreement = agree([ranking("a", "X Y 1", "Z 2"), ranking("b", "Z 2", "Y X 1")])
    assert agreement.pairs["a", "b"].n == 1
    assert agreement.pairs["a", "b"].observed == 1


def test_other_sentences_and_other_outputs_are_not_compared():
    agreement = agree(
        [
            ranking("a", "X 1", "Y 2"),
            ranking("b", "X 1", "Y 2", segment=2),
            ranking("b", "X 1", "Y Z 2"),
        ]
    )
    assert agreement.pairs["a", "b"].reason == "nothing was judged twice"
    assert agreement.inter.reason == f"no kappa of {LEAST} or more comparisons"


def test_skipped_and_single_items_count_as_items_only():
    agreement = agree(
        [
            Ranking(judge="a", segment=1, groups=(), skipped=True),
            ranking("a", "X 1", "Y 2", skipped=True),
            ranking("a", "X Y Z 1"),
            ranking("b", "X Y Z 1"),
        ]
    )
    assert astuple(agreement.counts["a"]) == (3, 0, 0, 3, 3)
    assert agreement.alpha_inter.reason == "nothing was judged twice"


def test_all_ties_have_no_kappa():
    agreement = agree([ranking(judge, "X 1", "Y 1") for judge in "ab"])
    pair = agreement.pairs["a", "b"]
    assert math.isnan(pair.value)
    assert (pair.observed, pair.chance, pair.reason) == (1, 1, "all judgments are the same")
    data = agreement.to_dict()["pairs"]["a|b"]
    assert (data["kappa"], data["reason"]) == (None, "all judgments are the same")
    assert data["in_mean"] is False


def test_alpha_takes_one_rank_a_judge_between_and_all_within():
    """Of a rank only the order counts, 1 3 is 1 2; of several rankings the mean, 1.25 and 1.75."""
    agreement = agree(
        [
            *[ranking("a", "X 1", "Y 3")] * 3,
            ranking("a", "X 2", "Y 1"),
            ranking("b", "X 1", "Y 2"),
            ranking("b", "X 1", "Y 2", "Z 3"),
        ]
    )
    expected = krippendorff_alpha(np.array([[1.25, 1], [1.75, 2]]))
    assert (agreement.alpha_inter.value, agreement.alpha_inter.n) == (expected.value, 4)
    assert agreement.alpha_intra.n == 8
    assert agreement.alpha_intra.value == pytest.approx(0.125)


def test_bad_input():
    with pytest.raises(DataError, match="no judgment"):
        agree([])
    with pytest.raises(DataError, match="called 'total'"):
        agree([ranking("total", "X 1", "Y 2")])
    with pytest.raises(UnknownNameError, match="kappa"):
        agree([ranking("a", "X 1", "Y 2")], kappa="free")
    with pytest.raises(DataError, match="1 judges"):
        judge_correlations([ranking("a", "X 1", "Y 2")])


def test_signature_shows_how_sentences_were_counted(judgments):
    agreement = agree(judgments, resamples=0)
    assert agreement.signature["first-segment"] == "0 (default)"
    assert agreement.signature["kappa"] == "script"


# --- judges against each other ---------------------------------------------------------------


def test_a_judge_without_decisions_has_no_correlation():
    correlations = judge_correlations(
        [
            ranking("a", "X 1", "Y 2", "Z 3"),
            ranking("a", "X 2", "Y 1", "Z 3"),
            ranking("a", "X 2", "Y 2", "Z 1"),
            ranking("b", "X 1", "Y 1", "Z 1"),
        ]
    )
    assert correlations.rest["b"].reason == "fewer than two systems have a score from both"
    assert correlations.mean.n == 0
    data = correlations.to_dict()
    assert data["rest"]["b"] == {
        "spearman": None,
        "pearson": None,
        "n": 0,
        "reason": "fewer than two systems have a score from both",
        "weight": 3,
    }
    json.dumps(data, allow_nan=False)


def test_equal_scores_have_no_correlation():
    both_ways = [ranking("a", "X 1", "Y 2"), ranking("a", "X 2", "Y 1")]
    correlations = judge_correlations(
        [*both_ways, replace(both_ways[0], judge="b"), ranking("b", "Y 1", "X 2")]
    )
    assert correlations.pairs["a", "b"].reason == "all systems have the same score"


def test_a_system_that_one_judge_never_saw_win_is_left_out():
    """The script's list has no system without a win (beaten-opponents)."""
    correlations = judge_correlations(
        [ranking("a", "X 1", "Y 2", "Z 3"), ranking("b", "X 2", "Y 1", "Z 3")]
    )
    assert correlations.pairs["a", "b"].n == 2


# --- slow twins ------------------------------------------------------------------------------


@st.composite
def many_rankings(draw):
    result = []
    for _ in range(draw(st.integers(1, 8))):
        systems = draw(st.permutations("WXYZ"))
        cuts = sorted(draw(st.sets(st.integers(1, 3))))
        groups = [tuple(systems[a:b]) for a, b in zip([0, *cuts], [*cuts, 4], strict=True)]
        ranks = tuple(draw(st.integers(1, 3)) for _ in groups)
        result.append(
            Ranking(
                judge=draw(st.sampled_from("abc")),
                segment=draw(st.integers(1, 2)),
                groups=tuple(groups),
                ranks=ranks,
                skipped=draw(st.integers(0, 9)) == 0,
            )
        )
    return result


def slow_comparisons(rankings, first, second):
    """Every two judgments, one by one, as the text of the paper has it."""
    judged = defaultdict(list)
    for number, ranking in enumerate(rankings):
        names = [" ".join(sorted(group)) for group in ranking.groups]
        for (a, x), (b, y) in combinations(sorted(zip(names, ranking.ranks, strict=True)), 2):
            if not ranking.skipped:
                relation = "<" if x < y else ">" if x > y else "="
                judged[ranking.segment, a, b].append((number, ranking.judge, relation))
    agreeing, compared, used = 0, 0, Counter()
    for judgments in judged.values():
        mine = [j for j in judgments if j[1] == first]
        theirs = [j for j in judgments if j[1] == second]
        pairs = [(x, y) for x in mine for y in theirs if first != second or x[0] < y[0]]
        agreeing += sum(x[2] == y[2] for x, y in pairs)
        compared += len(pairs)
        used.update(relation for _, _, relation in {j for pair in pairs for j in pair})
    return np.array([agreeing, compared, *(used[relation] for relation in "<=>")])


@given(many_rankings())
def test_kappas_are_their_twin(rankings):
    agreement = agree(rankings)
    for (a, b), pair in agreement.pairs.items():
        expected = kappa(slow_comparisons(rankings, a, b))
        assert astuple(pair) == pytest.approx(astuple(expected), nan_ok=True)


@given(many_rankings())
def test_orientation_does_not_matter_to_the_orientation_free(rankings):
    """Names in reverse order turn every 'better' into 'worse'."""
    turned = dict(zip("WXYZ", "ZYXW", strict=True))
    other = [
        replace(pair, groups=tuple((turned[name],) for (name,) in pair.groups))
        for pair in rankings
        if all(len(group) == 1 for group in pair.groups)
    ]
    same = [pair for pair in rankings if all(len(group) == 1 for group in pair.groups)]
    if not same:
        return
    ours = agree(same, kappa="orientation-free").pairs
    theirs = agree(other, kappa="orientation-free").pairs
    for judges, pair in ours.items():
        assert astuple(pair)[:4] == pytest.approx(astuple(theirs[judges])[:4], nan_ok=True)


@given(many_rankings())
def test_counts_are_their_twin(rankings):
    agreement = agree(rankings)
    for judge, counts in agreement.counts.items():
        own_rankings = [ranking for ranking in rankings if ranking.judge == judge]
        expected = [len(own_rankings), 0, 0, 0, 0]
        for ranking in own_rankings:
            ranks = {} if ranking.skipped else dict(zip(ranking.groups, ranking.ranks, strict=True))
            systems = {name: rank for group, rank in ranks.items() for name in group}
            for place, ranked in ((1, ranks), (3, systems)):
                pairs = list(combinations(ranked.values(), 2))
                expected[place] += len(pairs)
                expected[place + 1] += sum(x == y for x, y in pairs)
        assert list(astuple(counts)) == expected


@given(many_rankings())
def test_alpha_is_its_twin(rankings):
    """Mid-ranks counted one by one, the mean of a judge's, units kept apart by what was shown."""
    units = defaultdict(lambda: defaultdict(list))
    for ranking in rankings:
        if ranking.skipped or len(ranking.groups) < 2:
            continue
        shown = frozenset(frozenset(group) for group in ranking.groups)
        for group, rank in zip(ranking.groups, ranking.ranks, strict=True):
            below = sum(other < rank for other in ranking.ranks)
            middle = below + (ranking.ranks.count(rank) + 1) / 2
            units[ranking.segment, shown, frozenset(group)][ranking.judge].append(middle)
    values = np.full((len(units), 3), np.nan)
    for row, unit in enumerate(units.values()):
        for judge, ranks in unit.items():
            values[row, "abc".index(judge)] = sum(ranks) / len(ranks)
    expected = krippendorff_alpha(values)
    alpha = agree(rankings).alpha_inter
    figures = ((of.value, of.n) for of in (alpha, expected))
    assert next(figures) == pytest.approx(next(figures), nan_ok=True)
