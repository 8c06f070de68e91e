"""A Reassessment of Reference-Based GEC Metrics (COLING 2018): its tables and figures."""

from collections.abc import Mapping, Sequence
from itertools import product

from grammeter import alignment, core, meta, metrics, ranking, verbs
from grammeter.formats import Corpus, dataset_path, read_score_file
from grammeter.papers.cells import Made, Ours, read_paper
from grammeter.papers.materials import Materials, by_name, correlated, correlation_cells

PAPER = "chollampatt2018"
SCORES = "meta_chollampatt_ng_2018"

STORED = {"gleu": "GLEU", "imeasure": "I-measure", "m2score": "M2"}
"""The metrics as the authors' files name them, and as the paper does."""

BEST = "sentm2"  # our sentence-level M2 of the best annotator, as the paper words it
_LAST = "from the sentence scores that the authors distribute, of the annotator listed last"
_POINT = "not printed: published is the score that the authors distribute"
_R = "not printed: published is what the authors' program gives on the scores they distribute"


def stored_scores(level: str) -> core.ScoreTable:
    """Read the scores that the authors distribute, of each ``system`` or ``sentence``."""
    files = [dataset_path(SCORES, f"scores/{level}_scores_metrics/{m}.txt.gz") for m in STORED]
    tables = [read_score_file(file) for file in files]
    columns = {name: column for table in tables for name, column in table.items()}
    return core.ScoreTable(tables[0].systems, tables[0].segments, columns)


# --- systems -------------------------------------------------------------------------------
def _table2(materials: Materials) -> dict[tuple[str, str], float]:
    return correlation_cells(stored_scores("system"), STORED, materials.people)


def _figure1(materials: Materials) -> Made:
    named = {"EW": "Expected Wins", "TS": "Trueskill"}
    short = {"Pearson": "r", "Spearman": "rho"}
    cells: dict[tuple[str, str], float] = {}
    for (metric, column), value in _table2(materials).items():
        who, kind = column.split()
        cells[f"{metric}, {named[who]}", short[kind]] = value
    return cells


def _figure1_points(materials: Materials) -> Made:
    pairs = ranking.extract_pairs(materials.judgments("gjg15").rankings)
    cells: dict[tuple[str, str], Ours] = {}
    for column, method in (("EW", ranking.ExpectedWins()), ("TS", ranking.TrueSkill())):
        values = method.score(*pairs.counts()).tolist()
        for system, value in zip(pairs.systems, values, strict=True):
            cells[system, column] = Ours(value, _POINT, "stored")
    made = materials.scored("conll14", ["gleu", "imeasure", "m2"])
    for spelling, column in (("gleu", "GLEU"), ("imeasure", "I-measure"), ("m2", "M2")):
        unit = 100 if spelling == "imeasure" else 1  # the authors' files have it in percent
        for system, of in made[spelling].items():
            cells[system, column] = Ours(unit * of.value, _POINT, "stored")
    return cells


def _figure2(materials: Materials) -> Made:
    return {
        (row, column): Ours(pvalue, f"{better} is better; {_R}", "stored")
        for row, tests in _williams(materials).items()
        for column, (better, pvalue) in tests.items()
    }


def _text(materials: Materials) -> Made:
    cells: dict[tuple[str, str], Ours | float | str] = {}
    named = {name: f"{STORED[name]} without IPN" for name in ("gleu", "m2score")}
    cells |= correlation_cells(stored_scores("system"), named, materials.people, drop=["IPN"])
    for column, tests in _williams(materials).items():
        better, pvalue = tests["GLEU against M2"]
        words = "below 0.10" if pvalue < 0.10 else "not significant (0.10)"
        shown = words if column.endswith("Spearman") else f"{pvalue:.2f}"
        note = f"{better} is better, p = {pvalue:.5f}"
        cells["GLEU against M2, p", column] = Ours(shown, note)
    return cells


def _williams(materials: Materials) -> dict[str, dict[str, tuple[str, float]]]:
    compared = {
        "GLEU over I-measure": ("gleu", "imeasure"),
        "M2 over I-measure": ("m2score", "imeasure"),
        "GLEU against M2": ("gleu", "m2score"),
    }
    results = correlated(stored_scores("system"), materials.people)
    tests: dict[str, dict[str, tuple[str, float]]] = {}
    for who, kind in product(results, ("pearson", "spearman")):
        cells = results[who].williams[kind]
        tests[f"{who} {kind.capitalize()}"] = {
            column: (STORED[a], cells[a][b].pvalue)
            for column, pair in compared.items()
            for a, b in (pair, pair[::-1])
            if b in cells[a]
        }
    return tests


# --- sentences -----------------------------------------------------------------------------
_RULES: Mapping[str, meta.TieRule] = {"HTies": "h-ties", "NoTies": "no-ties"}
_EXTRACTIONS: tuple[ranking.Extraction, ...] = ("expanded", "unexpanded")


def _table3(materials: Materials) -> Made:
    stored = stored_scores("sentence")
    best = materials.scored("conll14", [BEST])[BEST]
    scores = core.ScoreTable(stored.systems, stored.segments, {**stored, BEST: best})
    rankings = materials.judgments("gjg15").rankings
    cells: dict[tuple[str, str], Ours | float | str] = {}
    for pairs, (name, rule) in product(_EXTRACTIONS, _RULES.items()):
        design = meta.SentenceDesign(pairs=pairs, ties=rule, unit="pair")
        results = meta.correlate_sentences(scores, rankings, design=design)
        row = f"{pairs}, {name}"
        for metric, column in STORED.items():
            note = _LAST if column == "M2" else ""
            cells[row, column] = Ours(results[metric].tau.value, note)
        cells[row, "M2, best annotator"] = Ours(results[BEST].tau.value, "ours, scored anew")
        counts = results["gleu"].counts
        tied = counts.human_ties + counts.both_ties  # people's ties count under one rule only
        cells[row, "pairs"] = float(counts.total - (tied if rule == "no-ties" else 0))
        cells[row, "pairs that GLEU orders"] = float(counts.concordant + counts.discordant)
        cells[row, "star"] = _star({m: results[m] for m in STORED})
    return cells


def _star(agreements: Mapping[str, meta.MetricAgreement]) -> str:
    for metric, agreement in agreements.items():
        low = agreement.tau.low
        highs = [other.tau.high for name, other in agreements.items() if name != metric]
        if low is not None and all(high is not None and low > high for high in highs):
            return STORED[metric]
    return "-"


# --- examples ------------------------------------------------------------------------------
# Sentences of ours with the pattern of the paper's: the metrics see of a word only which others
# it equals.


def _table1(materials: Materials) -> Made:
    columns = alignment.align(*(text.split() for text in read_paper(PAPER)["recipe"]["words"]))
    return {(str(n), "words"): _pattern(words) for n, words in enumerate(columns, start=1)}


def _pattern(words: Sequence[str]) -> str:
    """Say which words of a column are equal: ``I | H=R``; ``(-)`` marks an empty side."""
    sides = core.grouped(zip(words, "IHR", strict=True))
    return " | ".join("=".join(of) + ("" if word else " (-)") for word, of in sides.items())


def _table4(materials: Materials) -> Made:
    cells: dict[tuple[str, str], float] = {}
    for name, example in read_paper(PAPER)["recipe"]["examples"].items():
        scores = verbs.score(Corpus.from_dict(example), ["gleu", "imeasure", "m2"])
        for metric, column, unit in (("gleu", "GLEU", 1), ("imeasure", "I%", 100), ("m2", "M2", 1)):
            for system, of in scores[metric].items():
                cells[f"{name}, {system}", column] = unit * of.value
    return cells


def _text_counts(materials: Materials) -> Made:
    rankings = materials.judgments("gjg15").rankings
    systems = ranking.extract_pairs(rankings).systems
    counts = {way: len(ranking.extract_pairs(rankings, extraction=way)) for way in _EXTRACTIONS}
    design = meta.SentenceDesign()
    defaults = {
        "beta of M2": metrics.M2().beta,
        "unchanged words of M2, at most": metrics.M2().max_unchanged,
        "lambda of I-measure": metrics.IMeasure().weight,
        "N of GLEU": metrics.Gleu().order,
        "m of GLEU": metrics.Gleu().iterations,
        "bootstrap samples": design.resamples,
        "confidence, percent": 100 * design.confidence,
    }
    return {
        ("systems", "value"): float(len(systems)),
        **{(f"pairs, {way}", "value"): float(count) for way, count in counts.items()},
        **{(row, "value"): Ours(float(value), "our default") for row, value in defaults.items()},
    }


TABLES = by_name(
    *(_table1, _table2, _table3, _table4, _figure1, _figure1_points, _figure2),
    *(_text, _text_counts),
)
