"""An encoder with a new head of one output: its steps, its outputs, its state."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from grammeter.core.errors import DataError
from grammeter.core.lazy import require
from grammeter.core.statistics import FloatArray
from grammeter.neural.files import find_model
from grammeter.neural.loading import Loaded, device_of, limit_of
from grammeter.train.checkpoint import Tensors
from grammeter.train.examples import Example
from grammeter.train.settings import Settings

NO_DECAY = ("bias", "LayerNorm.weight", "layer_norm.weight")

Loss = Callable[[Any, Any], Any]


@dataclass(frozen=True, slots=True)
class Encoded:
    """An example whose items are the inputs of a model."""

    items: tuple[dict[str, list[int]], ...]
    target: float


class Network:
    """A model that is being fitted; make one with :meth:`open`."""

    def __init__(self, settings: Settings, torch: Any, loaded: Loaded) -> None:
        self._settings = settings
        self._torch = torch
        self._loaded = loaded
        self._device = next(loaded.model.parameters()).device
        self.precision = _precision(settings, torch)
        decayed: dict[bool, list[Any]] = {True: [], False: []}
        for name, weights in loaded.model.named_parameters():
            decayed[not name.endswith(NO_DECAY)].append(weights)
        groups = [
            {"params": decayed[True], "weight_decay": settings.weight_decay},
            {"params": decayed[False], "weight_decay": 0.0},
        ]
        self._optimiser = torch.optim.AdamW(groups, lr=settings.rate)

    @classmethod
    def open(cls, settings: Settings, *, bias: float) -> Network:
        """Load the encoder and give it a new head; the seed settles the head's weights.

        Raises
        ------
        MissingResourceError
            If torch, the encoder or the device is not here.
        DataError
            If the model cannot carry such a head.
        """
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        files = find_model(settings.encoder)
        torch: Any = require("torch", extra="neural")
        transformers: Any = require("transformers", extra="neural")
        transformers.logging.set_verbosity_error()
        transformers.logging.disable_progress_bar()
        torch.manual_seed(settings.seed)
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(
                files.folder, local_files_only=True
            )
            model = transformers.AutoModelForSequenceClassification.from_pretrained(
                files.folder,
                num_labels=1,
                problem_type="regression",
                dtype=torch.float32,
                local_files_only=True,
                use_safetensors=True,
                trust_remote_code=False,
                ignore_mismatched_sizes=True,
            )
            with torch.no_grad():
                model.classifier.bias.fill_(bias)
        except Exception as error:
            raise DataError(
                f"{settings.encoder!r} cannot carry a head: {' '.join(str(error).split())[:300]}",
                where=str(files.folder),
                fix="Name an encoder such as bert-base-cased.",
            ) from error
        model.to(device_of(torch, settings.device))
        return cls(settings, torch, Loaded(files, tokenizer, model, limit_of(tokenizer, model)))

    def encode(self, examples: Sequence[Example]) -> list[Encoded]:
        """Tokenise all items of all examples."""
        flat = [item for example in examples for item in example.items]
        inputs, _ = self._loaded.tokenize(flat, limit=self._settings.limit)
        rest = iter(inputs)
        return [
            Encoded(tuple(next(rest) for _ in example.items), example.target)
            for example in examples
        ]

    def step(self, batch: Sequence[Encoded], loss: Loss, *, rate: float, seed: int) -> float:
        """Take one step and return the loss before it."""
        torch = self._torch
        torch.manual_seed(seed)
        self._loaded.model.train()
        for group in self._optimiser.param_groups:
            group["lr"] = rate
        targets = torch.tensor([each.target for each in batch], device=self._device)
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
        with self._torch.inference_mode():
            return self._forward(batch).float().cpu().numpy().astype(np.float64)

    def _forward(self, batch: Sequence[Encoded]) -> Any:
        flat = [item for example in batch for item in example.items]
        padded = self._loaded.tokenizer.pad(
            {key: [item[key] for item in flat] for key in flat[0]}, return_tensors="pt"
        )
        outputs = self._loaded.model(**{k: v.to(self._device) for k, v in padded.items()})
        return outputs.logits[:, 0].reshape(len(batch), -1)

    def _autocast(self) -> AbstractContextManager[Any]:
        if self.precision == "float32":
            return nullcontext()
        return self._torch.autocast(self._device.type, dtype=getattr(self._torch, self.precision))

    def weights(self) -> Tensors:
        """Return all weights by name; tied ones once, as safetensors wants them."""
        return {name: tensor.detach() for name, tensor in self._loaded.model.named_parameters()}

    def load(self, weights: Tensors) -> None:
        """Take weights back."""
        own = dict(self._loaded.model.named_parameters())
        with self._torch.no_grad():
            for name, tensor in weights.items():
                own[name].copy_(tensor)

    def optimiser_state(self) -> Tensors:
        """Return the moments of AdamW by number of the weight."""
        state = self._optimiser.state_dict()["state"]
        moments = ("exp_avg", "exp_avg_sq")
        return {f"{n}.{key}": one[key] for n, one in state.items() for key in moments}

    def load_optimiser(self, tensors: Tensors, updates: int) -> None:
        """Take the moments back; ``updates`` steps were made."""
        state: dict[int, dict[str, Any]] = {}
        for name, tensor in tensors.items():
            number, _, key = name.partition(".")
            state.setdefault(int(number), {"step": self._torch.tensor(float(updates))})[key] = (
                tensor
            )
        whole = self._optimiser.state_dict()
        self._optimiser.load_state_dict({**whole, "state": state})

    def save(self, folder: Path) -> None:
        """Write model and tokenizer, as transformers reads them."""
        self._loaded.model.save_pretrained(folder)
        self._loaded.tokenizer.save_pretrained(folder)

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


def _precision(settings: Settings, torch: Any) -> str:
    if settings.precision != "auto":
        return settings.precision
    if settings.device.startswith("cuda"):
        return "bfloat16" if torch.cuda.is_bf16_supported() else "float32"
    capable = settings.device == "cpu" and torch.cpu._is_avx512_bf16_supported()
    return "bfloat16" if capable else "float32"
