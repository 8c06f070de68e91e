"""``grammeter edits``: M2 files made and compared, with ERRANT's own options."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from grammeter.cli.homes import NO_FAULTS, remark_idle
from grammeter.cli.output import add_output, emit, remark

if TYPE_CHECKING:
    from grammeter.core import Counts
    from grammeter.errant import Groups, Mode, Pairing
    from grammeter.verbs import ComparedEdits, ExtractedEdits

MERGE = ("rules", "all-split", "all-merge", "all-equal")
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
        choices=(1, 2, 3),
        help="figures by error type: 1 operation (R), 2 main type (NOUN), 3 whole type (R:NOUN)",
    )
    add("--lenient", action="store_true", help="pass over faulty lines, and say which")
    add_output(parser, formats=("table", "json"))


def _extract(args: argparse.Namespace) -> int:
    from grammeter.verbs import edits_extract

    return _written(args, edits_extract(args.orig, args.cor, tok=args.tok, **_annotation(args)))


def _convert(args: argparse.Namespace) -> int:
    from grammeter.verbs import edits_convert

    converted = edits_convert(
        args.m2_file,
        redo="auto" if args.auto else "gold",
        no_min=args.no_min,
        old_cats=args.old_cats,
        lenient=args.lenient,
        **_annotation(args),
    )
    return _written(args, converted)


def _annotation(args: argparse.Namespace) -> dict[str, Any]:
    return {"lev": args.lev, "merge": args.merge, "pipeline": args.pipeline}


def _written(args: argparse.Namespace, extracted: ExtractedEdits) -> int:
    from grammeter.formats import STDIN, write_text

    remark(extracted.faults)
    if not extracted.faults:
        remark_idle(args, NO_FAULTS, "--lenient")
    remark(extracted.notes)
    if args.out == STDIN:
        sys.stdout.write(extracted.text())
    else:
        write_text(args.out, extracted.text())
    return 0


def _compare(args: argparse.Namespace) -> int:
    from grammeter.verbs import edits_compare

    options = ("beta", "mode", "single", "multi", "filt", "cat", "lenient")
    compared = edits_compare(args.hyp, args.ref, **{name: getattr(args, name) for name in options})
    if not compared.faults:
        remark_idle(args, NO_FAULTS, "--lenient")
    emit(args, compared.to_dict(), lambda: _text(args, compared))
    return 0


def _text(args: argparse.Namespace, compared: ComparedEdits) -> str:
    sentences = _sentences(compared) if args.verbose else ()
    return "".join([*sentences, *_results(compared)])


def _results(compared: ComparedEdits) -> Iterator[str]:
    """Write the sums as the original does, figures by error type first."""
    title, beta = TITLES[compared.mode], compared.beta
    if compared.cat:
        yield f"\n{title:=^66}\n"
        yield _row("Category", "TP", "FP", "FN", "P", "R", f"F{beta}")
        for kind, counts in compared.by_type().items():
            yield _row(kind, *_whole(counts), *_measures(counts, beta))
    counts = compared.comparison.counts
    yield f"\n{title:=^46}\n"
    yield f"TP\tFP\tFN\tPrec\tRec\tF{beta}\n"
    yield "\t".join(map(str, (*_whole(counts), *_measures(counts, beta)))) + "\n"
    yield "=" * 46 + "\n\n"


def _row(kind: str, *cells: object) -> str:
    *padded, last = cells
    return " ".join([kind.ljust(14), *(str(cell).ljust(8) for cell in padded), str(last)]) + "\n"


def _sentences(compared: ComparedEdits) -> Iterator[str]:
    """Write the comparison of each sentence, as ``-v`` of the original does."""
    from grammeter.errant import total_of

    so_far: list[Counts] = []
    pairs, beta = compared.comparison, compared.beta
    for number, (source, pairings, best) in enumerate(
        zip(compared.sources, pairs.pairings, pairs.best, strict=True)
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
