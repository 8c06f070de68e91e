"""One scheme of error types: gold edits have the annotators' types, outputs those of rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from grammeter.core import DETECTION_ONLY, Edit, GoldEdits, Segment
from grammeter.errant.annotate import Annotator
from grammeter.errant.given import by_span
from grammeter.errant.languages import Language

GoldTypes = Mapping[int, Mapping[int, Sequence[str]]]
"""By identity of a sentence's gold edits and by annotator: a type for each edit, in order."""


def foreign_types(gold: Iterable[GoldEdits], rules: Language) -> list[str]:
    """Return the types of gold edits that the rules of a language never give, sorted.

    Types of edits that only mark an error (``Um``, ``UNK``) belong to every scheme.
    """
    annotations = chain.from_iterable(by_annotator.values() for by_annotator in gold)
    types = {edit.type for edit in chain.from_iterable(annotations) if not edit.is_noop}
    return sorted(kind for kind in types - DETECTION_ONLY if not rules.gives(kind))


def types_by_rules(segments: Iterable[Segment], annotator: Annotator) -> GoldTypes:
    """Type gold edits by the annotator's rules; spans and corrections stay as they are.

    Edits that only mark an error are ``UNK``, as in ``errant_m2 -gold``.
    """
    lines = {id(segment.gold): segment for segment in segments}
    jobs = [
        (key, number, segment.source, edits)
        for key, segment in lines.items()
        for number, edits in segment.gold.items()
    ]
    typed = annotator.retype_all([(source, edits) for *_, source, edits in jobs], minimise=False)
    types: dict[int, dict[int, Sequence[str]]] = {key: {} for key in lines}
    for (key, number, _, edits), retyped in zip(jobs, typed, strict=True):
        places = sorted(
            (at for at, edit in enumerate(edits) if not edit.is_noop),
            key=lambda at, edits=edits: by_span(edits[at]),
        )
        names = [edit.type for edit in edits]
        for at, edit in zip(places, retyped, strict=True):
            names[at] = edit.type
        types[key][number] = names
    return types


def one_scheme(segments: Sequence[Segment], annotator: Annotator) -> list[Segment]:
    """Return segments whose gold edits have types of the annotator's rules, if they had others.

    Edits that only mark an error, or change nothing, keep their types, so that the same edits
    count as before.
    """
    if not foreign_types((segment.gold for segment in segments), annotator.rules):
        return list(segments)
    types = types_by_rules(segments, annotator)
    gold: dict[int, GoldEdits] = {
        id(segment.gold): {
            number: tuple(map(_retyped, edits, types[id(segment.gold)][number]))
            for number, edits in segment.gold.items()
        }
        for segment in segments
    }
    return [replace(segment, gold=gold[id(segment.gold)]) for segment in segments]


def _retyped(edit: Edit, name: str) -> Edit:
    return edit if {edit.type, name} & DETECTION_ONLY else replace(edit, type=name)
