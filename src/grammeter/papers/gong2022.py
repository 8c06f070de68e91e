"""Revisiting Grammatical Error Correction Evaluation and Beyond (EMNLP 2022): PT-M2.

All its correlations are over 13 systems, the input being one. Rows of BERT and BART need models;
words are compared with the reference texts, in which edits of type ``Um`` are applied.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

from grammeter import errant, formats
from grammeter.core import MetricScores, MissingResourceError, ScoreTable
from grammeter.metrics import M2
from grammeter.papers.cells import Cells, Made, Ours, read_paper
from grammeter.papers.materials import (
    COLUMNS,
    Materials,
    Row,
    by_name,
    correlated,
    correlation_cells,
    in_rows,
    metric_rows,
)
from grammeter.verbs import explain, score

BERT, BART = "bert-base-uncased", "facebook/bart-base"
SIZES: Mapping[str, str] = read_paper("gong2022")["recipe"]["sizes"]
"""Rows of Table 7 and their models; which one BART Small is the paper does not say."""


ROWS = metric_rows("gong2022")  # of Table 5
INVERSE = Row("conll14", "", "sent-pt-m2(model={model}, inverse=true)", BERT)


def _values(materials: Materials, row: Row, *, whole: bool = False) -> tuple[MetricScores, Ours]:
    """Return the scores of a row, and a figure without value that says what they are made with."""
    levels, stands_in = [row.whole, row.sentences], None
    if row.model:
        chosen = materials.model(row.model, encoder="bart" not in row.model)
        levels = [level.format(model=chosen.spelling) for level in levels]
        stands_in = chosen.stands_in
    spelling = levels[0 if whole else 1]
    notes = [f"by {spelling}"]
    if "errant" in spelling:
        notes.append(f"edits by the pipeline {errant.find_pipeline().name}")
    scores = materials.scored(row.corpus, [level for level in levels if level])[spelling]
    return scores, Ours(math.nan, "; ".join(notes), stands_in=stands_in)


def _correlations(materials: Materials, row: Row, *, whole: bool = False) -> dict[str, Ours]:
    try:
        scores, made = _values(materials, row, whole=whole)
    except MissingResourceError as error:
        return dict.fromkeys(COLUMNS, Ours.missing(error))
    table = ScoreTable(tuple(scores), len(materials.conll14), {scores.metric: scores})
    values = correlation_cells(table, {scores.metric: ""}, materials.people)
    return {column: made.of(value) for (_, column), value in values.items()}


def _table4(materials: Materials) -> Made:
    levels = {"GLEU": True, "ERRANT": True, "M2": True, "BARTScore": False, "BERTScore": False}
    named = {"BARTScore": "BARTScore (BART)", "BERTScore": "BERTScore (BERT)"}
    rows = {row: (ROWS[named.get(row, row)], whole) for row, whole in levels.items()}
    rows |= {f"Sent{row}": (ROWS[row], False) for row in ("ERRANT", "M2")}
    return in_rows({n: _correlations(materials, row, whole=at) for n, (row, at) in rows.items()})


def _table5(materials: Materials) -> Made:
    return {
        (name, f"{level} {column}"): ours
        for name, row in ROWS.items()
        for level, whole in (("corpus", True), ("sentence", False))
        if not whole or row.whole
        for column, ours in _correlations(materials, row, whole=whole).items()
    }


def _table7(materials: Materials) -> Made:
    rows = {name: ROWS[f"PT-M2 ({name.split()[0]})"] for name in SIZES}
    models = {name: row._replace(model=SIZES[name]) for name, row in rows.items()}
    return in_rows({name: _correlations(materials, row) for name, row in models.items()})


# --- rankings ------------------------------------------------------------------------------
def _table6(materials: Materials) -> Made:
    people = {who: _ranked(scores) for who, scores in materials.people.items()}
    cells: Cells = {
        (str(place), who): Ours(system)
        for who, systems in people.items()
        for place, system in enumerate(systems, start=1)
    }
    metrics = {"BERTScore": ("BERTScore (BERT)", False), "M2": ("M2", True)}
    metrics |= {"SentM2": ("M2", False), "PT-M2": ("PT-M2 (BERT)", False)}
    for name, (row, whole) in metrics.items():
        try:
            scores, made = _values(materials, ROWS[row], whole=whole)
        except MissingResourceError as error:
            need = Ours.missing(error)
            places = (*map(str, range(1, 14)), "sum of differences")
            cells |= {(at, f"{name}{end}"): need for at in places for end in ("", " difference")}
            continue
        systems = _ranked({system: score.value for system, score in scores.items()})
        total = 0
        for place, system in enumerate(systems, start=1):
            ranks = [ranking.index(system) + 1 for ranking in people.values()]
            # the smaller one; the paper states no rule: its 52 differences and sums follow this
            difference = min((rank - place for rank in ranks), key=abs)
            total += abs(difference)
            cells[str(place), name] = made.of(system)
            cells[str(place), f"{name} difference"] = made.of(float(difference))
        cells["sum of differences", f"{name} difference"] = made.of(float(total))
    return cells


def _ranked(scores: Mapping[str, float]) -> list[str]:
    return sorted(scores, key=lambda system: -scores[system])


_KS = range(13, 3, -1)  # how many of the best systems Figure 2 correlates over


def _figure2(materials: Materials) -> Made:
    human = materials.people["EW"]
    ranked = _ranked(human)
    cells: Cells = {}
    for name, row in (("M2", ROWS["M2"]), ("SentM2", ROWS["M2"]), ("PT-M2", ROWS["PT-M2 (BERT)"])):
        try:
            scores, made = _values(materials, row, whole=name == "M2")
        except MissingResourceError:
            continue
        table = ScoreTable(tuple(scores), len(materials.conll14), {scores.metric: scores})
        for k in _KS:
            result = correlated(table, {"EW": human}, drop=ranked[k:])["EW"]
            cells[name, f"K = {k}"] = made.of(result[scores.metric]["pearson"].value)
    return cells


def _figure3(materials: Materials) -> Made:
    rows = {"SentM2": ROWS["M2"], "PT-M2": ROWS["PT-M2 (BERT)"], "PT-M2 (inverse)": INVERSE}
    return {
        (name, column): ours
        for name, row in rows.items()
        for column, ours in _correlations(materials, row).items()
        if not math.isnan(float(ours.value))
    }


# --- examples ------------------------------------------------------------------------------
def _human_ranks(materials: Materials, line: int, systems: tuple[str, str]) -> Cells:
    both = [
        ranking.with_systems(systems)
        for ranking in materials.judgments("gjg15").rankings
        if ranking.segment == line and {*systems} <= {*ranking.systems} and ranking.ranks
    ]
    orders = {
        tuple(sorted(systems, key=lambda s: dict(zip(r.systems, r.ranks, strict=True))[s]))
        for r in both
    }
    note = f"the order of the two in {len(both)} judgments"
    return {
        (system, "human rank"): Ours(float(place), note)
        for order in (orders if len(orders) == 1 else ())
        for place, system in enumerate(order, start=1)
    }


TABLE3, TABLE8 = 249, 650  # lines of the examples in the source text, from 1


def _table3(materials: Materials) -> Made:
    systems = ("AMU", "UFC")
    corpus = materials.sentence("conll14_texts", TABLE3, systems)
    cells = _human_ranks(materials, TABLE3, systems)
    words = {s: corpus.systems[s][0].split() for s in systems}
    pairs = enumerate(zip(*words.values(), strict=True))
    marked = [at for at, (one, other) in pairs if one != other]
    for s, (at, name) in product(systems, zip(marked, ("first", "second"), strict=True)):
        cells[s, f"{name} marked word"] = Ours(words[s][at])
    first = replace(corpus, references=corpus.references[:1])
    return cells | _similarities(materials, first, marked)


def _similarities(materials: Materials, corpus: formats.Corpus, marked: Sequence[int]) -> Cells:
    columns = ("BERTScore", "its similarity", "its similarity (2)")
    try:
        chosen = materials.model(BERT)
    except MissingResourceError as error:
        return {(s, column): Ours.missing(error) for s in corpus.systems for column in columns}
    spelling = f"bertscore(model={chosen.spelling})"
    made = Ours(math.nan, f"by {spelling}, not rescaled", stands_in=chosen.stands_in)
    cells: Cells = {}
    for s, (text,) in corpus.systems.items():
        explained = explain(corpus, system=s, line=1, metrics=[spelling]).metrics[spelling]
        cosines = {token: float(cosine) for token, _, cosine, _ in explained.grids[1].rows}
        cells[s, columns[0]] = made.of(explained.value)
        for column, at in zip(columns[1:], marked, strict=True):
            cells[s, column] = made.of(cosines.get(text.split()[at].lower(), math.nan))
    return cells


def _table8(materials: Materials) -> Made:
    systems = ("NTHU", "PKU")
    corpus = materials.sentence("conll14", TABLE8, systems)
    cells = _human_ranks(materials, TABLE8, systems)
    cells |= {(s, "M2"): Ours(of.value) for s, of in score(corpus, ["sentm2"])["sentm2"].items()}
    try:
        chosen = materials.model(BERT)
    except MissingResourceError as error:
        return cells | {(s, "PT-M2"): Ours.missing(error) for s in systems}
    spelling = f"sent-pt-m2(model={chosen.spelling})"
    made = Ours(math.nan, f"by {spelling}", stands_in=chosen.stands_in)
    scores = score(corpus, [spelling])[spelling]
    return cells | {(s, "PT-M2"): made.of(of.value) for s, of in scores.items()}


# --- text ----------------------------------------------------------------------------------
def _text(materials: Materials) -> Made:
    corpus, judgments = materials.conll14, materials.judgments("gjg15")
    numbers = {
        "section 3.1: source sentences": len(corpus),
        "section 3.1: references a sentence": len(materials.conll14_texts.references),
        "section 3.1: teams": len(corpus.systems) - 1,
        "section 3.1: systems with the source": len(corpus.systems),
        "section 3.1: annotators": len({ranking.judge for ranking in judgments.rankings}),
        "section 5.2: systems, from": max(_KS),
        "section 5.2: systems, to": min(_KS),
    }
    best = _correlations(materials, ROWS["PT-M2 (BERT)"])["EW Pearson"]
    return {
        **{(row, "value"): Ours(float(number)) for row, number in numbers.items()},
        ("section 4.2: beta", "value"): Ours(M2().beta, "our default"),
        ("abstract, section 1, section 6: best Pearson", "value"): best,
    }


TABLES = by_name(*(_table3, _table4, _table5, _table6, _table7, _table8, _figure2, _figure3, _text))
