"""``grammeter sample``: which sentences, and which of their outputs, to show to judges."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from grammeter.cli import inputs
from grammeter.cli.flags import add_options, check_home, options
from grammeter.cli.output import notice

if TYPE_CHECKING:
    from grammeter.core import Item
    from grammeter.study import Distribution

LIKELY = ("select", "per_item", "metric")
"""Flags that also say how likely each sentence is."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments; nothing heavy is imported for it."""
    parser.description = (
        "Draw items for human judgment: sentences by a distribution, outputs uniformly among"
        " the distinct ones. Prints JSON lines, one item a line."
    )
    parser.epilog = (
        "examples:\n"
        "  grammeter sample -s src.txt --hyps out/* -n 400 --seed 1 -o campaign.jsonl\n"
        "  grammeter sample -s src.txt --hyps out/* -n 400 --judges ann bob --overlap 50"
        " --repeats 10\n"
        "  grammeter sample -s src.txt --hyps out/* -n 400 --select spread --scores s.json"
    )
    inputs.add_corpus(parser)
    group = parser.add_argument_group("selection")
    add_options(group, "verbs.sample", {
        "n": "",
        "per_item": "distinct outputs that an item shows at most",
        "select": "what makes a sentence likely: few ties expected (Grundkiewicz et al. 2015),"
        " nothing, different outputs, different scores",
        "metric": "which of the metrics in --scores, if several",
        "distinct": "draw no sentence twice",
        "seed": "where the draws start",
    }, n={"required": True}, metric={"names": ["--metric"]})  # fmt: skip
    group.add_argument(
        "--scores",
        metavar="FILE",
        help="for spread: what 'grammeter score -o FILE' wrote of the same outputs",
    )
    add_options(parser, "verbs.sample", {
        "judges": "their names, or how many",
        "overlap": "items that several judges see, default: 0",
        "sharers": "judges that see each of these, default: all",
        "repeats": "items that each judge sees twice, default: 0",
    }, "judges")  # fmt: skip
    group = parser.add_argument_group("output")
    group.add_argument("-o", "--output", metavar="FILE", help="write the items here")
    group.add_argument(
        "--probabilities",
        metavar="FILE",
        help="write how likely each sentence is, as TSV; '-' prints it instead of the items",
    )
    group.add_argument("--quiet", action="store_true", help="no notices")


def run(args: argparse.Namespace) -> None:
    """Draw and print."""
    from grammeter.formats import items_text, read_scores
    from grammeter.verbs import sample

    check_home(args, args.select == "spread", "--select spread", "--scores")
    likely: dict[str, Any] = {name: getattr(args, name) for name in LIKELY}
    likely["scores"] = read_scores(args.scores) if args.scores else None
    names: list[str] = args.judges
    judges = int(names[0]) if len(names) == 1 and names[0].isdecimal() else names
    corpus = inputs.corpus(args, references=False)
    drawn = options(args, sample, corpus=corpus, probabilities=False, judges=judges, **likely)
    verb = cast("Callable[..., tuple[Item, ...]]", sample)
    items = verb(**drawn)
    if args.probabilities:
        probabilities = sample(corpus, probabilities=True, **likely)
        _write(args.probabilities, _probabilities_tsv(probabilities))
    if args.output or args.probabilities != "-":
        _write(args.output or "-", items_text(items))
    notice(args, _summary(items))


def _write(path: str, text: str) -> None:
    from grammeter.formats import write_text

    if path == "-":
        sys.stdout.write(text)
    else:
        write_text(path, text)


def _probabilities_tsv(source: Distribution) -> str:
    from grammeter.core import Table
    from grammeter.study import multiplicities

    columns = (source.expected_systems, source.values, source.probabilities)
    rows = tuple(
        (str(number), " ".join(map(str, multiplicities(groups))), *map(repr, numbers))
        for number, (groups, *numbers) in enumerate(
            zip(source.groups, *(column.tolist() for column in columns), strict=True), start=1
        )
    )
    header = ("segment", "multiplicities", "expected_systems", "value", "probability")
    return Table.of(header, rows).write("tsv")


def _summary(items: Sequence[Item]) -> str:
    shown = [item for item in items if not item.repeat]
    alone = sum(item.distinct == 1 for item in shown)
    parts = [f"{len(shown)} items of {len({item.segment for item in shown})} sentences"]
    if alone:
        parts.append(f"{alone} with one output only, a tie of all systems")
    if len(items) > len(shown):
        parts.append(f"{len(items) - len(shown)} repeats")
    return "; ".join(parts)
