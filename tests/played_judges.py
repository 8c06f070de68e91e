"""Judges that sit before plain browsers without script, and rank by a rule."""

from __future__ import annotations

import html
import re
import zlib
from collections import Counter
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.parse import urlencode, urljoin
from urllib.request import HTTPCookieProcessor, Request, build_opener

_HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)"')
_CARD = re.compile(r'<p class="sentence unmarked" dir="auto">([^<]*)</p>')
_FORM = re.compile(r'<form id="item" method="post" action="([^"]*)"')


class Judge:
    """One browser, and who sits before it.

    Parameters
    ----------
    number
        Makes the slips of this judge differ from those of others.
    references
        Files of corrected sentences; a text is the better, the fewer words part it from one.
    """

    def __init__(self, number: int, references: list[Path]) -> None:
        self._number, self._answered = number, 0
        lines = [line for path in references for line in path.read_text("utf-8").splitlines()]
        self._known = [Counter(line.split()) for line in lines]
        self._open = build_opener(HTTPCookieProcessor(CookieJar())).open

    def work(self, link: str) -> int:
        """Open a link and answer all there is; return how many items that were."""
        address, page = self._get(link)
        while not address.endswith("/judge/done"):
            step = self._answer if _FORM.search(page) else self._on
            address, page = step(address, page)
        return self._answered

    def _answer(self, address: str, page: str) -> tuple[str, str]:
        self._answered += 1
        texts = [html.unescape(text) for text in _CARD.findall(page)]
        assert len(texts) > 1
        worth = [self._far(text) for text in texts]
        ranks = {
            f"rank-{at}": 1 + sum(other < distance for other in worth)
            for at, distance in enumerate(worth)
        }
        return self._post(address, page, {**ranks, "action": "submit"})

    def _on(self, address: str, page: str) -> tuple[str, str]:
        return self._post(address, page, {"agree": "yes", "empty": "yes"})

    def _far(self, text: str) -> int:
        words = Counter(text.split())
        far = min(max((words - one).total(), (one - words).total()) for one in self._known)
        slip = zlib.crc32(f"{self._number} {self._answered} {text}".encode()) % 3 == 0
        return far + slip

    def _get(self, address: str) -> tuple[str, str]:
        with self._open(address, timeout=60) as answer:
            return answer.url, answer.read().decode("utf-8")

    def _post(self, address: str, page: str, fields: dict[str, object]) -> tuple[str, str]:
        hidden = {name: html.unescape(value) for name, value in _HIDDEN.findall(page)}
        request = Request(
            address, urlencode({**hidden, **fields}).encode(), {"Referer": urljoin(address, "/")}
        )
        with self._open(request, timeout=60) as answer:
            return answer.url, answer.read().decode("utf-8")
