"""Made-up reports: words drawn at random, and texts that would like to be markup."""

from __future__ import annotations

import math
import random
from dataclasses import replace

from grammeter.core import Column, Table
from grammeter.rendering import (
    Browser,
    Drawing,
    DrawnEdit,
    Output,
    Page,
    PageSentence,
    Section,
)

HOSTILE = (
    "<script>alert('x')</script>",
    "</script><img src=x onerror=alert(1)>",
    "<!-- <script> ]]> </style></textarea></title>",
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)' & &lt; &amp;lt; ${title} $title",
    "line\u2028and\u2029paragraph",
    "\u202egnp.exe\u202c \u0301 \U0001f1e6\U0001f1f9 👩‍👩‍👧 ｗｉｄｅ",
)
VOCABULARY = """
    the a of to in she he they goes go went school market house people many much information
    advice think thinks important because their there which that was were is are has had been
    problem solution government technology life nowadays every each child children example
"""
WORDS = VOCABULARY.split()
TYPES = ("R:VERB:TENSE", "M:DET", "U:PREP", "R:NOUN:NUM", "R:SPELL", "")
METRICS = (("m2", True), ("gleu", True), ("errant(beta=1.0)", True), ("perplexity", False))
DRAWING = Drawing(
    '<svg viewBox="0 0 300 60" width="300" height="60" role="img" aria-label="Scores">'
    "<title>Scores</title>"
    '<rect x="0" y="5" width="240" height="20" fill="var(--series-1)"/>'
    '<rect x="0" y="35" width="120" height="20" fill="var(--series-2)"/>'
    '<text x="250" y="20" fill="currentColor" font-size="12">AMU</text></svg>',
    "Scores of two systems.",
)


def made_browser(systems=4, sentences=30, *, length=20, metrics=METRICS, seed=1, typed=True):
    """Draw sentences at random; some outputs are equal, some unchanged, some without a score."""
    chance = random.Random(seed)
    return Browser(
        tuple(f"SYS{number:02}" for number in range(systems)),
        tuple(metrics),
        tuple(_sentence(chance, systems, length, len(metrics), typed) for _ in range(sentences)),
        "m2" if typed else None,
    )


def made_page(browser=None):
    scores = Table(
        (Column("system"), Column("m2", "number"), Column("gleu", "number")),
        (("AMU", "0.3501 a", "0.6412"), ("CAMB", "0.3733 b", "NaN"), ("INPUT", "0.0000", "0.5")),
        ("m2: m2|beta:0.5|version:0.1",),
        best=frozenset({(1, 1), (0, 2)}),
    )
    return Page(
        "Thirteen systems on a made-up test set",
        (("systems", "3"), ("sentences", "30"), ("grammeter", "0.1.0")),
        (
            Section("scores", "Scores", ("How to read it.",), (scores,), (DRAWING,)),
            Section("types", "Error types", (), (scores, scores), (), ("Of AMU", "Of CAMB")),
        ),
        browser,
    )


def hostile_page(text):
    """Put one text wherever a page has a text."""
    edit = DrawnEdit(0, 1, text, text, "matched")
    outputs = (
        Output(text, (0,), (replace(edit, verdict="missed"),), (0.5,)),
        Output("a b", (1,), (edit, DrawnEdit(1, 2, text, "", "spurious")), (math.nan,)),
    )
    table = Table(
        (Column(text), Column(text, "number")),
        ((text, text),),
        (text,),
        best=frozenset({(0, 0)}),
    )
    return Page(
        text,
        ((text, text),),
        (Section("one", text, (text,), (table,), (replace(DRAWING, caption=text),), (text,)),),
        Browser(
            (text, "other"), ((text, True),), (PageSentence(text, (text, None), outputs),), text
        ),
    )


def _sentence(chance, systems, length, metrics, typed):
    size = max(1, round(chance.gauss(length, length / 4)))
    source = chance.choices(WORDS, k=size)
    gold = _edits(chance, source, typed)
    groups = {}
    for system in range(systems):
        made = tuple(e for e in gold if chance.random() < 0.5) if system else ()
        made = _more(chance, source, made, gold)
        groups.setdefault(made, []).append(system)
    outputs = []
    for made, names in sorted(groups.items(), key=lambda group: -len(group[1])):
        missed = [replace(e, verdict="missed" if typed else None) for e in gold if e not in made]
        edits = [*made, *(missed if typed else [])]
        edits.sort(key=lambda e: (e.start, e.end))
        values = tuple(
            math.nan if chance.random() < 0.02 else chance.random() for _ in range(metrics)
        )
        outputs.append(Output(_applied(source, made), tuple(names), tuple(edits), values))
    references = (_applied(source, gold), " ".join(source))
    return PageSentence(" ".join(source), references, tuple(outputs))


def _edits(chance, source, typed):
    starts = sorted(chance.sample(range(len(source)), min(len(source), 1 + len(source) // 7)))
    return tuple(
        DrawnEdit(
            start,
            start + chance.randint(0, 1),
            chance.choice(WORDS),
            chance.choice(TYPES) if typed else "",
            "matched" if typed else None,
        )
        for start in starts
    )


def _more(chance, source, made, gold):
    """Add an edit that no reference has, where there is room."""
    taken = {place for e in gold for place in range(e.start, e.end + 1)}
    free = [place for place in range(len(source)) if not taken & {place, place + 1}]
    if not free or chance.random() < 0.5:
        return made
    place = chance.choice(free)
    verdict = "spurious" if gold and gold[0].verdict else None
    text = chance.choice(["", chance.choice(WORDS)])
    extra = DrawnEdit(place, place + 1, text, "R:OTHER" if verdict else "", verdict)
    return tuple(sorted((*made, extra), key=lambda e: (e.start, e.end)))


def _applied(source, edits):
    words, done = [], 0
    for edit in edits:
        words += source[done : edit.start]
        words += [edit.correction] if edit.correction else []
        done = edit.end
    return " ".join([*words, *source[done:]])
