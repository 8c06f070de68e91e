"""Files of the batch API: requests to send by other means, and results read as if sent from here.

A line of a request file is ``{"custom_id", "method": "POST", "url", "body"}``, one of a result or
error file ``{"custom_id", "response": {"status_code", "body"}, "error"}``, in any order.
``custom_id`` is the beginning of the call's cache key and the number of the request to it.
"""

import json
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from operator import itemgetter
from pathlib import Path
from typing import Any, cast

from grammeter.core import DataError, Table, UsageError, disk_faults, expanded
from grammeter.llm import reply, transport
from grammeter.llm.cache import Abilities, Attempts, History, Request, stored
from grammeter.llm.client import estimate, known, outcomes_of
from grammeter.llm.endpoint import current
from grammeter.llm.session import Conversation, Session

_URL = "/v1/chat/completions"
_DIGITS = 56  # of a key in a custom_id, which has at most 64 characters
FILE = "requests-001.jsonl"


@dataclass(frozen=True, kw_only=True, repr=False)
class Submission(reply.Estimate):
    """A request file, and what it is estimated to cost if each request has its full price."""

    requests: int  # in the file
    left: int  # further ones, for which a ceiling leaves no room
    files: tuple[str, ...]  # none if there is no request

    def tables(self, *, long: bool = False) -> Sequence[Table]:
        """Return one table: that of the estimate, and what was written."""
        (table,) = super().tables()
        written = [("requests written", str(self.requests)), *(("file", f) for f in self.files)]
        return [replace(table, rows=(*table.rows, *written))]

    def to_dict(self) -> dict[str, Any]:
        """Return ``{"kind": "submission", ...}``."""
        return {**super().to_dict(), "kind": "submission", "files": list(self.files)}


_Result = tuple[str, int, transport.Raw]
"""The beginning of a call's key, the number of the request to it, from 1, and what came."""


class Batch:
    """A folder with request and result files."""

    def __init__(self, folder: str | Path) -> None:
        if current().in_process:
            what = "files of the batch API, and a model that answers in this process"
            raise UsageError(what, fix="Leave out --submit and --collect, or --backend.")
        self.folder: Path = expanded(folder)
        self.notes: tuple[str, ...] = ()  # what is to be known of the collected results

    def submit(self, model: str, calls: Sequence[reply.Call]) -> Submission:
        """Write the calls that the cache does not answer, in place of an earlier request file.

        As many as the ceilings of the endpoint allow, each counted at its worst. Raises
        :class:`UsageError` if results for these calls lie in the folder that are not collected,
        :class:`DataError` if the folder has a damaged result or cannot be written.
        """
        endpoint = replace(current())  # with a bill of its own: nothing is sent here
        requests, folder, histories = known(endpoint, model, calls)
        done, written = outcomes_of(histories), dict[reply.Call, None]()
        due = {call: request for call, request in requests.items() if request.key not in done}
        self._check_collected({_name(r): histories.get(r.key, History()) for r in due.values()})
        with closing(stored(folder)) as attempts:
            session = Session(endpoint, model, attempts)

            def lines() -> Iterator[bytes]:
                for call, request in due.items():
                    history = histories.get(request.key, History())
                    body = Conversation(session, request, history).body()
                    if session.allows(request, body):
                        written[call] = None
                        name = f"{_name(request)}-{history.attempts + 1}"
                        line = {"custom_id": name, "method": "POST", "url": _URL, "body": body}
                        yield json.dumps(line, ensure_ascii=False).encode() + b"\n"

            self._write(lines())
        left = due.keys() - written.keys()
        costs = asdict(estimate(model, [call for call in calls if call not in left]))
        files = (str(self.folder / FILE),) if written else ()
        return Submission(**costs, requests=len(written), left=len(left), files=files)

    def collect(self, model: str, calls: Sequence[reply.Call]) -> list[reply.Outcome]:
        """Store the results as replies, each once, and answer calls from the cache; send nothing.

        A call without a valid reply ends as ``invalid`` or ``error``. ``notes`` says how many
        these are, and how many results belong to other calls. Raises :class:`DataError` with file
        and line for a damaged result, and if no result belongs to these calls.
        """
        endpoint = current()
        requests, folder, histories = known(endpoint, model, calls)
        endpoint.bill.known += len(outcomes_of(histories))
        keys = {_name(request): request.key for request in requests.values()}
        results, foreign = self._results(keys)
        with closing(Attempts(folder)) as attempts:
            session = Session(endpoint, model, attempts)
            for request in requests.values():
                if abilities := _store(session, request, results.get(_name(request), ())):
                    attempts.remember(session.server, model, abilities)
            histories = attempts.histories([*keys.values()], endpoint.attempts)
        outcomes = {key: _outcome(histories.get(key, History())) for key in keys.values()}
        pending = [outcomes[key] for key in outcomes.keys() - outcomes_of(histories).keys()]
        self.notes = tuple(self._noted(pending, len(outcomes), foreign))
        endpoint.bill.states.update(outcome.state for outcome in outcomes.values())
        return [outcomes[requests[call].key] for call in calls]

    def _check_collected(self, histories: Mapping[str, History]) -> None:
        """Raise :class:`UsageError` if results for requests of these calls are not in the cache."""
        results = ((call, number) for call, number, _ in self._read() if call in histories)
        if waiting := sum(number > histories[call].attempts for call, number in results):
            fault = f"{self.folder} has {waiting} results that are not collected: these calls would"
            fix = f"Run the same command with --collect {self.folder} first."
            raise UsageError(f"{fault} be paid twice", fix=fix)

    def _results(self, names: Container[str]) -> tuple[Mapping[str, Sequence[transport.Raw]], int]:
        """Return the results on these calls in the order of the requests, and count the others."""
        ours: dict[str, dict[str, transport.Raw]] = {}
        foreign = 0
        for call, number, raw in sorted(self._read(), key=itemgetter(0, 1)):
            foreign += call not in names
            if call in names:
                ours.setdefault(call, {})[f"{number} {raw.text}"] = raw
        if not ours:
            others = f", but {foreign} of other calls" if foreign else ""
            fix = "Put result files there as *.jsonl; give the metric and options of the requests."
            raise DataError(f"no results of these calls{others}", where=str(self.folder), fix=fix)
        return {call: [*of.values()] for call, of in ours.items()}, foreign

    def _read(self) -> Iterator[_Result]:
        for path in sorted(self.folder.glob("*.jsonl")):
            faults = disk_faults(path, "Check its permissions.", "cannot be read")
            with faults, path.open("rb") as file:
                for number, line in enumerate(file, start=1):
                    if line.strip():
                        yield from _result(line, f"{path}:{number}")

    def _write(self, lines: Iterable[bytes]) -> None:
        with disk_faults(self.folder, "Name a folder that can be written."):
            self.folder.mkdir(parents=True, exist_ok=True)
            path = self.folder / FILE
            unfinished = path.with_suffix(".part")
            with unfinished.open("wb") as file:
                file.writelines(lines)
            unfinished.replace(path)
            if not path.stat().st_size:
                path.unlink()

    def _noted(self, pending: Sequence[reply.Outcome], count: int, foreign: int) -> Iterator[str]:
        if pending:
            kinds = Counter(outcome.reason or "no result" for outcome in pending)
            shown = "; ".join(f"{n} x {kind}" for kind, n in kinds.most_common(3))
            text = f"{len(pending)} of {count} calls have no usable reply ({shown}): the same"
            more = f"command with --submit {self.folder} in place of --collect writes exactly these"
            yield f"{text} {more}"
        if foreign:
            yield f"{foreign} results in {self.folder} belong to other calls"


def _name(request: Request) -> str:
    return request.key[:_DIGITS]


def _result(line: bytes, where: str) -> Iterator[_Result]:
    try:
        data = reply.object_of(json.loads(line))
    except (ValueError, RecursionError):
        data = {}
    if data.keys() >= {"custom_id", "method", "body"}:
        return
    response, error = reply.object_of(data.get("response")), data.get("error")
    status, name = response.get("status_code"), data.get("custom_id")
    whole = isinstance(status, int) and "body" in response
    if not isinstance(name, str) or not (whole or error):
        fault = "this is no result of the batch API: an object with custom_id, and response"
        fault += " (status_code, body) or error"
        raise DataError(fault, where=where, fix="Fetch the file once more.")
    match = re.fullmatch(rf"([0-9a-f]{{{_DIGITS}}})-(\d{{1,7}})", name, re.ASCII)
    body: Any = response["body"] if whole else {"error": error}
    created = reply.object_of(body).get("created")
    text = json.dumps(body)
    started = float(created) if isinstance(created, int) else 0.0
    raw = transport.Raw(status=cast(int, status) if whole else 0, text=text, started=started)
    yield (match[1], int(match[2]), raw) if match else ("", 0, raw)


def _store(
    session: Session, request: Request, results: Iterable[transport.Raw]
) -> Abilities | None:
    """Store what is not stored yet; return what the endpoint accepts after its complaints."""
    conceded: Abilities | None = None
    with session.attempts.alone():
        stored = Counter(session.attempts.bodies(request.key))
        for raw in results:
            stored[raw.text] -= 1
            if stored[raw.text] >= 0:
                continue
            conversation = Conversation(session, request, session.history(request.key))
            sent = conversation.body()
            session.endpoint.bill.requests += 1
            session.count(request, sent, raw)
            conversation.receive(sent, raw)
            if raw.failure and conversation.concede(sent, raw):
                conceded = conversation.abilities
    return conceded


def _outcome(history: History) -> reply.Outcome:
    last = history.replies[-1] if history.replies else None
    state, reason = ("invalid", history.reason) if history.bad else ("error", history.failure)
    return history.outcome or history.ended(state, history.failure or reason, last)
