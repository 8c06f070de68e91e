"""Guidelines for judges: Markdown, whose pictures are part of the text."""

import re
from base64 import b64encode
from pathlib import Path

from grammeter.core import DataError, require
from grammeter.formats import read_bytes, read_text

_PICTURE = re.compile(r"(!\[[^\]]*\]\()([^)\s]+)")
_KINDS = {".png": "png", ".jpg": "jpeg", ".jpeg": "jpeg", ".gif": "gif", ".webp": "webp"}
_LARGEST = 2**21  # bytes of a picture; each page of guidelines carries them all


def read_guidelines(path: Path) -> str:
    """Read a file of Markdown or plain text; pictures beside it become part of the text.

    Raises :class:`DataError`, with the line, for a picture that is absent, large, of an unknown
    kind, or on the network.
    """
    text = read_text(path).replace("\0", "")

    def held(match: re.Match[str]) -> str:
        name = match[2]
        where = f"{path}:{text.count(chr(10), 0, match.start()) + 1}"
        kind = _KINDS.get(Path(name).suffix.lower())
        if re.match(r"\w\w+:", name) or kind is None:
            fix = f"Save it beside the guidelines, as {', '.join(_KINDS)}."
            raise DataError(f"the picture {name[:60]!r}", where=where, fix=fix)
        if len(data := read_bytes(path.parent / name)) > _LARGEST:
            fault = f"the picture {name!r} has {len(data):,} bytes"
            raise DataError(fault, where=where, fix=f"Give one of {_LARGEST:,} at most.")
        return f"{match[1]}data:image/{kind};base64,{b64encode(data).decode()}"

    return _PICTURE.sub(held, text)


def html_of(text: str) -> str:
    """Write Markdown (CommonMark and tables) as HTML; HTML in it is shown, not obeyed."""
    markdown = require("markdown_it", extra="campaign")
    parser = markdown.MarkdownIt("commonmark", {"html": False, "breaks": True}).enable("table")
    return parser.render(text)
