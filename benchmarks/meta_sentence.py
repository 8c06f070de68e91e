"""Table 3 of Chollampatt & Ng (2018) with 1,000 bootstraps, against a naive loop.

Run: ``python benchmarks/meta_sentence.py [FOLDER with data/]``. Scores and judgments are the
published ones, ``human_gjg15`` and ``meta_chollampatt_ng_2018``; where they are not, rankings and
scores are random, of the same numbers. All twelve cells (three metrics, two extractions, two rules
for ties) are computed from rankings and scores that are loaded already.
The naive twin draws the comparisons of each resample one by one, in plain Python; it runs on a few
resamples, and its time is multiplied.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import numpy as np
from rows import Goal, Row, show
from stopwatch import SHARED, cpu

from grammeter.core import MetricScores, Ranking, ScoreTable, SegmentScores, Signature
from grammeter.formats import read_judgments, read_text
from grammeter.formats.scores import parse_score_file
from grammeter.meta import SentenceDesign, correlate_sentences
from grammeter.ranking import extract_pairs

METRICS = ("gleu", "imeasure", "m2score")
RULES = ("no-ties", "h-ties")
EXTRACTIONS = ("expanded", "unexpanded")
RESAMPLES, SLICE = 1000, 3


def published(data):
    folder = data / "meta_chollampatt_ng_2018/scores/sentence_scores_metrics"
    text = "".join(read_text(folder / f"{name}.txt.gz") for name in METRICS)
    rankings = read_judgments(data / "human_gjg15/judgments.xml", first_segment=0).rankings
    return parse_score_file(text, "cn18"), rankings


def made_up():
    draw = random.Random(1)
    systems = [f"S{n:02}" for n in range(13)]
    rankings = []
    for _ in range(2319):
        groups = [[] for _ in range(5)]
        for name in draw.sample(systems, 10):
            draw.choice(groups).append(name)
        kept = tuple(tuple(group) for group in groups if group)
        ranks = tuple(draw.randint(1, 4) for _ in kept)
        rankings.append(Ranking(judge="j", segment=draw.randint(1, 1312), groups=kept, ranks=ranks))
    columns = {}
    for name in METRICS:
        values = {s: np.array([draw.randint(0, 9) / 9 for _ in range(1312)]) for s in systems}
        none = np.full(1312, -1)
        segments = {s: SegmentScores(v, none, {}) for s, v in values.items()}
        columns[name] = MetricScores(name, Signature.of(name, {}), True, {}, segments)
    return ScoreTable(tuple(systems), 1312, columns), rankings


def table_3(table, rankings):
    for extraction in EXTRACTIONS:
        for rule in RULES:
            design = SentenceDesign(
                pairs=extraction, ties=rule, unit="pair", resamples=RESAMPLES, seed=1
            )
            yield extraction, rule, correlate_sentences(table, rankings, design=design)


def naive_cell(relations, rule, resamples):
    """One cell of the table: the definition of the rule, pair by pair, resample by resample."""
    taus = []
    for _ in range(resamples):
        points = counted = 0
        for human, metric in random.choices(relations, k=len(relations)):
            if human == 0 and rule == "no-ties":
                continue
            counted += 1
            points += 1 if human == metric == 0 else human * metric
        taus.append(points / counted)
    return sorted(taus)


def naive_table_3(table, rankings, resamples):
    for extraction in EXTRACTIONS:
        pairs = extract_pairs(rankings, extraction=extraction)
        for metric in METRICS:
            values = {s: table[metric].segments[s].values.tolist() for s in pairs.systems}
            relations = []
            for a, b, n, human in zip(
                pairs.first, pairs.second, pairs.segment, pairs.outcome.tolist(), strict=True
            ):
                x, y = values[pairs.systems[a]][n - 1], values[pairs.systems[b]][n - 1]
                relations.append((human, (x > y) - (x < y)))
            for rule in RULES:
                naive_cell(relations, rule, resamples)


def rows(shared):
    data = shared / "data"
    table, rankings = published(data) if data.is_dir() else made_up()
    ours, cells = cpu(lambda: list(table_3(table, rankings)))
    comparisons = cells[0][2][METRICS[0]].counts.total
    prepared, _ = cpu(lambda: naive_table_3(table, rankings, 1))
    some, _ = cpu(lambda: naive_table_3(table, rankings, 1 + SLICE))
    naive = prepared + (some - prepared) / SLICE * (RESAMPLES - 1)
    yield Row(
        f"Table 3 of CN18, {RESAMPLES} bootstraps of {comparisons:,} pairs",
        ours,
        peer=f"naive loop ({SLICE} resamples, multiplied)",
        theirs=naive,
        goals=(Goal(1),),
    )


if __name__ == "__main__":
    sys.exit(show(rows(Path(sys.argv[1]) if len(sys.argv) > 1 else SHARED)))
