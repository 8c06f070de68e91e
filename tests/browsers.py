"""A real browser, a served campaign, and a throw-away PostgreSQL, for tests from outside."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from grammeter.resources import sample_corpus

CHROMIUM = next(
    (
        path
        for name in ("chromium", "chromium-browser", "google-chrome")
        if (path := shutil.which(name))
    ),
    None,
)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WIDTHS = {"desktop": {"width": 1100, "height": 850}, "phone": {"width": 390, "height": 780}}


def grammeter(*arguments: object, cwd: Path) -> str:
    """Run a command line to its good end, and return what it printed."""
    command = [sys.executable, "-m", "grammeter", *map(str, arguments)]
    done = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def serving(database: str, cwd: Path, port: int = 0, **options):
    """Serve a database; gives the address and the process. ``options`` are those of ``Popen``."""
    command = [sys.executable, "-m", "grammeter", "campaign", "serve"]
    server = subprocess.Popen(
        [*command, "--database", database, "--port", str(port)],
        cwd=cwd,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )
    assert server.stderr is not None
    try:
        line = server.stderr.readline()
        assert line.startswith("http://"), line + server.stderr.read()
        yield line.split()[0], server
    finally:
        server.terminate()
        server.wait(20)
        server.stderr.close()


@contextmanager
def browsing():
    """Start chromium."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def postgresql():
    """Start a PostgreSQL of its own; gives the address of an empty database."""
    for program in ("initdb", "pg_ctl", "postgres"):
        if shutil.which(program) is None:
            pytest.skip(f"no {program} on this machine")
    # not in tmp_path: each start of pytest closes the folder of all runs to other users
    folder = Path(tempfile.mkdtemp(prefix="grammeter-"))
    port = 20000 + os.getpid() % 20000
    as_postgres: list[str] = []
    if os.geteuid() == 0:  # initdb refuses root
        as_postgres = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        shutil.chown(folder, "postgres", "postgres")

    def call(*command: str) -> None:
        done = subprocess.run(
            [*as_postgres, *command, "-D", str(folder / "data")],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr + done.stdout

    try:
        call("initdb", "-U", "grammeter", "-A", "trust", "-E", "UTF8", "--no-sync")
        options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1"
        call("pg_ctl", "-o", options, "-l", str(folder / "log"), "-w", "start")
        try:
            yield f"postgresql://grammeter@127.0.0.1:{port}/postgres"
        finally:
            call("pg_ctl", "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def wait_for(page, condition, seconds: float = 60.0):
    """Wait until a condition holds; fail if it never does."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, f"waited in vain at {page.url}"
        page.wait_for_timeout(50)  # not sleep: what the browser tells arrives meanwhile
    return found


ITEMS = 20


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


def come_in(browser, link, seed, **context):
    """Open an invite, and go to the first item by keyboard."""
    page = browser.new_context(**context).new_page()
    page.set_default_timeout(45000)
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
    wait_for(page, lambda: words in status(page))


def until_left(page, before, seconds=20):
    wait_for(page, lambda: page.url != before, seconds)
    page.wait_for_load_state()


def made(folder, database, *options, judges=2):
    sample = sample_corpus()
    grammeter(
        "campaign", "create", "pilot", "--database", database, "-s", sample / "source.txt",
        "--hyps", *sorted((sample / "systems").glob("*.txt")), "-n", ITEMS, "--judges", judges,
        "--overlap", "1.0", "--seed", "1", *options, cwd=folder,
    )  # fmt: skip


def invited(folder, database, base, *who):
    told = grammeter(
        "campaign", "invite", "pilot", "--database", database, "--base-url", base, *who, cwd=folder
    )
    return told.split()
