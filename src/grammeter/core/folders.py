"""Where caches lie."""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "GRAMMETER_CACHE"
"""Names the folder of caches; ``off`` does without."""

OFF = "off"


def cache_folder(given: str | Path | None = None) -> Path | None:
    """Return the folder of caches; ``None`` where there shall be none.

    Parameters
    ----------
    given
        A folder, ``off``, or ``None``: that of ``GRAMMETER_CACHE``, else the user's.
    """
    chosen = str(given or os.environ.get(VARIABLE) or "")
    if chosen == OFF:
        return None
    if chosen:
        return Path(chosen).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "grammeter"
