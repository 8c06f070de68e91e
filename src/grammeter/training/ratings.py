"""SOME's training data: outputs with human scores (Yoshimura et al. 2020)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from grammeter.core import DataError, FloatArray
from grammeter.formats import RatedOutput
from grammeter.training.network import PARTS, Example, Part, assign_parts

Criterion = Literal["grammaticality", "fluency", "meaning"]
CRITERIA: tuple[Criterion, ...] = get_args(Criterion)


@dataclass(frozen=True)
class HumanScore:
    """The task: the output is the mean human score; squared error."""

    examples: Mapping[Part, Sequence[Example]]
    first_bias: float  # mean score of the training part
    figure_name = "negative mean squared error"

    def loss(self, outputs: Any, targets: Any) -> Any:
        """Return the mean squared error of a batch."""
        return ((outputs[:, 0] - targets) ** 2).mean()

    def figure(self, outputs: FloatArray, targets: FloatArray) -> float:
        """Return the negative mean squared error."""
        return -float(self.loss(outputs, targets))


def score_task(rated: Sequence[RatedOutput], criterion: Criterion, seed: int) -> HumanScore:
    """Return the task of one criterion, split 8:1:1 by source sentence."""
    if not (scored := [output for output in rated if criterion in output.scores]):
        known = " ".join(dict.fromkeys(name for output in rated for name in output.scores))
        fix = f"Leave it out: --criteria {known}" if known else "Give scores of it."
        raise DataError(f"no scores of {criterion}", fix=fix)
    parts = assign_parts([output.source for output in scored], seed)
    examples: dict[Part, list[Example]] = {part: [] for part in PARTS}
    for output in scored:
        pair = output.source, output.output
        item: str | tuple[str, str] = pair if criterion == "meaning" else output.output
        examples[parts[output.source]].append(Example((item,), output.scores[criterion]))
    for part, of_part in examples.items():
        if not of_part:
            fault = f"no {part} examples for {criterion}: {len(scored)} scored outputs of"
            fix = "Give scores of ten sentences at least."
            raise DataError(f"{fault} {len(parts)} sentences", fix=fix)
    mean = float(np.mean([example.target for example in examples["train"]]))
    return HumanScore(examples, mean)
