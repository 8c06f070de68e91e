"""The settings of a batch run: plain values that travel to workers and into manifests."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Literal

from grammeter.core import UsageError
from grammeter.formats import ShardForm

EditsForm = Literal["m2", "list"]
"""Edits as ``A`` lines of M2 in one text, or as a list of objects."""

ERROR = "error"
"""The column that says why a row has no scores."""

LONGEST = 1_000
"""Default limit of tokens in a text: longer texts are no sentences, and the cost of an alignment
grows with the square of its length."""

LONGEST_TOKEN = 50
"""Limit of characters per token, on average over a text."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """The settings of a run; two runs with equal settings write equal rows.

    Attributes
    ----------
    metrics
        Spellings; each is a column.
    source, hypothesis, references
        The columns that hold the texts; a cell of references may be a list of texts. Of several
        references a row may lack some.
    keep
        The filter that a row must pass to be written, if any.
    edits
        Also write the edits of metrics that find some, in this form.
    longest
        A row with a longer text becomes a row with an error; so does one with a text of more
        than :data:`LONGEST_TOKEN` times as many characters.
    form
        The format of the output; ``None``: as the input.
    signatures
        Of the metrics, so that a run is not continued with other models.
    """

    metrics: tuple[str, ...]
    source: str = "source"
    hypothesis: str = "hypothesis"
    references: tuple[str, ...] = ()
    keep: str | None = None
    edits: EditsForm | None = None
    longest: int = LONGEST
    form: ShardForm | None = None
    signatures: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.metrics:
            raise UsageError("no metric", fix="Name one at least with -m.")
        if len(set(self.metrics)) != len(self.metrics):
            raise UsageError("a metric is named twice", fix="Name each metric once.")
        if self.longest < 1:
            raise UsageError(f"texts of {self.longest} tokens", fix="Use 1 or more.")
        if self.form == "text":
            raise UsageError("plain text has no columns", fix="Write jsonl, tsv, csv or parquet.")

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return json.loads(json.dumps(asdict(self)))
