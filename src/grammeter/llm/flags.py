"""Flag sentences that seem to address the judge.

Prompt injection cannot be distinguished with certainty from a sentence about, say, instructions,
so a flag changes nothing: a reply can only give each target one score from 1 to 5, and a report
shows where to look.
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
"""Orders to ignore the task, requests for scores, parts of a prompt or of a reply."""


def suspicious(text: str) -> str | None:
    """Return the words for which a sentence is flagged, ``None`` if there are none."""
    matches = (pattern.search(text) for pattern in _PATTERNS)
    return next((match[0] for match in matches if match), None)
