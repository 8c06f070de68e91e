"""Outputs brought to the tokens of their corpus: tokenisers by name, and what they did."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from grammeter import alignment, core, errant
from grammeter.formats import m2
from grammeter.formats.corpus import GIVEN, Corpus

CORPUS = "corpus"
DOUBTS = {"unseen": ("chunks", 0.15), "below_third_context": ("gaps", 0.02)}
"""Counts, of what they are a part, and the share above which tokens are doubtful; measured are .02
to .09 of the chunks, and at most .008 of the gaps."""

_ALIKE = 0.9  # share of the source sentences that a fitting tokeniser leaves as they are
_RAW_SHARE = 0.01  # measured: .139 to .183 in raw outputs, at most .0002 in tokenised ones
_PARTS = 10
_OTHER_MARKS = "。，！？；：、।؟،؛"
_MARKS = {*".,!?;:", *_OTHER_MARKS}


@dataclass(frozen=True)
class Splitting:
    """A tokeniser, its name in signatures, and what its learning came to, as plain values."""

    split: alignment.Tokenizer
    label: str
    report: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def lines(self, texts: Iterable[str | None]) -> list[Any]:
        """Return the tokens of each text, joined by spaces, without byte order marks."""
        split = self.split
        return [t if t is None else " ".join(split(t.replace("\ufeff", ""))) for t in texts]

    def measured(self, before: Sequence[str], after: Sequence[str]) -> dict[str, Any]:
        """Count the lines that changed and, of a learned tokeniser, what was new to it."""
        changed = sum(a.split() != b.split() for a, b in zip(before, after, strict=True))
        if not isinstance(self.split, alignment.CorpusTokenizer):
            return {"lines_changed": changed}
        counts = self.split.counts(before)
        shares = {f"{k}_share": counts[k] / (counts[of] or 1) for k, (of, _) in DOUBTS.items()}
        return counts | shares | {"lines_changed": changed}


def _chars(_: str) -> Splitting:
    return Splitting(lambda text: core.graphemes("".join(text.split())), "chars")


def _spacy(name: str) -> Splitting:
    """Take the tokeniser of a language (``cs``), or of a pipeline by name or folder."""
    if not re.fullmatch("[a-z]{2,3}", name):
        pipeline = errant.find_pipeline(name)
        tokenizer, label = pipeline.load().tokenizer, f"{pipeline.name}-{pipeline.version}"
    else:
        with core.kept_out("torch"):
            spacy: Any = core.require("spacy", extra="errant")
        try:
            tokenizer, label = spacy.blank(name).tokenizer, f"{name}-{spacy.__version__}"
        except ImportError as error:
            fault = f"spaCy has no tokeniser of the language {name!r}: {core.words_of(error)}"
            fix = "Install what it needs, or take spacy:xx, which is of no language."
            raise core.MissingResourceError(fault, fix=fix) from error
    return Splitting(lambda text: [t.text for t in tokenizer(text)], f"spacy:{label}")


def _syntok(_: str) -> Splitting:
    """Take syntok with its defaults, as MultiGEC-2025 does: they turn don't into do not."""
    module: Any = core.require("syntok.tokenizer", extra="text")
    tokenizer = module.Tokenizer()
    return Splitting(lambda text: [str(t).strip() for t in tokenizer.tokenize(text)], "syntok")


TOKENIZERS = {"chars": _chars, "spacy": _spacy, "syntok": _syntok}
"""Tokenisers that need no examples, by name; they are given what stands after the colon."""


def splitting(how: str) -> Splitting:
    """Return the tokeniser of ``chars`` or ``spacy:cs``; UsageError, MissingResourceError."""
    name, _, argument = how.partition(":")
    core.UnknownNameError.check("tokeniser", name, ["none", "whitespace", CORPUS, *TOKENIZERS])
    if name not in TOKENIZERS or (name == "spacy") != bool(argument):
        fix = "Only spacy has a name after a colon: spacy:cs."
        raise core.UsageError(f"no tokeniser is spelled {how!r}", fix=fix)
    return TOKENIZERS[name](argument)


def learned(corpus: Corpus, raw: Mapping[str, Sequence[str]]) -> Splitting:
    """Learn how a corpus is tokenised from raw texts of it, by the names of their files.

    A line of a file has one text or several, separated by tabs, of the source of the same number or
    its references; which one each stands for is seen by its characters. Raises
    :class:`UsageError` if there is no file; :class:`DataError`, with file and line, if one is not
    parallel to the sources, none of its texts is of this corpus, or a token has white space inside.
    """
    if not raw:
        fault = "--tokenize corpus learns from raw texts of the corpus, and there are none"
        fix = "Give files parallel to the sources (--raw FILE), or take --tokenize spacy:NAME."
        raise core.UsageError(fault, fix=fix)
    lessons = _Lessons(corpus)
    files = {path: lessons.learn(path, lines) for path, lines in raw.items()}
    split = alignment.CorpusTokenizer(example for line in lessons.examples for example in line)
    raws = lessons.sources.items()
    right = sum(split(text) == corpus.sources[i].split() for i, text in raws)
    sources: dict[str, Any] = {"raw": len(raws), "equal": right}
    sources |= {"share": right / len(raws) if raws else None, "held_out": lessons.held_out(split)}
    label = f"{CORPUS}({'+'.join(str(file['learned']) for file in files.values())} lines)"
    return Splitting(split, label, {"files": files, "sources": sources})


class _Lessons:
    def __init__(self, corpus: Corpus) -> None:
        texts: list[Sequence[str | None]] = []
        for part in corpus.parts:
            texts += part.references
            if part.gold and corpus.text_rule == GIVEN:
                texts += m2.reference_texts(part.sources, part.gold, m2.TextRule())[0]
        rows = zip(corpus.sources, *texts, strict=True)
        self._known = [[text.split() for text in row if text is not None] for row in rows]
        self._corpus, self.sources = corpus, dict[int, str]()
        self.examples: list[list[alignment.SplitExample]] = [[] for _ in self._known]

    def learn(self, path: str, lines: Sequence[str]) -> dict[str, int]:
        """Take the texts of a file; return how many there are and how many are of the corpus."""
        if len(lines) != len(self._known):
            where = self._corpus.origins.get("source", "source")
            raise core.LengthMismatchError(path, len(lines), where, len(self._known))
        texts = [(i, t) for i, line in enumerate(lines) for t in line.split("\t") if t.strip()]
        good = 0
        for i, text in texts:
            examples = alignment.split_examples(text, self._known[i])
            if "".join(text.split()) == "".join(self._known[i][0]):
                self.sources.setdefault(i, text)
                if examples is None:
                    fault = f"a token of the source has white space inside here: {text[:60]!r}"
                    fix = "If this is the raw text, take the corpus' own tokeniser instead."
                    raise core.DataError(fault, where=f"{path}:{i + 1}", fix=fix)
            self.examples[i] += examples or ()
            good += examples is not None
        if not good:
            fault = "none of its texts has the characters of the source or a reference"
            raise core.DataError(fault, where=path, fix="Is it raw text of this corpus?")
        return {"texts": len(texts), "learned": good}

    def held_out(self, split: alignment.CorpusTokenizer) -> dict[str, Any]:
        """Split the sources as learned from the others only: ten parts, by document if known."""
        groups = self._corpus.documents or range(len(self._known))
        numbers = {group: number for number, group in enumerate(dict.fromkeys(groups))}
        parts: list[list[int]] = [[] for _ in range(_PARTS)]
        for i, group in enumerate(groups):
            parts[numbers[group] * _PARTS // len(numbers)].append(i)
        lines = chunks = 0
        for part in parts:
            fewer = split.without(example for i in part for example in self.examples[i])
            for i in self.sources.keys() & part:
                examples = alignment.split_examples(self.sources[i], self._known[i][:1]) or ()
                agreeing = fewer.agreeing(examples)
                lines, chunks = lines + (agreeing == len(examples)), chunks + agreeing
        by = "document" if self._corpus.documents else "line"
        every = sum(len(text.split()) for text in self.sources.values())
        share = lines / len(self.sources) if self.sources else None
        counts = {"lines": lines, "share": share, "chunks": chunks, "of_chunks": every}
        return {"parts": _PARTS, "by": by, **counts}


def raw_share(lines: Iterable[str]) -> float:
    """Share of the tokens between white space that are a word with a mark joined to it."""
    tokens = [token for line in lines for token in line.split()]
    ends = [t for t in tokens if t[-1] in _MARKS]
    joined = sum(t[:-1].isalpha() or (t[-1] in _OTHER_MARKS and t[0].isalpha()) for t in ends)
    return joined / (len(tokens) or 1)


def tokenised(
    corpus: Corpus, how: str = "none", raw: Mapping[str, Sequence[str]] | None = None
) -> Corpus:
    """Return the corpus with outputs split as ``how`` says; its settings and report say so.

    ``none`` changes nothing and notes outputs that look raw; ``whitespace`` does neither. Otherwise
    all outputs are split, by ``corpus`` those that look raw; without gold edits, whose tokens are
    numbered, sources and references too. Errors as for :func:`splitting` and :func:`learned`.
    """
    if raw and how != CORPUS:
        fault = f"raw texts of the corpus (--raw) have no use with --tokenize {how}"
        raise core.UsageError(fault, fix="Add --tokenize corpus, or leave --raw out.")
    if how == "whitespace":
        return corpus
    usual = raw_share(corpus.sources)
    shares = {name: raw_share(lines) for name, lines in corpus.systems.items()}
    looking = [name for name, n in shares.items() if n > _RAW_SHARE and usual < n / 10]
    if how == "none":
        texts = _hints(corpus, {name: shares[name] for name in looking})
        return _with(corpus, texts) if looking else corpus
    made = learned(corpus, raw or {}) if how == CORPUS else splitting(how)
    chosen = looking if how == CORPUS else [*shares]
    outputs: dict[str, Any] = {name: made.lines(corpus.systems[name]) for name in chosen}
    both: dict[str, Any] = {}
    own = corpus.own
    if how != CORPUS and not corpus.has_gold:

        def split(part: Corpus) -> Corpus:
            return replace(part, references=[made.lines(texts) for texts in part.references])

        both = {"sources": made.lines(corpus.sources), "references": split(corpus).references}
        own = corpus.changed_own(split)
    systems = {n: {"split": n in chosen, "raw_share": share} for n, share in shares.items()}
    for name, lines in outputs.items():
        systems[name] |= made.measured(corpus.systems[name], lines)
    report = {"how": how, **made.report, "systems": systems}
    if chosen and how != CORPUS and not both:  # gold edits count the tokens of the sources
        equal = sum(made.split(text) == text.split() for text in corpus.sources)
        report["sources"] = {"equal": equal, "share": equal / len(corpus)}
    return replace(
        _with(corpus, _said(how, [*both, *chosen], report)),
        **both,
        own=own,
        systems={**corpus.systems, **outputs},
        settings={**corpus.settings, **({"tok": made.label} if both or chosen else {})},
        report={**corpus.report, "tokenization": report},
    )


def _with(corpus: Corpus, texts: Iterable[tuple[str, bool]]) -> Corpus:
    said = [*texts]
    notices, notes = ([text for text, grave in said if grave == which] for which in (False, True))
    return replace(corpus, notices=(*corpus.notices, *notices), notes=(*corpus.notes, *notes))


def _hints(corpus: Corpus, shares: Mapping[str, float]) -> Iterator[tuple[str, bool]]:
    tokens = [token for line in corpus.sources for token in line.split()]
    chars = len("".join(tokens)) < 1.5 * len(tokens)
    option, but = ("chars", " (but of cherrant)") if chars else ("corpus --raw FILE", "")
    for name, share in shares.items():
        place = corpus.origins.get(f"systems[{name}]", name)
        text = f"in {share:.1%} of its tokens a mark is joined to its word, which stands apart in"
        more = f"the sources; tokenise outputs as the sources are, or scores{but} mean little"
        yield f"{place}: looks raw: {text} {more}", True
    names = ", ".join(shares)
    yield f"to split {names}: --tokenize {option}; if meant so: --tokenize whitespace", False


def _said(how: str, split: Sequence[str], report: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    left = [name for name, of in report["systems"].items() if not of["split"]]
    text = f"has split {', '.join(split)}" if split else "has no effect: no output looks raw"
    more = f"; not raw, left as they are: {', '.join(left)}" if split and left else ""
    yield f"--tokenize {how} {text}{more}", True
    for path, of in report.get("files", {}).items():
        text = f"{path}: {of['learned']} of {of['texts']} texts teach how the corpus is tokenised"
        yield text, of["learned"] < 0.9 * of["texts"]
    if "raw" in (sources := report.get("sources", {})):
        yield f"{sources['equal']} of {sources['raw']} raw sources come out as in the corpus", False
    elif sources and (share := sources["share"]) < 1:
        text = f"in {1 - share:.1%} of the source sentences this splits the corpus' own tokens,"
        yield f"--tokenize {how}: {text} which gold edits count", share < _ALIKE
    for name, of in report["systems"].items():
        if of["split"]:
            yield f"{name}: {of['lines_changed']} lines changed by --tokenize {how}", False
        for key, (whole, most) in DOUBTS.items():
            if key in of:
                grave = of[f"{key}_share"] > most
                text = f"{name}: {of[key]} of {of[whole]} {whole} {key.replace('_', ' ')}"
                more = f", above {most:.0%}: its tokens are doubtful, more --raw texts help"
                yield f"{text} ({of[f'{key}_share']:.2%}{more if grave else ''})", grave
