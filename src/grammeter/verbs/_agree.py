"""The verb ``agree``: how far judges agree, with each other and with themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, overload

from grammeter.core import Ranking, check_home, checked, renamed
from grammeter.ranking import (
    Agreement,
    JudgeCorrelations,
    KappaKind,
    judge_correlations,
    measure_agreement,
)


@overload
def agree(
    rankings: Sequence[Ranking],
    *,
    correlate: Literal[False] = False,
    kappa: KappaKind = "script",
    judge: Sequence[str] | None = None,
    without_judge: Sequence[str] | None = None,
    resamples: int = 1000,
    seed: int = 1,
    confidence: float = 0.95,
    outputs: Mapping[str, Sequence[str]] | None = None,
    numbering: str | None = None,
) -> Agreement: ...
@overload
def agree(
    rankings: Sequence[Ranking],
    *,
    correlate: Literal[True],
    judge: Sequence[str] | None = None,
    without_judge: Sequence[str] | None = None,
    outputs: Mapping[str, Sequence[str]] | None = None,
    numbering: str | None = None,
) -> JudgeCorrelations: ...
@renamed(bootstrap="resamples", judges="judge", without_judges="without_judge")
@checked
def agree(
    rankings: Sequence[Ranking],
    *,
    correlate: bool = False,
    kappa: KappaKind = "script",
    judge: Sequence[str] | None = None,
    without_judge: Sequence[str] | None = None,
    resamples: int = 1000,
    seed: int = 1,
    confidence: float = 0.95,
    outputs: Mapping[str, Sequence[str]] | None = None,
    numbering: str | None = None,
) -> Agreement | JudgeCorrelations:
    """Measure the agreement of judges on pairs of outputs.

    Two judgments are compared where the same two outputs of a sentence, of the same document,
    were ranked: one is better, they tie, or the other is better. Equal outputs are one; an output
    is known by the systems that wrote it.

    Parameters
    ----------
    rankings
        The judgments; skipped items count as items. Those of several files are pooled.
    correlate
        Instead: correlate each judge's ranking of the systems with the others'.
    kappa
        The definition that comes first; the other stands beside it.
    judge, without_judge
        Whose judgments count; default everybody's.
    resamples, seed, confidence
        For percentile intervals: number of resamples of the sentences (0: no interval), seed,
        and the share covered.
    outputs
        The systems' texts, one a sentence: equal ones that stand apart are found by them, too.
    numbering
        How the file counted sentences, for the signature; what was read from files knows it.

    Raises
    ------
    DataError
        If there is no ranking, a judge has the name ``total``, or ``correlate`` finds fewer than
        two judges.
    UnknownNameError
        If there is no such kappa or judge.
    UsageError
        If a number is out of range, or an option would change nothing.
    """
    if not correlate:
        return measure_agreement(
            rankings,
            kappa=kappa,
            judges=judge,
            without_judges=without_judge,
            resamples=resamples,
            seed=seed,
            confidence=confidence,
            outputs=outputs,
            numbering=numbering,
        )
    drawn = {"resamples": resamples != 1000, "seed": seed != 1, "confidence": confidence != 0.95}
    check_home(False, "results other than --correlate", kappa=kappa != "script", **drawn)
    return judge_correlations(
        rankings, judges=judge, without_judges=without_judge, numbering=numbering
    )
