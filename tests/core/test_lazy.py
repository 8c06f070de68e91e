"""Optional packages."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

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
