"""Verbs with one result: score, compare, explain, rank, agree, report, reproduce and others."""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import grammeter as gm
from grammeter import core, formats, metrics, papers, rendering, study, training, verbs, version
from grammeter.cli import flags, inputs, output

PROCESSES = 2  # that make tables of papers
_FORMS: Mapping[str, core.Form] = {".md": "markdown", ".tex": "latex", ".tsv": "tsv"}

OWN = f"""@software{{grammeter,
  title = {{grammeter: measuring grammatical error correction systems}},
  author = {{{{The grammeter authors}}}},
  version = {{{version.__version__}}},
  year = {{2026}}
}}"""


def run_score(args: argparse.Namespace) -> int:
    """Score and print; return the exit code."""
    with gm.using(inputs.runtime(args)), inputs.asking(args):
        return _score(args)


def _score(args: argparse.Namespace) -> int:
    if args.benchmark and not args.metrics:
        args.metrics = formats.recipe(args.benchmark).metrics
    limits = _limits(args.fail_under)
    verbs.check_limits(limits, args.metrics)
    for path in (args.output, args.segments):  # before the work, not after it
        formats.check_folder(path)
    metrics = [_named(spelled) for spelled in args.metrics]  # refuses wrong spellings at once
    corpus = inputs.corpus(args, noted=True)
    verbs.check_limits(limits, args.metrics, corpus.group_labels)
    inputs.remark_unused(args, metrics, judging=True)
    with output.progress(args):
        table = flags.call(args, verbs.score, corpus=corpus, source=(), references=())
    if args.output:
        formats.write_scores(table, args.output)
    if args.segments:
        output.put(args.segments, rendering.segments_tsv(table))
    if args.segments != formats.STDIN:
        output.print_result(args, table, parts=args.parts)
    missed = verbs.fail_under(table, limits)
    for text in missed:
        print(text, file=sys.stderr)
    return 1 if missed else 0


def _named(spelled: str) -> gm.Metric:
    try:
        return gm.metric(spelled)
    except gm.UsageError:
        if not Path(spelled).is_file():
            raise
    fix = "System outputs stand behind --hyps, gold edits and texts behind -r."
    raise gm.UsageError(f"{spelled} is a file, no metric", fix=fix)


def _limits(spelled: Iterable[str]) -> dict[str, float]:
    limits: dict[str, float] = {}
    for text in spelled:
        name, _, value = text.rpartition("=")
        try:
            limits[name] = float(value)
        except ValueError:
            name = ""
        if not name:
            fix = "Write METRIC=VALUE: m2=0.35, m2@GROUP=0.3"
            raise gm.UsageError(f"--fail-under {text}", fix=fix)
    return limits


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
    with gm.using(inputs.runtime(args)):
        scores = gm.read_scores(args.scores)
        names = [scores[name].metric if name in scores else name for name in args.metrics or scores]
        inputs.remark_unused(args, [gm.metric(name) for name in names])
        with output.progress(args):
            explained = flags.call(args, gm.explain, scores=scores)
        output.emit(args, explained)


def run_rank(args: argparse.Namespace) -> None:
    """Rank and print."""
    if args.figure and (args.draw_radius or args.validate is not None):
        fault = "--figure belongs to results other than those of --validate and --draw-radius"
        raise gm.UsageError(fault, fix="Leave it out.")
    rendering.check_figure(args.figure)
    if args.by != "trueskill":
        flags.remark_idle(args, "only runs of TrueSkill are shared out", "--processes")
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
    rendering.check_figure(args.figure)
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


def run_combine(args: argparse.Namespace) -> None:
    """Combine; write the texts, and print what became of the edits."""
    names = args.names or [formats.system_name(path) for path in args.hyps]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        fault = f"two systems are called {twice!r}"
        raise gm.DataError(fault, where=" ".join(args.hyps), fix="Rename one, or use --names.")
    core.check_home(args.oracle != "edits", "texts, which this oracle has not", output=args.output)
    formats.check_folder(args.output)
    with gm.using(inputs.runtime(args)):
        corpus = inputs.corpus(args, noted=True, references=args.oracle is not None)
        with output.progress(args):
            result = flags.call(args, gm.combine, corpus=corpus)
    inputs.remark_unused(args, [gm.metric(args.metric)] if args.metric else [])
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
    with gm.using(inputs.runtime(args)), output.progress(args):
        result = flags.call(args, gm.robustness, cases=cases, outputs=outputs)
    inputs.remark_unused(args, [gm.metric(args.metric)])
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


def run_reproduce(args: argparse.Namespace) -> None:
    """List, or make tables and print them."""
    paper: str | None = args.paper
    if paper is None and not args.slips:
        _emit(args, gm.reproduce(table=args.table))
        return
    rendering.check_figure(args.figure)
    args.paper = paper or "all"
    with (
        gm.using(inputs.runtime(args)),
        output.progress(args) as shown,
        training.listening(output.teller(args, shown)),
    ):
        reproduction = flags.call(args, gm.reproduce, processes=PROCESSES)
    _draw(reproduction, args.figure)
    _emit(args, reproduction, differing=args.differing)
    if not reproduction.cells:
        return
    counts = Counter(cell.verdict for cell in reproduction.cells)
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
    output.notice(
        args, f"{len(reproduction.cells)} cells: {verdicts}; {sum(reproduction.seconds):.0f} s"
    )


def _draw(reproduction: papers.Reproduction, path: str | None) -> None:
    if path is None:
        return
    drawings = [*reproduction.figures()]
    if len(drawings) != 1:
        fault = f"--figure: {len(drawings)} of these tables are drawn by the paper and made here"
        fix = "Name one, such as: grammeter reproduce grundkiewicz2015 figure3_curves"
        raise core.UsageError(fault, fix=fix)
    rendering.save_figures(reproduction, {drawings[0]: path})


def _emit(args: argparse.Namespace, result: core.Result, **options: bool) -> None:
    """Print; write to ``-o`` in the form of the file's suffix, else as JSON."""
    form = _FORMS.get(Path(args.output).suffix.lower()) if args.output else None
    if form:
        formats.write_text(args.output, result.write(form, **options))
        args = argparse.Namespace(**{**vars(args), "output": None})
    output.emit(args, result, **options)


def run_completion(args: argparse.Namespace) -> None:
    """Print what a shell runs at its start, or the page for man."""
    from argcomplete.shell_integration import shellcode

    man = args.shell == "man"
    sys.stdout.write(_man_page() if man else shellcode(["grammeter"], True, args.shell))


def _man_page() -> str:
    """Return the help of all verbs as one page of roff."""
    from grammeter.cli import parser

    parsers = [parser.top_parser(), *map(parser.parser_of, parser.VERBS)]
    below = [one for each in parsers for one in dict.fromkeys([each, *each.parsers()])]
    pages = [(one.prog, one.format_help().replace("\\", "\\e")) for one in below]
    # a line that begins with a full stop or an apostrophe would be a command
    texts = [(prog, re.sub(r"^(?=[.'])", r"\\&", text, flags=re.MULTILINE)) for prog, text in pages]
    head = ".TH GRAMMETER 1\n.SH NAME\ngrammeter \\- measure grammatical error correction\n"
    return head + "".join(f'.SH "{prog.upper()}"\n.nf\n{text}.fi\n' for prog, text in texts)


def run_sample(args: argparse.Namespace) -> None:
    """Draw items and print them, or how likely each sentence is to be drawn."""
    names: list[str] = args.judges
    judges = int(names[0]) if len(names) == 1 and names[0].isdecimal() else names
    likely = {name: getattr(args, name) for name in ("select", "per_item", "metric")}
    likely["scores"] = gm.read_scores(args.scores) if args.scores else None
    corpus = inputs.corpus(args, references=False)
    drawn = likely | {"judges": judges, "probabilities": False}
    items: Sequence[core.Item] = flags.call(args, gm.sample, corpus=corpus, **drawn)
    if args.probabilities:
        chances = gm.sample(corpus, probabilities=True, **likely)
        output.put(args.probabilities, _probabilities_tsv(chances))
    if args.output or args.probabilities != "-":
        output.put(args.output, formats.items_text(items))
    output.notice(args, _summary(items))


def _probabilities_tsv(source: study.Distribution) -> str:
    columns = (source.expected_systems, source.values, source.probabilities)
    shared = (" ".join(map(str, study.multiplicities(groups))) for groups in source.groups)
    figures = zip(shared, *(map(repr, column.tolist()) for column in columns), strict=True)
    rows = [(str(number), *of) for number, of in enumerate(figures, start=1)]
    header = ("segment", "multiplicities", "expected_systems", "value", "probability")
    return gm.Table.of(header, rows).write("tsv")


def _summary(items: Sequence[core.Item]) -> str:
    shown = [item for item in items if not item.repeat]
    alone = sum(item.distinct == 1 for item in shown)
    parts = [f"{len(shown)} items of {len({item.segment for item in shown})} sentences"]
    if alone:
        parts.append(f"{alone} with one output only, a tie of all systems")
    if len(items) > len(shown):
        parts.append(f"{len(items) - len(shown)} repeats")
    return "; ".join(parts)
