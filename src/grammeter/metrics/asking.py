"""Metrics that ask pretrained models: their counting is a work that yields requests."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from grammeter.core import Segment, Statistics
from grammeter.metrics.base import Metric
from grammeter.models import Steps, check_installed, current, find_model, gpu, run_together


@dataclass(frozen=True, kw_only=True)
class Asking(Metric):
    """Base of metrics with models.

    A subclass writes :meth:`steps` in place of ``statistics``, so that the requests of all
    metrics of a run are answered together, and names its models in :meth:`models`.
    """

    uses: ClassVar[tuple[str, ...]] = ("model",)
    """The fields that name models."""

    def models(self) -> Mapping[str, str]:
        """Return the models in use: what each is for (its field), and its name or folder."""
        return {field: getattr(self, field) for field in self.uses}

    @abstractmethod
    def steps(self, segments: Sequence[Segment]) -> Steps[Statistics]:
        """Count: yield requests, receive their figures, return statistics at last."""

    def statistics(self, segments: Sequence[Segment]) -> Statistics:
        """Count once: one row per segment, one slot per competing reference."""
        return run_together([self.steps(segments)])[0]

    @property
    def notice(self) -> str | None:
        """Nothing to report; raise at once, before any work, if something is missing."""
        models = self.models()
        for name in models.values():
            find_model(name)
        if models:
            check_installed()
        return None

    @property
    def hint(self) -> str | None:
        """Say that there is a GPU which is not used."""
        if self.models() and current().device == "cpu" and gpu() == "ready":
            return "there is a GPU here, and models run on the CPU; --device cuda uses it"
        return None

    def settings(self) -> dict[str, object]:
        """Return what the signature says of the models: revision or hash, and number type."""
        shown: dict[str, object] = {}
        for use, name in self.models().items():
            files = find_model(name)
            shown[f"{use}-hash"] = files.hash
            if files.revision:
                shown[f"{use}-revision"] = files.revision
        return {**shown, "dtype": current().dtype} if shown else {}
