"""Encoders with a head of one output: the quality of texts, or of pairs of texts."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, cast

import numpy as np

from grammeter.core import DataError, FloatArray, words_of
from grammeter.models import loading
from grammeter.models.files import ModelFiles, find_model
from grammeter.models.loading import Loaded
from grammeter.models.runtime import Runtime
from grammeter.models.service import Answers, Questions, Regression

_ARCHITECTURE = "AutoModelForSequenceClassification"
_FIX = (
    "Name a regression model, an encoder and a head with one output; 'grammeter train' makes such"
    " models."
)
_NO_PADDING = "has no padding token, so texts cannot go together"
_Input = tuple[tuple[int, ...], tuple[int, ...]]  # tokens, and the segment of each


def answer(files: ModelFiles, questions: Questions, runtime: Runtime) -> Answers:
    """Measure texts and pairs by a head of one output; see :class:`~.service.Regression`.

    Rows ``output truncated``: the head's output, not squashed, in single precision; whether the
    text or pair was cut. Equal token sequences are computed once.
    """
    loaded = loading.load(files, _ARCHITECTURE, runtime)
    for question, items in questions.items():
        measure = cast("Regression", question)
        check(loaded, measure)
        texts = cast("Sequence[str | tuple[str, str]]", items)
        inputs, cut = loaded.tokenize(texts, limit=measure.limit)
        positions, outputs = loading.gather(map(_input, inputs)), _reader(loaded, measure)
        for at, figures in loading.distinct_figures(
            files.name, positions, lambda one: len(one[0]), runtime.budget, outputs, runtime.tally
        ):
            yield measure, at, np.column_stack([figures, [cut[position] for position in at]])


def _input(encoded: dict[str, list[int]]) -> _Input:
    tokens = encoded["input_ids"]
    return tuple(tokens), tuple(encoded.get("token_type_ids", (0,) * len(tokens)))


def check(loaded: Loaded, measure: Regression) -> None:
    """Refuse a model without exactly one trained output for a text."""
    config = loaded.model.config
    if config.num_labels != 1:
        raise loaded.files.misfit(f"gives {config.num_labels} figures for a text, not one", _FIX)
    if measure.head == "pooler" and loaded.random:
        raise loaded.files.misfit(f"lacks weights of its head: {', '.join(loaded.random)}", _FIX)
    if config.pad_token_id is None:
        raise loaded.files.misfit(_NO_PADDING, _FIX)


def _reader(loaded: Loaded, measure: Regression) -> Callable[[Sequence[_Input]], FloatArray]:
    """Return a function from a batch to its figures, shape ``(inputs,)``."""
    torch, _ = loading.libraries()
    model = loaded.model
    weights = _last_layer(torch, loaded) if measure.head == "linear" else None

    def figures(inputs: Sequence[_Input]) -> FloatArray:
        with torch.inference_mode():
            padded = _padded(loaded, inputs)
            if weights is None:
                outputs = model(**padded).logits[:, 0].float()
            else:
                outputs = model.base_model(**padded).last_hidden_state[:, 0].float() @ weights
        return outputs.cpu().numpy().astype(np.float64)

    return figures


def _last_layer(torch: Any, loaded: Loaded) -> Any:
    fitting = [layer for layer in _head_layers(torch, loaded.model) if layer.out_features == 1]
    if len(fitting) != 1 or fitting[0].in_features != loaded.model.config.hidden_size:
        raise loaded.files.misfit("has no last linear layer over its states", _FIX)
    return fitting[0].weight[0].float()


def _head_layers(torch: Any, model: Any) -> list[Any]:
    inner = set(map(id, model.base_model.modules()))
    linear = (module for module in model.modules() if isinstance(module, torch.nn.Linear))
    return [module for module in linear if id(module) not in inner]


def _padded(loaded: Loaded, inputs: Sequence[_Input]) -> dict[str, Any]:
    padded = loaded.batch([tokens for tokens, _ in inputs])
    if getattr(loaded.model.config, "type_vocab_size", 0) > 1:  # whatever its tokenizer says
        padded["token_type_ids"] = loaded.padded([segments for _, segments in inputs])
    return padded


SMALLER_BATCH = "Use a smaller --batch-size, a smaller encoder, or another --device."


@contextmanager
def new_regressor(encoder: str, device: str, *, seed: int, bias: float) -> Generator[Loaded]:
    """Load an encoder with a new head of one output, to be fitted.

    ``seed`` is that of the head's weights, ``bias`` the first value of the bias of its last layer.
    The state of torch's random numbers is restored after the block. Raises MissingResourceError if
    torch, the encoder or the device is missing, or its memory is too small; DataError if the model
    cannot take such a head.
    """
    files = find_model(encoder)
    torch, transformers = loading.libraries()
    place = loading.device_of(torch, device)
    drawing_on = [place] if place.type == "cuda" else []
    with loading.quiet(transformers), torch.random.fork_rng(devices=drawing_on):
        torch.manual_seed(seed)
        tokenizer = loading.load_tokenizer(transformers, files)
        model = _with_new_head(torch, transformers, files, bias)
        if tokenizer.pad_token_id is None or model.config.pad_token_id is None:
            raise _unfit(files, f"it {_NO_PADDING}")
        message = "memory does not suffice for the model"
        yield loading.placed(Loaded(files, tokenizer, model), place, message, SMALLER_BATCH)


def _with_new_head(torch: Any, transformers: Any, files: ModelFiles, bias: float) -> Any:
    try:
        head = {"num_labels": 1, "problem_type": "regression", "ignore_mismatched_sizes": True}
        kind = torch.float32
        model, report = loading.load_weights(transformers, files, _ARCHITECTURE, kind, **head)
    except Exception as error:
        raise _unfit(files, words_of(error)) from error
    inside = f"{model.base_model_prefix}."
    lacking = [key for key in report["missing_keys"] if key.startswith(inside)]
    if lacking := sorted(key for key in lacking if "pooler" not in key):
        raise _unfit(files, f"it lacks weights of its own: {', '.join(lacking[:3])}")
    heads = _head_layers(torch, model)
    if not heads or heads[-1].out_features != 1 or heads[-1].bias is None:
        raise _unfit(files, f"{type(model).__name__} has no linear layer with a bias at its end")
    drawn = {*report["missing_keys"], *(key for key, *_ in report["mismatched_keys"])}
    with torch.no_grad():
        for name, layer in model.named_modules():
            if f"{name}.weight" not in drawn and any(layer is head for head in heads):
                # forget the trained head that a folder brought along
                layer.weight.normal_(0.0, getattr(model.config, "initializer_range", 0.02))
                if layer.bias is not None:
                    layer.bias.zero_()
        heads[-1].bias.fill_(bias)
    return model


def _unfit(files: ModelFiles, why: str) -> DataError:
    return files.misfit(f"cannot carry a head: {why}", "Name an encoder such as bert-base-cased.")
