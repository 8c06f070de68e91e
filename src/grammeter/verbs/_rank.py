"""What judgments say: ``rank`` about the systems, ``agree`` about the judges."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, Literal, overload

from grammeter import core, meta, ranking, study
from grammeter.core import EditItem, Ranked, Ranking, UsageError, check_home
from grammeter.formats import EditJudgments, Judgments, Ratings, read_corpus


@overload
def rank(  # pyright: ignore[reportOverlappingOverload] - else the last
    rankings: Sequence[Ranking], *, head_to_head: Literal[True], **options: Any
) -> ranking.HeadToHead: ...
@overload
def rank(rankings: Sequence[Ranking], *, validate: int, **options: Any) -> ranking.Prediction: ...
@overload
def rank(
    rankings: Sequence[Ranking], *, learning_curve: Literal[True], **options: Any
) -> study.Outlook: ...
@overload
def rank(
    rankings: Sequence[Ranking], *, draw_radius: Literal[True], **options: Any
) -> ranking.DrawRadius: ...
@overload
def rank(rankings: Sequence[Ranking] | Sequence[EditItem] | Ratings, **options: Any) -> Ranked: ...
@core.checked
def rank(
    rankings: Sequence[Ranking] | Sequence[EditItem] | Ratings, *, head_to_head: bool = False,
    validate: int | None = None, learning_curve: bool = False, draw_radius: bool = False,
    by: str | ranking.Method | None = None, unit: ranking.Unit | None = None,
    resamples: int | None = None, seed: int = 1, confidence: float = 0.95,
    divisor: ranking.Divisor | None = None, prior: float | None = None, repeats: int = 1,
    training: ranking.Training | None = None, processes: int = 1,
    judge: Sequence[str] | None = None, without_judge: Sequence[str] | None = None,
    systems: Sequence[str] | None = None, drop: Sequence[str] = (),
    extraction: ranking.Extraction = "expanded", types: core.Tier | None = None,
    source: str | Path | None = None, pipeline: str | None = None, criterion: str | None = None,
    average: ranking.Average | None = None,
) -> (
    Ranked | ranking.HeadToHead | ranking.Prediction | study.Outlook | ranking.DrawRadius
):  # fmt: skip
    """Rank systems by human judgments, best first, with the scores of all the data.

    A system whose score does not rest on all opponents has a ``reason``. Names and the order of
    judgments decide nothing. Raises :class:`UsageError` if a name is unknown, a number out of
    range, or an option would change nothing; :class:`DataError` if nothing is decided, or the
    method finds no scores.

    Parameters
    ----------
    rankings
        The judgments, such as :func:`grammeter.read_judgments` returns.
    head_to_head
        Instead of a ranking: compare each system with each other, with an exact sign test.
    validate
        Instead of a ranking: measure by cross-validation in so many folds how well rankings
        predict judgments. The paper has 100 folds.
    learning_curve
        Instead of a ranking: how the ranking by Expected Wins settles with more items, and how
        many more separate neighbours in it.
    draw_radius
        Instead of a ranking: what clusters predict if neighbours whose scores differ by no more
        than a radius share one, for every radius.
    by
        ``expected-wins``, ``trueskill``, ``bradley-terry``, or one such as ``TrueSkill(tau=0.1)``;
        of judgments of edits ``accept-rate``, the share of a system's edits that are valid; of
        ratings ``mean`` or ``z-score`` within each judge's. Default ``expected-wins``, of ratings
        ``mean``; other methods take each judge's ratings of a sentence as a ranking.
    unit
        The unit of resampling for the rank ranges, and of folds: ``document``, ``sentence``,
        ``ranking`` or ``pair``. Default ``sentence``; TrueSkill resamples nothing, its runs have
        random games.
    resamples
        Number of resamples, or runs of TrueSkill; default 1000, and 100 for each fold.
    seed
        Where the random numbers start.
    confidence
        Share of the resamples whose ranks a range covers.
    divisor
        Of Expected Wins alone; see :data:`~grammeter.ranking.Divisor`.
    prior
        Of Bradley-Terry alone: wins added in both directions for each pair.
    repeats
        Of ``validate`` alone: number of cross-validations, with seeds from ``seed`` upwards; the
        result has the means and the standard deviations.
    training
        Of ``validate`` alone; see :data:`~grammeter.ranking.Training`; default ``held-out``.
    processes
        For TrueSkill; the result does not depend on it.
    judge, without_judge
        Whose judgments count; default everybody's.
    systems, drop
        Which systems are ranked: names, or sets of SEEDA; names to leave out. Default all. The
        outputs of the others leave their items.
    extraction
        See :data:`~grammeter.ranking.Extraction`.
    types, source, pipeline
        Of ``accept-rate`` alone: also the rates by type of edit; the file of the source,
        against which edits are checked; and the spaCy pipeline for ERRANT's types.
    criterion
        Of ratings alone: by what; ``mean`` averages all criteria, each scale mapped to 0..1.
        Default: the only one.
    average
        Of ``mean`` and ``z-score`` alone: over ``segments``, each with the mean over its judges, or
        over all ``ratings``; default ``segments``.
    """
    if head_to_head + learning_curve + draw_radius + (validate is not None) > 1:
        raise UsageError("several questions at once", fix="Ask for one result after the other.")
    chance, ranked = not head_to_head and not draw_radius, not head_to_head and not learning_curve
    both = "a ranking or --validate"
    is_rated, alone = isinstance(rankings, Ratings), ranked and chance and validate is None
    check_home(ranked, f"{both}, or --draw-radius", by=by not in (None, "expected-wins"))
    by = by or ("mean" if is_rated and alone else "expected-wins")
    check_home(is_rated, "ratings", criterion=criterion)
    check_home(by in ranking.RATED, "--by mean and z-score, of ratings", average=average)
    check_home(ranked and chance, both, unit=unit, confidence=confidence != 0.95)
    check_home(chance, "what is resampled", resamples=resamples is not None, seed=seed != 1)
    check_home(ranked and by == "expected-wins", "--by expected-wins", divisor=divisor)
    check_home(ranked and by == "bradley-terry", "--by bradley-terry", prior=prior is not None)
    check_home(validate is not None, "--validate", training=training, repeats=repeats != 1)
    check_home(by == ranking.ACCEPT_RATE, "--by accept-rate", types=types, source=source)
    check_home(types is not None, "--types main and full", pipeline=pipeline)
    counted: Any = {"judges": judge, "without_judges": without_judge}
    taken: Any = {**counted, "systems": systems, "drop": drop}
    runs = resamples if resamples is not None else 1000 if validate is None else 100
    if by in (ranking.ACCEPT_RATE, *ranking.RATED):
        check_home(alone, "methods that rank outputs", by=True)
        other = {"unit": unit not in (None, "sentence"), "extraction": extraction != "expanded"}
        check_home(False, "methods that rank outputs", **other)
        drawn = ranking.Resampling(runs=runs, seed=seed)
        taken |= {"resampling": drawn, "confidence": confidence}
        if by in ranking.RATED:
            rated, chosen = _rated(rankings, by, criterion)
            taken |= {"by": str(by), "average": average or "segments"}
            return ranking.rank_by_means(rated, chosen, rated.scales, **taken)
        texts = None if source is None else read_corpus(source=source).sources
        taken |= {"source": texts, "types": types, "pipeline": pipeline}
        return ranking.accept_rates(_edits(rankings, texts), **taken)
    judgments = rankings.rankings(criterion) if isinstance(rankings, Ratings) else _ranked(rankings)
    check_home(not learning_curve, "all but curves", extraction=extraction != "expanded")
    method = ranking.method_of(by, divisor=divisor, prior=prior)
    selection = ranking.select(judgments, extraction=extraction, **taken)
    if head_to_head or draw_radius:
        radius = ranking.predict_by_radius(selection, method) if draw_radius else None
        return radius or ranking.duels(selection)
    if learning_curve:
        return study.outlook(selection, resamples=runs, seed=seed)
    unit = unit or ("sentence" if validate is not None else method.unit)
    resampling = ranking.Resampling(unit=unit, runs=runs, seed=seed, processes=processes)
    sure: Any = {"resampling": resampling, "confidence": confidence}
    if validate is None:
        result = ranking.rank_systems(selection, method, **sure)
        if isinstance(rankings, Ratings):
            chosen = rankings.with_criterion(criterion)
            result = ranking.with_criteria(result, rankings, chosen, rankings.scales, **counted)
        return result
    dealt: Any = {"folds": validate, "repeats": repeats, "training": training or "held-out"}
    return ranking.cross_validate(selection, method, **dealt, **sure)


@overload
def agree(  # pyright: ignore[reportOverlappingOverload] - else the last
    rankings: Sequence[Ranking], *, correlate: Literal[True], **options: Any
) -> ranking.JudgeCorrelations: ...
@overload
def agree(rankings: Sequence[Ranking], **options: Any) -> ranking.Agreement: ...
@overload
def agree(rankings: Sequence[EditItem], **options: Any) -> ranking.EditAgreement: ...
@overload
def agree(rankings: Ratings, **options: Any) -> ranking.RatingAgreement: ...
@core.checked
def agree(
    rankings: Sequence[Ranking] | Sequence[EditItem] | Ratings, *, correlate: bool = False,
    kappa: ranking.KappaKind = "script", replies: bool = False, judge: Sequence[str] | None = None,
    without_judge: Sequence[str] | None = None, resamples: int = 1000, seed: int = 1,
    confidence: float = 0.95, outputs: Mapping[str, Sequence[str]] | None = None,
    criterion: str | None = None,
) -> (
    ranking.Agreement | ranking.JudgeCorrelations | ranking.EditAgreement | ranking.RatingAgreement
):  # fmt: skip
    """Measure the agreement of judges on pairs of outputs, on single edits, or on ratings.

    Two judgments are compared where the same two outputs of a sentence, of the same document,
    were ranked: one is better, they tie, or the other is better. Equal outputs are one; an output
    is known by the systems that wrote it. Raises :class:`DataError` if there is no ranking, a judge
    has the name ``total``, or ``correlate`` finds fewer than two judges; :class:`UnknownNameError`
    if there is no such kappa or judge; :class:`UsageError` if a number is out of range, or an
    option would change nothing.

    Parameters
    ----------
    rankings
        The judgments; skipped items count as items. Those of several files are pooled.
    correlate
        Instead: correlate each judge's ranking of the systems with the others'.
    kappa
        The definition that comes first; the other stands beside it.
    replies
        Take each usable reply of a language model as a judgment: its agreement with itself.
    judge, without_judge
        As for :func:`rank`.
    resamples, seed, confidence
        For percentile intervals: number of resamples of the sentences (0: no interval), seed,
        and the share covered.
    outputs
        The systems' texts, one a sentence: equal ones that stand apart are found by them, too.
    criterion
        Of ratings alone: this criterion; ``mean`` averages all. Default: all, one by one; with
        ``correlate`` the only one.
    """
    check_home(isinstance(rankings, Ratings), "ratings", criterion=criterion)
    drawn: Any = {"resamples": resamples, "seed": seed, "confidence": confidence}
    usual = {"kappa": "script", "resamples": 1000, "seed": 1, "confidence": 0.95}
    changed = {name: of != usual[name] for name, of in ({"kappa": kappa} | drawn).items()}
    is_edits = any(isinstance(item, EditItem) for item in rankings)
    rated = isinstance(rankings, Ratings) and not correlate
    elsewhere = {"correlate": correlate, "replies": replies, **changed}
    check_home(not is_edits and not rated, "judgments that rank outputs", **elsewhere)
    of: Any = {"judges": judge, "without_judges": without_judge}
    if isinstance(rankings, Ratings):
        if rated:
            chosen = rankings if criterion is None else rankings.with_criterion(criterion)
            return ranking.rating_agreement(chosen, **of)
        rankings = rankings.rankings(criterion)
    if is_edits:
        return ranking.edit_agreement(_edits(rankings), **of)
    rankings = _by_reply(_ranked(rankings)) if replies else _ranked(rankings)
    if correlate:
        check_home(False, "results other than --correlate", **changed)
        return ranking.judge_correlations(rankings, **of)
    of |= {"kappa": kappa, "outputs": outputs, **drawn}
    return ranking.measure_agreement(rankings, **of)


def _edits(items: Sequence[Any], source: Sequence[str] | None = None) -> EditJudgments:
    """Return judgments of edits, checked against the source; refuse rankings."""
    if not items or not all(isinstance(item, EditItem) for item in items):
        fix = "Give edits called valid or invalid, as 'campaign export --details' writes them."
        raise UsageError("--by accept-rate takes judgments of edits", fix=fix)
    judged = items if isinstance(items, EditJudgments) else EditJudgments(tuple(items))
    return judged if source is None else judged.checked(source)


def _rated(items: Any, by: Any, criterion: str | None) -> tuple[Ratings, Ratings]:
    """Return the ratings for all criteria, and for the one that counts; refuse rankings."""
    if not isinstance(items, Ratings):
        fix = "Rankings have the methods expected-wins, trueskill and bradley-terry."
        raise UsageError(f"--by {by} takes ratings, numbers that judges gave to outputs", fix=fix)
    return items, items.with_criterion(criterion)


def _ranked(items: Sequence[Any]) -> Sequence[Ranking]:
    if any(isinstance(item, EditItem) for item in items):
        _edits(items).refuse()
    return items


def _by_reply(rankings: Sequence[Ranking]) -> Judgments:
    """Put judgments in the place of an item, one for each usable reply to it."""
    read = rankings if isinstance(rankings, Judgments) else Judgments(tuple(rankings))
    said = [meta.judgments_of(item) for item in rankings]
    origins = [[origin] * len(of) for origin, of in zip(read.origins, said, strict=False)]
    note = "each usable reply of a language model counts as a judgment of its own"
    joined: Any = {"rankings": tuple(chain(*said)), "origins": tuple(chain(*origins))}
    return replace(read, **joined, notes=(*read.notes, note))
