"""Files for organisers to download."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from grammeter.campaign.models import Campaign
from grammeter.campaign.services import judges, results
from grammeter.formats import JudgmentForm, format_judgments


@dataclass(frozen=True, slots=True)
class Download:
    """One kind of file.

    Attributes
    ----------
    suffix
        Of the file's name.
    text
        Returns the text of the file, as ``grammeter campaign export`` writes it.
    """

    label: str
    suffix: str
    content: str
    text: Callable[[Campaign], str]


def details_text(campaign: Campaign) -> str:
    """Return every version of every answer, with all its data, as JSON lines."""
    return _lines([results.header(campaign), *results.details(campaign)])


def people_text(campaign: Campaign) -> str:
    """Return the judges' personal data, without judgments, as JSON lines."""
    return _lines(judges.people(campaign))


def _lines(rows: Iterable[Mapping[str, Any]]) -> str:
    return "".join(f"{json.dumps(row, ensure_ascii=False, allow_nan=False)}\n" for row in rows)


def _judgments_text(campaign: Campaign, *, form: JudgmentForm) -> str:
    return format_judgments(results.judgments(campaign), form)


_LINES = "application/jsonl"

DOWNLOADS = {
    "xml": Download(
        "Appraise XML", ".xml", "application/xml", partial(_judgments_text, form="appraise")
    ),
    "csv": Download("WMT CSV", ".csv", "text/csv", partial(_judgments_text, form="wmt")),
    "jsonl": Download("JSON lines", ".jsonl", _LINES, partial(_judgments_text, form="jsonl")),
    "details": Download("All versions", ".details.jsonl", _LINES, details_text),
    "people": Download("About the judges (personal)", ".people.jsonl", _LINES, people_text),
}
