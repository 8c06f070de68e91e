"""Pages of judges in their language: chosen by the browser, or by the judge; right to left."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LANGUAGES = ("en", "ar", "cs", "de", "es", "ja", "sv", "zh-hans")


@pytest.fixture
def client(database):
    from django.test import Client

    return Client(headers={"host": "localhost"})


def words(page):
    return re.sub(r"<[^>]+>|\s+", " ", page)


def page(client, language, path="/"):
    return client.get(path, headers={"Accept-Language": language}).content.decode()


def test_each_language_has_its_words(client):
    pages = {language: page(client, language) for language in LANGUAGES}
    for language, text in pages.items():
        assert f'<html lang="{language}"' in text
        assert ('dir="rtl"' in text) == (language == "ar")
    assert len({words(text) for text in pages.values()}) == len(LANGUAGES)


def test_another_language_is_english(client):
    assert words(page(client, "tlh")) == words(page(client, "en"))


def test_a_judge_may_choose(client):
    client.post("/language", {"language": "sv", "next": "/"})
    assert '<html lang="sv"' in page(client, "de")


def test_organisers_read_english(client):
    assert '<html lang="en"' in page(client, "de", "/login")


@pytest.mark.parametrize("language", LANGUAGES[1:])
def test_scripts_have_their_words(client, language):
    assert "gettext" in page(client, language, "/words")
    assert page(client, language, "/words") != page(client, "en", "/words")


def test_no_text_lacks_a_translation():
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "messages", "--check"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
