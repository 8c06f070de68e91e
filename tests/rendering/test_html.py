"""The page as text: everything is there, nothing becomes markup, nothing asks the network."""

import base64
import hashlib
import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammeter.core import Column, Table
from grammeter.rendering import html
from grammeter.rendering.html import escaped, page_html, script_text, style_sheet
from grammeter.rendering.page import (
    Browser,
    DrawnEdit,
    Output,
    Page,
    PageSentence,
    Section,
)
from made_pages import DRAWING, HOSTILE, METRICS, hostile_page, made_browser, made_page

TEMPLATES = files("grammeter.rendering") / "templates"


class Elements(HTMLParser):
    """Reads a page as a browser does, as far as tags, attributes and texts go."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts, self.blocks = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, sorted(name for name, _ in attrs)))
        if tag in ("script", "style"):
            self.blocks.append((dict(attrs), ""))

    def handle_endtag(self, tag):
        self.tags.append(("/" + tag, []))

    def handle_data(self, data):
        if self.cdata_elem:
            attributes, text = self.blocks[-1]
            self.blocks[-1] = (attributes, text + data)
        else:
            self.texts.append(data)

    def handle_comment(self, data):
        raise AssertionError(data)

    def json(self):
        found = [text for attributes, text in self.blocks if "json" in attributes.get("type", "")]
        return [json.loads(text) for text in found]


def unpacked(page):
    """Read the sentences back, as ``data.js`` does."""
    head, *pieces = Elements(page).json()
    return head, [sentence for piece in pieces for sentence in piece]


def text_of(sentence, output):
    if len(output) == 4:
        return output[3]
    words, made, done = sentence[0].split(" ") if sentence[0] else [], [], 0
    for mark in output[1]:
        start, end, correction, _ = sentence[2][mark >> 2]
        if html.VERDICTS[mark & 3] != "missed":
            made += [*words[done:start], *([correction] if correction else [])]
            done = end
    return " ".join([*made, *words[done:]])


def shown(value, digits):
    return "NaN" if value is None else f"{value / 10**digits:.{digits}f}"


def browser_of(*sentences, metrics=(("m2", True),), systems=("A", "B")):
    return Browser(systems, metrics, sentences, "m2")


def packed_page(browser):
    return unpacked(page_html(made_page(browser)))


def test_everything_stands_on_the_page():
    page = made_page(made_browser())
    text = " ".join(Elements(page_html(page)).texts)
    wanted = [page.title, *sum(page.facts, ())]
    for section in page.sections:
        wanted += [section.title, *section.words, *section.captions]
        wanted += [drawing.caption for drawing in section.drawings]
        for table in section.tables:
            heads = [column.head for column in table.columns]
            wanted += [*heads, *sum(table.rows, ()), *table.notes]
    assert [each for each in wanted if each not in text] == []
    assert "Table 3." in text
    assert "Figure 1." in text


def test_a_table_says_what_it_is():
    text = page_html(made_page())
    assert '<caption id="table-2"><span><b>Table 2.</b> Of AMU</span></caption>' in text
    assert '<th scope="col" class="r">m2</th>' in text
    assert '<th scope="row" class="l"><bdi>CAMB</bdi></th>' in text
    assert '<td class="r"><strong>0.3733 b</strong></td>' in text
    assert "Bold: the best of its column." in text
    assert DRAWING.svg in text


def test_marks_stand_behind_their_cells():
    rows = [("A", 0.5), ("B", 0.4), ("C", 0.0)]
    marks = {(0, 1): " a", (1, 1): " a<"}
    table = Table.of(("s", Column("m2", "score", 1, best="high")), rows, marks=marks)
    text = page_html(Page("", (), (Section("a", "A", tables=(table,)),), None))
    cells = re.findall(r'<td class="r">(.*)</td>', text)
    assert cells == [
        "<strong>0.5</strong><sup>a\u00a0</sup>",
        "0.4<sup>a&lt;</sup>",
        "0.0<sup>\u00a0\u00a0</sup>",
    ]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_change_no_element(text):
    page = page_html(hostile_page(text))
    found = Elements(page)
    assert found.tags == Elements(page_html(hostile_page("word"))).tags
    assert "<script>alert" not in page
    assert "onerror=alert(1)>" not in page
    assert escaped(text) in page
    head, (sentence,) = unpacked(page)
    assert head["systems"] == [text, "other"]
    assert head["metrics"] == [[text, 1, 4]]
    assert sentence[1] == [text, None]
    assert sentence[2][0][2] == text


@given(st.text())
def test_no_text_leaves_its_script_element(text):
    written = html.script_json([text])
    assert not set("<>&\u2028\u2029") & set(written)
    assert json.loads(written) == [text]
    written.encode("utf-8")


@given(st.text())
def test_no_text_leaves_its_element(text):
    written = escaped(text)
    assert not set("<>\"'") & set(written)
    written.encode("utf-8")
    assert Elements(f"<p title='{written}'>{written}</p>").tags == [("p", ["title"]), ("/p", [])]


def test_the_page_asks_nothing_of_the_network():
    text = page_html(made_page(made_browser()))
    assert not re.search(r"https?:", text.replace("http://www.w3.org/", ""))
    assert not re.search(r"@import|url\(|\b(?:src|action|formaction|ping|srcset)=", text)
    links = re.findall(r'\bhref="([^"]*)"', text)
    assert {link[:1] for link in links} == {"#", "d"}
    assert [link for link in links if link[0] == "d"] == ["data:,"]
    code = script_text()
    for word in ("fetch", "XMLHttp", "import(", "innerHTML", "outerHTML", "insertAdjacent",
                 "document.write", "eval", "new Function", "WebSocket", "sendBeacon"):  # fmt: skip
        assert word not in code, word


def test_the_policy_allows_our_script_and_style_alone():
    text = page_html(hostile_page("word"))
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    assert "unsafe" not in policy
    blocks = [text for attributes, text in Elements(text).blocks if "type" not in attributes]
    for block, rule in zip(blocks, ("style-src", "script-src"), strict=True):
        digest = base64.b64encode(hashlib.sha256(block.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"
    assert text.index("Content-Security-Policy") < text.index("<style>")
    assert " style=" not in text


def test_sentences_come_back_as_they_were():
    browser = made_browser(6, 250)
    head, sentences = packed_page(browser)
    assert head["count"] == len(sentences) == 250
    for given_, found in zip(browser.sentences, sentences, strict=True):
        assert found[0] == given_.source
        assert tuple(found[1]) == given_.references
        for output, own in zip(given_.outputs, found[3], strict=True):
            assert tuple(own[0]) == output.systems
            assert len(own) == 3
            assert text_of(found, own) == output.text
            assert [shown(value, 4) for value in own[2]] == [
                "NaN" if math.isnan(value) else f"{value:.4f}" for value in output.values
            ]
            assert [drawn(head, found, mark) for mark in own[1]] == list(output.edits)


def drawn(head, sentence, mark):
    start, end, correction, kind = sentence[2][mark >> 2]
    verdict = html.VERDICTS[mark & 3]
    return DrawnEdit(start, end, correction, head["types"][kind][0], verdict)


def test_a_text_that_its_edits_do_not_make_is_written_down():
    overlapping = (DrawnEdit(0, 2, "x", "", "matched"), DrawnEdit(1, 2, "y", "", "spurious"))
    outside = (DrawnEdit(5, 9, "x", "", "matched"),)
    outputs = tuple(
        Output(text, (0,), edits, (1.0,))
        for text, edits in (("a c", ()), ("x", overlapping), ("a b x", outside), ("a  b ", ()))
    )
    _, (sentence,) = packed_page(browser_of(PageSentence("a b", (), outputs)))
    assert [own[3:] for own in sentence[3]] == [["a c"], ["x"], ["a b x"], []]


def test_white_space_of_a_source_does_not_shift_its_edits():
    output = Output("a x", (0,), (DrawnEdit(1, 2, "x", "", "matched"),), (1.0,))
    _, (sentence,) = packed_page(browser_of(PageSentence(" a\u00a0\tb ", (), (output,))))
    assert sentence[0] == "a b"
    assert text_of(sentence, sentence[3][0]) == "a x"


@pytest.mark.parametrize(
    ("values", "digits", "written"),
    [
        ((0.5, math.nan), 4, [5000, None]),
        ((0.00012345, -0.0), 7, [1234, 0]),
        ((-12.34567, math.inf), 4, [-123457, "Infinity"]),
        ((math.nan, 2000.0), 4, [None, 20000000]),
        ((1e-30, -math.inf), 9, [0, "-Infinity"]),
    ],
)
def test_values_are_rounded_once(values, digits, written):
    outputs = tuple(Output("a", (place,), (), (each,)) for place, each in enumerate(values))
    head, (sentence,) = packed_page(browser_of(PageSentence("a", (), outputs)))
    assert head["metrics"] == [["m2", 1, digits]]
    assert [own[2][0] for own in sentence[3]] == written


def test_a_long_sentence_and_an_empty_one():
    browser = made_browser(3, 4, length=300)
    empty = PageSentence("", ("", None), (Output("", (0, 1, 2), (), (math.nan,) * len(METRICS)),))
    head, sentences = packed_page(replace(browser, sentences=(*browser.sentences, empty)))
    assert head["count"] == 5
    assert len(sentences[0][0].split()) > 150
    assert text_of(sentences[4], sentences[4][3][0]) == ""


@pytest.mark.parametrize("systems", [0, 1])
def test_a_browser_without_sentences(systems):
    head, sentences = packed_page(Browser(("A",) * systems, (), (), None))
    assert head["count"] == 0
    assert sentences == []


def test_without_sentences_there_is_no_browser():
    text = page_html(made_page())
    assert 'id="sentence-browser"' not in text
    assert "application/json" not in text
    assert "#sentence-browser" not in text


@pytest.mark.parametrize(
    "table", [Table.of((), ()), Table.of(("system", "m2"), ()), Table.of(("x",), [("",)])]
)
def test_empty_tables(table):
    text = page_html(Page("", (), (Section("a", "A", tables=(table,)),), None))
    assert text.count("<table>") == text.count("</table>") == 1
    assert '<ul class="notes">' not in text


def test_what_html_cannot_hold_is_replaced():
    text = page_html(hostile_page("a\x00b\x1bc\ud800d\x85e"))
    text.encode("utf-8")
    assert "a\ufffdb\ufffdc\ufffdd\ufffde" in text
    assert unpacked(text)[0]["systems"][0] == "a\x00b\x1bc\ud800d\x85e"


@pytest.mark.slow
def test_twenty_systems_and_five_thousand_sentences_stay_small():
    """Also where no text is made by its edits, so that all of them are written down."""
    browser = made_browser(20, 5000, length=25)
    size = len(page_html(made_page(browser)).encode())
    apart = replace(browser, sentences=tuple(map(_with_texts_apart, browser.sentences)))
    larger = len(page_html(made_page(apart)).encode())
    outputs = sum(len(each.outputs) for each in browser.sentences)
    assert outputs > 80_000
    assert size < larger < 25_000_000


def _with_texts_apart(sentence):
    outputs = tuple(replace(own, text=own.text + " .") for own in sentence.outputs)
    return replace(sentence, outputs=outputs)


# Style


def palette(scheme):
    rules = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\);", style_sheet())
    return {name: (light, dark)[scheme] for name, light, dark in rules}


def contrast(one, other):
    """Return the contrast of two colours (WCAG 2.2, 1.4.3)."""

    def luminance(colour):
        channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_colours_can_be_read(scheme):
    colours = palette(scheme)
    for name in ("ink", "muted", "accent", "matched", "spurious", "missed"):
        for ground in ("paper", "surface", "accent-soft"):
            assert contrast(colours[name], colours[ground]) >= 4.5, (name, ground)
    for name in ("matched", "spurious", "missed"):
        for ink in (name, "ink"):
            assert contrast(colours[ink], colours[f"{name}-soft"]) >= 4.5, (ink, name)
    for name in ("control", *(f"series-{number}" for number in range(1, 7))):
        for ground in ("paper", "surface"):
            assert contrast(colours[name], colours[ground]) >= 3, (name, ground)
    assert contrast(("#1b1f24", "#ffffff")[scheme], colours["found"]) >= 4.5


def test_colours_stand_in_the_palette_alone():
    rest = "\n".join(
        (TEMPLATES / name).read_text("utf-8") for name in html.STYLES if name != "page.css"
    )
    assert set(re.findall(r"#[0-9a-f]{3,8}\b", rest)) <= {"#1b1f24", "#ffffff"}


def test_every_template_is_used_and_short():
    names = {each.name for each in TEMPLATES.iterdir()}
    assert names == {*html.STYLES, *html.SCRIPTS, "page.html", "browser.html"}
    for name in names:
        assert len((TEMPLATES / name).read_text("utf-8").splitlines()) < 450, name
