"""Read a corpus from files of any known format."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from grammeter import core
from grammeter.formats import essays, m2, opened, rating_files, records, sgml
from grammeter.formats import text as plain
from grammeter.formats.corpus import GIVEN, Corpus, OwnReferences, Unjudged
from grammeter.formats.labels import labels_file, sentence_lines, with_labels
from grammeter.formats.opened import PathLike, TextReader, UnicodeForm
from grammeter.formats.tokenization import tokenised

if TYPE_CHECKING:
    from grammeter.formats.datasets import Recipe

_M2 = tuple[str, m2.M2File]
_Essays = Sequence[sgml.Document]
_MOST_FAULTS = 5  # of one file that are listed one by one


@core.checked
def read_corpus(
    *, source: PathLike | None = None, references: Sequence[PathLike] = (),
    systems: Sequence[PathLike] | Mapping[str, PathLike] = (), names: Sequence[str] | None = None,
    corpus: PathLike | None = None, um: Literal["skip", "apply"] = "skip",
    missing_annotator: Literal["other", "source", "none"] = "other",
    normalise: UnicodeForm | None = None, unjudged: Unjudged = "skip", lenient: bool = False,
    documents: str | None = None, group_by: str | None = None, level: essays.Level | None = None,
    missing_essay: essays.MissingEssay = "error",
    missing_reference: essays.MissingReference = "fewer", tokenize: str = "none",
    raw: Sequence[PathLike] = (), para: PathLike | None = None,
    benchmark: str | None = None, data: PathLike | None = None,
) -> Corpus:  # fmt: skip
    """Read sources, references and system outputs, or all of them from one table.

    Raises :class:`DataError` with file and line; :class:`UsageError` if two systems have one name,
    sources and gold edits are both missing, or files that cannot go together are given;
    :class:`MissingResourceError` if the data set of a ``benchmark`` is not here.

    Parameters
    ----------
    source
        A text, or an M2 file with ``S`` lines; default: those of the gold M2.
    references
        Texts, M2 files with gold edits, SGML files with marked mistakes. Without a text, texts are
        made from the gold edits by ``um`` and ``missing_annotator``. A name with ``{system}`` is a
        file for each system, with references of its own, such as post-edits of its outputs, see
        :class:`Corpus`; so is JSON of ratings with the judges' corrections (Östling et al. 2024).
    systems
        Texts, by name or named after their files; or M2 files, of which the output is the text that
        the annotator's edits make.
    names
        Names for ``systems``, in their order.
    corpus
        A table with all of these, see :mod:`grammeter.formats.records`, in place of other files.
    um, missing_annotator
        How gold edits become texts, see :class:`~grammeter.formats.m2.TextRule`.
    normalise
        The Unicode form of all texts; default: as they are.
    unjudged
        Sentences that cannot be judged, see :class:`Corpus`: ``NA`` of all annotators, no reference
        at all, an empty source.
    lenient
        Pass over M2 edits outside their sentence and unknown lines, and report them.
    documents
        ``FILE:COLUMN`` with the document of each sentence, see :mod:`grammeter.formats.labels`.
    group_by
        ``FILE:COLUMN`` with the group of each sentence, such as its domain.
    level
        What is scored as one line: ``text``, an essay or document, the default of essay files (see
        :mod:`grammeter.formats.essays`) without ``documents``; else ``sentence``, and outputs of
        ``documents`` are laid back on these (:func:`~grammeter.alignment.laid_back`);
        ``document``: sentences, too, and the score is the mean over documents.
    missing_essay
        The text of an essay or document that an output lacks: ``bang`` is ``!``, as in MultiGEC;
        ``source`` that of the source, ``empty`` none; ``error`` refuses the output.
    missing_reference
        An essay that a reference lacks has ``fewer`` references; ``copy-first``: the first again.
    tokenize
        How raw outputs get their tokens: ``none``, ``corpus`` (as ``raw`` teaches), ``chars``,
        ``spacy:NAME`` (a language or a pipeline), or ``whitespace``, which is ``none`` without a
        note; see :func:`~grammeter.formats.tokenization.tokenised`.
    raw
        Raw texts of sources and references for ``tokenize="corpus"``, a line a sentence, several
        texts of one line separated by tabs.
    para
        Sources and references in one file, ``id TAB source TAB reference ...``, in their place;
        outputs may have this form, too.
    benchmark, data
        The data set whose sources and references are read, to score as its paper does:
        :func:`grammeter.score` of the corpus takes the metrics of its paper. The folder of the set,
        or of all; default: that of ``GRAMMETER_DATA``.
    """
    ways = {"--benchmark": benchmark, "--corpus": corpus, "--para": para}
    ways |= {"-s, -r": source or references}
    ways |= {"--hyps, --names": systems or names, "--normalise": normalise} if corpus else {}
    ways |= {"--lenient": lenient} if corpus else {}
    if len(twice := [flag for flag, given in ways.items() if given]) > 1:
        fault = f"texts are given twice: by {twice[0]} and by {twice[1]}"
        raise core.UsageError(fault, fix="Leave one of the two out.")
    known = None
    if benchmark:
        from grammeter.formats.datasets import recipe

        known = recipe(benchmark)
        source, para, references = known.files(data)
        lenient = lenient or known.lenient
    reader = _Reader(normalise, lenient=lenient, folders=True, tabs=para is not None)
    missing = missing_essay, missing_reference
    settings = {"level": level} if level == "document" else {}  # means over documents
    common: dict[str, Any] = {"unjudged": unjudged, "settings": settings}
    reader.labelled = {labels_file(spelled)[0] for spelled in (documents, group_by) if spelled}
    output_paths = m2.named_outputs(systems, names)
    files = [source, *references, *output_paths.values(), *raw]
    if [*map(str, files)].count(plain.STDIN) > 1:
        raise core.UsageError("standard input is read twice", fix="Use '-' once only.")
    lessons = {str(path): plain.checked_lines(reader.text(path), path) for path in raw}
    if corpus is not None:
        read = reader.told(records.read_records(corpus), **common)
        read = with_labels(read, documents, group_by)
        layout = essays.layout(level, read.documents, (), False, missing)
        return _finished(tokenised(read, tokenize, lessons), layout, known)
    rule = m2.TextRule(um=um, missing=missing_annotator)
    outputs = {name: reader.output(name, path, rule) for name, path in output_paths.items()}
    by_system = {
        name: reader.references(paths, name, outputs.get(name))
        for name, paths in opened.reference_files(references, [*outputs]).items()
    }
    reader.notices += opened.strangers(references, [*outputs])
    if para is None:
        sources = reader.sources(source, next(iter(by_system.values()))[1])
    else:
        sources, texts, outputs = reader.para(para, outputs)
        by_system = {"": (texts, list[_M2](), {**reader.origins})}
    folders = [str(output_paths[name]) for name, lines in outputs.items() if not lines]
    read = Corpus(sources=sources, documents=reader.ids, origins=reader.origins)
    read = with_labels(read, documents, group_by)
    ids = reader.ids or read.documents
    if folders and not ids:
        plain.read_bytes(folders[0])  # which says that it is a folder
    if layout := essays.layout(level, ids, [*reader.by_id, *folders], bool(reader.ids), missing):
        reader.lay_out(layout, outputs, [*by_system.values()])
    made = {name: reader.made(sources, target, rule) for name, target in by_system.items()}
    reader.check_sources(sources, reader.output_files)
    read = reader.told(read, **_shared_or_own(made), **common, systems=outputs)
    return _finished(tokenised(read, tokenize, lessons), layout, known)


def _finished(read: Corpus, layout: essays.Layout | None, known: "Recipe | None") -> Corpus:
    read = layout.finished(read) if layout else read
    if known is None:
        return read
    note = f"benchmark {known.name}: its paper scores by {', '.join(known.metrics)}: {known.how}"
    settings = {**read.settings, "benchmark": known.name}
    return replace(read, settings=settings, notes=(note, *read.notes))


def read_outputs(paths: Iterable[PathLike]) -> dict[str, list[str]]:
    """Read the outputs that were judged, each system named after its file.

    The output of an M2 file is the text that its edits make, see :func:`read_corpus`.

    Raises :class:`DataError` if two differ in length, :class:`UsageError` if two have one name.
    """
    named = m2.named_outputs(list(paths))
    reader = _Reader()
    outputs = {name: reader.output(name, path, m2.TextRule()) for name, path in named.items()}
    for name, lines in outputs.items():
        first = next(iter(outputs))
        if len(lines) != (count := len(outputs[first])):
            raise core.LengthMismatchError(str(named[name]), len(lines), str(named[first]), count)
    return outputs


_Files = tuple[list[list[str | None]], list[_M2], dict[str, str]]
"""Reference texts, gold edits, and the paths of both."""

_Made = tuple[OwnReferences, str]
"""References of a system, or of all, and the rule of their texts."""


@dataclass
class _Reader(TextReader):
    """Reads files of a corpus; also collects their origins."""

    lenient: bool = False
    folders: bool = False  # outputs may be folders of documents
    tabs: bool = False  # are outputs of the form of a parallel file expected?
    origins: dict[str, str] = field(default_factory=dict[str, str])
    output_files: list[_M2] = field(default_factory=list[_M2])
    essay_files: dict[str, _Essays] = field(default_factory=dict[str, _Essays])
    by_id: dict[str, essays.Essays] = field(default_factory=dict[str, essays.Essays])  # by path
    ids: list[str] = field(default_factory=list[str])  # of the source's essays
    labelled: set[str] = field(default_factory=set[str])  # lines of keys are no sentences in these

    def told(self, read: Corpus, **parts: Any) -> Corpus:
        """Return a corpus with these parts and what is to be said, once, of all files."""
        said = {"notices": [*self.notices, *read.notices]}
        said["notes"] = [*self.notes, *self.form_notes(), *read.notes]
        parts |= {name: tuple(dict.fromkeys(texts)) for name, texts in said.items()}
        parts |= {"normalisation": self.form, "origins": {**read.origins, **self.origins}}
        return replace(read, **parts)

    def read(self, path: PathLike, text: str | None = None) -> list[str] | m2.M2File:
        text = self.text(path) if text is None else text
        if not m2.is_m2(text, path):
            if str(path) in self.labelled:
                lines = plain.split_lines(text)
                text = "\n".join(lines[at] for at in sentence_lines(lines)) + "\n"
            elif essays.is_essays(text):
                self.by_id[str(path)] = file = essays.parse_essays(text, str(path))
                self.notices.append("files with lines '### essay_id = ID' are read as essays")
                self.notes += essays.preface_notes(text, str(path))
                return [" ".join(essay.split()) for essay, _ in file.texts.values()]
            if not (self.tabs and "\t" in text):
                self.notices += plain.space_notices(text, path)
            return plain.checked_lines(text, path)
        file = m2.parse_m2(text, str(path), lenient=self.lenient)
        self.notes += file.notices[:_MOST_FAULTS]
        if len(file.notices) > _MOST_FAULTS:
            self.notes.append(f"{path}: {len(file.notices)} faults passed over in all")
        return file

    def output(self, name: str, path: PathLike, rule: m2.TextRule) -> list[str]:
        self.origins[f"systems[{name}]"] = str(path)
        if self.folders and Path(path).is_dir():
            return []  # until the documents are known
        content = self.read(path)
        if not isinstance(content, m2.M2File):
            return content
        lines, left_out = m2.output_texts(content, path, rule)
        self.output_files.append((str(path), content))
        self.notices.append(f"{path}: M2; the output is the text that its edits make")
        if left_out:
            said = f"{left_out} edits overlap an earlier one; they are left out of the output"
            self.notes.append(f"{path}: {said}")
        return lines

    def references(
        self, paths: Sequence[PathLike], system: str = "", outputs: Sequence[str] | None = None
    ) -> _Files:
        """Read references; with a ``system``, those of its ``outputs``."""
        texts: list[list[str | None]] = []
        gold: list[_M2] = []
        origins: dict[str, str] = {}
        for path in paths:
            text = self.text(path)
            if sgml.is_sgml(text, path):
                self.essay_files[str(path)] = sgml.parse_sgml(text, str(path))
                if system:
                    fault, fix = f"{path}: SGML marks mistakes of sources", "Give texts or M2."
                    raise core.UsageError(f"{fault}, which all systems share", fix=fix)
                continue
            if system and opened.is_ratings(path):
                columns, notes = rating_files.post_edits(text, str(path), system, outputs or ())
                self.notes += notes
            elif isinstance(content := self.read(path, text), m2.M2File):
                gold.append((str(path), content))
                of = (edits for block in content.blocks for edits in block.gold.values())
                count = sum(any(a.start > b.start for a, b in pairwise(edits)) for edits in of)
                said = f"gold edits are out of order in {count} sentences; m2 passes over some of"
                said += " them, as the official scorer does, unless sort_gold=true"
                self.notices += [f"{path}: {said}"] if count else []
                continue
            else:
                columns = [content]
            origins |= {f"references[{len(texts) + n}]": str(path) for n in range(len(columns))}
            texts += map(list, columns)
        if gold:
            origins["gold"] = ", ".join(path for path, _ in gold)
        self.origins |= origins
        return texts, gold, origins

    def made(self, sources: Sequence[str], files: _Files, rule: m2.TextRule) -> _Made:
        """Return references and gold edits; the texts are made of the edits if there are none."""
        texts, gold_files, origins = files
        self.check_sources(sources, gold_files := [*gold_files, *self.marked(sources)])
        gold = _merged(file for _, file in gold_files)
        if texts or not gold:
            return OwnReferences(references=texts, gold=gold, origins=origins), GIVEN
        texts, left_out = m2.reference_texts(sources, gold, rule)
        said = "edits overlap an earlier one of the same annotator; they are left out of the"
        where = origins.get("gold") or self.origins["gold"]
        said = f"{where}: {left_out} {said} reference texts, not of the gold edits"
        self.notes += [said] if left_out else []
        return OwnReferences(references=texts, gold=gold, origins=origins), str(rule)

    def sources(self, path: PathLike | None, gold: Sequence[_M2]) -> list[str]:
        if path is None and not gold:
            raise core.UsageError("no sources", fix="Give source texts (-s) or gold M2 (-r).")
        where, content = gold[0] if path is None else (str(path), self.read(path))
        self.origins["source"] = where
        self.ids = [*self.by_id[where].texts] if where in self.by_id else []
        return content.sources if isinstance(content, m2.M2File) else content

    def para(
        self, path: PathLike, outputs: Mapping[str, list[str]]
    ) -> tuple[list[str], list[list[str | None]], dict[str, list[str]]]:
        """Read sources and references from one file, and outputs of its form."""
        file = records.parse_para(self.text(path), str(path))
        self.origins |= {"source": str(path), "references[0]": str(path)}
        rows = [(n, lines, self.origins[f"systems[{n}]"]) for n, lines in outputs.items()]
        texts = {name: file.outputs(lines, where) for name, lines, where in rows}
        return file.sources, file.references(), texts

    def marked(self, sources: Sequence[str]) -> list[_M2]:
        """Lay the mistakes of SGML files onto the sources."""
        if not self.essay_files:
            return []
        name = ", ".join(self.essay_files)
        self.origins["gold"] = ", ".join(filter(None, [self.origins.get("gold"), name]))
        files = self.essay_files.values()
        documents, some = sgml.merge_documents(files), sgml.alternatives(files)
        layout = sgml.lay_on(documents, sources, alternatives=some)
        if layout.left_out:
            said = f"{len(layout.left_out)} mistakes cross sentences or paragraphs, or change"
            self.notes.append(f"{name}: {said} nothing; they are left out of the gold edits")
        return [(name, m2.M2File(tuple(map(m2.M2Block.of, sources, layout.gold))))]

    def lay_out(
        self, layout: essays.Layout, outputs: dict[str, list[str]], references: Sequence[_Files]
    ) -> None:
        """Put the texts of essays and documents on the lines of their ids."""
        for name, lines in outputs.items():
            path = self.origins[f"systems[{name}]"]
            if not lines:
                self.by_id[path] = essays.read_folder(Path(path), self.text, layout.lines)
            if path in self.by_id:
                outputs[name] = layout.output(name, self.by_id[path])
        of_system = ((texts, n, of) for texts, _, of in references for n in range(len(texts)))
        for texts, number, origins in of_system:
            if file := self.by_id.get(origins.get(f"references[{number}]", "")):
                texts[number] = layout.reference(file, texts[0] if number else None)

    def check_sources(self, sources: Sequence[str], files: Sequence[_M2]) -> None:
        """Refuse edits of other sentences."""
        for path, file in files:
            count, where = len(sources), self.origins["source"]
            if len(file.blocks) != count:
                raise core.LengthMismatchError(where, count, path, len(file.blocks))
            for number, (line, block) in enumerate(zip(sources, file.blocks, strict=True), 1):
                if line != block.source and line.split() != block.source.split():
                    fault = f"differs from sentence {number} of {path}: {line[:40]!r} and"
                    fault += f" {block.source[:40]!r}"
                    fix = "Give the sources of its S lines, whose tokens edits count, or none."
                    raise core.DataError(fault, where=f"{where}:{number}", fix=fix)


def _shared_or_own(made: Mapping[str, _Made]) -> dict[str, Any]:
    """Return the parts of a corpus that say what outputs are held against."""
    kinds = {(bool(of.gold), rule, rule == GIVEN and len(of.references)): of
             for of, rule in made.values()}  # fmt: skip
    if len(kinds) > 1:
        files = " and ".join(next(iter(of.origins.values())) for of in kinds.values())
        fix = "Give each system as many of them, either texts or M2."
        raise core.DataError("systems have different references", where=files, fix=fix)
    (_, text_rule, _), one = next(iter(kinds.items()))
    if "" in made:
        return {"references": one.references, "gold": one.gold, "text_rule": text_rule}
    return {"own": {name: of for name, (of, _) in made.items()}, "text_rule": text_rule}


def _merged(files: Iterable[m2.M2File]) -> list[core.GoldEdits]:
    """Join the annotators of files with the same sentences; numbers that clash are counted on."""
    merged: list[dict[int, tuple[core.Edit, ...]]] = []
    for file in files:
        merged = merged or [{} for _ in file.blocks]
        taken = {number for gold in merged for number in gold}
        new = {number for block in file.blocks for number in block.gold}
        shift = max(taken) + 1 - min(new) if taken & new else 0
        for gold, block in zip(merged, file.blocks, strict=True):
            gold.update({number + shift: edits for number, edits in block.gold.items()})
    return [*merged]
