"""Requests, and the cache of replies: an SQLite file with one row for each request sent.

Replies cost money. A row is written before the reply is used, no row is ever deleted, and a damaged
file is an error, not an empty cache. Several processes may share it. API keys are never written.
"""

import hashlib
import json
import re
import sqlite3
import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, get_args

from grammeter.core import DataError, private_file
from grammeter.llm import cost, reply, transport
from grammeter.llm.endpoint import Endpoint, Structured, current

STRUCTURED: tuple[Structured, ...] = get_args(Structured)
LIMIT_FIELDS = ("max_tokens", "max_completion_tokens")
_STRUCTURED = r"response_format|json_(schema|object)|structured.?output|\bgrammar\b"
_PLAIN = ("temperature", "top_p", "seed", "max_completion_tokens", "max_tokens")
_NAMES: Mapping[str, re.Pattern[str]] = {
    "response_format": re.compile(_STRUCTURED, re.IGNORECASE),
    **{name: re.compile(rf"\b{name}\b", re.IGNORECASE) for name in _PLAIN},
}
"""How error messages name a field."""

_TOO_LONG = re.compile(r"context.?(length|window|size)|too (long|many tokens)", re.IGNORECASE)
"""Errors about a prompt that is too long mention fields that are not the cause."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """What one model of one server accepts: all but the fields and forms that it has refused.

    A form of replies is refused as ``response_format=json_schema``.
    """

    refused: frozenset[str] = frozenset()

    @property
    def limit_field(self) -> str:
        """Name of the output limit: the newer one if the endpoint refuses ``max_tokens``."""
        return LIMIT_FIELDS["max_tokens" in self.refused]

    def form(self, structured: Structured) -> Structured:
        """Return the form of replies to ask for: ``structured``, or less if that is refused."""
        forms = STRUCTURED[STRUCTURED.index(structured) :]
        return next(f for f in forms if f == "off" or f"response_format={f}" not in self.refused)

    def without(self, field: str, structured: Structured = "json_schema") -> "Abilities":
        """Return the abilities without a field, or the form of replies in use, that is refused."""
        name = f"{field}={self.form(structured)}" if field == "response_format" else field
        return Abilities(self.refused | {name})

    def concessions(self, structured: Structured = "json_schema") -> frozenset[str]:
        """Return what was refused, but for renamed fields and forms that are not used."""
        unused = STRUCTURED[: STRUCTURED.index(structured)]
        return self.refused - {"max_tokens", *(f"response_format={form}" for form in unused)}


def refused_field(text: str, parameter: object, sent: Iterable[str]) -> str | None:
    """Return the field that a 400 or 422 is about (its ``param``, or by ``text``), or ``None``."""
    if _TOO_LONG.search(text):
        return None
    optional = [name for name in _NAMES if name in set(sent)]
    places = (parameter if isinstance(parameter, str) else "", text)
    return next((f for place in places for f in optional if _NAMES[f].search(place)), None)


FIRST_SEED = 1  # the seed of the first repeat, unless `body` says another; each further one adds 1
_REMARK = (
    "\n\nYour last reply could not be used: {reason}. Reply in the output format above, with one"
    " whole number from 1 to 5 for each target, and nothing else."
)


def request_settings() -> dict[str, object]:
    """Return the settings of all requests to the current endpoint, for signatures."""
    endpoint = current()
    system, extra = endpoint.system_message, _sampling(endpoint, 0)
    names = {"temperature": "temperature", "top-p": "top_p", "sampling-seed": "seed"}
    sampled = {shown: extra.pop(name) for shown, name in names.items() if name in extra}
    hashed = None if system is None else hashlib.sha256(system.encode()).hexdigest()[:12]
    if endpoint.read == "text":
        sampled |= {"max-output": endpoint.max_output, "attempts": endpoint.attempts}
        sampled |= {} if endpoint.enforced == STRUCTURED[0] else {"structured": endpoint.enforced}
    return {
        "endpoint": transport.host(endpoint),
        **({"read": endpoint.read} if endpoint.in_process else {}),
        **sampled,
        **({} if hashed is None else {"system-message": hashed}),
        **({"body": json.dumps(extra, sort_keys=True)} if extra else {}),
    }


def _sampling(endpoint: Endpoint, repeat: int) -> dict[str, Any]:
    """Return the settings of a request; of these, what an endpoint refuses is left out.

    None of them changes a likelihood, and ``seed`` in ``body`` neither.
    """
    if endpoint.read == "likelihood":
        return {name: value for name, value in endpoint.extra.items() if name != "seed"}
    usual = {"temperature": endpoint.temperature, "top_p": endpoint.top_p, "seed": FIRST_SEED}
    fields = {name: int(value) if value == int(value) else value for name, value in usual.items()}
    fields |= endpoint.extra
    return fields | {"seed": fields["seed"] + repeat}


@dataclass(frozen=True)
class Request:
    """A call to one model of an endpoint; its prompt must be valid Unicode."""

    endpoint: Endpoint
    model: str  # as the server names it
    call: reply.Call

    def __post_init__(self) -> None:
        try:
            f"{self.call.prompt}{self.endpoint.system_message}".encode()
        except UnicodeEncodeError as error:
            fault = f"a prompt holds half a character: {error.object[error.start]!r}"
            raise DataError(fault, fix="Read the texts as UTF-8.") from None

    @property
    def server(self) -> str:
        """Who answers, as returned by :func:`~.transport.host`."""
        return transport.host(self.endpoint)

    @property
    def foreseen(self) -> tuple[int, int]:
        """Estimate the tokens of the messages and of a valid reply."""
        texts = [message["content"] for message in self._messages("")]
        return sum(map(cost.guess_in, texts)), cost.guess_out(self.call.targets)

    @cached_property
    def key(self) -> str:
        """SHA-256 of the whole request, including parameters that the server may ignore."""
        structured = self.endpoint.enforced
        whole = {
            "server": self.server,
            "model": self.model,
            "messages": self._messages(""),
            "schema": reply.schema(self.call.targets),
            **_sampling(self.endpoint, self.call.repeat),
            "template": self.call.template,
        }
        if self.endpoint.read == "likelihood":
            whole |= reply.form(self.call.targets)
        else:
            whole |= {"max_tokens": self.endpoint.max_output, "repeat": self.call.repeat}
            whole |= {} if structured == STRUCTURED[0] else {"structured": structured}
        text = json.dumps(whole, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode("ascii")).hexdigest()

    def body(
        self, abilities: Abilities, *, remark: str = "", doubled: bool = False
    ) -> dict[str, Any]:
        """Return the body; ``remark``: on the last reply; ``doubled``: twice the output is fine."""
        fields = _sampling(self.endpoint, self.call.repeat)
        if self.endpoint.read == "likelihood":
            fields |= reply.form(self.call.targets)
        else:
            if (form_of := abilities.form(self.endpoint.enforced)) != "off":
                fields["response_format"] = _response_format(form_of, self.call.targets)
            fields[abilities.limit_field] = self.endpoint.max_output * (1 + doubled)
        wanted = ((name, value) for name, value in fields.items() if value is not None)
        accepted = {name: value for name, value in wanted if name not in abilities.refused}
        return {"model": self.model, "messages": self._messages(remark), **accepted}

    def _messages(self, remark: str) -> list[dict[str, str]]:
        ending = _REMARK.format(reason=remark) if remark else ""
        prompt = {"role": "user", "content": self.call.prompt + ending}
        system = self.endpoint.system_message
        return [prompt] if system is None else [{"role": "system", "content": system}, prompt]


def _response_format(structured: Structured, targets: int) -> dict[str, Any]:
    named = {"name": f"scores_{targets}", "strict": True, "schema": reply.schema(targets)}
    return {"type": structured, **({"json_schema": named} if structured == "json_schema" else {})}


# --- what was sent before ------------------------------------------------------------------
FILE = "replies-1.sqlite"  # name of the file, with the version of its format
_WAIT = 30.0
_AT_ONCE = 500
_TABLES = files("grammeter.llm").joinpath("replies.sql").read_text("utf-8")


Row = Mapping[str, Any]  # a request and its result, by the columns of replies.sql


@dataclass(slots=True)
class History:
    """What the cache knows about a call."""

    attempts: int = 0  # requests sent
    bad: int = 0  # unusable replies
    cut: bool = False  # whether one of them ended at its limit
    reason: str = ""  # what was wrong with the last of them
    failure: str = ""  # why the last request brought no reply, if it did not
    replies: tuple[reply.Reply, ...] = ()
    outcome: reply.Outcome | None = None  # None: not yet ended

    def follow(self, row: Row, most: int) -> None:
        """Add a request; what came after the end does not count."""
        if self.outcome is not None:
            return
        came, ends, note = row["state"], None, row["reason"]
        read = reply.Reply(
            **{name: row[name] for name in ("seconds", "state", "reason", "answered_by")},
            text=row["reply"],
            scores=row["scores"] and tuple(json.loads(row["scores"])),
            attempt=len(self.replies) + 1,
            tokens=(row["tokens_in"], row["tokens_out"]),
            finish=reply.finish_of(reply.json_object(row["body"])),
            settings=_settings(reply.json_object(row["request"])),
        )
        self.attempts += 1
        self.replies += () if came == "failed" else (read,)
        self.failure = note if came == "failed" else ""
        if came in ("invalid", "cut"):
            self.bad, self.reason = self.bad + 1, note
            self.cut |= came == "cut"
            ends = "invalid" if self.bad >= most else None
        elif self.bad and came in ("ok", "coerced"):
            ends, note = "reasked", "; ".join(filter(None, [f"asked again: {self.reason}", note]))
        elif came != "failed":
            ends = came
        if ends is not None:
            self.outcome = self.ended(ends, note, read)

    def ended(
        self, state: reply.State, reason: str, last: reply.Reply | None = None
    ) -> reply.Outcome:
        """Return the outcome of a call that ends here, with the scores of its last reply."""
        of = reply.Outcome(state=state, reason=reason, attempts=self.attempts, replies=self.replies)
        return replace(of, scores=last.scores, reply=last.text) if last else of


class Attempts:
    """The replies in one folder, or in memory if it is ``None``; close it after use."""

    def __init__(self, folder: Path | None) -> None:
        self._name = ":memory:" if folder is None else str(folder / FILE)
        with self._errors_named(), ExitStack() as opened:
            if folder is not None:
                private_file(folder / FILE)
                with suppress(PermissionError):  # a file of somebody else
                    (folder / FILE).chmod(0o600)
            self._database = sqlite3.connect(self._name, timeout=_WAIT, isolation_level=None)
            opened.callback(self._database.close)
            self._database.row_factory = sqlite3.Row
            self._write_ahead()
            self._database.execute("PRAGMA synchronous = NORMAL")
            self._database.executescript(_TABLES)
            self._database.execute("SELECT reason, fingerprint FROM attempts LIMIT 1")
            opened.pop_all()

    def _write_ahead(self) -> None:
        """Write ahead; SQLite itself does not wait while another process changes the same."""
        until = time.monotonic() + _WAIT
        while True:
            try:
                self._database.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > until:
                    raise
            time.sleep(0.01)

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def add(self, row: Row) -> None:
        """Write a row; it survives a crash of this process once this returns."""
        names, marks = ", ".join(row), ", ".join(f":{name}" for name in row)
        self._rows(f"INSERT INTO attempts ({names}) VALUES ({marks})", row)  # noqa: S608

    def bodies(self, key: str) -> list[str]:
        """Return the bodies of all replies to a call."""
        return [row[0] for row in self._rows("SELECT body FROM attempts WHERE key = ?", [key])]

    @contextmanager
    def alone(self) -> Generator[None]:
        """Let no other process write inside the block; keep all of what is added in it, or none."""
        self._rows("BEGIN IMMEDIATE", ())
        with self._errors_named(), self._database:
            yield

    def histories(self, keys: Sequence[str], most: int) -> dict[str, History]:
        """Return histories by key up to the first usable or ``most``-th reply; none if not sent."""
        histories: dict[str, History] = {}
        for start in range(0, len(keys), _AT_ONCE):
            part = keys[start : start + _AT_ONCE]
            marks = ", ".join("?" * len(part))
            query = f"SELECT * FROM attempts WHERE key IN ({marks}) ORDER BY id"  # noqa: S608
            with self._errors_named():
                for row in self._rows(query, part):
                    histories.setdefault(row["key"], History()).follow(row, most)
        return histories

    def abilities(self, server: str, model: str) -> Abilities | None:
        """Return what an endpoint accepts, if known."""
        query = "SELECT value FROM abilities WHERE server = ? AND model = ?"
        rows = self._rows(query, (server, model))
        with self._errors_named():
            return Abilities(frozenset(map(str, json.loads(rows[0][0])))) if rows else None

    def remember(self, server: str, model: str, abilities: Abilities) -> None:
        """Store what an endpoint accepts."""
        values = server, model, json.dumps(sorted(abilities.refused))
        self._rows("INSERT OR REPLACE INTO abilities VALUES (?, ?, ?)", values)

    def _rows(self, statement: str, values: Sequence[str] | Mapping[str, object]) -> list[Any]:
        with self._errors_named():
            return self._database.execute(statement, values).fetchall()

    @contextmanager
    def _errors_named(self) -> Generator[None, None, None]:
        """Turn errors of SQLite and of the file system into a DataError that names the file."""
        try:
            yield
        except (OSError, sqlite3.DatabaseError, ValueError, TypeError, RecursionError) as error:
            unusable = isinstance(error, OSError | sqlite3.OperationalError)
            if unusable and "no such column" not in str(error):
                what = f"the replies cannot be kept: {getattr(error, 'strerror', None) or error}"
                fix = "Name a folder that can be written, with room on its disk (cache_dir)."
            else:
                what = f"the file of replies is damaged: {error}"
                fix = "It holds replies that were paid for: restore a copy, or rescue what is left"
                fix += " with 'sqlite3 FILE .recover'; move it away to begin anew."
            raise DataError(what, where=self._name, fix=fix) from None


def _settings(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was sent beside the prompt; of the form of replies its name, no schema."""
    elsewhere = ("model", "messages", "response_format")
    rest = {key: body[key] for key in sorted(body) if key not in elsewhere}
    if form := reply.object_of(body.get("response_format")).get("type"):
        rest["structured"] = form
    messages: list[Any] = body.get("messages", [])
    for message in messages[:-1]:
        rest["system_message"] = reply.object_of(message).get("content")
    return rest


def stored(folder: Path | None) -> Attempts:
    """Open the replies of a folder for reading: without a file there are none, and none is made."""
    return Attempts(folder if folder is not None and (folder / FILE).exists() else None)
