"""``grammeter rank``: judgments to a ranking with rank ranges and clusters."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from grammeter.cli import judgment_arguments
from grammeter.cli.chance_arguments import add_confidence, add_resamples, add_seed
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
    from grammeter.formats import Judgments
    from grammeter.ranking import Duel, HeadToHead, Prediction, Separation
    from grammeter.rendering import Table
    from grammeter.study import LearningCurve

METHODS = ("expected-wins", "trueskill", "bradley-terry")
UNITS = ("sentence", "ranking", "pair")
DIVISORS = ("all-opponents", "beaten-opponents", "met-opponents")
ZEROS = ("one", "keep")
TRAININGS = ("held-out", "makefile")
RESAMPLES, RESAMPLES_OF_A_FOLD = 1000, 100
CONFIDENCE = 0.95


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
    judgment_arguments.add_judgments(parser)
    _add_question(parser)
    _add_method(parser)
    _add_data(parser)
    add_numbers(parser.add_argument)
    parser.add_argument(
        "--figure",
        metavar="FILE",
        help="draw the ranges of ranks, with --head-to-head the shares, with --learning-curve the"
        " curve: .svg or .png",
    )
    add_output(parser)


def _add_question(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("instead of a ranking").add_mutually_exclusive_group()
    group.add_argument(
        "--head-to-head",
        action="store_true",
        help="each system's share of wins against each other, with an exact sign test",
    )
    group.add_argument(
        "--validate",
        type=int,
        metavar="FOLDS",
        help="cross-validated accuracy: how well do rankings predict judgments held out?",
    )
    group.add_argument(
        "--learning-curve",
        action="store_true",
        help="how the ranking by expected wins settles with more items, and how many more each"
        " two neighbours need",
    )


def _add_method(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("method")
    group.add_argument(
        "--by", choices=METHODS, default="expected-wins", help="default: %(default)s"
    )
    group.add_argument(
        "--unit",
        choices=UNITS,
        help="what is resampled as a whole; default: sentence. TrueSkill's runs differ by their"
        " random games; with a unit, their judgments are resampled, too",
    )
    add_resamples(
        group.add_argument,
        default=None,
        help_=f"or runs of TrueSkill; default: {RESAMPLES}, with --validate"
        f" {RESAMPLES_OF_A_FOLD} for each fold",
    )
    add_seed(group.add_argument)
    add_confidence(
        group.add_argument, help_="share of the resamples that a range covers; default: %(default)s"
    )
    group.add_argument(
        "--divisor",
        choices=DIVISORS,
        help="of expected wins: average over all opponents, over those beaten at least once as"
        " in tables 6 and 7 of Grundkiewicz et al. (2015), or over those with whom a comparison"
        " was decided; default: all-opponents",
    )
    group.add_argument(
        "--prior",
        type=float,
        metavar="WINS",
        help="of bradley-terry: wins added in both directions for each pair; default: 0",
    )
    group.add_argument(
        "--training",
        choices=TRAININGS,
        help="of --validate: all other folds, or the leaking procedure published with the paper;"
        " default: held-out",
    )
    group.add_argument(
        "--zeros",
        choices=ZEROS,
        help="of --head-to-head: no wins beside some losses count as one win, as in the original,"
        " or as none; default: one",
    )
    group.add_argument(
        "--processes", type=int, default=1, metavar="N", help="for trueskill; same result"
    )


def _add_data(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("judgments that count")
    group.add_argument("--judge", nargs="+", metavar="NAME", help="only these judges'")
    group.add_argument("--without-judge", nargs="+", metavar="NAME", help="all but these judges'")
    group.add_argument(
        "--systems",
        nargs="+",
        metavar="NAME",
        help="only these; base, +input and +fluent are the sets of SEEDA; default: all",
    )
    group.add_argument("--drop", nargs="+", default=[], metavar="NAME", help="all but these")
    judgment_arguments.add_extraction(group.add_argument)


def run(args: argparse.Namespace) -> int:
    """Rank and print; return the exit code."""
    _check(args)
    judgments = judgment_arguments.read(args)
    if args.head_to_head:
        _show_head_to_head(args, judgments)
    elif args.validate is not None:
        _show_validation(args, judgments)
    elif args.learning_curve:
        _show_learning_curve(args, judgments)
    else:
        _show_ranking(args, judgments)
    return 0


def _check(args: argparse.Namespace) -> None:
    """Refuse options that would change nothing."""
    from grammeter.core import UsageError

    chance = not args.head_to_head
    ranked = chance and not args.learning_curve
    homes = {
        "--by": (args.by != METHODS[0], ranked, "a ranking or --validate"),
        "--unit": (args.unit, ranked, "a ranking or --validate"),
        "--resamples": (args.resamples is not None, chance, "what is resampled"),
        "--seed": (args.seed != 1, chance, "what is resampled"),
        "--confidence": (args.confidence != CONFIDENCE, ranked, "a ranking or --validate"),
        "--divisor": (args.divisor, ranked and args.by == METHODS[0], "--by expected-wins"),
        "--prior": (
            args.prior is not None, ranked and args.by == "bradley-terry", "--by bradley-terry"
        ),
        "--training": (args.training, args.validate is not None, "--validate"),
        "--zeros": (args.zeros, args.head_to_head, "--head-to-head"),
        "--extraction": (
            args.extraction != "expanded", not args.learning_curve, "results other than a curve"
        ),
        "--figure": (args.figure, args.validate is None, "results other than --validate's"),
    }  # fmt: skip
    for option, (used, at_home, home) in homes.items():
        if used and not at_home:
            raise UsageError(
                f"{option} belongs to {home}, and would change nothing here",
                fix=f"Leave out {option}.",
            )
    check_figures(args.figure)
    if args.processes != 1 and args.by != "trueskill":
        notice(args, "--processes changes nothing here: only runs of TrueSkill are shared out")


def _show_ranking(args: argparse.Namespace, judgments: Judgments) -> None:
    from grammeter.ranking import rank

    settings = _settings(args, RESAMPLES)
    with progress(args):
        ranked = rank(judgments, unit=args.unit, **settings)
    if args.figure:
        from grammeter.rendering import figures

        figures.save(figures.rank_ranges(ranked), args.figure)
    emit(args, ranked.to_json(), lambda: drawn(args, ranking_table(ranked, args)))


def _show_validation(args: argparse.Namespace, judgments: Judgments) -> None:
    from grammeter.ranking import validate

    settings = _settings(args, RESAMPLES_OF_A_FOLD)
    settings["training"], settings["unit"] = args.training or "held-out", args.unit or "sentence"
    with progress(args):
        prediction = validate(judgments, folds=args.validate, **settings)
    emit(args, prediction.to_json(), lambda: drawn(args, prediction_table(prediction, args)))


def _show_head_to_head(args: argparse.Namespace, judgments: Judgments) -> None:
    from grammeter.ranking import head_to_head

    duels = head_to_head(
        judgments, extraction=args.extraction, zeros=args.zeros or ZEROS[0], **_choice(args)
    )
    if args.figure:
        _save_head_to_head(duels, args.figure)
    emit(args, duels.to_json(), lambda: drawn(args, head_to_head_table(duels, args)))


def _save_head_to_head(duels: HeadToHead, path: str) -> None:
    import numpy as np

    from grammeter.rendering import figures

    places = {system: place for place, system in enumerate(duels.systems)}
    shares = np.full((len(places), len(places)), math.nan)
    marks = [[""] * len(places) for _ in places]
    for duel in duels.cells:
        row, column = places[duel.row], places[duel.column]
        shares[row, column], marks[row][column] = duel.share, duel.mark
    figures.save(figures.head_to_head_map(duels.systems, shares, marks), path)


def _show_learning_curve(args: argparse.Namespace, judgments: Judgments) -> None:
    from grammeter.study import outlook

    resamples = _resamples(args, RESAMPLES)
    with progress(args):
        prospect = outlook(judgments, resamples=resamples, seed=args.seed, **_choice(args))
    if args.figure:
        _save_curve(prospect.curve, args.figure)
    tables = [curve_table(prospect.curve, prospect.items_needed, args)]
    if args.format != "tsv":  # which is for programs: one table
        tables.append(separation_table(prospect.separations, args))
    emit(args, prospect.to_json(), lambda: drawn(args, *tables))


def _save_curve(curve: LearningCurve, path: str) -> None:
    from grammeter.rendering import figures

    columns = (column.tolist() for column in (curve.sizes, curve.mean, curve.low, curve.high))
    figures.save(figures.learning_curve(*columns, tail=curve.tail), path)


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


def _settings(args: argparse.Namespace, resamples: int) -> dict[str, Any]:
    """Return what a ranking and its validation both take."""
    settings = _choice(args)
    settings["resamples"] = _resamples(args, resamples)
    for name in ("by", "prior", "seed", "confidence", "divisor", "processes", "extraction"):
        settings[name] = getattr(args, name)
    return settings


def _choice(args: argparse.Namespace) -> dict[str, Any]:
    return {
        "judges": args.judge,
        "without_judges": args.without_judge,
        "systems": args.systems,
        "drop": args.drop,
    }


def _resamples(args: argparse.Namespace, default: int) -> int:
    return default if args.resamples is None else args.resamples


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
