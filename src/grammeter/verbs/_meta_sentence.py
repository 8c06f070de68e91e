"""The verb ``meta``: how good is a metric at sentences? One function for each question."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from grammeter import formats, meta
from grammeter.core import Ranking, ScoreTable, UsageError, check_home, checked
from grammeter.metrics import Metric, metric
from grammeter.ranking import Extraction, Unit
from grammeter.verbs._meta import PathLike, Scores, named_places, named_sources
from grammeter.verbs._using import fields_among

JudgmentSources = PathLike | Sequence[PathLike] | Sequence[Ranking] | formats.Ratings


@checked
def meta_sentence(
    scores: Scores, judgments: JudgmentSources = (), *, benchmark: str | None = None,
    first_segment: formats.FirstSegment | None = None, hyps: Sequence[PathLike] = (),
    extraction: Extraction = "expanded", ties: meta.TieRule = "no-ties",
    missing: meta.Missing = "refuse", resamples: int = 1000, unit: Unit = "sentence", seed: int = 1,
    confidence: float = 0.95, permutations: int = 0, metrics: Sequence[str] | None = None,
    systems: Sequence[str] | None = None, drop: Sequence[str] = (),
    judge: Sequence[str] | None = None, by_judge: bool = False, by_rule: bool = False,
    criterion: str | None = None, missing_score: float | None = None,
    layout: formats.Layout | None = None, scale: str | None = None,
) -> meta.SentenceLevel:  # fmt: skip
    """Hold the sentence scores of metrics against judgments of the same sentences.

    Raises :class:`UsageError` if no judgments are left, or judgments in the place of scores come
    from standard input; :class:`DataError`: see
    :func:`~grammeter.meta.segment.correlate_sentences`.

    Parameters
    ----------
    scores
        Scores with their sentences, or judgments in the place of scores; values, files, or
        several of these. Judgments on both sides count their sentences alike.
    judgments
        What they are held against: rankings, ratings, or files. Files of scores among them are
        scores. Ratings make pairs, and are numbers, too.
    benchmark
        In their place: ``gjg15``, ``seeda-e`` or ``seeda-s``; all files are scores then.
    first_segment, hyps
        The number that Appraise and WMT files give to the first sentence, and the outputs that
        were judged, against which judgments are checked; see :func:`read_judgments`.
    extraction, ties, missing, resamples, unit, seed, confidence, permutations
        See :class:`~grammeter.meta.sentence_level.SentenceDesign`.
    metrics, systems, drop
        What and who takes part; default: all.
    judge, by_judge
        Use the judgments of these alone; measure each judge's pairs apart, too.
    by_rule
        Measure by every rule for ties, too.
    criterion
        Of ratings: the criterion, or ``mean`` of all.
    missing_score, layout, scale
        Of ratings: see :func:`read_judgments`.
    """
    options = locals()
    asked = {name: options[name] for name in ("criterion", "missing_score", "layout", "scale")}
    more: Any = {"benchmark": benchmark, "first_segment": first_segment, "hyps": hyps}
    sources, rankings, criterion = _sides(scores, judgments, asked, **more)
    last = max(ranking.segment for ranking in rankings)
    table = meta.join_scores(sources, systems=systems, drop=drop, segments=last)
    if unit == "document" and (documents := (table.corpus or {}).get("documents")):
        named = formats.in_documents(rankings, documents, "the scores")
        files = isinstance(rankings, formats.Judgments)
        rankings = replace(rankings, rankings=named) if files else named
    design = meta.SentenceDesign(pairs=extraction, **fields_among(options, meta.SentenceDesign))
    result = meta.correlate_sentences(
        table, rankings, design=design, systems=systems, drop=drop, metrics=metrics,
        judges=judge, per_judge=by_judge, per_rule=by_rule, criterion=criterion,
    )  # fmt: skip
    return replace(result, notices=getattr(rankings, "notices", ()))


@checked
def meta_maege(
    corpus: formats.Corpus, metrics: Sequence[str | Metric], *, seed: int = 1, chains: int = 1,
    given: meta.Given = "source", against: meta.Against = "others", ties: meta.ChainTies = "half",
    pseudo: meta.Pseudo = "released", target: meta.Target = "nominal",
) -> meta.Maege:  # fmt: skip
    """Apply gold edits one after the other, and ask whether metrics follow (MAEGE).

    Raises :class:`UsageError` if a metric is named twice, there are no gold edits, or a metric
    needs what it does not get.

    Parameters
    ----------
    corpus
        Sentences with gold edits; needs no systems.
    metrics
        Spellings or metrics.
    seed, given, against, ties, pseudo, target
        See :class:`~grammeter.meta.maege.Design`.
    chains
        Orders of each annotator's edits; all, where there are fewer.
    """
    design = meta.MaegeDesign(max_orders=chains, **fields_among(locals(), meta.MaegeDesign))
    scorers = {str(name): metric(name) for name in metrics}
    if len(scorers) != len(metrics):
        raise UsageError("a metric is named twice", fix="Name each metric once.")
    references = corpus.references if corpus.text_rule == formats.GIVEN else ()
    result = meta.maege(corpus.sources, corpus.gold, scorers, references=references, design=design)
    notes = dict.fromkeys([*corpus.notes, *(scorer.notice for scorer in scorers.values())])
    return replace(result, notes=tuple(filter(None, notes)))


def _sides(
    scores: Scores, judgments: JudgmentSources, asked: Mapping[str, Any],
    *, benchmark: str | None, first_segment: formats.FirstSegment | None, hyps: Sequence[PathLike],
) -> tuple[dict[str, meta.Source], Sequence[Ranking], str | None]:  # fmt: skip
    """Return scores, people's rankings, and the criterion of ratings of which these are made.

    Files of neither ratings nor judgments are scores; files of judgments on both sides count their
    sentences alike. Standard input holds ratings if an option for them is set.
    """
    places, wanted = [*named_places(scores)], {n: of is not None for n, of in asked.items()}
    listed = [judgments] if isinstance(judgments, PathLike) else judgments
    paths = [str(path) for path in listed if isinstance(path, PathLike)]
    known = [path for path in paths if not benchmark]  # beside a benchmark all files are scores
    stdin, layout = any(wanted.values()), asked["layout"]
    rated = [p for p in known if (stdin if p == "-" else formats.is_rated(p, layout))]
    if rated or isinstance(judgments, formats.Ratings):
        of_files = {name: of for name, of in asked.items() if name != "criterion"}
        if rated:
            options: Any = {"systems": formats.read_outputs(hyps) if hyps else None, **of_files}
            read: Any = formats.read_judgments(rated, first_segment=first_segment, **options)
        else:
            check_home(False, "files", **{name: wanted[name] for name in of_files})
            read = judgments
        places += [(None, path) for path in paths if path not in rated]
        chosen: formats.Ratings = read.with_criterion(asked["criterion"])
        return named_sources(places), chosen.rankings(), chosen.criteria[0]
    check_home(False, "ratings", **wanted)
    if listed and not paths:
        return named_sources(places), cast("Sequence[Ranking]", listed), None
    if benchmark:
        if first_segment is not None:
            fix = "Leave --first-segment out."
            raise UsageError("a benchmark knows its first sentence", fix=fix)
        places += [(None, path) for path in paths]
        return named_sources(places), formats.benchmark(benchmark).read_judgments(), None
    people = [path for path in paths if path == "-" or formats.is_judged(path)]
    sources = named_sources([*places, *((None, path) for path in paths if path not in people)])
    files = {name or formats.metric_name(str(place)): str(place)
             for name, place in places if isinstance(place, PathLike)}  # fmt: skip
    judged = {n: path for n, path in files.items() if isinstance(sources.get(n), formats.Judgments)}
    if not people or "-" in judged.values():
        fault = "judgments in the place of scores come from a file, not from standard input"
        fault = fault if people else "judgments to hold the scores against are missing"
        raise UsageError(fault, fix="Give scores first, then judgments or --benchmark.")
    tables = [source for source in sources.values() if isinstance(source, ScoreTable)]
    rankings, *others = formats.read_sides(
        [people, *([path] for path in judged.values())],
        lambda paths: _judgments_of(tables, paths, first_segment, hyps),
        alone=len(judged) == len(sources),
    )
    return sources | dict(zip(judged, others, strict=True)), rankings, None


def _judgments_of(
    tables: Sequence[ScoreTable], paths: Sequence[str], first_segment: formats.FirstSegment | None,
    hyps: Sequence[PathLike],
) -> formats.Judgments:  # fmt: skip
    """Read judgments; the outputs that were scored tell the number of the first sentence."""
    first = first_segment
    if hyps:
        outputs = formats.read_outputs(hyps)
        return formats.read_rankings(paths, first_segment=first, systems=outputs)
    corpus = next((table.corpus for table in tables if table.corpus is not None), None)
    systems = None if corpus is None else formats.Corpus.from_dict(corpus).systems
    size = max((table.segments for table in tables), default=0)
    return formats.read_judgments_of(paths, systems, segments=size, first_segment=first)
