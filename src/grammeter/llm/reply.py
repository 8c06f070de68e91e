"""Replies: the values of calls, and what can be read in a completion."""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cache
from operator import mul
from typing import Any, Literal, cast

from grammeter.core import Result, Table, stamped

State = Literal["ok", "coerced", "reasked", "refused", "invalid", "error"]
"""How a call ended. ``ok``: the first reply was valid; ``coerced``: valid after tolerant reading;
``reasked``: a later reply was valid; the others have no scores."""

AttemptState = Literal["ok", "coerced", "refused", "invalid", "cut", "failed"]
"""Result of one request; ``cut``: the reply ended at its limit; ``failed``: no completion."""


def object_of(value: object) -> dict[str, Any]:
    """Return a parsed JSON value as an object; an empty one for any other value."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def json_object(text: str) -> dict[str, Any]:
    """Parse a JSON object; return an empty one for any other text."""
    try:
        return object_of(json.loads(text))
    except (ValueError, RecursionError):
        return {}


def error_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the error in a body; some servers send one with status 200."""
    error: Any = body.get("error")
    return object_of(error) or ({"message": str(error)} if error else {})


def has_message(body: Mapping[str, Any]) -> bool:
    """Whether a body is a chat completion."""
    try:
        return isinstance(body["choices"][0]["message"], dict)
    except (KeyError, IndexError, TypeError):
        return False


def finish_of(body: Mapping[str, Any]) -> str | None:
    """Return why a completion ended, ``None`` if unknown."""
    if not has_message(body):
        return None
    reason: Any = body["choices"][0].get("finish_reason")
    return reason[:40] if isinstance(reason, str) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One question to the model: score some targets."""

    prompt: str  # the whole message
    targets: int  # number of scores expected
    template: str  # id and hash of the prompt's template
    repeat: int = 0  # distinguishes repeated questions with equal words


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One reply to a call, usable or not; None stands for what the server does not report."""

    text: str
    scores: tuple[float, ...] | None  # in the order shown, 1 to 5; None: not usable
    attempt: int  # its number among the replies to the call, from 1
    tokens: tuple[int | None, int | None]  # of the prompt and of the reply
    seconds: float  # from the request to the reply
    finish: str | None  # why the reply ended, as the server names it
    state: AttemptState = "ok"  # how it was read
    reason: str = ""  # what was tolerated or wrong
    answered_by: str | None = None  # the model, as the server names it
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)  # as sent

    @property
    def repairs(self) -> tuple[str, ...]:
        """What was tolerated, so that there are scores."""
        return tuple(self.reason.split("; ")) if self.state == "coerced" else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of a call."""

    state: State
    scores: tuple[float, ...] | None = None  # one per target, 1 to 5, if a reply was valid
    reply: str = ""  # text of the last reply
    reason: str = ""  # why there are no scores, or what was tolerated
    attempts: int = 0  # requests sent, including those of earlier runs
    replies: tuple[Reply, ...] = ()  # all replies, in order


@dataclass(frozen=True, kw_only=True, repr=False)
class Estimate(Result):
    """What calls would cost."""

    calls: int  # distinct ones
    known: int  # those that the cache answers
    tokens_in: int  # of the calls that would be sent, without repetitions
    tokens_out: int
    cost: float | None  # in ``currency``; None if the price of the model is unknown
    currency: str
    basis: str  # how tokens were counted
    date: str | None = None  # of the price table, if it has one

    def tables(self, *, long: bool = False) -> Sequence[Table]:
        """Return one table: counts, tokens and price."""
        price = "unknown: give a table that has the model, --prices FILE"
        if self.cost is not None:
            date = f" (prices of {self.date})" if self.date else ""
            price = f"{self.cost:.4f} {self.currency}{date}"
        rows = {
            **{"distinct calls": self.calls, "of them in the cache": self.known},
            **{"tokens in": self.tokens_in, "tokens out": self.tokens_out},
            **{"tokens counted by": self.basis, "price": price},
        }
        return [Table.of(("what it takes", ""), [(head, str(of)) for head, of in rows.items()])]

    def to_dict(self) -> dict[str, Any]:
        """Return ``{"kind": "estimate", ...}``."""
        fields = {name: value for name, value in asdict(self).items() if name != "date"}
        return stamped({"kind": "estimate", **fields})


SCORES = (1, 2, 3, 4, 5)
_FENCE = re.compile(r"```json[ \t]*\r?\n(.*?)```", re.DOTALL | re.IGNORECASE)
_NAMED = r"target(?:[ _-]?([0-9]+)(?:[ _-]?score)?|[ _-]?score[ _-]?([0-9]+))"
_KEY = re.compile(_NAMED, re.IGNORECASE | re.ASCII)
_MENTION = re.compile(rf"""(?<![\w-]){_NAMED}["'*`]*\s*[:=][\s"'*`]*""", re.IGNORECASE | re.ASCII)
_PLAIN = re.compile(r"""(-?[0-9](?:\.[0-9]{1,9})?)(?:/5)?["'*`]*\s*(?:[,;}\n]|\.(?![0-9])|$)""")
_EXTRAS = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|,(?=\s*[}\]])', re.DOTALL)
_OPENING = re.compile("{")
_INSIDE = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[{}]', re.DOTALL)
_THOUGHT = "</think>"


@dataclass(frozen=True, slots=True)
class Completion:
    """The content of a chat completion."""

    came: AttemptState  # "cut" if the reply ended at its limit, whatever it contains
    text: str
    scores: tuple[float, ...] | None = None  # one per target, 1 to 5
    reason: str = ""  # why there are no scores, or what was tolerated


class _UnreadableError(Exception):
    """Why there are no scores."""


Pairs = list[tuple[str, Any]]


@cache
def schema(n: int) -> dict[str, Any]:
    """Return the strict JSON schema of ``n`` scores; enumerations have more support than bounds."""
    names = [f"target{number}_score" for number in range(1, n + 1)]
    scores = {name: {"type": "integer", "enum": list(SCORES)} for name in names}
    shape = {"type": "object", "properties": scores, "required": names}
    return {**shape, "additionalProperties": False}


def form(n: int) -> dict[str, list[str]]:
    """Return a reply in the form that prompts ask for, with gaps for ``n`` scores, and those."""
    keys = [f'\t"target{number}_score": ' for number in range(1, n + 1)]
    texts = ["```json\n{\n" + keys[0], *(f",\n{key}" for key in keys[1:]), "\n}\n```"]
    return {"form": texts, "choices": list(map(str, SCORES))}


UNLIKELY = "the digits had less than half of the probability"
"""What is tolerated where a model would have written something else than a score."""


def expected(text: str, n: int) -> Completion:
    """Read the expectations of ``n`` scores in the probabilities of a :func:`form`."""
    content = json_object(text)
    try:
        scores = [math.fsum(map(mul, SCORES, share)) for share in content["probabilities"]]
        likely = min(content["mass"]) >= 0.5
    except (KeyError, TypeError, ValueError):
        scores, likely = [], True
    if len(scores) != n or not all(SCORES[0] <= score <= SCORES[-1] for score in scores):
        return Completion("invalid", text, reason="there are no probabilities of all scores")
    state, reason = ("ok", "") if likely else ("coerced", UNLIKELY)
    return Completion(state, text, tuple(scores), reason)


def read(text: str, n: int) -> Completion:
    """Read a reply on ``n`` targets.

    The answer is the first of these that is JSON: the whole text; the last block after
    ```` ```json ````; the first ``{...}``, unless a later one differs. If it is unusable, the
    others are not read. Without any JSON the answer is all that has the form ``target 1: 4``.
    ``scores`` is ``None`` unless there is exactly one score from 1 to 5 for each target.
    """
    try:
        pairs, tolerated = _answer(text, n)
        scores, more = _scores(pairs, n)
    except _UnreadableError as error:
        return Completion("invalid", text, reason=str(error))
    reason = "; ".join(dict.fromkeys([*tolerated, *more]))
    return Completion("coerced" if reason else "ok", text, scores, reason)


def _answer(text: str, n: int) -> tuple[Pairs, list[str]]:
    if not (bare := text.strip().removeprefix("\ufeff").strip()):
        raise _UnreadableError("the reply is empty")
    _, thought, rest = bare.rpartition(_THOUGHT)
    whole, tolerated = rest.strip(), ["thoughts before the answer"] if thought else []
    blocks = _FENCE.findall(whole)
    fenced = bool(_FENCE.fullmatch(whole)) and len(blocks) == 1  # the form that prompts ask for
    around = [] if fenced else ["text around the JSON"]
    for candidate, notes in [(whole, []), *((block, around) for block in blocks[-1:])]:
        if (parsed := _parsed(candidate)) is not None:
            return parsed[0], tolerated + notes + parsed[1]
    objects = [_parsed(piece) for piece in _balanced(whole)]
    if not objects or objects[0] is None:
        pairs: Pairs = []
        for mention in _MENTION.finditer(whole):
            if (number := _PLAIN.match(whole, mention.end())) is None:
                raise _UnreadableError(f"{mention[0].strip()!r} is followed by no plain number")
            pairs.append((f"target{mention[1] or mention[2]}_score", json.loads(number[1])))
        if not pairs or whole.count("{") != whole.count("}"):
            raise _UnreadableError("there is no JSON object in the reply")
        return pairs, [*tolerated, "no JSON, but 'target 1: 4'"]
    first = objects[0]
    for other in objects[1:]:
        if other is not None and _differ(first[0], other[0], n):
            raise _UnreadableError("there are two different answers in the reply")
    return first[0], [*tolerated, "text around the JSON", *first[1]]


def _differ(first: Pairs, other: Pairs, n: int) -> bool:
    """Whether the second object has scores, and other ones than the first."""
    if not any(_KEY.fullmatch(key) or key.lower() == "scores" for key, _ in other):
        return False
    try:
        return _scores(first, n)[0] != _scores(other, n)[0]
    except _UnreadableError:
        return True


def _parsed(text: str) -> tuple[Pairs, list[str]] | None:
    bare = _EXTRAS.sub(lambda match: match[1] or "", text)
    for candidate, tolerated in ((text, []), (bare, ["comments or trailing commas"])):
        with suppress(ValueError, RecursionError):
            value = json.loads(candidate, object_pairs_hook=_Object, parse_constant=_refuse)
            if isinstance(value, _Object):
                return value, tolerated
    return None


class _Object(Pairs):
    """A JSON object with its repeated keys, distinguishable from arrays."""


def _refuse(name: str) -> None:
    raise ValueError(name)  # NaN and Infinity are not JSON


def _balanced(text: str) -> Iterator[str]:
    """Yield the ``{...}`` of a text, outermost ones, in order; braces in strings do not count."""
    depth, start, place = 0, 0, 0
    # quotation marks of the text around are no strings
    while match := (_INSIDE if depth else _OPENING).search(text, place):
        place = match.end()
        if match[0] == "{":
            start = start if depth else match.start()
            depth += 1
        elif match[0] == "}":
            depth -= 1
            if not depth:
                yield text[start:place]


def _scores(pairs: Pairs, n: int) -> tuple[tuple[float, ...], list[str]]:
    values: dict[int, Any] = {}
    tolerated: list[str] = []
    for key, value in pairs:
        for number, score in _numbered(key, value):
            if number in values:
                raise _UnreadableError(f"target {number} is scored twice")
            values[number] = score
        if not re.fullmatch("target[1-9][0-9]*_score", key):
            known = _KEY.fullmatch(key) or key.lower() == "scores"
            tolerated.append("keys spelled otherwise" if known else "more keys than asked for")
    if missing := [str(number) for number in range(1, n + 1) if number not in values]:
        raise _UnreadableError(f"the score of target {', '.join(missing)} is missing")
    if len(values) > n:
        raise _UnreadableError(f"there are scores for more than {n} targets")
    scores = {number: _score(number, value) for number, value in values.items()}
    if any(not isinstance(value, int) for value in values.values()):
        tolerated.append("scores written as text or with a decimal point")
    return tuple(scores[number] for number in range(1, n + 1)), tolerated


def _numbered(key: str, value: object) -> list[tuple[int, Any]]:
    if match := _KEY.fullmatch(key):
        digits = match[1] or match[2]
        return [(int(digits) if len(digits) < 4 else -1, value)]
    if key.lower() != "scores":
        return []
    if isinstance(value, _Object):
        return [pair for inner in value for pair in _numbered(*inner)]
    if not isinstance(value, list):
        raise _UnreadableError('"scores" is no array')
    return list(enumerate(cast(list[Any], value), start=1))


def _score(number: int, value: object) -> int:
    digit = isinstance(value, str) and re.fullmatch(r"\s*([0-9])(?:\.0+)?\s*", value, re.ASCII)
    number_like = isinstance(value, int | float) and not isinstance(value, bool)
    whole = int(digit[1]) if digit else value if number_like else None
    if whole not in SCORES:
        raise _UnreadableError(f"the score of target {number} is not one of 1, 2, 3, 4, 5")
    return int(cast(float, whole))


def completion(body: Mapping[str, Any], targets: int, *, likelihood: bool = False) -> Completion:
    """Read the first choice of a chat completion that has a message; expect ``targets`` scores."""
    message: Mapping[str, Any] = body["choices"][0]["message"]
    text, refusal = _text(message.get("content")), _text(message.get("refusal"))
    if refusal.strip():
        return Completion("refused", refusal, reason="the model refused")
    match finish_of(body):
        case "content_filter":
            return Completion("refused", text, reason="the provider's filter stopped the reply")
        case "length":
            return Completion("cut", text, reason="the reply was cut at its limit (max_output)")
        case _:
            return expected(text, targets) if likelihood else read(text, targets)


def name_of(body: Mapping[str, Any], field: str) -> str | None:
    """Return a short text field of a body, such as the model's name or the fingerprint."""
    value = body.get(field)
    return _text(value)[:200] if isinstance(value, str) else None


def _text(content: object) -> str:
    """Return a text that can be encoded; some servers send a list of parts."""
    if isinstance(content, list):
        texts = [object_of(part).get("text") for part in cast("list[Any]", content)]
        content = "".join(text for text in texts if isinstance(text, str))
    return content.encode("utf-8", "replace").decode() if isinstance(content, str) else ""
