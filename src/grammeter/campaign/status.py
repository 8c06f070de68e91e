"""What the functions on campaigns return: progress, status, list."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from grammeter.campaign import services
from grammeter.core import Column, DataError, Form, Result, Style, Table

if TYPE_CHECKING:
    from grammeter.campaign.models import Campaign
    from grammeter.campaign.services.results import Progress
    from grammeter.core import Ranked
    from grammeter.ranking import Agreement


_SETTINGS = ("task", "strategy", "closed", "seed", "signature")


@dataclass(frozen=True, kw_only=True, repr=False)
class CampaignProgress(Result):
    """A campaign and its progress: counts of items, judgments, and of each judge.

    - ``origin``: version of grammeter, and digest of all texts.
    - ``notices``, ``notes``: remarks on the files read, and on settings without effect.
    """

    campaign: str
    task: str
    strategy: str
    closed: bool
    seed: int
    signature: str
    origin: Mapping[str, Any]
    progress: "Progress"
    notices: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, campaign: "Campaign", **remarks: Any) -> "CampaignProgress":
        """Read it from the database."""
        return cls(
            campaign=campaign.name,
            origin={key: value for key, value in campaign.origin.items() if key != "file"},
            progress=services.results.progress(campaign),
            **{name: getattr(campaign, name) for name in _SETTINGS},
            **remarks,
        )

    def tables(self, *, long: bool = False) -> Sequence[Table]:
        """Return a row for each judge."""
        progress, rows = self.progress, list[tuple[Any, ...]]()
        for judge in progress.judges:
            planned = "-" if judge.planned is None else judge.planned
            right = f"{judge.attention_right}/{judge.attention}" if judge.attention else "-"
            counts = planned, judge.done, judge.skipped, right, f"{judge.active_seconds / 60:.1f}"
            rows.append((judge.judge, judge.state, *counts))
        heads = ("planned", "done", "skipped", "attention", "minutes")
        submitted = progress.done + progress.skipped
        far = f"{submitted} of {progress.planned} judgments handed in"
        if self.strategy != "planned" or progress.planned is None:
            places = f"{progress.taken} of {progress.wanted} places taken, repeats aside"
            far = f"{submitted} judgments handed in; {places}"
        end = "; closed" if self.closed else ""
        note = f"{self.campaign}: {progress.items} items; {far}, {progress.skipped} skipped{end}"
        return [Table.of(("judge", "state", *Column.many("count", *heads)), rows, (note,))]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        data = {name: getattr(self, name) for name in ("campaign", *_SETTINGS, "origin")}
        return {"kind": "campaign-status", **data, "progress": asdict(self.progress)}


@dataclass(frozen=True, kw_only=True, repr=False)
class CampaignStatus(CampaignProgress):
    """A campaign's progress, agreement and ranking so far.

    - ``agreement``, ``ranking``: ``None`` if there are too few judgments.
    - ``reasons``: ``agreement`` or ``ranking`` -> why it is ``None``.
    """

    agreement: "Agreement | None" = None
    ranking: "Ranked | None" = None
    reasons: Mapping[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def of(cls, campaign: "Campaign", **remarks: Any) -> "CampaignStatus":
        """Compute it from the database."""
        measures, reasons = dict[str, Any](), dict[str, str]()
        for name in ("agreement", "ranking"):
            try:
                measures[name] = getattr(services.results, name)(campaign)
            except DataError as error:
                reasons[name] = error.message
        notes = dict.fromkeys(note for result in measures.values() for note in result.notes)
        progress = CampaignProgress.of(campaign, notes=tuple(notes), **remarks)
        return cls(**vars(progress), **measures, reasons=reasons)

    def tables(self, *, long: bool = False) -> Sequence[Table]:
        """Return the tables of judges, agreement and ranking, as far as there are any."""
        tables = [*super().tables(long=long)]
        if self.agreement is not None:
            kappas = {"between": self.agreement.inter, "within": self.agreement.intra}
            rows = [(name, kappa.value, kappa.n) for name, kappa in kappas.items()]
            columns = ("judges", Column("kappa", "number"), Column("comparisons", "count"))
            tables.append(Table.of(columns, rows, (str(self.agreement.signature),)))
        return tables if self.ranking is None else [*tables, *self.ranking.tables(long=long)]

    def write(self, style: Style | Form = "table", **options: Any) -> str:
        """Write the tables, and why some are missing."""
        missing = [f"no {name} yet: {reason}\n" for name, reason in self.reasons.items()]
        return "\n".join([super().write(style, **options), *missing])

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        data = super().to_dict()
        for name, result in (("agreement", self.agreement), ("ranking", self.ranking)):
            data[name] = None if result is None else result.to_dict()
            if result is None:
                data[f"{name}_reason"] = self.reasons[name]
        return data | {"notes": list(self.notes)}


@dataclass(frozen=True, repr=False)
class CampaignList(Result):
    """All campaigns of a database, by name."""

    campaigns: tuple[CampaignProgress, ...]

    def tables(self, *, long: bool = False) -> Sequence[Table]:
        """Return a row for each campaign."""
        rows: list[tuple[str | int, ...]] = []
        for row in self.campaigns:
            state, done = "closed" if row.closed else "open", row.progress
            counts = done.items, len(done.judges), done.done, done.skipped
            rows.append((row.campaign, state, row.task, row.strategy, *counts))
        heads = Column.many("count", "items", "judges", "done", "skipped")
        return [Table.of(("campaign", "state", "task", "strategy", *heads), rows)]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        rows = [campaign.to_dict() for campaign in self.campaigns]
        for row in rows:
            counts = row.pop("progress")
            row.update(counts, judges=len(counts["judges"]))
        return {"kind": "campaigns", "campaigns": rows}
