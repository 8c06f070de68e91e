"""The page of formats lists every spelling that is read, and none that is not."""

from __future__ import annotations

import re
from pathlib import Path

from grammeter.formats import spellings

PAGE = Path(__file__).parents[2] / "docs" / "formats.md"


def listed():
    """The spellings of the page, by the words that begin its rows."""
    text = PAGE.read_text("utf-8").partition("(spellings)=")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.+?) \| (`.+) \|$", text, re.M)
    return {what: re.findall(r"`([^`<>]+)`", cells) for what, cells in rows}


def test_every_spelling_is_listed():
    page = listed()
    wanted = {
        "judge": spellings.JUDGE,
        "sentence": (*spellings.SENTENCE, "id"),
        "document": spellings.DOCUMENT,
        "languages": (*spellings.SOURCE_LANGUAGE, *spellings.TARGET_LANGUAGE),
        "item": (*spellings.ITEM, "id"),
        "system of a `<translation>`": spellings.SYSTEM,
        "rank of a `<translation>`": spellings.RANK,
    }
    for what, names in wanted.items():
        assert [spellings.plain(name) for name in page[what]] == [*names], what
    for what, number in (
        ("system N of a row", spellings.system_number),
        ("rank N of a row", spellings.rank_number),
    ):
        for name in page[what]:
            assert number(re.sub("N(?!ame)", "12", name, count=1)) == 12, name
