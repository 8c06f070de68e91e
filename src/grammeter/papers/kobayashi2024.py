"""Large Language Models Are State-of-the-Art Evaluator for Grammatical Error Correction.

Its tables (BEA 2024). The answers of its LLM evaluators were not released, and most of their models
are shut down; but Appendix B prints their scores, and these are correlated with people's. Where a
user has answers, the rows of an evaluator are made from them.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np

from grammeter import core, errant, formats, meta
from grammeter.papers.cells import Cells, Made, Ours, Tolerance, Value, read_paper, read_tables
from grammeter.papers.materials import Materials, Row, by_name, in_columns, metric_rows
from grammeter.ranking import SYSTEM_SETS, Extraction, cluster_numbers

PAPER = "kobayashi2024"
JUDGED = {"SEEDA-E": "seeda-e", "SEEDA-S": "seeda-s"}
SETS = ("base", "+fluent")
GOTOSCORER = "gotoscorer(annotator=1)"  # annotator 0 is .2 away from the printed figures

TAKEN = {
    "errant": "gold edits taken from the two reference texts",
    GOTOSCORER: "gold edits taken from the second reference text",
}
COPIED = "with PIE's outputs for LM-Critic's, as they were released until December 2024"
PRINTED = "from the scores that Appendix B prints"
ANSWERS = "from the answers"
OF_RUNS = Tolerance(0.002, "printed is the mean of random runs, ours the limit of such means")
RUNS = 1000  # of TrueSkill, for the ranges of an evaluator


ROWS = metric_rows(PAPER)  # of Table 1


def _scores(materials: Materials, row: Row, spelling: str) -> tuple[core.MetricScores, Ours]:
    """Return scores of all systems, and a figure without value that says how they were made."""
    stands_in, notes = None, list[str]()
    if row.model:
        chosen = materials.model(row.model, encoder=row.model.startswith("bert"))
        spelling, stands_in = spelling.format(model=chosen.spelling), chosen.stands_in
        notes.append(f"by {spelling}")
    if row.corpus != "seeda_judged":
        notes.append(f"edits by the pipeline {errant.find_pipeline().name}")
    if spelling in TAKEN:
        notes.append(TAKEN[spelling])
    scores = materials.scored(row.corpus, [spelling])
    return scores[spelling], Ours(np.nan, "; ".join(notes), stands_in=stands_in)


# --- the evaluators ------------------------------------------------------------------------
def evaluators() -> tuple[str, ...]:
    """Return the names of the LLM evaluators, in the order of Table 1."""
    return tuple(dict.fromkeys(row.partition(": ")[0] for row in _appendix("score")))


def _appendix(column: str) -> dict[str, Value]:
    cells = read_tables(PAPER)["table2"].cells.items()
    return {row: p.value for (row, name), p in cells if name == column and p.value is not None}


def _evaluated(materials: Materials) -> dict[str, tuple[core.MetricScores, Ours]]:
    printed: dict[str, dict[str, float]] = {name: {} for name in evaluators()}
    for row, value in _appendix("score").items():
        evaluator, _, system = row.partition(": ")
        printed[evaluator][system] = float(value)
    printed |= {name: {} for name in materials.settings.answers if name not in printed}
    made: dict[str, tuple[core.MetricScores, Ours]] = {}
    for name, values in printed.items():
        of, ours = values, Ours(np.nan, PRINTED, "print")
        settings = {"printed": f"{PAPER} appendix B"}
        if name in materials.settings.answers:
            ours, settings = Ours(np.nan, ANSWERS), {"answers": name}
            of = {row.system: row.score for row in materials.answered(name, RUNS).rows}
        signature = core.Signature.of("trueskill", settings)
        scores = {system: core.Score(value, signature, 0) for system, value in of.items()}
        made[name] = core.MetricScores(name, signature, True, scores), ours
    return made


def _table2(materials: Materials) -> Made:
    """Rank by the answers; without them, compute the clusters from the printed ranges of ranks."""
    cells: Cells = {}
    ranges: dict[str, dict[str, tuple[int, int]]] = {}
    for row, value in _appendix("range").items():
        first, _, last = str(value).partition("-")
        ranges.setdefault(row.partition(": ")[0], {})[row] = (int(first), int(last or first))
    ranges |= {name: {} for name in materials.settings.answers if name not in ranges}
    for name, rows in ranges.items():
        if name in materials.settings.answers:
            for row in materials.answered(name, RUNS).rows:
                place = f"{name}: {row.system}"
                cells[place, "score"] = Ours(row.score, ANSWERS, tolerance=OF_RUNS)
                cells[place, "range"] = Ours(core.ranks_text(row.ranks), ANSWERS)
                cells[place, "cluster"] = Ours(float(row.cluster), ANSWERS)
            continue
        for place, number in zip(rows, cluster_numbers(list(rows.values())), strict=True):
            cells[place, "cluster"] = Ours(float(number), "from the printed ranges", "print")
    return cells


# --- Table 1, system level -----------------------------------------------------------------
def _table1(materials: Materials) -> Made:
    cells: Cells = {}
    for name, row in ROWS.items():
        try:
            scores, made = _scores(materials, row, row.whole)
        except core.MissingResourceError as error:
            columns = (f"{c} {short}" for (c, *_), short in product(_columns(), _KINDS))
            cells |= {(name, column): Ours.missing(error) for column in columns}
            continue
        if row.copied:
            note = "; ".join(filter(None, (made.note, COPIED)))
            cells |= _system_cells(materials, name, _as_published(scores), replace(made, note=note))
            cells |= _system_cells(materials, f"{name}, today's outputs", scores, made)
        else:
            cells |= _system_cells(materials, name, scores, made)
    for name, (scores, made) in _evaluated(materials).items():
        cells |= _system_cells(materials, name, scores, made)
    return cells


_KINDS = dict(zip(("r", "rho"), meta.TESTED, strict=True))


def _columns() -> Iterator[tuple[str, str, str]]:
    for (judged, name), chosen in product(JUDGED.items(), SETS):
        yield f"{judged} {chosen}", name, chosen


def _as_published(scores: core.MetricScores) -> core.MetricScores:
    table = core.ScoreTable(tuple(scores), 0, {scores.metric: scores})
    return formats.benchmark("seeda-e").as_published(table)[scores.metric]


def _system_cells(materials: Materials, row: str, scores: core.MetricScores, made: Ours) -> Cells:
    table, design = core.ScoreTable(tuple(scores), 0, {row: scores}), meta.Design(interval="none")
    cells: Cells = {}
    for column, name, chosen in _columns():
        human = materials.seeda_people[name]
        result = meta.correlate_systems(table, human, systems=[chosen], design=design)[row]
        for short, kind in _KINDS.items():
            cells[row, f"{column} {short}"] = made.of(result[kind].value)
    return cells


# --- Table 1, sentence level ---------------------------------------------------------------
_ALL: Extraction = "expanded"
EXTRACTIONS: Mapping[str, Sequence[Extraction]] = read_paper(PAPER)["recipe"]["extractions"]
"""Which of the outputs' systems each pair of columns compares: the rule that comes nearest."""


def _table1_sentence(materials: Materials) -> Made:
    def metric(name: str) -> dict[str, Ours]:
        row, last = ROWS[name], name == "GoToScorer"
        named = row._replace(corpus="seeda_unlisted") if last else row
        made = _scores(materials, named, row.sentences or row.whole)
        rules = EXTRACTIONS.get(name, (_ALL,) * 4)
        return _sentence_cells(materials, *made, "wrong" if last else "three-way", rules)

    def evaluator(name: str) -> dict[str, Ours]:
        rankings = _numbered(materials, materials.answers(name).rankings)
        scores = meta.judged_table(rankings, name, segments=len(materials.seeda_segments))[name]
        made = Ours(np.nan, "from the answers; a tie is an answer")
        return _sentence_cells(materials, scores, made, "seeda-script", (_ALL,) * 4)

    columns = [f"{c} {end}" for (c, *_), end in product(_columns(), ("accuracy", "tau"))]
    rows = {name: partial(metric, name) for name in ROWS}
    rows |= {name: partial(evaluator, name) for name in materials.settings.answers}
    return in_columns(rows, columns)


def _sentence_cells(
    materials: Materials, scores: core.MetricScores, made: Ours, ties: meta.TieRule,
    extractions: Sequence[Extraction],
) -> dict[str, Ours]:  # fmt: skip
    cells: dict[str, Ours] = {}
    table = core.ScoreTable(tuple(scores), len(materials.seeda_segments), {"": scores})
    for (column, name, chosen), pairs in zip(_columns(), extractions, strict=True):
        design = meta.SentenceDesign(pairs=pairs, ties=ties, resamples=0, missing="drop")
        rankings = _numbered(materials, materials.judgments(name).rankings)
        result = meta.correlate_sentences(table, rankings, design=design, systems=[chosen])[""]
        lacking = result.counts.missing
        left_out = f"{lacking} pairs without scores left out" * bool(lacking)
        note = "; ".join(filter(None, (made.note, f"pairs {pairs}" * (pairs != _ALL), left_out)))
        said = replace(made, note=note)
        cells[f"{column} accuracy"] = said.of(result.accuracy.value)
        cells[f"{column} tau"] = said.of(result.tau.value)
    return cells


def _numbered(materials: Materials, rankings: Sequence[core.Ranking]) -> Sequence[core.Ranking]:
    """Return judgments with sentence numbers of the corpus of judged sentences."""
    place = {segment: at for at, segment in enumerate(materials.seeda_segments, start=1)}
    for ranking in rankings:
        if ranking.segment not in place:
            fix = "Judge the items of SEEDA, by the sentence numbers of the CoNLL-2014 test set."
            raise core.DataError(f"answers to sentence {ranking.segment}, not in SEEDA", fix=fix)
    return [replace(ranking, segment=place[ranking.segment]) for ranking in rankings]


# --- figures and text ----------------------------------------------------------------------
MOST = "most system-level correlations of GPT-4 exceed"
DROP = "significant decrease of GPT-4-S + Fluency (read: LLM correlations) in SEEDA-S"


def _figure_window(materials: Materials) -> Made:
    columns = {name: scores for name, (scores, _) in _evaluated(materials).items()}
    for name in ("M2", "GLEU"):
        columns[name] = _as_published(_scores(materials, ROWS[name], ROWS[name].whole)[0])
    table = core.ScoreTable(tuple(columns["M2"]), 0, columns)
    cells: Cells = {}
    for judged, name in JUDGED.items():
        human = materials.seeda_people[name]
        windows = meta.correlate_windows(table, human, size=4, systems=["base"])
        for row, window in product(columns, windows):
            best, worst = human[window.systems[0]], human[window.systems[-1]]
            note = f"people's scores of the four span {best - worst:.3f}"
            value = window.metrics[row]["pearson"].value
            cells[f"{row}, {judged}", f"x={window.last}"] = Ours(value, note)
        if judged == "SEEDA-S":
            lowest = {name: _lowest(windows.windows, name) for name in evaluators()}
            note = "the lowest of nine windows for {} of the ten evaluators".format
            (x, times), *_ = Counter(lowest.values()).most_common()
            cells[DROP, "x"] = Ours(float(x), note(times), "print")
    return cells


def _lowest(windows: Sequence[meta.Window], evaluator: str) -> int:
    return min(windows, key=lambda window: window.metrics[evaluator]["pearson"].value).last


def _figure4(materials: Materials) -> Made:
    cells: Cells = {}
    for name in materials.settings.answers:
        scores = [score for ranking in materials.answers(name) for score in ranking.scores or ()]
        counts = Counter(round(score) for score in scores if score is not None)
        for score in range(1, 6):
            cells[name, f"outputs with score {score}"] = Ours(float(counts[score]))
    return cells


def _text(materials: Materials) -> Made:
    table = read_tables(PAPER)
    outputs = set(materials.seeda_judged.systems)
    sentences = table["table1_sentence"].cells.items()
    taus = [float(p.value or 0) for (_, column), p in sentences if column.endswith("tau")]
    rows = ((row, p.value) for (row, _), p in table["table1"].cells.items())
    gpt4 = [float(v) for row, v in rows if row.startswith(("GPT-4", "+")) and v is not None]
    base, fluent = ({*SYSTEM_SETS[name]} for name in SETS)
    above = sum(value > 0.9 for value in gpt4)
    sizes = [len(r.groups) for name in JUDGED.values() for r in materials.judgments(name).rankings]
    made = {
        "Kendall of GPT-4 (abstract)": Ours(max(taus), "greatest tau of Table 1", "print"),
        "systems in SEEDA (2.2)": Ours(float(len(outputs - {"INPUT", "REF-M", "REF-F"}))),
        "systems of Base": Ours(float(len(base)), "GPT-3.5 is left out, the human REF-M is in"),
        "fluent corrections added": Ours(float(len(fluent - base))),
        "targets at most (N)": Ours(float(max(sizes))),
        "context sentences": Ours(3.0, "of our prompt: the sentence and those beside it"),
    }
    most, note = above > len(gpt4) / 2, f"{above} of {len(gpt4)} do"
    made[MOST] = Ours(0.9 if most else np.nan, note, "print")
    return {(row, "value"): ours for row, ours in made.items()}


TABLES = by_name(_table1, _table1_sentence, _table2, _figure_window, _figure4, _text)
