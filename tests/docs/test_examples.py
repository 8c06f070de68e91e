"""The examples in README.md and docs run, and show what the program prints.

Each page is run from top to bottom in a folder of its own, as ``tests/page_examples.py`` says.

- ``python`` blocks share one module a page; ``console`` blocks are run command by command.
- ``shell-session`` blocks need data sets that are not everywhere: ``test_walks_*.py`` run them.
- Blocks of other languages are not run.
- Pages in :data:`ASKING` begin with a server that answers like a language model: ``$JUDGE``.
"""

from __future__ import annotations

import types
from contextlib import ExitStack

import pytest

from page_examples import (
    ROOT,
    Block,
    agree,
    answering,
    lay_out,
    module_of,
    run_blocks,
    run_console,
    run_python,
)

NOT_RUN = {"cli.md", "changelog.md"}
PAGES = [
    ROOT / "README.md",
    *(
        page
        for page in sorted((ROOT / "docs").rglob("*.md"))
        if page.name not in NOT_RUN and "_build" not in page.parts
    ),
]

PREPARED = {
    "significance.md": """
import grammeter as gm
table = gm.score(
    gm.read_corpus(source="src.txt", references=["ref0.txt", "ref1.txt"],
                   systems=["out/Careful.txt", "out/Thorough.txt"]),
    ["gleu"],
)
""",
    "datasets.md": """
from pathlib import Path
gold = Path("data/conll14_test/noalt/official-2014.combined.m2")
gold.parent.mkdir(parents=True)
gold.touch()
""",
    "train-impara.md": """
import made_models
made_models.encoder("encoder")
""",
    "scale.md": """
from pathlib import Path
row = '{"source": "he go", "hypothesis": "he goes", "ref": "he goes"}\\n'
Path("pairs.jsonl").write_text(row * 20, encoding="utf-8")
""",
    "filter-a-million-pairs.md": """
import grammeter as gm
import made_models
made_models.encoder("encoder")
gm.train_impara(["sample/gold.m2"], "my-impara", encoder="encoder", epochs=1, pairs=64)
""",
}
"""What a page takes as given, where its examples begin in the middle."""

ASKING = {"judge-with-a-language-model.md"}
"""Pages whose commands ask a language model."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page(page, tmp_path, monkeypatch):
    lay_out(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setenv("GRAMMETER_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("ENCODER", "encoder")  # a small one, for the pages that train
    with ExitStack() as stack:
        module = stack.enter_context(module_of(page, monkeypatch))
        exec(PREPARED.get(page.name, ""), module.__dict__)
        if page.name in ASKING:
            monkeypatch.setenv("JUDGE", stack.enter_context(answering(page)))
        run_blocks(page, module)


def test_agree_tells_lines_apart():
    assert agree(["a", "b"], ["a", "b"])
    assert agree(["a", "...", "c"], ["a", "b", "b", "c"])
    assert agree(["..."], [])
    assert not agree(["a"], ["a", "b"])
    assert not agree(["a", "...", "d"], ["a", "b", "c"])


def test_a_wrong_example_fails(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AssertionError, match="prints"):
        run_console(Block("console", "$ grammeter --version\ngrammeter 99\n", "here:1", 1))
    with pytest.raises(AssertionError, match="2"):
        run_console(Block("console", "$ grammeter cite nothing\n", "here:1", 1))
    with pytest.raises(AssertionError, match="Expected"):
        run_python(Block("python", ">>> 1 + 1\n3\n", "here:1", 1), types.ModuleType("page"))
