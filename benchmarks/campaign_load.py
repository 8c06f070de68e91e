"""Many judges at once over HTTP: is anything lost, doubled or misassigned, and how long is a save?

Run: ``python benchmarks/campaign_load.py [--seconds 60] [--judges 50] [--pause 1.0] [--kill]``,
from a clone: it uses the helpers of the tests. It serves a made-up campaign whose items all judges
draw from one pool, on loopback, from SQLite and, where its programs are installed, PostgreSQL.
Each judge saves after every choice and hands in at the end of each item, as the page's script
does, with a pause of ``--pause`` seconds on average between two actions (people need several);
each twentieth request is sent twice, as after a lost answer. ``--kill`` ends the server by
``kill -9`` in the middle and starts it anew; judges send again what was not confirmed.

The exit code is 1 if a confirmed answer is missing, stands twice, or stands with another judge,
if an item has more judges than wanted, or if a request ended in a fault of the server.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import io
import json
import math
import os
import random
import re
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode, urlsplit

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from rows import Goal, Row

import browsers

SENTENCES, SYSTEMS = 400, 5
SENT_TWICE = 0.05
FORM = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}


@dataclass
class Seen:
    """What one judge saw."""

    confirmed: dict[str, str] = field(default_factory=dict)
    tried: set[str] = field(default_factory=set)
    saves: list[float] = field(default_factory=list)
    pages: list[float] = field(default_factory=list)
    codes: Counter = field(default_factory=Counter)
    away: int = 0


class Shift:
    """The time in which judges work: from when all of them have come in."""

    def __init__(self, judges, seconds):
        self.seconds, self.end = seconds, 0.0
        self.gate = threading.Barrier(judges + 1, action=self.begin)

    def begin(self):
        self.end = time.monotonic() + self.seconds

    @property
    def is_over(self):
        return time.monotonic() >= self.end


class Judge(threading.Thread):
    """A browser with a judge before it."""

    def __init__(self, base, link, number, shift, pause):
        super().__init__(daemon=True)
        self.address = urlsplit(base).netloc
        self.link, self.shift, self.pause = urlsplit(link).path, shift, pause
        self.chance = random.Random(number)
        self.seen = Seen()
        self.number = number
        self.cookies: dict[str, str] = {}
        self.connection: http.client.HTTPConnection | None = None
        self.token = ""
        self.failure = ""

    def run(self):
        try:
            self.work()
        except Exception as error:
            self.failure = repr(error)

    def work(self):
        self.get(self.link)
        self.post(self.link, {})
        self.get("/judge/guidelines")
        self.post("/judge/guidelines", {})
        self.shift.gate.wait(300)
        while not self.shift.is_over:
            self.rest()
            page, path = self.follow("/judge/")
            if "/judge/items/" not in path:
                return
            self.item(path, page)

    def item(self, path, page):
        self.token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)[1]
        size = page.count('<section class="card')
        order = self.chance.sample(range(size), size)
        fields = {}
        for place in order:
            if self.shift.is_over:
                return
            self.rest()
            fields[f"rank-{place}"] = self.chance.randint(1, size)
            self.save(path, fields, "draft")
        self.rest()
        self.save(path, fields, "submit")

    def save(self, path, fields, action):
        key = f"{self.number}-{self.chance.getrandbits(64):x}"
        sent = {**fields, "action": action, "key": key, "comment": key, "active": 1, "wall": 2}
        self.seen.tried.add(key)
        for _ in range(2 if self.chance.random() < SENT_TWICE else 1):
            start = time.perf_counter()
            status, _ = self.post(path, sent)
            self.seen.saves.append(time.perf_counter() - start)
            if status == 200:
                self.seen.confirmed[key] = path

    def rest(self):
        if self.pause:
            time.sleep(min(self.chance.expovariate(1 / self.pause), 4 * self.pause))

    def follow(self, path):
        for _ in range(5):
            status, text, location = self.request("GET", path)
            if status != 302:
                return text, path
            path = location
        raise AssertionError(f"in a circle at {path}")

    def get(self, path):
        start = time.perf_counter()
        text = self.follow(path)[0]
        self.seen.pages.append(time.perf_counter() - start)
        found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', text)
        self.token = found[1] if found else self.token
        return text

    def post(self, path, sent):
        status, text, _ = self.request("POST", path, urlencode(sent))
        return status, text

    def request(self, method, path, body=None):
        """Send until somebody answers."""
        headers = {"Cookie": "; ".join(f"{k}={v}" for k, v in self.cookies.items())}
        if body is not None:
            headers |= {**FORM, "X-CSRFToken": self.token}
        while True:
            try:
                if self.connection is None:
                    self.connection = http.client.HTTPConnection(self.address, timeout=60)
                self.connection.request(method, path, body, headers)
                answer = self.connection.getresponse()
                text = answer.read().decode()
                break
            except (OSError, http.client.HTTPException):
                self.connection = None
                self.seen.away += 1
                time.sleep(0.2)
        self.seen.codes[answer.status] += 1
        for name, value in answer.getheaders():
            if name.lower() == "set-cookie":
                key, _, rest = value.partition("=")
                self.cookies[key] = rest.partition(";")[0]
        return answer.status, text, answer.getheader("Location")


def made_up(folder):
    """Write sources and outputs of random words."""
    chance = random.Random(1)
    words = [f"word{at}" for at in range(300)]
    lines = [chance.choices(words, k=20) for _ in range(SENTENCES)]
    (folder / "source.txt").write_text("".join(f"{' '.join(line)}\n" for line in lines))
    for system in range(SYSTEMS):
        outputs = [[*line[:18], f"end{system}"] for line in lines]
        text = "".join(f"{' '.join(line)}\n" for line in outputs)
        (folder / f"system{system}.txt").write_text(text)


def prepared(folder, database, judges):
    """Make the campaign; return a function that invites the judges."""
    made_up(folder)
    hypotheses = sorted(folder.glob("system*.txt"))
    browsers.grammeter(
        "campaign", "create", "load", "--database", database, "-s", "source.txt", "--hyps",
        *hypotheses, "-n", 4000, "--select", "uniform", "--strategy", "pool", "--no-background",
        cwd=folder,
    )  # fmt: skip

    def invite(base):
        told = browsers.grammeter(
            "campaign", "invite", "load", "--database", database, "--base-url", base,
            "--judges", judges, cwd=folder,
        )  # fmt: skip
        return told.split()

    return invite


def loaded(folder, database, options):
    """Let the judges work; return what each saw."""
    invite = prepared(folder, database, options.judges)
    with browsers.serving(database, folder) as (base, server):
        links = invite(base)
        shift = Shift(options.judges, options.seconds)
        judges = [Judge(base, link, at, shift, options.pause) for at, link in enumerate(links)]
        for judge in judges:
            judge.start()
        shift.gate.wait(300)
        before, asked = cpu_seconds(server.pid), requests(judges)
        if options.kill:
            time.sleep(options.seconds / 2)
            server.kill()
            server.wait()
            port = int(base.rpartition(":")[2])
            with browsers.serving(database, folder, port):
                finished(judges)
        else:
            finished(judges)
            used, more = cpu_seconds(server.pid) - before, requests(judges) - asked
            print(
                f"  the server took {used:.1f} s of CPU time for {more} requests,"
                f" {1000 * used / more:.2f} s a thousand"
            )
    return judges


def cpu_seconds(process):
    """Return the CPU time of a process so far; NaN where the system does not tell it so."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return float("nan")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def requests(judges):
    """Return how many requests were answered so far."""
    return sum(judge.seen.codes.total() for judge in judges)


def finished(judges):
    for judge in judges:
        judge.join(120)
        assert not judge.is_alive(), "a judge hangs"


def report(folder, database, judges):
    """Hold what was confirmed against what is stored; print figures; return the faults."""
    browsers.grammeter(
        "campaign", "export", "load", "--database", database, "-o", "judgments.jsonl",
        "--details", "details.jsonl", cwd=folder,
    )  # fmt: skip
    rows = [json.loads(line) for line in (folder / "details.jsonl").read_text().splitlines()][1:]
    stored = Counter(row["comment"] for row in rows)
    owner = {row["comment"]: row["judge"] for row in rows}
    whose: dict[str, set[str]] = {}
    for key, name in owner.items():
        whose.setdefault(key.partition("-")[0], set()).add(name)
    confirmed = {key for judge in judges for key in judge.seen.confirmed}
    tried = {key for judge in judges for key in judge.seen.tried}
    fresh = Counter(row["number"] for row in rows if row["complete"] and not row["turn"])
    codes = sum((judge.seen.codes for judge in judges), Counter())
    exported = (folder / "judgments.jsonl").read_text().count("\n")
    finals = {(row["judge"], row["position"]) for row in rows if row["complete"]}
    faults = {
        "lost": len(confirmed - set(stored)),
        "doubled": sum(count - 1 for count in stored.values()),
        "not sent by anybody": len(set(stored) - tried),
        "misassigned": sum(len(names) - 1 for names in whose.values()),
        "items with too many judges": sum(count > 1 for count in fresh.values()),
        "exported other than handed in": abs(exported - len(finals)),
        "5xx": sum(count for code, count in codes.items() if code >= 500),
        "4xx": sum(count for code, count in codes.items() if 400 <= code < 500),
        "judges who broke off": sum(bool(judge.failure) for judge in judges),
    }
    faults["no save at all"] = not confirmed
    saves = sorted(seconds for judge in judges for seconds in judge.seen.saves)
    print(f"  saves confirmed {len(confirmed)}, items handed in {len(finals)}, codes {dict(codes)}")
    print("  " + ", ".join(f"{name} {count}" for name, count in faults.items()))
    marks = {"median": 0.5, "p95": 0.95, "p99": 0.99, "longest": 1.0}
    if saves:
        shown = {name: saves[min(len(saves) - 1, int(p * len(saves)))] for name, p in marks.items()}
        print("  a save: " + ", ".join(f"{name} {1000 * s:.0f} ms" for name, s in shown.items()))
    for judge in judges:
        if judge.failure:
            print(f"  {judge.failure}")
    return sum(faults.values())


@contextlib.contextmanager
def databases(kind):
    """Give a folder and a fresh database of a kind in it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if kind == "sqlite":
            yield folder, str(folder / "campaign.db")
        else:
            with browsers.postgresql() as database:
                yield folder, database


def missing(kind):
    """Return why a kind of database cannot be had; nothing if it can."""
    absent = kind == "postgresql" and shutil.which("initdb") is None
    return "no initdb on this machine" if absent else ""


def rows(shared=None, *, judges=50, seconds=10.0):
    del shared  # sentences are made up
    options = argparse.Namespace(judges=judges, seconds=seconds, pause=1.0, kill=False)
    for kind in KINDS:
        work = f"{judges} judges at once, {kind}: a save, 95th percentile"
        given = {"goals": (Goal(150),), "slice_of": "60 s",
                 "command": f"python benchmarks/campaign_load.py --only {kind}"}  # fmt: skip
        problem = missing(kind)
        if not problem:
            printed = contextlib.redirect_stdout(io.StringIO())
            with databases(kind) as (folder, database), printed as told:
                seen = loaded(folder, database, options)
                if report(folder, database, seen):
                    problem = " ".join(told.getvalue().split())
            saves = sorted(wait for judge in seen for wait in judge.seen.saves)
        if problem:
            yield Row(work, math.nan, "ms wall", problem=problem, **given)
            continue
        yield Row(work, 1000 * saves[int(0.95 * len(saves))], "ms wall", **given)


KINDS = ("sqlite", "postgresql")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--judges", type=int, default=50)
    parser.add_argument("--pause", type=float, default=1.0, help="seconds between two actions")
    parser.add_argument("--kill", action="store_true", help="kill -9 the server in the middle")
    parser.add_argument("--only", choices=KINDS)
    options = parser.parse_args()
    faults = 0
    for kind in (options.only,) if options.only else KINDS:
        if missing(kind):
            print(f"{kind}: {missing(kind)}")
            continue
        with databases(kind) as (folder, database):
            print(f"{kind}: {options.judges} judges, {options.seconds:g} s", flush=True)
            judges = loaded(folder, database, options)
            faults += report(folder, database, judges)
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
