"""``grammeter doctor``."""

from __future__ import annotations

import json
import re
import tomllib
from importlib import metadata
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from grammeter.cli import doctor
from grammeter.cli.main import main
from grammeter.metrics import registry
from grammeter.version import __version__


@pytest.fixture
def look(capsys: pytest.CaptureFixture[str]):
    def call() -> tuple[int, dict[str, dict[str, str]]]:
        capsys.readouterr()
        code = main(["doctor", "--format", "json"])
        data = json.loads(capsys.readouterr().out)
        assert data["kind"] == "doctor"
        return code, {row["what"]: row for row in data["rows"]}

    return call


@pytest.fixture
def plugins(monkeypatch: pytest.MonkeyPatch):
    def announce(*points: tuple[str, str]) -> None:
        found = [EntryPoint(name, value, registry.GROUP) for name, value in points]
        monkeypatch.setattr(registry, "entry_points", lambda group: found)
        registry._plugins.cache_clear()

    yield announce
    registry._plugins.cache_clear()


def test_all_is_well(look) -> None:
    code, rows = look()
    assert code == 0
    assert rows["grammeter"]["state"] == __version__
    assert rows["numpy"]["state"] == metadata.version("numpy")
    assert rows["data conll14_test"]["state"]


def test_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["what", "state", "note"]
    assert lines[2].split() == ["grammeter", __version__]


@pytest.mark.parametrize(("missing", "code"), [("numpy", 4), ("pyarrow", 0)])
def test_a_missing_package_has_its_command(
    look, monkeypatch: pytest.MonkeyPatch, missing: str, code: int
) -> None:
    known = metadata.version

    def version(name: str) -> str:
        if name == missing:
            raise metadata.PackageNotFoundError(name)
        return known(name)

    monkeypatch.setattr(doctor.metadata, "version", version)
    found, rows = look()
    assert found == code
    assert rows[missing]["state"] == "missing"
    assert "pip install" in rows[missing]["note"]


def test_plug_ins_that_work_and_that_do_not(look, plugins) -> None:
    plugins(("share", "fake_metric:Share"), ("gone", "no_such_module:X"))
    _, rows = look()
    assert rows["metric share"]["state"] == "plug-in"
    assert rows["metric gone"]["state"] == "broken"
    assert "no_such_module" in rows["metric gone"]["note"]


def test_plug_ins_that_clash(look, plugins) -> None:
    plugins(("x", "one:A"), ("x", "two:B"))
    _, rows = look()
    assert rows["plug-ins"]["state"] == "broken"
    assert "two metrics are called 'x'" in rows["plug-ins"]["note"]


def test_declared_packages_are_looked_for() -> None:
    """What the package asks pip for is what the doctor looks at."""
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    extras = project["optional-dependencies"]
    assert named(project["dependencies"]) == set(doctor.CORE)
    for extra, packages in doctor.EXTRAS.items():
        assert named(extras[extra]) == set(packages)
    assert set(extras) - {"all", "dev", "docs"} == set(doctor.EXTRAS)


def named(requirements: list[str]) -> set[str]:
    return {re.split(r"[<>=\[; ]", line)[0] for line in requirements}
