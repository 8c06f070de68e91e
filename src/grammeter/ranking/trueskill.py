r"""TrueSkill: ratings by random games between systems, each decided by a judgment.

The procedure of Sakaguchi et al. 2014 (section 3.3) in the settings of Grundkiewicz et al. 2015
(section 5.2): one run plays as many games as there are comparisons. TrueSkill is a trademark of
Microsoft; this is an independent implementation of the published equations.

The score is what the means tend to when many random games are averaged. With the noise of one game
large beside the ratings, each game moves a mean a little, and the average over runs follows a
differential equation in the number of games. A game's first system is the one with the largest
variance. As variances only ever fall, that rule keeps them equal; so the share q of games in which
a system comes first is the one that makes all expected losses of variance equal. Its opponent is
drawn with probability P proportional to exp(-difference of the means), and the outcome from the
judgments of the pair. With G = q P + (q P)^T the rate of games of each pair, the means and
variances change by G times their expected updates. Heun's method solves this from the prior on.

Where a system is drawn as an opponent so often that it loses more than the others without ever
coming first (the middle of a star of comparisons), its share is 0 and the others' are equal.

This limit stands in no paper; tests hold it against the simulation. From the published scores of
2015 it differs by at most .0010.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from grammeter.core import BoolArray, FloatArray, IntArray, track
from grammeter.ranking.game import GameModel, Play, compiled, corrections
from grammeter.ranking.pairs import Pairs, Resampling, resampled_counts

STEPS = 100
"""Errors fall with the square: 3e-8 on the judgments of 2015 with these, 1e-6 on those of SEEDA."""

_TOLERANCE = 1e-9
_PORTIONS = 200
_TOGETHER = 1000
"""Runs side by side in one array: enough to hide the cost of a call, few enough for the cache."""

_AHEAD = 256  # games whose random numbers are drawn at once
_BLOCK = 1 << 16  # the same where runs are played one after the other
_Games = tuple[IntArray, IntArray, IntArray]  # places of two systems, outcome
_WORTH_COMPILING = 10_000  # from this many games on, compiling (a second) saves time


def play(pairs: Pairs, model: GameModel, resampling: Resampling) -> FloatArray:
    """Play independent runs of random games: means ``(runs, n)``, NaN for one never compared.

    In each game the system with the largest variance comes first (of equals the one whose name
    stands later in the alphabet). Its opponent is drawn among the systems it was compared with,
    with probability proportional to exp(-difference of the means), and one judgment of the
    pair, drawn with replacement, decides. With a ``unit`` each run draws its judgments from a
    bootstrap sample of its own. Run ``k`` depends on the seed and ``k`` alone.
    """
    seed, shared = resampling.seed, resampling.unit is None
    if shared:
        tables = np.stack(pairs.counts())[:, None]
    else:
        drawn = [np.stack(some) for some in resampled_counts(pairs, resampling)]
        tables = np.concatenate(drawn, axis=1)
    size = min(_TOGETHER, math.ceil(resampling.runs / resampling.processes))
    jobs = [
        _Job(tables if shared else tables[:, part], model, seed, range(resampling.runs)[part])
        for part in (slice(start, start + size) for start in range(0, resampling.runs, size))
    ]
    if resampling.processes == 1 or len(jobs) == 1:
        return np.concatenate([_play(job) for job in jobs])
    from grammeter.core import workers

    with workers(min(resampling.processes, len(jobs))) as pool:
        played = track(pool.map(_play, jobs), "TrueSkill", total=len(jobs))
        return np.concatenate(list(played))


@dataclass(frozen=True, eq=False)
class _Job:
    """Runs that are played side by side.

    ``judgments`` has shape ``(2, tables, n, n)``: wins and ties, a table for each run or one for
    all; ``numbers`` are those of the runs among all runs.
    """

    judgments: IntArray
    model: GameModel
    seed: int
    numbers: range


def _play(job: _Job) -> FloatArray:
    play_games = compiled() if job.model.games >= _WORTH_COMPILING else None
    return _play_together(job) if play_games is None else _play_by_run(job, play_games)


def _play_by_run(job: _Job, play_games: Play) -> FloatArray:
    """Play one run after the other: for a function that is compiled."""
    model = job.model
    wins, ties = (table.astype(np.float64) for table in job.judgments[..., ::-1, ::-1])
    judged = wins + wins.swapaxes(1, 2) + ties
    shares = [_share(counts, judged).reshape(judged.shape) for counts in (wins, judged - ties)]
    n, means = judged.shape[-1], np.empty((len(job.numbers), judged.shape[-1]))
    for row, number in enumerate(track(job.numbers, "TrueSkill", total=len(job.numbers))):
        table = min(row, len(judged) - 1)  # one for each run, or one for all
        there = judged[table].any(axis=1)
        mean, variance = np.zeros(n), np.where(there, model.sigma**2, 0.0)
        source, left = _source(job.seed, number), model.games
        while left:
            some = source.random((min(left, _BLOCK), 2))
            left -= len(some)
            play_games(mean, variance, shares[0][table], shares[1][table], judged[table] > 0, some,
                       model.beta, model.tau, model.margin)  # fmt: skip
        means[row] = np.where(there, mean, np.nan)[::-1]
    return means


def _play_together(job: _Job) -> FloatArray:
    """Play all runs side by side: ``(n, runs)``; names descend: ``argmax`` takes later ones."""
    wins, ties = job.judgments[..., ::-1, ::-1]
    judged = wins + wins.swapaxes(1, 2) + ties
    tables, n, _ = judged.shape
    runs = len(job.numbers)
    run = np.arange(runs)
    table = run * n * (tables > 1)
    allowed = (judged > 0).astype(np.float64).transpose(2, 0, 1)
    allowed = np.ascontiguousarray(allowed).reshape(n, tables * n)
    preferred, decided = _share(wins, judged), _share(judged - ties, judged)
    there = np.broadcast_to(judged.any(axis=2).T, (n, runs))
    mean, variance = np.zeros((n, runs)), np.zeros((n, runs))  # variance 0 never comes first
    variance[there] = job.model.sigma**2
    for uniform in track(_uniform(job), "TrueSkill", total=-(-job.model.games // _AHEAD)):
        for for_opponent, for_outcome in uniform:
            first = variance.argmax(axis=0)
            one = first * runs + run
            near: FloatArray = mean - mean.ravel()[one]
            np.exp(np.negative(np.abs(near, out=near), out=near), out=near)
            near *= allowed.take(table + first, axis=1)
            for row in range(1, n):  # running sums; numpy's own are slow along this axis
                np.add(near[row - 1], near[row], out=near[row])
            second = (near < (1 - for_opponent) * near[-1]).sum(axis=0)  # never of 0
            at = (table + first) * n + second
            outcome = 2 * (for_outcome < decided[at]) - (for_outcome < preferred[at])
            games = one, second * runs + run, outcome
            update(mean.ravel(), variance.ravel(), games, job.model)
    return np.where(there, mean, np.nan)[::-1].T


def update(means: FloatArray, variances: FloatArray, games: _Games, model: GameModel) -> None:
    """Move ratings in place by games' outcomes: 0 a draw, 1 if the first won, 2 if the second."""
    one, other, outcome = games
    mean, other_mean = means[one], means[other]
    variance, other_variance = variances[one] + model.tau**2, variances[other] + model.tau**2
    total = 2 * model.beta**2 + variance + other_variance
    spread = np.sqrt(total)
    v, w = corrections((mean - other_mean) / spread, model.margin / spread)
    chosen = outcome * len(one) + np.arange(len(one))
    rise, fall = v.ravel()[chosen] / spread, w.ravel()[chosen] / total
    means[one], means[other] = mean + variance * rise, other_mean - other_variance * rise
    variances[one] = variance * (1 - variance * fall)
    variances[other] = other_variance * (1 - other_variance * fall)


def _uniform(job: _Job) -> Iterator[FloatArray]:
    """Draw numbers, 0 to 1, ``(some games, 2, runs)``; each run has random numbers of its own."""
    sources = [_source(job.seed, number) for number in job.numbers]
    for start in range(0, job.model.games, _AHEAD):
        shape = (min(_AHEAD, job.model.games - start), 2)
        yield np.stack([source.random(shape) for source in sources], axis=-1)


def _source(seed: int, number: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(number,))))


def _share(counts: IntArray, of: IntArray) -> FloatArray:
    return np.divide(counts, of, out=np.zeros(of.shape), where=of > 0).ravel()


def mean_field(
    wins: IntArray, ties: IntArray, model: GameModel, *, steps: int = STEPS
) -> FloatArray:
    """Compute the expected means ``(n,)`` after all games; NaN for a system never compared."""
    judged = wins + wins.T + ties
    there, means = judged.any(axis=1), np.full(len(wins), np.nan)
    if there.any():
        counts = np.stack((ties, wins, wins.T))[:, there][..., there]
        judged = judged[np.ix_(there, there)]
        shares = np.divide(counts, judged, out=np.zeros(counts.shape), where=judged > 0)
        means[there] = _Field(shares, judged > 0, model, model.games / steps).solve(steps)
    return means


@dataclass(frozen=True, eq=False)
class _Field:
    """What does not change during the games.

    ``outcomes`` has shape ``(3, n, n)``: the share of draws, of wins of the row and of the
    column among a pair's judgments, in the order of ``corrections``; ``allowed`` whether the
    pair was compared; ``stride`` the number of games in a step.
    """

    outcomes: FloatArray
    allowed: BoolArray
    model: GameModel
    stride: float

    def solve(self, steps: int) -> FloatArray:
        state = np.zeros((2, len(self.allowed)))  # means, variances
        state[1] = self.model.sigma**2
        for _ in range(steps):
            slope = self._slope(state)
            ahead = self._slope(state + self.stride * slope)
            state = state + self.stride / 2 * (slope + ahead)
        return state[0]

    def _slope(self, state: FloatArray) -> FloatArray:
        mean, variance = state
        rise, fall = self._updates(mean, variance + self.model.tau**2)
        chance = np.exp(-np.abs(mean[:, None] - mean)) * self.allowed
        chance /= chance.sum(axis=1, keepdims=True)
        games = _first_shares(chance, fall, variance, self.stride)[:, None] * chance
        games += games.T
        return np.stack(((games * rise).sum(axis=1), -(games * fall).sum(axis=1)))

    def _updates(self, mean: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the gain in mean and the loss of variance of the row in a game with the column."""
        total = 2 * self.model.beta**2 + variance[:, None] + variance
        spread = np.sqrt(total)
        v, w = corrections((mean[:, None] - mean) / spread, self.model.margin / spread)
        expected_v, expected_w = (self.outcomes * v).sum(axis=0), (self.outcomes * w).sum(axis=0)
        rise = variance[:, None] / spread * expected_v
        fall = variance[:, None] ** 2 / total * expected_w - self.model.tau**2
        return rise, fall


def _first_shares(
    chance: FloatArray, fall: FloatArray, variance: FloatArray, stride: float
) -> FloatArray:
    """Return how often each system comes first, so that variances are equal after the step.

    Where some systems, as opponents alone, lose more than the others, that cannot be. Who comes
    first is then found by always taking the largest variance, in small portions of the step.
    """
    losses = chance.T * fall + np.diag((chance * fall).sum(axis=1))
    scale = np.abs(losses).mean()
    losses, excess = losses / scale, (variance - variance.max()) / (stride * scale)
    if (shares := _equal_losses(losses, excess)) is not None:
        return shares
    shares = _greedy_shares(losses, excess)
    first = np.flatnonzero(shares)
    if (exact := _equal_losses(losses[np.ix_(first, first)], excess[first])) is not None:
        shares[first] = exact
    return shares


def _equal_losses(losses: FloatArray, excess: FloatArray) -> FloatArray | None:
    """Solve ``losses @ shares - excess = constant``, shares adding to 1; ``None`` if one is < 0."""
    size = len(excess)
    system = np.ones((size + 1, size + 1))
    system[:size, :size], system[size, size] = losses, 0.0
    wanted = np.append(excess, 1.0)
    solution = np.linalg.lstsq(system, wanted, rcond=None)[0]  # there may be many solutions
    shares: FloatArray = np.asarray(solution[:size], dtype=np.float64)
    amiss = np.abs(system @ solution - wanted).max() > _TOLERANCE * np.abs(wanted).max()
    return None if amiss or shares.min() < 0 else shares


def _greedy_shares(losses: FloatArray, excess: FloatArray) -> FloatArray:
    shares, left = np.zeros(len(excess)), excess.copy()
    for _ in range(_PORTIONS):
        largest = int(left.argmax())
        shares[largest] += 1 / _PORTIONS
        left -= losses[:, largest] / _PORTIONS
    return shares
