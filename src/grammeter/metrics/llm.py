"""LLM-S and LLM-E: a language model scores outputs side by side, as sentences or as edits."""

import warnings
from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import chain
from math import isnan
from typing import Annotated, ClassVar

import numpy as np

from grammeter import alignment, core, llm
from grammeter.metrics.base import Limit, Metric, Positive, Segments, cited
from grammeter.metrics.kinds import Extracting, Pooled, model_settings, no_choice, one_slot
from grammeter.models import Chat

COLUMNS = ("score", "due", "answered")


@dataclass(frozen=True, kw_only=True)
class Judging(Pooled):
    """Base of metrics that ask a language model for scores from 1 to 5, 5 being best."""

    needs = "nothing"
    asks_language_model = True
    resampling = "mean of sentence scores"
    after_counting = ("coverage",)
    citation = cited("kobayashi-etal-2024-large")

    _row: ClassVar[core.Statistics | None] = None
    """The counts of the sentence that is explained, in its corpus."""

    model: str | None = None
    criterion: str | None = None
    prompt: str = "paper"
    numbered: bool | None = None
    context: Annotated[int, Limit("Use 0, 1 or 2.", least=0, most=2)] = 2
    set_size: Annotated[int, Limit(f"Use 2 to {llm.MOST}.", least=2, most=llm.MOST)] = llm.USUAL
    shuffle: bool = False
    permutations: Positive = 1
    repeats: Positive = 1
    per_output: Positive = 1
    coverage: Annotated[float, Limit("It is a share, 0 to 1.", least=0, most=1)] = 1.0
    seed: Annotated[int, Limit("A seed is 0 or more.", least=0)] = 1

    @abstractmethod
    def targets(self, pairs: Sequence[tuple[str, str]]) -> list[str]:
        """Return what the judge sees of each (source, output)."""

    def check_fields(self) -> None:
        """Refuse criteria of the other metric."""
        _ = self.protocol

    @property
    def protocol(self) -> llm.Protocol:
        """How questions are put into words."""
        return llm.Protocol(**{f.name: getattr(self, f.name) for f in fields(llm.Protocol)})

    @property
    def panel(self) -> llm.Panel:
        """Who is asked, and how often; raise if no model is named."""
        if self.model is None:
            fix = f'Say which one is to judge: "{self.name}(model=NAME)"; the models of the'
            fix += " paper are shut down."
            raise core.UsageError(f"{self.name}: no model is named", fix=fix)
        chat = Chat(self.model) if llm.current().in_process else None
        judge = {"model": chat.identity if chat else self.model, "chat": chat}
        options = {f.name: getattr(self, f.name) for f in fields(llm.Panel) if f.name not in judge}
        return llm.Panel(**judge, **options)

    def models(self) -> Mapping[str, str]:
        """Return the model if it runs in this process."""
        here = llm.current().in_process and self.model is not None
        return {"model": self.model or ""} if here else {}

    @property
    def notice(self) -> str | None:
        """Raise at once, before any work, if no model is named, or it is not on this machine."""
        _ = self.panel
        return super().notice

    def settings(self) -> dict[str, object]:
        """Return the words by id and hash, where the model answers, how it is to sample."""
        shown = {"template": self.protocol.template, **llm.request_settings(), "tok": "whitespace"}
        return {**shown, **model_settings(self.models()), **super().settings()}

    def seen(self, questions: Sequence[llm.Question]) -> list[llm.Question]:
        """Return questions as the judge sees them; :attr:`panel` asks them, or says what it costs.

        Outputs that look the same to the judge need no question; more than ``set_size`` are shown
        in sets.
        """
        pairs = [(plain(q.source), plain(output)) for q in questions for output in q.targets]
        targets = iter(self.targets(pairs))
        seen: list[llm.Question] = []
        for q in questions:
            before, source, after = map(plain, q.context)
            shown = tuple(next(targets) for _ in q.targets)
            seen.append(llm.Question(before, source, after, shown))
        return seen

    def pooled_statistics(self, segments: Segments, copies: Sequence[int]) -> core.Statistics:
        """Score the outputs of all systems, more than one; one row each.

        Outputs of one sentence stand side by side in seeded sets of ``set_size`` at most, each
        in ``per_output`` of them at least; its score is the mean over its sets. Columns are
        ``score``, ``due`` (whether other outputs differ from it) and ``answered``.
        """
        pool: dict[llm.Context, dict[str, list[int]]] = {}
        for row, segment in enumerate(segments):
            context = segment.previous, segment.source, segment.following
            pool.setdefault(context, {}).setdefault(plain(segment.hypothesis), []).append(row)
        lines = (chain.from_iterable(outputs.values()) for outputs in pool.values())
        if max((sum(copies[row] for row in rows) for rows in lines), default=2) < 2:
            fault = f"{self.name} compares outputs, and there is only one system"
            raise core.UsageError(fault, fix="Score several systems together.")
        questions: list[llm.Question] = []
        sets = {"times": self.per_output, "seed": self.seed, "size": self.set_size}
        for context, outputs in pool.items():
            drawn = llm.draw_sets(context[1], list(outputs), **sets)
            questions += [llm.Question(*context, tuple(of_one)) for of_one in drawn]
        judged = self.panel.ask(self.seen(questions))
        if lacking := Counter(o.reason for o in judged if o.due and o.scores is None):
            reasons = ", ".join(f"{count} x {reason}" for reason, count in lacking.most_common(3))
            due = sum(opinion.due for opinion in judged)
            fault = f"{self}: {lacking.total()} of {due} questions brought no scores: {reasons}"
            warnings.warn(fault, stacklevel=3)
        rows = np.zeros((len(segments), len(COLUMNS)))
        for (context, output), scores in _by_output(questions, judged).items():
            value = sum(scores) / len(scores) if scores else 0.0
            rows[pool[context][output]] = value, 1.0, float(bool(scores))
        return one_slot(rows, COLUMNS)

    def score(self, statistics: core.Statistics) -> core.Score:
        """Take the mean over sentences whose outputs differ; parts: ``judged``, ``coverage``."""
        sums = self.summands(statistics).sum(axis=0)
        _, due, answered = map(int, sums.tolist())
        value, size = float(self.value_of(sums)), len(statistics)
        parts = {"judged": due, "coverage": answered / due if due else float("nan")}
        reason = "no sentence has two distinct outputs" if size else "no segments"
        if due:
            few = f"{due - answered} of {due} sentences have no score, coverage={self.coverage:g}"
            reason = f"{few} is wanted; raise --attempts to ask again for invalid replies"
        return core.Score(value, self.signature(), size, parts, reason if isnan(value) else None)

    def sentences(self, statistics: core.Statistics) -> core.SegmentScores:
        """Return the score of each sentence, 1 to 5; NaN where there is none."""
        score, _, answered = np.moveaxis(statistics.rows[:, 0], -1, 0)
        values = np.where(answered > 0, score, np.nan)
        reason = "all systems wrote the same here, or the judge gave no score"
        return core.SegmentScores(values, no_choice(len(statistics)), {}, reason)

    def summands(self, statistics: core.Statistics) -> core.FloatArray:
        """Return score, whether one is due, whether it is there: shape ``(segments, 3)``."""
        return statistics.rows[:, 0].astype(np.float64)

    def value_of(self, sums: core.FloatArray) -> core.FloatArray:
        """Return means of summed scores; NaN where too few are there."""
        total, due, answered = np.moveaxis(np.asarray(sums), -1, 0)
        enough = (due > 0) & (answered >= self.coverage * due) & (answered > 0)
        means: core.FloatArray = np.where(enough, total / np.where(enough, answered, 1.0), np.nan)
        return means

    def within(self, surroundings: core.Surroundings) -> Metric:
        """Take the score that was given, or else the outputs of the other systems."""
        rows = surroundings.statistics
        row = None if rows is None else rows.take([surroundings.line])
        return self.bound(_row=row, company=tuple(surroundings.company))

    def explain(self, segment: core.Segment) -> core.Explanation:
        """Return the score (no grounds); NaN without other outputs to stand beside."""
        if self._row is None and not self.company:
            why = "a judge scores outputs side by side, and gives no reasons: see the"
            why += " sentence scores, and 'grammeter judge' for its rankings"
            return core.Explanation(float("nan"), reason=why)
        rows = self._row
        if rows is None:
            outputs = self.beside(segment)
            rows = self.pooled_statistics(outputs, [1] * len(outputs)).take([0])
        return self.explained(self.sentences(rows))


@dataclass(frozen=True, kw_only=True)
class LLMS(Judging):
    """LLM-S: a language model scores corrected sentences side by side, 1 to 5.

    - ``model``: as the endpoint calls it; there is no default.
    - ``criterion``: ``grammaticality``, ``fluency``, ``meaning``, or a sentence that says what to
      look at; by default the judge is told none.
    - ``prompt``: ``paper``; ``hardened``: texts are quoted, and the judge is told that they are
      data; or a file with a prompt, see :class:`~grammeter.llm.Protocol`.
    - ``numbered``: write ``1.`` and so on before the targets; by default not in the paper's prompt.
    - ``context``: how many sentences around the source are shown: 0, 1 (the one before) or 2.
    - ``set_size``: how many outputs a prompt shows at most, 2 to 20.
    - ``shuffle``: show the targets in random order, also in the first of ``permutations``.
    - ``permutations``, ``repeats``: in how many orders each set is shown, and how often each;
      scores are averaged.
    - ``per_output``: in how many sets each output stands at least.
    - ``coverage``: the share of sentences that must have scores, else the system has none.
    - ``seed``: where the draws of sets and orders start.
    """

    name = "llm-s"
    title = "a language model scores corrected sentences side by side (Kobayashi et al. 2024)"

    def targets(self, pairs: Sequence[tuple[str, str]]) -> list[str]:
        """Return the outputs."""
        return [text for _, text in pairs]


@dataclass(frozen=True, kw_only=True)
class LLME(Extracting, Judging):
    """LLM-E: a language model scores corrections side by side, their edits marked, 1 to 5.

    An output without edits is shown as it is, ``[old→new]`` marks an edit in the others.

    - ``model``: as the endpoint calls it; there is no default.
    - ``criterion``: ``difficulty``, ``impact``, or a sentence; by default the judge is told none.
    - ``prompt``, ``numbered``, ``context``, ``set_size``, ``shuffle``, ``permutations``,
      ``repeats``, ``per_output``, ``coverage``, ``seed``: as for :class:`LLMS`.
    - ``pipeline``: the spaCy pipeline that edits are extracted with, as for ``errant``.
    """

    name = "llm-e"
    title = "a language model scores edits marked in sentences side by side (Kobayashi et al. 2024)"

    pipeline: str | None = None

    def targets(self, pairs: Sequence[tuple[str, str]]) -> list[str]:
        """Return the sources with the outputs' edits marked."""
        edits = self.extractor().annotate(pairs)
        sources = (source.split() for source, _ in pairs)
        return [alignment.marked(*of_pair) for of_pair in zip(sources, edits, strict=True)]


def plain(text: str) -> str:
    """Return a text with single spaces: how it is shown, and what makes two of them equal."""
    return " ".join(text.split())


def _by_output(
    questions: Sequence[llm.Question], judged: Sequence[llm.Opinion]
) -> Mapping[tuple[llm.Context, str], list[float]]:
    """Gather the scores of each output that a question was due for, from all its sets."""
    by_output: dict[tuple[llm.Context, str], list[float]] = {}
    for question, opinion in zip(questions, judged, strict=True):
        for place, output in enumerate(question.targets if opinion.due else ()):
            scores = by_output.setdefault((question.context, output), [])
            if opinion.scores is not None:
                scores.append(opinion.scores[place])
    return by_output
