"""The corpus: parallel sources, references or gold edits, and outputs of systems."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import starmap
from typing import Any, Literal, get_args

from grammeter import core
from grammeter.formats.tables import checked_text

GIVEN = "given"  # the rule of reference texts that were read as texts
NO_LABEL = "(none)"  # the group of sentences without a label
Unjudged = Literal["skip", "keep", "error"]  # what happens to sentences that cannot be judged
NO_SOURCE, NO_REFERENCE = "empty source", "no reference"  # why a sentence cannot be judged


@dataclass(frozen=True, kw_only=True, eq=False)
class OwnReferences:
    """References that belong to one system's outputs, such as post-edits; as in :class:`Corpus`."""

    references: Sequence[Sequence[str | None]] = ()
    gold: Sequence[core.GoldEdits] = ()
    origins: Mapping[str, str] = field(default_factory=dict[str, str])

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        gold = [{str(n): [*map(_row, edits)] for n, edits in g.items()} for g in self.gold]
        return {"references": [list(reference) for reference in self.references], "gold": gold}


@dataclass(frozen=True, kw_only=True, eq=False)
class Corpus:
    """Parallel sentences; all lengths are checked here, once.

    A sentence cannot be judged, by whatever metric, if its source is empty, or if it lacks all of
    the references, or annotators, that others have.

    Raises :class:`DataError` if a part is empty, has the wrong shape, or holds something other than
    text; :class:`LengthMismatchError` if parts are not equally long.

    - ``sources``: one text a sentence.
    - ``references``: shape ``[references][sentences]``; ``None`` where a sentence lacks that
      reference.
    - ``systems``: the outputs by system name, one text a sentence.
    - ``gold``: the gold edits of each sentence by annotator; empty if there are none. A sentence
      without annotator has ``{}``; one in which an annotator found nothing to correct has ``{0:
      ()}``.
    - ``own``: in place of references and gold that all systems share, those of each system: its
      outputs are scored against these alone. Empty if they are shared.
    - ``text_rule``: ``given``, or the rule by which gold edits became reference texts; part of
      signatures.
    - ``normalisation``: the Unicode form of all texts, if they were normalised; part of signatures.
    - ``origins``: the path of each part, for messages; keys are ``source``, ``gold``,
      ``references[0]``, ``systems[AMU]``.
    - ``notices``: unusual details of the files: line ends, white space.
    - ``notes``: what users must know to interpret scores: faults passed over, edits left out,
      outputs that seem to be tokenised otherwise.
    - ``unjudged``: sentences that cannot be judged: ``skip`` takes them out of all scores, ``keep``
      takes the source for their reference and scores empty sources, ``error`` refuses them.
    - ``documents``: the document of each sentence, where known: sentences of one are not
      independent.
    - ``groups``: labels of each sentence by their name, such as ``domain``; several are crossed.
    - ``settings``: what was done to the texts that changes figures, such as ``tok``; part of
      signatures.
    - ``report``: findings of reading, as plain values: blocks of the JSON of ``score``.
    """

    sources: Sequence[str]
    references: Sequence[Sequence[str | None]] = ()
    systems: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    gold: Sequence[core.GoldEdits] = ()
    own: Mapping[str, OwnReferences] = field(default_factory=dict[str, OwnReferences])
    text_rule: str = GIVEN
    normalisation: str | None = None
    origins: Mapping[str, str] = field(default_factory=dict[str, str])
    notices: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    unjudged: Unjudged = "skip"
    documents: Sequence[str] = ()
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    settings: Mapping[str, object] = field(default_factory=dict[str, object])
    report: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        for name, depth in {"sources": 0, "references": 1, "systems": 1}.items():
            object.__setattr__(self, name, _walked(getattr(self, name), depth))
        self._check_texts("source", self.sources)
        if len(self.sources) == 0:  # arrays and columns have no truth value
            fault = "there is no sentence"
            raise core.DataError(fault, where=self._origin("source"), fix="Give one at least.")
        self._check_references()
        if not hasattr(self.systems, "items"):
            fault = f"{type(self.systems).__name__} where outputs by name belong"
            fix = 'Write {"AMU": [first output, second output, ...]}.'
            raise core.DataError(fault, where="systems", fix=fix)
        if self.own and (self.references or self.gold or not {*self.systems} <= {*self.own}):
            lacking = [name for name in self.systems if name not in self.own]
            fault = f"no references of its own for {lacking[0]}" if lacking else "both are given"
            fix = "Give shared references, or each system its own, which may repeat shared ones."
            raise core.DataError(fault, where=self._origin("references"), fix=fix)
        for name, outputs in self.systems.items():
            self._check_texts(f"systems[{name}]", outputs)
            self._check_length(f"systems[{name}]", outputs)
        if self.gold:
            self._check_length("gold", self.gold)
            self._check_gold()
        if self.documents:
            self._check_length("documents", self.documents)
        for name, labels in self.groups.items():
            self._check_length(f"groups[{name}]", labels)
        core.UnknownNameError.check("value of unjudged", self.unjudged, get_args(Unjudged))
        _ = self.apart  # checks them
        if self.unjudged == "error" and self.unjudgeable:
            line, why = next(iter(self.unjudgeable.items()))
            fault = f"this sentence cannot be judged: {why}"
            fix = "Leave the sentence out, or let it be skipped (--unjudged skip)."
            where = self._origin("source")
            of_m2 = where == self.origins.get("gold")
            where += f", sentence {line + 1}" if of_m2 else f":{line + 1}"
            raise core.DataError(fault, where=where, fix=fix)

    def __repr__(self) -> str:
        number = max(len(part.references) for part in self.parts)
        counts = f"{len(self)} sentences, {number} {'own ' if self.own else ''}references"
        gold, systems = "with" if self.has_gold else "without", ", ".join(self.systems) or "none"
        return f"<Corpus of {counts}, {gold} gold edits, systems: {systems}>"

    def __len__(self) -> int:
        return len(self.sources)

    def take(self, places: Sequence[int]) -> "Corpus":
        """Return the chosen sentences, from 0, in the given order."""

        def chosen(rows: Sequence[Any]) -> list[Any]:
            return [rows[at] for at in places] if rows else []

        parts = (self.systems, self.groups)
        systems, groups = ({name: chosen(rows) for name, rows in of.items()} for of in parts)
        lists = {name: chosen(getattr(self, name)) for name in ("sources", "gold", "documents")}
        references = [chosen(rows) for rows in self.references]
        parts = {"references": references, "own": self.changed_own(lambda part: part.take(places))}
        return replace(self, **lists, **parts, systems=systems, groups=groups)

    def segments(self, system: str) -> list[core.Segment]:
        """Return one system's sentences as metrics take them, one segment each."""
        core.UnknownNameError.check("system", system, self.systems)
        previous, following = ["", *self.sources[:-1]], [*self.sources[1:], ""]
        targets = self._targets[system if self.own else ""]
        columns = self.sources, self.systems[system], targets, previous, following
        return [core.Segment(s, o, *t, *around) for s, o, t, *around in zip(*columns, strict=True)]

    @cached_property
    def apart(self) -> dict[str, "Corpus"]:
        """A corpus of each system with its own references; ``{}`` if all share theirs."""
        return {
            name: replace(
                self, references=of.references, gold=of.gold, own={},
                systems={name: self.systems[name]}, origins={**self.origins, **of.origins},
            )
            for name, of in self.own.items() if name in self.systems
        }  # fmt: skip

    @property
    def parts(self) -> list["Corpus"]:
        """One corpus for each system with references of its own; else this one."""
        return [*self.apart.values()] or [self]

    @property
    def has_gold(self) -> bool:
        """Whether there are gold edits, shared or a system's own."""
        return any(part.gold for part in self.parts)

    def changed_own(self, change: Callable[["Corpus"], "Corpus"]) -> dict[str, OwnReferences]:
        """Return the own references of changed corpora."""
        made = {name: change(part) for name, part in self.apart.items()}
        return {n: OwnReferences(references=c.references, gold=c.gold) for n, c in made.items()}

    @property
    def group_labels(self) -> list[str]:
        """One label a sentence, several crossed: ``NF, F``; ``[]`` without groups."""
        return crossed(self.groups)

    @cached_property
    def unjudgeable(self) -> dict[int, str]:
        """The sentences, from 0, that cannot be judged, and why."""
        if self.own:
            lines = {n: why for part in self.parts for n, why in part.unjudgeable.items()}
            return dict(sorted(lines.items()))
        texts = list(zip(*self.references, strict=True))
        return {
            line: NO_REFERENCE if source.split() else NO_SOURCE
            for line, source in enumerate(self.sources)
            if not source.split()
            or (texts and all(text is None for text in texts[line]))
            or (self.gold and not self.gold[line])
        }

    @cached_property
    def judged(self) -> list[int]:
        """The sentences, from 0, that count."""
        return [line for line in range(len(self)) if line not in self.skipped]

    @property
    def skipped(self) -> dict[int, str]:
        """The sentences, from 0, that count for no metric, and why."""
        return self.unjudgeable if self.unjudged == "skip" else {}

    @cached_property
    def _targets(self) -> dict[str, list[tuple[tuple[str | None, ...], core.GoldEdits]]]:
        """References and gold of each sentence, by system if these have their own, else by "".

        The same objects for all systems with equal ones. The source stands in for all references
        of a sentence, or all annotators, that has none.
        """
        if not self.own:
            return {"": [*self._of_lines()]}
        known: dict[Any, Any] = {}
        return {
            name: [
                known.setdefault((line, texts, *gold, *gold.values()), (texts, gold))
                for line, (texts, gold) in enumerate(part._of_lines())
            ]
            for name, part in self.apart.items()
        }

    def _of_lines(self) -> Iterator[tuple[tuple[str | None, ...], core.GoldEdits]]:
        nobody: Sequence[tuple[str | None, ...]] = [()] * len(self)
        rows = zip(self.sources, list(zip(*self.references, strict=True)) or nobody, strict=True)
        texts = [row if set(row) != {None} else (source,) * len(row) for source, row in rows]
        no_gold: core.GoldEdits = {}
        # copied: sentences that were given one and the same object are told apart by metrics
        gold = [dict(edits) or {0: ()} for edits in self.gold] or [no_gold] * len(self)
        return zip(texts, gold, strict=True)

    def _origin(self, part: str) -> str:
        return self.origins.get(part, part)

    def _check_references(self) -> None:
        if not _is_list(self.references) or any(isinstance(r, str) for r in self.references):
            fault = "references must be a list of references, each a list of sentences"
            fix = "Write [[first sentence, second sentence, ...]] for one reference."
            raise core.DataError(fault, where="references", fix=fix)
        for number, reference in enumerate(self.references):
            self._check_texts(f"references[{number}]", reference, may_lack=True)
        for number, reference in enumerate(self.references):
            self._check_length(f"references[{number}]", reference)

    def _check_gold(self) -> None:
        for number, (source, gold) in enumerate(zip(self.sources, self.gold, strict=True), 1):
            tokens = len(source.split())
            edits = (edit for edits in gold.values() for edit in edits)
            outside = next((e for e in edits if not 0 <= e.start <= e.end <= tokens), None)
            if outside:
                place = f"{outside.start} {outside.end}"
                fault = f"edit {place} lies outside its sentence of {tokens} tokens"
                where = f"{self._origin('gold')}, sentence {number}"
                raise core.DataError(fault, where=where, fix="Offsets count tokens of the source.")

    def _check_length(self, part: str, lines: Sequence[object]) -> None:
        if len(lines) != len(self.sources):
            names = self._origin(part), self._origin("source")
            raise core.LengthMismatchError(names[0], len(lines), names[1], len(self.sources))

    def _check_texts(self, part: str, lines: Sequence[object], *, may_lack: bool = False) -> None:
        if not _is_list(lines):
            what = "one text" if isinstance(lines, str) else type(lines).__name__
            fault = f"{what} where a list of sentences belongs"
            fix = "Split it into a list, one text a sentence."
            raise core.DataError(fault, where=self._origin(part), fix=fix)
        for number, line in enumerate(lines, start=1):
            where = f"{self._origin(part)}:{number}"
            if isinstance(line, str) and "\n" not in line:
                checked_text(line, "this sentence", where)
            elif not (may_lack and line is None):
                what = "a line end in" if isinstance(line, str) else type(line).__name__
                fault = f"{what} {line!r:.60} where a line of text belongs"
                raise core.DataError(fault, where=where, fix="A sentence is one line of text.")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; :meth:`from_dict` reads them back."""
        return {
            "sources": list(self.sources),
            "references": [list(reference) for reference in self.references],
            "text_rule": self.text_rule,
            "normalisation": self.normalisation,
            "gold": OwnReferences(gold=self.gold).to_dict()["gold"],
            "systems": {name: list(outputs) for name, outputs in self.systems.items()},
            **({"own": {n: of.to_dict() for n, of in self.own.items()}} if self.own else {}),
            **({} if self.unjudged == "skip" else {"unjudged": self.unjudged}),
            **({"documents": list(self.documents)} if self.documents else {}),
            **({"groups": {k: list(v) for k, v in self.groups.items()}} if self.groups else {}),
            **({"settings": dict(self.settings)} if self.settings else {}),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Corpus":
        """Read what :meth:`to_dict` wrote; raise :class:`DataError` if it is something else."""
        try:
            gold, own = _gold(data["gold"]), data.get("own", {})
            own = {
                name: OwnReferences(references=of["references"], gold=_gold(of["gold"]))
                for name, of in own.items()
            }
            texts = {name: data[name] for name in ("sources", "references", "text_rule", "systems")}
            parts = ("unjudged", "documents", "groups", "settings")
            known = {name: data[name] for name in parts if name in data}
            form = data.get("normalisation")
            return cls(**texts, **known, gold=gold, own=own, normalisation=form)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            fault = f"damaged corpus: {type(error).__name__}: {error}"
            raise core.DataError(fault, fix="Write it again: grammeter score -o FILE") from error


def crossed(columns: Mapping[str, Sequence[str]]) -> list[str]:
    """Return one label a sentence of several: ``NF, F``."""
    return [", ".join(of or NO_LABEL for of in row) for row in zip(*columns.values(), strict=True)]


def _row(edit: core.Edit) -> list[Any]:
    return [edit.start, edit.end, edit.type, *edit.corrections]


def _gold(lines: Sequence[Mapping[str, Any]]) -> list[core.GoldEdits]:
    return [{int(n): tuple(starmap(_edit, e)) for n, e in line.items()} for line in lines]


def _edit(start: int, end: int, kind: str, correction: str, *more: str) -> core.Edit:
    return core.Edit(start, end, correction, kind, more)


def _walked(value: Any, depth: int) -> Any:
    """Make lists of generators, which can be walked through but once, ``depth`` lists inside."""
    rows: Any = [*value] if isinstance(value, Iterator) else value
    if depth and hasattr(rows, "items"):
        return {key: _walked(of, 0) for key, of in rows.items()}
    if depth and _is_list(rows) and any(isinstance(of, Iterator) for of in rows):
        return [_walked(of, 0) for of in rows]
    return rows


def _is_list(value: object) -> bool:
    return not isinstance(value, str) and hasattr(value, "__len__")
