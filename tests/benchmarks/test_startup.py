"""What a run of the command line does not load: torch beside spaCy, numpy to show plain tables."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from grammeter.core import kept_out, lazy
from grammeter.errant import pipelines
from grammeter.errant.pipelines import Pipeline, shipped_pipeline
from grammeter.resources import sample_corpus

SHOWN = """
import sys
from grammeter.cli.main import main
code = main()
print(*({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)
sys.exit(code)
"""


def loaded_by(*words: object) -> set[str]:
    """Return the packages that a run in a process of its own ends with."""
    done = subprocess.run(
        [sys.executable, "-c", SHOWN, *map(str, words)],
        env=os.environ | {"GRAMMETER_CACHE": "off"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stderr.splitlines()[-1].split())


def test_errant_parses_without_torch() -> None:
    pytest.importorskip("spacy")
    sample = sample_corpus()
    loaded = loaded_by(
        "score", "-s", sample / "source.txt", "-r", sample / "ref0.txt", "-m",
        f"errant(pipeline='{shipped_pipeline()}')", "--hyps", sample / "systems" / "Echo.txt",
        "--quiet",
    )  # fmt: skip
    assert "spacy" in loaded
    assert "torch" not in loaded


def test_data_sets_are_listed_without_numpy() -> None:
    assert "numpy" not in loaded_by("data", "list")


def pipeline(folder: Path, config: str) -> Pipeline:
    (folder / "config.cfg").write_text(config, encoding="utf-8")
    return Pipeline("en_made", "1", "en", folder)


OWN = '[a]\nfactory = "tagger"\n[a.model]\n@architectures = "spacy.Tagger.v2"\n'


@pytest.mark.parametrize(
    ("config", "needs"),
    [
        (OWN, False),
        (OWN + '[b]\nfactory = "transformer"\n', True),
        (OWN + '[b]\nfactory = "somebodys_own"\n', True),
        (OWN + '[b]\n@architectures = "spacy-transformers.TransformerModel.v3"\n', True),
        (OWN + '[b]\n@architectures = "spacy.TorchBiLSTMEncoder.v1"\n', True),
        ("", True),
    ],
)
def test_only_spacy_s_own_parts_do_without_torch(config, needs, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(pipelines, "find_spec", lambda name: None)
    assert pipeline(tmp_path, config).needs_torch is needs


def test_torch_is_wanted_where_transformer_pipelines_are(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(pipelines, "find_spec", lambda name: name == "spacy_transformers" or None)
    assert pipeline(tmp_path, OWN).needs_torch
    assert Pipeline("en_gone", "1", "en", tmp_path / "gone").needs_torch


def test_the_shipped_pipeline_does_without(monkeypatch) -> None:
    monkeypatch.setattr(pipelines, "find_spec", lambda name: None)
    assert not Pipeline("en_ud_sm", "1", "en", shipped_pipeline()).needs_torch


def test_a_module_is_kept_out_of_a_process_of_ours_alone(monkeypatch, tmp_path) -> None:
    (tmp_path / "made_up_module.py").write_text("", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(lazy, "_alone", False)
    with kept_out("made_up_module"):
        import made_up_module
    del sys.modules["made_up_module"]
    lazy.stand_alone()
    with kept_out("made_up_module"), pytest.raises(ImportError):
        import made_up_module  # noqa: F401
    import made_up_module as found  # afterwards it can be had

    with kept_out("made_up_module"):  # what is there stays
        import made_up_module as again
    assert again is found
    del sys.modules["made_up_module"]
