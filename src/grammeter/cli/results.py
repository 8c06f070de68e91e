"""Verbs with one result: combine, compare, explain, rank, agree, sample, report, list, cite."""

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import grammeter as gm
from grammeter import core, formats, metrics, rendering, study, version
from grammeter.cli import flags, inputs, models, output

LARGE = 25  # megabytes; above this size a notice says what to leave out of a report
LIKELY = ("select", "per_item", "metric")  # flags that also say how likely each sentence is

OWN = f"""@software{{grammeter,
  title = {{grammeter: measuring grammatical error correction systems}},
  author = {{{{The grammeter authors}}}},
  version = {{{version.__version__}}},
  year = {{2026}}
}}"""


def run_compare(args: argparse.Namespace) -> int:
    """Compare and print; return 1 if a system is worse than it was."""
    stored, table = args.fail_if_worse, args.scores
    worse = gm.fail_if_worse(table, stored, metrics=args.metrics) if stored else []
    with output.progress(args):
        result = flags.call(args, gm.compare, table=table)
    output.emit(args, result)
    for text in worse:
        print(text, file=sys.stderr)
    if stored and not worse:
        output.notice(args, f"--fail-if-worse: no system scores worse than in {stored}")
    return 1 if worse else 0


def run_explain(args: argparse.Namespace) -> None:
    """Explain and print."""
    with gm.using(models.runtime(args)):
        scores = gm.read_scores(args.scores)
        names = [scores[name].metric if name in scores else name for name in args.metrics or scores]
        models.remark_unused(args, [gm.metric(name) for name in names])
        with output.progress(args):
            explained = flags.call(args, gm.explain, scores=scores)
        output.emit(args, explained)


def run_rank(args: argparse.Namespace) -> None:
    """Rank and print."""
    if args.figure and (args.draw_radius or args.validate is not None):
        fault = "--figure belongs to results other than those of --validate and --draw-radius"
        raise gm.UsageError(fault, fix="Leave it out.")
    output.check_figures(args.figure)
    if args.processes != 1 and args.by != "trueskill":
        why = "--processes changes nothing here: only runs of TrueSkill are shared out"
        output.notice(args, why)
    judgments = inputs.judgments(args)
    if args.unit != "document":
        flags.remark_idle(args, "documents are drawn with --unit document", "--documents")
    with output.progress(args):
        result = flags.call(args, gm.rank, rankings=judgments)
    rendering.save_figures(result, dict.fromkeys(result.figures(), args.figure))
    output.emit(args, result)


def run_agree(args: argparse.Namespace) -> None:
    """Measure and print."""
    core.check_home(not args.correlate, "results other than --correlate's", figure=args.figure)
    output.check_figures(args.figure)
    judgments = inputs.judgments(args)
    outputs = formats.read_outputs(args.hyps) if args.hyps else None
    result = flags.call(args, gm.agree, rankings=judgments, outputs=outputs)
    core.check_home(bool(result.figures()), "judgments that rank outputs", figure=args.figure)
    rendering.save_figures(result, dict.fromkeys(result.figures(), args.figure))
    output.emit(args, result)


def run_report(args: argparse.Namespace) -> None:
    """Gather and write the page."""
    if not args.output:
        raise gm.UsageError("a report is a file, and none is named", fix="Add: -o report.html")
    formats.check_folder(args.output)
    if (target := Path(args.output)).is_dir():
        fault = f"{args.output}: this is a folder, not a file"
        raise gm.UsageError(fault, fix=f"Add: -o {target / 'report.html'}")
    with output.progress(args):
        page = flags.call(args, gm.report)
    megabytes = gm.write_report(page, args.output) / 1_000_000
    output.notice(args, f"{args.output}: {megabytes:.1f} MB")
    if megabytes > LARGE:
        large = "so large a page opens slowly: --systems and -m leave out what is not needed"
        output.notice(args, large)


def run_combine(args: argparse.Namespace) -> None:
    """Combine; write the texts, and print what became of the edits."""
    names = args.names or [formats.system_name(path) for path in args.hyps]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        fault = f"two systems are called {twice!r}"
        raise gm.DataError(fault, where=" ".join(args.hyps), fix="Rename one, or use --names.")
    core.check_home(args.oracle != "edits", "texts, which this oracle has not", output=args.output)
    formats.check_folder(args.output)
    with gm.using(models.runtime(args)):
        corpus = inputs.corpus(args, noted=True, references=args.oracle is not None)
        with output.progress(args):
            result = flags.call(args, gm.combine, corpus=corpus)
    models.remark_unused(args, [gm.metric(args.metric)] if args.metric else [])
    if args.output:
        output.put(args.output, result.text())
    if args.output == formats.STDIN:
        output.remark(result.notes)
        flags.remark_idle(args, "standard output has the text", "--format", "--digits", "--percent")
    else:
        if not args.oracle:
            flags.remark_idle(args, "there are counts alone", "--digits", "--percent")
        output.print_result(args, result)


def run_robustness(args: argparse.Namespace) -> None:
    """Measure and print."""
    cases, outputs = gm.read_robustness(args.para), formats.read_outputs(args.hyps)
    with gm.using(models.runtime(args)), output.progress(args):
        result = flags.call(args, gm.robustness, cases=cases, outputs=outputs)
    models.remark_unused(args, [gm.metric(args.metric)])
    output.emit(args, result)


def run_list(args: argparse.Namespace) -> None:
    """List metrics with their options and defaults."""
    known: list[dict[str, Any]] = []
    for name in [args.name] if args.name else metrics.names():
        try:
            known.append(metrics.describe(name))
        except gm.GrammeterError as error:
            if args.name:
                raise
            output.notice(args, f"left out: {error.message}")
    if args.format == "json":
        output.print_json({"kind": "metrics", "metrics": known})
        return
    options = (", ".join(f"{name} ({x})" for name, x in m["options"].items()) for m in known)
    rows = [(m["name"], m["needs"], of, m["title"]) for m, of in zip(known, options, strict=True)]
    table = gm.Table.of(("metric", "needs", "options (default)", "what it is"), rows)
    sys.stdout.write(table.write(output.style(args)))


def run_cite(args: argparse.Namespace) -> None:
    """Print BibTeX entries, each once."""
    cited = [gm.metric(name).citation for name in args.names] or [OWN]
    printed, parts = set[str](), list[str]()
    for text in dict.fromkeys(cited):
        entries = [entry for entry in re.split(r"\n+(?=@)", text) if entry not in printed]
        printed.update(entries)
        parts += ["\n".join(entries)] if entries else []
    sys.stdout.write("\n\n".join(parts) + "\n")


def run_completion(args: argparse.Namespace) -> None:
    """Print what a shell runs at its start."""
    from argcomplete.shell_integration import shellcode

    sys.stdout.write(shellcode(["grammeter"], True, args.shell))


def run_sample(args: argparse.Namespace) -> None:
    """Draw items and print them."""
    likely: dict[str, Any] = {name: getattr(args, name) for name in LIKELY}
    likely["scores"] = gm.read_scores(args.scores) if args.scores else None
    names: list[str] = args.judges
    judges = int(names[0]) if len(names) == 1 and names[0].isdecimal() else names
    corpus = inputs.corpus(args, references=False)
    drawn = likely | {"judges": judges, "probabilities": False}
    items: Sequence[core.Item] = flags.call(args, gm.sample, corpus=corpus, **drawn)
    if args.probabilities:
        chances = gm.sample(corpus, probabilities=True, **likely)
        output.put(args.probabilities, _probabilities_tsv(chances))
    if args.output or args.probabilities != "-":
        output.put(args.output, formats.items_text(items))
    output.notice(args, _summary(items))


def _probabilities_tsv(source: "study.Distribution") -> str:
    columns = (source.expected_systems, source.values, source.probabilities)
    shared = (" ".join(map(str, study.multiplicities(groups))) for groups in source.groups)
    figures = zip(shared, *(map(repr, column.tolist()) for column in columns), strict=True)
    rows = [(str(number), *of) for number, of in enumerate(figures, start=1)]
    header = ("segment", "multiplicities", "expected_systems", "value", "probability")
    return gm.Table.of(header, rows).write("tsv")


def _summary(items: "Sequence[core.Item]") -> str:
    shown = [item for item in items if not item.repeat]
    alone = sum(item.distinct == 1 for item in shown)
    parts = [f"{len(shown)} items of {len({item.segment for item in shown})} sentences"]
    if alone:
        parts.append(f"{alone} with one output only, a tie of all systems")
    if len(items) > len(shown):
        parts.append(f"{len(items) - len(shown)} repeats")
    return "; ".join(parts)
