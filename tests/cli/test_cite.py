"""``grammeter cite``."""

from __future__ import annotations

import re
from functools import partial
from itertools import accumulate
from pathlib import Path

import pytest

from grammeter.metrics import BUILT_IN, metric
from grammeter.version import __version__


@pytest.fixture
def cite(program):
    return partial(program, "cite")


def test_the_program_itself(cite) -> None:
    code, out, _ = cite()
    assert code == 0
    assert out.startswith("@software{grammeter,")
    assert __version__ in out


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_metric_is_bibtex(cite, name: str) -> None:
    code, out, _ = cite(name)
    assert code == 0
    assert out == metric(name).citation + "\n"
    assert re.match(r"@\w+\{[\w:.-]+,\n", out)
    assert out.count("{") == out.count("}")
    assert "title" in out
    assert "author" in out


def test_each_entry_once(cite) -> None:
    assert cite("m2", "sentm2", "m2(beta=1)", "gleu")[1] == "\n".join(
        [cite("m2")[1], cite("gleu")[1]]
    )


def test_unknown_metric(cite) -> None:
    code, out, err = cite("m2", "gleo")
    assert (code, out) == (2, "")
    assert "Did you mean 'gleu'" in err


def test_all_metrics_make_one_bibliography(cite) -> None:
    """Braces close within each field, and no two entries share a key."""
    code, out, _ = cite(*BUILT_IN)
    assert code == 0
    entries = re.split(r"\n+(?=@)", out.strip())
    keys = [re.match(r"@\w+\{([\w:.-]+),", entry)[1] for entry in entries]
    assert len(keys) == len(set(keys)) > 15
    for entry in entries:
        depths = list(accumulate({"{": 1, "}": -1}.get(letter, 0) for letter in entry))
        assert min(depths[:-1]) >= 0
        assert depths[-1] == 0
        assert depths[depths.index(1) : -1].count(0) == 0
        assert entry.count('"') % 2 == 0
        assert {"author", "title", "year"} <= set(re.findall(r"^\s+(\w+) = ", entry, re.MULTILINE))


def test_the_citation_file_says_the_same(cite) -> None:
    text = (Path(__file__).parents[2] / "CITATION.cff").read_text(encoding="utf-8")
    title, author = re.search(r'^title: "(.+)"', text, re.MULTILINE), "The grammeter authors"
    assert f"title = {{{title[1]}}}" in cite()[1]
    assert f'name: "{author}"' in text
    assert f"author = {{{{{author}}}}}" in cite()[1]
