import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tordinal.text import tuning
from tordinal.text.tuning import PseudoLabeled, Schedule, boundary_weights, pair_loss, tune
from tordinal.text.windows import Windows, forward


@given(st.lists(st.integers(0, 9), min_size=2, max_size=5), st.integers(0, 99))
def test_pseudo_labels_have_the_class_counts_and_weights_fall_to_the_boundaries(counts, seed):
    counts = np.array(counts)
    h = np.random.default_rng(seed).normal(size=counts.sum())
    y, weight = boundary_weights(h, counts)
    assert np.array_equal(np.bincount(y, minlength=len(counts)), counts)
    assert (np.diff(y[np.argsort(h)]) >= 0).all(), "the classes are in the order of h"
    assert ((weight > 0) & (weight <= 1)).all()
    present = np.unique(y)
    for k in present:
        of_class = weight[y == k][np.argsort(h[y == k])]
        assert of_class.max() == 1.0
        if len(present) == 1:
            assert (of_class == 1).all()
        elif k == present[0]:
            assert (np.diff(of_class) < 0).all()
        elif k == present[-1]:
            assert (np.diff(of_class) > 0).all()
        else:
            assert of_class == pytest.approx(of_class[::-1])


def test_the_loss_is_that_of_all_pairs():
    torch = pytest.importorskip("torch", reason="needs torch")
    rng = np.random.default_rng(0)
    E = rng.normal(size=(7, 4))
    E /= np.linalg.norm(E, axis=1, keepdims=True)
    y, weight = np.array([0, 0, 1, 2, 3, 3, 1]), rng.uniform(0.1, 1, 7)
    equal, apart = [], []
    for i, j in itertools.combinations(range(7), 2):
        off = (E[i] @ E[j] - (1 - abs(y[i] - y[j]) / 3)) ** 2
        (equal if y[i] == y[j] else apart).append((weight[i] * weight[j], off))
    wanted = sum(
        0.5 * sum(w * off for w, off in pairs) / sum(w for w, _ in pairs)
        for pairs in (equal, apart)
    )
    loss = pair_loss(*map(torch.as_tensor, (E, y, weight)), 4)
    assert float(loss) == pytest.approx(wanted)
    one_class = pair_loss(*map(torch.as_tensor, (E, np.zeros(7), weight)), 4)
    assert np.isfinite(float(one_class))


@pytest.fixture
def model(tiny_model):
    from tordinal.text.pretrained import load_model

    return load_model(tiny_model, "cpu")


def _state(model):
    return {name: tensor.numpy().copy() for name, tensor in model.state_dict().items()}


def test_tuning_brings_texts_of_a_class_together(model, rated):
    texts, true, _ = rated
    cut = Windows(model, 16, 1)
    windows, steps = cut(texts), []
    tune(model, windows, true, 3, Schedule(8, 16, 1e-2), 0, on_texts=steps.append)
    assert steps == [16] * 24
    E = forward(model, [of_text[0] for of_text in windows]).detach().numpy()
    S, equal = E @ E.T, true[:, None] == true
    assert S[equal].mean() > 0.9
    assert S[~equal].mean() < 0.4
    assert not model.training


def test_a_batch_gets_as_many_pseudo_labelled_texts(model, rated, monkeypatch):
    texts, true, _ = rated
    windows, seen = Windows(model, 16, 1)(texts), []
    pseudo = PseudoLabeled(windows[40:], true[40:], np.linspace(0.1, 0.8, 8))

    def look(model, batch, y, weight, *rest):
        seen.append((len(batch), weight.tolist()))
        return 64

    monkeypatch.setattr(tuning, "_backward", look)
    tune(model, windows[:20], true[:20], 3, Schedule(2, 10, 1e-3), 0, pseudo)
    assert [n for n, _ in seen] == [20] * 4
    assert all(weight[:10] == [1.0] * 10 for _, weight in seen)
    extra = np.concatenate([weight[10:] for _, weight in seen])
    visits = np.unique(extra, return_counts=True)[1]
    assert visits.tolist() == [5] * 8, "each is seen as often as the others"


def test_only_the_chosen_layers_are_tuned(model, rated):
    texts, true, _ = rated
    before = _state(model)
    windows = Windows(model, 16, 1)(texts)
    tune(model, windows, true, 3, Schedule(1, 32, 1e-3, n_layers=1), 0)
    after = _state(model)
    changed = {name for name in before if not np.array_equal(before[name], after[name])}
    assert changed
    assert all("layer.1." in name for name in changed)
    assert all(parameter.requires_grad for parameter in model.parameters())
    with pytest.raises(ValueError, match="n_layers=3 is more than the 2 layers"):
        tune(model, windows, true, 3, Schedule(n_layers=3), 0)


def test_out_of_memory_halves_the_parts_and_keeps_the_gradient(model, rated, monkeypatch):
    texts, true, _ = rated
    batch = [of_text[0] for of_text in Windows(model, 16, 1)(texts[:12])]
    model.eval()  # without dropout, which is not the same in parts
    weight, sizes = np.ones(12), []

    def gradient(size):
        model.zero_grad()
        fits = tuning._backward(model, batch, true[:12], weight, 3, 0, size)
        found = [p.grad.numpy().copy() for p in model.parameters() if p.grad is not None]
        return fits, found

    fits, whole = gradient(64)
    assert fits == 64

    def small_memory(model, part):
        sizes.append(len(part))
        if len(part) > 4:
            raise RuntimeError("CUDA out of memory")
        return forward(model, part)

    monkeypatch.setattr(tuning, "forward", small_memory)
    fits, in_parts = gradient(64)
    assert fits == 3
    assert sizes == [12, 6, *[3] * 8]
    for a, b in zip(whole, in_parts, strict=True):
        assert a == pytest.approx(b, abs=1e-5)

    def no_memory(model, part):
        raise MemoryError

    monkeypatch.setattr(tuning, "forward", no_memory)
    with pytest.raises(MemoryError, match="no memory to tune the encoder on a single text"):
        gradient(64)


def test_parts_repeat_their_dropout(model, rated):
    torch = pytest.importorskip("torch")
    texts, true, _ = rated
    batch = [of_text[0] for of_text in Windows(model, 16, 1)(texts[:8])]
    model.train()
    found = []
    for _ in range(2):
        torch.manual_seed(len(found))  # the step has a seed of its own
        model.zero_grad()
        tuning._backward(model, batch, true[:8], np.ones(8), 3, 5, 4)
        found.append([p.grad.clone() for p in model.parameters() if p.grad is not None])
    assert all(torch.equal(a, b) for a, b in zip(*found, strict=True))
    model.eval()
