"""The tutorials about scoring, metrics and language models run as they stand, on real data, too.

What needs data sets stands in ``shell-session`` blocks; ``test_examples.py`` runs the others.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import pytest

from page_examples import ROOT, answering, blocks, commands, lay_out, module_of, run_blocks

TUTORIALS = ROOT / "docs" / "tutorials"


@pytest.fixture
def downloads(shared, tmp_path, monkeypatch):
    """A reader's folder: data sets as they were downloaded, none imported yet."""
    lay_out(tmp_path)
    for name in ("conll14_test", "human_gjg15", "seeda"):
        shutil.copytree(shared / "data" / name, tmp_path / "downloads" / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRAMMETER_DATA", str(tmp_path / "data"))
    for name in ("CONLL", "SEEDA", "PEOPLE"):  # what a page sets is taken back afterwards
        monkeypatch.setenv(name, "")
    return tmp_path


def walk(page, monkeypatch, *consoles):
    with module_of(page, monkeypatch) as module:
        run_blocks(page, module, consoles)


@pytest.mark.slow
def test_a_system_is_scored_on_conll14(downloads, monkeypatch):
    walk(TUTORIALS / "score-a-system-on-conll14.md", monkeypatch, "shell-session")
    for name, columns in (("table", "lrrrr"), ("letters", "lrrlrrl"), ("parts", "lrrr")):
        text = (downloads / f"{name}.tex").read_text(encoding="utf-8")
        assert not list(latex_faults(text, columns)), name
    assert "$^{*}$" in (downloads / "table.tex").read_text(encoding="utf-8")
    assert "@inproceedings{" in (downloads / "metrics.bib").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_metric_is_proposed_on_real_judgments(downloads, monkeypatch):
    walk(TUTORIALS / "propose-a-metric.md", monkeypatch, "console", "shell-session")
    text = (downloads / "meta.tex").read_text(encoding="utf-8")
    tables = [rf"\begin{{tabular}}{found}" for found in text.split(r"\begin{tabular}")[1:]]
    assert len(tables) == 3
    for table, columns in zip(tables, ("l" + "r" * 10, "lrrrrr", "lrrrrr"), strict=True):
        assert not list(latex_faults(table.rstrip(), columns))


@pytest.mark.slow
def test_a_model_is_held_against_people_on_seeda(downloads, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(downloads / "cache"))
    page = TUTORIALS / "judge-with-a-language-model.md"
    references = [downloads / "downloads" / "conll14_test" / f"ref{n}.txt" for n in (0, 1)]
    with answering(page, *references) as address:
        monkeypatch.setenv("JUDGE", address)
        walk(page, monkeypatch, "shell-session")
    assert "Judges that gave scores" in (downloads / "report.html").read_text(encoding="utf-8")


def test_published_cells_of_raw_czech_outputs_come_out(shared, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setenv("GECCC", str(shared / "data" / "lang_cs_geccc"))
    walk(ROOT / "docs" / "concepts" / "raw-outputs.md", monkeypatch, "shell-session")


def test_published_columns_by_domain_come_out(shared, tmp_path, monkeypatch):
    lay_out(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GECCC", str(shared / "data" / "lang_cs_geccc"))
    walk(ROOT / "docs" / "concepts" / "groups.md", monkeypatch, "shell-session")


def test_the_proposed_metric_is_installed_by_pip(tmp_path):
    """What the page has people install is found by its entry point, in a process of its own."""
    found = list(blocks(TUTORIALS / "propose-a-metric.md"))
    project, site = tmp_path / "proposal", tmp_path / "site"
    project.mkdir()
    for name, language in (("changed_words.py", "python"), ("pyproject.toml", "toml")):
        text = next(block.text for block in found if block.language == language)
        (project / name).write_text(text, encoding="utf-8")
    pip = ["pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "--no-index"]
    subprocess.run(
        [sys.executable, "-m", *pip, "--target", str(site), str(project)], check=True, cwd=tmp_path
    )
    consoles = [block.text for block in found if block.language == "console"]
    shown = dict(pair for text in consoles for pair in commands(text))
    code = "import sys; from grammeter.cli.main import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", code, "list", "changed"],
        env=os.environ | {"PYTHONPATH": str(site)},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout.rstrip().split("\n") == shown["grammeter list changed"]


KNOWN = {
    "begin",
    "end",
    "toprule",
    "midrule",
    "bottomrule",
    "textbf",
    "mathrm",
    "%",
    "&",
    "_",
    "\\",
}
"""The commands that a table needs: LaTeX's own, and those of booktabs."""


def latex_faults(text, columns):
    """Yield what LaTeX would stumble over in one ``tabular`` and the comments below it."""
    lines = [line for line in text.splitlines() if not line.startswith("%")]
    if lines[0] != rf"\begin{{tabular}}{{{columns}}}" or lines[-1] != r"\end{tabular}":
        yield f"no tabular of {columns}"
    for line in lines:
        unknown = set(re.findall(r"\\([A-Za-z]+|.)", line)) - KNOWN
        bare = re.sub(r"\\.", "", line)
        if unknown:
            yield f"{unknown}: {line}"
        if bare.count("{") != bare.count("}") or bare.count("$") % 2 or set("%#~") & set(bare):
            yield f"not balanced, or not escaped: {line}"
        if set("_^") & set(re.sub(r"\$[^$]*\$", "", bare)):
            yield f"mathematics outside of it: {line}"
        if line.endswith(r"\\") and bare.count("&") != len(columns) - 1:
            yield f"{bare.count('&') + 1} cells: {line}"


@pytest.mark.parametrize(
    "row",
    [
        r"a_b & 1 \\",
        r"a & b & c \\",
        r"a & $1 \\",
        r"a & {[}1 \\} \\",
        r"\foo & 1 \\",
        r"a & 5% \\",
    ],
)
def test_faults_of_a_table_are_noticed(row):
    good = "\\begin{tabular}{lr}\n\\toprule\na\\_b & {[}$-$1] \\\\\n\\end{tabular}\n% a_b 5%\n"
    assert not list(latex_faults(good, "lr"))
    assert list(latex_faults(good.replace(r"\toprule", row), "lr"))
