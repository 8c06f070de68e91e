"""The verb ``sample``: which sentences, and which of their outputs, to show to judges."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, overload

from grammeter.core import Item, ScoreTable, UsageError, check_home, checked
from grammeter.formats import Corpus
from grammeter.study import Distribution, Select, assign, distribution, judge_names
from grammeter.study import sample as draw

Task = Literal["ranking", "edits"]


@overload
def sample(corpus: Corpus, *, probabilities: Literal[True], **options: Any) -> Distribution: ...
@overload
def sample(
    corpus: Corpus, *, n: int, probabilities: Literal[False] = False, **options: Any
) -> tuple[Item, ...]: ...
@checked
def sample(
    corpus: Corpus,
    *, n: int | None = None, probabilities: bool = False, select: Select = "paper",
    per_item: int = 5, seed: int = 1, distinct: bool = False, scores: ScoreTable | None = None,
    metric: str | None = None, judges: int | Sequence[str] = (), overlap: int | None = None,
    sharers: int | None = None, repeats: int | None = None, task: Task = "ranking",
) -> tuple[Item, ...] | Distribution:  # fmt: skip
    """Draw items for human judgment: sentences, and which of their outputs are shown.

    Raises :class:`UsageError` if the numbers do not fit each other or the corpus.

    Parameters
    ----------
    corpus
        Whose systems are to be judged.
    n
        How many items.
    probabilities
        Instead of items: how likely each sentence is to be drawn.
    select, per_item, scores, metric
        What makes a sentence likely, how many outputs an item shows at most, and for ``spread``
        the scores that must differ and by which of their metrics; see
        :func:`grammeter.study.distribution`.
    seed, distinct
        Where the random numbers start; draw no sentence twice.
    judges, overlap, sharers, repeats
        Names of judges, or how many; items that several of them see, and how many (all); items
        that each sees twice. See :func:`grammeter.study.assign`.
    task
        Judges rank the outputs of an item, or call each edit valid or not (``edits``). Then its
        probability is that of one of its outputs, the sentence's times the share of outputs shown;
        :func:`grammeter.rank` by ``accept-rate`` weights with it.
    """
    check_home(scores is not None, "--scores", metric=metric)
    if isinstance(judges, int) and judges < 1:
        raise UsageError(f"--judges {judges}", fix="Leave it out, or plan for one judge at least.")
    names = judge_names(judges) if isinstance(judges, int) else [*judges]
    plan = {"overlap": overlap, "sharers": sharers, "repeats": repeats}
    check_home(bool(names), "--judges", **{name: plan[name] is not None for name in plan})
    source = distribution(
        corpus.systems, select=select, per_item=per_item, scores=scores, metric=metric
    )
    if probabilities:
        return source
    if n is None:
        raise UsageError("no number of items", fix="Say how many to draw: n=400.")
    items = draw(source, n=n, distinct=distinct, seed=seed)
    if task == "edits":
        items = tuple(map(_of_outputs, items))
    if not names:
        return items
    return assign(
        items, names, overlap=overlap or 0, sharers=sharers, repeats=repeats or 0, seed=seed
    )


def _of_outputs(item: Item) -> Item:
    shown = len(item.systems) / (item.distinct or len(item.systems))
    signature = item.signature and item.signature.extended({"task": "edits"})
    return replace(item, probability=(item.probability or 0) * shown, signature=signature)
