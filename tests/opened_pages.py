"""A report opened from disk in a real browser, and what one sees of its sentences."""

from __future__ import annotations

import re
from contextlib import contextmanager

import browsers


@contextmanager
def opened(browser, path, address="", **context):
    """Open a page from disk; in the end it must have had no fault and asked for nothing."""
    found = browser.new_context(**{"viewport": browsers.WIDTHS["desktop"], **context})
    page = found.new_page()
    page.set_default_timeout(15000)
    faults, asked = [], []
    page.on("pageerror", lambda fault: faults.append(str(fault)))
    page.on("console", lambda line: faults.append(line.text))
    page.on("dialog", lambda dialog: faults.append(dialog.message))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{path.as_uri()}{address}")
    yield page
    assert faults == []
    assert {re.sub("[#?].*", "", url) for url in asked} == {path.as_uri()}
    found.close()


def shown(page):
    """Return the numbers of the sentences on the page that is shown."""
    return page.locator("article").evaluate_all("all => all.map(a => Number(a.dataset.number) + 1)")


def all_found(page):
    """Turn all pages and return the numbers of all sentences that were found."""
    numbers = shown(page)
    while page.locator(".next").first.is_enabled():
        page.locator(".next").first.click()
        numbers += shown(page)
    return numbers


def search(page, text):
    page.fill("#query", text)
    page.press("#query", "Enter")


def current(page):
    return page.locator('article[aria-current="true"] h3').inner_text()
