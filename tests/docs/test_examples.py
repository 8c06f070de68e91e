"""The examples in README.md and docs run, and show what the program prints.

Each page is run from top to bottom in a folder of its own that holds the sample corpus as
``sample/``, and under the names that pages use for a reader's own files (:data:`OWN_NAMES`).

- ``python`` blocks share one module a page; those with ``>>>`` are doctests, others are executed.
- ``console`` blocks: ``$ grammeter ...`` runs in this process, any other command in the shell. What
  stands below a command is compared with stdout and stderr together; ``...`` on a line of its own
  stands for lines left out. Without any line below only the exit code is looked at, and a code
  other than 0 must be shown by ``$ echo $?``.
- Blocks of other languages are not run. A ``toml`` block that announces metrics does so for its
  page, as if the package had been installed.
- Pages in :data:`ASKING` find a server that answers like a language model at ``$JUDGE``.
"""

from __future__ import annotations

import doctest
import glob
import io
import json
import os
import shlex
import shutil
import subprocess
import sys
import tomllib
import types
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import partial
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from grammeter.cli.main import main
from grammeter.metrics import registry
from grammeter.resources import sample_corpus
from scripted_endpoint import ScriptedEndpoint, targets

ROOT = Path(__file__).parents[2]
NOT_RUN = {"cli.md", "changelog.md"}
PAGES = [
    ROOT / "README.md",
    *(
        page
        for page in sorted((ROOT / "docs").rglob("*.md"))
        if page.name not in NOT_RUN and "_build" not in page.parts
    ),
]

OWN_NAMES = {
    "src.txt": "source.txt",
    "source.txt": "source.txt",
    "gold.m2": "gold.m2",
    "ref0.txt": "ref0.txt",
    "ref1.txt": "ref1.txt",
    "out/Careful.txt": "systems/Careful.txt",
    "out/Thorough.txt": "systems/Thorough.txt",
    "out/Fluent.txt": "systems/Fluent.txt",
}
"""A name in the documentation -> the file of the sample corpus that stands behind it."""

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
}
"""What a page takes as given, where its examples begin in the middle."""

ASKING = {"judge-with-a-language-model.md"}
"""Pages whose commands ask a language model."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page(page, tmp_path, monkeypatch):
    lay_out(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("GRAMMETER_DATA", str(tmp_path / "data"))
    module = types.ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)
    announcements = announced(page)
    if announcements:
        monkeypatch.setattr(registry, "_plugins", lambda: announcements)
    exec(PREPARED.get(page.name, ""), module.__dict__)
    with ExitStack() as stack:
        if page.name in ASKING:
            monkeypatch.setenv("JUDGE", stack.enter_context(stand_in()))
        for block in blocks(page):
            if block.language == "python":
                run_python(block, module)
            elif block.language == "console":
                run_console(block)


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    where: str
    line: int


def blocks(page: Path) -> Iterator[Block]:
    """Yield the fenced blocks of a page."""
    for token in MarkdownIt("commonmark").parse(page.read_text(encoding="utf-8")):
        if token.type == "fence":
            line = token.map[0] + 1
            where = f"{page.relative_to(ROOT)}:{line}"
            yield Block(token.info.strip(), token.content, where, line)


def lay_out(folder: Path) -> None:
    """Put the sample corpus where the pages look for it."""
    shutil.copytree(sample_corpus(), folder / "sample")
    (folder / "out").mkdir()
    for name, origin in OWN_NAMES.items():
        shutil.copy(sample_corpus() / origin, folder / name)


def announced(page: Path) -> dict[str, EntryPoint]:
    """Return the metrics that a page announces; its own module stands for the one it names."""
    tables = [tomllib.loads(block.text) for block in blocks(page) if block.language == "toml"]
    points = [table["project"].get("entry-points", {}).get(registry.GROUP, {}) for table in tables]
    return {
        name: EntryPoint(name, "page:" + target.partition(":")[2], registry.GROUP)
        for announcements in points
        for name, target in announcements.items()
    }


@contextmanager
def stand_in() -> Iterator[str]:
    """Serve what the page describes: a point off for each word that differs from a reference."""
    references = [
        (sample_corpus() / name).read_text("utf-8").splitlines()
        for name in ("ref0.txt", "ref1.txt")
    ]
    known = [Counter(line.split()) for lines in references for line in lines]

    def answer(prompt: str) -> str:
        shown = [Counter(text.split()) for text in targets(prompt)]
        points = [max(1, 5 - min(map(partial(far, words), known))) for words in shown]
        return json.dumps({f"target{n}_score": score for n, score in enumerate(points, 1)})

    with ScriptedEndpoint(answer=answer) as server:
        yield server.url


def far(words: Counter[str], others: Counter[str]) -> int:
    """Return how many words of the longer surplus two texts do not share, order aside."""
    return max((words - others).total(), (others - words).total())


def run_python(block: Block, module: types.ModuleType) -> None:
    if ">>>" not in block.text:
        exec(compile(block.text, block.where, "exec"), module.__dict__)
        return
    test = doctest.DocTestParser().get_doctest(block.text, {}, "page", block.where, block.line)
    test.globs = module.__dict__  # itself, not a copy: later blocks and dataclasses look into it
    report = io.StringIO()
    result = doctest.DocTestRunner(verbose=False).run(test, out=report.write, clear_globs=False)
    assert not result.failed, report.getvalue()


def run_console(block: Block) -> None:
    code = 0
    steps = list(commands(block.text))
    for number, (command, shown) in enumerate(steps):
        if command == "echo $?":
            assert shown == [str(code)], f"{block.where}: exit code {code}"
            continue
        code, printed = run(command)
        after = steps[number + 1][0] if number + 1 < len(steps) else ""
        assert not code or after == "echo $?", f"{block.where}: {command}: {code}\n{printed}"
        if shown:
            assert agree(shown, printed.rstrip().split("\n")), (
                f"{block.where}: {command} prints\n{printed}"
            )


def commands(text: str) -> Iterator[tuple[str, list[str]]]:
    r"""Yield each command, lines that end in ``\`` joined, and the lines shown below it."""
    lines = text.rstrip().split("\n")
    assert lines[0].startswith("$ "), f"a console block begins with a command, not {lines[0]!r}"
    while lines:
        command = lines.pop(0).removeprefix("$ ")
        while command.endswith("\\"):
            command = command[:-1] + lines.pop(0)
        shown: list[str] = []
        while lines and not lines[0].startswith("$ "):
            shown.append(lines.pop(0).rstrip())
        while shown and not shown[-1]:
            shown.pop()
        yield command, shown


def run(command: str) -> tuple[int, str]:
    """Return the exit code of a command and what it prints, both streams together."""
    words = [os.path.expandvars(word) for word in shlex.split(command)]
    if words[0] != "grammeter":
        done = subprocess.run(
            ["sh", "-c", command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        return done.returncode, done.stdout
    expanded = [path for word in words[1:] for path in sorted(glob.glob(word)) or [word]]
    printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    with redirect_stdout(printed), redirect_stderr(printed):
        try:
            code = main(expanded)
        except SystemExit as stop:
            code = int(stop.code or 0)
    printed.seek(0)
    return code, printed.read()


def agree(shown: list[str], printed: list[str]) -> bool:
    """Whether lines are as shown, ``...`` standing for any number of lines."""
    if not shown:
        return not printed
    if shown[0] == "...":
        return any(agree(shown[1:], printed[at:]) for at in range(len(printed) + 1))
    return bool(printed) and shown[0] == printed[0].rstrip() and agree(shown[1:], printed[1:])


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
