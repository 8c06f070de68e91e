"""An annotator without a pipeline, so that tests need no spaCy."""

from __future__ import annotations

from dataclasses import replace

from grammeter.core import Edit, minimise
from grammeter.errant import ENGLISH


class FakeAnnotator:
    """One edit for all that changes, typed by its operation; or what a test lays down."""

    notice = "a fake pipeline"
    rules = ENGLISH

    def __init__(self):
        self.known = {}
        self.calls = []

    def annotate(self, pairs):
        self.calls.append(list(pairs))
        return [self.known.get(pair) or self.one_edit(*pair) for pair in pairs]

    def one_edit(self, source, text):
        tokens = source.split()
        edit = minimise(Edit(0, len(tokens), text), tokens)
        if edit.start == edit.end and not edit.correction:
            return ()
        kind = "M" if edit.start == edit.end else "R" if edit.correction else "U"
        return (Edit(edit.start, edit.end, edit.correction, f"{kind}:OTHER"),)

    def retype_all(self, sentences, *, minimise=True, keep_types=False):
        self.calls.append((sentences, minimise, keep_types))
        return [self.renamed(edits, "R:GOLD") for _, edits in sentences]

    def reextract_all(self, sentences):
        self.calls.append(sentences)
        return [self.renamed(edits, "R:AUTO") for _, edits in sentences]

    def renamed(self, edits, kind):
        ordered = sorted(edits, key=lambda e: (e.start, e.end))
        return tuple(replace(e, type=kind, alternatives=()) for e in ordered)

    def signature(self):
        return {"pipeline": "fake-1.0", "pipeline-hash": "abc"}
