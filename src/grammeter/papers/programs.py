"""Figures of public programs that differ from their own rules, on the CoNLL-2014 systems."""

from grammeter import errant, formats
from grammeter.papers.cells import Made, Ours
from grammeter.papers.materials import Materials, correlation_cells

_CONSTANTS = {
    "cleme(level=sentence)": "constants of the sentence level",
    "cleme(level=sentence, weights=length-corpus)": "constants of the corpus level",
}
"""Rows by spelling: the documented and the actual constants of release 1.1."""

_SECOND = 1  # the annotator that the combined file lists only where both differ


def _ref1(materials: Materials) -> Made:
    """Count sentences where a rule takes the source as the text of an absent annotator."""
    corpus = materials.conll14
    # sentences that nobody edits have no annotator at all, and are read as an empty list of edits
    absent = [line for line, gold in enumerate(corpus.gold) if set(gold) == {0} and gold[0]]
    row = "second reference equal to the source, where only the first annotator is listed"
    cells: dict[tuple[str, str], float] = {}
    for name, rule in (
        ("by its rule", formats.TextRule(um="apply", missing="source")),
        ("as annotator 0", formats.TextRule(um="apply", missing="other")),
    ):
        texts = formats.reference_texts(corpus.sources, corpus.gold, rule)[0][_SECOND]
        cells[row, name] = float(sum(texts[line] == corpus.sources[line] for line in absent))
    return cells


def _cleme(materials: Materials) -> Made:
    scores = materials.scored("conll14_texts", list(_CONSTANTS))
    people = {"EW": materials.people["EW"]}
    note = f"edits by the pipeline {errant.find_pipeline().name}"
    cells = correlation_cells(scores, _CONSTANTS, people, drop=["INPUT"])
    return {key: Ours(value, note) for key, value in cells.items()}


TABLES = {"gec-metrics": _ref1, "cleme": _cleme}
