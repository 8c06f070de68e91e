"""The verb ``combine``: one output made of those of several systems, and how good one could be."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import floor
from typing import Any, Literal, get_args

from grammeter import core, errant, scoring
from grammeter.formats import Corpus
from grammeter.metrics import Metric
from grammeter.metrics import metric as make_metric

By = Literal["vote", "minimum-risk"]
EditRule = Literal["words", "errant"]
OracleKind = Literal["sentence", "edits"]
MAJORITY = 0.5  # the share of all votes that an edit must exceed by default
COUNTS = ("tp", "fp", "fn")
FIRST = "where {} are equal, the system that stands first decides: {}"


@dataclass(frozen=True, repr=False)
class Combination(core.Result):
    """Combined outputs of a corpus: ``texts``, one a sentence.

    ``weights`` are the votes of each system. Of a vote: ``least``, how many an edit needs, or the
    ``share`` of all that it must exceed; ``edits`` made in all sentences, and ``clashes``, edits
    with enough votes that clash with others. Of minimum risk: ``chosen``, how many outputs of each
    system were taken. ``changed`` counts sentences that differ from their source.
    """

    by: By
    texts: tuple[str, ...] = field(compare=False)
    weights: Mapping[str, float]
    signature: core.Signature
    changed: int
    least: float | None = None
    share: float | None = None
    edits: int | None = None
    clashes: int | None = None
    chosen: Mapping[str, int] | None = None
    notes: tuple[str, ...] = ()

    def text(self) -> str:
        """Return the texts, a sentence on each line."""
        return "".join(f"{line}\n" for line in self.texts)

    def tables(self, *, long: bool = False) -> Sequence[core.Table]:
        """Return the figures, then the systems with their votes."""
        names = ("least", "share", "edits", "changed", "clashes")
        rows = [("sentences", len(self.texts)), *((name, getattr(self, name)) for name in names)]
        rows += [(f"votes of {name}", votes) for name, votes in self.weights.items()]
        rows += [(f"outputs of {name}", number) for name, number in (self.chosen or {}).items()]
        shown = [row for row in rows if row[1] is not None]
        below = () if long else (str(self.signature),)
        return [core.Table.of(("figure", core.Column("value", "count")), shown, below)]

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape; the texts are not part of it."""
        parts = {"systems": [*self.weights], "sentences": len(self.texts)}
        return core.public_shape("combination", self, **parts)


@dataclass(frozen=True, repr=False)
class Oracle(core.Result):
    """What a perfect combination could reach under a metric.

    ``systems`` have the score of each. ``oracle`` is that of the best output of each sentence
    (``by``: ``sentence``), beside that of the ``worst``; or of those edits of all systems that are
    right (``edits``), beside the ``union`` of all. ``chosen`` says how often each system's output
    is the best; ``texts`` are these outputs, none of ``edits``.
    """

    by: OracleKind
    metric: str
    higher_is_better: bool
    systems: Mapping[str, core.Score]
    oracle: core.Score
    worst: core.Score | None = None
    union: core.Score | None = None
    chosen: Mapping[str, int] | None = None
    texts: tuple[str, ...] = field(default=(), compare=False)
    notes: tuple[str, ...] = ()

    def text(self) -> str:
        """Return the best outputs, a sentence on each line; :class:`UsageError` without any."""
        core.check_home(self.by == "sentence", "--oracle sentence", output=True)
        return "".join(f"{line}\n" for line in self.texts)

    def tables(self, *, long: bool = False) -> Sequence[core.Table]:
        """Return a row for each system, for the oracle, and for its opposite."""
        beside = {f"oracle: {self.by}": self.oracle, "worst": self.worst, "union": self.union}
        parts, taken = sorted(self.oracle.parts, key=COUNTS.__contains__), self.chosen or {}
        rows = [(name, score.value, *map(score.parts.get, parts), taken.get(name))
                for name, score in [*self.systems.items(), *beside.items()]
                if score is not None]  # fmt: skip
        scores = core.Column.many("score", self.metric, *(p for p in parts if p not in COUNTS))
        counts = core.Column.many("count", *(p for p in parts if p in COUNTS), "chosen")
        below = () if long else (str(self.oracle.signature),)
        return [core.Table.of(("system", *scores, *counts), rows, below)]

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape; the texts are not part of it."""
        return core.public_shape("oracle", self, signature=self.oracle.signature)


@core.checked
def combine(
    corpus: Corpus,
    *, by: By = "vote", least: float | None = None, share: float | None = None,
    weights: Mapping[str, float] | Sequence[str] = (), edit_rule: EditRule = "words",
    pipeline: str | None = None, metric: str | Metric | None = None,
    oracle: OracleKind | None = None,
) -> Combination | Oracle:  # fmt: skip
    """Combine the outputs of several systems, or say what a perfect combination could reach.

    Raises :class:`UsageError` if there are less than two systems, an edit cannot get as many votes
    as it needs, a weight is not above 0 or names no system, a metric is missing or cannot do what
    is asked of it, or options change nothing.

    Parameters
    ----------
    corpus
        Sources and systems, whose order breaks ties; for an oracle also gold edits or references.
    by
        ``vote``: the edits of most systems (Omelianchuk et al. 2024); ``minimum-risk``: the output
        whose mean score against the others is best.
    least, share
        Make the edits with so many votes, or with more than this share of all; default: half.
    weights
        Votes of systems, 1 if not named: ``{"AMU": 2}`` or ``["AMU=2"]``.
    edit_rule
        How edits are found: ``words``, by ``difflib`` over words, or ``errant``, by its rules.
    pipeline
        For ``errant``: a spaCy pipeline, or ``plain``; see :func:`edits_extract`.
    metric
        What is best, for minimum risk and oracles.
    oracle
        Instead: the score of the best output of each ``sentence``, or of all right ``edits``.
    """
    if len(corpus.systems) < 2:
        fault = f"{len(corpus.systems)} system: there is nothing to combine"
        raise core.UsageError(fault, fix="Give the outputs of two at least (--hyps).")
    core.UnknownNameError.check("way of combining", by, get_args(By))
    core.UnknownNameError.check("edit rule", edit_rule, get_args(EditRule))
    votes: Any = {"least": least is not None, "share": share is not None}
    core.check_home(
        by == "vote" and not oracle, "--by vote", **votes, edit_rule=edit_rule != "words"
    )
    core.check_home(not oracle, "no --oracle", by=by != "vote", weights=len(weights))
    core.check_home(edit_rule == "errant", "--edit-rule errant", pipeline=pipeline)
    if by == "vote" and not oracle:
        core.check_home(False, "--by minimum-risk and --oracle", metric=metric)
        return _voted(corpus, _votes(weights, corpus), least, share, edit_rule, pipeline)
    if metric is None:
        raise core.UsageError("no metric says what is best", fix="Name one (-m).")
    if corpus.own and oracle:
        fault = "systems with references of their own have no common oracle"
        raise core.UsageError(fault, fix="Give references that all systems share (-r).")
    if oracle is None:
        return _least_risk(corpus, _votes(weights, corpus), make_metric(metric))
    core.UnknownNameError.check("oracle", oracle, get_args(OracleKind))
    return _oracle(corpus, str(metric), make_metric(metric), oracle)


def _votes(weights: Mapping[str, float] | Sequence[str], corpus: Corpus) -> dict[str, float]:
    texts = [] if isinstance(weights, Mapping) else [text.rpartition("=") for text in weights]
    named = dict(weights) if isinstance(weights, Mapping) else {n: value for n, _, value in texts}
    votes = dict.fromkeys(corpus.systems, 1.0)
    for name, value in named.items():
        core.UnknownNameError.check("system in --weights", name, votes)
        with suppress(ValueError):
            votes[name] = float(value)
            if len(texts) in (0, len(named)) and 0 < votes[name] < float("inf"):
                continue
        fix = "Write NAME=W once for each system, with a number above 0."
        raise core.UsageError(f"--weights {name}={value} is impossible", fix=fix)
    return {name: int(number) if number % 1 == 0 else number for name, number in votes.items()}


def _voted(
    corpus: Corpus, weights: Mapping[str, float], least: float | None, share: float | None,
    edit_rule: EditRule, pipeline: str | None,
) -> Combination:  # fmt: skip
    exact = [Fraction(repr(number)) for number in weights.values()]
    wins, needs = _threshold(exact, least, share)
    pairs = [(source, text)
             for source, *row in zip(corpus.sources, *corpus.systems.values(), strict=True)
             for text in row]  # fmt: skip
    extractor = errant.annotator(pipeline, types=False) if edit_rule == "errant" else None
    signature = extractor.signature() if extractor else {}
    foreign = errant.not_english(signature.get("pipeline"), corpus.sources)
    notes = [FIRST.format("votes of clashing edits", ", ".join(weights)), foreign]
    notes += [extractor.notice] if extractor else []
    of_pairs = extractor.annotate(pairs) if extractor else [scoring.word_edits(*p) for p in pairs]
    edits = [[core.Edit(e.start, e.end, e.correction) for e in of] for of in of_pairs]
    size = len(weights)
    lines = [edits[at : at + size] for at in range(0, len(edits), size)]
    winners, clashes = zip(*(scoring.vote(line, exact, wins) for line in lines), strict=True)
    rows = zip(corpus.sources, winners, strict=True)
    texts = [" ".join(core.apply(source.split(), of_line)) for source, of_line in rows]
    counts = {"edits": sum(map(len, winners)), "clashes": sum(clashes)}
    settings = needs | {"edits": edit_rule} | signature
    return _combined(corpus, "vote", texts, weights, settings, notes, needs | counts)


def _threshold(
    weights: Sequence[Fraction], least: float | None, share: float | None
) -> tuple[Callable[[Fraction], bool], dict[str, float | None]]:
    """Return which numbers of votes are enough, and how that is said."""
    votes = sum(weights, Fraction())
    if least is not None and share is not None:
        raise core.UsageError("--least and --share are two thresholds", fix="Give one of them.")
    if least is not None:
        if not 0 < least <= votes:
            fault = f"no edit can have {least:g} votes of {float(votes):g}"
            raise core.UsageError(fault, fix="Give --least a number above 0 that is possible.")
        needed = Fraction(repr(least))
        return needed.__le__, {"least": int(least) if least % 1 == 0 else least}
    share = MAJORITY if share is None else share
    if not 0 <= share < 1:
        fix = "Give --share a number from 0 to below 1; 0.5 is the majority."
        raise core.UsageError(f"no edit has more than {share:g} of the votes", fix=fix)
    needed = Fraction(repr(share)) * votes
    whole = all(weight.denominator == 1 for weight in weights)
    return needed.__lt__, {"least": floor(needed) + 1 if whole else None, "share": share}


def _least_risk(corpus: Corpus, weights: Mapping[str, float], metric: Metric) -> Combination:
    places, unscored = scoring.least_risk(corpus, metric, [*weights.values()])
    notes = [FIRST.format("scores of outputs", ", ".join(weights)), metric.notice]
    if metric.needs == "nothing":
        notes.append(f"{metric.name} looks at no reference: the other outputs do not matter")
    if unscored:
        notes.append(f"{unscored} comparisons of two outputs have no score and are left out")
    texts, chosen = _taken(corpus, places)
    settings = {"metric": str(metric)}
    return _combined(corpus, "minimum-risk", texts, weights, settings, notes, {"chosen": chosen})


def _combined(
    corpus: Corpus, by: By, texts: Sequence[str], weights: Mapping[str, float],
    settings: Mapping[str, object], notes: Sequence[str | None], figures: Mapping[str, Any],
) -> Combination:  # fmt: skip
    pairs = zip(corpus.sources, texts, strict=True)
    changed = sum(source.split() != text.split() for source, text in pairs)
    systems = ",".join(f"{name}={votes:g}" for name, votes in weights.items())
    form = {**corpus.settings, **({"unicode": u} if (u := corpus.normalisation) else {})}
    signature = core.Signature.of("combine", {"by": by, **settings, "systems": systems, **form})
    noted = tuple(note for note in (*corpus.notes, *notes) if note)
    return Combination(by, tuple(texts), weights, signature, changed, **figures, notes=noted)


def _oracle(corpus: Corpus, spelled: str, metric: Metric, by: OracleKind) -> Oracle:
    table = scoring.score_table(corpus, {spelled: metric})
    column = table[spelled]
    notes = [*table.about, *column.notes]
    about = by, spelled, metric.higher_is_better, column.scores
    if by == "edits":
        right, every = scoring.united_edits(corpus, metric)
        right = replace(right, signature=column.signature)
        return Oracle(*about, right, union=every, notes=tuple(notes))
    places, best = scoring.best_outputs(corpus, metric, column)
    _, worst = scoring.best_outputs(corpus, metric, column, worst=True)
    notes.append(FIRST.format("scores of outputs", ", ".join(corpus.systems)))
    texts, _ = _taken(corpus, places)
    chosen = _taken(corpus.take(corpus.judged), [places[line] for line in corpus.judged])[1]
    best = replace(best, signature=column.signature)
    more: Any = {"chosen": chosen, "texts": tuple(texts), "notes": tuple(notes)}
    return Oracle(*about, best, worst, **more)


def _taken(corpus: Corpus, places: Sequence[int]) -> tuple[list[str], dict[str, int]]:
    """Return the output of each sentence that was chosen, and how often each system's was."""
    rows = zip(*corpus.systems.values(), strict=True)
    texts = [row[at] for row, at in zip(rows, places, strict=True)]
    counts = Counter(places)
    return texts, {name: counts[at] for at, name in enumerate(corpus.systems)}
