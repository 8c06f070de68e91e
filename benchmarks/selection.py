"""How many items a ranking of systems needs, by the way its sentences are selected.

Run: ``python benchmarks/selection.py [DRAWS]``; it needs the judgments of Grundkiewicz et al. 2015
and of SEEDA, the outputs that were judged, and the references of CoNLL-2014, below
``$GRAMMETER_SHARED`` (default: ``../shared``).

A campaign of k items is drawn with replacement from the judged items: a sentence by the
selector, one of its items at random. An answer is the least k for which 95 % of the campaigns
have a Spearman correlation of .95 or more

- ``own``: with the ranking that this selector reaches with endlessly many items;
- ``plain``: with the ranking of all judged items, every item drawn counting once;
- ``weighted``: with that ranking, each item counting by one over its probability.

Beside it stands the mean correlation after 300 items, which depends less on systems that are
nearly equal. ``limit`` is the correlation between the two rankings: where it is below .95, no
number of items is enough for ``plain``. ``decided`` is the mean number of decided comparisons
in an item. At the end the formula for two systems is held against draws from the same data.
"""

from __future__ import annotations

import contextlib
import io
import sys
from collections import Counter
from dataclasses import replace

import numpy as np
from rows import Row
from scipy.stats import binom
from stopwatch import SHARED, cpu

import grammeter as gm
from grammeter.formats import read_judgments, read_outputs
from grammeter.ranking import expected_wins, extract_pairs
from grammeter.stats import sign_test
from grammeter.study import distribution, draw_campaigns, items_needed, separations
from grammeter.study.planning import LEVEL

CONLL = SHARED / "data" / "conll14_test"
SEEDA = SHARED / "data" / "seeda"
SETS = {
    "2015": (SHARED / "data/human_gjg15/judgments.xml", CONLL / "official_systems"),
    "SEEDA edit": (SEEDA / "judgments_edit.xml", SEEDA / "outputs" / "all"),
    "SEEDA sentence": (SEEDA / "judgments_sent.xml", SEEDA / "outputs" / "all"),
}
METRICS = ("gleu", "sentm2")
LONGEST, EARLY = 10_000, 300


def main():
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    for name in SETS:
        print(f"{cpu(lambda name=name: study(name, draws))[0]:.0f} s CPU\n")


def rows(shared=None, *, draws=20):
    del shared  # GRAMMETER_SHARED says where they are
    for name in list(SETS)[:1]:
        with contextlib.redirect_stdout(io.StringIO()):
            seconds, _ = cpu(lambda name=name: study(name, draws))
        yield Row(
            f"items needed by 6 selectors, {name}, {draws} draws",
            seconds,
            slice_of="three sets of judgments, 1,000 draws",
            command="python benchmarks/selection.py",
        )


def study(name, draws):
    judgments, folder = SETS[name]
    outputs = read_outputs(sorted(p for p in folder.iterdir() if not p.name.startswith(".")))
    rankings = [
        r for r in read_judgments(judgments, systems=outputs) if len(r.groups) > 1 and not r.skipped
    ]
    print(f"{name}: {len(rankings)} items of {len({r.segment for r in rankings})} sentences,")
    print(f"{len(outputs)} systems, {draws} draws")
    parts = draw_campaigns(rankings, draws=draws)
    print(f"of these items, each once at most: {items_needed(parts)} are enough")
    columns = ("own", "plain", "weighted") * 2
    print(f"{'':<18}{'items needed':>30}{f'mean correlation of {EARLY} items':>30}")
    print(f"{'selector':<18}" + "".join(f"{c:>10}" for c in columns) + "   limit  decided")
    for selector, chances in all_chances(rankings, outputs).items():
        print(f"{selector:<18}{row(rankings, chances, draws)}")
    check_formula(rankings, draws)


def row(rankings, chances, draws):
    plain, inverse = draw_campaigns(rankings, draws=1, seed=1), 1 / chances
    size, random = len(plain.systems), np.random.default_rng(1)
    drawn = random.choice(len(rankings), size=(draws, LONGEST), p=chances)
    full = (chances @ plain.wins).reshape(size, size)
    columns = {
        "own": {"against": np.round(np.nan_to_num(expected_wins(full)), 12)},
        "plain": {},
        "weighted": {"wins": plain.wins * (inverse / inverse.mean())[:, None]},
    }
    needed, early = [], []
    for given in columns.values():
        campaigns = replace(plain, drawn=drawn, **given)
        found = items_needed(campaigns)
        needed.append(str(found) if found else f">{LONGEST}")
        early.append(campaigns.correlations(EARLY).mean())
    own = plain.wins * chances[:, None]
    everything = replace(plain, wins=own, drawn=np.arange(len(rankings))[None])
    limit = everything.correlations(len(rankings))[0]
    decided = chances @ plain.wins.sum(axis=1)
    cells = "".join(f"{cell:>10}" for cell in needed) + "".join(f"{mean:>10.3f}" for mean in early)
    return f"{cells}{limit:>8.3f}{decided:>9.1f}"


def all_chances(rankings, outputs):
    """Return how likely each item is, by selector: that of its sentence, shared among its items."""
    items = Counter(r.segment for r in rankings)
    table = gm.score(
        gm.Corpus(
            sources=(CONLL / "source.txt").read_text("utf-8").splitlines(),
            references=[(CONLL / f"ref{i}.txt").read_text("utf-8").splitlines() for i in (0, 1)],
            gold=gm.read_corpus(references=[CONLL / "noalt/official-2014.combined.m2"]).gold,
            systems=outputs,
        ),
        METRICS,
    )
    found = {"as judged": None}
    for select in ("uniform", "paper", "diversity"):
        found[select] = distribution(outputs, select=select).probabilities
    for metric in METRICS:
        found[f"spread, {metric}"] = distribution(
            outputs, select="spread", scores=table, metric=metric
        ).probabilities
    shares = {
        selector: np.ones(len(rankings))
        if by_sentence is None
        else np.array([by_sentence[r.segment - 1] / items[r.segment] for r in rankings])
        for selector, by_sentence in found.items()
    }
    return {selector: share / share.sum() for selector, share in shares.items()}


def check_formula(rankings, draws):
    """Hold what the formula says of neighbours against the sign test on drawn items."""
    campaigns = draw_campaigns(rankings, draws=1)
    size = len(campaigns.systems)
    wins = campaigns.wins.sum(axis=0).reshape(size, size)
    share = wins / np.maximum(wins + wins.T, 1)
    order = [campaigns.systems[at] for at in np.argsort(-share.sum(axis=1))]
    plans = separations(rankings, order)
    near = sorted((p for p in plans if p.items_needed), key=lambda p: p.items_needed)[:3]
    print("two systems               share  deff   items  power: exact  sentences drawn anew")
    for plan in near:
        drawn = simulated_power(rankings, plan, min(draws, 500))
        wins = np.arange(plan.decided_needed + 1)
        fewer = np.minimum(wins, plan.decided_needed - wins)
        tests = 2 * binom.cdf(fewer, plan.decided_needed, 0.5) <= LEVEL
        exact = binom.pmf(wins, plan.decided_needed, plan.share)[tests].sum()
        print(
            f"{plan.first + ', ' + plan.second:<25}{plan.share:6.3f}{plan.design_effect:6.2f}"
            f"{plan.items_needed:8}{exact:14.3f}{drawn:22.3f}"
        )


def simulated_power(rankings, plan, draws):
    """Draw sentences with all their items, as many items as planned, and test each draw.

    The counts are divided by the design effect before the sign test, as the plan does.
    """
    pairs = extract_pairs(rankings)
    low, high = sorted(map(pairs.systems.index, (plan.first, plan.second)))
    both = pairs.select((pairs.first == low) & (pairs.second == high))
    numbers = {
        r.segment: number for number, r in enumerate({r.segment: r for r in rankings}.values())
    }
    place = np.array([numbers[segment] for segment in both.segment.tolist()])
    won, lost = (
        np.bincount(place[both.outcome == sign], minlength=len(numbers)) for sign in (1, -1)
    )
    sentences = round(plan.items_needed * len(numbers) / len(rankings))
    random = np.random.default_rng(1)
    separated = 0
    for _ in range(draws):
        drawn = random.integers(0, len(numbers), size=sentences)
        counts = (side[drawn].sum() / plan.design_effect for side in (won, lost))
        separated += sign_test(*(round(count) for count in counts)) <= LEVEL
    return separated / draws


if __name__ == "__main__":
    main()
