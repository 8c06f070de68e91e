"""``edits from-suggestions``: the suggestions of a checker as edits."""

from collections.abc import Sequence
from pathlib import Path

from grammeter import core
from grammeter.formats import M2Block, SuggestionForm, TextReader, read_suggestions
from grammeter.verbs._extract import UNCHANGED, ExtractedEdits


@core.checked
def edits_from_suggestions(
    suggestions: str | Path, source: str | Path | Sequence[str],
    *, form: SuggestionForm = "languagetool", best: int = 1,
) -> ExtractedEdits:  # fmt: skip
    """Turn what a checker suggests into edits of tokens, typed by the checker's rules.

    The place of a suggestion is widened to whole tokens. A suggestion that overlaps an earlier one,
    or changes white space alone, is left out, and a note says how many are. Scored as any output,
    the M2 file is the text with all first suggestions taken.

    Raises :class:`DataError`, with file and line, for a file of another form, and for places
    outside the text; :class:`UsageError` if ``best`` is below 0.

    Parameters
    ----------
    suggestions
        What the checker wrote, see :mod:`grammeter.formats.suggestions`.
    source
        The text that the checker read, a sentence on each line: a file, or the sentences.
    form
        The checker.
    best
        How many suggestions of a place count as right, the first one first; 0: where only, as edits
        of the type ``UNK``, which correct nothing.
    """
    if best < 0:
        raise core.UsageError(f"best={best}", fix="Use 0 or more.")
    reader = TextReader()
    is_file = isinstance(source, str | Path)
    lines = reader.sentences(source) if is_file else list(source)
    blocks: list[M2Block] = []
    crossed = blank = silent = 0
    for line, of in zip(lines, read_suggestions(suggestions, lines, form), strict=True):
        tokens = line.split()
        edits = [suggestion.edit(line, best) for suggestion in of]
        silent += sum(not suggestion.texts for suggestion in of)
        changing = [
            edit
            for edit in edits
            if edit.type in core.DETECTION_ONLY
            or any(text.split() != tokens[edit.start : edit.end] for text in edit.corrections)
        ]
        kept, left_out = core.without_overlaps(changing)
        crossed, blank = crossed + len(left_out), blank + len(edits) - len(changing)
        blocks.append(M2Block(" ".join(tokens), tuple((0, edit) for edit in kept or [UNCHANGED])))
    counts = {
        "overlap an earlier one; they are left out": crossed,
        "change white space alone; they are left out": blank,
        "say where, not what: edits of the type UNK": silent if best else 0,
    }
    notes = [f"{count} suggestions {what}" for what, count in counts.items() if count]
    return ExtractedEdits(tuple(blocks), (), (*reader.remarks(), *notes))
