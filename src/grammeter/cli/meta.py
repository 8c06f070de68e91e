"""``grammeter meta`` asks how good a metric is: how well it agrees with people."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from grammeter.cli import inputs, models
from grammeter.cli.flags import add_actions, add_options, call, one_of, remark_idle
from grammeter.cli.output import add_numbers, add_output, emit, progress

if TYPE_CHECKING:
    pass

METHODS = ("expected-wins", "trueskill", "bradley-terry", "mean")
BENCHMARKS = ("gjg15", "seeda-e", "seeda-s")
OUTLIER_CUTOFF = 2.5
METRICS = {"metrics": "default: all in the file"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the questions and their arguments; nothing heavy is imported for it."""
    add_actions(parser, {
        "system": (
            "does it rank systems as humans do? correlations, intervals, Williams tests",
            add_system, run_system,
        ),
        "sentence": (
            "does it order the outputs of one sentence as humans do?", add_sentence, run_sentence,
        ),
        "window": (
            "does it tell systems apart that humans find close?", add_window, run_window,
        ),
        "beta": ("which weight of recall agrees best with humans?", add_beta, run_beta),
        "maege": (
            "does it order partial corrections by their number of gold edits?",
            add_maege, run_maege,
        ),
    })  # fmt: skip


# --- systems -------------------------------------------------------------------------------


def add_system(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``system``."""
    parser.description = (
        "Correlate metrics with people's scores of the same systems (Pearson, Spearman,"
        " Kendall), and test by Williams whether one metric correlates better than another."
    )
    parser.epilog = (
        "examples:\n"
        "  grammeter meta system scores.json ranking.json\n"
        "  grammeter meta system scores.json judgments.xml --by trueskill --drop INPUT\n"
        "  grammeter meta system scores.json --benchmark seeda-e --systems base\n"
        "  grammeter meta system scores.json ranking.json --interval sentences --top-k"
    )
    verb = "verbs.meta_system"
    _add_sides(parser, verb)
    group = parser.add_argument_group("statistics")
    add_options(group, verb, METRICS | {
        "aggregate": "also make system scores from sentence scores: their mean, or a ranking"
        " method",
        "interval": "Fisher's z, or a bootstrap over systems (bca: corrected for bias and skew) or"
        " sentences",
        "resamples": "of the bootstraps",
        "seed": "of the bootstraps",
        "confidence": "of the intervals",
        "ties": "of Kendall's tau",
    })  # fmt: skip
    group = parser.add_argument_group("fewer systems")
    add_options(group, verb, {
        "leave_one_out": "correlate again without each system",
        "top_k": "correlate again for the best K by people",
        "drop_outliers": "leave out systems whose human score is further from the median, in scaled"
        " median absolute deviations; default: %(const)s",
    }, drop_outliers={"nargs": "?", "const": OUTLIER_CUTOFF, "metavar": "CUTOFF"})  # fmt: skip
    group = parser.add_argument_group("figures, .svg or .png")
    add_options(group, verb, {
        "figure": "draw each metric's scores against people's",
        "figure_williams": "draw the p-values of Williams' test",
    })  # fmt: skip
    add_numbers(parser.add_argument, usual=3, percent=False)
    add_output(parser)


def run_system(args: argparse.Namespace) -> None:
    """Correlate and print."""
    from grammeter.verbs import meta_system

    if args.interval in ("fisher", "none"):
        why = f"--interval {args.interval} draws nothing; systems, systems-bca and sentences do"
        remark_idle(args, why, "--resamples", "--bootstrap", "--seed")
    if args.interval == "none":
        remark_idle(args, "there is no interval", "--confidence")
    emit(args, _correlated(args, meta_system))


# --- sentences -----------------------------------------------------------------------------


def add_sentence(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``sentence``."""
    parser.description = (
        "Hold the sentence scores of metrics against judgments of the same sentences: Kendall's"
        " tau and accuracy over all pairs of outputs, with every count that they are made of."
    )
    parser.epilog = (
        "examples:\n"
        "  grammeter meta sentence scores.json judgments.xml --ties h-ties\n"
        "  grammeter meta sentence scores.json judgments.xml --extraction unexpanded --unit pair\n"
        "  grammeter meta sentence scores.tsv judgments.xml --drop IPN --permutations 1000\n"
        "  grammeter meta sentence gpt.jsonl people.xml --scores scores.json"
    )
    parser.add_argument(
        "scores",
        metavar="SCORES",
        help="what 'grammeter score -o FILE' wrote, TSV with the header 'metric system segment"
        " value', or a judge in the place of a metric: judgments, as of 'grammeter judge -o'",
    )
    inputs.add_judgments(parser)
    parser.add_argument(
        "--scores",
        dest="more",
        nargs="+",
        default=[],
        metavar="SCORES",
        help="more files of scores, or of judgments in the place of scores",
    )
    verb = "verbs.meta_sentence"
    group = parser.add_argument_group("what is counted")
    add_options(group, verb, inputs.EXTRACTION | {
        "ties": "no-ties, h-ties: Chollampatt & Ng (2018); three-way, seeda-script: the two rules"
        " beside SEEDA; half, drop, wrong: a tie of the metric is half right, left out, a mistake",
        "missing": "a metric that lacks a judged output's score has no value, or is measured"
        " without these pairs",
    })  # fmt: skip
    group = parser.add_argument_group("intervals and tests")
    add_options(group, verb, {
        "resamples": "for the intervals, 0 for none",
        "unit": "what is drawn as a whole; pair is that of Chollampatt & Ng (2018) and makes"
        " intervals too narrow",
        "seed": "where the draws start",
        "confidence": "of the intervals",
        "permutations": "test the difference of every two metrics by N rounds of swaps, and give"
        " the soft pairwise accuracy; default: no test",
    })  # fmt: skip
    group = parser.add_argument_group("who and what")
    add_options(group, verb, METRICS | inputs.SYSTEMS | {
        "judge": inputs.JUDGES["judge"],
        "by_judge": "measure each judge's pairs apart, too",
    })  # fmt: skip
    add_numbers(parser.add_argument, percent=False)
    add_output(parser)


def run_sentence(args: argparse.Namespace) -> None:
    """Measure and print."""
    from grammeter.verbs import meta_sentence

    emit(args, call(args, meta_sentence, scores=[args.scores, *args.more]))


# --- windows and weights of recall ---------------------------------------------------------


def add_window(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``window``."""
    parser.description = (
        "Correlate metrics with people in windows of N systems that follow each other in the"
        " human ranking, with intervals and, from a ranking, the clusters of each window."
    )
    parser.epilog = (
        "examples:\n"
        "  grammeter meta window scores.json ranking.json\n"
        "  grammeter meta window scores.json ranking.json --size 8 --systems base"
    )
    _add_sides(parser, "verbs.meta_window")
    add_options(parser, "verbs.meta_window", METRICS | {
        "size": "systems a window",
        "confidence": "of the intervals",
        "figure": "draw the correlations by window: .svg or .png",
    })  # fmt: skip
    add_numbers(parser.add_argument, percent=False)
    add_output(parser)


def run_window(args: argparse.Namespace) -> None:
    """Correlate and print."""
    from grammeter.verbs import meta_window

    emit(args, _correlated(args, meta_window))


def add_beta(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``beta``."""
    parser.description = (
        "Score with all betas, and correlate with people's scores: which weight of recall agrees"
        " best with people? (Grundkiewicz et al. 2015, Figure 3: --choice fixed)"
    )
    parser.epilog = (
        "examples:\n"
        "  grammeter meta beta scores.json ranking.json --beta 0.01:1.0:0.01\n"
        "  grammeter meta beta scores.json judgments.xml -m m2 --beta 0.1,0.25,0.5,1"
    )
    _add_sides(parser, "verbs.meta_beta")
    add_options(parser, "verbs.meta_beta", {
        "metric": "which metric of the file, if several have parts",
        "beta": "FIRST:LAST:STEP, or betas between commas",
        "choice": "anew: the metric is scored again at each beta, its choice of annotators too;"
        " fixed: F of precision and recall as measured; default: anew where the file holds"
        " statistics",
        "figure": "draw both correlations over beta: .svg or .png",
    }, beta={"nargs": None, "type": None})  # fmt: skip
    add_numbers(parser.add_argument, percent=False)
    add_output(parser)


def run_beta(args: argparse.Namespace) -> None:
    """Sweep and print."""
    from grammeter.verbs import meta_beta

    emit(args, _correlated(args, meta_beta))


# --- partial corrections -------------------------------------------------------------------


def add_maege(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``maege``."""
    parser.description = (
        "MAEGE (Choshen & Abend 2018): apply gold edits one after the other, and ask whether a"
        " metric follows. Needs no human judgments and no system outputs."
    )
    parser.epilog = "example:\n  grammeter meta maege -s src.txt -r gold.m2 -m m2 gleu --seed 1"
    inputs.add_corpus(parser)
    add_options(parser, "verbs.meta_maege", inputs.METRICS)
    group = parser.add_argument_group("partial corrections")
    add_options(group, "verbs.meta_maege", {
        "seed": "where the draws start",
        "chains": "",
        "given": "what metrics are given as the source: the sentence, a random text of the same"
        " chain as in the public program, or the corrected text",
        "against": "what texts are held against: the edits of the other annotators, of all, or the"
        " texts given with -r beside the M2",
        "ties": "pairs that a metric ties, inside chains",
        "pseudo": "worth of a sentence without edits",
        "target": "what corpus scores are held against: 0 to 10, or the mean number of edits that"
        " were applied",
    })  # fmt: skip
    models.add_models(parser)
    add_numbers(parser.add_argument, percent=False)
    add_output(parser)


def run_maege(args: argparse.Namespace) -> None:
    """Measure and print."""
    from grammeter.core import UsageError
    from grammeter.metrics import metric
    from grammeter.models import using
    from grammeter.verbs import meta_maege

    if args.hyps or args.names:
        raise UsageError(
            "MAEGE makes its outputs from the gold edits", fix="Leave --hyps and --names out."
        )
    with using(models.runtime(args)):
        metrics = [metric(name) for name in args.metrics]
        corpus = inputs.corpus(args, noted=True)
        if corpus.gold:
            why = "MAEGE makes texts from gold edits by rules of its own"
            remark_idle(args, why, "--um", "--missing-annotator")
        models.remark_unused(args, metrics)
        with progress(args):
            result = call(args, meta_maege, corpus=corpus)
    emit(args, result)


# --- what several questions share ----------------------------------------------------------


def _add_sides(parser: argparse.ArgumentParser, verb: str) -> None:
    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        help="SCORES ... HUMAN. Scores: what 'grammeter score -o FILE' wrote, TSV (metric system"
        " [segment] value), or a judge in the place of a metric: judgments, what 'grammeter rank -o"
        " FILE' wrote. The last file is people's side: a ranking, TSV (system value), or judgments",
    )
    add_options(parser, verb, {
        "benchmark": "people's scores of a data set, in place of HUMAN",
        "published_data": "as SEEDA's published figures have it: LM-Critic is scored by PIE's"
        " outputs",
        "by": "how judgments on either side become scores; mean: of the scores that the judges"
        " gave; default: expected-wins, or as the benchmark or ranking on the human side",
        **inputs.SYSTEMS,
    }, benchmark=one_of(BENCHMARKS), by=one_of(METHODS))  # fmt: skip


def _correlated(args: argparse.Namespace, verb: Callable[..., Any]) -> Any:
    """Call a verb; the last of several files is people's side, unless a benchmark is named."""
    human = None if args.benchmark or len(args.files) < 2 else args.files[-1]
    return call(args, verb, scores=args.files[: -1 if human else None], human=human)
