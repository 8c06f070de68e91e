"""How a model is fitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from grammeter.core.errors import UsageError

Precision = Literal["auto", "float32", "bfloat16", "float16"]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a model is fitted.

    Attributes
    ----------
    encoder
        Name or folder of the encoder to start from.
    epochs
        The best of so many, by the figure on the validation part.
    batch
        Examples in a step.
    rate
        Learning rate of AdamW.
    decay
        ``none``: the rate stays; ``linear``: it falls to 0 after a warm-up.
    warmup
        Share of all steps in which the rate rises.
    weight_decay
        AdamW's, on all weights but biases and norms.
    limit
        Tokens to which texts are cut.
    precision
        ``auto``: bfloat16 where device or processor have it, else float32. Weights and
        optimiser stay in float32.
    device
        As torch spells it.
    seed
        Settles the head's first weights, the order of examples and dropout.
    """

    encoder: str
    epochs: int = 10
    batch: int = 32
    rate: float = 1e-5
    decay: Literal["none", "linear"] = "none"
    warmup: float = 0.0
    weight_decay: float = 0.01
    limit: int = 128
    precision: Precision = "auto"
    device: str = "cpu"
    seed: int = 1

    def __post_init__(self) -> None:
        for name in ("epochs", "batch", "rate", "limit"):
            if not getattr(self, name) > 0:
                raise UsageError(f"{name}={getattr(self, name)}", fix="It is greater than 0.")
        if not 0 <= self.warmup <= 1 or self.weight_decay < 0:
            raise UsageError(
                f"warmup={self.warmup}, weight_decay={self.weight_decay}",
                fix="The first is a share from 0 to 1, the second not below 0.",
            )
