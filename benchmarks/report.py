"""A report of 20 systems and 5,000 sentences: to write it, its size, and to open it in chromium.

Usage: python benchmarks/report.py [SYSTEMS SENTENCES]      (default: 20 5000)

Sentences of 25 words are drawn at random (the tests' helpers, so from a clone). The naive twin
writes each output out, without any packing.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from rows import Goal, Row, show
from stopwatch import cpu, peak

import browsers
import opened_pages
from grammeter.rendering import Browser, page_html
from made_pages import made_browser, made_page


def main() -> int:
    systems, sentences = map(int, sys.argv[1:] or (20, 5000))
    return show(rows(systems=systems, sentences=sentences))


def rows(shared: Path | None = None, *, systems: int = 20, sentences: int = 5000) -> Iterator[Row]:
    del shared  # sentences are made up
    browser = made_browser(systems, sentences, length=25)
    page = made_page(browser)
    work = f"report of {systems} systems x {sentences:,} sentences"
    seconds, text = cpu(lambda: page_html(page))
    yield Row(f"{work}: to write it", seconds, memory=peak())
    size = len(text.encode()) / 1e6
    yield Row(f"{work}: its size", size, "MB", "each output written out", plain_size(browser),
              goals=(Goal(25),))  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        path.write_text(text, encoding="utf-8")
        yield opened(f"{work}: to open it in chromium", path)


def opened(work: str, path: Path) -> Row:
    if browsers.CHROMIUM is None:
        return Row(work, float("nan"), "s wall", problem="no chromium on this machine")
    with browsers.browsing() as browser:
        start = time.monotonic()
        with opened_pages.opened(browser, path) as page:
            page.wait_for_selector("article")
            return Row(work, time.monotonic() - start, "s wall", goals=(Goal(3),))


def plain_size(browser: Browser) -> float:
    """Return the megabytes of the sentences as JSON, nothing told by numbers."""
    return sum(len(json.dumps(asdict(sentence))) for sentence in browser.sentences) / 1e6


if __name__ == "__main__":
    sys.exit(main())
