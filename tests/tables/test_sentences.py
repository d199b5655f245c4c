import io
import json
import pickle
import shutil
import sys
import zipfile

import numpy as np
import pytest
from tiny_encoder import make_tiny_encoder

from tordinal.tables import models
from tordinal.tables.archive import ENCODER, pack, unpack
from tordinal.tables.columns import TableEncoder
from tordinal.tables.models import dump_model, load_model
from tordinal.tables.rating import rate
from tordinal.tables.settings import Settings
from tordinal.tables.target import read_target
from tordinal.tables.values import TableError
from tordinal.text import encoder

WORDS = ["story", "plot", "the", "book", "film", "very"]


@pytest.fixture(autouse=True)
def quick_tuning(monkeypatch):
    monkeypatch.setattr(encoder, "ON_CPU", {"n_folds": 2, "epochs": 3, "learning_rate": 1e-2})


def table(n=60, seed=0):
    rng = np.random.default_rng(seed)
    rank = np.arange(n) % 3
    said = [("bad", "fine", "good")[k] for k in rank]
    texts = [" ".join([*rng.choice(WORDS, 4), word]) for word in said]
    return {"review": texts, "title": [text.split()[0] for text in texts]}, rank


def rated(model, rank=None, n_rated=36, n=60, **settings):
    cells, true = table(n)
    rank = true if rank is None else rank
    target = read_target("stars", [str(k) if i < n_rated else "" for i, k in enumerate(rank)], None)
    settings = {"encoder": str(model), "C": 1.0, "loss": "hinge", "kernel": "linear"} | settings
    columns = TableEncoder(text=["review", "title"])
    return rate(cells, target, columns, Settings(**settings), lambda *_: None)


@pytest.fixture(scope="module")
def tuned(tiny_model):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoder, "ON_CPU", {"n_folds": 2, "epochs": 3, "learning_rate": 1e-2})
        return rated(tiny_model, tune=True)


@pytest.fixture(scope="module")
def frozen(tmp_path_factory, tiny_model):
    folder = tmp_path_factory.mktemp("frozen") / "tiny"
    shutil.copytree(tiny_model, folder)
    return rated(folder), folder


def test_the_projection_of_a_tuned_encoder_is_a_column_of_views_beside_those_without(tuned):
    columns = tuned.model.encoder
    names = columns.get_feature_names_out()
    assert names[-1] == ("review", "(encoder)")
    views = columns.views()
    with_it = [name for name in views if name.endswith(" and encoder")]
    assert {f"{name} and encoder" for name in set(views) - set(with_it)} == set(with_it)
    last = len(names) - 1
    for name in with_it:
        assert set(views[name]) == {*views[name.removesuffix(" and encoder")], last}
    h = tuned.X[:, [last]].toarray()[:, 0]
    assert np.corrcoef(h, table()[1])[0, 1] > 0.5
    assert tuned.curve is None, "the encoder knows all ratings, so a curve would be too flat"


def test_the_plan_says_that_the_encoder_reads_the_texts(tiny_model):
    plan = rated(tiny_model, method="redsvm", tune=False).model.encoder.plan_
    assert {c["why"] for c in plan} == {
        f"words, phrases and letters and the encoder {tiny_model.name} (not tuned)"
    }


def test_new_texts_are_encoded_as_the_unrated_ones_were(tuned):
    cells, _ = table()
    X = tuned.model.encoder.transform(cells)
    unrated = ~tuned.given
    assert abs(X[unrated] - tuned.X[unrated]).max() < 1e-6
    assert abs(X[~unrated, -1] - tuned.X[~unrated, -1]).max() > 1e-3, "those were cross-fitted"
    again = pickle.loads(pickle.dumps(tuned.model.encoder))
    assert abs(again.transform(cells) - X).max() == 0
    assert tuned.model.encoder.joined_texts({"review": ["a b", None], "title": ["c", "d"]}) == [
        "a b\nc", "d"
    ]  # fmt: skip


def test_a_saved_model_holds_the_tuned_weights(tuned, tmp_path, monkeypatch):
    monkeypatch.setenv("SENTENCE_TRANSFORMERS_HOME", str(tmp_path / "empty"))
    cells, _ = table()
    content = dump_model(tuned.model)
    with zipfile.ZipFile(io.BytesIO(unpack(content)[ENCODER])) as inner:
        assert "model.safetensors" in inner.namelist()
    assert tuned.model.encoder.sentences.content is not None, "the model itself is as it was"
    (tmp_path / "m.skops").write_bytes(content)
    model = load_model(tmp_path / "m.skops")
    assert not hasattr(model.encoder.sentences, "_loaded"), "nothing heavy is loaded yet"
    assert "tiny, tuned by the ratings; 0 MB in this file" in str(model.encoder.sentences)
    np.testing.assert_array_equal(model.rate(cells)[2], tuned.model.rate(cells)[2])
    assert dump_model(tuned.model) == content


def changed(content, change):
    """A model file with other weights, and a checksum that fits."""
    members = unpack(content)
    label = json.loads(members.pop("tordinal.json"))
    change(members)
    members["tordinal.json"] = json.dumps({**label, "sha256": models._digest(members)}).encode()
    return pack(members)


def test_corrupted_weights_give_one_clear_message(tuned, tmp_path):
    content = dump_model(tuned.model)
    path, (cells, _) = tmp_path / "m.skops", table()
    flipped = bytearray(content)
    weights = unpack(content)[ENCODER]  # stored as it is; headers of the archive have unused bytes
    flipped[content.index(weights) + len(weights) // 2] ^= 0x55
    path.write_bytes(flipped)
    with pytest.raises(TableError, match=r"damaged|was changed"):
        load_model(path)

    def truncate(members):
        members[ENCODER] = members[ENCODER][:-3000]

    def lengthen_a_header(members):
        members[ENCODER] = members[ENCODER].replace(b'"shape":[16]', b'"shape":[61]')

    for change in (truncate, lengthen_a_header):
        path.write_bytes(changed(content, change))
        model = load_model(path)
        with pytest.raises(TableError, match="the encoder in the model is not sound: The saved"):
            model.rate(cells)
    path.write_bytes(changed(content, lambda members: members.pop(ENCODER)))
    with pytest.raises(TableError, match="its sentence encoder is damaged or missing"):
        load_model(path)


def test_frozen_embeddings_are_a_view_and_a_note_says_what_tuning_would_take(frozen):
    rating, _ = frozen
    views = rating.model.encoder.views()
    assert len(views["encoder"]) == 16
    assert "words, phrases and letters and encoder" in views
    note = next(note for note in rating.notes if "there is no GPU" in note)
    assert "would take about" in note
    assert "(36 ratings, 60 texts, " in note
    assert note.endswith("use `tune`")


def test_a_frozen_encoder_that_is_missing_or_another_one_is_named(frozen, tmp_path):
    rating, folder = frozen
    cells, _ = table()
    (tmp_path / "m.skops").write_bytes(dump_model(rating.model))
    model = load_model(tmp_path / "m.skops")
    np.testing.assert_array_equal(model.rate(cells)[2], rating.model.rate(cells)[2])
    assert f"{folder}, not tuned; predictions need it (weights " in str(model.encoder.sentences)
    shutil.rmtree(folder)
    model = load_model(tmp_path / "m.skops")  # what it is can still be inspected
    with pytest.raises(TableError, match=f"{folder}, which is neither a folder nor in the cache"):
        model.rate(cells)
    make_tiny_encoder(folder, seed=1)
    with pytest.raises(TableError, match=f"{folder} has other weights here"):
        model.rate(cells)


def test_random_ratings_are_estimated_to_be_no_better_than_chance(tiny_model):
    off, constant = [], []
    for seed in range(3):
        rank = np.random.default_rng(seed).permutation(np.arange(90) % 3)
        expected = rated(tiny_model, rank, n_rated=60, n=90, tune=True, seed=seed).expected_error
        off.append(expected.mae)
        constant.append(expected.constant_mae)
        assert expected.judgement != "useful"
    # Two standard errors of 180 held-out ratings are 0.1.
    assert np.mean(off) > np.mean(constant) - 0.1


def test_an_encoder_is_tuned_by_itself_where_there_is_a_gpu(tiny_model, monkeypatch):
    from tordinal.text import pretrained

    monkeypatch.setattr(pretrained, "choose_device", lambda device: "cuda")
    seen = []
    right = encoder.SentenceEncoder.fit_transform

    def look(self, texts, y=None):
        seen.append((self.tune, self.n_folds, self.epochs))
        return right(self.set_params(epochs=1), texts, y)

    monkeypatch.setattr(encoder.SentenceEncoder, "fit_transform", look)
    assert rated(tiny_model, method="tor").model.encoder.is_tuned
    assert not rated(tiny_model, method="tor", tune=False).model.encoder.is_tuned
    few = rated(tiny_model, n_rated=3, method="tor")
    assert not few.model.encoder.is_tuned
    assert any("not tuned, because 3 ratings are too few" in note for note in few.notes)
    assert seen[:2] == [(True, 5, 20), (False, 5, 20)]
    with pytest.raises(TableError, match=r"`tune`: 3 ratings are too few; rate .* without `tune`"):
        rated(tiny_model, n_rated=3, method="tor", tune=True)


def test_what_cannot_be_used_is_named_with_what_to_do(tiny_model, tmp_path, monkeypatch):
    with pytest.raises(TableError, match="no column is read as text; name one with `text`"):
        rate({"n": [2, 7, 3, 3]}, read_target("y", ["1", "2", "", ""], None), TableEncoder(),
             Settings(encoder=str(tiny_model)), lambda *_: None)  # fmt: skip
    monkeypatch.setenv("SENTENCE_TRANSFORMERS_HOME", str(tmp_path))
    with pytest.raises(TableError, match=r"`encoder` a/b is neither .* Pass `download` to"):
        rated("a/b")
    for options, message in (
        ({"tune": True}, "`tune` requires `encoder`"),
        ({"download": True}, "`download` requires `encoder`"),
        ({"encoder": "wordllama", "tune": True}, "wordllama cannot be tuned"),
    ):
        with pytest.raises(TableError, match=message):
            Settings(**options)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(TableError, match=r'\(torch\): pip install "tordinal\[encoder\]"') as caught:
        rated(tiny_model)
    assert "\n" not in str(caught.value)
