"""Models that converse, against a twin that reads one text at a time and keeps nothing."""

from __future__ import annotations

import json

import numpy as np
import pytest

import made_models
from grammeter.core import DataError, UsageError
from grammeter.llm.reply import form
from grammeter.models import Chat, Runtime, chat, using

TEXTS = ["the cat", "they walked to school in the morning, and it was a very good one",
         "She said: \"1 2 3\"", "é è ü", "dogs are not cats .", "a"]  # fmt: skip


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    return made_models.chat(tmp_path_factory.mktemp("chat"))


@pytest.fixture(params=["made here", "llama-chat"])
def model(request, made):
    if request.param == "made here":
        return made
    shared = request.getfixturevalue("shared")
    return str(shared / "golden" / "neural" / "tiny_models" / "llama-chat")


def body(text, **more):
    usual = {"temperature": 0, "top_p": 1, "seed": 1, "max_tokens": 12}
    return {"model": "any", "messages": [{"role": "user", "content": text}], **usual, **more}


def answers(model, bodies, **runtime):
    """Return the replies in the order of their requests."""
    with using(Runtime(**runtime)):
        judge = Chat(model)
    rows = dict(row for batch in judge.answer(bodies) for row in batch)
    return [rows[place] for place in range(len(bodies))]


def content(reply):
    return reply["choices"][0]["message"]["content"]


class Twin:
    """Reads every text from its beginning, alone, without a cache of states."""

    def __init__(self, model):
        import torch
        import transformers

        self.torch = torch
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(model)
        self.model = transformers.AutoModelForCausalLM.from_pretrained(model).eval()

    def tokens(self, text):
        return self.tokenizer(text, add_special_tokens=False)["input_ids"]

    def prompt(self, text):
        return self.tokens(
            self.tokenizer.apply_chat_template(
                [{"role": "user", "content": text}], tokenize=False, add_generation_prompt=True
            )
        )

    def logits(self, tokens):
        with self.torch.no_grad():
            return self.model(self.torch.tensor([tokens])).logits[0, -1].double()

    def shares(self, text, targets):
        """Return probabilities of 1 to 5 for each target, and of the five together."""
        start, shares, masses = self.prompt(text), [], []
        written = "```json\n{\n"
        for number in range(1, targets + 1):
            written += f'\t"target{number}_score": '
            ends = [self.tokens(written + digit)[-1] for digit in "12345"]
            before = self.tokens(written + "1")[:-1]
            probabilities = self.logits([*start, *before]).softmax(0)[ends]
            masses.append(float(probabilities.sum()))
            shares.append((probabilities / probabilities.sum()).tolist())
            written += f"{1 + int(np.argmax(shares[-1]))},\n"
        return shares, masses

    def reply(self, text, most):
        tokens, start = [], self.prompt(text)
        while len(tokens) < most:
            best = int(self.logits([*start, *tokens]).argmax())
            if best == self.tokenizer.eos_token_id:
                break
            tokens.append(best)
        return self.tokenizer.decode(tokens, skip_special_tokens=True)


def test_likelihoods_are_those_of_the_twin(model):
    twin = Twin(model)
    bodies = [body(text, **form(2 + at % 4)) for at, text in enumerate(TEXTS)]
    for at, reply in enumerate(answers(model, bodies)):
        said = json.loads(content(reply))
        shares, masses = twin.shares(TEXTS[at], 2 + at % 4)
        np.testing.assert_allclose(said["probabilities"], shares, rtol=1e-4)
        np.testing.assert_allclose(said["mass"], masses, rtol=1e-4)
        assert said["choices"] == list("12345")
        assert np.ptp(shares) > 1e-3
        assert reply["usage"]["prompt_tokens"] == len(twin.prompt(TEXTS[at]))


def test_replies_are_those_of_the_twin(model):
    twin = Twin(model)
    replies = answers(model, [body(text) for text in TEXTS])
    assert [content(reply) for reply in replies] == [twin.reply(text, 12) for text in TEXTS]
    assert len(set(map(content, replies))) > 1


@pytest.mark.parametrize("more", [{}, {"temperature": 0.9, "top_p": 0.8}, form(3)])
def test_the_size_of_a_batch_changes_nothing(made, more):
    bodies = [body(text, **more) for text in TEXTS]
    together, alone = (answers(made, bodies, batch_tokens=n) for n in (10_000, 1))
    if "form" in more:
        one, two = ([json.loads(content(r))["probabilities"] for r in x] for x in (together, alone))
        np.testing.assert_allclose(one, two, rtol=1e-5)
    else:
        assert together == alone


def test_a_sampled_reply_depends_on_seed_and_prompt_alone(made):
    hot = [body(TEXTS[0], temperature=1, seed=seed) for seed in (1, 2, 1)]
    first, second, again = map(content, answers(made, hot))
    assert first == again != second
    assert first != content(answers(made, [body(TEXTS[0])])[0])
    narrow = body(TEXTS[0], temperature=1, top_p=1e-6)
    assert answers(made, [narrow]) == answers(made, [body(TEXTS[0])])


def test_tokens_are_drawn_by_their_probabilities():
    torch = pytest.importorskip("torch")

    def draw(place, temperature, top_p):
        return temperature, top_p, type("Random", (), {"random": lambda _: place})()

    shares = [0.1, 0.6, 0.05, 0.25]
    places = (np.arange(1000) + 0.5) / 1000
    logits = torch.tensor([shares] * 1000).log()

    def counts(temperature, top_p):
        draws = [draw(float(place), temperature, top_p) for place in places]
        return np.bincount(chat._choose(logits, draws), minlength=4).tolist()

    assert counts(1, 1) == pytest.approx([100, 600, 50, 250], abs=1)
    assert counts(1, 0.7) == pytest.approx([0, 600 / 0.85, 0, 250 / 0.85], abs=1)
    assert counts(1, 0.6 - 1e-6) == [0, 1000, 0, 0]
    roots = np.sqrt(shares)
    assert counts(2, 1) == pytest.approx((1000 * roots / roots.sum()).tolist(), abs=1)
    assert counts(0, 1) == [0, 1000, 0, 0]


def test_a_reply_ends_at_its_limit_or_at_that_of_the_context(made):
    (reply,) = answers(made, [body("a", max_tokens=3)])
    assert (reply["choices"][0]["finish_reason"], reply["usage"]["completion_tokens"]) == (
        "length",
        3,
    )


def test_the_end_of_a_text_ends_a_reply(made, monkeypatch):
    whole = answers(made, [body(TEXTS[0])])[0]
    third = Twin(made).tokens(content(whole))[2]
    monkeypatch.setattr(chat, "_ends", lambda loaded: {third})
    cut = answers(made, [body(TEXTS[0])])[0]
    assert cut["choices"][0]["finish_reason"] == "stop"
    assert content(whole).startswith(content(cut))
    assert cut["usage"]["completion_tokens"] < 3 <= whole["usage"]["completion_tokens"]


def test_a_prompt_beyond_the_context_is_an_error(tmp_path):
    model = made_models.chat(tmp_path, positions=200)
    judge = Chat(model)
    length = answers(model, [body("a " * 20)])[0]["usage"]["prompt_tokens"]
    judge.check([body("a " * 20, max_tokens=200 - length)])
    with pytest.raises(
        DataError, match=rf"1 of 2 .* takes 200 tokens, .* {length}, .* {201 - length}"
    ):
        judge.check([body("a", max_tokens=1), body("a " * 20, max_tokens=201 - length)])
    judge.check([body("a", **form(2))])
    with pytest.raises(DataError, match="1 of 2 prompts"):
        judge.check([body("a", **form(2)), body("a " * 100, **form(5))])


def test_a_model_without_a_chat_template_is_refused(tmp_path):
    model = made_models.chat(tmp_path, template=None)
    with pytest.raises(DataError, match="has no chat template"):
        Chat(model).check([body("a")])


def test_a_template_that_refuses_the_messages(tmp_path):
    model = made_models.chat(tmp_path, template="{{ raise_exception('no system here') }}")
    with pytest.raises(DataError, match="no system here"):
        Chat(model).check([body("a")])


def test_settings_of_the_template(made):
    plain, more = answers(made, [body("a"), body("a", chat_template_kwargs={"prefix": "the cat"})])
    assert more["usage"]["prompt_tokens"] > plain["usage"]["prompt_tokens"]


def test_fields_that_mean_nothing_here(made):
    with pytest.raises(UsageError, match="'reasoning_effort'"):
        Chat(made).check([body("a", reasoning_effort="low")])


def test_choices_of_several_tokens_are_refused(made):
    with pytest.raises(DataError, match="does not write 1, 10 as one token each"):
        Chat(made).check([body("a", form=["so: ", "."], choices=["1", "10"])])


def test_the_template_is_a_part_of_the_identity(tmp_path):
    first = made_models.chat(tmp_path / "m")
    before = Chat(first).identity
    (tmp_path / "m" / "chat_template.jinja").write_text("{{ messages[0]['content'] }}", "utf-8")
    assert Chat(first).identity != before
    assert before.startswith("m ")
    assert before.endswith(" float32 cpu")


def test_memory_that_runs_out_halves_the_batch(made, monkeypatch):
    whole, sizes = answers(made, [body(text) for text in TEXTS]), []
    generate = chat._generate

    def scarce(loaded, prompts, bodies):
        sizes.append(len(prompts))
        if len(prompts) > 2:
            raise MemoryError
        return generate(loaded, prompts, bodies)

    monkeypatch.setattr(chat, "_generate", scarce)
    assert answers(made, [body(text) for text in TEXTS], batch_tokens=10_000) == whole
    assert sizes[0] > sizes[1] > max(sizes[2:])
