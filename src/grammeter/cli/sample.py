"""``grammeter sample``: which sentences, and which of their outputs, to show to judges."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from grammeter.cli import corpus_arguments
from grammeter.cli.chance_arguments import add_seed
from grammeter.cli.homes import check_home
from grammeter.cli.output import notice

if TYPE_CHECKING:
    from grammeter.core import Item
    from grammeter.study import Distribution

SELECTORS = ("paper", "uniform", "diversity", "spread")
LIKELY = ("select", "per_item", "metric")
OPTIONS = ("n", "distinct", "seed", "judges", "overlap", "sharers", "repeats")
"""Flags that are parameters of :func:`grammeter.sample`."""


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
    corpus_arguments.add_corpus(parser)
    _add_selection(parser)
    _add_judges(parser)
    group = parser.add_argument_group("output")
    group.add_argument("-o", "--output", metavar="FILE", help="write the items here")
    group.add_argument(
        "--probabilities",
        metavar="FILE",
        help="write how likely each sentence is, as TSV; '-' prints it instead of the items",
    )
    group.add_argument("--quiet", action="store_true", help="no notices")


def _add_selection(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("selection")
    group.add_argument("-n", type=int, required=True, metavar="N", help="how many items")
    group.add_argument(
        "--per-item",
        type=int,
        default=5,
        metavar="M",
        help="distinct outputs that an item shows at most, default: %(default)s",
    )
    group.add_argument(
        "--select",
        choices=SELECTORS,
        default="paper",
        help="what makes a sentence likely: few ties expected (Grundkiewicz et al. 2015),"
        " nothing, different outputs, different scores; default: %(default)s",
    )
    group.add_argument(
        "--scores",
        metavar="FILE",
        help="for spread: what 'grammeter score -o FILE' wrote of the same outputs",
    )
    group.add_argument("--metric", metavar="METRIC", help="which of its metrics, if several")
    group.add_argument("--distinct", action="store_true", help="draw no sentence twice")
    add_seed(group.add_argument)


def _add_judges(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("judges")
    group.add_argument(
        "--judges", nargs="+", default=[], metavar="NAME", help="their names, or how many"
    )
    group.add_argument(
        "--overlap", type=int, metavar="N", help="items that several judges see, default: 0"
    )
    group.add_argument(
        "--sharers", type=int, metavar="N", help="judges that see each of these, default: all"
    )
    group.add_argument(
        "--repeats", type=int, metavar="N", help="items that each judge sees twice, default: 0"
    )


def run(args: argparse.Namespace) -> int:
    """Draw and print; return the exit code."""
    from grammeter.formats import items_text, read_scores
    from grammeter.verbs import sample

    likely: dict[str, Any] = {name: getattr(args, name) for name in LIKELY}
    check_home(args, args.select == "spread", "--select spread", "--scores")
    likely["scores"] = read_scores(args.scores) if args.scores else None
    options: dict[str, Any] = {name: getattr(args, name) for name in OPTIONS}
    names: list[str] = args.judges
    if len(names) == 1 and names[0].isdecimal():
        options["judges"] = int(names[0])
    corpus = corpus_arguments.read(args, references=False)
    verb = cast("Callable[..., tuple[Item, ...]]", sample)
    items = verb(corpus, **likely, **options)
    if args.probabilities:
        probabilities = sample(corpus, probabilities=True, **likely)
        _write(args.probabilities, _probabilities_tsv(probabilities))
    if args.output or args.probabilities != "-":
        _write(args.output or "-", items_text(items))
    notice(args, _summary(items))
    return 0


def _write(path: str, text: str) -> None:
    from grammeter.formats import write_text

    if path == "-":
        sys.stdout.write(text)
    else:
        write_text(path, text)


def _probabilities_tsv(source: Distribution) -> str:
    from grammeter.rendering import Table, to_tsv
    from grammeter.study import multiplicities

    columns = (source.expected_systems, source.values, source.probabilities)
    rows = tuple(
        (str(number), " ".join(map(str, multiplicities(groups))), *map(repr, numbers))
        for number, (groups, *numbers) in enumerate(
            zip(source.groups, *(column.tolist() for column in columns), strict=True), start=1
        )
    )
    header = ("segment", "multiplicities", "expected_systems", "value", "probability")
    return to_tsv(Table(header, rows, "llrrr"))


def _summary(items: Sequence[Item]) -> str:
    shown = [item for item in items if not item.repeat]
    alone = sum(item.distinct == 1 for item in shown)
    parts = [f"{len(shown)} items of {len({item.segment for item in shown})} sentences"]
    if alone:
        parts.append(f"{alone} with one output only, a tie of all systems")
    if len(items) > len(shown):
        parts.append(f"{len(items) - len(shown)} repeats")
    return "; ".join(parts)
