"""Extracted edits for tests of chunks: from M2 files, by hand and by chance."""

from __future__ import annotations

import gzip
import json

from hypothesis import strategies as st

from grammeter.alignment.chunks import ChunkedSentence, ordered
from grammeter.core import Edit
from grammeter.formats import read_m2


def sentence(source, *references):
    """Make a sentence from a text and, for each reference, a list of edits."""
    tokens = tuple(source.split())
    changes = {k: changes_of(source, *edits) for k, edits in enumerate(references)}
    return ChunkedSentence(tokens, changes)


def changes_of(source, *edits):
    """Order edits given as (start, end, correction)."""
    return ordered(source.split(), [Edit(*edit) for edit in edits])


def references_of(path):
    """Return a sentence for each block of an M2 file of references."""
    return [
        ChunkedSentence(
            tuple(block.source.split()),
            {k: ordered(block.source.split(), edits) for k, edits in block.gold.items()},
        )
        for block in read_m2(path).blocks
    ]


def targets_of(path, sentences, annotator=0):
    """Pair sentences with the edits of an M2 file of hypotheses."""
    pairs = zip(sentences, read_m2(path).blocks, strict=True)
    return [(s, ordered(s.source, block.gold.get(annotator, ()))) for s, block in pairs]


def read_json(path):
    """Read plain or compressed JSON."""
    data = path.read_bytes()
    return json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)


def read_table(path):
    """Read TSV with a header, plain or compressed, as dictionaries."""
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    header, *rows = [line.split("\t") for line in text.splitlines()]
    return [dict(zip(header, row, strict=True)) for row in rows]


SYSTEMS = (
    "AMU", "CAMB", "CUUI", "IITB", "INPUT", "IPN", "NTHU", "PKU", "POST", "RAC", "SJTU", "UFC",
    "UMC",
)  # fmt: skip

words = st.lists(st.sampled_from("abx"), max_size=2).map(tuple)


@st.composite
def changes(draw, length):
    """Draw edits of a sentence, in order and without overlaps; insertions may repeat."""
    found, done = [], 0
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(done, length))
        end = draw(st.integers(start, min(length, start + 2)))
        found.append(Edit(start, end, " ".join(draw(words))))
        done = end
    return tuple(found)


@st.composite
def sentences(draw, most=3, least=1):
    """Draw a source and the edits of several versions of it."""
    source = tuple(draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=6)))
    count = draw(st.integers(least, most))
    return source, [draw(changes(len(source))) for _ in range(count)]
