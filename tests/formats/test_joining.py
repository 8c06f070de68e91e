"""Files of judgments read together: counted alike, found out, or refused; never a sentence off."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import permutations

import pytest

from grammeter.core import Ranking, UsageError
from grammeter.formats.judgments import format_judgments, read_judgments
from grammeter.verbs import agree

SYSTEMS = "ABCDE"


def made(judge, *, sentences=range(5, 45), shown=4, texts=3, seed=1):
    """Rankings of sentences whose outputs are the same for every judge."""
    rankings = []
    for segment in sentences:
        outputs = random.Random(f"{seed}-{segment}")
        text = {name: outputs.randrange(texts) for name in SYSTEMS}
        some = random.Random(f"{segment}-{judge}")
        groups = {}
        for name in some.sample(SYSTEMS, shown):
            groups.setdefault(text[name], []).append(name)
        ranks = tuple(some.randint(1, 3) for _ in groups)
        rankings.append(
            Ranking(
                judge=judge, segment=segment, groups=tuple(map(tuple, groups.values())), ranks=ranks
            )
        )
    return rankings


def write(path, rankings, first=None):
    form = "jsonl" if first is None else "appraise" if path.suffix == ".xml" else "wmt"
    path.write_text(format_judgments(rankings, form, first_segment=first))
    return path


def kappas(paths, **options):
    agreement = agree(read_judgments(paths, **options))
    return {judges: (k.value, k.n) for judges, k in agreement.pairs.items()}


@pytest.mark.parametrize("first", [0, 1])
def test_the_groups_tell_how_xml_lies_to_lines(tmp_path, first):
    lines = write(tmp_path / "model.jsonl", made("model"))
    people = write(tmp_path / "people.xml", made("ann") + made("bob"), first)
    expected = agree(made("model") + made("ann") + made("bob")).pairs
    judgments = read_judgments([lines, people])
    assert judgments.numbering == f"1 (format), {first} (found)"
    assert [r.segment for r in judgments] == [*range(5, 45)] * 3
    for paths in ([lines, people], [people, lines]):
        assert kappas(paths) == {judges: (k.value, k.n) for judges, k in expected.items()}


@pytest.mark.parametrize("form", ["xml", "csv"])
def test_names_and_the_order_of_sentences_change_nothing(tmp_path, form):
    lines, people = made("model"), made("ann", shown=5) + made("bob")
    expected = None
    for renamed in (str, {name: f"{ord(name) % 5}-x" for name in SYSTEMS}.__getitem__):
        for order in (list, lambda some: some[::-1]):
            parts = [
                [
                    replace(r, groups=tuple(tuple(map(renamed, g)) for g in r.groups))
                    for r in order(p)
                ]
                for p in (lines, people)
            ]
            model = write(tmp_path / "model.jsonl", parts[0])
            other = write(tmp_path / f"people.{form}", parts[1], 1)
            pairs = kappas([model, other])
            expected = expected or pairs
            assert pairs == expected


def test_files_of_one_form_may_count_differently(tmp_path):
    paths = [
        write(tmp_path / f"{judge}.xml", made(judge), first)
        for judge, first in (("ann", 0), ("bob", 1), ("cid", 1), ("dan", 0))
    ]
    for order in permutations(paths, 3):
        judgments = read_judgments(order)
        assert {r.segment for r in judgments} == {*range(5, 45)}
        assert judgments.notes == ()


def test_files_that_count_alike_are_left_alone(tmp_path):
    paths = [write(tmp_path / f"{judge}.xml", made(judge), 1) for judge in ("ann", "bob")]
    judgments = read_judgments(paths)
    assert judgments.numbering == "0 (default)"  # from 0 or from 1, but both alike
    assert judgments.notes == ()


def apart(rankings):
    """Every system has an output of its own: groups say nothing, and the same systems are shown."""
    return [
        replace(r, groups=tuple((n,) for n in SYSTEMS), ranks=(1, 2, 3, 4, 5)) for r in rankings
    ]


def test_without_evidence_one_must_say_it(tmp_path):
    lines = write(tmp_path / "model.jsonl", apart(made("model")))
    people = write(tmp_path / "people.xml", apart(made("ann")), 1)
    with pytest.raises(
        UsageError, match=r"people\.xml counts sentences from 0 or from 1"
    ) as caught:
        read_judgments([lines, people])
    assert "--first-segment" in str(caught.value)
    stated = read_judgments([lines, people], first_segment=1)
    assert {r.segment for r in stated} == {*range(5, 45)}


def test_files_of_one_form_without_evidence_are_taken_to_count_alike(tmp_path):
    paths = [write(tmp_path / f"{judge}.xml", apart(made(judge)), 1) for judge in ("ann", "bob")]
    judgments = read_judgments(paths)
    assert "are taken to count sentences alike; nothing in them shows it" in judgments.notes[0]


def test_the_same_items_are_evidence_without_groups(tmp_path):
    lines = write(tmp_path / "model.jsonl", made("x", texts=10**6))
    people = write(tmp_path / "people.xml", made("x", texts=10**6), 1)
    assert read_judgments([lines, people]).numbering == "1 (format), 1 (found)"


def test_a_sentence_0_settles_it(tmp_path):
    lines = write(tmp_path / "model.jsonl", apart(made("model", sentences=range(1, 9))))
    people = write(tmp_path / "people.csv", apart(made("ann", sentences=range(1, 9))), 0)
    assert read_judgments([lines, people]).numbering == "1 (format), 0 (found)"


def test_files_without_a_common_sentence_may_be_joined(tmp_path):
    lines = write(tmp_path / "model.jsonl", apart(made("model")))
    people = write(tmp_path / "people.xml", apart(made("ann", sentences=range(60, 80))), 0)
    assert len(read_judgments([lines, people])) == 60


def test_other_outputs_are_said_to_be_others(tmp_path):
    lines = write(tmp_path / "model.jsonl", made("model"))
    others = write(tmp_path / "others.jsonl", made("ann", seed=2))
    assert "are these the same outputs" in read_judgments([lines, others]).notes[0]
    people = write(tmp_path / "people.xml", made("ann", seed=2), 0)
    with pytest.raises(UsageError, match="nothing shows which fits"):
        read_judgments([lines, people])
    stated = read_judgments([lines, people], first_segment=1)
    assert "are these the same outputs" in stated.notes[0]


def test_the_judgments_of_2015_in_three_files(shared, tmp_path):
    whole = read_judgments(shared / "data/human_gjg15/judgments.xml")
    judges = sorted({r.judge for r in whole})
    some = [
        [r for r in whole if judges.index(r.judge) % 3 == n and r.segment > 1] for n in range(3)
    ]
    paths = [
        write(tmp_path / "a.xml", some[0], 1),
        write(tmp_path / "b.jsonl", some[1]),
        write(tmp_path / "c.xml", some[2], 0),
    ]
    judgments = read_judgments(paths)
    assert judgments.numbering == "1 (found), 1 (format), 0 (found)"
    assert [r.segment for r in judgments] == [r.segment for part in some for r in part]
    assert judgments.notes == ()


def test_two_documents_have_two_sentences_3():
    both = [
        Ranking(judge=judge, segment=3, groups=(("A",), ("B",)), ranks=ranks, document=document)
        for judge, document, ranks in (("ann", "x", (1, 2)), ("bob", "y", (1, 2)))
    ]
    assert agree(both).pairs["ann", "bob"].n == 0
    assert agree([replace(r, document="x") for r in both]).pairs["ann", "bob"].n == 1
    assert agree([replace(r, document=None) for r in both]).pairs["ann", "bob"].n == 1
    named = [replace(r, document=f"x-{n}", item=str(n)) for n, r in enumerate(both)]
    assert agree(named).pairs["ann", "bob"].n == 1  # the item's name is no part of the document's


def test_documents_that_share_numbers_are_named(tmp_path):
    lines = [
        replace(r, document=document)
        for document in ("mucgec", "yaclc")
        for r in made("ann", sentences=range(1, 4))
    ]
    judgments = read_judgments(write(tmp_path / "j.xml", lines, 1))
    assert judgments.notes == (
        f"{tmp_path / 'j.xml'}: 3 numbers of sentences stand in several documents (mucgec, yaclc):"
        " sentences are told apart by document, too",
    )
    halves = [write(tmp_path / f"{n}.jsonl", lines[n : n + 3]) for n in (0, 3)]
    assert "several documents" in read_judgments(halves).notes[-1]


def test_a_number_that_is_said_of_lines_has_no_effect(tmp_path):
    lines = write(tmp_path / "model.jsonl", made("model"))
    assert "had no effect" in read_judgments(lines, first_segment=0).notes[0]
    people = write(tmp_path / "people.xml", made("ann"), 0)
    assert read_judgments([lines, people], first_segment=0).notes == ()
