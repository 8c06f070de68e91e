"""What a failed request means: repeat it, abandon the call, or end the run."""

from __future__ import annotations

import email.utils
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from grammeter.llm.calls import error_of, has_message
from grammeter.llm.runtime import Raw

Then = Literal["again", "again-briefly", "leave", "refused", "end"]
"""``again``: repeat within the patience; ``again-briefly``: repeat a few times; ``leave`` this
call; ``refused``: the model will not answer it; ``end`` the run: any other call would fail too."""

_AGAIN = {408, 409, 429}
_END: Mapping[int, str] = {
    401: "Check the key.",
    402: "Check the account: it has no money left.",
    403: "Check what the key's account may use.",
    404: "Check the base URL (it ends in /v1 as a rule) and the name of the model.",
    405: "Check the base URL: it ends in /v1 as a rule.",
    **dict.fromkeys((301, 302, 303, 307, 308), "Check the base URL: the server has moved."),
}
_NO_MONEY = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active",
             "insufficient_balance"}  # fmt: skip
_FILTERED = re.compile(r"content_filter|content_policy|ResponsibleAI|moderation|flagged",
                       re.IGNORECASE)  # fmt: skip
_SHOWN = 300


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a request brought no completion."""

    reason: str  # for people
    then: Then  # what the client does
    wait: float | None = None  # seconds that the server asks to wait
    charged: bool = False  # whether the provider may have charged it
    # what the user can do
    fix: str = "Run the same command again later: it goes on where it stopped."


def failure(raw: Raw, body: Mapping[str, Any]) -> Failure | None:
    """Say why a request failed; ``None`` if ``body``, its JSON object, is a completion."""
    if raw.trouble:
        return _without_reply(raw)
    error = error_of(body)
    if raw.status == 200 and not error:
        if has_message(body):
            return None
        return Failure(
            f"no chat completion: {_shown(raw.text)}", "again-briefly", charged=True,
            fix="Check the base URL: something else answers there.",
        )  # fmt: skip
    status = _status(raw.status, error)
    message = error.get("message")
    text = message if isinstance(message, str) and message else raw.text
    reason = f"HTTP {status}: {_shown(text)}".rstrip(": ")
    return _by_status(status, reason, raw, error)


def _without_reply(raw: Raw) -> Failure:
    if raw.trouble == "unreachable":
        return Failure(
            f"no connection: {_shown(raw.text)}", "again",
            fix="Check the base URL, and whether the server is running.",
        )  # fmt: skip
    if raw.trouble == "timeout":
        return Failure("no reply in time", "again", charged=True)
    return Failure(f"the connection broke off: {_shown(raw.text)}", "again", charged=True)


def _status(status: int, error: Mapping[str, Any]) -> int:
    """Return the status to act on: gateways put that of their provider into the body."""
    code = error.get("code")
    if status != 200:
        return status
    return code if isinstance(code, int) and 400 <= code < 600 else 502


def _by_status(status: int, reason: str, raw: Raw, error: Mapping[str, Any]) -> Failure:
    names = {str(error.get(name)) for name in ("code", "type")}
    if names & _NO_MONEY:
        return Failure(reason, "end", fix=_END[402])
    if status in (400, 403) and _FILTERED.search(raw.text):
        return Failure(reason, "refused")
    if status in _END:
        return Failure(reason, "end", fix=_END[status])
    wanted = raw.headers.get("x-should-retry", "").lower()
    if status in _AGAIN or status >= 500 or wanted == "true":
        if wanted == "false":
            return Failure(f"{reason} (and not to be repeated)", "end")
        return Failure(reason, "again", wait=retry_after(raw.headers))
    return Failure(reason, "leave")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a server asks to wait; ``None`` if it asks for none."""
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        text = headers.get(name, "").strip()
        if re.fullmatch(r"\d{1,9}(\.\d*)?", text, re.ASCII):
            return float(text) * unit
    moment = _time(headers, "retry-after")
    if moment is None:
        return None
    sent = _time(headers, "date")  # by the same clock as the first time
    return max(0.0, moment - (time.time() if sent is None else sent))


def _time(headers: Mapping[str, str], name: str) -> float | None:
    """Return a date in a header as seconds since 1970, ``None`` if there is none."""
    try:
        return email.utils.parsedate_to_datetime(headers.get(name, "")).timestamp()
    except (TypeError, ValueError, IndexError, OverflowError):
        return None


def _shown(text: str) -> str:
    """Return a text as one short line."""
    line = " ".join(text.split())
    return f"{line[:_SHOWN]}..." if len(line) > _SHOWN else line or "an empty reply"
