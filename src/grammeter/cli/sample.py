"""``grammeter sample``: which sentences, and which of their outputs, to show to judges."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from grammeter.cli import corpus_arguments
from grammeter.cli.chance_arguments import add_seed
from grammeter.cli.homes import check_home
from grammeter.cli.output import notice

if TYPE_CHECKING:
    from grammeter.core import Item
    from grammeter.study import Distribution

SELECTORS = ("paper", "uniform", "diversity", "spread")


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
    from grammeter.study import distribution
    from grammeter.verbs import sample

    check_home(args, args.scores, "--scores", "--metric")
    check_home(args, args.select == "spread", "--select spread", "--scores")
    judges = _judges(args)
    corpus = corpus_arguments.read(args, references=False)
    likely: dict[str, Any] = {
        "select": args.select,
        "per_item": args.per_item,
        "scores": read_scores(args.scores) if args.scores else None,
        "metric": args.metric,
    }
    items = sample(
        corpus,
        n=args.n,
        distinct=args.distinct,
        seed=args.seed,
        judges=judges,
        overlap=args.overlap or 0,
        sharers=args.sharers,
        repeats=args.repeats or 0,
        **likely,
    )
    if args.probabilities:
        _write(args.probabilities, _probabilities_tsv(distribution(corpus.systems, **likely)))
    if args.output or args.probabilities != "-":
        _write(args.output or "-", items_text(items))
    notice(args, _summary(items))
    return 0


def _judges(args: argparse.Namespace) -> list[str]:
    """Return the judges' names; a single number stands for as many numbered judges."""
    from grammeter.core import UsageError

    names: list[str] = args.judges
    planned = (args.overlap, args.sharers, args.repeats)
    if not names and any(number is not None for number in planned):
        raise UsageError(
            "--overlap, --sharers and --repeats are for judges",
            fix="Give their names or their number: --judges 3",
        )
    if len(names) != 1 or not names[0].isdecimal():
        return names
    count = int(names[0])
    if not count:
        raise UsageError("--judges 0", fix="Leave it out, or plan for one judge at least.")
    width = max(2, len(names[0]))
    return [f"judge{number:0{width}}" for number in range(1, count + 1)]


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
