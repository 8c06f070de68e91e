"""What an organiser can take away, as the text of a file."""

from __future__ import annotations

import json
from dataclasses import dataclass

from grammeter.campaign.models import Campaign
from grammeter.campaign.services import results
from grammeter.corpus.judged import Form
from grammeter.corpus.judgments import format_judgments


@dataclass(frozen=True, slots=True)
class Download:
    """One kind of file.

    Attributes
    ----------
    suffix
        How the file's name ends.
    form
        The format of judgments; ``None``: every version of every answer, with all that is known.
    """

    label: str
    suffix: str
    content: str
    form: Form | None


DOWNLOADS = {
    "xml": Download("Appraise XML", ".xml", "application/xml", "appraise"),
    "csv": Download("WMT CSV", ".csv", "text/csv", "wmt"),
    "jsonl": Download("JSON lines", ".jsonl", "application/jsonl", "jsonl"),
    "details": Download("All versions", ".details.jsonl", "application/jsonl", None),
}


def text_of(campaign: Campaign, download: Download) -> str:
    """Return the text of the file, as ``grammeter campaign export`` writes it."""
    if download.form is not None:
        return format_judgments(results.judgments(campaign), download.form)
    rows = [results.header(campaign), *results.details(campaign)]
    return "".join(f"{json.dumps(row, ensure_ascii=False, allow_nan=False)}\n" for row in rows)
