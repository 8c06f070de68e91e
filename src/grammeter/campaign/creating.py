"""Create a campaign, from a corpus or from the judgments of a finished evaluation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from inspect import signature
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from grammeter.campaign import commands, conf, services, status
from grammeter.campaign.criteria import NAME_LENGTH, read_checks, read_criteria
from grammeter.campaign.guidelines import read_guidelines
from grammeter.campaign.tasks import Kind, Strategy, Task, check_task
from grammeter.core import UnknownNameError, UsageError
from grammeter.formats import read_text

if TYPE_CHECKING:
    from grammeter.campaign.criteria import Check, RatingCriterion
    from grammeter.core import Item
    from grammeter.formats import Corpus, Judgments

_ASKING = (  # parameters for new judges
    *("strategy", "judges", "overlap", "repeats", "per_judge", "startup", "task"),
    *("tutorial", "attention"),
)
_NO_SETTINGS = ("corpus", "n", "items", "per_item", "select", "database")  # but parameters
_LIMITS = {  # of settings that are numbers
    "per_judge": (1, 10**9), "startup": (0, 10**9), "pass_threshold": (0, 1),
    "idle": (5, 86_400),  # seconds of a day
    "seed": (0, 2**63 - 1),  # largest integer of every database
}  # fmt: skip
LONGEST_ADDRESS = 2000


def campaign_create(
    name: str, corpus: Corpus,
    *, n: int | None = None, items: str | Path | Sequence[Item] | Judgments | None = None,
    per_item: int = 5, select: str = "paper", seed: int = 1, judges: int | None = None,
    strategy: str = "planned", overlap: float | int = 0, repeats: float | int = 0,
    per_judge: int | None = None, startup: int | None = None, task: str = "ranking",
    criteria: str | Path | Sequence[RatingCriterion] = (), guidelines: str | Path = "",
    consent: str | Path = "", background: bool = True,
    tutorial: str | Path | Sequence[Check] = (), idle: int = 60,
    attention: str | Path | Sequence[Check] = (), pass_threshold: float = 0.75,
    pass_code: str = "", fail_code: str = "", redirect: str = "", owner: Sequence[str] = (),
    database: str | Path = conf.DATABASE,
) -> status.CampaignProgress:  # fmt: skip
    """Create a campaign from a corpus.

    Raises :class:`UsageError` if both or none of ``n`` and ``items`` are given, a campaign of that
    name exists, or settings contradict each other; :class:`DataError` if a file cannot be read, or
    items do not fit the corpus.

    Parameters
    ----------
    name, corpus
        Of the campaign; sources and outputs.
    n, items
        Number of items to draw; else items, or judgments whose groups of outputs become items, or a
        file of either.
    per_item, select, seed
        Most distinct outputs of an item; weights of sentences, as in :func:`grammeter.sample`; seed
        of all choices.
    judges
        Planned number of judges; default: those of the items, or one.
    strategy
        ``planned``: each judge has a list; ``pool``: all draw from one; ``adaptive``: items where
        the ranking is least certain.
    overlap, repeats
        Items for several judges, and items that each judge sees twice: a share such as 0.2, or a
        count such as 40.
    per_judge, startup
        Pool: most items for one judge. Adaptive: judgments before the ranking plays a part.
    task
        What judges do with an item that names no task: ``ranking``; ``edits``: judge each edit,
        then rank; ``marks``: judge each edit; ``best-worst``; ``rating``; ``direct``: 0 to 100;
        ``post-edit``.
    criteria
        Criteria and scales of ``rating``, or a TOML file of them; default: grammaticality, fluency
        and meaning from 1 to 4.
    guidelines, consent, background
        Texts, or paths to them; judges must agree to ``consent``. Whether there is a questionnaire.
    tutorial, attention, pass_threshold
        Items with a known answer, or a file of them; share of attention items, 0 to 1, that must be
        right at the first try.
    idle
        Seconds without input after which a judge's active time stops.
    pass_code, fail_code, redirect
        Completion codes, and an address for the end; ``{code}`` in it stands for the code.
    owner
        Logins of the organisers who may see it; default: all.
    database
        An SQLite file, or ``postgresql://USER@HOST/NAME``.
    """
    values = locals()
    if (n is None) == (items is None):
        raise UsageError("items come from -n or from --items", fix="Give one of the two.")
    with commands.opened(database, make=True):
        chosen, notices, notes = _items(items, corpus)
        values["judges"] = _judges(judges, strategy, chosen)
        if items is not None:
            notes += _unused(values, ("select", "per_item"), "with --items nothing is drawn")
        return _created(values, chosen, None, notices, notes)


def campaign_import(
    name: str, corpus: Corpus, judgments: Judgments,
    *, n: int | None = None, strategy: str = "pool", database: str | Path = conf.DATABASE,
    **options: Any,
) -> status.CampaignProgress:  # fmt: skip
    """Create a campaign from the judgments of a finished evaluation.

    Raises :class:`DataError` if a judgment does not fit the corpus.

    Parameters
    ----------
    name, database
        As for :func:`campaign_create`.
    corpus, judgments
        Sentences with outputs; judgments that were read with its systems.
    n
        Number of new items for new judges, default: none.
    strategy
        For new judges: ``pool`` or ``adaptive``.
    options
        All others of :func:`campaign_create`, but ``items``.
    """
    given = signature(campaign_create).bind(name, corpus, n=n, strategy=strategy, **options)
    given.apply_defaults()
    if given.arguments["items"] is not None:
        raise UsageError("items in an import", fix="Give n, or make another campaign of them.")
    with commands.opened(database, make=True):
        notes = [*judgments.notes]
        scored = sum(ranking.scores is not None or bool(ranking.replies) for ranking in judgments)
        if scored:
            notes += [f"scores and replies of {scored} judgments are not imported; their ranks are"]
        if n is None:
            why = "without -n there are no new items, and nobody is asked"
            unused = ("select", "per_item", *_ASKING)
            notes += _unused(given.arguments, unused, why, strategy="pool")
        return _created(given.arguments, (), judgments, judgments.notices, notes)


def _created(
    values: dict[str, Any], items: Sequence[Item], judgments: Judgments | None,
    notices: tuple[str, ...], notes: list[str],
) -> status.CampaignProgress:  # fmt: skip
    plan = Plan(**values)
    tasks = {item.task or plan.task for item in items} or {plan.task}
    if plan.criteria and Task.RATING not in tasks:
        notes += ["--criteria had no effect: no item has the task 'rating'"]
    if judgments is None:
        notes += _idle_settings(plan, items)
    if values["n"] is not None:
        how = {name: values[name] for name in ("n", "select", "per_item")}
        items = services.campaigns.draw_items(plan, values["corpus"], **how)
    campaign = services.campaigns.create(plan, values["corpus"], items, judgments)
    return status.CampaignProgress.of(campaign, notices=notices, notes=tuple(notes))


def _items(
    items: str | Path | Sequence[Item] | Judgments | None, corpus: Corpus
) -> tuple[Sequence[Item], tuple[str, ...], list[str]]:
    """Return items, read from a file if necessary, with its notices and notes."""
    from grammeter.formats import STDIN, Judgments, is_items, items_of, read_items, read_rankings

    if isinstance(items, (str, Path)):
        listed = items == STDIN or is_items(items)
        items = read_items(items) if listed else read_rankings(items, systems=corpus.systems)
    if isinstance(items, Judgments):
        return items_of(items), items.notices, [*items.notes]
    return items or (), (), []


def _judges(count: int | None, strategy: str, items: Sequence[Item]) -> int:
    named = {name for item in items for name in item.judges}
    if named and count not in (None, len(named)):
        fault = f"--judges {count}, but the items name {len(named)}: {', '.join(sorted(named))}"
        raise UsageError(fault, fix="Leave out --judges, or take items that name no judges.")
    if named or count is None:
        return len(named) or (1 if strategy == "planned" else 0)
    return count


class Plan(SimpleNamespace):
    """The settings of a new campaign, from :func:`campaign_create`: its defaults, files read.

    ``judges`` is 0 where no number is planned. Raises :class:`UsageError` if they do not fit.
    """

    def __init__(self, **settings: Any) -> None:
        given = signature(campaign_create).bind_partial(**settings)
        given.apply_defaults()
        kept = {name: of for name, of in given.arguments.items() if name not in _NO_SETTINGS}
        super().__init__(**kept)
        self.judges = self.judges or 0
        for kind in (Kind.TUTORIAL, Kind.ATTENTION):
            if isinstance(checks := getattr(self, kind), (str, Path)):
                setattr(self, kind, read_checks(checks, loud=kind == Kind.TUTORIAL))
        if isinstance(self.criteria, (str, Path)):
            self.criteria = read_criteria(self.criteria)
        if isinstance(self.guidelines, Path):
            self.guidelines = read_guidelines(self.guidelines)
        if isinstance(self.consent, Path):
            self.consent = read_text(self.consent).replace("\0", "")
        self._check()

    def _check(self) -> None:
        from django.core.exceptions import ValidationError
        from django.core.validators import URLValidator

        for name, known in (("strategy", Strategy), ("task", Task)):
            UnknownNameError.check(name, getattr(self, name), list(known))
        for name, (least, most) in _LIMITS.items():
            if (value := getattr(self, name)) is not None and not least <= value <= most:
                option = f"--{name.replace('_', '-')}"
                raise UsageError(f"{option} {value}", fix=f"It goes from {least} to {most}.")
        for check in (*self.tutorial, *self.attention):
            check_task(check.task or self.task, "checkable", "an item with a known answer")
        planned, adaptive = self.strategy == Strategy.PLANNED, self.strategy == Strategy.ADAPTIVE
        texts = self.name, self.pass_code, self.fail_code
        longest = f"Give {NAME_LENGTH} characters at most."
        for wrong, fault, fix in (
            (max(map(len, texts)) > NAME_LENGTH, "a long name or completion code", longest),
            (not self.name.strip(), "a campaign without a name", "Give it one."),
            (not self.name.isprintable(), f"a campaign called {self.name!r}", "Give it a name."),
            (self.judges < planned, f"a plan for {self.judges} judges", "Say how many: --judges 3"),
            (planned and self.per_judge is not None, "--per-judge in a plan", "Pools have it."),
            (not adaptive and self.startup is not None, "--startup", "Adaptive campaigns have it."),
            (
                bool(self.pass_code) != bool(self.fail_code),
                *("only one of the completion codes", "Give both, --pass-code and --fail-code."),
            ),
            (len(self.redirect) > LONGEST_ADDRESS, "a long redirect", "Give a shorter address."),
        ):
            if wrong:
                raise UsageError(fault, fix=fix)
        try:
            URLValidator(["http", "https"])(self.redirect or "http://localhost")
        except ValidationError:
            fault = f"the redirect {self.redirect[:80]!r}"
            raise UsageError(fault, fix="Give an address with http or https.") from None


def _unused(
    values: Mapping[str, Any], names: Sequence[str], why: str, **usual: object
) -> Iterator[str]:
    """Yield a note on settings that are not the ``usual`` ones, and without effect."""
    parameters = signature(campaign_create).parameters
    usual = {name: parameters[name].default for name in names} | usual
    if changed := [name for name in names if values[name] != usual[name]]:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in changed)
        yield f"{options} had no effect: {why}"


def _idle_settings(plan: Plan, items: Sequence[Item]) -> Iterator[str]:
    """Yield a note for each setting without effect; ``items`` are those of a file, if any."""
    named, planned = any(item.judges for item in items), plan.strategy == "planned"
    for name in ("overlap", "repeats"):
        if named and getattr(plan, name):
            yield f"--{name} had no effect: the items say who sees them"
    if planned and not named and plan.judges == 1 and plan.overlap:
        yield "--overlap had no effect: there is one judge"
    if not planned and plan.judges and not plan.overlap:
        yield "--judges had no effect: any number may come; it says how many see items of --overlap"
    if not plan.attention:
        why = "there are no items with --attention"
        yield from _unused(vars(plan), ["pass_threshold"], why)
        if plan.fail_code:
            yield "--fail-code is given to nobody: without --attention everybody passes"
