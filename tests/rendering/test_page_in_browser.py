"""The page in a real browser: filters, orders, keys, figures, and how fast a large one opens."""

import math
import re
import statistics
import time

import pytest

import browsers
from grammeter.core import format_number
from grammeter.rendering.html import page_html
from made_pages import HOSTILE, METRICS, hostile_page, made_browser, made_page
from opened_pages import all_found, current, opened, search, shown

pytestmark = pytest.mark.slow

BROWSER = made_browser(5, 45)
HIDDEN_WORDS = ".unseen, .sign, .kind, .label"


@pytest.fixture(scope="module")
def browser():
    with browsers.browsing() as found:
        yield found


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(page_html(made_page(BROWSER)), encoding="utf-8")
    return path


@pytest.fixture
def page(browser, page_file):
    with opened(browser, page_file) as found:
        yield found


def numbers_where(test, browser=BROWSER):
    return [number for number, each in enumerate(browser.sentences, start=1) if test(each)]


def test_figures_and_texts_are_those_of_the_values(page):
    for number in shown(page):
        sentence = BROWSER.sentences[number - 1]
        article = page.locator(f'article[data-number="{number - 1}"]')
        assert article.locator(".texts dd").first.text_content() == sentence.source
        rows = article.locator(".output").evaluate_all(
            """(rows, hidden) => rows.map((row) => {
              const text = row.querySelector(".what p").cloneNode(true);
              text.querySelectorAll(`${hidden}, del, .missed ins`).forEach((e) => e.remove());
              const values = [...row.querySelectorAll(".value")];
              return [row.querySelector(".who").textContent, text.textContent,
                values.map((each) => [each.dataset.metric, each.querySelector("dd").textContent])];
            })""",
            HIDDEN_WORDS,
        )
        for (who, text, values), output in zip(rows, sentence.outputs, strict=True):
            assert who == ", ".join(BROWSER.systems[place] for place in output.systems)
            assert text.split() == output.text.split()
            assert values == [
                [name, format_number(value)]
                for (name, _), value in zip(METRICS, output.values, strict=True)
            ]


def test_edits_are_told_apart_without_colour(page):
    for number in shown(page):
        for place, output in enumerate(BROWSER.sentences[number - 1].outputs):
            row = page.locator(f'article[data-number="{number - 1}"] .output').nth(place)
            for verdict, sign in (("matched", "✓"), ("spurious", "✗"), ("missed", "○")):
                wanted = [edit for edit in output.edits if edit.verdict == verdict]
                boxes = row.locator(f".edit.{verdict}")
                assert boxes.count() == len(wanted)
                assert boxes.locator(".sign").all_text_contents() == [sign] * len(wanted)
                words = boxes.locator(".unseen").all_text_contents()
                assert sum(word.startswith(f"[{verdict}: ") for word in words) == len(wanted)
                inserted = boxes.locator("ins").all_text_contents()
                made = [edit.correction for edit in wanted if edit.correction]
                if verdict != "missed":
                    assert inserted == made
    assert page.locator(".legend .edit").count() == 3


def differ(sentence):
    return len(sentence.outputs) > 1


def disagree(sentence, pair=None):
    """Compare each two outputs by each two metrics, as they are shown."""
    for one, (_, one_higher) in enumerate(METRICS):
        for other, (_, other_higher) in enumerate(METRICS[:one]):
            if pair not in (None, {one, other}):
                continue
            sign = 1 if one_higher == other_higher else -1
            for a in sentence.outputs:
                for b in sentence.outputs:
                    first = round(a.values[one], 4) - round(b.values[one], 4)
                    second = sign * (round(a.values[other], 4) - round(b.values[other], 4))
                    if first < 0 < second:
                        return True
    return False


def has_edit(sentence, kind=None, verdict=None):
    return any(
        kind in (None, edit.type) and verdict in (None, edit.verdict)
        for output in sentence.outputs
        for edit in output.edits
    )


def has_text(sentence, test):
    texts = [sentence.source, *sentence.references, *(own.text for own in sentence.outputs)]
    return any(map(test, texts))


def option(page, select, start):
    """Return the value of the option of a select whose text begins so."""
    return page.locator(f"#{select} option").evaluate_all(
        "(all, start) => all.find(o => o.textContent.startsWith(start)).value", start
    )


def test_filters(page):
    page.check("#differ")
    assert all_found(page) == numbers_where(differ)
    page.uncheck("#differ")
    page.select_option("#disagree", "any")
    assert all_found(page) == numbers_where(disagree)
    page.select_option("#disagree", "0.3")
    wanted = numbers_where(lambda s: disagree(s, {0, 3}))
    assert 0 < len(wanted) < len(BROWSER.sentences)
    assert all_found(page) == wanted
    page.click("#reset")
    page.select_option("#type", option(page, "type", "M:DET"))
    assert all_found(page) == numbers_where(lambda s: has_edit(s, "M:DET"))
    page.select_option("#verdict", "spurious")
    assert all_found(page) == []
    assert page.inner_text("#found") == "none of 45 sentences"
    page.select_option("#type", "")
    wanted = numbers_where(lambda s: has_edit(s, None, "spurious"))
    assert all_found(page) == wanted
    assert page.inner_text("#found") == f"{len(wanted)} of 45 sentences"
    page.select_option("#type", option(page, "type", "R:SPELL"))
    page.select_option("#verdict", "matched")
    assert all_found(page) == numbers_where(lambda s: has_edit(s, "R:SPELL", "matched"))


def test_search(page):
    search(page, "SCHOOL t")
    wanted = numbers_where(lambda s: has_text(s, lambda text: "school t" in text))
    assert 0 < len(wanted) < 45
    assert all_found(page) == wanted
    search(page, "(a|the) school$")
    assert all_found(page) == []
    page.check("#regex")
    pattern = re.compile("(a|the) school$")
    assert all_found(page) == numbers_where(lambda s: has_text(s, pattern.search))
    before = all_found(page)
    search(page, "(a|the")
    assert "Not a regular expression" in page.inner_text("#query-fault")
    assert page.get_attribute("#query", "aria-invalid") == "true"
    assert shown(page) == before
    search(page, "")
    assert page.inner_text("#query-fault") == ""
    assert all_found(page) == list(range(1, 46))


def test_search_begins_while_one_types(page):
    page.locator("#query").press_sequentially("advice")
    wanted = numbers_where(lambda s: has_text(s, lambda text: "advice" in text))
    browsers.wait_for(page, lambda: page.inner_text("#found").startswith(f"{len(wanted)} of"))
    page.click("#regex")
    assert page.is_checked("#regex")
    assert page.evaluate("CSS.highlights.get('found').size") > 0


def key(sentence, metric, of, systems=frozenset(range(5))):
    """Return what a sentence is sorted by, from the values as they are shown."""
    values = [
        (round(own.values[metric], 4), len(systems & {*own.systems})) for own in sentence.outputs
    ]
    if of not in ("spread", "mean"):
        own = next(own for own in sentence.outputs if of in own.systems)
        return round(own.values[metric], 4)
    known = [value for value, n in values for _ in range(n) if not math.isnan(value)]
    if not known:
        return math.nan
    return max(known) - min(known) if of == "spread" else statistics.fmean(known)


@pytest.mark.parametrize("of", ["spread", "mean", 2])
def test_orders(page, of):
    page.select_option("#sort", "1")
    page.select_option("#of", str(of))
    for order, sign in (("up", 1), ("down", -1)):
        page.select_option("#order", order)
        keys = [key(BROWSER.sentences[number - 1], 1, of) for number in all_found(page)]
        assert len(keys) == 45
        known = [round(each, 9) for each in keys if not math.isnan(each)]
        assert all(map(math.isnan, keys[len(known) :]))
        assert known == sorted(known, reverse=sign < 0)
    assert len({*known}) > 30
    page.select_option("#sort", "")
    assert all_found(page) == list(range(45, 0, -1))


def test_systems_are_chosen(page):
    page.click("summary")
    page.click("#no-systems")
    assert page.locator(".output").count() == 0
    for place in (1, 3):
        page.locator(".systems input").nth(place).check()
    assert page.inner_text("#systems-count") == "2 of 5 shown"
    names = page.locator(".output .who bdi").all_text_contents()
    assert {*names} == {"SYS01", "SYS03"}
    assert len(names) == 2 * len(shown(page))
    page.check("#differ")
    assert all_found(page) == numbers_where(
        lambda s: not any({1, 3} <= {*own.systems} for own in s.outputs)
    )
    search(page, "school")
    assert all_found(page) == numbers_where(
        lambda s: not any({1, 3} <= {*own.systems} for own in s.outputs)
        and any(
            "school" in text
            for text in (
                s.source, *s.references, *(o.text for o in s.outputs if {1, 3} & {*o.systems})
            )
        )
    )  # fmt: skip


def test_keys(page):
    page.keyboard.press("j")
    assert current(page) == "Sentence 1"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("j")
    assert current(page) == "Sentence 3"
    assert page.evaluate("document.activeElement.dataset.number") == "2"
    page.keyboard.press("k")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("k")
    assert current(page) == "Sentence 1"
    for _ in range(20):
        page.keyboard.press("j")
    assert current(page) == "Sentence 21"
    assert shown(page)[0] == 21
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "query"
    page.keyboard.type("jk?")
    assert page.input_value("#query") == "jk?"
    assert not page.locator("#help").is_visible()
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.id") != "query"
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.uncheck("#shortcuts")
    page.keyboard.press("Escape")
    assert not page.locator("#help").is_visible()
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") != "query"


def test_the_address_keeps_what_is_seen(browser, page_file, page):
    page.select_option("#sort", "0")
    page.select_option("#of", "mean")
    page.select_option("#order", "down")
    page.check("#differ")
    page.keyboard.press("j")
    page.keyboard.press("j")
    there, address = shown(page), page.evaluate("location.hash")
    with opened(browser, page_file, address) as again:
        assert shown(again) == there
        assert current(again) == current(page)
        assert again.input_value("#of") == "mean"
    with opened(browser, page_file, "#s=37") as again:
        assert current(again) == "Sentence 37"
        top = again.locator("article[aria-current]").evaluate("a => a.getBoundingClientRect().y")
        assert 0 <= top < 200
        search(again, "no such words")
        again.evaluate("location.hash = '#s=2'")
        browsers.wait_for(again, lambda: again.locator("article[aria-current]").count())
        assert current(again) == "Sentence 2"
        assert again.input_value("#query") == ""


@pytest.mark.parametrize("address", ["#s=0", "#s=9999&type=none&sort=9.x&without=7.a", "#=", "#%"])
def test_an_address_that_does_not_fit_is_forgiven(browser, page_file, address):
    with opened(browser, page_file, address) as page:
        assert all_found(page) == list(range(1, 46))


def test_go_to_a_sentence_by_its_number(page):
    page.fill("#go", "30")
    page.press("#go", "Enter")
    assert current(page) == "Sentence 30"
    page.fill("#go", "46")
    page.press("#go", "Enter")
    assert page.inner_text("#found") == "No sentence 46: they are 1 to 45"


def test_tables_are_sorted_by_their_heads(page):
    table = page.locator("table").first
    rows = lambda: table.locator("tbody tr").evaluate_all(  # noqa: E731
        "rows => rows.map(r => r.cells[0].textContent)"
    )
    head = table.locator("th button").nth(2)
    head.click()
    assert rows() == ["AMU", "INPUT", "CAMB"]
    assert table.locator("th").nth(2).get_attribute("aria-sort") == "descending"
    head.focus()
    page.keyboard.press("Enter")
    assert rows() == ["INPUT", "AMU", "CAMB"]
    page.keyboard.press("Enter")
    assert rows() == ["AMU", "CAMB", "INPUT"]
    assert table.locator("[aria-sort]").count() == 0
    table.locator("th button").nth(1).click()
    assert rows() == ["CAMB", "AMU", "INPUT"]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_are_shown_as_texts(browser, tmp_path, text):
    path = tmp_path / "report.html"
    path.write_text(page_html(hostile_page(text)), encoding="utf-8")
    with opened(browser, path) as page:
        seen = page.locator("article .output").nth(1).text_content()
        assert " ".join(text.split()) in " ".join(seen.split())
        assert page.locator("article .who bdi").first.text_content() == text
        assert page.locator("h1").text_content().split() == text.split()
        assert page.locator("article script, article img, article svg").count() == 0
        page.select_option("#sort", "0")
        search(page, text)
        assert shown(page) == [1]
        page.check("#cards")
        page.check("#show-types")


def test_theme_is_kept(browser, page_file):
    context = browser.new_context(color_scheme="light")
    page = context.new_page()
    ground = "getComputedStyle(document.body).backgroundColor"
    page.goto(page_file.as_uri())
    light = page.evaluate(ground)
    page.select_option("#theme", "dark")
    dark = page.evaluate(ground)
    assert dark != light
    page.reload()
    assert page.evaluate(ground) == dark
    page.select_option("#theme", "auto")
    assert page.evaluate(ground) == light
    context.close()


@pytest.mark.parametrize("cards", [False, True])
def test_a_phone_shows_all_without_scrolling_sideways(browser, page_file, cards):
    with opened(browser, page_file, viewport=browsers.WIDTHS["phone"]) as page:
        page.locator("#cards").set_checked(cards)
        page.keyboard.press("j")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert page.locator("article .value dt").first.is_visible()


def test_paper_has_the_sentences_that_were_found(page):
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert len(shown(page)) == 45
    assert not page.locator("#filters").is_visible()
    assert not page.locator("nav").is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert len(shown(page)) == 20


def test_without_script_the_tables_are_there(browser, page_file):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(page_file.as_uri())
    assert page.locator("table").count() == 3
    assert "a script" in page.inner_text("noscript")
    assert not page.locator("#filters").is_visible()
    context.close()


def test_controls_have_names_and_ids_are_unique(page):
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("input, select, button, summary")].filter((e) =>
             !e.labels?.length && !e.textContent.trim() && !e.getAttribute("aria-label"))
             .map((e) => e.outerHTML)"""
    )
    assert nameless == []
    ids = page.locator("[id]").evaluate_all("all => all.map(e => e.id)")
    assert len({*ids}) == len(ids)
    for name in ("h1", "main", "nav"):
        assert page.locator(name).count() == 1
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    small = page.evaluate(
        """() => [...document.querySelectorAll("button, select, summary, .tick, nav a")]
             .filter((e) => e.checkVisibility() && e.getBoundingClientRect().height < 24)
             .map((e) => e.outerHTML)"""
    )
    assert small == []


def test_twenty_systems_and_five_thousand_sentences_open(browser, tmp_path, capsys):
    path = tmp_path / "large.html"
    path.write_text(page_html(made_page(made_browser(20, 5000, length=25))), encoding="utf-8")
    start = time.monotonic()
    with opened(browser, path) as page:
        page.wait_for_selector("article")
        seconds = time.monotonic() - start
        ready = page.evaluate(
            "performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"
        )
        assert page.locator("script.sentences").count() == 24  # one of 25 was read
        assert page.locator("article").count() == 10
        page.check("#differ")
        assert page.inner_text("#found").endswith("sentences")
        assert page.locator("*").count() < 40_000
    with capsys.disabled():
        size = path.stat().st_size / 1e6
        print(f"\n{size:.1f} MB opened in {seconds:.2f} s, ready after {ready / 1000:.2f} s")  # noqa: T201
    assert seconds < 30
