"""Judges that sit before plain browsers without script, and rank, rate and mark by a rule."""

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
_SCORE = re.compile(r'name="(score-(\d+)-(\d+))" value="1"')
_VERDICT = re.compile(r'<fieldset class="verdict">.*?name="(edit-(\d+)-\d+)"', re.DOTALL)
_WRITTEN = re.compile(r"<ins>([^<]*)</ins>")
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
        worth = [self._far(text) for text in texts]
        answers: dict[str, object] = {}
        if 'name="rank-0"' in page:
            assert len(texts) > 1
            answers = {f"rank-{n}": 1 + sum(o < far for o in worth) for n, far in enumerate(worth)}
        for name, place, criterion in _SCORE.findall(page):  # meaning suffers less than form
            answers[name] = max(1, 4 - worth[int(place)] // (1 + int(criterion)))
        for verdict in _VERDICT.finditer(page):
            written = " ".join(_WRITTEN.findall(verdict[0])).split()
            nearest = min(self._known, key=lambda ref: self._apart(texts[int(verdict[2])], ref))
            fits = not (Counter(map(html.unescape, written)) - nearest)
            answers[verdict[1]] = "valid" if fits ^ self._slips(verdict[0], 12) else "invalid"
        return self._post(address, page, {**answers, "action": "submit"})

    def _on(self, address: str, page: str) -> tuple[str, str]:
        return self._post(address, page, {"agree": "yes", "empty": "yes"})

    def _far(self, text: str) -> int:
        return min(self._apart(text, ref) for ref in self._known) + self._slips(text, 3)

    @staticmethod
    def _apart(text: str, reference: Counter[str]) -> int:
        words = Counter(text.split())
        return max((words - reference).total(), (reference - words).total())

    def _slips(self, text: str, every: int) -> bool:
        return zlib.crc32(f"{self._number} {self._answered} {text}".encode()) % every == 0

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
