"""Optional packages."""

from __future__ import annotations

import json
import re
import sys
from importlib import metadata
from pathlib import Path

import pytest

import grammeter
from grammeter.core.errors import MissingResourceError
from grammeter.core.lazy import require


def test_what_is_there_is_imported() -> None:
    assert require("json", extra="x") is json
    assert require("xml.dom", extra="x") is sys.modules["xml.dom"]


@pytest.mark.parametrize("module", ["no_such_package", "no_such_package.inner"])
def test_what_is_missing_names_the_command(module: str) -> None:
    with pytest.raises(MissingResourceError) as caught:
        require(module, extra="records")
    assert caught.value.exit_code == 4
    assert "'no_such_package'" in str(caught.value)
    assert "pip install 'grammeter[records]'" in str(caught.value)


def test_a_package_that_is_broken_within_is_shown_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "half_there.py").write_text("import no_such_dependency\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModuleNotFoundError, match="no_such_dependency"):
        require("half_there", extra="records")


def test_each_hint_names_an_extra_that_exists_and_brings_the_module() -> None:
    """Of every ``require("module", extra="name")`` in the package."""
    source = Path(grammeter.__file__).parent
    calls = {
        found
        for path in source.rglob("*.py")
        for found in re.findall(r'require\("([\w.]+)", extra="(\w+)"\)', path.read_text("utf-8"))
    }
    assert len(calls) > 5
    distributions = {
        name: {found.lower().replace("-", "_") for found in owners}
        for name, owners in metadata.packages_distributions().items()
    }
    extras = metadata.metadata("grammeter").get_all("Provides-Extra") or []
    for module, extra in calls:
        assert extra in extras, module
        brought = {
            re.split(r"[^\w.-]", line)[0].lower().replace("-", "_")
            for line in metadata.requires("grammeter") or []
            if f'extra == "{extra}"' in line or f"extra == '{extra}'" in line
        }
        package = module.partition(".")[0]
        if package in distributions:
            assert brought & distributions[package], (module, extra, brought)


def test_a_hint_says_what_it_assumes() -> None:
    with pytest.raises(MissingResourceError, match=r"in a checkout: pip install '\.\[fast\]'"):
        require("no_such_module", extra="fast")
