"""``grammeter cite``."""

from __future__ import annotations

import re

import pytest

from grammeter.cli.main import main
from grammeter.metrics.registry import BUILT_IN, metric
from grammeter.version import __version__


@pytest.fixture
def cite(capsys: pytest.CaptureFixture[str]):
    def call(*names: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(["cite", *names])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return call


def test_the_program_itself(cite) -> None:
    code, out, _ = cite()
    assert code == 0
    assert out.startswith("@software{grammeter,")
    assert __version__ in out


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_metric_is_bibtex(cite, name: str) -> None:
    code, out, _ = cite(name)
    assert code == 0
    assert out == metric(name).citation + "\n"
    assert re.match(r"@\w+\{[\w:.-]+,\n", out)
    assert out.count("{") == out.count("}")
    assert "title" in out
    assert "author" in out


def test_each_entry_once(cite) -> None:
    assert cite("m2", "sentm2", "m2(beta=1)", "gleu")[1] == "\n".join(
        [cite("m2")[1], cite("gleu")[1]]
    )


def test_unknown_metric(cite) -> None:
    code, out, err = cite("m2", "gleo")
    assert (code, out) == (2, "")
    assert "Did you mean 'gleu'" in err
