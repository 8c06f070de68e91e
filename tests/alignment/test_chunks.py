"""Chunks: the authors' partitions, invariants, a slow twin, and what is read into them."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given

from chunk_targets import (
    SYSTEMS,
    changes_of,
    read_json,
    references_of,
    sentences,
    targets_of,
)
from fake_annotator import FakeAnnotator
from grammeter.alignment.chunks import Chunk, Piece, ordered, partition, pieces, read_targets
from grammeter.alignment.verdicts import competing
from grammeter.core import DataError, Edit, Segment, apply


def cut(source, *versions):
    """Cut a text; a chunk is shown as span and texts, the ones that a version changes in [ ]."""
    chunks = partition(tuple(source.split()), [changes_of(source, *edits) for edits in versions])
    return [
        (f"{c.start}:{c.end}", *(
            f"[{' '.join(text)}]" if changed else " ".join(text)
            for text, changed in zip(c.texts, c.changed, strict=True)
        ))
        for c in chunks
    ]  # fmt: skip


# Goldens: THUKElab/CLEME e90abea run on M2 files (golden/cleme/README.md)


def partition_of(target):
    sentence, hypothesis = target
    remaining = competing(sentence, changed_only=False)
    return partition(sentence.source, [hypothesis, *remaining.values()])


def as_golden(chunks: list[Chunk]):
    return [
        {
            "span": [chunk.start, chunk.end],
            "source": " ".join(chunk.source),
            "hyp": " ".join(chunk.texts[0]),
            "hyp_changed": chunk.changed[0],
            "refs": [" ".join(text) for text in chunk.texts[1:]],
            "refs_changed": list(chunk.changed[1:]),
        }
        for chunk in chunks
    ]


@pytest.mark.parametrize("name", ["edge", "tiny_hypA", "tiny_hypB", "tiny_hypC", "CAMB"])
def test_partitions_are_the_authors(shared, name):
    cleme, data, errant = (shared / "golden" / x for x in ("cleme", "neural/data", "errant"))
    hypothesis, reference, golden = {
        "edge": (cleme / "edge_hyp.m2", cleme / "edge_ref.m2", "edge.json.gz"),
        "CAMB": (errant / "CAMB.m2", errant / "ref_text_ptm2.m2", "partition_CAMB.json.gz"),
    }.get(name, (data / f"{name[5:]}.m2", data / "reference.m2", f"{name}.json.gz"))
    targets = targets_of(hypothesis, references_of(reference))
    result = read_json(cleme / golden)
    lines = result["partition"] if isinstance(result, dict) else result
    assert len(lines) == {"edge": 38, "CAMB": 28}.get(name, 22)
    for line in lines:
        assert as_golden(partition_of(targets[line["line"] - 1])) == line["chunks"]


def test_all_partitions_of_conll14_are_the_authors(shared):
    errant = shared / "golden" / "errant"
    references = references_of(errant / "ref_text_ptm2.m2")
    goldens = read_json(shared / "golden" / "cleme" / "partition_sha256.json")
    for system in SYSTEMS:
        digest, count = hashlib.sha256(), 0
        targets = targets_of(errant / f"{system}.m2", references)
        for number, target in enumerate(targets, start=1):
            chunks = partition_of(target)
            count += len(chunks)
            cells = [
                f"{c.start} {c.end} {c.changed[0]:d}|{' '.join(c.texts[0])}"
                + "".join(
                    f"|{flag:d}:{' '.join(text)}"
                    for text, flag in zip(c.texts[1:], c.changed[1:], strict=True)
                )
                for c in chunks
            ]
            digest.update("\t".join([str(number), *cells]).encode() + b"\n")
        assert (digest.hexdigest(), count) == (
            goldens[system]["sha256"],
            goldens[system]["chunks"],
        )


# By hand


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        ([[]], [("0:4", "a b c d")]),
        ([[(1, 2, "x")]], [("0:1", "a"), ("1:2", "[x]"), ("2:4", "c d")]),
        ([[(0, 0, "x")]], [("0:0", "[x]"), ("0:4", "a b c d")]),
        ([[(4, 4, "x")]], [("0:4", "a b c d"), ("4:4", "[x]")]),
        ([[(0, 4, "")]], [("0:4", "[]")]),
        # what touches is joined, also across versions; one token between keeps apart
        ([[(1, 2, "x"), (2, 3, "y")]], [("0:1", "a"), ("1:3", "[x y]"), ("3:4", "d")]),
        ([[(1, 2, "x")], [(2, 3, "y")]],
         [("0:1", "a", "a"), ("1:3", "[x c]", "[b y]"), ("3:4", "d", "d")]),
        ([[(2, 2, "x")], [(1, 2, "y")]],
         [("0:1", "a", "a"), ("1:2", "[b x]", "[y]"), ("2:4", "c d", "c d")]),
        ([[(2, 2, "x")], [(2, 3, "y")]],
         [("0:2", "a b", "a b"), ("2:3", "[x c]", "[y]"), ("3:4", "d", "d")]),
        ([[(0, 1, "x"), (2, 3, "y")], []],
         [("0:1", "[x]", "a"), ("1:2", "b", "b"), ("2:3", "[y]", "c"), ("3:4", "d", "d")]),
        # transitively: 0:2 meets 1:3 meets 3:4
        ([[(0, 2, "x")], [(1, 3, "")], [(3, 4, "z")]],
         [("0:4", "[x c d]", "[a d]", "[a b c z]")]),
        # an edit that changes nothing changes
        ([[(1, 2, "b")], []], [("0:1", "a", "a"), ("1:2", "[b]", "b"), ("2:4", "c d", "c d")]),
        # several insertions at one place keep their order
        ([[(2, 2, "y"), (2, 2, "x")]], [("0:2", "a b"), ("2:2", "[y x]"), ("2:4", "c d")]),
    ],
)  # fmt: skip
def test_cuts(versions, expected):
    assert cut("a b c d", *versions) == expected


def show(result: list[Piece]) -> str:
    """Show pieces; edits in [ ], an empty place as a dot."""
    return " ".join(
        f"[{' '.join(piece.tokens)}]" if piece.edited else " ".join(piece.tokens) or "."
        for piece in result
    )


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ([], ". a . b . c ."),
        ([(1, 2, "x y")], ". a . [x y] . c ."),
        ([(1, 3, "")], ". a . [] ."),
        ([(1, 1, "x")], ". a [x] b . c ."),  # no empty place at an insertion
        ([(0, 0, "x"), (3, 3, "y")], "[x] a . b . c [y]"),
        ([(1, 1, "x"), (1, 2, "y")], ". a [x] [y] . c ."),
        ([(0, 1, "x"), (1, 2, "y")], ". [x] . [y] . c ."),
    ],
)
def test_pieces(edits, expected):
    assert show(pieces(("a", "b", "c"), changes_of("a b c", *edits))) == expected


# Invariants, and a twin that says it slowly


def slow_spans(source, versions):
    """Join closed intervals, two at a time, until no two meet."""
    spans = {(e.start, e.end) for edits in versions for e in edits}
    while True:
        meeting = [(p, q) for p in spans for q in spans if p < q and p[1] >= q[0]]
        if not meeting:
            return sorted(spans)
        p, q = meeting[0]
        spans = (spans - {p, q}) | {(min(p[0], q[0]), max(p[1], q[1]))}


@given(sentences())
def test_partition_equals_its_twin(drawn):
    source, versions = drawn
    chunks = partition(source, [ordered(source, edits) for edits in versions])
    spans = slow_spans(source, versions)
    assert [(c.start, c.end) for c in chunks if any(c.changed)] == spans
    assert all(c.end > c.start for c in chunks if not any(c.changed))
    assert sum((c.source for c in chunks), ()) == source
    for number, edits in enumerate(versions):
        assert list(sum((c.texts[number] for c in chunks), ())) == apply(source, edits)
        for chunk in chunks:
            inside = [e for e in edits if chunk.start <= e.start and e.end <= chunk.end]
            moved = [Edit(e.start - chunk.start, e.end - chunk.start, e.correction) for e in inside]
            if (chunk.start, chunk.end) in spans:
                assert chunk.changed[number] == bool(inside)
                assert list(chunk.texts[number]) == apply(chunk.source, moved)
            else:
                assert chunk.texts[number] == chunk.source


@given(sentences(most=1))
def test_pieces_are_the_version(drawn):
    source, (edits,) = drawn
    result = pieces(source, ordered(source, edits))
    assert list(sum((piece.tokens for piece in result), ())) == apply(source, edits)
    assert [p[:3] for p in result if p.edited] == [tuple(c) for c in ordered(source, edits)]
    empty = {p.start for p in result if p.start == p.end and not p.edited}
    insertions = {e.start for e in edits if e.start == e.end}
    starts = {p.start for p in result if p.start < p.end} | {len(source)}
    assert empty == starts - insertions


# What is read


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        ([(0, 2, "x"), (1, 2, "y")], "overlaps"),
        ([(0, 2, "x"), (1, 1, "y")], "overlaps"),
        ([(2, 1, "x")], "outside"),
        ([(3, 4, "x")], "outside"),
    ],
)
def test_edits_that_cannot_be_applied(edits, message):
    with pytest.raises(ValueError, match=message):
        changes_of("a b c", *edits)


def test_corrections_are_taken_literally():
    edits = [
        Edit(3, 4, "", "UNK"),  # an error without a correction deletes
        Edit(-1, -1, "", "noop"),
        Edit(2, 3, "-NONE- x"),
        Edit(0, 1, "in", "R:PREP", ("at",)),
    ]
    assert ordered(["a", "b", "c", "d"], edits) == ((0, 1, ("in||at",)), (2, 3, ()), (3, 4, ()))


def test_pairs_are_extracted_once_and_lines_are_shared():
    texts, gold = ("x b", None, "a b"), {1: (Edit(0, 1, "y"),), 0: ()}
    segments = [
        Segment("a  b", "x b ", texts),
        Segment("a  b", "a b", texts),
        Segment("a b", " x  b", gold=gold),
        Segment("a b", "a c", gold=gold),
    ]
    fake = FakeAnnotator()
    result = read_targets(segments, fake.annotate)
    assert fake.calls == [[("a b", "x b"), ("a b", "a c")]]
    assert [hypothesis for _, hypothesis in result] == [
        ((0, 1, ("x",)),), (), ((0, 1, ("x",)),), ((1, 2, ("c",)),),
    ]  # fmt: skip
    assert result[0][0] is result[1][0] is not result[2][0] is result[3][0]
    assert result[0][0].references == {0: ((0, 1, ("x",)),), 2: ()}
    assert list(result[2][0].references) == [0, 1]


@pytest.mark.parametrize(
    ("segment", "message"),
    [
        (Segment("a", "a"), "neither gold edits nor a reference for 'a'"),
        (Segment("a", "a", (None,)), "neither gold edits nor a reference for 'a'"),
        (Segment(" ", "", ("",)), "sentence 2: the source is empty"),
        (Segment("a b", "a b", gold={0: (Edit(0, 2, "x"), Edit(1, 2, "y"))}),
         "sentence 2: edit 1 2 'y' overlaps another edit"),
    ],
)  # fmt: skip
def test_faulty_sentences_are_named(segment, message):
    with pytest.raises(DataError, match=message):
        read_targets([Segment("a", "a", ("a",)), segment], FakeAnnotator().annotate)


def test_nothing_to_read():
    assert read_targets([], FakeAnnotator().annotate) == []
