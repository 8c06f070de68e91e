"""Items x a judging metric -> rankings: a language model, or a script, as one more judge."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, overload

from grammeter import core, formats, llm, resources
from grammeter.metrics import Judging, plain
from grammeter.metrics import metric as make_metric
from grammeter.verbs._judged import Judged

BEST = 5  # the highest score, which becomes rank 1

SCRIPTED = "llm-s(model=scripted)"  # what the script stands for; no model has this name
NOWHERE: Any = {"base_url": "http://scripted.localhost/v1", "cache_dir": "off", "concurrency": 64}
Body = Mapping[str, Any]
Shown = core.Item | core.Ranking
"""Which outputs of which sentence stand side by side; a ranking says it, too."""


_Corpus = formats.Corpus | None
_Items = Sequence[Shown] | None


@overload
def judge(
    corpus: _Corpus = None, items: _Items = None, *, dry_run: Literal[False] = False,
    submit: None = None, **o: Any,
) -> Judged: ...  # fmt: skip
@overload
def judge(
    corpus: _Corpus = None, items: _Items = None, *, dry_run: Literal[True], submit: None = None,
    **o: Any,
) -> llm.Estimate: ...  # fmt: skip
@overload
def judge(
    corpus: _Corpus = None, items: _Items = None, *, submit: str | Path,
    dry_run: Literal[False] = False, **o: Any,
) -> llm.Submission: ...  # fmt: skip
@core.checked
def judge(
    corpus: formats.Corpus | None = None, items: Sequence[Shown] | None = None,
    *, metric: str | Judging | None = None, benchmark: str | None = None, prompt: str | None = None,
    per_output: int | None = None, permute: int | None = None, repeats: int | None = None,
    seed: int | None = None, coverage: float | None = None, dry_run: bool = False,
    submit: str | Path | None = None, collect: str | Path | None = None, demo: bool = False,
) -> Judged | llm.Estimate | llm.Submission:  # fmt: skip
    """Let a language model judge items as people do, at the endpoint of :func:`using`.

    Raises :class:`UsageError` or :class:`DataError` if the metric uses no language model, or an
    item does not fit the corpus; :class:`LimitReachedError` if a ceiling of the endpoint is
    reached, and the cache has the answers so far; :class:`RemoteError` or
    :class:`MissingResourceError` if the endpoint fails, or its package or key is missing.

    Parameters
    ----------
    corpus
        Sources, for the context, and the outputs that items name; two systems at least.
    items
        From a campaign, or judgments, whose ranks are ignored; by default
        :func:`covering_items`, the same sets as in ``score``.
    metric
        ``llm-s`` or ``llm-e`` with a model.
    benchmark
        Sources, outputs and items of a data set, ``seeda-s``, ``seeda-e`` or ``gjg15``, in place
        of ``corpus`` and ``items``: the model judges what people judged.
    prompt
        ``paper``, ``hardened`` or a file with a prompt, see :class:`~grammeter.llm.Protocol`;
        default of this and the following: as ``metric`` says.
    per_output
        Without ``items``: sets in which each output is shown.
    permute, repeats
        Orders in which each item is shown, and how often each order is asked; scores are means.
    seed
        Of the draws of sets and orders.
    coverage
        The share of the items that must have scores, 0 to 1; see :attr:`Judged.shortfall`.
    dry_run
        Return the calls, tokens and cost that it would take; nothing is sent.
    submit
        Write the calls that the cache does not answer into this folder, as files of the batch API;
        nothing is sent or judged.
    collect
        Read the results of these files in this folder into the cache, then judge from the cache
        alone; items whose results are missing are skipped, see :attr:`Judged.notes`.
    demo
        Judge what people judged in the sample corpus, by a script in place of a model: closeness
        to the references. All else but ``metric`` is left out.
    """
    if sum(map(bool, (dry_run, submit, collect, demo))) > 1:
        fix = "Do one."
        raise core.UsageError("--dry-run, --submit, --collect, --demo are four things", fix=fix)
    metric = judging_metric(
        SCRIPTED if demo and metric is None else metric, prompt=prompt, per_output=per_output,
        permute=permute, repeats=repeats, seed=seed, coverage=coverage,
    )  # fmt: skip
    corpus, items = _material(corpus, items, benchmark, demo=demo)
    check_shown(corpus, items, per_output)
    shown = covering_items(corpus, metric) if items is None else items
    questions = [_question(corpus, item) for item in shown]
    if dry_run:
        return metric.panel.estimate(metric.seen(questions))
    if submit is not None:
        panel = metric.panel
        return llm.Batch(submit).submit(panel.model, panel.calls(metric.seen(questions)))
    batch = None if collect is None else llm.Batch(collect)
    with llm.using(llm.Endpoint(**NOWHERE)) if demo else nullcontext():
        answered = Scripted().answered if demo else batch and batch.collect
        opinions = metric.panel.ask(metric.seen(questions), answered)
        remarks = [*corpus.notes, *(items.notes if isinstance(items, formats.Judgments) else ())]
        drawn = any(showing.part for opinion in opinions for showing in opinion.showings)
        if seed is not None and items and not (metric.permutations > 1 or metric.shuffle or drawn):
            idle = "no order was drawn (--permute), and no item had to be cut"
            remarks.append(f"--seed had no effect: {idle}")
        pairs = zip(shown, opinions, strict=True)
        rankings = tuple(_ranking(str(metric), *pair) for pair in pairs)
        flags = tuple(dict.fromkeys(_flags(corpus, shown)))
        said = (rankings, tuple(opinions), flags, metric.signature())
        remarks += batch.notes if batch else ()
        return Judged(*said, deepcopy(llm.current().bill), metric.coverage, tuple(remarks))


def _material(
    corpus: formats.Corpus | None, items: _Items, benchmark: str | None, *, demo: bool
) -> tuple[formats.Corpus, _Items]:
    alone = demo or benchmark is not None
    if (corpus is None) != alone or (demo and benchmark) or (alone and items is not None):
        fix = "Give --source and --hyps, with or without --items, or --benchmark NAME alone,"
        fix += " or --demo."
        raise core.UsageError("sources, outputs and items come from one place", fix=fix)
    if demo:  # the sample corpus, and what its invented judges said of it
        folder = resources.sample_corpus()
        outputs = sorted(folder.glob("systems/*.txt"))
        corpus = formats.read_corpus(source=folder / "source.txt", systems=outputs)
        return corpus, formats.read_rankings(folder / "judgments.xml", systems=corpus.systems)
    if corpus is not None:
        return corpus, items
    known = formats.benchmark(benchmark or "")
    return known.read_corpus(), known.read_judgments()


def judging_metric(metric: str | Judging | None, **settings: float | str | None) -> Judging:
    """Return a metric with settings of :func:`judge`, those that are not ``None``."""
    made = None if metric is None else make_metric(metric)
    if not isinstance(made, Judging):
        fault = "no metric (-m)" if made is None else f"{made} asks no language model"
        fix = 'Name one that does: "llm-s(model=NAME)" or "llm-e(model=NAME)".'
        raise core.UsageError(fault, fix=fix)
    settings["permutations"] = settings.pop("permute", None)
    changes: Any = {name: value for name, value in settings.items() if value is not None}
    return replace(made, **changes)


def check_shown(corpus: formats.Corpus, items: object, per_output: int | None) -> None:
    """Raise :class:`UsageError` if there is nothing to compare, or said twice what is shown."""
    if len(corpus.systems) < 2:
        alone = "one system alone: there is nothing to compare"
        message = alone if corpus.systems else "no system outputs"
        raise core.UsageError(message, fix="Give two at least (--hyps).")
    if items is not None and per_output is not None:
        raise core.UsageError("--items say what is shown", fix="Leave out --per-output.")


def covering_items(corpus: formats.Corpus, metric: Judging) -> tuple[core.Item, ...]:
    """Return items that show every distinct output in at least ``per_output`` of them.

    A sentence for which all systems wrote the same has one item with one output.
    """
    settings = {"per_output": metric.per_output, "seed": metric.seed}
    signature = core.Signature.of("judge-items", settings)
    items: list[core.Item] = []
    for line, source in enumerate(corpus.sources):
        systems = corpus.systems.items()
        groups = core.grouped((plain(outputs[line]), name) for name, outputs in systems)
        sets = llm.draw_sets(
            source, list(groups), times=metric.per_output, seed=metric.seed, size=metric.set_size
        )
        for number, shown in enumerate(sets, start=len(items) + 1):
            behind = tuple(tuple(groups[text]) for text in shown)
            systems, distinct = tuple(names[0] for names in behind), len(groups)
            item = core.Item(segment=line + 1, systems=systems, groups=behind, distinct=distinct)
            items.append(replace(item, item=str(number), signature=signature))
    return tuple(items)


def _question(corpus: formats.Corpus, item: Shown) -> llm.Question:
    """Return the texts that an item shows, with their context."""
    if not 1 <= item.segment <= len(corpus):
        raise _misfit(item, f"there are {len(corpus)} sentences")
    line = item.segment - 1
    texts: list[str] = []
    for names in item.groups:
        for name in names:
            where = f"system in an item of segment {item.segment}"
            core.UnknownNameError.check(where, name, corpus.systems)
        written = {plain(corpus.systems[name][line]) for name in names}
        if len(written) > 1:
            raise _misfit(item, f"{', '.join(names)} did not write the same")
        texts += written
    return shown_together(corpus, line, texts)


def shown_together(corpus: formats.Corpus, line: int, texts: Sequence[str]) -> llm.Question:
    """Return texts of the sentence at ``line``, from 0, with the sentences around it."""
    before, source, after = (
        corpus.sources[at] if 0 <= at < len(corpus) else "" for at in (line - 1, line, line + 1)
    )
    return llm.Question(before, source, after, tuple(texts))


def _misfit(item: Shown, reason: str) -> core.DataError:
    name = "" if item.item is None else f" {item.item!r}"
    fault = f"item{name} of segment {item.segment} does not fit the outputs: {reason}"
    fix = "Give the sources and outputs that the items were made from, all their sentences."
    return core.DataError(fault, fix=fix)


def _ranking(judge: str, item: Shown, opinion: llm.Opinion) -> core.Ranking:
    scores = opinion.scores if opinion.due else None
    ranks = (1,) * len(item.groups)  # equal outputs are a tie
    if opinion.due:
        mean = len(opinion.outcomes) > 1 or llm.current().read == "likelihood"
        ranks = () if scores is None else _ranks(scores, mean=mean)
    return core.Ranking(
        judge=judge, segment=item.segment, groups=item.groups, ranks=ranks, item=item.item,
        skipped=not item.groups or (opinion.due and scores is None),
        scores=(None,) * len(item.groups) if scores is None else scores,
        replies=tuple(_reply_json(order, reply) for order, reply in opinion.replies),
    )  # fmt: skip


def _reply_json(order: Sequence[int], reply: llm.Reply) -> dict[str, Any]:
    """Return a reply in the form of judgments; ``order`` has the groups as shown, from 0."""
    scores = None if reply.scores is None else [*reply.scores]
    return {
        "text": reply.text, "scores": scores, "order": [*order], "attempt": reply.attempt,
        "tokens": [*reply.tokens], "seconds": round(reply.seconds, 3), "finish": reply.finish,
        "read": reply.state, "repairs": [*reply.repairs],
        **({"fault": reply.reason} if scores is None else {}),
        "model": reply.answered_by, "settings": {**reply.settings},
    }  # fmt: skip


def _ranks(scores: Sequence[float], *, mean: bool) -> tuple[int, ...]:
    """Turn scores into ranks: 6 minus a score, or the place of a mean among the others."""
    if not mean:
        return tuple(BEST + 1 - int(score) for score in scores)
    best_first = sorted(set(scores), reverse=True)
    return tuple(best_first.index(score) + 1 for score in scores)


def _flags(corpus: formats.Corpus, items: Sequence[Shown]) -> Iterator[str]:
    for item in items:
        for line in range(max(item.segment - 2, 0), min(item.segment + 1, len(corpus))):
            if words := llm.suspicious(corpus.sources[line]):
                yield f"segment {line + 1}, source: {words!r}"
        for name in (group[0] for group in item.groups if group):
            if words := llm.suspicious(corpus.systems[name][item.segment - 1]):
                yield f"segment {item.segment}, {name}: {words!r}"


class Scripted:
    """Takes one point of five off for each word that the nearest reference has not, or more of."""

    identity = "scripted"

    def __init__(self) -> None:
        files = [resources.sample_corpus() / name for name in ("ref0.txt", "ref1.txt")]
        texts = [file.read_text("utf-8") for file in files]
        self._known = [Counter(line.split()) for text in texts for line in text.splitlines()]

    def answered(self, model: str, calls: Sequence[llm.Call]) -> list[llm.Outcome]:
        """Answer calls as a model would: by text that is read as any reply."""
        return llm.ask(model, calls, self)

    def check(self, requests: Sequence[Body]) -> None:
        """Refuse nothing."""

    def answer(self, requests: Sequence[Body]) -> Iterator[list[tuple[int, Body]]]:
        """Yield all replies."""
        yield [(place, self._reply(request)) for place, request in enumerate(requests)]

    def _reply(self, request: Body) -> Body:
        prompt: str = request["messages"][-1]["content"]
        targets = prompt.partition("# targets\n")[2].partition("\n\n")[0].split("\n")
        points = {f"target{number}_score": self._points(re.sub(r"^\d+\. ", "", target))
                  for number, target in enumerate(targets, start=1)}  # fmt: skip
        message = {"role": "assistant", "content": json.dumps(points)}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        nothing = {"prompt_tokens": 0, "completion_tokens": 0}
        return {"model": self.identity, "choices": [choice], "usage": nothing}

    def _points(self, target: str) -> int:
        words = Counter(target.split())
        far = (max((words - near).total(), (near - words).total()) for near in self._known)
        return max(1, 5 - min(far))
