"""What the functions on campaigns return: progress, status, list."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grammeter.campaign import services
from grammeter.core import Column, Form, Result, Style, Table, UsageError, disk_faults, stamped
from grammeter.formats import bare_name, write_text

if TYPE_CHECKING:
    from grammeter.campaign.models import Campaign
    from grammeter.campaign.services.exports import Standing, TaskExport
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
        shape = {"kind": "campaign-status", **data, "progress": asdict(self.progress)}
        return stamped({**shape, "notes": [*self.notes]})


@dataclass(frozen=True, kw_only=True, repr=False)
class CampaignStatus(CampaignProgress):
    """A campaign's progress, agreement and ranking so far.

    - ``agreement``, ``ranking``: ``None`` if there are too few judgments.
    - ``tasks``: the result of each task but ``ranking``, see
      :class:`~grammeter.campaign.services.exports.Standing`.
    - ``reasons``: ``agreement``, ``ranking`` or a task -> why there is no result.
    """

    agreement: "Agreement | None" = None
    ranking: "Ranked | None" = None
    reasons: Mapping[str, str] = field(default_factory=dict[str, str])
    tasks: "Mapping[str, Standing]" = field(default_factory=dict[str, Any])

    @classmethod
    def of(cls, campaign: "Campaign", **settings: Any) -> "CampaignStatus":
        """Compute it from the database; ``settings`` are those of ``rank``."""
        measures, tasks, reasons = services.exports.standings(campaign, **settings)
        notes = dict.fromkeys(note for result in measures.values() for note in result.notes)
        notes = (*notes, *services.results.left_out(campaign))
        progress = CampaignProgress.of(campaign, notes=notes)
        return cls(**vars(progress), **measures, reasons=reasons, tasks=tasks)

    @property
    def sections(self) -> dict[str, Sequence[Table]]:
        """The tables of each result so far: the agreement, the ranking, and of each other task."""
        measured = {"agreement": self.agreement, "ranking": self.ranking}
        found = {name: one.tables() for name, one in measured.items() if one is not None}
        return found | {task: one.tables for task, one in self.tasks.items()}

    def tables(self, *, long: bool = False) -> Sequence[Table]:
        """Return the tables of judges, agreement (its means) and ranking, as far as there are."""
        sections = self.sections
        sections |= {"agreement": sections["agreement"][:1]} if self.agreement else {}
        rows = ((name, one) for name, tables in sections.items() for one in tables)
        titled = (
            replace(one, title=one.title or name * (name in self.tasks)) for name, one in rows
        )
        return [*super().tables(long=long), *titled]

    def write(self, style: Style | Form = "table", **options: Any) -> str:
        """Write the tables, and why some are missing."""
        missing = [f"no {name} yet: {reason}\n" for name, reason in self.reasons.items()]
        return "\n".join([super().write(style, **options), *missing])

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        data = super().to_dict()
        for name, result in (("agreement", self.agreement), ("ranking", self.ranking)):
            data[name] = None if result is None else result.to_dict()
            data |= {f"{name}_reason": self.reasons[name]} if name in self.reasons else {}
        results = {task: one.data for task, one in self.tasks.items()}
        return data | ({"tasks": results} if results else {})


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
            counts, *_ = (row.pop(name) for name in ("progress", "grammeter", "notes"))
            row.update(counts, judges=len(counts["judges"]))
        return stamped({"kind": "campaigns", "campaigns": rows})


@dataclass(frozen=True, kw_only=True)
class CampaignExport:
    """The answers of a campaign, by task, as files that other verbs read.

    - ``exports``: for each task its files, and the numbers of answers and skipped items.
    - ``notices``, ``notes``: what the files do not hold.
    """

    campaign: str
    exports: "tuple[TaskExport, ...]"
    notices: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, campaign: "Campaign") -> "CampaignExport":
        """Read it from the database."""
        tasks = services.results.normal_tasks(campaign)
        exports = tuple(services.exports.export(campaign, task) for task in tasks)
        notes = tuple(note for one in exports for note in one.notes)
        return cls(campaign=campaign.name, exports=exports, notes=notes)

    @property
    def text(self) -> str:
        """The answers to the only task as JSON lines; raise ``UsageError`` if there are more."""
        if len(self.exports) > 1:
            tasks = ", ".join(one.task for one in self.exports)
            fault = f"{self.campaign} has several tasks ({tasks}), and one file cannot hold them"
            raise UsageError(fault, fix="Name a folder: -o results/")
        return next(iter(self.exports[0].files.values()), "") if self.exports else ""

    def save(self, output: str | Path) -> None:
        """Write all files to a folder, or the only one to a file."""
        folder = is_folder(output)
        files = {name: text for one in self.exports for name, text in one.files.items()}
        if not folder:
            text = self.text  # of one task only
            if len(files) > 1 or Path(bare_name(output)).suffix != ".jsonl":
                fault = f"{self.campaign}: {output} is no place for these answers"
                raise UsageError(fault, fix="Name a folder, such as results/, or one .jsonl file.")
            files = {"": text}
        for name, text in files.items():
            with disk_faults(path := Path(output, name), "Name another place."):
                path.parent.mkdir(parents=True, exist_ok=True) if folder else None
            write_text(path, text)


def is_folder(output: str | Path | None) -> bool:
    """Whether files are written into a folder of this name: it ends in a slash, or is there."""
    return output is not None and (str(output).endswith(("/", os.sep)) or Path(output).is_dir())
