"""Metrics in other people's loops: rewards of TRL's trainers, modules of ``evaluate``, harnesses.

The harnesses lm-eval, inspect_ai, lighteval, EuroEval and verl call a function for each row, and
another one with what all rows gave. A row keeps its texts, so that the corpus is scored as
:func:`grammeter.score` scores it.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple, cast

from grammeter import core, scoring
from grammeter.metrics import Metric
from grammeter.scoring import References, Texts

Completion = str | Sequence[Mapping[str, Any]]
"""A text, or a conversation of which the last message counts."""


class Reward:
    """A reward function ``f(prompts, completions, **columns) -> [float | None]``.

    A reward is ``None`` where the row lacks a source, a completion or the reference it needs, or
    where the metric has no score. TRL then leaves the row to the other rewards. Raises
    :class:`UsageError` if the metric is unknown, or the scorer has several.

    ``metric`` is a spelling, a metric, or a :class:`~grammeter.scoring.scorer.Scorer` of one
    metric. ``source`` is the column of the data set with the source sentence, with ``None`` the
    prompt; ``reference`` that of the reference, a text or a list of them, if the metric needs one.
    ``scale`` is a factor of the scores: negative for a metric where less is better.
    """

    def __init__(
        self, metric: str | Metric | scoring.Scorer,
        *, source: str | None = "source", reference: str | None = None, scale: float = 1.0,
    ) -> None:  # fmt: skip
        self._scorer = of_one(metric)
        self._source, self._reference, self._scale = source, reference, scale
        self.__name__: str = f"grammeter_{self._scorer.metrics[0].name}"

    def __call__(
        self, prompts: Sequence[Completion] = (), completions: Sequence[Completion | None] = (),
        **columns: Any,
    ) -> list[float | None]:  # fmt: skip
        """Return rewards; :class:`UsageError` if a named column is absent or lengths differ."""
        named, nothing = self._reference, [()] * len(completions)
        sources: Sequence[Any] = (
            prompts if self._source is None else _of_data_set(columns, self._source)
        )
        references = nothing if named is None else _of_data_set(columns, named)
        if not len(sources) == len(completions) == len(references):
            fault = f"{len(completions)} completions, {len(sources)} sources,"
            fault += f" {len(references)} references"
            raise core.UsageError(fault, fix="Give one of each for every completion.")
        whole = zip(sources, completions, references, strict=True)
        rows = [
            (at, text_of(source), text_of(completion), texts)
            for at, (source, completion, reference) in enumerate(whole)
            if source is not None and completion is not None
            if (texts := texts_of(reference)) or self._reference is None
        ]
        rewards: list[float | None] = [None] * len(completions)
        if rows:
            places, row_sources, texts, row_references = zip(*rows, strict=True)
            needed = row_references if self._reference else None
            (values,) = self._scorer(row_sources, texts, needed).values()
            for at, value in zip(places, values, strict=True):
                rewards[at] = None if value is None else value * self._scale
        return rewards


def _of_data_set(columns: Mapping[str, Any], name: str, kind: type = object) -> Any:
    """Return a column of a data set, or a cell of it; UsageError if there is none of this kind."""
    if name not in columns or not isinstance(columns[name], kind):
        there = ", ".join(sorted(columns)) or "none"
        fault = f"the data set has no texts in a column {name!r}; there are: {there}"
        raise core.UsageError(fault, fix="Name the column where reward or metric is made.")
    return columns[name]


def of_one(metric: str | Metric | scoring.Scorer) -> scoring.Scorer:
    """Return a scorer of one metric; UsageError if it has several."""
    scorer = metric if isinstance(metric, scoring.Scorer) else scoring.Scorer([metric])
    if len(scorer.metrics) != 1:
        raise core.UsageError("this gives the scores of one metric", fix="Make one for each.")
    return scorer


def text_of(completion: Completion) -> str:
    """Return a completion as one line."""
    if not isinstance(completion, str):
        content: object = completion[-1].get("content") if completion else ""
        if isinstance(content, list):
            parts = cast("list[Mapping[str, object]]", content)
            content = " ".join(str(part.get("text") or "") for part in parts)
        completion = str(content or "")
    return " ".join(completion.split())


def texts_of(cell: object) -> tuple[str, ...]:
    """Return the references of a row; ``None`` and NaN stand for none."""
    if isinstance(cell, str):
        return (text_of(cell),)
    if cell is None or isinstance(cell, float):
        return ()
    texts = cast("Iterable[str | None]", cell)
    return tuple(text_of(text) for text in texts if text is not None)


class Evaluate:
    """Computes metrics as an ``evaluate`` module does; that package is not needed.

    ``metrics`` are spellings or metrics. ::

        Evaluate("gleu").compute(predictions=[...], references=[[...], ...], sources=[...])
    """

    def __init__(self, *metrics: str | Metric) -> None:
        self._scorer = scoring.Scorer(metrics)

    def compute(
        self, *, predictions: Texts, sources: Texts, references: References | None = None
    ) -> dict[str, float]:
        """Score all sentences as one corpus.

        ``predictions``, ``sources``: one text for each sentence. ``references``: for each sentence
        a text or a list of texts: ``[sentences][references]``, not sacrebleu's
        ``[references][sentences]``. Returns the score under the metric's spelling, its parts as
        ``spelling.part``; NaN where there is none. Raises :class:`UsageError` if there is no
        sentence, or a metric lacks references; :class:`LengthMismatchError`.
        """
        scores: dict[str, float] = {}
        for name, score in self._scorer.corpus(sources, predictions, references).items():
            scores[name] = score.value
            scores |= {f"{name}.{part}": value for part, value in score.parts.items()}
        return scores


class Row(NamedTuple):
    """The texts of a sentence."""

    source: str
    prediction: str
    references: tuple[str, ...] = ()


class Harness:
    """A metric as harnesses call it.

    ``metric`` is a spelling, a metric, or a scorer of one metric. ``source`` and ``references`` are
    the columns of the data set that hold the source, and a reference or a list of them; a metric
    without references needs no such column. Raises :class:`UsageError` if the metric is unknown, or
    a row has no source.
    """

    def __init__(
        self, metric: str | Metric | scoring.Scorer,
        *, source: str = "source", references: str = "references",
    ) -> None:  # fmt: skip
        self._scorer = of_one(metric)
        self._source, self._references = source, references
        self.name: str = self._scorer.metrics[0].name
        self.higher_is_better: bool = self._scorer.metrics[0].higher_is_better

    def __deepcopy__(self, memo: dict[int, Any]) -> "Harness":
        """Return itself: harnesses copy what a task is made of, and models are loaded once."""
        return self

    def row(self, columns: Mapping[str, Any], prediction: str) -> Row:
        """Return the texts of a row of the data set, each on one line."""
        source, known = _of_data_set(columns, self._source, str), columns.get(self._references)
        return Row(text_of(source), text_of(prediction), texts_of(known))

    def corpus(self, rows: Sequence[Sequence[Any]]) -> float:
        """Score all rows as one corpus."""
        sources, predictions, references = zip(*rows, strict=True)
        known = references if any(references) else None
        (score,) = self._scorer.corpus(sources, predictions, known).values()
        return score.value

    def sentence(self, row: Row) -> float:
        """Score one row; NaN where it has no score."""
        known = [row.references] if row.references else None
        ((value,),) = self._scorer([row.source], [row.prediction], known).values()
        return math.nan if value is None else value

    # --- lm-evaluation-harness: `process_results` and `aggregation` of a task -------------------
    def process_results(self, doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, Row]:
        """Keep the texts of a document under the metric's name."""
        return {self.name: self.row(doc, results[0])}

    @property
    def aggregation(self) -> Any:
        """What scores the texts that :meth:`process_results` kept."""
        return self.corpus

    # --- inspect_ai -----------------------------------------------------------------------------
    def inspect_scorer(self) -> Any:
        """Return a scorer: each sample has its own score, the metric is that of the corpus.

        The source is in the metadata of the sample, else its input; the references are its target.
        """
        inspect: Any = import_module("inspect_ai.scorer")

        @inspect.metric(name=self.name)
        def of_corpus() -> Any:
            def score(samples: Sequence[Any]) -> float:
                return self.corpus([sample.score.metadata["row"] for sample in samples])

            return score

        @inspect.scorer(metrics=[of_corpus()], name=f"grammeter_{self.name}")
        def of_sample() -> Any:
            async def score(state: Any, target: Any) -> Any:
                texts: dict[str, Any] = {self._source: state.input_text}
                texts |= {**(state.metadata or {}), self._references: [*target]}
                row = self.row(texts, state.output.completion)
                value, kept = self.sentence(row), {"row": [*row]}
                return inspect.Score(value=value, answer=row.prediction, metadata=kept)

            return score

        return of_sample()

    # --- lighteval ------------------------------------------------------------------------------
    def lighteval_metric(self) -> Any:
        """Return a metric; the source is in ``doc.specific``, the references are its golds."""
        utils: Any = import_module("lighteval.metrics.utils.metric_utils")
        sample: Any = import_module("lighteval.metrics.metrics_sample")
        harness = self

        class Texts(sample.SampleLevelComputation):
            def compute(self, doc: Any, model_response: Any, **more: Any) -> Row:
                columns: dict[str, Any] = {harness._references: doc.get_golds()}
                columns |= doc.specific or {}
                return harness.row(columns, model_response.final_text[0])

        return utils.CorpusLevelMetric(
            metric_name=self.name, higher_is_better=self.higher_is_better,
            category=utils.SamplingMethod.GENERATIVE, sample_level_fn=Texts(),
            corpus_level_fn=self.corpus,
        )  # fmt: skip

    # --- EuroEval -------------------------------------------------------------------------------
    def euroeval_metric(self) -> Any:
        """Return a metric; the sources are a column of the data set."""
        base: Any = import_module("euroeval.metrics.base")
        harness = self

        class Whole(base.Metric):
            def __call__(self, predictions: Any, references: Any, dataset: Any, *_: Any) -> float:
                columns = zip(dataset[harness._source], references, strict=True)
                keys = harness._source, harness._references
                rows = (dict(zip(keys, texts, strict=True)) for texts in columns)
                return harness.corpus([*map(harness.row, rows, predictions)])

        return Whole(self.name, f"grammeter {self.name}")

    # --- verl: `custom_reward_function` ---------------------------------------------------------
    def compute_score(
        self, data_source: str, solution_str: str, ground_truth: Any,
        extra_info: Mapping[str, Any] | None = None, **more: Any,
    ) -> float:  # fmt: skip
        """Return the reward of a solution; ``extra_info`` has the source."""
        columns = {**(extra_info or {}), self._references: ground_truth}
        return self.sentence(self.row(columns, solution_str))
