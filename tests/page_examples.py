"""The fenced examples of a page: found, run, and held against what the page shows.

``console`` blocks: ``$ grammeter ...`` runs in this process, any other command in the shell. What
stands below a command is compared with stdout and stderr together; ``...`` on a line of its own
stands for lines left out. Without any line below only the exit code is looked at, and a code
other than 0 must be shown by ``$ echo $?``. ``python`` blocks with ``>>>`` are doctests, others are
executed.

Each page has a folder of its own that holds the sample corpus as ``sample/``, and under the names
that pages use for a reader's own files (:data:`OWN_NAMES`). A ``toml`` block that announces metrics
does so for its page, as if the package had been installed.
"""

from __future__ import annotations

import doctest
import glob
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import types
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from threading import Thread

import pytest
from markdown_it import MarkdownIt

from grammeter.cli.main import main
from grammeter.metrics import registry
from grammeter.resources import sample_corpus

ROOT = Path(__file__).parents[1]

OWN_NAMES = {
    "src.txt": "source.txt",
    "source.txt": "source.txt",
    "gold.m2": "gold.m2",
    "texts.tsv": "texts.tsv",
    "edits.jsonl": "edits.jsonl",
    "ref0.txt": "ref0.txt",
    "ref1.txt": "ref1.txt",
    "out/Careful.txt": "systems/Careful.txt",
    "out/Thorough.txt": "systems/Thorough.txt",
    "out/Fluent.txt": "systems/Fluent.txt",
}
"""A name in the documentation -> the file of the sample corpus that stands behind it."""


_SETTING = re.compile(r"export (\w+)=\$\((grammeter .+)\)")


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
    """Return the metrics that a page announces in the ``pyproject.toml`` it shows."""
    tables = [tomllib.loads(block.text) for block in blocks(page) if block.language == "toml"]
    points = [table["project"].get("entry-points", {}).get(registry.GROUP, {}) for table in tables]
    return {
        name: EntryPoint(name, target, registry.GROUP)
        for announcements in points
        for name, target in announcements.items()
    }


@contextmanager
def module_of(page: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[types.ModuleType]:
    """Make the module that a page's blocks share; what it announces is found as if installed."""
    announcements = announced(page)
    names = {point.module for point in announcements.values()} or {"page"}
    module = types.ModuleType(names.pop())
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, module.__name__, module)
        if announcements:
            patch.setattr(registry, "_plugins", lambda: announcements)
        yield module


def run_blocks(
    page: Path, module: types.ModuleType, consoles: Collection[str] = ("console",)
) -> None:
    """Run a page from top to bottom; ``consoles`` are the languages of its commands."""
    for block in blocks(page):
        if block.language == "python":
            run_python(block, module)
        elif block.language in consoles:
            run_console(block)


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
    setting = _SETTING.fullmatch(command)
    if setting:
        code, printed = run(setting[2])
        os.environ[setting[1]] = printed.rstrip("\n")
        return code, ""
    if not command.startswith("grammeter "):
        done = subprocess.run(
            ["sh", "-c", command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        return done.returncode, done.stdout
    command, _, target = command.partition(" > ")
    words = [os.path.expandvars(word) for word in shlex.split(command)]
    expanded = [path for word in words[1:] for path in sorted(glob.glob(word)) or [word]]
    printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    with ExitStack() as stack:
        out = stack.enter_context(open(target, "w", encoding="utf-8")) if target else printed
        stack.enter_context(redirect_stdout(out))
        stack.enter_context(redirect_stderr(printed))
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


@contextmanager
def answering(page: Path, *references: Path) -> Iterator[str]:
    """Serve what the first block of a page defines; yield the address."""
    module = types.ModuleType("stand_in")
    run_python(next(block for block in blocks(page) if block.language == "python"), module)
    with module.serve(0, *references) as server:
        Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        server.shutdown()
