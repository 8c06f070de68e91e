"""How a model is fitted."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal, get_args

from grammeter.core import UsageError

Decay = Literal["none", "linear"]
Precision = Literal["auto", "float32", "bfloat16"]

_CHOICES = {"decay": get_args(Decay), "dtype": get_args(Precision)}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a model is fitted.

    Attributes
    ----------
    encoder
        Name or folder of the encoder to start from.
    epochs
        Number of epochs; the best by the figure on the validation part is written. 0: the
        untrained head.
    batch_size
        Examples per step.
    rate
        Learning rate of AdamW.
    decay
        ``none``: constant rate; ``linear``: the rate falls to 0 after the warm-up.
    warmup
        Share of all steps in which the rate rises.
    weight_decay
        Weight decay of AdamW, except for biases and norms.
    limit
        Tokens to which texts are cut.
    dtype
        ``auto``: bfloat16 where device or processor have it, else float32. Weights and
        optimiser stay in float32.
    device
        Device, as torch spells it.
    seed
        Seed of the head's first weights, the order of examples and dropout.

    Raises
    ------
    UsageError
        If a value is impossible.
    """

    encoder: str
    epochs: int = 10
    batch_size: int = 32
    rate: float = 1e-5
    decay: Decay = "none"
    warmup: float = 0.0
    weight_decay: float = 0.01
    limit: int = 128
    dtype: Precision = "auto"
    device: str = "cpu"
    seed: int = 1

    def __post_init__(self) -> None:
        for name in ("batch_size", "rate", "limit"):
            if not getattr(self, name) > 0:
                raise UsageError(f"{name}={getattr(self, name)}", fix="It is greater than 0.")
        if self.epochs < 0:
            raise UsageError(f"epochs={self.epochs}", fix="It is not below 0.")
        if not 0 <= self.seed < 2**63:
            raise UsageError(f"seed={self.seed}", fix="Seeds are 0 to 2^63 - 1.")
        if not (0 <= self.warmup <= 1 and self.weight_decay >= 0):
            raise UsageError(
                f"warmup={self.warmup}, weight_decay={self.weight_decay}",
                fix="The first is a share from 0 to 1, the second not below 0.",
            )
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise UsageError(
                    f"{name}={getattr(self, name)!r}", fix=f"Use {' or '.join(choices)}."
                )

    def identity(self, encoder_hash: str) -> dict[str, object]:
        """Return everything that a run depends on; the encoder is given by its hash."""
        return {**asdict(self), "encoder": encoder_hash}
