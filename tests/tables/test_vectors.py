import numpy as np
import pandas as pd
import pytest

from tordinal import load_model, rate_table
from tordinal.exceptions import InputError
from tordinal.tables.files import read_table
from tordinal.tables.vectors import expanded, read_features, vector_size

RNG = np.random.default_rng(0)
N = 150
E = RNG.normal(size=(N, 12)).round(6)
RANK = 1 + np.digitize(E[:, 0] + 0.2 * RNG.normal(size=N), [-0.5, 0.5])


def table(**columns):
    stars = [int(r) if i < 80 else None for i, r in enumerate(RANK)]
    price = (RNG.permutation(N) / 7).round(3)
    return pd.DataFrame({**columns, "price": price, "stars": pd.array(stars, dtype="Int64")})


def accuracy(rated):
    rest = ~rated.rating.given
    return np.mean(rated.rating.rank[rest] + 1 == RANK[rest])


def test_what_is_a_vector():
    assert vector_size([np.arange(3), [1, 2, 3], (0.5, 1, 2), None, ""]) == 3
    for cells in ([["1", "2"]], [[True, False]], [[1], [1, 2]], [[]], [1.0], [[[1]]], [None]):
        assert vector_size(cells) == 0
    assert expanded("e", [[1, float("nan")]]) == {"e[1]": [1.0], "e[2]": [None]}


@pytest.mark.parametrize("kind", ["lists", "arrays", "parquet", "jsonl"])
def test_a_column_of_lists_is_read_as_numbers(kind, tmp_path):
    cells = [list(map(float, row)) for row in E] if kind != "arrays" else list(E)
    frame = table(e=pd.Series(cells, dtype=object))
    source = frame
    if kind == "parquet":
        source = tmp_path / "t.parquet"
        frame.to_parquet(source)
    elif kind == "jsonl":
        source = tmp_path / "t.jsonl"
        frame.to_json(source, orient="records", lines=True)
    rated = rate_table(source, "stars", method="redsvm")
    assert [name for name in rated.model.used if name.startswith("e[")] == [
        f"e[{j}]" for j in range(1, 13)
    ]
    assert accuracy(rated) > 0.6
    assert rated.reasons.columns["column"].tolist()[0] == "e"
    assert rated.reasons.columns["column"].tolist() == ["e", "price"]
    if kind == "lists":
        again = rated.model.predict(frame.drop(columns="stars"))
        rest = ~rated.rating.given
        np.testing.assert_array_equal(
            again["stars_predicted"][rest], rated.frame["stars_predicted"][rest]
        )
        what = rated.explain(100).set_index("column")["what"]
        assert what["e"] == "(numbers)"


def test_an_array_beside_the_table(tmp_path):
    np.save(tmp_path / "e.npy", E.astype(np.float32))
    np.savez(tmp_path / "e.npz", vectors=E)
    table().to_csv(tmp_path / "t.csv", index=False)
    results = [
        rate_table(tmp_path / "t.csv", "stars", method="redsvm", features=features)
        for features in (tmp_path / "e.npy", tmp_path / "e.npz", E)
    ]
    assert all(accuracy(rated) > 0.6 for rated in results)
    np.testing.assert_array_equal(results[1].rating.X, results[2].rating.X)
    rated = results[0]
    assert list(rated.frame.columns) == [
        "price", "stars", "stars_predicted", "stars_confidence", "stars_source"
    ]  # fmt: skip
    assert "features[1]" not in rated.suggest(3).columns
    assert rated.reasons.columns["column"].tolist()[0] == "features"
    # With named columns the array is used, too.
    named = rate_table(tmp_path / "t.csv", "stars", columns="price", features=E, method="redsvm")
    assert len(named.model.used) == 13
    rated.save_model(tmp_path / "m.skops")
    model = load_model(tmp_path / "m.skops")
    new = read_table(str(tmp_path / "t.csv"))
    new.vectors = E
    labels, _, _ = model.rate(new.features("stars"))
    rest = np.flatnonzero(~rated.rating.given)
    assert [labels[i] for i in rest] == [rated.rating.labels[i] for i in rest]


def test_what_cannot_be_read_is_an_error_of_input(tmp_path):
    for values, message in (
        (E[:-1], "has 149 rows and the table has 150"),
        (np.where(E[3, 2] == E, np.nan, E), "row 4 holds NaN or infinity"),
        (E.astype(str), "expected a matrix of numbers"),
        (E[:, :, None], "expected a matrix of numbers"),
        (E[:, :0], "has 0 columns"),
    ):
        with pytest.raises(InputError, match=message):
            read_features(values, N)
    np.save(tmp_path / "o.npy", np.array([{"a": 1}] * N, dtype=object), allow_pickle=True)
    (tmp_path / "bad.npy").write_bytes(b"\x93NUMPY no")
    np.savez(tmp_path / "two.npz", a=E, b=E)
    for name, message in (
        ("o.npy", "is not a NumPy file of numbers"),
        ("bad.npy", "is not a NumPy file of numbers"),
        ("two.npz", "must hold one array, and has 2: a, b"),
        ("none.npy", "cannot be read: No such file"),
    ):
        with pytest.raises(InputError, match=message):
            read_features(tmp_path / name, N)
