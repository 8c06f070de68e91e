"""The page of formats lists every spelling that is read, and none that is not."""

from __future__ import annotations

import re
from pathlib import Path

from grammeter.formats import foreign

PAGE = Path(__file__).parents[2] / "docs" / "formats.md"


def listed():
    """The spellings of the page, by the words that begin its rows."""
    text = PAGE.read_text("utf-8").partition("(spellings)=")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.+?) \| (`.+) \|$", text, re.M)
    return {what: re.findall(r"`([^`<>]+)`", cells) for what, cells in rows}


def test_every_spelling_is_listed():
    page = listed()
    wanted = {
        "judge": foreign.JUDGE,
        "sentence": (*foreign.SENTENCE, "id"),
        "document": foreign.DOCUMENT,
        "languages": (*foreign.SOURCE_LANGUAGE, *foreign.TARGET_LANGUAGE),
        "item": (*foreign.ITEM, "id"),
        "system of a `<translation>`": foreign.SYSTEM,
        "rank of a `<translation>`": foreign.RANK,
    }
    for what, names in wanted.items():
        assert [foreign.plain(name) for name in page[what]] == [*names], what
    for what, number in (
        ("system N of a row", foreign.system_number),
        ("rank N of a row", foreign.rank_number),
    ):
        for name in page[what]:
            assert number(re.sub("N(?!ame)", "12", name, count=1)) == 12, name
