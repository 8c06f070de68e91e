"""IMPARA: Impact-Based Metric for GEC Using Parallel Data (COLING 2022).

Tables 6 to 8 are about the corrections of all annotators of CoNLL-2014 with alternatives, up to
five a sentence, as texts in which ``Um`` edits are applied; their edits are extracted anew. That
this is the file, sentence 333 of annotator 2 proves: no other text has 235 words.
"""

import inspect
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from grammeter import core, errant, formats, meta, metrics, training
from grammeter.papers import by_maege
from grammeter.papers.cells import Cells, Made, Ours, read_paper, read_tables
from grammeter.papers.materials import Materials, by_name, correlated, in_columns, once
from grammeter.verbs import train_impara

SENTENCE = ("sentence Acc", "sentence Ken")
_RECIPE = read_paper("maeda2022")["recipe"]
IMPACT = "impact (10^-2)"


# --- people's judgments --------------------------------------------------------------------
def _table2(materials: Materials) -> Made:
    named = {"Scribendi Score": "Scribendi Score (ours)"}
    rows = {named.get(row, row): partial(_human, materials, row) for row in by_maege.ROWS}
    cells = in_columns(rows, (*by_maege.CORPUS, *SENTENCE))
    repeated = (("Scribendi Score (paper)", column) for column in by_maege.CORPUS)
    return cells | dict.fromkeys(repeated, Ours(math.nan, _REPEATED))


_REPEATED = "figures of Islam and Magnani 2021, which the paper repeats: not of its own work"


def _human(materials: Materials, row: str) -> dict[str, Ours]:
    """Correlate with Expected Wins of all 13 systems, and count pairs; a metric's tie is wrong."""
    spelling, made = by_maege.spelled(materials, row)
    table = materials.scored("conll14", [spelling])
    rankings = materials.judgments("gjg15").rankings
    design = meta.SentenceDesign(pairs="expanded", ties="wrong", missing="drop", resamples=0)
    (agreement,) = meta.correlate_sentences(table, rankings, design=design).values()
    result = correlated(table, {"EW": expected_wins()})["EW"][spelling]
    values = (result["pearson"].value, result["spearman"].value)
    counts, why = agreement.counts, result["pearson"].reason
    note = f"{made.note}; 13 systems, {counts.total} pairs" + (f"; {why}" if why else "")
    made = replace(made, note=note)
    values += (agreement.accuracy.value, agreement.tau.value)
    return {c: made.of(v) for c, v in zip((*by_maege.CORPUS, *SENTENCE), values, strict=True)}


def expected_wins() -> dict[str, float]:
    """Return people's scores as Table 3(b) of Grundkiewicz et al. 2015 prints them."""
    cells = read_tables("grundkiewicz2015")["table3b"].cells
    scores = {system: cell.value for (system, column), cell in cells.items() if column == "score"}
    return {system: value for system, value in scores.items() if isinstance(value, float)}


# --- impacts of edits ----------------------------------------------------------------------
@dataclass(frozen=True)
class Corrected:
    """Corrections with edits of merged types, by ``sentence.annotator``, and the pipeline."""

    rows: Mapping[str, formats.Correction]
    pipeline: str


@once
def corrected(materials: Materials) -> Corrected:
    """Extract the edits of all annotators' texts, ``Um`` edits applied."""
    path = formats.dataset_path("conll14_test", "alt/official-2014.combined-withalt.m2")
    rows = [row.as_text() for row in formats.read_parallel(str(path)) if row.edits]
    folder = (materials.settings.models or {}).get("en_core_web_sm")
    extractor = errant.annotator(str(folder) if folder else None, types=True)
    edits = extractor.annotate([(row.source, row.text or "") for row in rows])
    places = (row.origin.rpartition("#")[2] for row in rows)
    pipeline = extractor.signature()["pipeline"]
    typed: dict[str, formats.Correction] = {}
    for place, row, of in zip(places, rows, edits, strict=True):
        by_type = tuple(replace(edit, type=training.merged(edit.type)) for edit in of)
        typed[place if "." in place else f"{place}.0"] = replace(row, edits=by_type)
    return Corrected(typed, str(pipeline))


@once
def _impacts(materials: Materials) -> tuple[training.Impacts, Ours]:
    chosen = materials.model(by_maege.BERT)
    rows = [replace(row, origin=place) for place, row in corrected(materials).rows.items()]
    note = f"impacts by {chosen.spelling}, times 100"
    made = Ours(math.nan, note, stands_in=chosen.stands_in)
    return training.Impacts.of(training.measure_impacts(rows, chosen.spelling)), made


TYPES = tuple(dict.fromkeys(row for row, _ in read_tables("maeda2022")["table6"].cells))


def _counts(materials: Materials) -> Counter[str]:
    rows = corrected(materials).rows.values()
    return Counter(edit.type for row in rows for edit in row.edits or ())


def _table6(materials: Materials) -> Made:
    def impact(row: str) -> dict[str, Ours]:
        impacts, made = _impacts(materials)
        return {IMPACT: made.of(by_maege.PERCENT * {of.type: of.mean for of in impacts.types}[row])}

    counts, note = _counts(materials), f"edits by the pipeline {corrected(materials).pipeline}"
    cells: Cells = {(row, "frequency"): Ours(float(counts[row]), note) for row in TYPES}
    return cells | in_columns({row: partial(impact, row) for row in TYPES}, (IMPACT,))


TABLE7, TABLE8 = (_RECIPE[table] for table in ("table7", "table8"))
"""The edits of both tables: line and annotator, the words before and after."""


def _single(materials: Materials, edits: Mapping[str, tuple[str, str, str]]) -> Cells:
    def impact(place: tuple[str, str, str]) -> dict[str, Ours]:
        impacts, made = _impacts(materials)
        rows = [(e.origin, e.original, e.correction) for e in impacts.edits]
        at = rows.index((*place,))  # a list where it is read from the paper's file
        edit = impacts.edits[at]
        note = f"{made.note}; {edit.type}, rank {at + 1} of {len(rows)}"
        return {IMPACT: replace(made, value=by_maege.PERCENT * edit.impact, note=note)}

    return in_columns({row: partial(impact, place) for row, place in edits.items()}, (IMPACT,))


def _table7(materials: Materials) -> Made:
    data = corrected(materials)
    cells: Cells = {}
    for row, (place, before, after) in TABLE7.items():
        words, edits = data.rows[place].source.split(), data.rows[place].edits or ()
        types = {(" ".join(words[e.start : e.end]), e.correction): e.type for e in edits}
        line, _, person = place.partition(".")
        note = f"line {line}, annotator {person}: [{before} -> {after}]; by {data.pipeline}"
        cells[row, "error type"] = Ours(types[before, after], note)
    return cells | _single(materials, TABLE7)


def _table8(materials: Materials) -> Made:
    return _single(materials, TABLE8)


# --- text ----------------------------------------------------------------------------------
def _text(materials: Materials) -> Made:
    made = _settings()
    counts = _counts(materials)
    frequent = {kind for kind, count in counts.items() if count > PRINTED_LEAST} - {"OTHER"}
    if frequent == {*TYPES}:
        note = "more edits than this have the seven types of Table 6, and OTHER, no others"
        made["Table 6: frequency above"] = Ours(float(PRINTED_LEAST), note)
    made["GEC systems in the human rankings"] = Ours(float(len(expected_wins())))
    made["words of the sentences of the five lowest impacts"] = _lowest(materials)
    table3 = {key: cell.value for key, cell in read_tables("maeda2022")["table3"].cells.items()}
    for column in by_maege.MAEGE[2:]:
        one, other = table3["IMPARA", column], table3["SOME", column]
        if isinstance(one, float) and isinstance(other, float):
            made[f"IMPARA over SOME, {column}"] = Ours(one - other, _ARITHMETIC)
    ties = {f"share of ties, {r}, percent": partial(_ties, materials, r) for r in by_maege.THREE}
    cells: Cells = {(row, "value"): ours for row, ours in made.items()}
    return cells | in_columns(ties, ("value",))


_ARITHMETIC = "arithmetic on the printed Table 3"
PRINTED_LEAST = 400


def _settings() -> dict[str, Ours]:
    default = {name: p.default for name, p in inspect.signature(train_impara).parameters.items()}
    power = round(math.log10(default["learning_rate"]))
    ours = {
        "|T|, training instances": float(default["pairs"]),
        "instances of a sentence pair, at most": float(training.DRAWS),
        "learning rate": f"10^{power}",
        "batch size": float(default["batch_size"]),
        "epochs": f"best of 1 to {default['epochs']} on validation",
        "theta": metrics.Impara.threshold,
        "model": default["encoder"],
    }
    return {row: Ours(value, "our default") for row, value in ours.items()}


def _ties(materials: Materials, row: str) -> dict[str, Ours]:
    result, made = by_maege.on_alternatives(materials, row)
    (of,) = result.values()
    return {"value": made.of(by_maege.PERCENT * of.chain.tie_share)}


def _lowest(materials: Materials) -> Ours:
    """Return the words of the sentences of the five lowest impacts; else of those that are."""
    rows = corrected(materials).rows.items()
    lengths = {place: len((row.text or "").split()) for place, row in rows}
    try:
        impacts, made = _impacts(materials)
    except core.MissingResourceError as error:
        places = {n: [at for at, words in lengths.items() if words == n] for n in (80, 235)}
        there = ", ".join(f"{words}: {' '.join(of)}" for words, of in places.items())
        note = f"texts of so many words, by line.annotator: {there}; the edits: {error.message}"
        return Ours("80, 235, 235, 235, 235" if all(places.values()) else math.nan, note, "print")
    return made.of(", ".join(str(lengths[edit.origin]) for edit in impacts.edits[-5:]))


TABLES = by_maege.TABLES | by_name(_table2, _table6, _table7, _table8, _text)
