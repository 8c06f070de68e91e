"""Law 8: other names and another order change no value, and equal systems are treated alike."""

from __future__ import annotations

import json
import random

import pytest

from grammeter.cli.main import main

NAMES = {
    "Careful": "zeta",
    "Eager": "yps",
    "Echo": "chi",
    "Fluent": "b",
    "Speller": "eps",
    "Thorough": "A9",
}
JUDGES = {"judge01": "z", "judge02": "a", "judge03": "m"}


@pytest.fixture
def result(capsys):
    def run(*arguments):
        assert main([*map(str, arguments), "--format", "json", "--quiet"]) == 0
        return json.loads(capsys.readouterr().out)

    return run


@pytest.fixture
def items(folder):
    lines = (folder / "people.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def written(items, path):
    path.write_text("".join(f"{json.dumps(item)}\n" for item in items), "utf-8")
    return path


def renamed(items):
    return [
        item
        | {
            "judge": JUDGES[item["judge"]],
            "groups": [[NAMES[name] for name in group] for group in item["groups"]],
        }
        for item in items
    ]


def plain(value, names):
    """Return a result without what names it, systems and judges renamed, lists of rows sorted."""
    if isinstance(value, dict):
        return {
            "|".join(sorted(names.get(part, part) for part in key.split("|"))): plain(item, names)
            for key, item in value.items()
            if key not in ("signature", "human", "notes")
        }
    if isinstance(value, list):
        return sorted((plain(item, names) for item in value), key=json.dumps)
    return names.get(value, value) if isinstance(value, str) else value


def same(one, other, names):
    """Whether two results hold the same numbers: rounding by the order of sums is allowed."""
    if isinstance(one, dict):
        assert one.keys() == other.keys(), names
        for key, value in one.items():
            same(value, other[key], (*names, key))
    elif isinstance(one, list):
        assert len(one) == len(other), names
        for at, (a, b) in enumerate(zip(one, other, strict=True)):
            same(a, b, (*names, at))
    elif isinstance(one, float) and isinstance(other, float):
        assert one == pytest.approx(other, rel=1e-9, abs=1e-12), names
    else:
        assert one == other, names


OF_PEOPLE = [
    ["rank"],
    ["rank", "--by", "bradley-terry"],
    ["rank", "--by", "trueskill", "--resamples", "20"],
    ["rank", "--head-to-head"],
    ["agree"],
    ["agree", "--correlate"],
]


@pytest.mark.parametrize("verb", OF_PEOPLE, ids=" ".join)
def test_the_order_of_items_changes_no_value(verb, items, tmp_path, result):
    shuffled = random.Random(3).sample(items, len(items))
    one = result(verb[0], written(items, tmp_path / "one.jsonl"), *verb[1:])
    other = result(verb[0], written(shuffled, tmp_path / "other.jsonl"), *verb[1:])
    same(plain(one, {}), plain(other, {}), ())


def without_script(result, verb):
    """Leave out kappa by the script of 2015, which depends on names by definition and says so."""
    if verb == ["agree"]:
        assert any("depends on the alphabetical order" in note for note in result["notes"])
        return {key: result[key] for key in ("beside", "alpha", "counts")}
    return result


@pytest.mark.parametrize("verb", OF_PEOPLE, ids=" ".join)
def test_names_of_systems_and_judges_change_no_value(verb, items, tmp_path, result):
    one = result(verb[0], written(items, tmp_path / "one.jsonl"), *verb[1:])
    other = result(verb[0], written(renamed(items), tmp_path / "other.jsonl"), *verb[1:])
    one, other = without_script(one, verb), without_script(other, verb)
    same(plain(one, NAMES | JUDGES), plain(other, {}), ())


@pytest.mark.parametrize("verb", OF_PEOPLE, ids=" ".join)
def test_the_order_of_files_changes_no_value(verb, items, tmp_path, result):
    first = written(items[:60], tmp_path / "first.jsonl")
    second = written(items[60:], tmp_path / "second.jsonl")
    same(
        plain(result(verb[0], first, second, *verb[1:]), {}),
        plain(result(verb[0], second, first, *verb[1:]), {}),
        (),
    )


@pytest.mark.parametrize("options", [[], ["--test", "randomisation"], ["--correction", "holm"]])
def test_the_order_of_systems_changes_no_comparison(options, folder, tmp_path, result):
    outputs = sorted((folder / "out").iterdir())
    tables = []
    for name, paths in (("one", outputs), ("other", outputs[::-1])):
        stored = tmp_path / f"{name}.json"
        result(
            "score", "-r", folder / "gold.m2", "-m", "m2", "gleu", "--hyps", *paths, "-o", stored
        )
        tables.append(result("compare", stored, *options)["metrics"])
    for metric in ("m2", "gleu"):
        one, other = (table[metric] for table in tables)
        same(grouped(one["systems"]), grouped(other["systems"]), metric)
        assert pvalues(one) == pytest.approx(pvalues(other))


def grouped(systems):
    """Return results with, in place of letters, the systems with which one is shared."""
    return {
        name: {key: value for key, value in row.items() if key != "letters"}
        | {
            "alike": sorted(
                other
                for other, them in systems.items()
                if set(them["letters"]) & set(row["letters"])
            )
        }
        for name, row in systems.items()
    }


def pvalues(column):
    return {tuple(sorted((p["first"], p["second"]))): p["pvalue"] for p in column["pairs"]}


@pytest.mark.parametrize("method", ["expected-wins", "trueskill", "bradley-terry"])
def test_equal_systems_share_ranks_and_cluster(method, items, tmp_path, result):
    twins = [
        item
        | {
            "groups": [
                [*group, *(["Twin"] if "Fluent" in group else [])] for group in item["groups"]
            ]
        }
        for item in items
    ]
    path = written(twins, tmp_path / "twins.jsonl")
    ranking = result("rank", path, "--by", method, "--resamples", "50")
    row = {each["system"]: each for each in ranking["systems"]}
    for key in ("ranks", "cluster"):
        assert row["Twin"][key] == row["Fluent"][key]
    assert row["Twin"]["score"] == pytest.approx(row["Fluent"]["score"], rel=1e-6)


def test_equal_systems_share_letters(folder, tmp_path, result):
    (tmp_path / "Twin.txt").write_bytes((folder / "out" / "Fluent.txt").read_bytes())
    stored = tmp_path / "s.json"
    outputs = [*sorted((folder / "out").iterdir()), tmp_path / "Twin.txt"]
    result("score", "-r", folder / "gold.m2", "-m", "m2", "--hyps", *outputs, "-o", stored)
    systems = result("compare", stored)["metrics"]["m2"]["systems"]
    assert systems["Twin"]["letters"] == systems["Fluent"]["letters"]
    assert systems["Twin"]["low"] == systems["Fluent"]["low"]


@pytest.mark.parametrize("question", ["system", "sentence", "window"])
def test_the_order_of_people_and_scores_changes_no_correlation(
    question, items, folder, tmp_path, result
):
    shuffled = random.Random(5).sample(items, len(items))
    people = [written(items, tmp_path / "a.jsonl"), written(shuffled, tmp_path / "b.jsonl")]
    one, other = (result("meta", question, folder / "scores.json", path) for path in people)
    same(plain(one, {}), plain(other, {}), ())
