"""The ERRANT annotator: pairs of sentences to typed edits, in batches; annotators' edits retyped.

Each distinct sentence is parsed once, and only where aligning, merging or classifying looks at
more than the words.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import get_args

from grammeter import core
from grammeter.errant import languages, parse, pipelines
from grammeter.errant.align import Aligner, Change
from grammeter.errant.languages import Strategy
from grammeter.errant.pipelines import Parses, PlainClasses, time_of_parse
from grammeter.errant.tokens import Applied, Tokens, by_span, split

CHUNK = 4096  # pairs that are processed together
EDIT_LIMIT = 100_000  # edits kept in memory by their pairs, some 25 MB; a pair counts as one more
Texts = tuple[str, str]  # source and corrected sentence
GoldTypes = Mapping[int, Mapping[int, Sequence[str]]]
"""By identity of a sentence's gold edits and by annotator: a type for each edit, in order."""


class Annotator:
    """Extracts and types edits. Make one with :func:`annotator`, which explains the options.

    Without a ``parser``, the ``rules`` of the language may need words alone. ``notice`` is one line
    that users should see: the default pipeline's scores are not comparable with published ones.
    """

    def __init__(
        self, rules: languages.Language, parser: parse.Parser | PlainClasses | Parses | None,
        *, types: bool = True, merge: Strategy = "rules", lev: bool = False,
    ) -> None:  # fmt: skip
        if merge != "rules":
            rules = replace(
                rules,
                merge=partial(languages.merge, strategy=merge),
                merges_by_changes=partial(languages.is_decided_by_changes, strategy=merge),
            )
        self.rules, self._parser, self._types, self._merge = rules, parser, types, merge
        self._lev = lev or parser is None
        self._aligner = Aligner(lev=self._lev)
        self._known: dict[Texts, tuple[core.Edit, ...]] = {}
        self._weight = 0
        self.notice: str | None = parser.notice if parser else None

    def annotate(
        self, pairs: Sequence[Texts], tokens: Mapping[str, Tokens] | None = None
    ) -> list[tuple[core.Edit, ...]]:
        """Return the edits of each (source, corrected) pair, left to right.

        Tokens are separated by white space; equal ones give no edits, also where the texts differ
        in their spaces. ``tokens`` has them by text where texts are raw; see
        :func:`~.pipelines.tokenised`. MissingResourceError if spaCy is needed and not installed;
        UsageError if types are wanted and the pipeline's tags are not those that the rules know.
        """
        known = self._known if tokens is None else {}
        edits = {pair: known[pair] for pair in pairs if pair in known}
        first: dict[str, int] = {}  # ordered by source, so that each is parsed once
        missing = [pair for pair in dict.fromkeys(pairs) if pair not in edits]
        missing.sort(key=lambda pair: first.setdefault(pair[0], len(first)))
        for start in range(0, len(missing), CHUNK):
            chunk = missing[start : start + CHUNK]
            edits.update(zip(chunk, self._extract(chunk, tokens), strict=True))
        if tokens is None:
            self._remember(edits)
        return [edits[pair] for pair in pairs]

    def retype_all(
        self, sentences: Sequence[tuple[str, Sequence[core.Edit]]],
        *, minimise: bool = True, keep_types: bool = False,
    ) -> list[tuple[core.Edit, ...]]:  # fmt: skip
        """Type the edits of many sentences, as ``errant_m2 -gold``.

        Sentences are tokens separated by white space, and the edits of one annotator in any order;
        their alternatives and no-ops are dropped. ``minimise`` removes equal tokens from both ends
        of an edit, ``keep_types`` leaves the types as they are. Returns edits by sentence, in the
        order of their original spans. Those that only detect (``Um``, ``UNK``) keep span and text
        and get the type ``UNK``.
        """
        applied = [Applied.of(source, edits, minimise) for source, edits in sentences]
        return [one.edits() for one in applied] if keep_types else self._typed(applied)

    def reextract_all(
        self, sentences: Sequence[tuple[str, Sequence[core.Edit]]]
    ) -> list[tuple[core.Edit, ...]]:
        """Extract edits anew, as ``errant_m2 -auto``; those that only detect stay, as ``UNK``."""
        applied = [Applied.of(source, edits, minimise=False) for source, edits in sentences]
        detecting = [[s for s in one.spans if s[0].type in core.DETECTION_ONLY] for one in applied]
        rows = zip(applied, detecting, strict=True)
        detected = self._typed([replace(one, spans=spans) for one, spans in rows])
        extracted = self.annotate([(one.source, one.target) for one in applied])
        both = zip(detected, extracted, strict=True)
        return [tuple(sorted([*old, *new], key=by_span)) for old, new in both]

    def signature(self) -> dict[str, str]:
        """Return all that edits depend on: pipeline, its hash, rules, merging, alignment."""
        align = "letters" if isinstance(self._parser, PlainClasses) else "linguistic"
        return {
            **(self._parser.signature() if self._parser else {"pipeline": pipelines.NEUTRAL}),
            "rules": self.rules.rules,
            "merge": self._merge,
            "align": "lev" if self._lev else align,
        }

    def _typed(self, applied: Sequence[Applied]) -> list[tuple[core.Edit, ...]]:
        texts = {text for one in applied if one.spans for text in (one.source, one.target)}
        parses = self._parse({text: split(text) for text in sorted(texts)})

        def typed(one: Applied) -> Iterator[core.Edit]:
            sides = [parses[text] for text in (one.source, one.target) if one.spans]
            for edit, (_, span) in zip(one.edits(), one.spans, strict=True):
                yield replace(edit, type=self.rules.classify(span, *sides))

        return [tuple(typed(one)) for one in applied]

    def _extract(
        self, pairs: Sequence[Texts], tokens: Mapping[str, Tokens] | None
    ) -> Iterator[tuple[core.Edit, ...]]:
        bare = {text: tokens[text] if tokens else split(text) for pair in pairs for text in pair}
        drafts = [self._draft(bare[source], bare[target]) for source, target in pairs]
        every = isinstance(self._parser, Parses)  # which must have all sentences
        needed = {
            text: bare[text]
            for pair, (_, sides) in zip(pairs, drafts, strict=True)
            for text, needs in zip(pair, sides, strict=True)
            if needs or every
        }
        parses = bare | self._parse(needed)
        for (source, target), (changes, _) in zip(pairs, drafts, strict=True):
            yield self._finish(parses[source], parses[target], changes)

    def _draft(
        self, source: Tokens, target: Tokens
    ) -> tuple[list[Change] | None, tuple[bool, bool]]:
        """Align where words suffice, and decide which of the two sentences need a parse."""
        if source.texts == target.texts:
            return [], (False, False)
        if not self._aligner.is_decided_by_words(source, target):
            return None, (True, True)
        changes = self._aligner.align(source, target)
        if not self.rules.merges_by_changes(changes):
            return changes, (True, True)
        typed = self._types and self.rules.types_need != "words"
        kinds = {change.kind for change in changes}
        return changes, (typed and kinds != {"I"}, typed and kinds != {"D"})

    def _finish(
        self, source: Tokens, target: Tokens, changes: list[Change] | None
    ) -> tuple[core.Edit, ...]:
        if changes is None:
            changes = self._aligner.align(source, target)
        edits: list[core.Edit] = []
        for span in self.rules.merge(changes, source, target):
            text = " ".join(target.texts[span.target_start : span.target_end])
            kind = self.rules.classify(span, source, target) if self._types else ""
            edits.append(core.Edit(span.start, span.end, text, kind))
        return tuple(edits)

    def _parse(self, sentences: dict[str, Tokens]) -> dict[str, Tokens]:
        if self._parser is None:
            return sentences
        dependencies = self._types and self.rules.types_need == "parse"
        parses = self._parser.parse(sentences.values(), dependencies=dependencies)
        return dict(zip(sentences, parses, strict=True))

    def _remember(self, edits: dict[Texts, tuple[core.Edit, ...]]) -> None:
        for pair, pair_edits in edits.items():
            if self._weight > EDIT_LIMIT:
                self._known, self._weight = {}, 0
            if pair not in self._known:
                self._known[pair] = pair_edits
                self._weight += 1 + len(pair_edits)


def annotator(
    pipeline: str | None = None, *, rules: languages.RuleSet | None = None, types: bool = True,
    merge: Strategy = "rules", lev: bool = False, cache_dir: str | Path | None = None,
) -> Annotator:  # fmt: skip
    """Make an annotator; equal arguments give the same object, which remembers its work.

    MissingResourceError if there is no such pipeline, UnknownNameError if no such way of merging,
    UsageError if ``rules`` are not those of the words alone.

    - ``pipeline``: as for :func:`~.pipelines.find_pipeline`, or a CoNLL-U file of parses made
      elsewhere. Words alone, in any language: ``plain``, with ERRANT's alignment and merging, or
      ``neutral``.
    - ``rules``: ``errant``, its merging, with types by universal parts of speech outside English;
      ``neutral``, neutral merging, types M, R, U. By default those of the pipeline's language.
    - ``types``: whether edits get types. The spans are the same without, and need no parser.
    - ``merge``: how adjacent changes become edits, in the words of ``errant_parallel -merge``.
    - ``lev``: align by plain Levenshtein distance.
    - ``cache_dir``: folder of the parses on disk, or ``off``; by default ``GRAMMETER_CACHE``, else
      the user's.
    """
    core.UnknownNameError.check("way of merging", merge, get_args(Strategy))
    time = time_of_parse(pipeline)
    return _annotator(pipeline, rules, types, merge, lev, core.cache_folder(cache_dir), time)


@cache
def _annotator(
    pipeline: str | None, rules: languages.RuleSet | None, types: bool, merge: Strategy, lev: bool,
    folder: Path | None, time: int,
) -> Annotator:  # fmt: skip
    scheme, parser = languages.language("", rules), None
    if pipeline in (pipelines.NEUTRAL, pipelines.PLAIN):
        parser = PlainClasses() if pipeline == pipelines.PLAIN else None
        if rules == ("neutral" if parser else "errant"):
            fault = f"pipeline {pipeline} has its own rules, not {rules}"
            fix = f"Leave rules out, or take {pipelines.NEUTRAL if parser else pipelines.PLAIN}."
            raise core.UsageError(fault, fix=fix)
        scheme = languages.PLAIN_RULES if parser else languages.NEUTRAL_RULES
    elif time:
        parser = _parses(str(pipeline), time)
    else:
        parser = _parser(pipelines.find_pipeline(pipeline), folder)
        scheme = languages.language(parser.pipeline.language, rules)
    return Annotator(scheme, parser, types=types, merge=merge, lev=lev)


_parser = cache(parse.Parser)  # one for all annotators of a pipeline, with or without types


@cache
def _parses(file: str, _time: int) -> Parses:
    return Parses(Path(file))


def foreign_types(gold: Iterable[core.GoldEdits], rules: languages.Language) -> list[str]:
    """Return types of gold edits that the rules never give, sorted; not ``Um`` and ``UNK``."""
    annotations = (edits for by_annotator in gold for edits in by_annotator.values())
    types = {edit.type for edit in chain.from_iterable(annotations) if not edit.is_noop}
    return sorted(kind for kind in types - core.DETECTION_ONLY if not rules.gives(kind))


def types_by_rules(segments: Iterable[core.Segment], annotator: Annotator) -> GoldTypes:
    """Type gold edits by the annotator's rules, as ``errant_m2 -gold``; spans and texts stay."""
    lines = {id(segment.gold): segment for segment in segments}
    annotations = [(line.source, edits) for line in lines.values() for edits in line.gold.values()]
    retyped = iter(annotator.retype_all(annotations, minimise=False))
    return {
        key: {number: _names(edits, next(retyped)) for number, edits in line.gold.items()}
        for key, line in lines.items()
    }


def _names(edits: Sequence[core.Edit], retyped: Iterable[core.Edit]) -> list[str]:
    """Return the types of ``edits``; those of the changes come ``retyped``, in order of spans."""
    places = [at for at, edit in enumerate(edits) if not edit.is_noop]
    places.sort(key=lambda at: by_span(edits[at]))
    types = dict(zip(places, retyped, strict=True))
    return [types.get(at, edit).type for at, edit in enumerate(edits)]


def one_scheme(segments: Sequence[core.Segment], annotator: Annotator) -> list[core.Segment]:
    """Return segments whose gold edits have types of the annotator's rules, if they had others.

    Edits that only mark an error, or change nothing, keep theirs: the same edits count as before.
    """
    if not foreign_types((segment.gold for segment in segments), annotator.rules):
        return list(segments)
    types = types_by_rules(segments, annotator)
    by_gold = {id(segment.gold): segment.gold for segment in segments}
    gold: dict[int, core.GoldEdits] = {
        key: {n: tuple(map(_retyped, edits, types[key][n])) for n, edits in by_annotator.items()}
        for key, by_annotator in by_gold.items()
    }
    return [replace(segment, gold=gold[id(segment.gold)]) for segment in segments]


def _retyped(edit: core.Edit, name: str) -> core.Edit:
    return edit if {edit.type, name} & core.DETECTION_ONLY else replace(edit, type=name)
