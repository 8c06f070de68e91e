"""The house keeps its shape: imports are read from the source, whether they ever run or not."""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "grammeter"
FILES = sorted(SOURCE.rglob("*.py"))

FLOORS = (
    ("version",),
    ("core", "resources"),
    ("stats", "errant", "models", "llm", "rendering"),
    ("alignment",),
    ("formats", "metrics", "ranking"),
    ("scoring", "meta", "study", "training"),
    ("verbs",),
    ("engine", "adapters", "papers", "campaign"),
    ("__init__",),
    ("cli",),
    ("__main__",),
)
"""Rooms from the ground up: each may enter the doors of lower floors, never up nor sideways."""
FLOOR = {name: number for number, names in enumerate(FLOORS) for name in names}

COMMON = {"base", "edit_f", "kinds"}
"""Files through which metrics meet."""
BUILDS_ON = {"weighted": {"m2", "errant"}, "cherrant": {"errant"}}

NETWORK = {"urllib.request", "urllib.error", "http", "socket", "ssl", "ftplib", "smtplib",
           "requests", "httpx", "aiohttp", "openai", "websockets"}  # fmt: skip
NETWORKED = {SOURCE / "formats" / "datasets.py", SOURCE / "engine" / "ray.py"}
"""Files that may use it: one fetches data, one asks whether a cluster answers."""
UNSAFE = {"pickle", "shelve", "marshal", "dill", "cloudpickle", "joblib"}
LONGEST = 450


@dataclass(frozen=True)
class Import:
    """A module that a file names, at a line; ``late``: inside a function or for types only."""

    module: str
    line: int
    late: bool

    @property
    def root(self) -> str:
        return self.module.partition(".")[0]

    def is_in(self, modules: set[str]) -> bool:
        parts = self.module.split(".")
        return any(".".join(parts[:n]) in modules for n in range(1, len(parts) + 1))


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports(path: Path) -> tuple[Import, ...]:
    return tuple(_imports(tree(path), late=False))


def _imports(node: ast.AST, late: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (Import(name.name, child.lineno, late) for name in child.names)
        elif isinstance(child, ast.ImportFrom):
            base = "." * child.level + (child.module or "")
            yield from (Import(f"{base}.{name.name}", child.lineno, late) for name in child.names)
        elif isinstance(child, ast.Call) and _name(child.func) in ("require", "import_module"):
            first = child.args[0] if child.args else None
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield Import(first.value, child.lineno, True)
        inner = late or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        types_only = isinstance(child, ast.If) and _name(child.test) == "TYPE_CHECKING"
        yield from _imports(child, inner or types_only)


def _name(node: ast.AST) -> str:
    """Return the last part of a dotted name, ``exit`` of ``sys.exit``."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def room(path: Path) -> str:
    first = path.relative_to(SOURCE).parts[0]
    return first.removesuffix(".py")


def shown(path: Path, line: int | None = None) -> str:
    return f"{path.relative_to(ROOT)}:{line}" if line else str(path.relative_to(ROOT))


def own_target(module: str) -> str | None:
    """Return the room that a module of ours belongs to."""
    package, _, rest = module.partition(".")
    if package != "grammeter":
        return None
    first = rest.partition(".")[0]
    return first if first in FLOOR else "__init__"


@cache
def doors() -> set[str]:
    """Return what may be imported from outside a room: ``grammeter.room.name`` for its names."""
    return {
        f"grammeter.{stub.parent.name}.{name.name}"
        for stub in SOURCE.glob("*/__init__.pyi")
        for node in tree(stub).body
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }


def faults(found: Iterator[str]) -> None:
    lines = list(found)
    assert not lines, "\n" + "\n".join(lines)


def test_every_room_has_a_floor() -> None:
    faults(f"{shown(path)}: no floor" for path in FILES if room(path) not in FLOOR)


def test_rooms_import_only_what_lies_below() -> None:
    faults(
        f"{shown(path, found.line)}: {room(path)} -> {target}"
        for path in FILES
        for found in imports(path)
        if (target := own_target(found.module)) is not None
        and target != room(path)
        and FLOOR[target] >= FLOOR[room(path)]
    )


def test_nobody_enters_past_a_door() -> None:
    faults(
        f"{shown(path, line)}: {module}"
        for path in FILES
        for module, line in used(path)
        if own_target(module) not in (None, "__init__", "version", "resources", room(path))
        and room(path) != "__main__"
        and module not in doors()
    )


def used(path: Path) -> Iterator[tuple[str, int]]:
    """Yield what a file imports; of a room that it imports whole, what it takes from there."""
    whole = {f"grammeter.{name}" for name in FLOOR} - {f"grammeter.{room(path)}"}
    rooms = {found.module for found in imports(path)} & whole
    yield from ((f.module, f.line) for f in imports(path) if f.module not in rooms)
    for node in ast.walk(tree(path)):
        match node:
            case ast.Attribute(value=ast.Name(id=name)) if f"grammeter.{name}" in rooms:
                yield f"grammeter.{ast.unparse(node)}", node.lineno


def test_no_two_files_import_each_other() -> None:
    names = {
        ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")
        for path in FILES
    }
    arrows = {
        (name, target)
        for path in FILES
        for name in [".".join(path.relative_to(SOURCE.parent).with_suffix("").parts)]
        for found in imports(path)
        for target in (found.module, found.module.rpartition(".")[0])
        if target in names and target != name
    }
    faults(f"{a} and {b}" for a, b in sorted(arrows) if (b, a) in arrows and a < b)


def test_imports_are_absolute() -> None:
    faults(
        f"{shown(path, found.line)}: {found.module}"
        for path in FILES
        for found in imports(path)
        if found.module.startswith(".")
    )


def test_metrics_do_not_import_each_other() -> None:
    not_metrics = {"__init__", "registry", *COMMON}
    faults(
        f"{shown(path, found.line)}: {found.module}"
        for path in FILES
        if room(path) == "metrics" and path.stem not in not_metrics
        for found in imports(path)
        if found.module.startswith("grammeter.metrics.")
        and found.module.split(".")[2] not in COMMON | BUILDS_ON.get(path.stem, set())
    )


def test_the_ground_floor_needs_numpy_and_regex_alone() -> None:
    known = {
        *sys.stdlib_module_names,
        "grammeter",
        "numpy",
        "regex",
        "pandas",
    }  # on request: to_pandas()
    faults(
        f"{shown(path, found.line)}: {found.module}"
        for path in FILES
        if room(path) in ("core", "version", "__init__")
        for found in imports(path)
        if found.root not in known
    )


def test_torch_stays_in_its_rooms() -> None:
    faults(
        f"{shown(path, found.line)}: {found.module}"
        for path in FILES
        if room(path) not in ("models", "training")
        for found in imports(path)
        if found.root in ("torch", "transformers", "safetensors")
    )


def test_the_network_stays_in_its_rooms() -> None:
    faults(
        f"{shown(path, found.line)}: {found.module}"
        for path in FILES
        if room(path) != "llm" and path not in NETWORKED
        for found in imports(path)
        if found.is_in(NETWORK)
    )


def test_heavy_packages_are_imported_when_they_are_used() -> None:
    light = {*sys.stdlib_module_names, "grammeter", "numpy"}
    own = {"campaign": {"django", "django_htmx", "waitress"}}
    faults(
        f"{shown(path, found.line)}: {found.module}"
        for path in FILES
        for found in imports(path)
        if not found.late and found.root not in light | own.get(room(path), set())
    )


HOSTS = {"inspect_ai", "lighteval", "euroeval"}
"""Harnesses that an adapter answers: where one calls, it is there."""


def test_only_declared_packages_are_used() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [v for k, v in project["optional-dependencies"].items() if k not in ("dev", "docs")]
    lines = [*project["dependencies"], *(line for extra in extras for line in extra)]
    declared = {line.split(">")[0].split("=")[0].split("[")[0].strip() for line in lines}
    known = {
        *sys.stdlib_module_names,
        "markdown_it",
        *(name.replace("-", "_").lower() for name in declared),
    }
    faults(
        f"{shown(path, found.line)}: {found.module}"
        for path in FILES
        for found in imports(path)
        if found.root.lower() not in {*known, *HOSTS, "grammeter"}
    )


def test_nothing_unsafe_is_imported() -> None:
    faults(
        f"{shown(path, found.line)}: {found.module}"
        for path in FILES
        for found in imports(path)
        if found.root in UNSAFE
    )


def test_only_the_shell_prints_and_exits() -> None:
    def speaks(node: ast.AST) -> bool:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return node.func.id in ("print", "exit", "quit", "input")
        if isinstance(node, ast.ImportFrom) and node.module == "sys":
            return any(name.name in ("exit", "stdout", "stderr") for name in node.names)
        return (
            isinstance(node, ast.Attribute)
            and node.attr in ("exit", "_exit", "stdout", "stderr", "__stdout__")
            and _name(node.value) in ("sys", "os")
        )

    faults(
        shown(path, node.lineno)
        for path in FILES
        if room(path) not in ("cli", "__main__")
        for node in ast.walk(tree(path))
        if speaks(node)
    )


def test_no_shell_and_no_evaluation() -> None:
    def unsafe(node: ast.AST) -> bool:
        if not isinstance(node, ast.Call):
            return False
        shell = any(
            word.arg == "shell"
            and not (isinstance(word.value, ast.Constant) and not word.value.value)
            for word in node.keywords
        )
        named = isinstance(node.func, ast.Name) and node.func.id in ("eval", "exec")
        pickled = any(word.arg == "allow_pickle" for word in node.keywords) and not any(
            isinstance(word.value, ast.Constant) and word.value.value is False
            for word in node.keywords
            if word.arg == "allow_pickle"
        )
        return shell or named or pickled or ast.unparse(node.func) == "os.system"

    faults(
        shown(path, node.lineno) for path in FILES for node in ast.walk(tree(path)) if unsafe(node)
    )


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_every_module_is_described_and_short(path: Path) -> None:
    assert ast.get_docstring(tree(path)), f"{shown(path)} has no docstring"
    lines = path.read_text(encoding="utf-8").count("\n")
    assert lines <= LONGEST, f"{shown(path)} has {lines} lines"


@pytest.mark.parametrize(
    ("code", "modules"),
    [
        ("import a.b, c", ["a.b", "c"]),
        ("from a import b", ["a.b"]),
        ("def f():\n  from a import b", ["a.b"]),
        ("if TYPE_CHECKING:\n  import a", ["a"]),
        ("class C:\n  async def f(self):\n    import a", ["a"]),
        ("x = require('torch', extra='neural')", ["torch"]),
        ("from . import a", ["..a"]),
    ],
)
def test_this_reader_of_imports_misses_none(code: str, modules: list[str]) -> None:
    assert [found.module for found in _imports(ast.parse(code), late=False)] == modules
