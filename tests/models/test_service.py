"""Asking once for all: equal items are measured once, what a cache knows not at all."""

from __future__ import annotations

import sys
import types
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import made_models
from grammeter.core import MissingResourceError
from grammeter.models.runtime import Runtime, using
from grammeter.models.service import (
    Likelihood,
    MeanSimilarity,
    Measure,
    Perplexity,
    Regression,
    Request,
    TokenSimilarity,
    answer,
    run_together,
)


@dataclass(frozen=True, kw_only=True)
class Length(Measure, room="a_made_room", columns="length"):
    """Letters of an item times a factor, and whether it has more than five."""

    factor: int = 1


@dataclass(frozen=True, kw_only=True)
class Other(Measure, room="another_made_room", columns="code"):
    """A measure of another room."""


def letters(item):
    return len(item) if isinstance(item, str) else sum(map(len, item))


def length(item, factor=1):
    """The slow obvious twin."""
    count = letters(item)
    return [np.nan if item == "?" else float(factor * count), float(count > 5)]


class Room(types.ModuleType):
    """A room that measures lengths one by one, the last item first, and remembers the asking."""

    def __init__(self, name):
        super().__init__(name)
        self.calls = []
        self.stop_after = None

    def answer(self, files, questions, runtime):
        self.calls.append({measure: list(items) for measure, items in questions.items()})
        done = 0
        for measure, items in questions.items():
            for position in reversed(range(len(items))):
                if done == self.stop_after:
                    raise KeyboardInterrupt
                done += 1
                row = (
                    [1.0, 0.0]
                    if isinstance(measure, Other)
                    else length(items[position], measure.factor)
                )
                yield measure, [position], np.array([row])

    @property
    def received(self):
        return [item for call in self.calls for items in call.values() for item in items]


@pytest.fixture
def room(monkeypatch):
    made = Room(Length.room)
    monkeypatch.setitem(sys.modules, Length.room, made)
    return made


@pytest.fixture
def other(monkeypatch):
    made = Room(Other.room)
    monkeypatch.setitem(sys.modules, Other.room, made)
    return made


@pytest.fixture
def model(tmp_path):
    return made_folder(tmp_path / "model")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a model whose room is there for the whole module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, Length.room, Room(Length.room))
        yield made_folder(tmp_path_factory.mktemp("made") / "model")


def made_folder(folder, weights="weights"):
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_text(weights)
    return str(folder)


def twin(items, factor=1):
    return np.array([length(item, factor) for item in items]).reshape(len(items), 2)


class TestAnswer:
    def test_rows_in_the_order_of_the_items(self, room, model):
        items = ["bb", "a", ("a", "bc"), "bb", "dddddd", ""]
        (figures,) = answer([Request(model, Length(), items)])
        np.testing.assert_array_equal(figures, twin(items))
        assert room.received == ["bb", "a", ("a", "bc"), "dddddd", ""]

    def test_equal_items_of_several_requests_are_measured_once(self, room, model):
        first, second = answer(
            [Request(model, Length(), ["a", "b"]), Request(model, Length(), ["b", "c", "b"])]
        )
        np.testing.assert_array_equal(first, twin(["a", "b"]))
        np.testing.assert_array_equal(second, twin(["b", "c", "b"]))
        assert room.calls == [{Length(): ["a", "b", "c"]}]

    def test_measures_of_one_room_are_asked_together(self, room, model):
        two = Length(factor=2)
        figures = answer([Request(model, Length(), ["a"]), Request(model, two, ["a", "bb"])])
        assert room.calls == [{Length(): ["a"], two: ["a", "bb"]}]
        np.testing.assert_array_equal(figures[1], twin(["a", "bb"], 2))

    def test_rooms_and_models_are_asked_apart(self, room, other, model, tmp_path):
        second = made_folder(tmp_path / "second")
        requests = [
            Request(model, Length(), ["a"]),
            Request(model, Other(), ["a"]),
            Request(second, Length(), ["a"]),
        ]
        assert [rows.shape for rows in answer(requests)] == [(1, 2)] * 3
        assert len(room.calls) == 2
        assert other.calls == [{Other(): ["a"]}]

    def test_nothing_to_ask(self, room, model):
        assert answer([]) == []
        (figures,) = answer([Request(model, Length(), [])])
        assert figures.shape == (0, 2)
        assert room.calls == []

    def test_a_missing_model_is_told_before_its_room_is_asked(self, room):
        with pytest.raises(MissingResourceError, match="there is no folder"):
            answer([Request("/no/such", Length(), ["a"])])
        assert room.calls == []

    @given(st.lists(st.lists(st.text("ab?", max_size=3), max_size=6), max_size=4))
    def test_as_if_each_were_asked_alone(self, made, groups):
        figures = answer([Request(made, Length(), items) for items in groups])
        for rows, items in zip(figures, groups, strict=True):
            np.testing.assert_array_equal(rows, twin(items))


class TestCache:
    @pytest.fixture(autouse=True)
    def cached(self, tmp_path):
        self.runtime = Runtime(cache_dir=tmp_path / "cache")
        with using(self.runtime):
            yield

    def test_what_is_known_is_not_asked_again(self, room, model):
        answer([Request(model, Length(), ["a", "bb"])])
        (figures,) = answer([Request(model, Length(), ["bb", "ccc", "a"])])
        np.testing.assert_array_equal(figures, twin(["bb", "ccc", "a"]))
        assert room.received == ["a", "bb", "ccc"]
        assert self.runtime.tally.known == 2

    def test_where_all_is_known_the_room_is_not_opened(self, room, model, monkeypatch):
        answer([Request(model, Length(), ["a"])])
        monkeypatch.setitem(sys.modules, Length.room, None)
        (figures,) = answer([Request(model, Length(), ["a"])])
        np.testing.assert_array_equal(figures, twin(["a"]))

    def test_a_figure_that_is_nan_is_known(self, room, model):
        for _ in range(2):
            (figures,) = answer([Request(model, Length(), ["?"])])
            assert np.isnan(figures[0, 0])
        assert room.received == ["?"]

    def test_measures_do_not_answer_for_each_other(self, room, model):
        answer([Request(model, Length(), ["a"])])
        (figures,) = answer([Request(model, Length(factor=2), ["a"])])
        np.testing.assert_array_equal(figures, twin(["a"], 2))

    def test_other_weights_know_nothing(self, room, model, tmp_path):
        answer([Request(model, Length(), ["a"])])
        (tmp_path / "second").mkdir()
        answer([Request(made_folder(tmp_path / "second" / "model", "other"), Length(), ["a"])])
        assert room.received == ["a", "a"]

    def test_a_copy_of_the_same_name_knows_all(self, room, model, tmp_path):
        answer([Request(model, Length(), ["a"])])
        (tmp_path / "second").mkdir()
        answer([Request(made_folder(tmp_path / "second" / "model"), Length(), ["a"])])
        assert room.received == ["a"]

    def test_a_copy_of_another_name_may_have_another_layer(self, room, model, tmp_path):
        answer([Request(model, Length(), ["a"])])
        answer([Request(made_folder(tmp_path / "distilbert-base-uncased"), Length(), ["a"])])
        assert room.received == ["a", "a"]

    @pytest.mark.parametrize("change", [{"dtype": "bfloat16"}, {"device": "cuda"}])
    def test_number_type_and_device_matter(self, room, model, change):
        answer([Request(model, Length(), ["a"])])
        with using(Runtime(cache_dir=self.runtime.cache_dir, **change)):
            answer([Request(model, Length(), ["a"])])
        assert room.received == ["a", "a"]

    def test_which_of_several_gpus_and_the_size_of_batches_do_not(self, room, model):
        folder = self.runtime.cache_dir
        for runtime in (Runtime(device="cuda", cache_dir=folder),
                        Runtime(device="cuda:1", batch_tokens=5, cache_dir=folder)):  # fmt: skip
            with using(runtime):
                answer([Request(model, Length(), ["a"])])
        assert room.received == ["a"]

    def test_what_was_measured_before_an_interrupt_is_kept(self, room, model):
        room.stop_after = 2
        with pytest.raises(KeyboardInterrupt):
            answer([Request(model, Length(), ["a", "b", "c", "d"])])
        room.stop_after = None
        room.calls.clear()
        (figures,) = answer([Request(model, Length(), ["a", "b", "c", "d"])])
        assert room.received == ["a", "b"]
        np.testing.assert_array_equal(figures, twin("abcd"))


class TestRunTogether:
    def asking(self, model, *rounds):
        """A work that asks in rounds and returns all that it was told."""
        firsts = []
        for items in rounds:
            answers = yield [Request(model, Length(), [item]) for item in items]
            firsts += [rows[0, 0] for rows in answers]
        return firsts

    def test_rounds_are_answered_in_common(self, room, model):
        works = [
            self.asking(model, ["a", "bb"], ["ccc"]),
            self.asking(model, ["bb"]),
            self.asking(model),
            self.asking(model, [], ["a", "bb"], ["dddd"]),
        ]
        assert run_together(works) == [[1, 2, 3], [2], [], [1, 2, 4]]
        assert [call[Length()] for call in room.calls] == [
            ["a", "bb"],
            ["ccc", "a", "bb"],
            ["dddd"],
        ]

    def test_no_work(self):
        assert run_together([]) == []

    def test_a_fault_of_one_work_ends_all(self, room, model):
        def broken():
            yield [Request(model, Length(), ["a"])]
            raise ValueError("broken")

        with pytest.raises(ValueError, match="broken"):
            run_together([broken(), self.asking(model, ["a"], ["b"])])


class TestRealRooms:
    """The same figures whatever goes together, in which order, and by which way they come."""

    TEXTS = ("the cat goes to school .", "The cat went to school .", "", "he walked , however !",
             "seeing a very good dog", "the cat " * 30, "in " * 9, "xylophone", "it is",
             "they walk in the house", "The cat goes to school .")  # fmt: skip
    PAIRS = tuple(zip(TEXTS, TEXTS[1:] + TEXTS[:1], strict=True))
    ASKED = (
        ("encoder", TokenSimilarity(), PAIRS),
        ("encoder", TokenSimilarity(layer=2, idf=TEXTS[:4]), PAIRS),
        ("encoder", MeanSimilarity(limit=12), PAIRS),
        ("regressor", Regression(), TEXTS),
        ("regressor", Regression(head="linear", limit=12), PAIRS),
        ("causal", Perplexity(), TEXTS),
        ("seq2seq", Likelihood(), PAIRS),
    )

    @pytest.fixture(scope="module")
    @staticmethod
    def models(tmp_path_factory):
        home = tmp_path_factory.mktemp("models")
        kinds = {kind for kind, _, _ in TestRealRooms.ASKED}
        return {kind: getattr(made_models, kind)(home / kind) for kind in sorted(kinds)}

    @staticmethod
    def requests(models):
        rows = TestRealRooms.ASKED
        return [Request(models[kind], measure, items) for kind, measure, items in rows]

    @pytest.fixture(scope="module")
    @staticmethod
    def figures(models):
        return answer(TestRealRooms.requests(models))

    def test_every_figure_is_there(self, figures):
        for (_, measure, items), rows in zip(self.ASKED, figures, strict=True):
            assert rows.shape == (len(items), len(measure.columns))
            missing = np.isnan(rows[:, 0])
            if isinstance(measure, Perplexity):  # of an empty text, and of what is too long
                assert missing.sum() <= 2
            else:
                assert not missing.any()
            assert np.unique(rows[:, 0].round(4)).size > 4, measure  # these models tell texts apart

    def test_twice_the_same(self, models, figures):
        for one, two in zip(figures, answer(self.requests(models)), strict=True):
            np.testing.assert_array_equal(one, two)

    @pytest.mark.parametrize("tokens", [1, 37, 200, 100_000])
    def test_whatever_the_size_of_batches(self, models, figures, tokens):
        with using(Runtime(batch_tokens=tokens)):
            again = answer(self.requests(models))
        for one, two in zip(figures, again, strict=True):
            np.testing.assert_allclose(one, two, rtol=2e-6, atol=1e-6)

    def test_whatever_the_order_and_the_company(self, models, figures):
        for (kind, measure, items), rows in zip(self.ASKED, figures, strict=True):
            order = np.random.default_rng(1).permutation(len(items))[:7]
            (again,) = answer([Request(models[kind], measure, [items[at] for at in order])])
            np.testing.assert_allclose(again, rows[order], rtol=2e-6, atol=1e-6)

    def test_from_the_cache_to_the_last_digit(self, models, figures, tmp_path, monkeypatch):
        with using(Runtime(cache_dir=tmp_path)) as runtime:
            answer(self.requests(models))
            tokens = runtime.tally.tokens
            again = answer(self.requests(models))
        assert runtime.tally.tokens == tokens > 0
        assert runtime.tally.known == sum(len(items) for _, _, items in self.ASKED)
        for one, two in zip(figures, again, strict=True):
            np.testing.assert_array_equal(one, two)

    def test_short_numbers_are_close(self, models, figures):
        with using(Runtime(dtype="bfloat16")):
            again = answer(self.requests(models))
        for (_, measure, _), one, two in zip(self.ASKED, figures, again, strict=True):
            np.testing.assert_allclose(
                one[:, :-1], two[:, :-1], rtol=0.1, atol=0.1, err_msg=str(measure)
            )
            np.testing.assert_array_equal(one[:, -1], two[:, -1])

    def test_long_texts_are_counted(self, models):
        long = "the cat " * 1000
        figures = answer(
            [
                Request(
                    models["encoder"], TokenSimilarity(), [(long, "a"), (long, long), ("a", "a")]
                ),
                Request(models["causal"], Perplexity(), [long, "a"]),
                Request(models["seq2seq"], Likelihood(), [(long, "a"), ("a", "a")]),
                Request(models["regressor"], Regression(), [long, (long, long), "a"]),
            ]
        )
        assert [rows[:, -1].tolist() for rows in figures] == [[1, 2, 0], [1, 0], [1, 0], [1, 1, 0]]
