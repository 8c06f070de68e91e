"""A sweep at one point is the direct computation at that point: seen from outside."""

import json
from dataclasses import fields, replace

import pytest

import grammeter as gm
from grammeter.cli.main import main
from grammeter.metrics import BUILT_IN
from grammeter.resources import sample_corpus

SPELLED = {
    "errant": "errant(pipeline=neutral)",
    "senterrant": "senterrant(pipeline=neutral)",
    "cleme": "cleme(pipeline=neutral)",
    "gotoscorer": "gotoscorer(pipeline=neutral)",
    "pt-errant": "pt-errant(scorer=self, pipeline=neutral)",
    "sent-pt-errant": "sent-pt-errant(scorer=self, pipeline=neutral)",
    "pt-m2": "pt-m2(scorer=self)",
    "sent-pt-m2": "sent-pt-m2(scorer=self)",
}
REFUSED = {"chrf"}
"""Metrics that choose references by beta while they count."""
ASKING = {"uot-errant", "sent-uot-errant"}  # they cannot do without a model
WITH_BETA = [
    name
    for name in BUILT_IN
    if name not in REFUSED | ASKING and any(f.name == "beta" for f in fields(gm.metric(name)))
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The judgments of the sample corpus, and its first sentences as files."""
    folder = tmp_path_factory.mktemp("sweeps")
    assert main(["rank", str(sample_corpus() / "judgments.xml"), "-o", str(folder / "r.json"),
                 "--quiet"]) == 0  # fmt: skip
    return folder


def stored(folder, *names, **changed):
    """Score the sample's systems; return the file."""
    metrics = [gm.metric(SPELLED.get(name, name)) for name in names]
    metrics = [replace(metric, **changed) for metric in metrics]
    path = folder / f"{'-'.join(names)}{changed}.json"
    if not path.exists():
        sample = sample_corpus()
        systems = sorted(sample.glob("systems/*.txt"))
        corpus = gm.read_corpus(references=[sample / "gold.m2"], systems=systems)
        path.write_text(json.dumps(gm.score(corpus, metrics).to_full_dict()), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", WITH_BETA)
def test_a_sweep_at_one_beta_is_the_metric_with_that_beta(name, folder, answer):
    ranking, scores = folder / "r.json", stored(folder, name)
    points = (0.2, 1.5)
    swept = answer("meta", "beta", scores, ranking, "--beta", ",".join(map(str, points)))
    assert swept["choice"] == "anew"
    differ = []
    for at, beta in enumerate(points):
        file = stored(folder, name, beta=beta)
        direct = answer("meta", "system", file, ranking)["metrics"]
        for kind in ("pearson", "spearman"):
            expected = next(iter(direct.values()))[kind]["value"]
            assert swept[kind][at] == pytest.approx(expected, abs=1e-9, nan_ok=True)
        values = json.loads(file.read_text())["metrics"]
        differ.append([s["value"] for s in next(iter(values.values()))["systems"].values()])
    if differ[0] == differ[1]:
        assert any("no effect" in note for note in swept["notes"])


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_a_metric_that_counts_by_beta_is_refused(name, folder, capsys):
    code = main(["meta", "beta", str(stored(folder, name)), str(folder / "r.json"), "--beta", "3"])
    assert code == 3
    assert "Score it with each beta" in capsys.readouterr().err


def test_fixed_precision_and_recall_are_said_or_refused(folder, answer, capsys):
    ranking = folder / "r.json"
    fixed = answer("meta", "beta", stored(folder, "m2"), ranking, "--choice", "fixed")
    assert fixed["choice"] == "fixed"
    assert any("as measured at beta 0.5" in note for note in fixed["notes"])
    code = main(["meta", "beta", str(stored(folder, "sentm2")), str(ranking), "--choice", "fixed"])
    assert code == 3
    assert "no F of its precision and recall" in capsys.readouterr().err


def test_scores_without_statistics_are_said_or_refused(folder, answer, capsys):
    """What ``score --format json`` prints has parts, but nothing to score anew from."""
    ranking = folder / "r.json"
    for name, code in (("m2", 0), ("sentm2", 3)):
        full = json.loads(stored(folder, name).read_text())
        path = folder / f"plain-{name}.json"
        path.write_text(json.dumps({k: v for k, v in full.items() if k != "details"}))
        assert main(["meta", "beta", str(path), str(ranking), "--beta", "0.5"]) == code
        printed = capsys.readouterr()
        assert "as measured" in printed.out or "-o FILE" in printed.err
        assert main(["meta", "beta", str(path), str(ranking), "--choice", "anew"]) == 3
        assert "-o FILE" in capsys.readouterr().err


def test_a_beta_that_the_metric_does_not_take_is_refused(folder, capsys):
    code = main(["meta", "beta", str(stored(folder, "m2")), str(folder / "r.json"), "--beta", "0"])
    assert code == 2
    assert "beta is above 0" in capsys.readouterr().err


# --- fewer systems -------------------------------------------------------------------------

METRICS = ("m2", "gleu")
VALUES = ("value", "low", "high", "pvalue", "n")


def figures(result, kinds=("pearson", "spearman"), keys=VALUES):
    return {kind: [result[kind][key] for key in keys] for kind in kinds}


@pytest.mark.parametrize("name", METRICS)
def test_fewer_systems_are_the_direct_computation(name, folder, answer):
    """Windows, top K, leaving out one, and a choice of systems."""
    both = stored(folder, *METRICS), folder / "r.json"
    whole = answer("meta", "system", *both, "--top-k", "--leave-one-out")
    systems, metric = whole["systems"], whole["metrics"][name]
    [widest] = answer("meta", "window", *both, "--size", str(len(systems)))["windows"]
    for kind in ("pearson", "spearman"):
        assert widest["metrics"][name][kind] == metric[kind]["value"]
        assert widest["metrics"][name][f"{kind}_interval"] == [
            metric[kind]["low"],
            metric[kind]["high"],
        ]
    for window in answer("meta", "window", *both, "--size", "4")["windows"]:
        direct = answer("meta", "system", *both, "--systems", *window["systems"])["metrics"][name]
        for kind in ("pearson", "spearman"):
            assert window["metrics"][name][kind] == direct[kind]["value"]
    for row in metric["top"]:
        direct = answer("meta", "system", *both, "--systems", *systems[: row["k"]])
        for kind in ("pearson", "spearman"):
            expected = direct["metrics"][name][kind]["value"]
            assert row[kind] == pytest.approx(expected, abs=1e-12)
    for system, row in metric["leave_one_out"].items():
        direct = answer("meta", "system", *both, "--drop", system)["metrics"][name]
        for kind in ("pearson", "spearman"):
            assert row[kind] == pytest.approx(direct[kind]["value"], abs=1e-12)
    chosen = answer("meta", "system", *both, "--systems", *reversed(systems))["metrics"][name]
    assert figures(chosen) == figures(metric)


@pytest.mark.parametrize("option", ["--systems", "--drop"])
def test_windows_and_beta_choose_systems_as_meta_system_does(option, folder, answer):
    both = stored(folder, *METRICS), folder / "r.json"
    systems = answer("meta", "system", *both)["systems"]
    words = [option, *(systems[:4] if option == "--systems" else systems[4:])]
    direct = answer("meta", "system", *both, *words)["metrics"]["m2"]
    [window] = answer("meta", "window", *both, *words, "--size", "4")["windows"]
    swept = answer("meta", "beta", *both, "-m", "m2", *words, "--beta", "0.5")
    for kind in ("pearson", "spearman"):
        assert window["metrics"]["m2"][kind] == direct[kind]["value"]
        assert swept[kind] == [pytest.approx(direct[kind]["value"], abs=1e-12)]
