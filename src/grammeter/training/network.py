"""How a model is fitted, and the model: an encoder with a new head of one output."""

import platform
import shutil
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Literal, Self, get_args

import numpy as np

from grammeter.core import FloatArray, UsageError, require
from grammeter.models import SMALLER_BATCH, Loaded, new_regressor, within_memory

Tensors = Mapping[str, Any]
Decay = Literal["none", "linear"]
Precision = Literal["auto", "float32", "bfloat16"]
NO_DECAY = ("bias", "LayerNorm.weight", "layer_norm.weight")  # ends of weights without decay
AMPERE = 8  # compute capability from which NVIDIA GPUs have bfloat16


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a model is fitted: options of ``train_impara``; UsageError if one is impossible."""

    encoder: str
    epochs: int = 10
    batch_size: int = 32
    rate: float = 1e-5  # learning rate of AdamW
    decay: Decay = "none"
    warmup: float = 0.0
    weight_decay: float = 0.01  # of AdamW, except for biases and norms
    limit: int = 128  # tokens to which texts are cut
    dtype: Precision = "auto"
    device: str = "cpu"  # as torch spells it
    seed: int = 1

    def __post_init__(self) -> None:
        positive, least = "It is greater than 0.", "It is not below 0."
        rules = [
            ("batch_size", self.batch_size > 0, positive),
            ("rate", self.rate > 0, positive),
            ("limit", self.limit > 0, positive),
            ("epochs", self.epochs >= 0, least),
            ("weight_decay", self.weight_decay >= 0, least),
            ("seed", 0 <= self.seed < 2**63, "Seeds are 0 to 2^63 - 1."),
            ("warmup", 0 <= self.warmup <= 1, "It is a share from 0 to 1."),
            ("decay", self.decay in get_args(Decay), "Use none or linear."),
            ("dtype", self.dtype in get_args(Precision), "Use auto, float32 or bfloat16."),
        ]
        for name, possible, fix in rules:
            if not possible:
                raise UsageError(f"{name}={getattr(self, name)!r}", fix=fix)


Part = Literal["train", "validation", "test"]
PARTS: tuple[Part, ...] = get_args(Part)


def allotment(total: int) -> dict[Part, int]:
    """Split a number 8:1:1; the remainder goes to training."""
    tenth = total // 10
    return {"train": total - 2 * tenth, "validation": tenth, "test": tenth}


def assign_parts(groups: Sequence[str], seed: int) -> dict[str, Part]:
    """Assign groups, examples of one source, to parts 8:1:1 after a seeded shuffle of names."""
    names = sorted(set(groups))
    Random(f"parts {seed}").shuffle(names)  # noqa: S311 - no secret
    sizes = allotment(len(names))
    parts: Iterator[Part] = (part for part in PARTS for _ in range(sizes[part]))
    return dict(zip(names, parts, strict=True))


@dataclass(frozen=True, slots=True)
class Example:
    """Texts, or pairs of texts, each of which gets one output; a task's have equally many."""

    items: tuple[str | tuple[str, str], ...]
    target: float = 0.0  # such as a human score; a task may compare the items instead


@dataclass(frozen=True, slots=True)
class Encoded:
    """An example as the model reads it: the tokenizer's output for each item."""

    items: tuple[dict[str, list[int]], ...]
    target: float
    truncated: bool  # whether an item was cut

    @property
    def length(self) -> int:
        """Tokens of the longest item."""
        return max(len(item["input_ids"]) for item in self.items)


class Network:
    """A model that is being fitted; use :meth:`open` to make one."""

    def __init__(self, settings: Settings, loaded: Loaded) -> None:
        self._settings = settings
        self._torch: Any = require("torch", extra="neural")
        self._loaded = loaded
        self._device = next(loaded.model.parameters()).device
        self.dtype: str = _dtype(settings, self._torch, self._device)
        decayed: dict[bool, list[Any]] = {True: [], False: []}
        for name, weights in loaded.model.named_parameters():
            decayed[not name.endswith(NO_DECAY)].append(weights)
        rates = {True: settings.weight_decay, False: 0.0}
        groups = [{"params": decayed[of], "weight_decay": rate} for of, rate in rates.items()]
        self._optimiser = self._torch.optim.AdamW(groups, lr=settings.rate)

    @classmethod
    @contextmanager
    def open(cls, settings: Settings, *, bias: float) -> Generator[Self]:
        """Load the encoder and add a new head, whose weights depend on the seed."""
        encoder, device, seed = settings.encoder, settings.device, settings.seed
        with new_regressor(encoder, device, seed=seed, bias=bias) as loaded:
            yield cls(settings, loaded)

    def encode(self, examples: Sequence[Example]) -> list[Encoded]:
        """Tokenise all items of all examples."""
        flat = [item for example in examples for item in example.items]
        inputs, cut = self._loaded.tokenize(flat, limit=self._settings.limit)
        rest = iter(zip(inputs, cut, strict=True))
        encoded: list[Encoded] = []
        for example in examples:
            items, were_cut = zip(*(next(rest) for _ in example.items), strict=True)
            encoded.append(Encoded(items, example.target, any(were_cut)))
        return encoded

    def step(
        self, batch: Sequence[Encoded], loss: Callable[[Any, Any], Any], *, rate: float, seed: int
    ) -> float:
        """Take one step and return the loss before it."""
        torch = self._torch
        torch.manual_seed(seed)
        self._loaded.model.train()
        for group in self._optimiser.param_groups:
            group["lr"] = rate
        targets = torch.tensor([example.target for example in batch], device=self._device)
        with _batch_memory(batch):
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
        with self._torch.inference_mode(), _batch_memory(batch):
            return self._forward(batch).float().cpu().numpy().astype(np.float64)

    def _forward(self, batch: Sequence[Encoded]) -> Any:
        flat = [item for example in batch for item in example.items]
        columns = {key: [item[key] for item in flat] for key in flat[0]}
        padded = self._loaded.tokenizer.pad(columns, return_tensors="pt")
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
        state, moments = self._optimiser.state_dict()["state"], ("exp_avg", "exp_avg_sq")
        return {f"{n}.{key}": one[key] for n, one in state.items() for key in moments}

    def load_optimiser(self, tensors: Tensors, updates: int) -> None:
        """Load the moments of AdamW after ``updates`` steps."""
        state: dict[int, dict[str, Any]] = {}
        for name, tensor in tensors.items():
            number, _, key = name.partition(".")
            one = state.setdefault(int(number), {"step": self._torch.tensor(float(updates))})
            one[key] = tensor
        self._optimiser.load_state_dict({**self._optimiser.state_dict(), "state": state})

    def save(self, folder: Path) -> None:
        """Write model and tokenizer in the format of transformers; may raise :class:`OSError`."""
        with full_disk():
            self._loaded.model.save_pretrained(folder)
            self._loaded.tokenizer.save_pretrained(folder)
        for path in folder.glob("*.safetensors"):  # which safetensors lets the owner alone read
            shutil.copymode(folder / "config.json", path)

    def environment(self) -> dict[str, object]:
        """Return versions, device and threads."""
        torch, transformers = self._torch, require("transformers", extra="neural")
        return {
            **{"torch": torch.__version__, "transformers": transformers.__version__},
            **{"python": platform.python_version(), "device": str(self._device)},
            **{"processor": platform.machine(), "threads": torch.get_num_threads()},
        }


@contextmanager
def full_disk() -> Generator[None]:
    """Raise :class:`OSError` where safetensors cannot read or write a file."""
    safetensors: Any = require("safetensors", extra="neural")
    try:
        yield
    except safetensors.SafetensorError as error:
        raise OSError(str(error)) from error


def _batch_memory(batch: Sequence[Encoded]) -> AbstractContextManager[None]:
    fault = f"memory does not suffice for a batch of {len(batch)} examples"
    return within_memory(fault, SMALLER_BATCH)


def _dtype(settings: Settings, torch: Any, device: Any) -> str:
    if settings.dtype != "auto":
        return settings.dtype
    if device.type == "cuda":
        capable = torch.cuda.get_device_capability(device)[0] >= AMPERE
    else:  # torch tells it by a function that is not public
        supported = getattr(torch.cpu, "_is_avx512_bf16_supported", None)
        capable = device.type == "cpu" and supported is not None and supported()
    return "bfloat16" if capable else "float32"
