"""Rankings of the 109,098 comparisons of 2015, against the package trueskill and plain loops.

Run: ``python benchmarks/ranking.py [JUDGMENTS.xml]``, with ``pip install trueskill==0.4.5``. The
rivals run on a slice, and their time is multiplied: a game of the package costs the same
whichever it is, and so does a comparison drawn by the loop.
"""

from __future__ import annotations

import math
import os
import random
import sys
import time
from pathlib import Path

import numpy as np

from grammeter.corpus.judgments import read_judgments
from grammeter.ranking.bootstrap import UNITS, Resampling
from grammeter.ranking.bradley_terry import BradleyTerry
from grammeter.ranking.expected_wins import ExpectedWins
from grammeter.ranking.pairs import extract_pairs
from grammeter.ranking.trueskill import TrueSkill

SHARED = Path(os.environ.get("GRAMMETER_SHARED", Path(__file__).parents[2] / "shared"))
RUNS = 1000
GAMES_OF_THE_PACKAGE = 3000
LIMITS = {"expected wins": 0.5, "mean field": 0.2, "trueskill": 150.0, "ratio": 300.0}


def cpu(work):
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def show(name, seconds, note=""):
    print(f"{name:<46} {seconds:9.3f} s CPU  {note}")


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


def bench_expected_wins(pairs):
    comparisons = list(
        zip(pairs.first.tolist(), pairs.second.tolist(), pairs.outcome.tolist(), strict=True)
    )
    loop = cpu(lambda: bootstrap_once(comparisons, len(pairs.systems)))[0] * RUNS
    show(f"expected wins, {RUNS} resamples, plain loop", loop, "(one resample, times 1,000)")
    for unit in UNITS:
        resampling = Resampling(unit=unit, runs=RUNS)
        seconds = cpu(lambda r=resampling: ExpectedWins().runs(pairs, r))[0]
        show(f"expected wins, {RUNS} resamples of {unit}s", seconds, f"{loop / seconds:,.0f} x")
        if unit == "pair":
            check("expected wins", seconds)
    seconds = cpu(lambda: BradleyTerry().runs(pairs, Resampling(unit="sentence", runs=RUNS)))[0]
    show(f"bradley-terry, {RUNS} resamples of sentences", seconds)


def bench_trueskill(pairs):
    method = TrueSkill()
    model = method.model(len(pairs))
    seconds = cpu(lambda: method.score(*pairs.counts()))[0]
    show("trueskill, mean field", seconds)
    check("mean field", seconds)
    slice_ = cpu(lambda: play_with_the_package(pairs, model.beta, GAMES_OF_THE_PACKAGE))[0]
    package = slice_ / GAMES_OF_THE_PACKAGE * model.games
    show("trueskill, a run, package", package, f"({GAMES_OF_THE_PACKAGE} games, extrapolated)")
    for runs in (100, RUNS):
        resampling = Resampling(unit=None, runs=runs)
        seconds = cpu(lambda r=resampling: method.runs(pairs, r))[0]
        ratio = package * runs / seconds
        show(f"trueskill, {runs} runs of {model.games:,} games", seconds, f"{ratio:,.0f} x a run")
    check("trueskill", seconds)
    if ratio < LIMITS["ratio"]:
        raise SystemExit(f"only {ratio:.0f} times faster than the package")


def bench_growth(pairs):
    """Cost grows with the games, and for resampled comparisons not with their number."""
    many = pairs.select(np.tile(np.arange(len(pairs)), 10))
    for some in (pairs, many):
        resampling = Resampling(unit="pair", runs=RUNS)
        seconds = cpu(lambda p=some, r=resampling: ExpectedWins().runs(p, r))[0]
        show(f"expected wins, {RUNS} resamples of {len(some):,} pairs", seconds)
    for games in (2000, 4000, 8000):
        method, resampling = TrueSkill(games=games), Resampling(unit=None, runs=RUNS)
        seconds = cpu(lambda m=method, r=resampling: m.runs(pairs, r))[0]
        show(f"trueskill, {RUNS} runs of {games:,} games", seconds)


def check(name, seconds):
    if seconds > LIMITS[name]:
        raise SystemExit(f"{name}: {seconds:.2f} s, limit {LIMITS[name]} s")


def main():
    judgments = SHARED / "data" / "human_gjg15" / "judgments.xml"
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else judgments
    seconds, rankings = cpu(lambda: read_judgments(path))
    show("reading", seconds)
    seconds, pairs = cpu(lambda: extract_pairs(rankings))
    show(f"extracting {len(pairs):,} comparisons", seconds)
    bench_expected_wins(pairs)
    bench_trueskill(pairs)
    bench_growth(pairs)


if __name__ == "__main__":
    main()
