"""The shape of Hugging Face ``evaluate``: ``add``, ``add_batch``, ``compute``."""

from collections.abc import Sequence

from grammeter import core, scoring
from grammeter.metrics import Metric

Texts = Sequence[str]
References = Sequence[str | Texts | None]


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
        self._rows: list[tuple[str, str, Sequence[str]]] = []

    def add(
        self, *, prediction: str, source: str, reference: str | Sequence[str] | None = None
    ) -> None:
        """Add one sentence to those of the next :meth:`compute`."""
        texts = (reference,) if isinstance(reference, str) else tuple(reference or ())
        self._rows.append((source, prediction, texts))

    def add_batch(
        self, *, predictions: Texts, sources: Texts, references: References | None = None
    ) -> None:
        """Add lists to the next :meth:`compute`; :class:`UsageError`: unequal lengths, a text."""
        if references is None:
            references = [None] * len(sources)
        if any(isinstance(texts, str) for texts in (predictions, sources, references)):
            raise core.UsageError("one text where a list belongs", fix="Write [text].")
        if not len(sources) == len(predictions) == len(references):
            sizes = f"{len(predictions)} predictions, {len(sources)} sources"
            fix = "Give one of each for every sentence; references as [sentences][references]."
            raise core.UsageError(f"{sizes}, {len(references)} references", fix=fix)
        for source, prediction, reference in zip(sources, predictions, references, strict=True):
            self.add(prediction=prediction, source=source, reference=reference)

    def compute(
        self,
        *, predictions: Texts | None = None, sources: Texts | None = None,
        references: References | None = None,
    ) -> dict[str, float]:  # fmt: skip
        """Score all sentences added, and those of the arguments, as one corpus; then drop them.

        ``predictions``, ``sources``: one text for each sentence. ``references``: for each sentence
        a text or a list of texts: ``[sentences][references]``, not sacrebleu's
        ``[references][sentences]``. Returns the score under the metric's spelling, its parts as
        ``spelling.part``; NaN where there is none. Raises :class:`UsageError` if predictions or
        sources are missing, the lists differ in length, or a metric lacks references.
        """
        if predictions is not None or sources is not None or references is not None:
            if predictions is None or sources is None:
                lacking = "predictions" if predictions is None else "sources"
                raise core.UsageError(f"no {lacking}", fix="Give predictions and sources.")
            self.add_batch(predictions=predictions, sources=sources, references=references)
        if not self._rows:
            raise core.UsageError("nothing to score", fix="Give predictions and sources.")
        rows, self._rows = self._rows, []
        texts, outputs, known = (list(column) for column in zip(*rows, strict=True))
        corpus_scores = self._scorer.corpus(texts, outputs, known if any(known) else None)
        scores: dict[str, float] = {}
        for name, score in corpus_scores.items():
            scores[name] = score.value
            scores |= {f"{name}.{part}": value for part, value in score.parts.items()}
        return scores
