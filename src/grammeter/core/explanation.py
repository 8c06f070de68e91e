"""Explanations: why one output of one sentence got its score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from grammeter.core.edit import Edit, minimise
from grammeter.core.score import json_number
from grammeter.core.signature import Signature
from grammeter.core.verdict import JudgedEdit
from grammeter.version import __version__

Method = Literal["shapley", "leave-one-out"]
"""How a sentence score is shared out among edits; see :mod:`grammeter.scoring.attribution`."""

METHODS: tuple[Method, ...] = get_args(Method)


@dataclass(frozen=True, slots=True)
class Grid:
    """A small table of an explanation: counts by order, an alignment, sums by reference."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribution:
    """How much each edit of an output contributes to its sentence score.

    Attributes
    ----------
    method
        How the score is shared out.
    total, baseline
        The sentence score with all edits and with none, in the metric's units.
    edits
        Those of the system, in the order of the sentence.
    values
        One for each edit, in the metric's units; NaN where a score that it needs is missing.
    errors
        The standard error of each value, where orders are drawn.
    orders
        How many random orders of the edits were drawn; ``None``: nothing was drawn.
    signature
        What the values depend on besides the metric.
    reason
        Why a value is NaN.
    """

    method: Method
    total: float
    baseline: float
    edits: tuple[Edit, ...]
    values: tuple[float, ...]
    errors: tuple[float, ...] | None = None
    orders: int | None = None
    signature: Signature
    reason: str | None = None


def _no_parts() -> Mapping[str, float]:
    return {}


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a sentence got its score.

    Attributes
    ----------
    value
        The sentence score, in the metric's units.
    parts
        Further figures by name.
    chosen
        Number of the reference or annotator that the score belongs to, if to one.
    edits
        The system's edits and the missed ones, in the order of the sentence.
    grids
        Whatever else shows how the score came about.
    reason
        Why the value is NaN.
    attribution
        What each edit contributes to the value, if that was asked for.
    corpus_chosen, corpus_value
        Number of the reference that the corpus score chose, and the sentence's score against it,
        for a metric that chooses by running totals.
    """

    value: float
    parts: Mapping[str, float] = field(default_factory=_no_parts)
    chosen: int | None = None
    edits: tuple[JudgedEdit, ...] = ()
    grids: tuple[Grid, ...] = ()
    reason: str | None = None
    attribution: Attribution | None = None
    corpus_chosen: int | None = None
    corpus_value: float | None = None

    def judged(self, edit: Edit, source: Sequence[str]) -> JudgedEdit | None:
        """Return what the metric says of an edit of the system, if it knows the same one.

        Edits are the same if they are, less the tokens that they leave as they are.
        ``source`` are the tokens of the sentence.
        """
        wanted = _changed(edit, source)
        made = (judged for judged in self.edits if judged.verdict != "missed")
        return next((each for each in made if _changed(each.edit, source) == wanted), None)


@dataclass(frozen=True, slots=True)
class SentenceExplanation:
    """One output of one system, and what each metric says of it.

    Attributes
    ----------
    system, line
        Whose output; the number of the sentence, from 1.
    source, hypothesis, references
        The texts; ``None`` for a reference that the sentence lacks.
    metrics
        An :class:`Explanation` by the metric's spelling.
    """

    system: str
    line: int
    source: str
    hypothesis: str
    references: tuple[str | None, ...]
    metrics: Mapping[str, Explanation]
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return ``{"kind": "explanation", ...}`` with all that is known."""
        return {
            "kind": "explanation",
            "grammeter": __version__,
            "system": self.system,
            "line": self.line,
            "source": self.source,
            "hypothesis": self.hypothesis,
            "references": list(self.references),
            "metrics": {
                name: _to_json(each) | _attribution_to_json(each, self.source.split())
                for name, each in self.metrics.items()
            },
            "notes": [*self.notes],
        }

    def __str__(self) -> str:
        """Return the sentence and, by metric, its score and its edits."""
        from grammeter.core.html import number
        from grammeter.core.shown import aligned, terminal

        texts = {"source": self.source, "output": self.hypothesis}
        texts |= {f"reference {n}": text or "" for n, text in enumerate(self.references)}
        rows = [(name, number(each.value)) for name, each in self.metrics.items()]
        edits = [
            f"{name}: {judged.verdict} {judged.original!r} -> {judged.edit.correction!r}"
            f" {judged.edit.type}".rstrip()
            for name, each in self.metrics.items()
            for judged in each.edits
        ]
        lines = [f"{self.system}, line {self.line}", *(f"{n}: {t}" for n, t in texts.items())]
        below = map(terminal, [*edits, *self.notes])
        return "\n".join([*map(terminal, lines), *aligned([("metric", "score"), *rows]), *below])

    def __repr__(self) -> str:
        metrics = ", ".join(self.metrics)
        return f"<SentenceExplanation of {self.system}, line {self.line}: {metrics}>"

    def _repr_html_(self) -> str:
        """Show the sentence in a notebook, with the edits as each metric judges them."""
        from grammeter.core.html import drawn_edits, escaped, html_table, number

        texts = {"source": self.source, "output": self.hypothesis}
        given = enumerate(self.references)
        texts |= {f"reference {n}": text for n, text in given if text is not None}
        shown = [f"<b>{escaped(self.system)}</b>, line {self.line}"]
        shown += [f"{name}: {escaped(text)}" for name, text in texts.items()]
        words = self.source.split()
        shown += [
            f"{escaped(name)}: {drawn_edits(words, each.edits)}"
            for name, each in self.metrics.items()
            if each.edits
        ]
        rows = [(name, number(each.value)) for name, each in self.metrics.items()]
        return "<br>".join(shown) + html_table(("metric", "score"), rows)


def _to_json(explanation: Explanation) -> dict[str, Any]:
    value = json_number(explanation.value)
    return {
        "value": value,
        **({"reason": explanation.reason or "undefined"} if value is None else {}),
        "parts": {name: json_number(value) for name, value in explanation.parts.items()},
        "reference": explanation.chosen,
        **_corpus_to_json(explanation),
        "edits": [
            {
                "start": judged.edit.start,
                "end": judged.edit.end,
                "original": judged.original,
                "corrections": list(judged.edit.corrections),
                "type": judged.edit.type,
                **_judged_to_json(judged),
            }
            for judged in explanation.edits
        ],
        "tables": [
            {"title": grid.title, "columns": list(grid.columns), "rows": [*map(list, grid.rows)]}
            for grid in explanation.grids
        ],
    }


def _corpus_to_json(explanation: Explanation) -> dict[str, Any]:
    if explanation.corpus_value is None:
        return {}
    value = json_number(explanation.corpus_value)
    return {"in_corpus": {"reference": explanation.corpus_chosen, "value": value}}


def _attribution_to_json(explanation: Explanation, source: Sequence[str]) -> dict[str, Any]:
    found = explanation.attribution
    if found is None:
        return {}
    data: dict[str, Any] = {
        "method": found.method,
        "signature": str(found.signature),
        "total": json_number(found.total),
        "baseline": json_number(found.baseline),
        **({} if found.orders is None else {"orders": found.orders}),
        **({} if found.reason is None else {"reason": found.reason}),
    }
    data["edits"] = [
        {
            "start": edit.start,
            "end": edit.end,
            "original": " ".join(source[edit.start : edit.end]),
            "correction": edit.correction,
            "type": edit.type,
            "value": json_number(value),
            **({} if found.errors is None else {"error": json_number(found.errors[number])}),
            **_judged_to_json(explanation.judged(edit, source)),
        }
        for number, (edit, value) in enumerate(zip(found.edits, found.values, strict=True))
    ]
    return {"attribution": data}


def _judged_to_json(judged: JudgedEdit | None) -> dict[str, Any]:
    if judged is None:
        return {}
    weight = {} if judged.weight is None else {"weight": json_number(judged.weight)}
    return {"verdict": judged.verdict, **weight}


def _changed(edit: Edit, source: Sequence[str]) -> tuple[int, int, str]:
    bare = minimise(edit, source)
    return bare.start, bare.end, bare.correction
