"""``grammeter edits``: M2 files made and compared, with ERRANT's own options."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from grammeter.cli.flags import NO_FAULTS, add_actions, add_options, options, remark_idle
from grammeter.cli.output import add_output, emit_data, remark

if TYPE_CHECKING:
    from grammeter.core import Counts
    from grammeter.errant import Groups, Mode, Pairing
    from grammeter.verbs import ComparedEdits, ExtractedEdits

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
    add_actions(parser, {
        "extract": ("edits of corrected texts (errant_parallel)", _add_extract, _extract),
        "convert": ("edits of an M2 file anew (errant_m2)", _add_convert, _convert),
        "compare": ("F-scores of an M2 file (errant_compare)", _add_compare, _compare),
    })  # fmt: skip


def _add_extract(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Extract and type the edits that lead from a text to its corrected versions."
        " Lines where the original is empty are left out; files of unequal length are refused,"
        " where errant_parallel stops at the end of the shortest."
    )
    _add(parser, "verbs.edits_extract", {
        "orig": "the original text, one sentence a line",
        "cor": "the corrected texts, parallel",
        "tok": "tokenise with the pipeline; default: at white space",
    }, orig={"nargs": None})  # fmt: skip
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
    _add(parser, "verbs.edits_convert", {
        "no_min": "keep equal tokens at an edit's ends (-gold)",
        "old_cats": "keep the error types (-gold)",
    })  # fmt: skip
    add_options(parser, "verbs.edits_convert", {"lenient": "pass over faulty edits, and say which"})
    _add_extraction(parser)


def _add_extraction(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("-out", required=True, metavar="FILE", help="the M2 file to write; - is standard output")
    _add(parser, "verbs.edits_extract", {"lev": "", "merge": "adjacent changes"})
    add_options(parser, "verbs.edits_extract", {"pipeline": "a spaCy pipeline, by name or folder"})
    add("--quiet", action="store_true", help="no notices")


def _add_compare(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Compare the edits of a hypothesis with those of a reference. Files with unequal numbers"
        " of sentences, or with other sentences, are refused. An empty correction and -NONE- both"
        " delete, and each of several corrections (in||at) counts as right."
    )
    verb = "verbs.edits_compare"
    _add(parser, verb, {
        "hyp": "the M2 file of the hypothesis", "ref": "the M2 file of the reference",
    })  # fmt: skip
    beta = {"names": ["-b", "--beta"], "metavar": "B"}
    add_options(parser, verb, {"beta": "weight of recall"}, beta=beta)
    parser.add_argument("-v", "--verbose", action="store_true", help="show each sentence")
    mode = parser.add_mutually_exclusive_group()
    for flag, value, text in (
        ("-dt", "token-detection", "each token that an edit touches"),
        ("-ds", "span-detection", "spans"),
        ("-cs", "span-correction", "spans and corrections (default)"),
        ("-cse", "span-type", "spans, corrections and error types"),
    ):
        mode.add_argument(flag, dest="mode", action="store_const", const=value, help=text)
    parser.set_defaults(mode="span-correction")
    _add(parser, verb, {
        "single": "only edits of at most one token on either side",
        "multi": "only edits of more than one token on a side",
        "filt": "",
        "cat": "figures by error type: 1 operation (R), 2 main type (NOUN), 3 whole type (R:NOUN)",
    }, filt={"metavar": "TYPE"}, cat={"choices": (1, 2, 3), "metavar": None})  # fmt: skip
    add_options(parser, verb, {"lenient": "pass over faulty lines, and say which"})
    add_output(parser, formats=("table", "json"))


def _add(
    parser: argparse.ArgumentParser, verb: str, texts: dict[str, str], **settings: dict[str, Any]
) -> None:
    """Declare options as ERRANT spells them: ``-old_cats``."""
    for name, text in texts.items():
        more = {"names": [f"-{name}"]} | settings.get(name, {})
        settings_of: dict[str, Any] = {name: more}
        add_options(parser, verb, {name: text}, **settings_of)


def _extract(args: argparse.Namespace) -> None:
    from grammeter.verbs import edits_extract

    _write(args, edits_extract(**options(args, edits_extract)))


def _convert(args: argparse.Namespace) -> None:
    from grammeter.verbs import edits_convert

    redo = "auto" if args.auto else "gold"
    _write(args, edits_convert(**options(args, edits_convert, redo=redo)))


def _write(args: argparse.Namespace, extracted: ExtractedEdits) -> None:
    from grammeter.formats import STDIN, write_text

    remark(extracted.faults)
    if not extracted.faults:
        remark_idle(args, NO_FAULTS, "--lenient")
    remark(extracted.notes)
    if args.out == STDIN:
        sys.stdout.write(extracted.text())
    else:
        write_text(args.out, extracted.text())


def _compare(args: argparse.Namespace) -> None:
    from grammeter.verbs import edits_compare

    compared = edits_compare(**options(args, edits_compare))
    if not compared.faults:
        remark_idle(args, NO_FAULTS, "--lenient")
    emit_data(args, compared.to_dict(), lambda: _text(args, compared))


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
