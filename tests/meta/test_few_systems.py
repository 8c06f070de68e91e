"""No figure of few systems is certain: seen from outside, as a user's script would."""

import itertools

import numpy as np
import pytest
from scipy import stats

import grammeter as gm
from grammeter.formats import read_score_file
from grammeter.meta.system_values import INTERVALS
from grammeter.stats import bca_interval


def put(path, header, rows):
    path.write_text("\n".join(["\t".join(header), *("\t".join(map(str, r)) for r in rows)]) + "\n")
    return str(path)


@pytest.fixture
def files(tmp_path):
    """Write scores of metrics and of people, and return the two files."""

    def write(human, **metrics):
        rows = [(m, s, v) for m, values in metrics.items() for s, v in zip("ABCDEFGHIJKLM", values)]  # noqa: B905
        return (
            put(tmp_path / "metrics.tsv", ("metric", "system", "value"), rows),
            put(tmp_path / "human.tsv", ("system", "value"), zip("ABCDEFGHIJKLM", human)),  # noqa: B905
        )

    return write


def numbers(data):
    """Yield every key with its value, however deep."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield key, data, value
            yield from numbers(value)
    elif isinstance(data, list):
        for value in data:
            yield from numbers(value)


@pytest.mark.parametrize("interval", INTERVALS)
@pytest.mark.parametrize("size", [2, 3, 4, 5, 8, 13])
@pytest.mark.parametrize("turn", [1, -1])
def test_perfect_order_is_never_certain(files, answer, interval, size, turn):
    human = range(1, size + 1)
    metrics = {"x": [turn * n**2 for n in human], "y": [turn * n for n in human], "z": [*human]}
    metrics["odd"] = [n + 2 * (n % 2) for n in human]
    result = answer("meta", "system", *files(human, **metrics), "--interval", interval)
    for key, around, value in numbers(result):
        if key == "pvalue":
            assert value != 0
        if "low" in around and key in ("low", "high") and around["low"] is not None:
            assert around["low"] < around["high"]
        if key == "value" and "low" in around and around["low"] is None:
            assert around["reason"]
    if size < 10:
        assert any("few" in note for note in result["notes"])


def test_four_systems_in_perfect_order_prove_little(files, answer):
    result = answer("meta", "system", *files([1, 2, 3, 4], x=[1, 4, 9, 16]))["metrics"]["x"]
    for kind in ("spearman", "kendall"):
        assert result[kind]["pvalue"] == pytest.approx(2 / 24)
        assert result[kind]["low"] is None
        assert result[kind]["reason"]


def test_windows_are_never_certain(files, answer):
    result = answer("meta", "window", *files([1, 2, 3, 4, 5], x=[1, 4, 9, 16, 25]), "--size", 4)
    for window in result["windows"]:
        assert window["metrics"]["x"]["spearman_interval"] is None
        assert window["metrics"]["x"]["reason"]
    assert any("few" in note for note in result["notes"])


# --- pairwise accuracy ---------------------------------------------------------------------


def test_pairwise_accuracy_by_hand(files, answer):
    """A > B > C = D by people; the metric ties A and B, and turns one decided pair."""
    result = answer("meta", "system", *files([4, 3, 1, 1], x=[5, 5, 6, 1]))["metrics"]["x"]
    expected = {"value": 2 / 5, "correct": 2, "n": 5, "ties": {"metric": 1, "human": 1}}
    assert result["pairwise_accuracy"] == expected


def test_pairwise_accuracy_is_the_share_of_pairs_that_agree(files, answer):
    random = np.random.default_rng(3)
    human, metric = random.integers(0, 6, size=(2, 9)).tolist()
    result = answer("meta", "system", *files(human, x=metric))["metrics"]["x"]["pairwise_accuracy"]
    decided = [p for p in itertools.combinations(range(9), 2) if human[p[0]] != human[p[1]]]
    right = sum((human[a] > human[b]) - (human[a] < human[b]) == np.sign(metric[a] - metric[b])
                for a, b in decided)  # fmt: skip
    assert (result["correct"], result["n"]) == (right, len(decided))
    assert result["value"] == pytest.approx(right / len(decided))


def test_pairwise_accuracy_without_a_decided_pair(files, answer):
    result = answer("meta", "system", *files([1, 1, 1], x=[1, 2, 3]))["metrics"]["x"]
    assert result["pairwise_accuracy"]["value"] is None
    assert "same score" in result["pairwise_accuracy"]["reason"]


# --- BCa -----------------------------------------------------------------------------------


def test_bca_equals_scipy_on_the_same_resamples():
    random = np.random.default_rng(5)
    x = random.normal(size=12)
    y = x + random.normal(size=12)

    def pearson(a, b, axis=-1):
        return stats.pearsonr(a, b, axis=axis).statistic

    theirs = stats.bootstrap(
        (x, y), pearson, paired=True, vectorized=True, method="BCa", rng=1, n_resamples=999
    )
    jackknife = np.array([pearson(np.delete(x, at), np.delete(y, at)) for at in range(12)])
    ours = bca_interval(theirs.bootstrap_distribution, pearson(x, y), jackknife, 0.95)
    assert ours == pytest.approx(tuple(theirs.confidence_interval), abs=1e-12)


def test_bca_differs_from_the_plain_bootstrap_and_holds_the_value(files, answer):
    human = [0.9, 0.7, 0.6, 0.5, 0.2, 0.1]
    both = files(human, x=[0.8, 0.75, 0.4, 0.5, 0.3, 0.25])
    plain, corrected = (
        answer("meta", "system", *both, "--interval", name)["metrics"]["x"]["pearson"]
        for name in ("systems", "systems-bca")
    )
    assert plain["low"] != corrected["low"]
    assert corrected["low"] < corrected["value"] < corrected["high"]


@pytest.mark.parametrize("interval", INTERVALS)
def test_python_says_the_same(files, answer, interval):
    both = files([0.9, 0.7, 0.6, 0.5, 0.2, 0.1], x=[0.8, 0.75, 0.4, 0.5, 0.3, 0.25])
    ours = gm.meta_system(read_score_file(both[0]), both[1], interval=interval)
    assert ours.to_dict() == answer("meta", "system", *both, "--interval", interval)
