"""The verb ``meta judge``: what the answers of judges tell of the judges themselves."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, cast

import numpy as np

from grammeter import core, errant, formats, meta, rendering, stats, study
from grammeter.ranking import named_systems, notes_of
from grammeter.verbs._meta import PathLike

PEOPLE = "people"
SIZES = 8  # sizes of a learning curve, from ten items to all


@dataclass(frozen=True)
class JudgeCurve:
    """Correlations of systems by some of the items, drawn with replacement, and their tokens.

    ``needed`` items bring r to ``least`` in 95% of the draws; ``None``: more than there are.
    """

    against: str
    tokens: tuple[float, ...]
    r: study.LearningCurve
    rho: study.LearningCurve
    least: float
    needed: int | None


@dataclass(frozen=True, repr=False)
class JudgeMeta(core.Result, kind="meta-judge"):
    """What the answers of judges tell of them, by name.

    ``people``: what people's ranks, turned, go with; ``curves``: how many items it takes, by judge;
    ``examples``: the largest disagreements with people.
    """

    judges: Mapping[str, meta.JudgeProfile]
    people: Mapping[str, meta.Estimate]
    curves: Mapping[str, JudgeCurve]
    examples: tuple[meta.Disagreement, ...]
    signature: core.Signature
    notes: tuple[str, ...] = ()
    notices: tuple[str, ...] = field(default=(), compare=False)

    def tables(self, *, long: bool = False) -> Sequence[core.Table]:
        """Return counts of scores and replies, figures, curves, people's ranks, and examples.

        For programs: a row for each judge and figure.
        """
        if long:
            rows = [(judge, name, of.value, of.low, of.high)
                    for judge, figures in self._figures().items()
                    for name, of in figures.items()]  # fmt: skip
            numbers = core.Column.many("number", "value", "low", "high")
            return [core.Table.of(("judge", "figure", *numbers), rows)]
        made = (self._scores(), self._replies(), self._sides(), self._curves(), self._beside(),
                self._examples())  # fmt: skip
        return [table for table in made if table.rows]

    def _figures(self) -> Mapping[str, Mapping[str, meta.Estimate]]:
        figures = {name: judge.figures for name, judge in self.judges.items()}
        return figures | ({PEOPLE: self.people} if self.people else {})

    def _scores(self) -> core.Table:
        rows, heads = _counted(self.judges, "scores")
        first = [(name, of.items, of.due, of.scored) for name, of in self.judges.items()]
        columns = ("judge", *core.Column.many("count", "items", "due", "scored", *heads))
        cells = [(*a, *rows[a[0]]) for a in first]
        note = "due: with two outputs or more; scored: all; 1 to 5: how often given, rounded"
        return core.Table.of(columns, cells, (note, str(self.signature)), title="Scores")

    def _replies(self) -> core.Table:
        (read, words), (ends, finish) = (_counted(self.judges, of) for of in ("read", "finish"))
        rows: list[Sequence[core.Cell]] = []
        for name, of in self.judges.items():
            if of.replies:
                counts = (of.replies, of.usable, of.asked_again, *read[name], *ends[name])
                means = (sum(of.tokens) / of.items, of.seconds / of.replies)
                rows.append((name, *counts, *of.tokens, *means))
        heads = ("replies", "usable", "asked again", *words, *finish, "tokens in", "tokens out")
        means = core.Column.many("number", "tokens an item", "seconds a reply", digits=2)
        columns = ("judge", *core.Column.many("count", *heads), *means)
        return core.Table.of(columns, rows, title="Replies")

    def _sides(self) -> core.Table:
        """Return all figures, a column for each judge."""
        figures = self._figures()
        none = meta.Estimate(value=math.nan)
        known = [(name, one.value) for of in figures.values() for name, one in of.items()]
        names = dict.fromkeys(name for name, value in known if not math.isnan(value))
        rows: list[Sequence[core.Cell]] = []
        for name in names:
            sides = [of.get(name, none) for of in figures.values()]
            cells = [(None if math.isnan(x.value) else x.value, x.interval) for x in sides]
            rows.append((name, *(cell for both in cells for cell in both)))
        heads = (head for judge in figures for head in (judge, "interval"))
        notes = (
            "mean: score; tied: share of pairs; place-1: mean score of what is shown first",
            "changed, kappa, apart: two answers to one item, on two outputs (better, tied, worse),"
            " in the same order, or one that shows the two the other way round (swapped)",
            "r, tau: of scores within items, with place, length in tokens, number of edits;"
            " people's are of their ranks, turned",
        )
        columns = ("figure", *core.Column.many("number", *heads))
        return core.Table.of(columns, rows, notes, title="Sureness and bias")

    def _curves(self) -> core.Table:
        rows: list[Sequence[core.Cell]] = []
        for judge, curve in self.curves.items():
            both = (curve.r, curve.rho)
            ends = [np.stack([of.mean, of.low, of.high], axis=1).tolist() for of in both]
            for n, tokens, *of in zip(curve.r.sizes.tolist(), curve.tokens, *ends, strict=True):
                figures = (cell for mean, low, high in of for cell in (mean, (low, high)))
                rows.append((judge, n, round(tokens), *figures))
        notes = (
            f"{judge}: against {of.against}; in 95% of the draws r is {of.least:g} or more with "
            + ("no number of items up to all" if of.needed is None else f"{of.needed} items")
            for judge, of in self.curves.items()
        )
        heads = core.Column.many("number", "r", "90% of draws", "rho", "90% of draws", digits=3)
        columns = ("judge", *core.Column.many("count", "items", "tokens"), *heads)
        return core.Table.of(columns, rows, notes, title="How many items it takes")

    def _beside(self) -> core.Table:
        rows = [(name, score, *counts) for name, judge in self.judges.items()
                for score, counts in judge.beside_people.items()]  # fmt: skip
        most = max(map(len, rows), default=2)
        heads = core.Column.many("count", *(f"rank {rank}" for rank in range(1, most - 1)))
        cells = [(*row, *(0,) * (most - len(row))) for row in rows]
        title = "Scores beside people's ranks"
        return core.Table.of(("judge", "score", *heads), cells, title=title)

    def _examples(self) -> core.Table:
        rows: list[Sequence[core.Cell]] = []
        for of in self.examples:
            place = (of.judge, of.segment, of.person)
            if of.source is not None:
                rows.append((*place, None, None, "source", of.source))
            systems, texts = map(" ".join, (of.preferred, of.other)), of.texts or ("", "")
            sides = zip(of.ranks, of.scores, systems, texts, strict=True)
            rows += [(*place, *side) for side in sides]
        counts = core.Column.many("count", "rank", "score")
        columns = ("judge", core.Column("sentence", "count"), "person", *counts, "systems", "text")
        return core.Table.of(columns, rows, title="Largest disagreements with people")

    def figures(self) -> Mapping[str, core.Figure]:
        """Return the learning curves."""
        panels: dict[str, dict[str, list[tuple[float, float]]]] = {"r": {}, "rho": {}}
        for (name, drawn), (judge, curve) in product(panels.items(), self.curves.items()):
            of: study.LearningCurve = getattr(curve, name)
            for end in ("mean", "low", "high"):
                points = zip(of.sizes.tolist(), getattr(of, end).tolist(), strict=True)
                drawn[f"{judge}, {end}"] = list(points)
        data = {"panels": panels, "x_label": "items", "title": "Correlations by number of items"}
        return {"curves": core.Figure("series_curves", data)} if self.curves else {}


def _counted(
    judges: Mapping[str, meta.JudgeProfile], kind: str
) -> tuple[dict[str, list[int]], list[str]]:
    """Return counts by judge, a column for each word that comes up, and these words."""
    counts: dict[str, Mapping[str, int]] = {n: getattr(judge, kind) for n, judge in judges.items()}
    words = sorted({word for of in counts.values() for word in of})
    return {name: [of.get(word, 0) for word in words] for name, of in counts.items()}, words


@core.checked
def meta_judge(
    judgments: PathLike | Sequence[PathLike] | Sequence[core.Ranking], *,
    benchmark: str | None = None, source: PathLike | None = None, hyps: Sequence[PathLike] = (),
    first_segment: formats.FirstSegment | None = None, systems: Sequence[str] | None = None,
    drop: Sequence[str] = (), least: float = 0.9, examples: int = 5, resamples: int = 1000,
    seed: int = 1, confidence: float = 0.95, figure: PathLike | None = None,
) -> JudgeMeta:  # fmt: skip
    """Say what the answers of judges tell of them: scores, sureness, biases, and items needed.

    Judges who gave scores are looked at; those who gave ranks alone are people, beside whom they
    stand. Raises :class:`DataError` if nobody gave scores, or judgments do not fit the texts;
    :class:`UsageError` if a number is out of range, or texts come from two places.

    Parameters
    ----------
    judgments
        What ``judge`` wrote, and judgments of people: rankings, or files.
    benchmark
        Take people's judgments and the texts of a data set: ``gjg15``, ``seeda-e``, ``seeda-s``.
    source, hyps
        The sentences that were judged, and the systems' outputs: for lengths, edits and examples.
    first_segment
        See :func:`read_judgments`.
    systems, drop
        Systems of the learning curve; default: all.
    least
        The correlation r of systems that is to be reached, -1 to 1.
    examples
        How many of each judge's largest disagreements with people to show.
    resamples, seed, confidence
        Of the intervals, by items (0: none, and no curve); the curve has as many draws.
    figure
        A file, .svg or .png, into which the learning curves are drawn.
    """
    drawn: dict[str, Any] = {"resamples": resamples, "seed": seed, "confidence": confidence}
    if min(resamples, examples, seed) < 0 or not 0 < confidence < 1 or not -1 <= least <= 1:
        fix = "Counts and seed are 0 or more, confidence is between 0 and 1, least from -1 to 1."
        raise core.UsageError(f"a number is out of range: {drawn}, {examples=}, {least=}", fix=fix)
    known = formats.benchmark(benchmark) if benchmark else None
    if (known and (source or hyps)) or bool(source) != bool(hyps):
        fix = "Give --source and --hyps, or --benchmark alone."
        raise core.UsageError("texts are sources and outputs, from one place", fix=fix)
    corpus = known.read_corpus() if known else None
    corpus = formats.read_corpus(source=source, systems=hyps) if hyps else corpus
    if isinstance(judgments, PathLike) or not any(isinstance(j, core.Ranking) for j in judgments):
        paths, outputs = cast("Sequence[PathLike]", judgments), corpus.systems if corpus else None
        judgments = formats.read_rankings(paths, first_segment=first_segment, systems=outputs)
    rankings = judged = cast("Sequence[core.Ranking]", judgments)
    human = known.read_scores() if known else None
    rankings = (*rankings, *known.read_judgments()) if known else rankings
    result = examined(rankings, corpus, human, systems, drop, least, examples, drawn)
    notes, notices = (*notes_of(judged), *result.notes), getattr(judged, "notices", ())
    result = replace(result, notes=notes, notices=notices)
    rendering.save_figures(result, {"curves": figure})
    return result


def examined(
    rankings: Sequence[core.Ranking], corpus: formats.Corpus | None,
    human: Mapping[str, float] | None = None, systems: Sequence[str] | None = None,
    drop: Sequence[str] = (), least: float = 0.9, examples: int = 5,
    drawn: Mapping[str, Any] | None = None,
) -> JudgeMeta:  # fmt: skip
    """Look at the judges who gave scores; see :func:`meta_judge`. ``human``: people's scores."""
    drawn = drawn or {"resamples": 1000, "seed": 1, "confidence": 0.95}
    scored = scoring_judges(rankings)
    run = {name: [r for r in rankings if r.judge == name] for name in scored}
    people = [ranking for ranking in rankings if ranking.judge not in run]
    if not run:
        fix = "Give what 'grammeter judge -o FILE' wrote; for people's ranks: grammeter agree."
        raise core.DataError("nobody gave scores: there are ranks alone", fix=fix)
    human = meta.human_scores(people)[0] if people and human is None else human
    profiles = {name: meta.judge_profile(of, people, corpus, **drawn) for name, of in run.items()}
    curves: dict[str, JudgeCurve | None] = {}
    for name, of in run.items() if drawn["resamples"] else ():
        chosen = _of_systems(of, systems, drop, human)
        curves[name] = _curve(chosen, sum(profiles[name].tokens) / len(of), human, least, drawn)
    pairs = [[*meta.same_items(of, people)] for of in run.values()]
    settings: dict[str, object] = {"unit": "item", **drawn, "judges": len(run)}
    settings |= {"edits": errant.NEUTRAL, "tok": "whitespace"} if corpus else {}
    figures = meta.people_figures(people, corpus, **drawn)
    drawable = {name: curve for name, curve in curves.items() if curve}
    largest = [one for of in pairs for one in meta.disagreements(of, examples)]
    if corpus:
        for number, one in enumerate(largest):
            texts = [corpus.systems[of[0]][one.segment - 1] for of in (one.preferred, one.other)]
            source = corpus.sources[one.segment - 1]
            largest[number] = replace(one, source=source, texts=(texts[0], texts[1]))
    signature = core.Signature.of("meta-judge", settings)
    notes = tuple(_notes(profiles, corpus, bool(people)))
    return JudgeMeta(profiles, figures, drawable, tuple(largest), signature, notes)


def scoring_judges(rankings: Sequence[core.Ranking]) -> list[str]:
    """Return the judges who gave scores."""
    return sorted({ranking.judge for ranking in rankings if meta.has_scores(ranking)})


def _notes(
    profiles: Mapping[str, meta.JudgeProfile], corpus: formats.Corpus | None, people: bool
) -> Iterator[str]:
    if corpus is None:
        yield "lengths, edits and texts need --source and --hyps, or --benchmark"
    if not people:
        yield "curves are against a judge's own scores by all items, so they are too high"
    once = ", ".join(name for name, of in profiles.items() if not of.verdicts["swapped"])
    if once:
        first = "so what stood first may have been better; 'grammeter judge --permute 2' tells"
        yield f"{once}: no item was shown in two orders, {first}"


def _of_systems(
    rankings: Sequence[core.Ranking], systems: Sequence[str] | None, drop: Sequence[str],
    human: Mapping[str, float] | None,
) -> list[core.Ranking]:  # fmt: skip
    """Return the items that compare two of the systems that take part."""
    names = {name for ranking in rankings for name in ranking.systems}
    chosen = names if systems is None else set(named_systems(systems, names))
    chosen &= {name for name, score in human.items() if math.isfinite(score)} if human else chosen
    judged = [ranking.with_systems(chosen - set(drop)) for ranking in rankings if ranking.ranks]
    return [ranking for ranking in judged if len(ranking.groups) > 1]


def _curve(
    judged: Sequence[core.Ranking], tokens: float, human: Mapping[str, float] | None, least: float,
    drawn: Mapping[str, Any],
) -> JudgeCurve | None:  # fmt: skip
    """Correlate the systems' Expected Wins by some items; nothing for a handful of items."""
    if len(judged) < SIZES:
        return None
    draws, seed = drawn["resamples"], drawn["seed"]
    campaigns = study.draw_campaigns(judged, draws=draws, anew=True, seed=seed)
    if human:
        against = np.array([human[name] for name in campaigns.systems])
        campaigns = replace(campaigns, against=against)
    linear = replace(campaigns, coefficient=stats.pearson)
    sizes = np.geomspace(min(10, len(judged)), len(judged), SIZES).tolist()
    r, rho = (study.learning_curve(of, sizes=sizes) for of in (linear, campaigns))
    count = len(campaigns.systems)
    other = f"people's scores of {count} systems" if human else f"all items, {count} systems"
    cost = tuple(tokens * size for size in r.sizes.tolist())
    return JudgeCurve(other, cost, r, rho, least, study.items_needed(linear, target=least))
