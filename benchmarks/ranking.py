"""Rankings of the 109,098 comparisons of 2015, against the package trueskill and plain loops.

Run: ``python benchmarks/ranking.py [JUDGMENTS.xml]``, with ``pip install trueskill==0.4.5``. The
rivals run on a slice, and their time is multiplied: a game of the package costs the same
whichever it is, and so does a comparison drawn by the loop.
"""

from __future__ import annotations

import math
import random
import sys
from pathlib import Path

import numpy as np
from rows import Goal, Row, show
from stopwatch import SHARED, cpu

from grammeter.formats import read_judgments
from grammeter.ranking import UNITS, ExpectedWins, Resampling, TrueSkill, extract_pairs
from grammeter.ranking.methods import BradleyTerry

RUNS = 1000
GAMES_OF_THE_PACKAGE = 3000


def judgments_by_pair(pairs):
    """Ranks of both systems, the better 1 and the worse 2."""
    ranks = {1: (1, 2), -1: (2, 1), 0: (1, 1)}
    found = {}
    for first, second, outcome in zip(
        pairs.first.tolist(), pairs.second.tolist(), pairs.outcome.tolist(), strict=True
    ):
        found.setdefault((first, second), []).append(ranks[outcome])
    return found


def play_with_the_package(pairs, beta, games):
    """What the reference does in each game, with the package's own update."""
    import trueskill

    package = trueskill.TrueSkill(mu=0.0, sigma=0.5, beta=beta, tau=0.0, draw_probability=0.25)
    judged = judgments_by_pair(pairs)
    ratings = [package.create_rating() for _ in pairs.systems]
    draw = random.Random(1)
    for _ in range(games):
        first = max(range(len(ratings)), key=lambda s: (ratings[s].sigma, s))
        others = [s for s in range(len(ratings)) if s != first]
        weights = [math.exp(-abs(ratings[first].mu - ratings[s].mu)) for s in others]
        second = draw.choices(others, weights)[0]
        low, high = sorted((first, second))
        ranks = draw.choice(judged[low, high])
        ((one,), (other,)) = package.rate([(ratings[low],), (ratings[high],)], ranks=ranks)
        ratings[low], ratings[high] = one, other


def bootstrap_once(comparisons, systems):
    """One resample of Expected Wins, comparison by comparison."""
    wins = {}
    for first, second, outcome in random.choices(comparisons, k=len(comparisons)):
        if outcome:
            key = (first, second) if outcome > 0 else (second, first)
            wins[key] = wins.get(key, 0) + 1
    scores = []
    for one in range(systems):
        total = 0.0
        for other in range(systems):
            won, lost = wins.get((one, other), 0), wins.get((other, one), 0)
            total += won / (won + lost) if won + lost else 0
        scores.append(total / (systems - 1))
    return scores


def rows(shared):
    return measured(shared / "data" / "human_gjg15" / "judgments.xml")


def measured(path):
    seconds, rankings = cpu(lambda: read_judgments(path))
    yield Row("reading the judgments of 2015", seconds)
    seconds, pairs = cpu(lambda: extract_pairs(rankings))
    yield Row(f"extracting {len(pairs):,} comparisons", seconds)
    yield from expected_wins(pairs)
    yield from trueskill(pairs)
    yield from growth(pairs)


def expected_wins(pairs):
    comparisons = list(
        zip(pairs.first.tolist(), pairs.second.tolist(), pairs.outcome.tolist(), strict=True)
    )
    loop = cpu(lambda: bootstrap_once(comparisons, len(pairs.systems)))[0] * RUNS
    for unit in UNITS:
        resampling = Resampling(unit=unit, runs=RUNS)
        seconds, _ = cpu(lambda r=resampling: ExpectedWins().runs(pairs, r))
        yield Row(
            f"Expected Wins, {RUNS:,} resamples of {unit}s",
            seconds,
            peer="plain loop (1 resample, multiplied)" if unit == "pair" else "",
            theirs=loop if unit == "pair" else math.nan,
            goals=(Goal(0.5),) if unit == "pair" else (),
        )
    seconds, _ = cpu(lambda: BradleyTerry().runs(pairs, Resampling(unit="sentence", runs=RUNS)))
    yield Row(f"Bradley-Terry, {RUNS:,} resamples of sentences", seconds)


def trueskill(pairs):
    method = TrueSkill()
    model = method.model(len(pairs))
    seconds, _ = cpu(lambda: method.score(*pairs.counts()))
    yield Row("TrueSkill, mean field", seconds, goals=(Goal(0.2),))
    games = GAMES_OF_THE_PACKAGE
    part, _ = cpu(lambda: play_with_the_package(pairs, model.beta, games))
    for runs in (100, RUNS):
        resampling = Resampling(unit=None, runs=runs)
        seconds, _ = cpu(lambda r=resampling: method.runs(pairs, r))
        yield Row(
            f"TrueSkill, {runs:,} runs of {model.games:,} games",
            seconds,
            peer=f"package trueskill 0.4.5 ({games:,} games, multiplied)",
            theirs=part / games * model.games * runs,
            goals=(*([Goal(150)] if runs == RUNS else []), Goal(300, "ratio")),
        )


def growth(pairs):
    """Cost grows with the games, and for resampled comparisons not with their number."""
    many = pairs.select(np.tile(np.arange(len(pairs)), 10))
    some, all_of_them = (
        cpu(lambda p=p: ExpectedWins().runs(p, Resampling(unit="pair", runs=RUNS)), best_of=3)[0]
        for p in (pairs, many)
    )
    yield Row(f"Expected Wins, {RUNS:,} resamples of {len(many):,} pairs", all_of_them,
              peer=f"of {len(pairs):,} pairs", theirs=some)  # fmt: skip
    few, twice = (
        cpu(lambda g=g: TrueSkill(games=g).runs(pairs, Resampling(unit=None, runs=RUNS)))[0]
        for g in (2000, 4000)
    )
    yield Row(f"TrueSkill, {RUNS:,} runs of 4,000 games", twice, peer="of 2,000 games, twice",
              theirs=2 * few)  # fmt: skip


if __name__ == "__main__":
    given = [Path(path) for path in sys.argv[1:]]
    sys.exit(show(measured(given[0]) if given else rows(SHARED)))
