"""Judges and organisers in a real browser: by keyboard, through lost connections."""

import json
import re
import shutil

import pytest

pytest.importorskip("whitenoise", reason="the extra 'campaign' is not installed")

import browsers
from browsers import ITEMS, come_in, invited, made, status, until_left, until_said

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def browser():
    with browsers.browsing() as found:
        yield found


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
def any_database(request):
    if request.param == "sqlite":
        yield "campaign.db"
        return
    pytest.importorskip("psycopg", reason="the extra 'postgres' is not installed")
    with browsers.postgresql() as address:
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
        other.click("main button")
        assert other.url.startswith(f"{base}/judge/")
        until_left(page, before)  # the other tab has sent it, and says so
        other.close()
        page.bring_to_front()
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


def ranks_of(page):
    return page.locator(".ranking :checked").evaluate_all("all => all.map((one) => one.value)")


@pytest.mark.parametrize("way", ["reload", "back", "link"])
def test_digits_rank_without_a_click_however_the_page_was_reached(browser, pilot, way):
    with browsers.serving("campaign.db", pilot) as (base, _):
        judge = come_in(browser, invited(pilot, "campaign.db", base, "--judges", "2")[0], 4)
        page, address = judge.page, judge.page.url
        size = page.locator(".card").count()
        judge.press(*["2"] * size)
        until_said(page, "Saved")
        if way == "reload":
            page.reload()
        elif way == "back":
            page.goto(f"{base}/judge/answers")
            page.go_back()
        else:
            page.goto(f"{base}/judge/answers")
            page.goto(address)
        page.wait_for_selector(".card.current")
        assert ranks_of(page) == ["2"] * size
        judge.press(*["1"] * size)
        assert ranks_of(page) == ["1"] * size
        judge.leave("Enter")
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
        assert page.locator(".verdict :checked").first.get_attribute("value") == "invalid"
        told = page.locator(".settled").count()
        page.evaluate("document.activeElement.blur()")
        judge.answer()
        browsers.grammeter(
            "campaign", "export", "pilot", "--quiet", "--details", "d.jsonl", cwd=tmp_path
        )
        last = json.loads((tmp_path / "d.jsonl").read_text("utf-8").splitlines()[-1])
        assert sum(map(len, last["verdicts"])) == count + told
        assert None not in {word for row in last["verdicts"] for word in row}
        page.context.close()


def test_without_script_the_form_ranks_and_submits(browser, pilot):
    with browsers.serving("campaign.db", pilot) as (base, _):
        context = browser.new_context(java_script_enabled=False)
        page = context.new_page()
        page.goto(invited(pilot, "campaign.db", base, "--judges", "2")[0])
        page.click("main button")
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
