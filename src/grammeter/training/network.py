"""An encoder with a new head of one output: steps, outputs, state."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from grammeter.core import DataError, FloatArray, MissingResourceError, require, words_of
from grammeter.models import (
    ARCHITECTURE,
    Loaded,
    ModelFiles,
    check_vocabulary,
    device_of,
    find_model,
    head_layers,
    is_out_of_memory,
    limit_of,
    load_tokenizer,
    load_weights,
    quiet,
)
from grammeter.training.folder import Tensors
from grammeter.training.settings import Example, Settings

NO_DECAY = ("bias", "LayerNorm.weight", "layer_norm.weight")
"""Endings of the names of weights without weight decay."""

AMPERE = 8
"""Compute capability from which NVIDIA GPUs have bfloat16."""

Loss = Callable[[Any, Any], Any]


@dataclass(frozen=True, slots=True)
class Encoded:
    """An example whose items are the inputs of a model.

    Attributes
    ----------
    items
        Output of the tokenizer for each item.
    target
        Target of the example.
    truncated
        Whether an item was cut.
    """

    items: tuple[dict[str, list[int]], ...]
    target: float
    truncated: bool

    @property
    def length(self) -> int:
        """Tokens of the longest item."""
        return max(len(item["input_ids"]) for item in self.items)


class Network:
    """A model that is being fitted; use :meth:`open` to make one."""

    def __init__(self, settings: Settings, torch: Any, loaded: Loaded) -> None:
        self._settings = settings
        self._torch = torch
        self._loaded = loaded
        self._device = next(loaded.model.parameters()).device
        self.dtype: str = _dtype(settings, torch, self._device)
        decayed: dict[bool, list[Any]] = {True: [], False: []}
        for name, weights in loaded.model.named_parameters():
            decayed[not name.endswith(NO_DECAY)].append(weights)
        groups = [
            {"params": decayed[True], "weight_decay": settings.weight_decay},
            {"params": decayed[False], "weight_decay": 0.0},
        ]
        self._optimiser = torch.optim.AdamW(groups, lr=settings.rate)

    @classmethod
    @contextmanager
    def open(cls, settings: Settings, *, bias: float) -> Generator[Network]:
        """Load the encoder and add a new head, whose weights depend on the seed.

        The state of torch's random numbers is restored after the block.

        Raises
        ------
        MissingResourceError
            If torch, the encoder or the device is missing, or its memory is too small.
        DataError
            If the model cannot take such a head.
        """
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        files = find_model(settings.encoder)
        torch: Any = require("torch", extra="neural")
        transformers: Any = require("transformers", extra="neural")
        device = device_of(torch, settings.device)
        drawing_on = [device] if device.type == "cuda" else []
        with quiet(transformers), torch.random.fork_rng(devices=drawing_on):
            torch.manual_seed(settings.seed)
            tokenizer = load_tokenizer(transformers, files)
            model = _with_new_head(torch, transformers, files, bias)
            check_vocabulary(files, tokenizer, model)
            if tokenizer.pad_token_id is None or model.config.pad_token_id is None:
                raise _unfit(files, "it has no padding token, so texts cannot go together")
            with _within_memory("the model"):
                model.to(device)
            limit = limit_of(tokenizer, model)
            yield cls(settings, torch, Loaded(files, tokenizer, model, limit))

    def encode(self, examples: Sequence[Example]) -> list[Encoded]:
        """Tokenise all items of all examples."""
        flat = [item for example in examples for item in example.items]
        inputs, cut = self._loaded.tokenize(flat, limit=self._settings.limit)
        rest = iter(zip(inputs, cut, strict=True))
        encoded: list[Encoded] = []
        for example in examples:
            inputs_of = [next(rest) for _ in example.items]
            items = tuple(one for one, _ in inputs_of)
            encoded.append(Encoded(items, example.target, any(was_cut for _, was_cut in inputs_of)))
        return encoded

    def step(self, batch: Sequence[Encoded], loss: Loss, *, rate: float, seed: int) -> float:
        """Take one step and return the loss before it."""
        torch = self._torch
        torch.manual_seed(seed)
        self._loaded.model.train()
        for group in self._optimiser.param_groups:
            group["lr"] = rate
        targets = torch.tensor([example.target for example in batch], device=self._device)
        with _within_memory(f"a batch of {len(batch)} examples"):
            with self._autocast():
                outputs = self._forward(batch)
            value = loss(outputs.float(), targets)
            self._optimiser.zero_grad(set_to_none=True)
            value.backward()
            self._optimiser.step()
        return float(value.detach())

    def outputs(self, batch: Sequence[Encoded]) -> FloatArray:
        """Return outputs in single precision, without dropout, shape ``(examples, items)``."""
        self._loaded.model.eval()
        with self._torch.inference_mode(), _within_memory(f"a batch of {len(batch)} examples"):
            return self._forward(batch).float().cpu().numpy().astype(np.float64)

    def _forward(self, batch: Sequence[Encoded]) -> Any:
        flat = [item for example in batch for item in example.items]
        padded = self._loaded.tokenizer.pad(
            {key: [item[key] for item in flat] for key in flat[0]}, return_tensors="pt"
        )
        outputs = self._loaded.model(**{k: v.to(self._device) for k, v in padded.items()})
        return outputs.logits[:, 0].reshape(len(batch), -1)

    def _autocast(self) -> AbstractContextManager[Any]:
        if self.dtype == "float32":
            return nullcontext()
        return self._torch.autocast(self._device.type, dtype=getattr(self._torch, self.dtype))

    def weights(self) -> Tensors:
        """Return all weights by name; tied ones once, as safetensors wants them."""
        return {name: tensor.detach() for name, tensor in self._loaded.model.named_parameters()}

    def load(self, weights: Tensors) -> None:
        """Load weights."""
        parameters = dict(self._loaded.model.named_parameters())
        with self._torch.no_grad():
            for name, tensor in weights.items():
                parameters[name].copy_(tensor)

    def optimiser_state(self) -> Tensors:
        """Return the moments of AdamW by the number of the weight."""
        state = self._optimiser.state_dict()["state"]
        moments = ("exp_avg", "exp_avg_sq")
        return {f"{n}.{key}": one[key] for n, one in state.items() for key in moments}

    def load_optimiser(self, tensors: Tensors, updates: int) -> None:
        """Load the moments of AdamW after ``updates`` steps."""
        state: dict[int, dict[str, Any]] = {}
        for name, tensor in tensors.items():
            number, _, key = name.partition(".")
            one = state.setdefault(int(number), {"step": self._torch.tensor(float(updates))})
            one[key] = tensor
        whole = self._optimiser.state_dict()
        self._optimiser.load_state_dict({**whole, "state": state})

    def save(self, folder: Path) -> None:
        """Write model and tokenizer in the format of transformers; may raise :class:`OSError`."""
        safetensors: Any = require("safetensors", extra="neural")
        try:
            self._loaded.model.save_pretrained(folder)
            self._loaded.tokenizer.save_pretrained(folder)
        except safetensors.SafetensorError as error:  # what a full disk comes out as
            raise OSError(str(error)) from error
        for path in folder.glob("*.safetensors"):  # which safetensors lets the owner alone read
            shutil.copymode(folder / "config.json", path)

    def environment(self) -> dict[str, object]:
        """Return versions, device and threads."""
        torch = self._torch
        return {
            "torch": torch.__version__,
            "transformers": require("transformers", extra="neural").__version__,
            "python": platform.python_version(),
            "device": str(self._device),
            "processor": platform.machine(),
            "threads": torch.get_num_threads(),
        }


def _with_new_head(torch: Any, transformers: Any, files: ModelFiles, bias: float) -> Any:
    """Load a model with a head of one output and random weights."""
    try:
        model, report = load_weights(
            transformers,
            files,
            ARCHITECTURE,
            torch.float32,
            num_labels=1,
            problem_type="regression",
            ignore_mismatched_sizes=True,
        )
    except Exception as error:
        raise _unfit(files, words_of(error)) from error
    inside = f"{model.base_model_prefix}."
    lacking = [key for key in report["missing_keys"] if key.startswith(inside)]
    lacking = sorted(key for key in lacking if "pooler" not in key)
    if lacking:
        raise _unfit(files, f"it lacks weights of its own: {', '.join(lacking[:3])}")
    heads = head_layers(torch, model)
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
    return DataError(
        f"the model {files.name!r} cannot carry a head: {why}",
        where=str(files.folder),
        fix="Name an encoder such as bert-base-cased.",
    )


@contextmanager
def _within_memory(what: str) -> Generator[None]:
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        raise MissingResourceError(
            f"memory does not suffice for {what}",
            fix="Use a smaller --batch-size, a smaller encoder, or another --device.",
        ) from error


def _dtype(settings: Settings, torch: Any, device: Any) -> str:
    if settings.dtype != "auto":
        return settings.dtype
    if device.type == "cuda":
        capable = torch.cuda.get_device_capability(device)[0] >= AMPERE
    else:  # torch tells it by a function that is not public
        supported = getattr(torch.cpu, "_is_avx512_bf16_supported", None)
        capable = device.type == "cpu" and supported is not None and supported()
    return "bfloat16" if capable else "float32"
