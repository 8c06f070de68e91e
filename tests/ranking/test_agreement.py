"""Agreement of judges: the tables of Grundkiewicz et al. (2015), and slow twins."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from dataclasses import astuple, replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammeter.core import DataError, Ranking, UnknownNameError
from grammeter.formats import read_judgments
from grammeter.ranking._judge_correlations import judge_correlations
from grammeter.ranking.agreement import LEAST, agree, in_mean
from grammeter.stats import Comparisons, kappa, krippendorff_alpha


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
    found = agree(judgments)
    rows = [astuple(found.counts[judge]) for judge in table["rows"][:-1]]
    assert [list(row) for row in (*rows, astuple(found.total))] == table["published"]


def test_table_2(judgments, golden):
    """Figures of the paper's script, run on the released data: golden/ranking/README.md."""
    table = golden("table2_kappa")["reproduced"]
    found = agree(judgments)
    assert found.inter.value == pytest.approx(table["inter"], abs=1e-12)
    assert found.intra.value == pytest.approx(table["intra"], abs=1e-12)
    assert (found.inter.n, found.intra.n) == (30_594, 1_631)
    assert {"|".join(judges) for judges in found.pairs} == set(table["pairwise"])
    for judges, each in found.pairs.items():
        row = table["pairwise"]["|".join(judges)]
        if row is None:
            assert math.isnan(each.value)
            assert each.reason == "nothing was judged twice"
            continue
        figures = (each.value, each.observed, each.chance, each.n)
        expected = (row["kappa"], row["PA"], row["PE"], row["L"])
        assert figures == pytest.approx(expected, abs=1e-12)
        assert in_mean(each) == (row["L"] >= LEAST)


def test_table_2_as_printed(judgments, golden):
    printed = golden("table2_kappa")["published"]["pairwise"]
    names = [f"annotator0{n}" for n in range(1, 9)]
    found = agree(judgments).pairs
    compared = 0
    for a, row in printed.items():
        for b, cell in enumerate(row, start=1):
            if cell is None:
                continue
            each = found[names[int(a) - 1], names[b - 1]]
            shown = f"{each.value:.2f}".lstrip("0") if in_mean(each) else "*"
            assert shown == cell, (a, b)
            compared += 1
    assert compared == 36


def test_orientation_free_kappa(judgments, golden):
    variants = golden("table2_kappa")["variants"]
    found = agree(judgments, kappa="orientation-free")
    expected = variants["orientation_free_PE_weighted_inter"]
    assert found.inter.value == pytest.approx(expected, abs=1e-12)
    expected = variants["orientation_free_PE_weighted_intra"]
    assert found.intra.value == pytest.approx(expected, abs=1e-12)
    assert found.beside == "script"


def test_table_6_all_72_cells_and_both_means(judgments, golden):
    table = golden("table6_inter_annotator_correlation")
    found = judge_correlations(judgments)
    assert list(found.weights.values()) == table["weights(expanded pairs)"]
    judges = list(found.rest)
    cells = 0
    for row in range(9):
        for column in range(9):
            if row == column:
                continue
            a, b = sorted((row, column))
            each = found.rest[judges[a]] if b == 8 else found.pairs[judges[a], judges[b]]
            figure = each.spearman if row < column else each.pearson
            assert figure == pytest.approx(table["reproduced"][row][column], abs=1e-12)
            assert f"{figure:.2f}".lstrip("0") == table["published"][row][column]
            cells += 1
    assert cells == 72
    means = table["reproduced_weighted_mean"]
    assert found.mean.spearman == pytest.approx(means["rho"], abs=1e-12)
    assert found.mean.pearson == pytest.approx(means["r"], abs=1e-12)
    assert (found.mean.n, round(found.mean.spearman, 2), round(found.mean.pearson, 2)) == (
        8, 0.72, 0.80,
    )  # fmt: skip


def test_csv_of_the_same_judgments_agrees(judgments, shared):
    """Pairs of outputs hold all that kappa needs."""
    pairs = read_judgments(shared / "data/human_gjg15/8judgments.csv.gz")
    # the CSV counts items, not sentences: the same two outputs in another item are new there
    assert agree(pairs).counts["annotator01"].unexpanded == 3525
    whole = [replace(r, segment=int(r.item) + 1) for r in judgments if len(r.groups) > 1]
    assert agree(pairs).inter == agree(whole).inter


# --- what counts -----------------------------------------------------------------------------


def test_the_same_outputs_in_another_order_are_the_same():
    found = agree([ranking("a", "X Y 1", "Z 2"), ranking("b", "Z 2", "Y X 1")])
    assert found.pairs["a", "b"].n == 1
    assert found.pairs["a", "b"].observed == 1


def test_other_sentences_and_other_outputs_are_not_compared():
    found = agree(
        [
            ranking("a", "X 1", "Y 2"),
            ranking("b", "X 1", "Y 2", segment=2),
            ranking("b", "X 1", "Y Z 2"),
        ]
    )
    assert found.pairs["a", "b"].reason == "nothing was judged twice"
    assert found.inter.reason == f"no kappa of {LEAST} or more comparisons"


def test_skipped_and_single_items_count_as_items_only():
    found = agree(
        [
            Ranking(judge="a", segment=1, groups=(), skipped=True),
            ranking("a", "X 1", "Y 2", skipped=True),
            ranking("a", "X Y Z 1"),
            ranking("b", "X Y Z 1"),
        ]
    )
    assert astuple(found.counts["a"]) == (3, 0, 0, 3, 3)
    assert found.alpha_inter.reason == "nothing was judged twice"


def test_all_ties_have_no_kappa():
    found = agree([ranking(judge, "X 1", "Y 1") for judge in "ab"])
    each = found.pairs["a", "b"]
    assert math.isnan(each.value)
    assert (each.observed, each.chance, each.reason) == (1, 1, "all judgments are the same")
    data = found.to_json()["pairs"]["a|b"]
    assert (data["kappa"], data["reason"]) == (None, "all judgments are the same")
    assert data["in_mean"] is False


def test_alpha_takes_one_rank_a_judge_between_and_all_within():
    """Of a rank only the order counts, 1 3 is 1 2; of several rankings the mean, 1.25 and 1.75."""
    found = agree(
        [
            *[ranking("a", "X 1", "Y 3")] * 3,
            ranking("a", "X 2", "Y 1"),
            ranking("b", "X 1", "Y 2"),
            ranking("b", "X 1", "Y 2", "Z 3"),
        ]
    )
    expected = krippendorff_alpha(np.array([[1.25, 1], [1.75, 2]]))
    assert (found.alpha_inter.value, found.alpha_inter.n) == (expected.value, 4)
    assert found.alpha_intra.n == 8
    assert found.alpha_intra.value == pytest.approx(0.125)


def test_bad_input():
    with pytest.raises(DataError, match="no judgment"):
        agree([])
    with pytest.raises(DataError, match="called 'total'"):
        agree([ranking("total", "X 1", "Y 2")])
    with pytest.raises(UnknownNameError, match="kappa"):
        agree([ranking("a", "X 1", "Y 2")], kappa="free")
    with pytest.raises(DataError, match="1 judges"):
        judge_correlations([ranking("a", "X 1", "Y 2")])


def test_signature_shows_what_the_caller_adds():
    found = agree([ranking("a", "X 1", "Y 2")], numbering="1 (found)")
    assert found.signature["first-segment"] == "1 (found)"
    assert found.signature["kappa"] == "script"


# --- judges against each other ---------------------------------------------------------------


def test_a_judge_without_decisions_has_no_correlation():
    found = judge_correlations(
        [
            ranking("a", "X 1", "Y 2", "Z 3"),
            ranking("a", "X 2", "Y 1", "Z 3"),
            ranking("a", "X 2", "Y 2", "Z 1"),
            ranking("b", "X 1", "Y 1", "Z 1"),
        ]
    )
    assert found.rest["b"].reason == "fewer than two systems have a score from both"
    assert found.mean.n == 0
    data = found.to_json()
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
    found = judge_correlations(
        [*both_ways, replace(both_ways[0], judge="b"), ranking("b", "Y 1", "X 2")]
    )
    assert found.pairs["a", "b"].reason == "all systems have the same score"


def test_a_system_that_one_judge_never_saw_win_is_left_out():
    """The script's list has no system without a win (beaten-opponents)."""
    found = judge_correlations(
        [ranking("a", "X 1", "Y 2", "Z 3"), ranking("b", "X 2", "Y 1", "Z 3")]
    )
    assert found.pairs["a", "b"].n == 2


# --- slow twins ------------------------------------------------------------------------------


@st.composite
def many_rankings(draw):
    found = []
    for _ in range(draw(st.integers(1, 8))):
        systems = draw(st.permutations("WXYZ"))
        cuts = sorted(draw(st.sets(st.integers(1, 3))))
        groups = [tuple(systems[a:b]) for a, b in zip([0, *cuts], [*cuts, 4], strict=True)]
        ranks = tuple(draw(st.integers(1, 3)) for _ in groups)
        found.append(
            Ranking(
                judge=draw(st.sampled_from("abc")),
                segment=draw(st.integers(1, 2)),
                groups=tuple(groups),
                ranks=ranks,
                skipped=draw(st.integers(0, 9)) == 0,
            )
        )
    return found


def slow_comparisons(rankings, first, second):
    """Every two judgments, one by one, as the text of the paper has it."""
    judged = defaultdict(list)
    for number, each in enumerate(rankings):
        names = [" ".join(sorted(group)) for group in each.groups]
        for (a, x), (b, y) in combinations(sorted(zip(names, each.ranks, strict=True)), 2):
            if not each.skipped:
                relation = "<" if x < y else ">" if x > y else "="
                judged[each.segment, a, b].append((number, each.judge, relation))
    agreeing, compared, used = 0, 0, Counter()
    for found in judged.values():
        mine = [j for j in found if j[1] == first]
        theirs = [j for j in found if j[1] == second]
        pairs = [(x, y) for x in mine for y in theirs if first != second or x[0] < y[0]]
        agreeing += sum(x[2] == y[2] for x, y in pairs)
        compared += len(pairs)
        used.update(relation for _, _, relation in {j for pair in pairs for j in pair})
    return Comparisons(agreeing, compared, tuple(used[relation] for relation in "<=>"))


@given(many_rankings())
def test_kappas_are_their_twin(rankings):
    found = agree(rankings)
    for (a, b), each in found.pairs.items():
        expected = kappa(slow_comparisons(rankings, a, b))
        assert astuple(each) == pytest.approx(astuple(expected), nan_ok=True)


@given(many_rankings())
def test_orientation_does_not_matter_to_the_orientation_free(rankings):
    """Names in reverse order turn every 'better' into 'worse'."""
    turned = dict(zip("WXYZ", "ZYXW", strict=True))
    other = [
        replace(each, groups=tuple((turned[name],) for (name,) in each.groups))
        for each in rankings
        if all(len(group) == 1 for group in each.groups)
    ]
    same = [each for each in rankings if all(len(group) == 1 for group in each.groups)]
    if not same:
        return
    ours = agree(same, kappa="orientation-free").pairs
    theirs = agree(other, kappa="orientation-free").pairs
    for judges, each in ours.items():
        assert astuple(each)[:4] == pytest.approx(astuple(theirs[judges])[:4], nan_ok=True)


@given(many_rankings())
def test_counts_are_their_twin(rankings):
    found = agree(rankings)
    for judge, counts in found.counts.items():
        own = [each for each in rankings if each.judge == judge]
        expected = [len(own), 0, 0, 0, 0]
        for each in own:
            ranks = {} if each.skipped else dict(zip(each.groups, each.ranks, strict=True))
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
    for each in rankings:
        if each.skipped or len(each.groups) < 2:
            continue
        shown = frozenset(frozenset(group) for group in each.groups)
        for group, rank in zip(each.groups, each.ranks, strict=True):
            below = sum(other < rank for other in each.ranks)
            middle = below + (each.ranks.count(rank) + 1) / 2
            units[each.segment, shown, frozenset(group)][each.judge].append(middle)
    values = np.full((len(units), 3), np.nan)
    for row, unit in enumerate(units.values()):
        for judge, ranks in unit.items():
            values[row, "abc".index(judge)] = sum(ranks) / len(ranks)
    expected = krippendorff_alpha(values)
    assert astuple(agree(rankings).alpha_inter) == pytest.approx(astuple(expected), nan_ok=True)
