"""Make, convert and compare M2 files, as ERRANT's three programs do."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any, Literal, get_args

from grammeter import core, errant
from grammeter.formats import M2Block, M2File, read_m2, recut
from grammeter.verbs._extract import UNCHANGED, ExtractedEdits, Scheme, either, notice_of

Redo = Literal["auto", "gold"]
"""Extract edits anew from the corrected text, or keep their spans and type them."""

TIERS: dict[int, core.Tier] = {1: "operation", 2: "main", 3: "full"}
"""Parts of an error type, by ERRANT's numbers."""


@dataclass(frozen=True, slots=True)
class ComparedEdits:
    """Two M2 files compared, with the settings by which they were."""

    comparison: errant.EditComparison
    sources: Sequence[str]
    mode: errant.Mode
    beta: float
    cat: int | None
    faults: tuple[str, ...]  # sentences and edits that lenient reading passed over
    notes: tuple[str, ...]  # these, and what else a reader must know
    scheme: Scheme = "errant"
    remarks: tuple[str, ...] = ()  # on line ends and invisible characters of the files

    def by_type(self) -> dict[str, core.Counts]:
        """Return the counts of each error type, in alphabetical order; none without ``cat``."""
        return self.comparison.by_type(TIERS[self.cat]) if self.cat else {}

    def to_dict(self) -> dict[str, Any]:
        """Return F, its parts and, if wanted, those of each error type as plain values."""
        counts = self.comparison.counts
        data: dict[str, Any] = {"kind": "edit-comparison"}
        data |= {} if self.scheme == "errant" else {"scheme": self.scheme}
        data |= {"mode": self.mode, "beta": self.beta, "segments": len(self.comparison.chosen)}
        data |= {"value": counts.f(self.beta), "parts": counts.parts()}
        if self.cat:
            types = self.by_type().items()
            data["types"] = {k: {"value": of.f(self.beta)} | of.parts() for k, of in types}
        return core.stamped(data | {"notes": list(self.notes)})


@core.checked
def edits_convert(
    m2_file: str | Path | M2File,
    *, redo: Redo, no_min: bool = False, old_cats: bool = False, lenient: bool = False,
    lev: bool = False, merge: errant.Strategy = "rules", pipeline: str | None = None,
    parse: str | Path | None = None, rules: errant.RuleSet | None = None,
) -> ExtractedEdits:  # fmt: skip
    """Extract the edits of an M2 file anew, or keep them and type them, as ``errant_m2``.

    Raises :class:`DataError` if edits of one annotator overlap.

    Parameters
    ----------
    m2_file
        A file by its name or as read; of alternative corrections the first is taken.
    redo
        ``auto``: extract from the corrected sentences; ``gold``: keep the edits and type them.
    no_min, old_cats
        Only for ``gold``: keep equal tokens at the ends of edits; keep the error types.
    lenient
        Pass over faulty edits, and apply those that overlap one upon the other.
    lev, merge, pipeline, parse, rules
        As for :func:`edits_extract`.
    """
    core.UnknownNameError.check("way to redo edits", redo, get_args(Redo))
    file, where = _m2(m2_file, lenient, "m2")
    pipeline = either(pipeline, parse)
    extractor = errant.annotator(pipeline, rules=rules, merge=merge, lev=lev)
    faults = list(file.notices)
    wanted: list[tuple[str, Sequence[core.Edit]]] = []
    for number, block in enumerate(file.blocks, start=1):
        for name, edits in block.gold.items():
            changes = (edit for edit in edits if edit.type not in core.DETECTION_ONLY)
            if overlaps := core.without_overlaps(changes)[1]:
                text = f"annotator {name}: {len(overlaps)} edits overlap an earlier one"
                _refuse(f"{where}, sentence {number}", text, faults, lenient)
            if edits:
                wanted.append((block.source, edits))
    if redo == "auto":
        done = extractor.reextract_all(wanted)
    else:
        done = extractor.retype_all(wanted, minimise=not no_min, keep_types=old_cats)
    blocks = tuple(_rewritten(file.blocks, done))
    return ExtractedEdits(blocks, tuple(faults), (*file.remarks, *notice_of(extractor)))


@core.checked
def edits_split(
    m2_file: str | Path | M2File, *, share: float = 0.1, seed: int = 1, lenient: bool = False
) -> tuple[ExtractedEdits, ExtractedEdits]:
    """Split an M2 file by sentence, one part for training and one for test.

    Returns the two parts, the test part last, each in the order of the file. The same file, share
    and seed give the same parts. Raises :class:`UsageError` if a part would have no sentence.

    Parameters
    ----------
    m2_file
        A file by its name or as read.
    share
        Share of the sentences in the test part.
    seed
        Seed of the shuffle.
    lenient
        Pass over faulty edits.
    """
    file, _ = _m2(m2_file, lenient, "m2")
    numbers = list(range(len(file.blocks)))
    size = int(len(numbers) * share)
    if not 0 < size < len(numbers):
        fault = f"a share of {share:g} of {len(numbers)} sentences"
        raise core.UsageError(fault, fix="Use 0 to 1.")
    Random(seed).shuffle(numbers)  # noqa: S311 - no secret
    parts = sorted(numbers[size:]), sorted(numbers[:size])
    one, other = (tuple(file.blocks[n] for n in part) for part in parts)
    return ExtractedEdits(one, file.notices, file.remarks), ExtractedEdits(other)


@core.checked
def edits_align(
    hyp: str | Path | M2File, ref: str | Path | M2File, *, lenient: bool = False
) -> recut.Recut:
    """Bring two M2 files of one text, cut into other sentences, to common sentences.

    Both are cut wherever both have a boundary at the same number of characters, white space
    aside; sentences in between are joined, their edits moved. Where one source was normalised its
    tokens are aligned with the other's first. Raises :class:`DataError` if half of them differ.

    Parameters
    ----------
    hyp, ref
        The files of the hypothesis and the reference, by name or as read. Where their tokens
        differ the common sentences have those of the reference.
    lenient
        Pass over faulty lines.
    """
    (one, here), (other, there) = (_m2(f, lenient, n) for f, n in ((hyp, "hyp"), (ref, "ref")))
    return recut.common_sentences(one, other, (here, there))


@core.checked
def edits_compare(
    hyp: str | Path | M2File, ref: str | Path | M2File,
    *, beta: float = 0.5, mode: errant.Mode = "span-correction", single: bool = False,
    multi: bool = False, filt: Sequence[str] = (), cat: int | None = None, lenient: bool = False,
    realign: bool = False, scheme: Scheme | None = None,
) -> ComparedEdits:  # fmt: skip
    """Compare the edits of two M2 files, as ``errant_compare``.

    Raises :class:`DataError` if the files do not have the same sentences.

    Parameters
    ----------
    hyp, ref
        The files of the hypothesis and the reference, by name or as read. Annotators compete in
        the order of the file; F is rounded to 4 decimals while they are chosen.
    beta
        Weight of recall in F, greater than 0.
    mode
        What must be equal: ``span-correction``, ``span-detection``, ``token-detection``,
        ``span-type`` (span, correction and error type).
    single, multi
        Only edits of at most one token on either side; only those of more on a side.
    filt
        Error types that do not count.
    cat
        Also count by error type: 1 operation (R), 2 main type (NOUN), 3 whole type (R:NOUN).
    lenient
        Pass over faulty lines, and over sentences that differ between the files.
    realign
        First bring both files to common sentences, see :func:`edits_align`.
    scheme
        ``errant``, or ``cherrant``: corrections without spaces, ``NA`` is an edit, but a sentence
        with nothing else counts nothing; default: ``cherrant`` if a file has its T lines.
    """
    if not 0 < beta * beta < float("inf"):
        fault = f"beta (-b) {beta:g} is not possible"
        raise core.UsageError(fault, fix="Use a number greater than 0.")
    core.UnknownNameError.check("mode", mode, get_args(errant.Mode))
    if cat is not None and cat not in TIERS:
        raise core.UsageError(f"cat {cat} is not possible", fix="Use 1, 2 or 3.")
    core.UnknownNameError.check("scheme", scheme or "errant", get_args(Scheme))
    hypothesis, hyp_name = _m2(hyp, lenient, "hypothesis")
    reference, ref_name = _m2(ref, lenient, "reference")
    faults = [*hypothesis.notices, *reference.notices]
    notes: tuple[str, ...] = ()
    chinese = any(block.texts for block in (*hypothesis.blocks, *reference.blocks))
    scheme = scheme or ("cherrant" if chinese else "errant")
    rules = errant.Rules(
        mode=mode, single=single, multi=multi, dropped=frozenset(filt), chinese=scheme == "cherrant"
    )
    if realign:
        done = recut.common_sentences(hypothesis, reference, (hyp_name, ref_name))
        hypothesis, reference, notes = done.hypothesis, done.reference, done.notes
    sizes = len(hypothesis.blocks), len(reference.blocks)
    if sizes[0] != sizes[1]:
        if recut.same_text(hypothesis, reference):
            fault = f"{sizes[0]} sentences, but {sizes[1]} in {ref_name}, of the same text"
            fix = "Bring both to common sentences: grammeter edits align, or here: --realign."
            raise core.DataError(fault, where=hyp_name, fix=fix)
        raise core.LengthMismatchError(hyp_name, sizes[0], ref_name, sizes[1])
    sources = zip(hypothesis.sources, reference.sources, strict=True)
    for number, (one, other) in enumerate(sources, start=1):
        if one.split() != other.split():
            text = f"other tokens than in {ref_name}: {one[:40]!r} and {other[:40]!r}"
            _refuse(f"{hyp_name}, sentence {number}", text, faults, lenient)
    proposed, gold = (
        [_in_file_order(block, chinese=rules.chinese) for block in file.blocks]
        for file in (hypothesis, reference)
    )
    silent = [at for at, edits in enumerate(gold) if not edits or _is_na_alone(edits, rules)]
    for at in silent:
        proposed[at] = gold[at] = {0: ()}
    if silent:
        faults.append(f"unjudged ({ref_name} has NA alone): {len(silent)} sentences count nothing")
    proposed = [edits or {0: ()} for edits in proposed]
    comparison = errant.compare_edits(proposed, gold, rules, beta=beta)
    by_type = (cat or filt or mode == "span-type") and not rules.chinese
    notes = (*faults, *notes, *(_type_notes(hypothesis, reference) if by_type else ()))
    remarks = *hypothesis.remarks, *reference.remarks
    about = mode, beta, cat, tuple(faults), notes, scheme, remarks
    return ComparedEdits(comparison, hypothesis.sources, *about)


def _m2(file: str | Path | M2File, lenient: bool, name: str) -> tuple[M2File, str]:
    return (file, name) if isinstance(file, M2File) else (read_m2(file, lenient=lenient), str(file))


def _type_notes(hypothesis: M2File, reference: M2File) -> tuple[str, ...]:
    """Return a note where one file has ERRANT's types and the other those of another scheme."""
    files = ("hypothesis", hypothesis), ("reference", reference)
    foreign = {
        name: errant.foreign_types((block.gold for block in file.blocks), errant.ENGLISH)
        for name, file in files
    }
    return tuple(
        f"the {name} has types of another scheme ({', '.join(types[:3])}): figures by type mix"
        " both; type it with ERRANT's rules first: grammeter edits convert -gold"
        for (name, types), (_, other) in permutations(foreign.items())
        if types and not other
    )


def _in_file_order(block: M2Block, *, chinese: bool) -> core.GoldEdits:
    """Return edits by annotator; those that change nothing, and ``NA``, only if ``chinese``."""
    gold = block.gold
    names = dict.fromkeys(name for name, _ in block.lines)
    if chinese:
        gold = {name: tuple(e for of, e in block.lines if of == name) for name in names}
    return {name: gold[name] for name in names if name in gold} or gold


def _is_na_alone(gold: core.GoldEdits, rules: errant.Rules) -> bool:
    """Whether the only annotator says that a sentence cannot be annotated, and that counts."""
    lines = [edit for edits in gold.values() for edit in edits]
    silent = all(e.type == core.UNANNOTATABLE and rules.counts(e) for e in lines)
    return bool(lines) and len(gold) == 1 and silent


def _rewritten(
    blocks: Iterable[M2Block], done: Iterable[tuple[core.Edit, ...]]
) -> Iterable[M2Block]:
    """Put new edits, in the order of the blocks' annotators with edits, into the blocks."""
    remaining = iter(done)
    for block in blocks:
        lines: list[tuple[int, core.Edit]] = []
        for name, edits in block.gold.items() if block.lines else ():
            lines += [(name, edit) for edit in (next(remaining) if edits else [UNCHANGED])]
        lines += [line for line in block.lines if line[1].type == core.UNANNOTATABLE]
        yield M2Block(block.source.rstrip(), tuple(lines), heads=block.heads)


def _refuse(where: str, text: str, notices: list[str], lenient: bool) -> None:
    if not lenient:
        raise core.DataError(text, where=where, fix="Correct the file, or use --lenient.")
    notices.append(f"{where}: {text}; passed over")
