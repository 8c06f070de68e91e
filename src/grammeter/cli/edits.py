"""``grammeter edits``: M2 files made and compared, with ERRANT's own options."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from grammeter.cli.homes import NO_FAULTS, remark_idle
from grammeter.cli.output import add_output, emit, remark

if TYPE_CHECKING:
    from grammeter.core import Counts, Tier
    from grammeter.errant import Annotator, EditComparison, Groups, Mode, Pairing
    from grammeter.formats import M2Block

MERGE = ("rules", "all-split", "all-merge", "all-equal")
TIERS: dict[int, Tier] = {1: "operation", 2: "main", 3: "full"}
TITLES: dict[Mode, str] = {
    "token-detection": " Token-Based Detection ",
    "span-detection": " Span-Based Detection ",
    "span-type": " Span-Based Correction + Classification ",
    "span-correction": " Span-Based Correction ",
}
DIGITS = 4
RULE = "-" * 40 + "\n"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments; nothing heavy is imported for it."""
    parser.epilog = (
        "These are errant_parallel, errant_m2 and errant_compare of ERRANT 3.0.2: the same options,"
        " and with\nthe same pipeline the same output. Files of unequal length are refused, where"
        " the originals stop\nat the end of the shorter one.\n\n"
        "examples:\n"
        "  grammeter edits extract -orig src.txt -cor out.txt -out out.m2\n"
        "  grammeter edits convert -auto gold.m2 -out gold.auto.m2\n"
        "  grammeter edits compare -hyp out.m2 -ref gold.auto.m2 -cat 3"
    )
    actions = parser.add_subparsers(dest="action", required=True, metavar="extract|convert|compare")
    _add_extract(actions.add_parser("extract", help="edits of corrected texts (errant_parallel)"))
    _add_convert(actions.add_parser("convert", help="edits of an M2 file anew (errant_m2)"))
    _add_compare(actions.add_parser("compare", help="F-scores of an M2 file (errant_compare)"))


def run(args: argparse.Namespace) -> int:
    """Extract, convert or compare; return the exit code."""
    actions = {"extract": _extract, "convert": _convert, "compare": _compare}
    return actions[args.action](args)


def _add_extract(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Extract and type the edits that lead from a text to its corrected versions."
        " Lines where the original is empty are left out; files of unequal length are refused,"
        " where errant_parallel stops at the end of the shortest."
    )
    add = parser.add_argument
    add("-orig", required=True, metavar="FILE", help="the original text, one sentence a line")
    add("-cor", required=True, nargs="+", metavar="FILE", help="the corrected texts, parallel")
    add("-tok", action="store_true", help="tokenise with the pipeline; default: at white space")
    _add_extraction(parser)


def _add_convert(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Extract the edits of an M2 file anew, or keep them and type them. A sentence at the end"
        " of the file counts without a blank line, too; of alternative corrections (in||at) the"
        " first is taken."
    )
    add = parser.add_argument
    add("m2_file", metavar="FILE", help="the M2 file")
    redo = parser.add_mutually_exclusive_group(required=True)
    redo.add_argument("-auto", action="store_true", help="extract from the corrected sentences")
    redo.add_argument("-gold", action="store_true", help="keep the edits and type them")
    add("-no_min", action="store_true", help="keep equal tokens at an edit's ends (-gold)")
    add("-old_cats", action="store_true", help="keep the error types (-gold)")
    add("--lenient", action="store_true", help="pass over faulty edits, and say which")
    _add_extraction(parser)


def _add_extraction(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("-out", required=True, metavar="FILE", help="the M2 file to write; - is standard output")
    add("-lev", action="store_true", help="align by plain Levenshtein distance")
    add("-merge", choices=MERGE, default="rules", help="adjacent changes; default: %(default)s")
    add("--pipeline", metavar="NAME", help="a spaCy pipeline, by name or folder")
    add("--quiet", action="store_true", help="no notices")


def _add_compare(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Compare the edits of a hypothesis with those of a reference. Files with unequal numbers"
        " of sentences, or with other sentences, are refused. An empty correction and -NONE- both"
        " delete, and each of several corrections (in||at) counts as right."
    )
    add = parser.add_argument
    add("-hyp", required=True, metavar="FILE", help="the M2 file of the hypothesis")
    add("-ref", required=True, metavar="FILE", help="the M2 file of the reference")
    add("-b", "--beta", type=float, default=0.5, metavar="B", help="default: %(default)s")
    add("-v", "--verbose", action="store_true", help="show each sentence")
    mode = parser.add_mutually_exclusive_group()
    for flag, value, text in (
        ("-dt", "token-detection", "each token that an edit touches"),
        ("-ds", "span-detection", "spans"),
        ("-cs", "span-correction", "spans and corrections (default)"),
        ("-cse", "span-type", "spans, corrections and error types"),
    ):
        mode.add_argument(flag, dest="mode", action="store_const", const=value, help=text)
    parser.set_defaults(mode="span-correction")
    add("-single", action="store_true", help="only edits of at most one token on either side")
    add("-multi", action="store_true", help="only edits of more than one token on a side")
    add("-filt", nargs="+", default=[], metavar="TYPE", help="error types that do not count")
    add(
        "-cat",
        type=int,
        choices=list(TIERS),
        help="figures by error type: 1 operation (R), 2 main type (NOUN), 3 whole type (R:NOUN)",
    )
    add("--lenient", action="store_true", help="pass over faulty lines, and say which")
    add_output(parser, formats=("table", "json"))


def _extract(args: argparse.Namespace) -> int:
    from grammeter.alignment import tokenised
    from grammeter.formats import read_text_lines
    from grammeter.verbs import extract_edits

    sources = read_text_lines(args.orig)
    corrected = [read_text_lines(path) for path in args.cor]
    annotator = _annotator(args)
    blocks = extract_edits(
        sources,
        corrected,
        annotator,
        tokenise=partial(tokenised, pipeline=args.pipeline) if args.tok else None,
        origins=(args.orig, *args.cor),
    )
    if len(blocks) < len(sources):
        remark([f"{len(sources) - len(blocks)} empty lines of {args.orig} are left out"])
    return _written(args, blocks, annotator)


def _convert(args: argparse.Namespace) -> int:
    from grammeter.formats import read_m2
    from grammeter.verbs import convert_edits

    file = read_m2(args.m2_file, lenient=args.lenient)
    annotator = _annotator(args)
    converted = convert_edits(
        file,
        annotator,
        redo="auto" if args.auto else "gold",
        minimise=not args.no_min,
        keep_types=args.old_cats,
        where=args.m2_file,
        lenient=args.lenient,
    )
    remark(converted.notices)
    if not converted.notices:
        remark_idle(args, NO_FAULTS, "--lenient")
    return _written(args, converted.blocks, annotator)


def _annotator(args: argparse.Namespace) -> Annotator:
    from grammeter.errant import annotator

    return annotator(args.pipeline, merge=args.merge, lev=args.lev)


def _written(args: argparse.Namespace, blocks: Iterable[M2Block], annotator: Annotator) -> int:
    from grammeter.formats import STDIN, format_m2, write_text

    if annotator.notice:
        remark([annotator.notice])
    text = format_m2(blocks)
    if args.out == STDIN:
        sys.stdout.write(text)
    else:
        write_text(args.out, text)
    return 0


def _compare(args: argparse.Namespace) -> int:
    from grammeter.errant import Rules
    from grammeter.formats import read_m2
    from grammeter.verbs import compare_m2, type_notes

    _check_beta(args.beta)
    rules = Rules(
        mode=args.mode, single=args.single, multi=args.multi, dropped=frozenset(args.filt)
    )
    hypothesis, reference = (read_m2(path, lenient=args.lenient) for path in (args.hyp, args.ref))
    origins = (args.hyp, args.ref)
    compared, notices = compare_m2(
        hypothesis, reference, rules, beta=args.beta, origins=origins, lenient=args.lenient
    )
    by_type = args.cat or args.filt or args.mode == "span-type"
    mixed = type_notes(hypothesis, reference) if by_type else ()
    if not notices:
        remark_idle(args, NO_FAULTS, "--lenient")
    data = {**_json(args, compared), "notes": [*notices, *mixed]}
    emit(args, data, lambda: _text(args, hypothesis.sources, compared))
    return 0


def _text(args: argparse.Namespace, sources: Iterable[str], compared: EditComparison) -> str:
    sentences = _sentences(sources, compared, args.beta) if args.verbose else ()
    return "".join([*sentences, *_results(args, compared)])


def _check_beta(beta: float) -> None:
    from grammeter.core import UsageError

    if not 0 < beta * beta < float("inf"):
        raise UsageError(f"-b {beta:g} is not possible", fix="Use a number greater than 0.")


def _json(args: argparse.Namespace, compared: EditComparison) -> dict[str, Any]:
    counts = compared.counts
    data = {
        "kind": "edit-comparison",
        "mode": args.mode,
        "beta": args.beta,
        "segments": len(compared.chosen),
        "value": counts.f(args.beta),
        "parts": counts.parts(),
    }
    if args.cat:
        data["types"] = {
            kind: {"value": type_counts.f(args.beta)} | type_counts.parts()
            for kind, type_counts in compared.by_type(TIERS[args.cat]).items()
        }
    return data


def _results(args: argparse.Namespace, compared: EditComparison) -> Iterator[str]:
    """Write the sums as the original does, figures by error type first."""
    title = TITLES[args.mode]
    if args.cat:
        yield f"\n{title:=^66}\n"
        yield _row("Category", "TP", "FP", "FN", "P", "R", f"F{args.beta}")
        for kind, counts in compared.by_type(TIERS[args.cat]).items():
            yield _row(kind, *_whole(counts), *_measures(counts, args.beta))
    counts = compared.counts
    figures = (*_whole(counts), *_measures(counts, args.beta))
    yield f"\n{title:=^46}\n"
    yield f"TP\tFP\tFN\tPrec\tRec\tF{args.beta}\n"
    yield "\t".join(map(str, figures)) + "\n"
    yield "=" * 46 + "\n\n"


def _row(kind: str, *cells: object) -> str:
    *padded, last = cells
    return " ".join([kind.ljust(14), *(str(cell).ljust(8) for cell in padded), str(last)]) + "\n"


def _sentences(sources: Iterable[str], compared: EditComparison, beta: float) -> Iterator[str]:
    """Write what was compared sentence by sentence, as ``-v`` of the original does."""
    from grammeter.errant import total_of

    so_far: list[Counts] = []
    for number, (source, pairings, best) in enumerate(
        zip(sources, compared.pairings, compared.best, strict=True)
    ):
        yield f"{RULE}Original sentence {number}: {source}\n"
        for pairing in pairings:
            total = total_of([*so_far, pairing.counts])
            yield f"{RULE}SENTENCE {number} - HYP {pairing.hypothesis} - REF {pairing.reference}\n"
            yield f"HYPOTHESIS EDITS : {_shown(pairing.proposed)}\n"
            yield f"REFERENCE EDITS  : {_shown(pairing.gold)}\n"
            yield from _figures("Local", pairing.counts, beta)
            yield from _figures("Global", total, beta)
        yield f"{RULE}^^ HYP {best.hypothesis}, REF {best.reference} chosen for sentence {number}\n"
        yield "Local results:\n"
        yield from _small_table(best)
        so_far = [total_of([*so_far, best.counts])]


def _figures(name: str, counts: Counts, beta: float) -> Iterator[str]:
    yield f"{name} TP/FP/FN".ljust(17) + f": {' '.join(map(str, _whole(counts)))}\n"
    yield f"{name} P/R/F{beta}  : {' '.join(map(str, _measures(counts, beta)))}\n"


def _shown(groups: Groups) -> list[tuple[int | str, ...]]:
    """Return keys, each with the first of its types."""
    return [(*key, groups[key][0]) for key in sorted(groups)]


def _small_table(best: Pairing) -> Iterator[str]:
    rows = [("Category", "TP", "FP", "FN")]
    rows += [(kind, *map(str, _whole(counts))) for kind, counts in best.by_type().items()]
    widths = [max(map(len, column)) + 3 for column in zip(*rows, strict=True)]
    for row in rows:
        yield "".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)) + "\n"


def _whole(counts: Counts) -> tuple[float, float, float]:
    return counts.tp, counts.fp, counts.fn


def _measures(counts: Counts, beta: float) -> tuple[float, ...]:
    from grammeter.errant import package_f

    figures = (counts.precision, counts.recall, package_f(counts, beta))
    return tuple(round(figure, DIGITS) for figure in figures)
