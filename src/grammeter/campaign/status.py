"""What the functions on campaigns return: progress, status, list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from grammeter.core import DataError

if TYPE_CHECKING:
    from grammeter.campaign.models import Campaign
    from grammeter.campaign.services.results import Progress
    from grammeter.core import Ranked
    from grammeter.ranking import Agreement


_SETTINGS = ("task", "strategy", "closed", "seed", "signature")


@dataclass(frozen=True, kw_only=True)
class CampaignProgress:
    """A campaign and its progress.

    Attributes
    ----------
    origin
        Version of grammeter, and digest of all texts.
    progress
        Counts of items, judgments, and of each judge.
    notices, notes
        Remarks on the files read, and on settings without effect.
    """

    campaign: str
    task: str
    strategy: str
    closed: bool
    seed: int
    signature: str
    origin: Mapping[str, Any]
    progress: Progress
    notices: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, campaign: Campaign, **remarks: Any) -> CampaignProgress:
        """Read it from the database."""
        from grammeter.campaign.services import results

        return cls(
            campaign=campaign.name,
            origin={key: value for key, value in campaign.origin.items() if key != "file"},
            progress=results.progress(campaign),
            **{name: getattr(campaign, name) for name in _SETTINGS},
            **remarks,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        data = {name: getattr(self, name) for name in ("campaign", *_SETTINGS, "origin")}
        return {"kind": "campaign-status", **data, "progress": asdict(self.progress)}


@dataclass(frozen=True, kw_only=True)
class CampaignStatus(CampaignProgress):
    """A campaign's progress, agreement and ranking so far.

    Attributes
    ----------
    agreement, ranking
        ``None`` if there are too few judgments.
    reasons
        ``agreement`` or ``ranking`` -> why it is ``None``.
    """

    agreement: Agreement | None = None
    ranking: Ranked | None = None
    reasons: Mapping[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def of(cls, campaign: Campaign, **remarks: Any) -> CampaignStatus:
        """Compute it from the database."""
        from grammeter.campaign.services import results

        measures: dict[str, Any] = {}
        reasons: dict[str, str] = {}
        for name, measure in (("agreement", results.agreement), ("ranking", results.ranking)):
            try:
                measures[name] = measure(campaign)
            except DataError as error:
                reasons[name] = error.message
        notes = dict.fromkeys(note for result in measures.values() for note in result.notes)
        progress = CampaignProgress.of(campaign, notes=tuple(notes), **remarks)
        return cls(**vars(progress), **measures, reasons=reasons)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        data = super().to_dict()
        for name, result in (("agreement", self.agreement), ("ranking", self.ranking)):
            data[name] = None if result is None else result.to_dict()
            if result is None:
                data[f"{name}_reason"] = self.reasons[name]
        return data | {"notes": list(self.notes)}


@dataclass(frozen=True)
class CampaignList:
    """All campaigns of a database, by name."""

    campaigns: tuple[CampaignProgress, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        rows = [campaign.to_dict() for campaign in self.campaigns]
        for row in rows:
            counts = row.pop("progress")
            row.update(counts, judges=len(counts["judges"]))
        return {"kind": "campaigns", "campaigns": rows}
