import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tordinal.text import windows
from tordinal.text.windows import (
    TOKENS_AT_ONCE,
    KeptWindows,
    Windows,
    batches,
    embed,
    forward,
    place_windows,
)


@given(st.integers(0, 3000), st.integers(1, 126), st.integers(1, 5))
def test_windows_hold_the_whole_text_where_they_can(n_tokens, length, most):
    placed = place_windows(n_tokens, length, most)
    assert 1 <= len(placed) <= most
    assert all(0 <= a <= b <= n_tokens and b - a <= length for a, b in placed)
    assert placed[0][0] == 0
    assert placed[-1][1] == n_tokens or len(placed) == 1
    if n_tokens <= length * most:
        assert {i for a, b in placed for i in range(a, b)} == set(range(n_tokens))
        assert len(placed) == max(1, -(-n_tokens // length))


def test_batches_hold_each_row_once():
    found = list(batches(70, 32, np.random.default_rng(0)))
    assert [len(batch) for batch in found] == [24, 23, 23]
    assert sorted(np.concatenate(found).tolist()) == list(range(70))


@pytest.fixture
def model(tiny_model):
    from tordinal.text.pretrained import load_model

    return load_model(tiny_model, "cpu")


def test_each_window_has_the_special_tokens(model):
    cut = Windows(model, length=8, max_windows=4)
    start, end = model.tokenizer.cls_token_id, model.tokenizer.sep_token_id
    long, empty, short = cut(["good story " * 100, "", "bad plot"])
    assert [len(window) for window in long] == [8, 8, 8, 8]
    assert all(window[0] == start and window[-1] == end for window in long + empty + short)
    assert empty == [[start, end]]
    assert short == [model.tokenizer("bad plot")["input_ids"]]


def test_texts_are_cut_once(model, monkeypatch):
    monkeypatch.setattr(windows, "TEXTS_KEPT", 3)
    asked = []

    class Counting(Windows):
        def __call__(self, texts):
            asked.append(list(texts))
            return super().__call__(texts)

    texts = ["good story", "bad plot", "good story", "a film", "the book"]
    cut = Counting(model, length=8, max_windows=4)
    kept = KeptWindows(cut)
    for _ in range(2):
        assert kept(texts) == Windows(model, length=8, max_windows=4)(texts)
    assert asked == [["good story", "bad plot", "a film", "the book"], ["the book"]]


@pytest.mark.parametrize("side", ["left", "right"])
def test_windows_are_padded_as_the_tokenizer_pads(model, side):
    model.tokenizer.padding_side = side
    cut = [[2, 5, 6, 3], [2, 3], [2, 7, 3]]
    expected = model.tokenizer.pad({"input_ids": cut}, return_tensors="np")
    found = windows.pad(model.tokenizer, cut)
    assert set(found) == set(expected)
    for name, array in found.items():
        np.testing.assert_array_equal(array, expected[name])


def test_a_model_with_short_positions_has_short_windows(model):
    cut = Windows(model, length=128, max_windows=2)
    assert max(len(window) for window in cut(["good story " * 500])[0]) <= 64
    with pytest.raises(ValueError, match="window=2 leaves no room"):
        Windows(model, length=2, max_windows=1)


def test_an_embedding_is_the_mean_of_the_windows(model):
    cut = Windows(model, length=8, max_windows=4)
    texts = ["good story the plot " * 10, "", "bad", "very fine film"]
    X = embed(model, cut, texts)
    for text, x in zip(texts, X, strict=True):
        mean = forward(model, cut([text])[0]).double().detach().numpy().mean(axis=0)
        assert x == pytest.approx(mean / np.linalg.norm(mean), abs=1e-6)
    assert embed(model, cut, []).shape == (0, 16)


def test_texts_of_one_window_are_embedded_as_by_sentence_transformers(model):
    texts = ["good story", "bad"]
    X = embed(model, Windows(model, 64, 1), texts)
    assert pytest.approx(model.encode(texts, normalize_embeddings=True), abs=1e-6) == X


def test_texts_in_parts_and_small_batches_are_the_same(model, monkeypatch):
    cut, texts = Windows(model, 8, 4), ["good story " * n for n in range(20)]
    X, told = embed(model, cut, texts), []
    monkeypatch.setattr(windows, "TEXTS_AT_ONCE", 7)
    monkeypatch.setitem(TOKENS_AT_ONCE, "cpu", 10)
    assert embed(model, cut, texts, told.append) == pytest.approx(X, abs=1e-6)
    assert sum(told) == 20


def test_batches_are_halved_when_memory_runs_out(model, monkeypatch):
    cut, texts, sizes = Windows(model, 8, 1), ["good story"] * 16, []
    X = embed(model, cut, texts)

    def small_memory(model, batch):
        sizes.append(len(batch))
        if len(batch) > 5:
            raise RuntimeError("CUDA out of memory. Tried to allocate 20 MiB")
        return forward(model, batch)

    monkeypatch.setattr(windows, "forward", small_memory)
    assert embed(model, cut, texts) == pytest.approx(X, abs=1e-6)
    assert sizes == [16, 8, 4, 4, 4, 4]

    def no_memory(model, batch):
        raise MemoryError

    monkeypatch.setattr(windows, "forward", no_memory)
    with pytest.raises(MemoryError, match="no memory for a single window"):
        embed(model, cut, texts)
