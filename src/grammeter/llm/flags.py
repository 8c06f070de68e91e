"""Sentences that seem to speak to the judge: they are flagged, nothing else is done about them.

Prompt injection cannot be told for sure from a sentence about, say, instructions. What a reply
may say is limited to one score from 1 to 5 a target; a report shows where to look.
"""

from __future__ import annotations

import re

_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(ignore|disregard|forget|override)\b.{0,40}\b(instructions?|rules?|prompts?|criteri\w+)\b",
        r"\b(give|assign|award|rate|score|grade)\b.{0,40}"
        r"\b([1-5]|one|five|full|highest|lowest|maximum|top|best)\s+(points?|scores?|marks?|ratings?)\b",
        r"\b(give|assign|award|rate|score|grade)\s+(it|this|me|us|that|them|all|every\w*)\b"
        r".{0,30}\b(5|five)\b",
        r"target\s*_?\d+\s*_?\s*score",
        r"#\s*(context|targets?|output format|rules)\b",
        r"\b(system|developer)\s+(prompt|message)\b",
        r"```|<\|\w+\|>|\[/?INST\]",
    )
)
"""Orders to set the task aside, scores asked for, parts of a prompt or of its reply."""


def suspicious(text: str) -> str | None:
    """Return the words for which a sentence is flagged, ``None`` if there are none."""
    found = (pattern.search(text) for pattern in _PATTERNS)
    return next((match[0] for match in found if match), None)
