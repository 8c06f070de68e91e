"""``grammeter rank``: judgments to a ranking with rank ranges and clusters."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from grammeter.cli import inputs
from grammeter.cli.flags import add_options, call, one_of
from grammeter.cli.output import (
    add_numbers,
    add_output,
    check_figures,
    decimals,
    drawn,
    emit,
    notice,
    progress,
    share,
)

if TYPE_CHECKING:
    from grammeter.core import Ranked
    from grammeter.ranking import Duel, HeadToHead, Prediction
    from grammeter.rendering import Table
    from grammeter.study import LearningCurve, Outlook, Separation

    Result = Ranked | HeadToHead | Prediction | Outlook

METHODS = ("expected-wins", "trueskill", "bradley-terry")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments; nothing heavy is imported for it."""
    parser.description = (
        "Rank systems by human judgments: scores, the range of ranks of each system over"
        " resampled judgments, and clusters of systems that the judgments do not tell apart."
    )
    parser.epilog = (
        "examples:\n"
        "  grammeter rank judgments.xml\n"
        "  grammeter rank judgments.xml --by trueskill --resamples 100\n"
        "  grammeter rank judgments.xml --head-to-head\n"
        "  grammeter rank judgments.xml --validate 100 --unit pair"
    )
    inputs.add_judgments(parser)
    _add_options(parser)
    add_numbers(parser.add_argument)
    parser.add_argument(
        "--figure",
        metavar="FILE",
        help="draw the ranges of ranks, with --head-to-head the shares, with --learning-curve the"
        " curve: .svg or .png",
    )
    add_output(parser)


def _add_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("instead of a ranking").add_mutually_exclusive_group()
    add_options(group, "verbs.rank", {
        "head_to_head": "each system's share of wins against each other, with an exact sign test",
        "validate": "cross-validated accuracy: how well do rankings predict judgments held out?",
        "learning_curve": "how the ranking by expected wins settles with more items, and how many"
        " more each two neighbours need",
    })  # fmt: skip
    group = parser.add_argument_group("method")
    add_options(group, "verbs.rank", {
        "by": "default: %(default)s",
        "unit": "what is resampled as a whole; default: sentence. TrueSkill's runs differ by their"
        " random games; with a unit, their judgments are resampled, too",
        "resamples": "",
        "seed": "",
        "confidence": "share of the resamples that a range covers",
        "divisor": "of expected wins: average over all opponents, over those beaten at least once"
        " as in tables 6 and 7 of Grundkiewicz et al. (2015), or over those with whom a comparison"
        " was decided; default: all-opponents",
        "prior": "of bradley-terry: wins added in both directions for each pair; default: 0",
        "training": "of --validate: all other folds, or the leaking procedure published with the"
        " paper; default: held-out",
        "zeros": "of --head-to-head: no wins beside some losses count as one win, as in the"
        " original, or as none; default: one",
        "processes": "for trueskill; same result",
    }, by=one_of(METHODS))  # fmt: skip
    group = parser.add_argument_group("judgments that count")
    add_options(group, "verbs.rank", inputs.WHO | inputs.EXTRACTION)


def run(args: argparse.Namespace) -> int:
    """Rank and print; return the exit code."""
    from grammeter.core import UsageError
    from grammeter.verbs import rank

    if args.figure and args.validate is not None:
        raise UsageError("--figure belongs to results other than --validate's", fix="Leave it out.")
    check_figures(args.figure)
    if args.processes != 1 and args.by != "trueskill":
        notice(args, "--processes changes nothing here: only runs of TrueSkill are shared out")
    judgments = inputs.judgments(args)
    with progress(args):
        result = call(args, rank, rankings=judgments)
    if args.figure:
        _save_figure(result, args.figure)
    emit(args, result.to_dict(), lambda: drawn(args, *_tables(result, args)))
    return 0


def _tables(result: Result, args: argparse.Namespace) -> Iterator[Table]:
    from grammeter.core import Ranked
    from grammeter.ranking import HeadToHead, Prediction

    if isinstance(result, Ranked):
        yield ranking_table(result, args)
    elif isinstance(result, HeadToHead):
        yield head_to_head_table(result, args)
    elif isinstance(result, Prediction):
        yield prediction_table(result, args)
    else:
        yield curve_table(result.curve, result.items_needed, args)
        if args.format != "tsv":  # which is for programs: one table
            yield separation_table(result.separations, args)


def _save_figure(result: Result, path: str) -> None:
    import numpy as np

    from grammeter.core import Ranked
    from grammeter.ranking import HeadToHead, Prediction
    from grammeter.rendering import (
        head_to_head_map,
        learning_curve,
        rank_ranges,
        save_figure,
    )

    if isinstance(result, Ranked):
        save_figure(rank_ranges(result), path)
    elif isinstance(result, HeadToHead):
        places = {system: place for place, system in enumerate(result.systems)}
        shares = np.full((len(places), len(places)), math.nan)
        marks = [[""] * len(places) for _ in places]
        for duel in result.cells:
            row, column = places[duel.row], places[duel.column]
            shares[row, column], marks[row][column] = duel.share, duel.mark
        save_figure(head_to_head_map(result.systems, shares, marks), path)
    elif not isinstance(result, Prediction):
        curve = result.curve
        columns = (column.tolist() for column in (curve.sizes, curve.mean, curve.low, curve.high))
        save_figure(learning_curve(*columns, tail=curve.tail), path)


def ranking_table(ranked: Ranked, args: argparse.Namespace) -> Table:
    """Lay out a ranking, best first; for TSV a column for each bound."""
    from grammeter.core import ranks_text
    from grammeter.rendering import Table, best_rows

    def score(number: float) -> str:
        return share(args, number)

    if args.format == "tsv":
        rows = tuple(
            (r.system, score(r.score), *map(str, r.ranks), str(r.cluster), r.reason or "")
            for r in ranked.values()
        )
        header = ("system", "score", "first_rank", "last_rank", "cluster", "reason")
        return Table(header, rows, "lrrrrl")
    rows = tuple(
        (row.system, score(row.score), ranks_text(row.ranks), str(row.cluster))
        for row in ranked.values()
    )
    scores = [row.score for row in ranked.values()]
    best = frozenset((row, 1) for row in best_rows(scores, higher_is_better=True))
    return Table(("system", "score", "ranks", "cluster"), rows, "lrrr", tuple(_notes(ranked)), best)


def head_to_head_table(duels: HeadToHead, args: argparse.Namespace) -> Table:
    """Lay out shares of wins as a matrix; for TSV a row for each cell."""
    from grammeter.rendering import Table

    def won(duel: Duel) -> str:
        return share(args, duel.share, 4 if args.percent else 2)

    if args.format == "tsv":
        header = ("row", "column", "share", "wins", "losses", "ties", "pvalue", "mark")
        rows = tuple(
            (d.row, d.column, won(d), *_counts(d), _pvalue(d), d.mark) for d in duels.cells
        )
        return Table(header, rows, "llrrrrrl")
    width = 2 if args.format == "table" else 0  # keeps the numbers in line
    cells = {(d.row, d.column): d for d in duels.cells}
    rows = tuple(
        (row, *(won(cells[row, c]) if (row, c) in cells else "" for c in duels.systems))
        for row in duels.systems
    )
    places = {system: place for place, system in enumerate(duels.systems)}
    marks = {(places[d.row], 1 + places[d.column]): f"{d.mark:<{width}}" for d in duels.cells}
    notes = (
        "share of the decided comparisons with the row's system that the column's system wins",
        "exact two-sided sign test: ** p <= .01, * p <= .05, + p <= .10",
        str(duels.signature),
    )
    return Table(("", *duels.systems), rows, "l" + "r" * len(rows), notes, marks=marks)


def prediction_table(prediction: Prediction, args: argparse.Namespace) -> Table:
    """Lay out accuracies, the baseline beside them."""
    from grammeter.rendering import Table

    figures = (
        ("clusters, all comparisons", prediction.clusters, prediction.comparisons),
        ("everything tied, all comparisons", prediction.all_tied, prediction.comparisons),
        ("order, decided comparisons", prediction.order, prediction.decided),
    )
    rows = tuple((name, share(args, value, tsv=4), str(n)) for name, value, n in figures)
    sizes = ", ".join(f"{size} in {count}" for size, count in prediction.clusterings.items())
    notes = (f"clusters in folds: {sizes}", str(prediction.signature))
    return Table((prediction.method, "accuracy", "comparisons"), rows, "lrr", notes)


def curve_table(curve: LearningCurve, needed: int | None, args: argparse.Namespace) -> Table:
    """Lay out a learning curve."""
    from grammeter.rendering import Table, format_number

    columns = (curve.mean, curve.low, curve.high)
    rows = tuple(
        (
            str(size),
            *(format_number(float(column[at]), decimals(args, tsv=4)) for column in columns),
        )
        for at, size in enumerate(curve.sizes.tolist())
    )
    needs = "more items than there are" if needed is None else f"{needed} items"
    notes = (
        "Spearman correlation with the ranking by all items",
        f"a correlation of .95 in 95% of the draws takes {needs}",
        str(curve.signature),
    )
    header = ("items", "mean", f"{curve.tail:.0%}", f"{1 - curve.tail:.0%}")
    return Table(header, rows, "rrrr", notes)


def separation_table(neighbours: tuple[Separation, ...], args: argparse.Namespace) -> Table:
    """Lay out what it takes to tell neighbours apart."""
    from grammeter.rendering import Table

    rows = tuple(
        (
            pair.first,
            pair.second,
            share(args, pair.share),
            str(pair.wins + pair.losses),
            "never" if pair.items_needed is None else str(pair.items_needed),
            "" if pair.items_to_go is None else str(pair.items_to_go),
        )
        for pair in neighbours
    )
    header = ("first", "second", "share", "decided", "items needed", "to go")
    planned = [f"level {pair.level:g}, power {pair.power:g}" for pair in neighbours[:1]]
    notes = tuple(f"items until the sign test separates two systems: {pair}" for pair in planned)
    return Table(header, rows, "llrrrr", notes)


def _notes(ranked: Ranked) -> Iterator[str]:
    settings = dict(ranked.signature)
    runs = f"{settings['resamples']} {'runs' if settings['unit'] == 'game' else 'resamples'}"
    yield f"ranks: in {float(settings['confidence']) * 100:g}% of {runs} (unit: {settings['unit']})"
    for row in ranked.values():
        if row.reason:
            yield f"{row.system}: {row.reason}"
    yield str(ranked.signature)


def _pvalue(duel: Duel) -> str:
    return "NaN" if math.isnan(duel.pvalue) else f"{duel.pvalue:.6g}"


def _counts(duel: Duel) -> tuple[str, str, str]:
    return str(duel.wins), str(duel.losses), str(duel.ties)
