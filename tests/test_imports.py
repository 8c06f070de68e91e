"""What is loaded when: start-up stays light, and scoring loads only what it scores with."""

from __future__ import annotations

import subprocess
import sys

import pytest

from grammeter.cli.parser import VERBS
from grammeter.resources import sample_corpus

MODELS = {"torch", "transformers", "tokenizers", "safetensors", "huggingface_hub"}
HEAVY = MODELS | {"scipy", "sacrebleu", "spacy", "pandas", "django", "ray", "rich", "pyarrow",
                  "rapidfuzz", "nltk", "defusedxml", "matplotlib", "packaging",
                  "jinja2"}  # fmt: skip
SCORE = """
import contextlib, io
from grammeter.cli.main import main
from grammeter.resources import sample_corpus
sample = sample_corpus()
with contextlib.redirect_stdout(io.StringIO()) as out:
    code = main(["score", "-s", str(sample / "source.txt"), "-r", str(sample / "gold.m2"),
                 "-m", {metrics}, "--hyps", str(sample / "systems" / "Echo.txt"), "--quiet"])
assert code == 0 and "Echo" in out.getvalue()
"""


def loaded_by(code: str) -> set[str]:
    """Return the modules that a fresh interpreter holds after running ``code``."""
    program = f"{code}\nimport sys\nprint('\\n'.join(sys.modules), file=sys.__stdout__)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def roots(modules: set[str]) -> set[str]:
    return {module.partition(".")[0] for module in modules}


def test_importing_the_package_loads_nothing_else() -> None:
    loaded = loaded_by("import grammeter")
    assert not roots(loaded) & {*HEAVY, "numpy"}
    own = {module for module in loaded if module.startswith("grammeter")}
    assert own == {"grammeter", "grammeter.version"}


@pytest.mark.parametrize("verb", ["", *VERBS])
def test_help_is_light(verb: str) -> None:
    code = (
        "import contextlib, io\n"
        "from grammeter.cli.main import main\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):\n"
        f"    main({[*([verb] if verb else []), '--help']!r})"
    )
    loaded = loaded_by(code)
    assert not roots(loaded) & {*HEAVY, "numpy"}
    assert not {m for m in loaded if m.startswith(("grammeter.metrics.", "grammeter.formats."))}


def test_a_wrong_verb_or_version_is_light() -> None:
    code = (
        "import contextlib, io\n"
        "from grammeter.cli.main import main\n"
        "for word in ('--version', 'scor'):\n"
        "    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()),"
        " contextlib.redirect_stderr(io.StringIO()):\n"
        "        main([word])"
    )
    assert not roots(loaded_by(code)) & {*HEAVY, "numpy"}


@pytest.mark.parametrize("name", ["m2", "gleu", "sentm2", "green", "imeasure"])
def test_scoring_loads_no_other_package_and_no_other_metric(name: str) -> None:
    loaded = loaded_by(SCORE.format(metrics=repr(name)))
    assert not roots(loaded) & HEAVY
    metrics = {m.rpartition(".")[2] for m in loaded if m.startswith("grammeter.metrics.")}
    home = "m2" if name == "sentm2" else name
    assert metrics <= {"base", "registry", "edit_f", "kinds", home}
    rooms = {m.rpartition(".")[2] for m in loaded if m.startswith("grammeter.models.")}
    assert not rooms & {"loading", "encoder", "likelihood", "regressor"}


@pytest.mark.parametrize("module", ["urllib.request", "http.client", "grammeter.formats.datasets"])
def test_scoring_loads_no_network(module: str) -> None:
    assert module not in loaded_by(SCORE.format(metrics='"m2", "gleu"'))


def test_bleu_loads_sacrebleu_alone() -> None:
    loaded = roots(loaded_by(SCORE.format(metrics='"bleu"')))
    assert "sacrebleu" in loaded
    assert not loaded & (HEAVY - {"sacrebleu"})


@pytest.mark.parametrize("verb", ["list", "cite bertscore", "cite impara"])
def test_to_read_of_metrics_with_models_loads_nothing_that_runs_them(verb: str) -> None:
    code = (
        "import contextlib, io\n"
        "from grammeter.cli.main import main\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n"
        f"    assert main({verb.split()!r}) == 0"
    )
    assert not roots(loaded_by(code)) & MODELS


def test_the_doctor_looks_for_models_without_torch() -> None:
    code = (
        "import contextlib, io\n"
        "from grammeter.cli.main import main\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n"
        "    assert main(['doctor']) == 0"
    )
    assert not roots(loaded_by(code)) & {"torch", "transformers", "tokenizers"}


def test_saying_how_models_run_loads_none() -> None:
    loaded = loaded_by("import grammeter as gm\nwith gm.using(gm.Runtime(device='cuda')): pass")
    assert not roots(loaded) & HEAVY


def test_comparing_loads_no_scipy(tmp_path) -> None:
    sample = sample_corpus()
    code = (
        "import grammeter as gm\n"
        f"corpus = gm.read_corpus(references=[{str(sample / 'gold.m2')!r}],"
        f" systems=[{str(sample / 'systems' / 'Echo.txt')!r},"
        f" {str(sample / 'systems' / 'Careful.txt')!r}])\n"
        "gm.compare(gm.score(corpus, ['m2']), resamples=20)"
    )
    assert not roots(loaded_by(code)) & HEAVY
