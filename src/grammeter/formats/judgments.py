"""Human judgments from files: Appraise-2015 XML, WMT CSV, JSON lines.

The content tells the format of a file that is read, the name that of one that is written.
Appraise and WMT files count sentences from 0 or from 1 and do not say which;
:func:`read_judgments` says how this is found out.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from grammeter import core
from grammeter.formats import corpus, foreign, judged, numbering, rating_files, ratings, wmt
from grammeter.formats import edit_judgments as edits
from grammeter.formats import labels as labelling
from grammeter.formats.appraise import format_appraise, parse_appraise
from grammeter.formats.text import (
    bare_name,
    decode,
    encoding_notices,
    read_bytes,
    with_line_feeds,
    write_text,
)

PathLike = str | Path
Paths = PathLike | Sequence[PathLike]
Kind = Literal["ratings", "judgments of edits", "appraise", "wmt", "jsonl"]
_FORMS = """\
Known are Appraise XML (<appraise-results>), WMT CSV (a first line with system1Id and system1rank) \
and JSON lines ({"judge": ...})."""
_HEADS = {"appraise": "Appraise XML", "wmt": "WMT CSV"}
_SUFFIXES: dict[str, judged.JudgmentForm] = {".xml": "appraise", ".csv": "wmt", ".jsonl": "jsonl"}


@core.checked
def read_judgments(
    paths: Paths,
    *, first_segment: judged.FirstSegment | None = None, systems: numbering.Outputs | None = None,
    drop: Container[str] = (), documents: str | None = None, missing_score: float | None = None,
    layout: rating_files.Layout | None = None, scale: str | None = None,
) -> judged.Judgments | edits.EditJudgments | ratings.Ratings:  # fmt: skip
    """Read the judgments of one file, or of several, one after the other.

    The content tells what was judged: outputs that were ranked or rated, or single edits. Raises
    :class:`DataError` with file and line, also for judgments that do not fit the outputs;
    :class:`UsageError` if a file is named twice, files hold judgments of different kinds, or it is
    unknown which sentences of two files are the same, see
    :func:`~grammeter.formats.numbering.join`.

    Parameters
    ----------
    paths
        Files, plain or gzip; ``-`` is standard input.
    first_segment
        The number of the first sentence in Appraise and WMT files. Default: the one for which all
        systems of each group have the same output in ``systems``, if given; else 0.
    systems
        The outputs that were judged, by name. Groups are checked against them.
    drop
        Names of systems that are dropped later: their outputs may be missing.
    documents
        ``FILE:COLUMN`` with the document of each sentence, see :mod:`grammeter.formats.labels`.
    missing_score
        Of ratings: the number that stands for no score; some published formats have their own.
    layout
        Of ratings: what the columns of a wide table are, ``criteria``, or ``systems`` as in GMEG.
    scale
        Of ratings: least and largest score, such as ``0-100``, where the file does not name them.
    """
    texts = _texts(paths)
    of_ratings: Any = {"missing_score": missing_score, "layout": layout, "scale": scale}
    of_ranks = {"documents": documents, "first_segment": first_segment}
    rated = layout == "systems" or all(rating_files.is_ratings(text) for _, text, _ in texts)
    ranked = not rated and not all(edits.is_edit_judgments(text) for _, text, _ in texts)
    homes = (rated, "ratings", of_ratings), (ranked, "judgments that rank outputs", of_ranks)
    for at_home, home, options in homes:
        core.check_home(at_home, home, **{k: v is not None for k, v in options.items()})
    if rated:
        return rated_texts(texts, systems, drop, **of_ratings)
    if not ranked:
        parts = [edits.parse_edit_judgments(text, where, notices) for where, text, notices in texts]
        return edits.EditJudgments.joined(parts).checked(outputs=systems, drop=drop)
    judgments = _parsed(texts, partial(parse_judgments, systems=systems, drop=drop), first_segment)
    if documents is None:
        return judgments
    labels, notices = labelling.read_labels(documents)
    rankings = in_documents(judgments, corpus.crossed(labels), documents)
    return replace(judgments, rankings=rankings, notices=(*judgments.notices, *notices))


def rated_texts(
    texts: Sequence[tuple[str, str, Sequence[str]]], systems: numbering.Outputs | None = None,
    drop: Container[str] = (),
    *, missing_score: float | None = None, layout: rating_files.Layout | None = None,
    scale: str | None = None,
) -> ratings.Ratings:  # fmt: skip
    """Read ratings from texts: names, texts, notices; options as of :func:`read_judgments`."""
    span = rating_files.stated_scale(scale)
    files = [rating_files.parse_ratings(t, w, n, layout=layout) for w, t, n in texts]
    evidence = numbering.Evidence(systems, drop)
    return ratings.join_ratings(files, evidence, missing_score=missing_score, scale=span)


def read_rankings(paths: Paths, **options: Any) -> judged.Judgments:
    """Read judgments that rank outputs, as :func:`read_judgments`; UsageError for others."""
    read = read_judgments(paths, **options)
    return read if isinstance(read, judged.Judgments) else read.refuse()


def in_documents(
    rankings: Sequence[core.Ranking], documents: Sequence[str], where: str
) -> tuple[core.Ranking, ...]:
    """Say of which document each judgment is; ``documents`` are those of all sentences.

    Raises :class:`DataError`, naming ``where`` they are from, if there are fewer than sentences, or
    the judgments count sentences within documents of their own.
    """
    last = max((ranking.segment for ranking in rankings), default=0)
    if last > len(documents) or core.repeated_segments(rankings):
        fault = f"{len(documents)} sentences have a document; judgments are of sentence {last}"
        fault += ", or count sentences within documents of their own"
        raise core.DataError(fault, where=where, fix="Name the documents of the judged sentences.")
    names = ((r, documents[r.segment - 1]) for r in rankings)
    return tuple(replace(r, document=f"{name}-{r.item}" if r.item else name) for r, name in names)


def _texts(paths: Paths) -> list[tuple[str, str, Sequence[str]]]:
    """Return the name of each file, its text, and what to say of its encoding."""
    listed = [paths] if isinstance(paths, str | Path) else list(paths)
    if not listed or len(set(map(str, listed))) != len(listed):
        named = ", ".join(map(str, listed)) or "none"
        raise core.UsageError(f"judgments from {named}", fix="Name each file once, one at least.")
    data = [(path, read_bytes(path)) for path in listed]
    return [(str(path), decode(of, path), encoding_notices(of, path)) for path, of in data]


def _parsed(
    texts: Sequence[tuple[str, str, Sequence[str]]],
    parse: Callable[..., judged.Judgments],
    first: judged.FirstSegment | None,
) -> judged.Judgments:
    parts: list[judged.Judgments] = []
    for where, text, notices in texts:
        part = parse(text, where, first_segment=first)
        parts.append(replace(part, notices=(*notices, *part.notices)))
    joined = numbering.join(parts)
    if first is None or any(file.form != "jsonl" for file in joined.files):
        return joined
    unused = "--first-segment (first_segment=) had no effect: JSON lines count sentences from 1"
    return replace(joined, notes=(*joined.notes, unused))


def read_sides(
    sides: Sequence[Sequence[PathLike]],
    read: Callable[[Sequence[str]], judged.Judgments] = read_rankings,
    *,
    alone: bool = False,
) -> list[judged.Judgments]:
    """Read the judgments of several sides, people and a model, with sentences counted alike.

    ``sides``: the files of each side, which ``read`` reads together. ``alone``: no other file
    counts these sentences, so those of several documents with one number get new numbers.
    """
    paths = list(dict.fromkeys(str(path) for side in sides for path in side))
    judgments = read(paths)
    rankings = core.with_sentence_numbers(judgments) if alone else judgments
    rows = list(zip(rankings, judgments.origins, strict=True))
    files = dict(zip(paths, judgments.files, strict=True))

    def part(side: Sequence[str]) -> judged.Judgments:
        some = [(ranking, origin) for ranking, origin in rows if judged.file_of(origin) in side]
        of, origins = tuple(r for r, _ in some), tuple(origin for _, origin in some)
        ways = tuple(files[path] for path in side)
        return replace(judgments, rankings=of, files=ways, origins=origins)

    return [part([str(path) for path in side]) for side in sides]


def parse_judgments(
    text: str, where: str,
    *, first_segment: judged.FirstSegment | None = None, systems: numbering.Outputs | None = None,
    drop: Container[str] = (), segments: int | None = None,
) -> judged.Judgments:  # fmt: skip
    """Read judgments from a text; ``where`` names it in messages. See :func:`read_judgments`.

    ``segments``: how many sentences were scored, with outputs of ``systems``, maybe not all that
    were judged, which are left alone then. A file with one number more counts from 1.
    """
    text = with_line_feeds(text)
    kind = kind_of(text)
    if kind in judged.TAKERS:
        judged.refuse(kind, where)
    if kind in ("appraise", "wmt"):
        parse = parse_appraise if kind == "appraise" else wmt.parse_wmt
        judgments = parse(text, where, systems or ())
    elif text.lstrip()[:1] == "{":
        judgments = judged.parse_lines(text, where)
    else:
        fault = "judgments of no known format" if text.strip() else "the file is empty"
        raise core.DataError(fault, where=f"{where}:1", fix=_FORMS)
    if not judgments.rankings:
        raise core.DataError("no judgment in this file", where=where, fix="Give one item at least.")
    names = {name for ranking in judgments for name in ranking.systems}
    outputs = systems if segments is None or names <= {*(systems or ())} else None
    numbered = numbering.with_numbers(judgments, where, first_segment, outputs, drop)
    numbers = {ranking.segment for ranking in numbered}
    if numbered.files[0].basis == "default" and 1 not in numbers and max(numbers) - 1 == segments:
        numbered = numbering.shifted(numbered, 1, "found")
    notes = [f"{where}: {note}" for note in numbering.document_notes(numbered)]
    counts = {
        "skipped": sum(ranking.skipped for ranking in judgments),
        "without outputs": sum(not (r.groups or r.skipped) for r in judgments),
        "with one output": sum(len(r.groups) == 1 and not r.skipped for r in judgments),
    }
    odd = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    notices = (f"{where}: {len(judgments)} items, of them {odd}",) if odd else ()
    return replace(numbered, notices=(*numbered.notices, *notices), notes=(*numbered.notes, *notes))


def read_judgments_of(
    paths: Paths, outputs: numbering.Outputs | None = None,
    *, segments: int = 0, first_segment: judged.FirstSegment | None = None,
) -> judged.Judgments:  # fmt: skip
    """Read files of judgments of sentences that were scored; see :func:`parse_judgments`."""
    parse = partial(parse_judgments, systems=outputs, segments=segments)
    return _parsed(_texts(paths), parse, first_segment)


@core.checked
def write_judgments(
    path: PathLike, judgments: judged.Judgments | Sequence[core.Ranking]
) -> tuple[str, ...]:
    """Write judgments in a form that :func:`read_judgments` reads; return what was lost.

    The name tells the form: ``.xml``, ``.csv`` or ``.jsonl``, with ``.gz`` after that if packed.
    What was read from one file keeps that file's numbering, separator and attributes. Raises
    :class:`DataError` if the format cannot hold a judgment, or the file cannot be written;
    :class:`UsageError` if the name does not tell the format.
    """
    suffix = Path(bare_name(path)).suffix
    if (form := _SUFFIXES.get(suffix)) is None:
        fault = f"the name {str(path)!r} does not tell the format of judgments"
        raise core.UsageError(fault, fix=f"End it in {', '.join(_SUFFIXES)}, then .gz if packed.")
    write_text(path, format_judgments(judgments, form))
    lost = _lost(judgments, form)
    return (f"{path}: {_HEADS[form]} cannot hold everything: {lost}",) if lost else ()


def _lost(rankings: Iterable[core.Ranking], form: judged.JudgmentForm) -> str:
    """Say what a form does not hold; empty if nothing."""
    counts = Counter[str]()
    for ranking in rankings if form != "jsonl" else ():
        counts["items with scores"] += ranking.scores is not None
        counts["items with replies"] += bool(ranking.replies)
        if form == "wmt":
            counts["skipped items"] += ranking.skipped
            counts["items with one system"] += not ranking.skipped and len(ranking.systems) < 2
            counts["times"] += ranking.seconds is not None
            counts["equal outputs"] += len(ranking.systems) - len(ranking.groups)
            counts["documents"] += ranking.document in foreign.UNUSED
    return ", ".join(f"{count} {what}" for what, count in counts.items() if count)


def format_judgments(
    judgments: judged.Judgments | Sequence[core.Ranking], form: judged.JudgmentForm,
    *, first_segment: judged.FirstSegment | None = None,
) -> str:  # fmt: skip
    """Return judgments as text; see :func:`write_judgments`."""
    files = judgments.files if isinstance(judgments, judged.Judgments) else ()
    file = files[0] if len(files) == 1 and files[0].form == form else judged.JudgmentFile(form=form)
    if form == "jsonl":
        return judged.format_lines(judgments)
    foreign.check_names([ranking.systems for ranking in judgments])
    same = file.blocks and sum(block.count for block in file.blocks) == len(judgments)
    blocks = file.blocks if same else ()
    stated = first_segment if first_segment is not None else file.first_segment if same else 0
    if form == "wmt":
        return wmt.format_wmt(judgments, first_segment=stated, blocks=blocks)
    return format_appraise(judgments, first_segment=stated, separator=file.separator, blocks=blocks)


def kind_of(text: str) -> Kind | None:
    """Return what kind of judgments a text holds, if any; its beginning tells."""
    start = text.lstrip()[:2000]
    tests: dict[Kind, bool] = {
        "ratings": rating_files.is_ratings(text),
        "judgments of edits": edits.is_edit_judgments(text),
        "appraise": start[:1] == "<",
        "wmt": wmt.is_wmt(text),
        "jsonl": start[:1] == "{" and '"judge"' in start and f'"{core.RANKING_KIND}"' not in start,
    }
    return next((kind for kind, fits in tests.items() if fits), None)
