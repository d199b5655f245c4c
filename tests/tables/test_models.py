import io
import json
import os
import pickle
import zipfile

import numpy as np
import pytest
import skops.io

from tordinal.datasets import make_reviews
from tordinal.tables import models
from tordinal.tables.columns import TableEncoder
from tordinal.tables.models import dump_model, load_model
from tordinal.tables.rating import Settings, rate
from tordinal.tables.target import read_target
from tordinal.tables.values import TableError

TEXTS, STARS = make_reviews(120, random_state=0)
TABLE = {"review": TEXTS, "n": [str(i % 7) for i in range(120)]}
CELLS = [str(s) if i < 40 else "" for i, s in enumerate(STARS)]


def rated(method, **options):
    settings = Settings(method=method, choose_columns=False, **options)
    return rate(TABLE, read_target("stars", CELLS, None), TableEncoder(), settings, lambda *_: None)


@pytest.fixture(scope="module")
def packed():
    return dump_model(rated("tor").model)


@pytest.mark.parametrize(
    ("method", "options"),
    [("auto", {"C": 1.0}), ("tor", {"kernel": "rbf"}), ("redsvm", {"loss": "logistic"})],
)
def test_a_saved_model_answers_as_in_memory_and_has_the_same_bytes(tmp_path, method, options):
    model = rated(method, **options).model
    content = dump_model(model)
    (tmp_path / "m.skops").write_bytes(content)
    again = load_model(str(tmp_path / "m.skops"))
    fresh = {"review": [*TEXTS[50:], "never seen words"], "n": ["3"] * 71}
    (labels, confidence, p), (labels2, confidence2, p2) = model.rate(fresh), again.rate(fresh)
    np.testing.assert_array_equal(p, p2)
    assert labels == labels2
    np.testing.assert_array_equal(confidence, confidence2)
    assert again.card == model.card
    assert content == dump_model(rated(method, **options).model)


def test_equal_lists_that_are_one_object_or_two_give_the_same_bytes():
    model = rated("tor").model
    model.encoder.set_params(scale=model.classes)
    content = dump_model(model)
    model.encoder.set_params(scale=list(model.classes))
    assert dump_model(model) == content


def test_no_training_text_is_in_the_file_of_a_linear_model(packed):
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        stored = b"".join(archive.read(name) for name in archive.namelist())
    assert TEXTS[0][:30].encode() not in stored


def repacked(content, change):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def relabel(members, **values):
    label = {**json.loads(members["tordinal.json"]), **values}
    members["tordinal.json"] = json.dumps(label).encode()


def test_other_files_and_changed_ones_are_rejected(tmp_path, packed):
    class Evil:
        def __reduce__(self):
            return os.system, (f"touch {tmp_path}/ran",)

    def tamper(members):
        name = next(n for n in members if n.endswith(".npy"))
        members[name] = members[name][:-1] + b"\x7f"

    damaged = bytearray(packed)
    for place in range(200, len(damaged) - 2000, 37):
        damaged[place] ^= 0x55

    def forge(members):
        schema = json.loads(members["schema.json"])
        encoder = schema["content"]["encoder"]
        encoder["__class__"], encoder["__module__"] = "system", "os"
        members["schema.json"] = json.dumps(schema).encode()
        rest = {n: d for n, d in members.items() if n != "tordinal.json"}
        relabel(members, sha256=models._digest(rest))

    cases = {
        "is not a tordinal model": [
            b"",
            b"hello",
            pickle.dumps(Evil()),
            skops.io.dumps({"a": 1}),
            packed[:-200],
            bytes(damaged),
            repacked(packed, lambda m: relabel(m, layout=float("inf"))),
            repacked(packed, lambda m: relabel(m, layout="2")),
            repacked(packed, lambda m: relabel(m, kind="something")),
            repacked(packed, lambda m: m.update({"evil.py": b"x"})),
        ],
        "does not read; label": [
            repacked(packed, lambda m: relabel(m, layout=1, tordinal="0.1.0"))
        ],
        "newer; upgrade": [repacked(packed, lambda m: relabel(m, layout=99, tordinal="9.9"))],
        "changed or damaged": [repacked(packed, tamper)],
        "is not a sound model and was rejected": [repacked(packed, forge)],
        "written by tordinal 0.2.0, and this is .*: label the table again": [
            repacked(repacked(packed, forge), lambda m: relabel(m, tordinal="0.2.0"))
        ],
    }
    for message, contents in cases.items():
        for content in contents:
            (tmp_path / "m.skops").write_bytes(content)
            with pytest.raises(TableError, match=message):
                load_model(str(tmp_path / "m.skops"))
    assert not (tmp_path / "ran").exists()
    with pytest.raises(TableError, match="No such file"):
        load_model(str(tmp_path / "absent.skops"))


def test_models_that_call_excluded_columns_excluded_still_load(tmp_path):
    table = {**TABLE, "id": [str(i) for i in range(len(CELLS))]}
    target = read_target("stars", CELLS, None)
    settings = Settings(method="redsvm", choose_columns=False)
    model = rate(table, target, TableEncoder(), settings, lambda *_: None).model
    for column in [*model.encoder.plan_, *model.card["columns"]]:
        if column["role"] == "excluded":
            column["role"] = "left out"
    (tmp_path / "old.skops").write_bytes(dump_model(model))
    again = load_model(str(tmp_path / "old.skops"))
    assert {c["role"] for c in again.card["columns"]} == {"text", "number", "excluded"}
    assert again.used == ["review", "n"]
