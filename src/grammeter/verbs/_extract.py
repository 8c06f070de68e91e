"""Edits that lead from texts to their corrected versions, as M2."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args
from unicodedata import normalize

from grammeter import core, errant, formats

UNCHANGED = core.Edit(-1, -1, "", core.NOOP)  # the edit of an annotator who changes nothing

Scheme = Literal["errant", "cherrant"]
"""Whose edits: ERRANT's, of tokens, or ChERRANT's, of the characters of Chinese texts."""


@dataclass(frozen=True, slots=True)
class ExtractedEdits:
    """The sentences of an M2 file with their edits; :meth:`text` writes them."""

    blocks: tuple[formats.M2Block, ...]
    faults: tuple[str, ...] = ()  # edits that lenient reading passed over
    notes: tuple[str, ...] = ()  # what a reader must know

    def text(self) -> str:
        """Return the M2 file."""
        return formats.format_m2(self.blocks)


@core.checked
def edits_extract(
    orig: str | Path | Sequence[str] | None = None, cor: Sequence[str | Path | Sequence[str]] = (),
    *, scheme: Scheme = "errant", tok: bool = False, lev: bool = False,
    merge: errant.Strategy = "rules", pipeline: str | None = None, parse: str | Path | None = None,
    rules: errant.RuleSet | None = None, normalise: formats.UnicodeForm | None = None,
    para: str | Path | None = None, alignments: errant.Alignments = "all",
    resources: str | None = None, simplify: errant.Simplification = "auto",
) -> ExtractedEdits:  # fmt: skip
    """Extract and type the edits that lead from a text to its corrected versions.

    As ``errant_parallel`` does, with the same pipeline to the same result. An empty source line
    is left out. A text that differs from its source in white space alone has no edit line at
    all, not even one that says that it is unchanged. Raises :class:`LengthMismatchError` if the
    texts are not equally many, :class:`UsageError` for options of another scheme.

    Parameters
    ----------
    orig
        The original text: a file with a sentence on each line, or the sentences.
    cor
        The corrected versions, each a file or sentences; annotators have this order.
    scheme
        ``errant``, or ``cherrant`` as its program does for characters, with all lists of edits of
        a corrected text; ``para`` and the options after it are for this scheme, the others for
        ``errant``.
    tok
        Split raw texts with the pipeline's tokeniser; by default white space separates tokens.
    lev
        Align by plain Levenshtein distance.
    merge
        How adjacent changes become edits: ``rules``, ``all-split``, ``all-merge``, ``all-equal``.
    pipeline
        A spaCy pipeline by name or folder; for any language ``plain``: words alone, ERRANT's
        alignment and merging, and ``neutral``: without them. By default ``en_core_web_sm`` if it
        is installed, else the one that ships, with a note.
    parse
        A CoNLL-U file with all sentences, parsed elsewhere token by token.
    rules
        ``errant``: its merging, with types by universal parts of speech outside English;
        ``neutral``: without rules of a language. By default the best that are here.
    normalise
        The Unicode form of all texts; default: as they are.
    para
        Original and corrected texts in one file: ``id TAB original TAB corrected ...``.
    alignments
        Which alignments of least cost give lists of edits: ``all``, as published, or ``first``.
    resources
        The folder ``data`` of the program ChERRANT, with its tables of characters.
    simplify
        Convert corrected texts to simplified characters: ``auto`` if OpenCC is here, ``t2s``,
        ``none``.
    """
    core.UnknownNameError.check("scheme", scheme, get_args(Scheme))
    chinese = {"alignments": alignments != "all", "simplify": simplify != "auto"}
    english = {"tok": tok, "lev": lev, "merge": merge != "rules", "pipeline": pipeline}
    of_cherrant, of_errant = (f"--scheme {name}" for name in ("cherrant", "errant"))
    core.check_home(scheme == "cherrant", of_cherrant, para=para, resources=resources, **chinese)
    core.check_home(scheme == "errant", of_errant, parse=parse, rules=rules, **english)
    reader = formats.TextReader(form=normalise)
    rows, where = _rows(orig, cor, para, reader)
    empty = sum(not row[0].strip() for row in rows)
    notes = [f"{empty} empty lines of {where} are left out"] if empty else []
    notes += reader.remarks()
    rows = [row for row in rows if row[0].strip()]
    if scheme == "cherrant":
        chars = errant.chinese_annotator(alignments, resources, simplify)
        made = tuple(_blocks(rows, chars))
        notes += chars.notes((row[0], text) for row in rows for text in row[1:])
        shown = ", ".join(f"{name} {value}" for name, value in chars.signature().items())
        return ExtractedEdits(made, (), (*notes, f"edits of characters: {shown}"))
    pipeline = either(pipeline, parse)
    extractor = errant.annotator(pipeline, rules=rules, merge=merge, lev=lev)
    texts = sorted({text for row in rows for text in row})
    raw = dict(zip(texts, errant.tokenised(texts, pipeline), strict=True)) if tok else None
    spaced = {text: " ".join(raw[text].texts if raw else text.split()) for text in texts}
    keys = dict(zip(texts, texts, strict=True)) if raw else spaced
    pairs = list(dict.fromkeys((keys[row[0]], keys[text]) for row in rows for text in row[1:]))
    extracted = extractor.annotate(pairs, raw) if raw else extractor.annotate(pairs)
    edits = dict(zip(pairs, extracted, strict=True))
    blocks: list[formats.M2Block] = []
    for source, *corrected in rows:
        unchanged = source.strip() if raw else spaced[source]
        lines: list[tuple[int, core.Edit]] = []
        for number, text in enumerate(corrected):
            same = text.strip() == unchanged
            done = [UNCHANGED] if same else edits[keys[source], keys[text]]
            lines += [(number, edit) for edit in done]
        blocks.append(formats.M2Block(spaced[source], tuple(lines)))
    foreign = errant.not_english(extractor.signature()["pipeline"], [row[0] for row in rows])
    notes += [foreign] if foreign else []
    return ExtractedEdits(tuple(blocks), (), (*notes, *notice_of(extractor)))


@core.checked
def edits_from_suggestions(
    suggestions: str | Path, source: str | Path | Sequence[str],
    *, form: formats.SuggestionForm = "languagetool", best: int = 1,
) -> ExtractedEdits:  # fmt: skip
    """Turn what a checker suggests into edits of tokens, typed by the checker's rules.

    The place of a suggestion is widened to whole tokens. A suggestion that overlaps an earlier one,
    or changes white space alone, is left out, and a note says how many are. Scored as any output,
    the M2 file is the text with all first suggestions taken.

    Raises :class:`DataError`, with file and line, for a file of another form, and for places
    outside the text; :class:`UsageError` if ``best`` is below 0.

    Parameters
    ----------
    suggestions
        What the checker wrote, see :mod:`grammeter.formats.suggestions`.
    source
        The text that the checker read, a sentence on each line: a file, or the sentences.
    form
        The checker.
    best
        How many suggestions of a place count as right, the first one first; 0: where only, as edits
        of the type ``UNK``, which correct nothing.
    """
    if best < 0:
        raise core.UsageError(f"best={best}", fix="Use 0 or more.")
    reader = formats.TextReader()
    is_file = isinstance(source, str | Path)
    lines = reader.sentences(source) if is_file else list(source)
    blocks: list[formats.M2Block] = []
    crossed = blank = silent = 0
    for line, of in zip(lines, formats.read_suggestions(suggestions, lines, form), strict=True):
        tokens = line.split()
        edits = [suggestion.edit(line, best) for suggestion in of]
        silent += sum(not suggestion.texts for suggestion in of)
        changing = [
            edit
            for edit in edits
            if edit.type in core.DETECTION_ONLY
            or any(text.split() != tokens[edit.start : edit.end] for text in edit.corrections)
        ]
        kept, left_out = core.without_overlaps(changing)
        crossed, blank = crossed + len(left_out), blank + len(edits) - len(changing)
        shown = tuple((0, edit) for edit in kept or [UNCHANGED])
        blocks.append(formats.M2Block(" ".join(tokens), shown))
    counts = {
        "overlap an earlier one; they are left out": crossed,
        "change white space alone; they are left out": blank,
        "say where, not what: edits of the type UNK": silent if best else 0,
    }
    notes = [f"{count} suggestions {what}" for what, count in counts.items() if count]
    return ExtractedEdits(tuple(blocks), (), (*reader.remarks(), *notes))


def _rows(
    orig: str | Path | Sequence[str] | None, cor: Sequence[str | Path | Sequence[str]],
    para: str | Path | None, reader: formats.TextReader,
) -> tuple[list[Sequence[str]], str]:  # fmt: skip
    """Return each original with its corrected texts, and the name of the originals."""
    if para is not None and orig is None and not cor:
        file = formats.parse_para(reader.text(para), str(para))
        pairs = zip(file.sources, file.targets, strict=True)
        return [[source, *targets] for source, targets in pairs], str(para)
    if para is not None or orig is None or not cor:
        fault = "an original text (-orig) and corrected ones (-cor) are needed, or one file of both"
        raise core.UsageError(fault, fix="Give -orig and -cor, or --para alone.")
    sources, where = _lines(orig, "orig", reader)
    versions = [_lines(texts, f"cor[{number}]", reader) for number, texts in enumerate(cor)]
    for texts, name in versions:
        if len(texts) != len(sources):
            raise core.LengthMismatchError(name, len(texts), where, len(sources))
    return list(zip(sources, *(texts for texts, _ in versions), strict=True)), where


def either(pipeline: str | None, parse: str | Path | None) -> str | None:
    """Return the pipeline, or the file of a parse; refuse both."""
    if parse is not None and pipeline is not None:
        fault = f"a parse made elsewhere, and a pipeline ({pipeline}) to parse with"
        raise core.UsageError(fault, fix="Give one of them.")
    if parse is not None and not Path(parse).is_file():
        fix = "Give a CoNLL-U file with all sentences."
        raise core.DataError("there is no such file", where=str(parse), fix=fix)
    return pipeline if parse is None else str(parse)


def _lines(
    texts: str | Path | Sequence[str], name: str, reader: formats.TextReader
) -> tuple[Sequence[str], str]:
    """Return sentences, and the name for messages: that of the file, if they stand in one."""
    if isinstance(texts, str | Path):
        return reader.sentences(texts), str(texts)
    return [normalize(reader.form, text) for text in texts] if reader.form else texts, name


def _blocks(
    rows: Iterable[Sequence[str]], extractor: errant.Characters
) -> Iterator[formats.M2Block]:
    """Yield a block for each source, with all lists of edits to each of its corrected texts."""
    for source, *targets in rows:
        lines: list[tuple[int, core.Edit]] = []
        texts: list[tuple[int, str]] = []
        for number, target in enumerate(targets):
            for version, edits in enumerate(extractor.lists(source, target) or [(UNCHANGED,)]):
                head = f"T{number}-A{version} {' '.join(extractor.target(target))}"
                if edits and edits[0].start < 0:
                    head = f"T{number} {errant.NO_ERROR if edits[0].is_noop else errant.CANNOT}"
                texts.append((len(lines), head))
                lines += [(number, edit) for edit in edits]
        yield formats.M2Block(" ".join(errant.characters(source)), tuple(lines), tuple(texts))


def notice_of(extractor: errant.Annotator) -> tuple[str, ...]:
    """Return what users should know of an annotator."""
    return (extractor.notice,) if extractor.notice else ()
