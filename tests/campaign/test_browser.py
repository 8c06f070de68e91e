"""Judges and organisers in a real browser: by keyboard, through lost connections."""

import json
import random
import re
import shutil
from dataclasses import dataclass, field

import pytest

pytest.importorskip("whitenoise", reason="the extra 'campaign' is not installed")

import browsers
from grammeter.resources import sample_corpus

pytestmark = pytest.mark.slow

ITEMS = 20
PASSWORD = "a long and quiet evening"
TUTORIAL = {
    "source": "He sing .",
    "outputs": ["He sings .", "He sing ."],
    "ranks": [1, 2],
    "explanation": "The verb agrees with its subject.",
    "loud": False,
}


@dataclass
class Judge:
    """Somebody before a keyboard, and what they said."""

    page: object
    random: random.Random
    said: dict[str, list[int]] = field(default_factory=dict)

    def at_item(self) -> bool:
        return "/judge/items/" in self.page.url

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def rank(self) -> list[int]:
        """Rank all corrections of the item by digits."""
        self.page.wait_for_selector("#item")
        size = self.page.locator(".card").count()
        ranks = [self.random.randint(1, size) for _ in range(size)]
        if self.page.locator(".ranking :checked").count():
            # a card that is ranked is current only once the focus is in it
            self.page.locator(".card").first.locator(".ranking :checked").focus()
        self.press(*map(str, ranks))
        self.said[self.page.url] = ranks
        return ranks

    def leave(self, *keys: str) -> None:
        """Press keys, and wait for the page that they lead to."""
        before = self.page.url
        self.press(*keys)
        until_left(self.page, before)

    def answer(self) -> None:
        self.rank()
        self.leave("Enter")


@pytest.fixture(scope="module")
def browser():
    with browsers.browsing() as found:
        yield found


def come_in(browser, link, seed, **context):
    """Open an invite, and go to the first item by keyboard."""
    page = browser.new_context(**context).new_page()
    page.set_default_timeout(15000)
    faults = []
    page.on("pageerror", lambda fault: faults.append(str(fault)))
    judge = Judge(page, random.Random(seed))
    page.goto(link)
    while not judge.at_item():
        if page.locator("input[name=agree]").count():
            page.locator("input[name=agree]").focus()
            judge.press("Space")
        page.locator("main button").first.focus()
        judge.leave("Enter")
    judge.faults = faults
    return judge


def status(page) -> str:
    return page.locator("#status").inner_text()


def until_said(page, words):
    browsers.wait_for(page, lambda: words in status(page))


def until_left(page, before, seconds=20):
    browsers.wait_for(page, lambda: page.url != before, seconds)
    page.wait_for_load_state()


def made(folder, database, *options, judges=2):
    sample = sample_corpus()
    browsers.grammeter(
        "campaign", "create", "pilot", "--database", database, "-s", sample / "source.txt",
        "--hyps", *sorted((sample / "systems").glob("*.txt")), "-n", ITEMS, "--judges", judges,
        "--overlap", "1.0", "--seed", "1", *options, cwd=folder,
    )  # fmt: skip


def invited(folder, database, base, *who):
    told = browsers.grammeter(
        "campaign", "invite", "pilot", "--database", database, "--base-url", base, *who, cwd=folder
    )
    return told.split()


@pytest.fixture(scope="module")
def pilot_file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pilot")
    made(folder, "campaign.db")
    return folder / "campaign.db"


@pytest.fixture
def pilot(pilot_file, tmp_path):
    """A folder with a database of its own, and the campaign in it."""
    shutil.copy(pilot_file, tmp_path)
    return tmp_path


@pytest.fixture(params=["sqlite", "postgresql"])
def any_database(request, tmp_path):
    if request.param == "sqlite":
        yield "campaign.db"
        return
    pytest.importorskip("psycopg", reason="the extra 'postgres' is not installed")
    with browsers.postgresql(tmp_path / "cluster") as address:
        yield address


def test_two_judges_by_keyboard_through_trouble(browser, any_database, tmp_path):
    made(tmp_path, any_database)
    with browsers.serving(any_database, tmp_path) as (base, _):
        links = invited(tmp_path, any_database, base, "--judges", "2")
        one, two = (come_in(browser, link, seed) for seed, link in enumerate(links))
        for turn in range(ITEMS):
            if one.at_item():
                offline_once(one) if turn == 4 else one.answer()
            if two.at_item():
                reload_once(two) if turn == 3 else two.answer()
            if turn == 8:
                correct_the_last(two)
        for judge in (one, two):
            assert judge.page.url == f"{base}/judge/done", "not finished"
            assert judge.faults == []
            assert (
                judge.page.evaluate("Object.keys(localStorage).filter(k => k.includes('answer'))")
                == []
            )
        check_export(tmp_path, any_database, (one, two))
        check_organiser(browser, tmp_path, any_database, base)


def offline_once(judge):
    """Lose the connection, hand in twice with a change in between, and get it back."""
    page, before = judge.page, judge.page.url
    judge.rank()
    page.context.set_offline(True)
    judge.press("Enter")
    until_said(page, "No connection")
    judge.press("Enter", "Enter")
    judge.rank()
    judge.press("Enter")
    page.wait_for_timeout(300)
    assert page.url == before
    page.context.set_offline(False)
    until_left(page, before)


def reload_once(judge):
    """Reload in the middle of an item; what was chosen is still there."""
    page = judge.page
    judge.press("1", "2")
    until_said(page, "Saved")
    page.reload()
    page.wait_for_selector("#item")
    assert [rank.get_attribute("value") for rank in page.locator(".ranking :checked").all()] == [
        "1",
        "2",
    ]
    judge.answer()


def correct_the_last(judge):
    judge.leave("b")
    assert judge.page.url in judge.said
    before = judge.said[judge.page.url]
    while judge.rank() == before:
        pass
    judge.leave("Enter")


def check_export(folder, database, judges):
    """Every judgment stands in the export once, as it was meant."""
    browsers.grammeter(
        "campaign", "export", "pilot", "--database", database, "-o", "judgments.jsonl",
        "--details", "details.jsonl", cwd=folder,
    )  # fmt: skip
    rows = [json.loads(line) for line in (folder / "details.jsonl").read_text("utf-8").splitlines()]
    final: dict[tuple[str, int], dict] = {}
    for row in rows[1:]:
        if row["complete"]:
            final[row["judge"], row["position"]] = row
    exported = (folder / "judgments.jsonl").read_text("utf-8").splitlines()
    assert len(exported) == len(final) == 2 * ITEMS
    for name, judge in zip(("judge01", "judge02"), judges, strict=True):
        asked = [
            row for key, row in sorted(final.items()) if key[0] == name and not row["automatic"]
        ]
        # addresses hold the numbers of assignments, which ascend with the position
        meant = [
            judge.said[url] for url in sorted(judge.said, key=lambda url: int(url.split("/")[-2]))
        ]
        assert [row["ranks"] for row in asked] == meant
        for row in asked:
            assert 0 < row["active_seconds"] <= row["wall_seconds"] < 120


def check_organiser(browser, folder, database, base):
    """The organiser's page says what ``rank`` and ``agree`` say of the export."""
    password = browsers.grammeter(
        "campaign", "organiser", "ann", "--database", database, "--make-password", cwd=folder
    ).strip()
    page = browser.new_context().new_page()
    page.goto(f"{base}/organise/")
    page.fill("#username", "ann")
    page.fill("#password", password)
    page.click("main button")
    page.click("text=pilot")
    with page.expect_request("**/progress", timeout=15000) as renewed:
        pass
    assert renewed.value.headers["hx-request"] == "true"
    assert page.locator("#progress tbody tr").count() == 2
    page.click("text=Results")
    shown = page.locator("main").inner_text()
    ranked = json.loads(
        browsers.grammeter("rank", "judgments.jsonl", "--format", "json", cwd=folder)
    )
    table = page.locator("table").first.locator("tbody tr").all()
    for row, system in zip(table, ranked["systems"], strict=True):
        cells = row.locator("th, td").all_inner_texts()
        low, high = system["ranks"]
        ranks = str(low) if low == high else f"{low}–{high}"
        assert cells[:4] == [
            str(system["cluster"]), system["system"], f"{system['score']:.4f}", ranks
        ]  # fmt: skip
    agreed = json.loads(
        browsers.grammeter("agree", "judgments.jsonl", "--format", "json", cwd=folder)
    )
    assert f"{agreed['pairs']['judge01|judge02']['kappa']:.3f}" in shown
    page.context.close()


def test_an_answer_outlives_its_session_and_the_server(browser, pilot):
    with browsers.serving("campaign.db", pilot) as (base, _):
        (link, _) = invited(pilot, "campaign.db", base, "--judges", "2")
        judge = come_in(browser, link, 1)
        page, before = judge.page, judge.page.url
        judge.rank()
        page.context.clear_cookies()
        judge.press("Enter")
        until_said(page, "session")
        assert page.url == before
        (again,) = invited(pilot, "campaign.db", base, "--judge", "judge01")
        other = page.context.new_page()
        other.goto(again)
        assert other.url.startswith(f"{base}/judge/")
        page.bring_to_front()
        page.evaluate("dispatchEvent(new Event('online'))")
        until_left(page, before)
        other.close()
        port = int(base.rpartition(":")[2])
        judge.page.wait_for_selector("#item")
        second = judge.page.url
        judge.rank()
        until_said(page, "Saved")
    judge.press("Enter")  # nobody answers
    until_said(page, "No connection")
    with browsers.serving("campaign.db", pilot, port):
        until_left(page, second, 40)
        check_final(pilot, judge)
    page.context.close()


def check_final(folder, judge):
    out = browsers.grammeter("campaign", "export", "pilot", "--quiet", cwd=folder)
    ranks = [json.loads(line) for line in out.splitlines()]
    asked = [row["ranks"] for row in ranks if len(row["ranks"]) > 1]
    assert asked == list(judge.said.values())


def test_an_answer_from_a_page_that_was_closed_is_sent_by_the_next_one(browser, pilot):
    with browsers.serving("campaign.db", pilot) as (base, _):
        judge = come_in(browser, invited(pilot, "campaign.db", base, "--judges", "2")[0], 3)
        page, context = judge.page, judge.page.context
        judge.rank()
        context.set_offline(True)
        judge.press("Enter")
        until_said(page, "No connection")
        page.close()
        context.set_offline(False)
        fresh = context.new_page()
        fresh.goto(f"{base}/judge/answers")
        browsers.wait_for(
            fresh,
            lambda: (
                fresh.evaluate("Object.keys(localStorage).filter(k => k.includes('answer')).length")
                == 0
            ),
        )
        check_final(pilot, judge)
        context.close()


def test_skip_comment_switch_and_shortcuts(browser, pilot):
    with browsers.serving("campaign.db", pilot) as (base, _):
        judge = come_in(browser, invited(pilot, "campaign.db", base, "--judges", "2")[0], 3)
        page = judge.page
        assert page.locator(".marked").first.is_visible()
        judge.press("e")
        assert not page.locator(".marked").first.is_visible()
        assert page.locator(".unmarked").first.is_visible()
        page.reload()
        assert not page.locator(".marked").first.is_visible()
        judge.press("e", "c")
        page.keyboard.type("1 is odd, 2 is sex")
        judge.press("Escape")
        assert page.locator(".ranking :checked").count() == 0
        judge.press("Enter")
        assert "Not handed in yet" in status(page)
        assert page.locator(".card.missing").count() == page.locator(".card").count()
        judge.press("1", "ArrowUp", "ArrowRight")
        assert page.locator(".card").first.locator(":checked").get_attribute("value") == "2"
        page.locator("#shortcuts").evaluate("box => box.click()")
        page.locator(".card").nth(1).locator("input").first.focus()
        judge.press("2")
        assert page.locator(".card").nth(1).locator(":checked").count() == 0
        page.locator("#shortcuts").evaluate("box => box.click()")
        page.evaluate("document.activeElement.blur()")
        judge.press("s", "Enter")
        assert "why you skip" in status(page)
        judge.press("ArrowDown")
        judge.leave("Enter")
        out = browsers.grammeter(
            "campaign", "export", "pilot", "--quiet", "--details", "d.jsonl", cwd=pilot
        )
        row = json.loads(out.splitlines()[0])
        assert row["skipped"]
        last = json.loads((pilot / "d.jsonl").read_text("utf-8").splitlines()[-1])
        assert last["comment"] == "1 is odd, 2 is sex"
        assert last["reason"]
        page.context.close()


def test_edits_by_keyboard(browser, tmp_path):
    made(tmp_path, "campaign.db", "--task", "edits")
    with browsers.serving("campaign.db", tmp_path) as (base, _):
        judge = come_in(browser, invited(tmp_path, "campaign.db", base, "--judges", "2")[0], 3)
        page = judge.page
        count = page.locator(".verdict").count()
        assert count > 1
        judge.press("x")
        left = page.locator(".verdict:not(:has(:checked))")
        while left.count():
            judge.press("v")
        first = page.locator(".verdict :checked").first
        same = page.locator(
            f'[data-edit="{page.locator(".verdict").first.get_attribute("data-edit")}"]'
        )
        values = {one.locator(":checked").get_attribute("value") for one in same.all()}
        assert first.get_attribute("value") == "invalid"
        assert values == {"invalid"}
        page.evaluate("document.activeElement.blur()")
        judge.answer()
        browsers.grammeter(
            "campaign", "export", "pilot", "--quiet", "--details", "d.jsonl", cwd=tmp_path
        )
        last = json.loads((tmp_path / "d.jsonl").read_text("utf-8").splitlines()[-1])
        assert sum(map(len, last["verdicts"])) == count
        page.context.close()


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


def test_without_script_the_form_ranks_and_submits(browser, pilot):
    with browsers.serving("campaign.db", pilot) as (base, _):
        context = browser.new_context(java_script_enabled=False)
        page = context.new_page()
        page.goto(invited(pilot, "campaign.db", base, "--judges", "2")[0])
        page.click("text=Leave it empty")
        page.click("main button")
        first = page.url
        page.uncheck(".show-edits")
        assert page.locator(".unmarked").first.is_visible()
        for card in page.locator(".card").all():
            card.locator("label.rank").first.click()
        page.click("text=Submit")
        assert re.search(r"/judge/items/\d+/$", page.url)
        assert page.url != first
        context.close()
