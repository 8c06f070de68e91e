"""Labels of sentences: the domain, level, writer or document of each, from ``FILE:COLUMN``.

FILE is a table with a line for each sentence; or an M2 file or text whose lines ``# key = value``
hold from there on until the key is set again (``# key =`` clears it), as does ``### essay_id = ID``
of MultiGEC; or, for ``FILE:COLUMN@document``, a table with a line for each document, whose first
column names it. Several columns stand between commas: ``meta.tsv:domain,sex``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from grammeter import core
from grammeter.formats import m2, tables
from grammeter.formats.corpus import NO_LABEL, Corpus, crossed
from grammeter.formats.text import decode, encoding_notices, read_bytes, split_lines

DRAWN = ": compare draws these"  # the end of the note on documents
_BY_DOCUMENT = "@document"


def labels_file(spelled: str) -> tuple[str, list[str]]:
    """Split ``FILE:COLUMN,COLUMN``; raise :class:`UsageError` where either is missing."""
    file, _, columns = spelled.removesuffix(_BY_DOCUMENT).rpartition(":")
    names = [name.strip() for name in columns.split(",")]
    if not file or not all(names) or len(set(names)) < len(names):
        fix = "Write FILE:COLUMN, such as meta.tsv:domain or meta.tsv:domain,sex."
        raise core.UsageError(f"{spelled!r} names no file and column", fix=fix)
    return file, names


def read_labels(
    spelled: str, *, documents: Sequence[str] = ()
) -> tuple[dict[str, list[str]], list[str]]:
    """Read ``FILE:COLUMN``: a label for each sentence by column, and notices.

    ``documents`` are the documents of the sentences, for ``FILE:COLUMN@document``. Sentences
    without a label have :data:`NO_LABEL`. Raises :class:`DataError` if the file has no such column
    or key, or lacks a document; :class:`UsageError` without documents.
    """
    file, names = labels_file(spelled)
    data = read_bytes(file)
    text, form = decode(data, file), tables.form_of(file)
    keyed = m2.is_m2(text, file) or key_of(text.partition("\n")[0])
    by_document = spelled.endswith(_BY_DOCUMENT)
    if form is None and keyed and not by_document:
        columns = _of_keys(text, file, names)
    else:
        table = tables.parse_columns(data, file, form or "tsv")
        columns = {name: table.texts(name) for name in names}
        if by_document:
            rows = _rows(table)
            if not documents:
                fix = "Say which sentences make a document: --documents FILE:COLUMN."
                raise core.UsageError(f"{spelled} needs the sentences' documents", fix=fix)
            if missing := [name for name in dict.fromkeys(documents) if name not in rows]:
                fault = f"{len(missing)} documents have no line: {', '.join(missing[:3])}"
                raise core.DataError(fault, where=file, fix="Its first column names documents.")
            columns = {n: [cells[rows[d]] for d in documents] for n, cells in columns.items()}
    labels = {name: [cell.strip() or NO_LABEL for cell in of] for name, of in columns.items()}
    empty = {name: sum(not cell.strip() for cell in of) for name, of in columns.items()}
    notices = encoding_notices(data, file)
    for name, count in empty.items():
        text = f"{count} of {len(labels[name])} sentences have no {name}: they are {NO_LABEL}"
        notices += [f"{file}: {text}"] if count else []
    return labels, notices


def with_labels(corpus: Corpus, documents: str | None, group_by: str | None) -> Corpus:
    """Add the documents and groups of the sentences; for each ``FILE:COLUMN``."""
    for part, spelled in (("documents", documents), ("groups", group_by)):
        if not spelled:
            continue
        labels, notices = read_labels(spelled, documents=corpus.documents)
        names = [part] if part == "documents" else [f"groups[{name}]" for name in labels]
        changed: dict[str, Any] = {part: crossed(labels) if part == "documents" else labels}
        changed["origins"] = {**corpus.origins, **dict.fromkeys(names, labels_file(spelled)[0])}
        corpus = replace(corpus, **changed, notices=(*corpus.notices, *notices))
        if part == "documents":
            count = len({*corpus.documents})
            note = f"{len(corpus)} sentences of {count} documents ({spelled}){DRAWN}"
            corpus = replace(corpus, notes=(*corpus.notes, note))
    return corpus


def key_of(line: str) -> tuple[str, str] | None:
    """Return key and value of ``# key = value`` or ``### essay_id = ID``; None: another line."""
    match = m2.HEAD.fullmatch(line.removesuffix("\r"))
    return match and (match[1], match[2])


def sentence_lines(lines: Sequence[str]) -> list[int]:
    """Return which lines of a text are sentences: no keys, no empty line that ends an essay."""
    heads = [at for at, line in enumerate(lines) if line.startswith("### ") and key_of(line)]
    ends = {at - 1 for at in (*heads, len(lines))} if heads else set[int]()
    return [at for at, line in enumerate(lines) if not key_of(line) and (line or at not in ends)]


def _of_keys(text: str, file: str, names: Sequence[str]) -> Mapping[str, list[str]]:
    """Return the labels that hold at each sentence of a text or M2 file."""
    lines, now = split_lines(text), dict[str, str]()
    is_m2 = m2.is_m2(text, file)
    sentences = {*sentence_lines(lines)}
    columns: dict[str, list[str]] = {name: [] for name in names}
    for at, line in enumerate(lines):
        if pair := key_of(line):
            now[pair[0]] = pair[1]
        elif line == "S" or line[:2] == "S " if is_m2 else at in sentences:
            for name in names:
                columns[name].append(now.get(name, ""))
    for name in names:
        if name not in now:
            error = core.UnknownNameError("key", name, now)
            raise core.DataError(f"no line '# {name} = ...'", where=file, fix=error.fix)
    return columns


def _rows(table: tables.Columns) -> dict[str, int]:
    rows: dict[str, int] = {}
    for row, name in enumerate(table.texts(next(iter(table.cells)))):
        if rows.setdefault(name.strip(), row) != row:
            fault = f"the document {name!r} comes twice"
            raise core.DataError(fault, where=table.origin(row), fix="Give each document one line.")
    return rows
