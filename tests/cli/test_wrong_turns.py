"""What people do in their first hour by mistake, and what they are told."""

from __future__ import annotations

import json
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from grammeter.cli.main import main
from grammeter.metrics import registry
from grammeter.resources import sample_corpus

SAMPLE = sample_corpus()
GOLD = str(SAMPLE / "gold.m2")
CAREFUL = str(SAMPLE / "systems" / "Careful.txt")
BOTH = [CAREFUL, str(SAMPLE / "systems" / "Fluent.txt")]


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]):
    """Run a command; return its exit code and what it says on standard error."""

    def run(*arguments: str) -> tuple[int, str]:
        try:
            code = main(list(arguments))
        except SystemExit as stop:
            code = int(stop.code or 0)
        return code, capsys.readouterr().err

    return run


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["score", "-m", "m2", "--baseline", "AMU"], "--baseline belongs to 'grammeter compare'."),
        (["score", "-m", "m2", "--precent"], "Did you mean --percent?"),
        (["meta", "system", "a", "b", "--figur=x"], "Did you mean --figure?"),
        (["meta", "system", "a", "b", "--steps", "3"], "unrecognized arguments: --steps 3"),
        (["compar", "a"], "Did you mean 'compare'"),
    ],
)
def test_a_strange_option_or_verb(told, arguments, hint) -> None:
    code, err = told(*arguments)
    assert code == 2
    assert hint in err
    assert len(err.splitlines()) <= 4, "all options of the verb were listed"


def test_an_option_that_many_verbs_have_is_not_explained(told) -> None:
    code, err = told("score", "-m", "m2", "--seed", "1")
    assert (code, len(err.splitlines())) == (2, 2)


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        (["m2", CAREFUL], f"{CAREFUL} is a file, no metric\n  System outputs stand behind --hyps"),
        (["m2,gleu"], "'m2,gleu' is no name of a metric\n  Separate several metrics by spaces."),
        (["glue"], "unknown metric 'glue'\n  Did you mean 'gleu'"),
    ],
)
def test_what_is_no_metric(told, metrics, message) -> None:
    code, err = told("score", "-r", GOLD, "-m", *metrics, "--hyps", CAREFUL)
    assert code == 2
    assert message in err


def test_a_pattern_that_nothing_fits(told) -> None:
    code, err = told("score", "-r", GOLD, "-m", "m2", "--hyps", "nowhere/*.txt")
    assert code == 3
    assert "No file fits this pattern." in err


def test_outputs_that_are_not_tokenised(told, tmp_path: Path) -> None:
    plain = tmp_path / "plain.txt"
    text = Path(CAREFUL).read_text("utf-8")
    plain.write_text(text.replace(" .", ".").replace(" ?", "?"), "utf-8")
    options = ["--hyps", str(plain), CAREFUL, "--format", "tsv", "--quiet"]
    code, err = told("score", "-r", GOLD, "-m", "m2", *options)
    assert code == 0
    assert f"note: {plain}: " in err
    assert "joined to its word" in err
    assert f"{CAREFUL}:" not in err


def test_a_table_is_not_what_o_writes(told, tmp_path: Path) -> None:
    stored, table = str(tmp_path / "s.json"), str(tmp_path / "t.tex")
    assert told("score", "-r", GOLD, "-m", "m2", "--hyps", *BOTH, "-o", stored) == (0, "")
    code, err = told("compare", stored, "-o", table, "--format", "latex")
    assert code == 0
    assert f"note: {table}: this is JSON, as -o writes it" in err
    assert json.loads(Path(table).read_text("utf-8"))["kind"] == "comparison"


def test_scores_are_no_judgments(told, tmp_path: Path) -> None:
    stored = str(tmp_path / "s.json")
    told("score", "-r", GOLD, "-m", "m2", "--hyps", *BOTH, "-o", stored)
    code, err = told("rank", stored)
    assert code == 3
    assert "these are no judgments: \"kind\" is 'scores'" in err


def test_precision_and_recall_stand_before_the_score(capsys) -> None:
    command = ["score", "-r", GOLD, "-m", "gleu", "m2", "--hyps", CAREFUL, "--percent"]
    assert main([*command, "--parts", "precision", "tp", "--format", "tsv"]) == 0
    head, row = (line.split("\t") for line in capsys.readouterr().out.splitlines())
    assert head == ["system", "gleu", "m2 precision", "m2 tp", "m2"]
    assert row == ["Careful", "41.74", "98.48", "65", "76.47"]
    assert main([*command, "--parts", "presicion"]) == 2
    assert "Did you mean 'precision'" in capsys.readouterr().err


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Announce a metric of another package whose module is as given."""

    def install(text: str) -> Path:
        path = tmp_path / "broken_metric.py"
        path.write_text(text, "utf-8")
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, "broken_metric", raising=False)
        point = EntryPoint("broken", "broken_metric:Broken", registry.GROUP)
        monkeypatch.setattr(registry, "_plugins", lambda: {"broken": point})
        return path

    return install


BROKEN = """
from dataclasses import dataclass
from grammeter.metrics import M2

@dataclass(frozen=True, kw_only=True)
class Broken(M2):
    name = "broken"

    def counting(self):
        return self

    def statistics(self, segments):
        return [1 / 0 for s in segments]
"""


def test_an_error_in_a_plug_in_is_told_with_its_line(told, broken) -> None:
    path = broken(BROKEN)
    code, err = told("score", "-r", GOLD, "-m", "broken", "--hyps", CAREFUL)
    assert code == 2
    line = BROKEN.splitlines().index("        return [1 / 0 for s in segments]") + 1
    assert err.startswith(f"grammeter: {path}:{line}: metric 'broken' failed: ZeroDivisionError")
    assert "Traceback" not in err
    code, err = told("score", "-r", GOLD, "-m", "broken", "--hyps", CAREFUL, "--debug")
    assert code == 2
    assert "Traceback" in err
    assert "ZeroDivisionError: division by zero" in err


def test_an_error_of_ours_stays_a_traceback(monkeypatch: pytest.MonkeyPatch, broken) -> None:
    broken(BROKEN)
    monkeypatch.setattr("grammeter.verbs.score", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        main(["score", "-r", GOLD, "-m", "m2", "--hyps", CAREFUL])


def test_a_broken_plug_in_does_not_hide_the_others(broken, capsys) -> None:
    broken("import no_such_module_anywhere")
    assert main(["list"]) == 0
    printed = capsys.readouterr()
    assert "\ngleu " in printed.out
    assert "note: left out: metric 'broken' cannot be loaded" in printed.err
    assert main(["list", "broken"]) == 2


JUDGE = ["judge", "-s", str(SAMPLE / "source.txt"), "--dry-run", "-m", "llm-s(model=gpt-4o-mini)"]


def test_one_system_alone_is_not_judged(told) -> None:
    code, err = told(*JUDGE, "--hyps", CAREFUL)
    assert code == 2
    assert "one system alone" in err


def test_a_dry_run_says_what_prices_and_ceilings_lack(told, tmp_path: Path, capsys) -> None:
    cache = ["--cache-dir", str(tmp_path)]
    assert "would end it" not in told(*JUDGE, *cache, "--hyps", *BOTH, "--max-cost", "1")[1]
    assert "would end it" in told(*JUDGE, *cache, "--hyps", *BOTH, "--max-cost", "0.001")[1]
    assert main([*JUDGE[:-1], "llm-s(model=mine)", *cache, "--hyps", *BOTH]) == 0
    assert "unknown: give a table that has the model, --prices FILE" in capsys.readouterr().out


@pytest.mark.parametrize("verb", ["rank", "agree", "meta system", "meta window", "meta beta"])
def test_a_figure_that_cannot_be_drawn_is_refused_before_anything_is_read(verb, capsys):
    files = ["nowhere.xml"] if verb in ("rank", "agree") else ["nowhere.json", "nowhere.tsv"]
    assert main([*verb.split(), *files, "--figure", "ranks.gif"]) == 2
    assert "ranks.gif: no name of a figure" in capsys.readouterr().err
