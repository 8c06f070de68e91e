"""Sentence scores as TSV."""

import json
import math
from collections.abc import Iterator

from grammeter.core import ScoreTable, SegmentScores, json_number, shielded, single_line

HEADER = ("system", "segment", "metric", "value", "reference", "parts")


def segments_tsv(table: ScoreTable) -> str:
    """Return TSV with the header ``system segment metric value reference parts``.

    ``segment`` counts from 1; ``value`` has all digits, ``null`` if there is none;
    ``reference`` is the number of the chosen reference or annotator, or empty; ``parts`` is a
    JSON object, with ``corpus_reference`` and ``corpus_value`` if the corpus score chose another
    reference; of a sentence that cannot be judged the reason alone. Where less is better for a
    metric, a last column ``higher_is_better`` says ``true`` or ``false``.
    """
    directed = not all(column.higher_is_better for column in table.values())
    lines = ["\t".join((*HEADER, *["higher_is_better"] * directed))]
    for name, column in table.items():
        end = f"\t{str(column.higher_is_better).lower()}" if directed else ""
        for system, scores in column.segments.items():
            head, middle = shielded(single_line(system)), shielded(single_line(name))
            lines += [
                f"{head}\t{number}\t{middle}\t{_unjudged(table.skipped.get(number)) or rest}{end}"
                for number, rest in enumerate(_rows(scores), start=1)
            ]
    return "\n".join(lines) + "\n"


def _unjudged(why: str | None) -> str:
    return f"null\t\t{json.dumps({'reason': f'it cannot be judged: {why}'})}" if why else ""


def _rows(scores: SegmentScores) -> Iterator[str]:
    names = list(scores.parts)
    columns = [scores.parts[name].tolist() for name in names]
    figures = zip(*columns, strict=True) if columns else ([()] * len(scores))
    rows = zip(scores.values.tolist(), scores.chosen.tolist(), figures, strict=True)
    corpus = scores if scores.in_corpus is None else scores.in_corpus
    others = zip(corpus.chosen.tolist(), corpus.values.tolist(), strict=True)
    for (value, chosen, parts), (other, its_value) in zip(rows, others, strict=True):
        numbers = {name: json_number(part) for name, part in zip(names, parts, strict=True)}
        shown: dict[str, object] = {**numbers}
        if other != chosen:
            shown |= {"corpus_reference": other, "corpus_value": json_number(its_value)}
        if math.isnan(value):
            shown["reason"] = scores.reason or "undefined"
        text = "null" if math.isnan(value) else repr(value)
        yield f"{text}\t{chosen if chosen >= 0 else ''}\t{json.dumps(shown, ensure_ascii=False)}"
