"""The shape of Hugging Face ``evaluate``: ``add``, ``add_batch``, ``compute``."""

from typing import Any

from grammeter import core, scoring
from grammeter.metrics import Metric
from grammeter.scoring import References, Texts


class Evaluate:
    """Computes metrics as an ``evaluate`` module does; that package is not needed.

    ``metrics`` are spellings or metrics; or there is a ``scorer`` whose models are loaded already.
    ::

        Evaluate("gleu").compute(predictions=[...], references=[[...], ...], sources=[...])
    """

    def __init__(self, *metrics: str | Metric, scorer: scoring.Scorer | None = None) -> None:
        if bool(metrics) == bool(scorer):
            raise core.UsageError("metrics or a scorer", fix="Give one of the two.")
        self._scorer = scorer or scoring.Scorer(metrics)
        self._rows: list[core.Segment] = []

    def add(self, *, prediction: str, source: str, reference: str | Texts | None = None) -> None:
        """Add one sentence to those of the next :meth:`compute`."""
        self.add_batch(predictions=[prediction], sources=[source], references=[reference])

    @core.checked
    def add_batch(
        self, *, predictions: Texts, sources: Texts, references: References | None = None
    ) -> None:
        """Add lists to the next :meth:`compute`; LengthMismatchError, UsageError: a text, None."""
        self._rows += scoring.segments_of(sources, predictions, references)

    def compute(
        self, *, predictions: Texts | None = None, sources: Texts | None = None,
        references: References | None = None,
    ) -> dict[str, float]:  # fmt: skip
        """Score all sentences added, and those of the arguments, as one corpus; then drop them.

        ``predictions``, ``sources``: one text for each sentence. ``references``: for each sentence
        a text or a list of texts: ``[sentences][references]``, not sacrebleu's
        ``[references][sentences]``. Returns the score under the metric's spelling, its parts as
        ``spelling.part``; NaN where there is none. Raises :class:`UsageError` if predictions or
        sources are missing, or a metric lacks references; :class:`LengthMismatchError`.
        """
        if predictions is not None or sources is not None or references is not None:
            lists: Any = {"predictions": predictions, "sources": sources}
            self.add_batch(**lists, references=references)
        if not self._rows:
            raise core.UsageError("nothing to score", fix="Give predictions and sources.")
        rows, self._rows = self._rows, []
        corpus_scores = self._scorer.scored(rows)
        scores: dict[str, float] = {}
        for name, score in corpus_scores.items():
            scores[name] = score.value
            scores |= {f"{name}.{part}": value for part, value in score.parts.items()}
        return scores
