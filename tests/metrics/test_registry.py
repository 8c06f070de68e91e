"""Names to metrics: what is promised of every metric, plug-ins, typing errors."""

from __future__ import annotations

import dataclasses
import inspect
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

import grammeter as gm
from grammeter.core import Edit, Signature, UnknownNameError, UsageError
from grammeter.metrics import registry
from grammeter.metrics.base import Metric
from grammeter.metrics.registry import BUILT_IN, describe, metric, metric_class, names
from grammeter.models import files

PROMISED = {
    "m2": "beta=0.5 max_unchanged=2 ignore_case=false row0=\"3.2\" sort_gold=false",
    "sentm2": "beta=0.5 max_unchanged=2 ignore_case=false row0=\"3.2\" sort_gold=false"
    " annotator=best",
    "cherrant": "alignments=all resources=none simplify=auto beta=0.5 mode=span-correction"
    " categories=none rounding=4",
    "gleu": "order=4 iterations=500 variant=original references=sampled unit=word",
    "sent-gleu": "order=4 variant=original references=mean smooth=none unit=word",
    "imeasure": "weight=2.0 mix=false",
    "green": "order=4 beta=2.0 empty=authors unit=word",
    "bleu": "",
    "chrf": "",
    "meteor_es": "",
    "wer": "",
    "ter": "case_sensitive=false normalized=false no_punct=false",
    "nld": "",
    "bertscore": "layer=none idf=false rescale=false report=f1",
    "bartscore": "direction=source-to-hypothesis",
    "pt-m2": "scorer=bertscore layer=none idf=false beta=0.5 inverse=false",
    "sent-pt-m2": "scorer=bertscore layer=none idf=false beta=0.5 inverse=false",
    "pt-errant": "scorer=bertscore layer=none idf=false beta=0.5 inverse=false",
    "sent-pt-errant": "scorer=bertscore layer=none idf=false beta=0.5 inverse=false",
    "uot-errant": "layer=none beta=0.5 reg=0.1 reg_m=0.1 cost=euclidean mass=norm"
    " vectorize=ref-remove pipeline=none model=google/electra-base-discriminator",
    "sent-uot-errant": "layer=none beta=0.5 reg=0.1 reg_m=0.1 cost=euclidean mass=norm",
    "some": "grammaticality=none fluency=none meaning=none model=none",
    "impara": "threshold=0.9",
    "scribendi": "threshold=0.8",
    "llm-s": "criterion=none prompt=paper",
    "llm-e": "criterion=none prompt=paper",
}  # fmt: skip
"""Fields and defaults that others type: the table of metrics in the interface."""

SPELLINGS = [
    "m2(beta=1.0, max_unchanged=0, row0=head)",
    "sentm2(annotator=last)",
    "sentm2(annotator=1)",
    "gleu(order=3, variant=multiset)",
    "gleu(references=expected, unit=char)",
    "sent-gleu(references=best, smooth=one)",
    "imeasure(mix=true)",
    "green(beta=0.5, empty=one)",
    "cherrant(alignments=first, simplify=t2s)",
]


@pytest.fixture
def plugins(monkeypatch: pytest.MonkeyPatch):
    """Announce metrics as other packages do."""

    def announce(**points: str) -> None:
        announce_all([(name.replace("__", "-"), value) for name, value in points.items()])

    def announce_all(points: list[tuple[str, str]]) -> None:
        found = [EntryPoint(name, value, registry.GROUP) for name, value in points]
        monkeypatch.setattr(registry, "entry_points", lambda group: found)
        registry._plugins.cache_clear()

    announce.all = announce_all
    yield announce
    registry._plugins.cache_clear()


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_metric_is_a_frozen_value(name: str) -> None:
    cls = metric_class(name)
    own = metric(name)
    assert cls.name == name
    assert type(own) is cls
    assert own == metric(name)
    assert hash(own) == hash(metric(name))
    assert str(own) == name
    assert inspect.getdoc(cls)
    assert cls.title
    assert not cls.title.endswith(".")
    assert "@" in cls.citation
    assert all(field.kw_only for field in dataclasses.fields(cls))
    with pytest.raises((AttributeError, TypeError)):
        own.name = "other"


NEEDED = {
    "some": "some(grammaticality=a/g, fluency=a/f, meaning=a/m)",
    "llm-s": "llm-s(model=a)",
    "llm-e": "llm-e(model=a)",
}
"""Spellings of metrics that name no model by default."""


@pytest.fixture
def fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every model of the hub look fetched."""
    (tmp_path / "config.json").write_text('{"num_hidden_layers": 12}', "utf-8")
    (tmp_path / "model.safetensors").write_bytes(b"")
    monkeypatch.setattr(files, "_cached", lambda *_: tmp_path)


@pytest.mark.usefixtures("fetched")
@pytest.mark.parametrize("name", BUILT_IN)
def test_every_setting_is_in_the_signature(name: str) -> None:
    pytest.importorskip("huggingface_hub")
    own = metric(NEEDED.get(name, name))
    signature = own.signature({"refs": 2})
    assert signature.name == name
    keys = [key for key, _ in signature]
    assert {field.name for field in dataclasses.fields(own)} <= set(keys)
    assert (signature["refs"], keys[-1]) == ("2", "version")
    assert Signature.parse(str(signature)) == signature


@pytest.mark.parametrize("name", PROMISED)
def test_promised_fields_and_defaults(name: str) -> None:
    options = describe(name)["options"]
    for field in PROMISED[name].split():
        key, _, default = field.partition("=")
        assert options[key] == default


@pytest.mark.parametrize("spelled", SPELLINGS)
def test_spelling_reads_back(spelled: str) -> None:
    own = metric(spelled)
    assert str(own) == spelled
    assert metric(str(own)) == own
    assert own != metric(own.name)


def test_a_default_that_is_spelled_out_is_the_same_metric() -> None:
    assert metric("m2(beta=0.5, row0=3.2)") == metric("m2")
    assert str(metric("gleu( order = 4 )")) == "gleu"


def test_a_metric_is_returned_as_it_is() -> None:
    own = metric("m2")
    assert metric(own) is own


@pytest.mark.parametrize(
    ("spelled", "message"),
    [
        ("gleo", r"unknown metric 'gleo'\n  Did you mean 'gleu'"),
        ("GLEU", "Did you mean 'gleu'"),
        ("gleu(ordr=3)", r"unknown option of gleu 'ordr'\n  Did you mean 'order'"),
        ("gleu(order=3", "cannot read"),
        ("", "a name expected"),
    ],
)
def test_typing_errors(spelled: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        metric(spelled)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("spelled", "message"),
    [
        ("gleu(order=3.5)", "gleu: order=3.5 is not possible.*order takes a whole number"),
        ("m2(beta=high)", "m2: beta=high is not possible.*beta takes a number"),
        ("m2(beta=nan)", "beta=nan is not possible"),
        ("m2(beta=inf)", "beta=inf is not possible"),
        ("m2(beta=-1)", "beta"),
        ("m2(ignore_case=1)", "ignore_case takes true or false"),
        ("m2(row0=3.1)", r'row0=3.1 is not possible.*takes "3.2" or head'),
        ("sentm2(annotator=worst)", "takes best, last or a whole number"),
    ],
)
def test_values_that_are_not_possible(spelled: str, message: str) -> None:
    with pytest.raises(UsageError, match=f"(?s){message}"):
        metric(spelled)


def test_other_packages_add_metrics(plugins) -> None:
    plugins(share="fake_metric:Share")
    assert names()[: len(BUILT_IN)] == list(BUILT_IN)
    assert names()[-1] == "share"
    assert metric("share(unit=char)").unit == "char"
    with pytest.raises(UnknownNameError, match="Did you mean 'share'"):
        metric("shar")


def test_two_packages_may_not_claim_one_name(plugins) -> None:
    plugins.all([("x", "one:A"), ("x", "two:B")])
    with pytest.raises(UsageError, match="two metrics are called 'x': one:A and two:B"):
        names()


def test_no_package_may_claim_a_built_in_name(plugins) -> None:
    plugins(m2="theirs:M2")
    assert type(metric("m2")).__module__ == "grammeter.metrics.m2"
    with pytest.raises(UsageError, match=r"two metrics are called 'm2': grammeter.*theirs:M2"):
        metric("no-such-metric")


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("no_such_module:X", "cannot be loaded from no_such_module:X: ModuleNotFoundError"),
        ("fake_metric:NoSuch", "cannot be loaded from fake_metric:NoSuch"),
        ("fake_metric:counted", "fake_metric:counted is no subclass of grammeter.Metric"),
        ("json:JSONDecoder", "is no subclass"),
    ],
)
def test_broken_plug_ins(plugins, target: str, message: str) -> None:
    plugins(x=target)
    with pytest.raises(UsageError, match=message):
        metric("x")


def test_describe() -> None:
    described = describe("gleu")
    assert list(described) == ["name", "title", "needs", "higher_is_better", "options"]
    assert described["name"] == "gleu"
    with pytest.raises(UnknownNameError):
        describe("gleu(order=3)")


def test_all_metrics_are_listed_and_inherit_the_contract() -> None:
    assert all(issubclass(metric_class(name), Metric) for name in names())


def test_bounds_hold_the_scores_of_outputs_without_a_fault_and_of_none() -> None:
    corpus = gm.Corpus(
        sources=["a b c d e"], references=[["a x c d e"]], gold=[{0: (Edit(1, 2, "x", "R"),)}],
        systems={"right": ["a x c d e"], "none": ["q"], "source": ["a b c d e"]},
    )  # fmt: skip
    spelled = ["m2", "sentm2", "gleu", "gleu(references=best)", "sent-gleu", "imeasure", "green",
             "bleu", "chrf", "meteor_es",
             "errant(pipeline=neutral)", "senterrant(pipeline=neutral)",
             "cleme(pipeline=neutral)", "gotoscorer(pipeline=neutral)"]  # fmt: skip
    table = gm.score(corpus, spelled)
    for name in spelled:
        low, high = gm.metric(name).bounds
        assert low < high < 100
        values = [score.value for score in table[name].values()]
        assert low - 1e-9 <= min(values) <= max(values) <= high + 1e-9, name
