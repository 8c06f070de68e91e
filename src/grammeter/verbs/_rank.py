"""The verb ``rank``: judgments to a ranking, or to what else they say about the systems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypedDict, Unpack, overload

from grammeter.core import Ranked, Ranking, UsageError, check_home, checked, renamed
from grammeter.ranking import (
    Divisor,
    Extraction,
    HeadToHead,
    Method,
    Prediction,
    Resampling,
    Selection,
    Training,
    Unit,
    Zeros,
    cross_validate,
    duels,
    method_of,
    rank_systems,
    select,
)

if TYPE_CHECKING:
    from grammeter.study import Outlook


class RankOptions(TypedDict, total=False):
    """The options of every question to :func:`rank`."""

    by: str | Method
    unit: Unit | None
    resamples: int | None
    seed: int
    confidence: float
    divisor: Divisor | None
    prior: float | None
    processes: int
    judge: Sequence[str] | None
    without_judge: Sequence[str] | None
    systems: Sequence[str] | None
    drop: Sequence[str]
    extraction: Extraction
    numbering: str | None


@overload
def rank(rankings: Sequence[Ranking], **options: Unpack[RankOptions]) -> Ranked: ...
@overload
def rank(
    rankings: Sequence[Ranking],
    *,
    head_to_head: Literal[True],
    zeros: Zeros | None = None,
    **options: Unpack[RankOptions],
) -> HeadToHead: ...
@overload
def rank(
    rankings: Sequence[Ranking],
    *,
    validate: int,
    training: Training | None = None,
    **options: Unpack[RankOptions],
) -> Prediction: ...
@overload
def rank(
    rankings: Sequence[Ranking],
    *,
    learning_curve: Literal[True],
    **options: Unpack[RankOptions],
) -> Outlook: ...
@renamed(bootstrap="resamples", judges="judge", without_judges="without_judge")
@checked
def rank(
    rankings: Sequence[Ranking],
    *,
    head_to_head: bool = False,
    validate: int | None = None,
    learning_curve: bool = False,
    by: str | Method = "expected-wins",
    unit: Unit | None = None,
    resamples: int | None = None,
    seed: int = 1,
    confidence: float = 0.95,
    divisor: Divisor | None = None,
    prior: float | None = None,
    training: Training | None = None,
    zeros: Zeros | None = None,
    processes: int = 1,
    judge: Sequence[str] | None = None,
    without_judge: Sequence[str] | None = None,
    systems: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    extraction: Extraction = "expanded",
    numbering: str | None = None,
) -> Ranked | HeadToHead | Prediction | Outlook:
    """Rank systems by human judgments.

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
    by
        ``expected-wins``, ``trueskill``, ``bradley-terry``, or a method with settings of its
        own such as ``TrueSkill(tau=0.1)``.
    unit
        The unit of resampling for the rank ranges, and of folds: ``sentence``, ``ranking`` or
        ``pair``. Default ``sentence``; for TrueSkill nothing is resampled, its runs differ by
        their random games.
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
    training
        Of ``validate`` alone; see :data:`~grammeter.ranking.Training`; default ``held-out``.
    zeros
        Of ``head_to_head`` alone: where a system never won against another that did, its count
        is taken as 1 (``one``, as in the original and the default) or stays 0 (``keep``).
    processes
        For TrueSkill; the result does not depend on it.
    judge, without_judge
        Whose judgments count; default everybody's.
    systems, drop
        Which systems are ranked: names, or sets of SEEDA; names to leave out. Default all. The
        outputs of the others leave their items.
    extraction
        See :data:`~grammeter.ranking.Extraction`.
    numbering
        How the file counted sentences, for the signature; what was read from files knows it.

    Returns
    -------
    Ranked
        Best first; the score is that of all the data. A system whose score does not rest on
        all opponents has a ``reason``, also where it has a score. Names and the order of
        judgments decide nothing; systems with the same judgments share scores, ranges and
        clusters.
    HeadToHead, Prediction or Outlook
        For one of the other questions.

    Raises
    ------
    UsageError
        If a name is unknown, a number out of range, or an option would change nothing.
    DataError
        If nothing is decided, or the method finds no scores.
    """
    if head_to_head + learning_curve + (validate is not None) > 1:
        raise UsageError("several questions at once", fix="Ask for one result after the other.")
    chance, ranked = not head_to_head, not head_to_head and not learning_curve
    both = "a ranking or --validate"
    check_home(ranked, both, by=by != "expected-wins", unit=unit, confidence=confidence != 0.95)
    check_home(chance, "what is resampled", resamples=resamples is not None, seed=seed != 1)
    check_home(ranked and by == "expected-wins", "--by expected-wins", divisor=divisor)
    check_home(ranked and by == "bradley-terry", "--by bradley-terry", prior=prior is not None)
    check_home(validate is not None, "--validate", training=training)
    check_home(head_to_head, "--head-to-head", zeros=zeros)
    elsewhere = "results other than a curve"
    check_home(not learning_curve, elsewhere, extraction=extraction != "expanded")
    method = method_of(by, divisor=divisor, prior=prior)
    selection = select(
        rankings,
        judges=judge,
        without_judges=without_judge,
        systems=systems,
        drop=drop,
        extraction=extraction,
        numbering=numbering,
    )
    if head_to_head:
        return duels(selection, zeros=zeros or "one")
    if learning_curve:
        return _outlook(selection, 1000 if resamples is None else resamples, seed)
    usual = 1000 if validate is None else 100
    unit = unit or method.unit if validate is None else unit or "sentence"
    resampling = Resampling(
        unit=unit, runs=usual if resamples is None else resamples, seed=seed, processes=processes
    )
    if validate is None:
        return rank_systems(selection, method, resampling=resampling, confidence=confidence)
    return cross_validate(
        selection,
        method,
        folds=validate,
        training=training or "held-out",
        resampling=resampling,
        confidence=confidence,
    )


def _outlook(selection: Selection, resamples: int, seed: int) -> Outlook:
    from grammeter.study import outlook

    return outlook(selection, resamples=resamples, seed=seed)
