"""``grammeter edits``: M2 files made and compared, with ERRANT's own options."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import grammeter as gm
from grammeter import core, errant, formats, verbs
from grammeter.cli import flags, output

TITLES: dict[errant.Mode, str] = {
    "token-detection": " Token-Based Detection ",
    "span-detection": " Span-Based Detection ",
    "span-type": " Span-Based Correction + Classification ",
    "span-correction": " Span-Based Correction ",
}
DIGITS = 4
RULE = "-" * 40 + "\n"


def run_extract(args: argparse.Namespace) -> None:
    """Write the edits of corrected texts."""
    _write(args, flags.call(args, gm.edits_extract))


def run_convert(args: argparse.Namespace) -> None:
    """Write the edits of an M2 file anew."""
    _write(args, flags.call(args, gm.edits_convert, redo="auto" if args.auto else "gold"))


def run_from_suggestions(args: argparse.Namespace) -> None:
    """Write what a checker suggests as edits."""
    _write(args, flags.call(args, gm.edits_from_suggestions))


def run_split(args: argparse.Namespace) -> None:
    """Write two parts of an M2 file."""
    train, test = flags.call(args, gm.edits_split)
    output.remark((*train.faults, *train.notes))
    output.put(args.out, train.text())
    output.put(args.test, test.text())


def _write(args: argparse.Namespace, extracted: verbs.ExtractedEdits) -> None:
    output.remark(extracted.faults)
    if not extracted.faults:
        flags.remark_idle(args, flags.NO_FAULTS, "--lenient")
    output.remark(extracted.notes)
    output.put(args.out, extracted.text())


def run_align(args: argparse.Namespace) -> None:
    """Write two M2 files of one text with common sentences; print the counts."""
    aligned = flags.call(args, gm.edits_align)
    output.remark((*aligned.hypothesis.remarks, *aligned.reference.remarks))
    if not aligned.faults:
        flags.remark_idle(args, flags.NO_FAULTS, "--lenient")
    output.put(args.out_hyp, formats.format_m2(aligned.hypothesis.blocks))
    output.put(args.out_ref, formats.format_m2(aligned.reference.blocks))
    data = aligned.to_dict()
    if formats.STDIN in (args.out_hyp, args.out_ref):
        output.remark(data["notes"])
        return
    one, other = data["joined"].values()
    rows = f"blocks\t{data['blocks']}\njoined sentences\t{one}\t{other}\n"
    output.emit_data(args, data, lambda: f"{rows}widened edits\t{data['widened']}\n")


def run_compare(args: argparse.Namespace) -> None:
    """Print the F-scores of an M2 file."""
    compared = flags.call(args, gm.edits_compare)
    output.remark(compared.remarks)
    if compared.scheme != (args.scheme or "errant"):
        text = f"there are T lines, so edits are compared as by --scheme {compared.scheme}"
        output.remark([text])
    if not compared.faults:
        flags.remark_idle(args, flags.NO_FAULTS, "--lenient")
    sentences = _sentences(compared) if args.verbose else ()
    output.emit_data(args, compared.to_dict(), lambda: "".join([*sentences, *_results(compared)]))


def _results(compared: verbs.ComparedEdits) -> Iterator[str]:
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


def _sentences(compared: verbs.ComparedEdits) -> Iterator[str]:
    so_far: list[core.Counts] = []
    pairs, beta = compared.comparison, compared.beta
    for number, (source, pairings, best) in enumerate(
        zip(compared.sources, pairs.pairings, pairs.best, strict=True)
    ):
        yield f"{RULE}Original sentence {number}: {source}\n"
        for pairing in pairings:
            total = errant.total_of([*so_far, pairing.counts])
            yield f"{RULE}SENTENCE {number} - HYP {pairing.hypothesis} - REF {pairing.reference}\n"
            yield f"HYPOTHESIS EDITS : {_shown(pairing.proposed)}\n"
            yield f"REFERENCE EDITS  : {_shown(pairing.gold)}\n"
            yield from _figures("Local", pairing.counts, beta)
            yield from _figures("Global", total, beta)
        yield f"{RULE}^^ HYP {best.hypothesis}, REF {best.reference} chosen for sentence {number}\n"
        yield "Local results:\n"
        rows = [("Category", "TP", "FP", "FN")]
        rows += [(kind, *map(str, _whole(counts))) for kind, counts in best.by_type().items()]
        widths = [max(map(len, column)) + 3 for column in zip(*rows, strict=True)]
        for row in rows:
            yield "".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)) + "\n"
        so_far = [errant.total_of([*so_far, best.counts])]


def _figures(name: str, counts: core.Counts, beta: float) -> Iterator[str]:
    yield f"{name} TP/FP/FN".ljust(17) + f": {' '.join(map(str, _whole(counts)))}\n"
    yield f"{name} P/R/F{beta}  : {' '.join(map(str, _measures(counts, beta)))}\n"


def _shown(groups: errant.Groups) -> list[tuple[int | str, ...]]:
    return [(*key, groups[key][0]) for key in sorted(groups)]


def _whole(counts: core.Counts) -> tuple[float, float, float]:
    return counts.tp, counts.fp, counts.fn


def _measures(counts: core.Counts, beta: float) -> tuple[float, ...]:
    figures = (counts.precision, counts.recall, errant.package_f(counts, beta))
    return tuple(round(figure, DIGITS) for figure in figures)
