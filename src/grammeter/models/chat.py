"""Causal language models that converse: their replies, and how likely the gaps of a form are."""

import hashlib
import inspect
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from grammeter.core import DataError, UsageError, require, words_of
from grammeter.models import files, loading
from grammeter.models.loading import Loaded
from grammeter.models.runtime import Runtime, current

Body = Mapping[str, Any]  # a request or a reply, in the shape of OpenAI's chat completions
Tokens = tuple[int, ...]
_FIELDS = {"model", "messages", "temperature", "top_p", "seed", "max_tokens",
           "chat_template_kwargs", "form", "choices"}  # fmt: skip


Form = list[tuple[Tokens, Tokens]]
"""A text with gaps: by gap, the tokens between the gap before and it, and that of each choice."""

Written = tuple[str, int, str]
"""What a model wrote, its tokens, and why it ended: "stop", or "length" if it was cut."""


class Chat:
    """A causal language model with a chat template; it is loaded when it is first needed.

    A request with a ``form``, a list of texts between which there are gaps, is answered by the
    probabilities of its ``choices`` in each gap, as JSON: ``probabilities`` add up to 1, ``mass``
    is the share of the choices in the probability of all tokens. Gaps are filled from left to
    right, by the most probable choice. Any other request is answered in the model's words: the
    most probable tokens at ``temperature`` 0, else tokens drawn by ``seed`` and prompt. No answer
    depends on the others of its batch, but for float noise.

    Raises MissingResourceError if the model, torch or transformers is missing.
    """

    def __init__(self, name: str) -> None:
        files.check_installed()
        self._files: files.ModelFiles = files.find_model(name)
        self._runtime: Runtime = current()

    @property
    def identity(self) -> str:
        """What answers depend on besides the request: name, hash, number type, kind of device."""
        name, runtime = self._files.name.rstrip("/").rpartition("/")[2], self._runtime
        kind = runtime.device.partition(":")[0]
        return f"{name} {self._files.hash} {runtime.dtype} {kind}"

    def check(self, requests: Sequence[Body]) -> None:
        """Raise :class:`DataError` if a prompt and the longest reply to it exceed the context.

        Nothing is cut. :class:`UsageError`: a request has a field that means nothing here.
        """
        for name in sorted({name for request in requests for name in request} - _FIELDS):
            fix = "Leave it out; chat_template_kwargs are taken."
            raise UsageError(f"body: a model in this process takes no {name!r}", fix=fix)
        loaded = self._loaded()
        lengths = [(len(_prompt(loaded, body)), _most(loaded, body)) for body in requests]
        if beyond := [pair for pair in lengths if loaded.limit and sum(pair) > loaded.limit]:
            fault = f"{len(beyond)} of {len(requests)} prompts are too long for the model"
            longest = "the longest prompt has {}, and its reply may have {}".format(*max(beyond))
            what = f"{fault} {self._files.name!r}: it takes {loaded.limit} tokens, {longest}"
            fix = "Use a longer context, shorter replies (--max-output), or leave out the longest"
            where = str(self._files.folder)
            raise DataError(what, where=where, fix=f"{fix} sentences; nothing is cut.")

    def answer(self, requests: Sequence[Body]) -> Iterator[list[tuple[int, Body]]]:
        """Yield batches of replies, each with the place of its request, long requests first."""
        loaded, runtime = self._loaded(), self._runtime
        prompts = [_prompt(loaded, body) for body in requests]

        def step(places: list[int], numbers: list[int]) -> list[Written]:
            batch = [places[number] for number in numbers]
            write = _fill if "form" in requests[batch[0]] else _generate
            return write(loaded, [prompts[at] for at in batch], [requests[at] for at in batch])

        for places in loading.gather(map(_texts, requests)).values():  # one form in a batch
            lengths = [len(prompts[at]) + _most(loaded, requests[at]) for at in places]
            write = partial(step, places)
            for batch, replies in loading.in_batches(lengths, runtime.budget, write, runtime.tally):
                at = [places[number] for number in batch]
                sizes = [len(prompts[place]) for place in at]
                yield list(zip(at, map(self._completion, sizes, replies), strict=True))

    def _loaded(self) -> Loaded:
        loaded = loading.load(self._files, "AutoModelForCausalLM", self._runtime)
        if not loaded.tokenizer.chat_template:
            fix = "Name a model that was ('-instruct', '-chat'), or add its chat_template.jinja."
            raise self._files.misfit("has no chat template: it was not trained to answer", fix)
        return loaded

    def _completion(self, read: int, reply: Written) -> Body:
        text, tokens, finish = reply
        message = {"role": "assistant", "content": text}
        usage = {"prompt_tokens": read, "completion_tokens": tokens}
        return {
            "object": "chat.completion",
            "model": self._files.name,
            "system_fingerprint": self._files.hash,
            "choices": [{"index": 0, "finish_reason": finish, "message": message}],
            "usage": usage | {"total_tokens": read + tokens},
        }


def _prompt(loaded: Loaded, body: Body) -> Tokens:
    messages, options = list(body["messages"]), body.get("chat_template_kwargs", {})
    try:
        text = loaded.tokenizer.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=True, **options
        )
    except Exception as error:
        what = f"has a chat template that refuses the messages: {words_of(error)}"
        raise loaded.files.misfit(what, "Leave out the system message, if there is one.") from error
    return _tokens(loaded, text)


def _tokens(loaded: Loaded, text: str) -> Tokens:
    return tuple(loaded.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])


def _texts(body: Body) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(body.get("form", ())), tuple(body.get("choices", ()))


def _most(loaded: Loaded, body: Body) -> int:
    if "form" not in body:
        return int(body["max_tokens"])
    return sum(len(piece) + 1 for piece, _ in _form(loaded, *_texts(body)))


class _Reader:
    def __init__(self, loaded: Loaded) -> None:
        self._loaded = loaded
        self._takes = set(inspect.signature(loaded.model.forward).parameters)
        self._states: Any = None
        self._mask: Any = None

    def read(self, rows: Sequence[Sequence[int]]) -> Any:
        """Read tokens of each text; return logits of those that follow, ``(texts, vocabulary)``."""
        torch: Any = require("torch", extra="neural")
        tokens, mask = (  # padded on the left
            self._loaded.padded([row[::-1] for row in part]).flip(1)
            for part in (rows, [(1,) * len(row) for row in rows])
        )
        self._mask = mask if self._mask is None else torch.cat([self._mask, mask], 1)
        positions = (self._mask.cumsum(1) - 1).clamp(min=0)[:, -tokens.shape[1] :]
        more = {"position_ids": positions, "logits_to_keep": 1}
        with torch.inference_mode():
            read = self._loaded.model(
                input_ids=tokens,
                attention_mask=self._mask,
                past_key_values=self._states,
                use_cache=True,
                **{name: value for name, value in more.items() if name in self._takes},
            )
            self._states = read.past_key_values
            return read.logits[:, -1].float()


# --- the probabilities of choices ----------------------------------------------------------
@lru_cache(maxsize=32)
def _form(loaded: Loaded, texts: tuple[str, ...], choices: tuple[str, ...]) -> Form:
    """Return a form in the tokens of a model; each choice must be one token."""
    versions = [_tokens(loaded, choice.join(texts)) for choice in choices]
    gaps: dict[int, Tokens] = {}
    if len({len(version) for version in versions}) == 1:
        columns = enumerate(zip(*versions, strict=True))
        gaps = {at: column for at, column in columns if len(set(column)) > 1}
    if [len(set(gap)) for gap in gaps.values()] != [len(choices)] * (len(texts) - 1):
        what = f"does not write {', '.join(choices)} as one token each"
        raise loaded.files.misfit(what, "Read what it writes: --read text.")
    starts = [0, *(at + 1 for at in gaps)]
    pieces = (versions[0][start:end] for start, end in zip(starts, gaps, strict=False))
    return list(zip(pieces, gaps.values(), strict=True))


def _fill(loaded: Loaded, prompts: Sequence[Tokens], bodies: Sequence[Body]) -> list[Written]:
    """Return the probabilities of the choices in each gap of a form, the same one for all."""
    texts, choices = _texts(bodies[0])
    reader = _Reader(loaded)
    rows: list[Tokens] = [*prompts]
    by_gap: list[Any] = []
    for piece, tokens in _form(loaded, texts, choices):
        logits = reader.read([(*row, *piece) for row in rows]).cpu().double()
        chosen = logits[:, list(tokens)]
        mass = (chosen.logsumexp(1) - logits.logsumexp(1)).exp()
        by_gap.append(zip(chosen.softmax(1).tolist(), mass.tolist(), strict=True))
        rows = [(tokens[at],) for at in chosen.argmax(1).tolist()]
    size = _most(loaded, bodies[0])
    replies: list[Written] = []
    for of_row in zip(*by_gap, strict=True):
        probabilities, mass = zip(*of_row, strict=True)
        content = {"choices": choices, "probabilities": probabilities, "mass": mass}
        replies.append((json.dumps(content), size, "stop"))
    return replies


# --- words ---------------------------------------------------------------------------------
def _generate(loaded: Loaded, prompts: Sequence[Tokens], bodies: Sequence[Body]) -> list[Written]:
    reader, ends = _Reader(loaded), _ends(loaded)
    limit = loaded.limit or loading.LARGEST_LIMIT
    both = list(zip(bodies, prompts, strict=True))
    draws = [_draw(body, prompt) for body, prompt in both]
    room = [min(_most(loaded, body), limit - len(prompt)) for body, prompt in both]
    written: list[list[int]] = [[] for _ in prompts]
    finish = ["" for _ in prompts]
    rows: Sequence[Tokens] = prompts
    while not all(finish):
        chosen = _choose(reader.read(rows), draws)
        for at, token in enumerate(chosen):
            if not finish[at] and token in ends:
                finish[at] = "stop"
            elif not finish[at]:
                written[at].append(token)
                finish[at] = "length" if len(written[at]) >= room[at] else ""
        rows = [(token,) for token in chosen]
    texts = loaded.tokenizer.batch_decode(written, skip_special_tokens=True)
    return list(zip(texts, map(len, written), finish, strict=True))


Draw = tuple[float, float, np.random.Generator]  # temperature, top_p, and what draws


def _draw(body: Body, prompt: Tokens) -> Draw:
    digest = hashlib.blake2b(np.array(prompt, dtype="<i8").tobytes(), digest_size=8).digest()
    random = np.random.default_rng([int(body.get("seed", 1)), int.from_bytes(digest, "little")])
    return float(body.get("temperature", 0)), float(body.get("top_p", 1)), random


def _choose(logits: Any, draws: Sequence[Draw]) -> list[int]:
    """Return a token for each row of logits: the most probable one at temperature 0, or a draw.

    Draws are from the fewest most probable tokens whose probabilities add up to ``top_p``.
    """
    best = logits.argmax(1)
    if not any(temperature for temperature, *_ in draws):
        return best.tolist()
    rows = [(*settings, random.random()) for *settings, random in draws]
    heat, top, place = (logits.new_tensor(column)[:, None] for column in zip(*rows, strict=True))
    ordered = (logits / heat.clamp(min=1e-6)).softmax(1).sort(dim=1, descending=True, stable=True)
    sums = ordered.values.cumsum(1)
    sums = (ordered.values * (sums - ordered.values < top)).cumsum(1)
    at = (sums <= place * sums[:, -1:]).sum(1, keepdim=True).clamp(max=sums.shape[1] - 1)
    return best.where(heat[:, 0] == 0, ordered.indices.gather(1, at)[:, 0]).tolist()


def _ends(loaded: Loaded) -> set[int]:
    said: Any = loaded.model.generation_config.eos_token_id
    return {*np.ravel([] if said is None else said).tolist(), loaded.tokenizer.eos_token_id}
