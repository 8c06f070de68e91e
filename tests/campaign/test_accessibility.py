"""What a script can tell of WCAG 2.2 AA, page by page, at two widths, light and dark."""

import json
import random

import pytest

pytest.importorskip("whitenoise", reason="the extra 'campaign' is not installed")

import browsers
from browsers import Judge, invited, made

pytestmark = pytest.mark.slow

TUTORIAL = {
    "source": "He sing .",
    "outputs": ["He sings .", "He sing ."],
    "ranks": [1, 2],
    "explanation": "The verb agrees with its subject.",
    "loud": False,
}


@pytest.fixture(scope="module")
def browser():
    with browsers.browsing() as found:
        yield found


NAMES = """() => [...document.querySelectorAll('input, select, textarea, button, a')]
  .filter(e => e.type !== 'hidden')
  .filter(e => e.checkVisibility())
  .filter(e => !(e.labels && e.labels.length && e.labels[0].innerText.trim())
    && !e.getAttribute('aria-label') && !e.innerText.trim())
  .map(e => e.outerHTML)"""
TWICE = """() => { const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
  return ids.filter((id, at) => ids.indexOf(id) !== at) }"""
SMALL = """() => [...document.querySelectorAll('button, .button, summary, select, textarea, '
    + 'label.rank, label.tick, nav a')].filter(e => e.checkVisibility())
  .map(e => [e.getBoundingClientRect(), e.outerHTML])
  .filter(([box]) => box.width < 24 || box.height < 24).map(([box, html]) => html)"""
CONTRAST = """() => {
  const parse = text => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => { const f = c => { c /= 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4 };
    return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b) };
  const ground = e => { for (; e; e = e.parentElement) {
    const c = parse(getComputedStyle(e).backgroundColor);
    if (c.length === 3 || c[3] > 0) return c } return [255, 255, 255] };
  const poor = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !e.checkVisibility() || e.closest('.unseen')) continue;
    const style = getComputedStyle(e);
    const [a, b] = [light(parse(style.color)), light(ground(e))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5)
      poor.push([walker.currentNode.data.trim(), style.color, (a + 0.05) / (b + 0.05)]);
  }
  return poor }"""
WIDE = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
FOCUSED = """() => { const e = document.activeElement;
  if (e === document.body) return null;
  const style = getComputedStyle(e), label = getComputedStyle(e.closest('label') || e);
  const bar = document.querySelector('.answer');
  const box = e.getBoundingClientRect(), over = bar && bar.getBoundingClientRect();
  const hidden = bar && !bar.contains(e) && box.top >= over.top && box.bottom <= over.bottom;
  return [e.outerHTML.slice(0, 120) + (e.id || e.name || '') + (e.value || ''),
    style.outlineStyle !== 'none' || label.outlineStyle !== 'none', !hidden] }"""


def check_accessible(page):
    """Hold a page against what a script can tell of WCAG 2.2 AA."""
    where = page.url
    assert page.locator("html").get_attribute("lang") == "en"
    assert page.locator("h1").count() == 1, where
    assert page.title(), where
    assert page.evaluate(NAMES) == [], where
    assert page.evaluate(TWICE) == [], where
    assert page.evaluate(SMALL) == [], where
    assert page.evaluate(WIDE) == 0, f"{where} scrolls sideways"
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        assert page.evaluate(CONTRAST) == [], f"{where}, {scheme}"


def check_no_trap(page):
    """Tab goes through the whole page and out of it; the focus is seen everywhere."""
    page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    seen = []
    for _ in range(200):
        page.keyboard.press("Tab")
        found = page.evaluate(FOCUSED)
        if found is None or (seen and found[0] == seen[0]):
            break
        assert found[1], f"focus not visible: {found[0]}"
        assert found[2], f"focus covered: {found[0]}"
        assert found[0] not in seen, f"the focus goes in a circle at {found[0]}"
        seen.append(found[0])
    else:
        raise AssertionError("the keyboard is trapped")
    assert len(seen) > 1


@pytest.mark.parametrize("width", browsers.WIDTHS)
def test_every_page_is_accessible(browser, tmp_path, width):
    texts = {"consent.txt": "We study corrections.\n", "guidelines.txt": "Be fair.\n"}
    for name, text in {**texts, "tutorial.jsonl": json.dumps(TUTORIAL) + "\n"}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    made(
        tmp_path, "campaign.db", "--consent", "consent.txt", "--guidelines", "guidelines.txt",
        "--tutorial", "tutorial.jsonl", "--task", "edits", "--pass-code", "P", "--fail-code", "F",
    )  # fmt: skip
    password = browsers.grammeter("campaign", "organiser", "ann", "--make-password", cwd=tmp_path)
    with browsers.serving("campaign.db", tmp_path) as (base, _):
        context = browser.new_context(viewport=browsers.WIDTHS[width])
        page = context.new_page()
        links = invited(tmp_path, "campaign.db", base, "--judges", "2")
        for address in ("/", "/login", "/nowhere", "/join/invented/"):
            page.goto(base + address)
            check_accessible(page)
        page.goto(links[0])
        check_accessible(page)
        page.click("main button")
        check_accessible(page)
        page.check("input[name=agree]")
        page.click("main button")
        check_accessible(page)
        page.click("text=Leave it empty")
        check_accessible(page)
        page.click("main button")
        check_accessible(page)
        check_no_trap(page)
        judge = Judge(page, random.Random(1))
        while page.locator(".verdict:not(:has(:checked))").count():
            judge.press("v")
        page.evaluate("document.activeElement.blur()")
        judge.rank()
        page.click("text=Submit")
        page.wait_for_selector("#continue")
        check_accessible(page)
        page.click("#skip summary")
        check_accessible(page)
        page.click("text=My answers")
        check_accessible(page)
        page.goto(f"{base}/organise/")
        page.fill("#username", "ann")
        page.fill("#password", password.strip())
        page.click("main button")
        check_accessible(page)
        page.click("text=pilot")
        check_accessible(page)
        for tab in ("Results", "Judges and invites", "Audit log"):
            page.click(f"text={tab}")
            check_accessible(page)
        check_no_trap(page)
        context.close()
