import numpy as np
import pytest

from tordinal.tables.columns import TableEncoder
from tordinal.tables.importance import column_importance
from tordinal.tables.rating import rate
from tordinal.tables.settings import Settings
from tordinal.tables.target import read_target


def rated(seed, n=120, labels=80, method="redsvm"):
    """Ratings depend on `a` strongly and on `b` a little; the other columns are noise."""
    rng = np.random.default_rng(seed)
    a, b, c = rng.normal(size=(3, n)).round(4)
    shop = rng.choice(["x", "y", "z"], n)
    rank = 1 + np.digitize(a + 0.4 * b + 0.2 * rng.normal(size=n), [-0.7, 0.0, 0.7])
    cells = [str(r) if i < labels else "" for i, r in enumerate(rank)]
    table = {"a": a.tolist(), "b": b.tolist(), "c": c.tolist(), "shop": shop.tolist()}
    return rate(
        table, read_target("t", cells, None), TableEncoder(), Settings(method=method),
        lambda *_: None,
    )  # fmt: skip


def test_columns_that_matter_are_distinguished_from_those_that_do_not():
    frames = [column_importance(rated(seed)) for seed in range(8)]
    first = [frame["column"].iloc[0] for frame in frames]
    assert first == ["a"] * 8
    assert all(frame.set_index("column").loc["a", "clear"] for frame in frames)
    noise = np.mean([frame.set_index("column").loc[["c", "shop"], "clear"] for frame in frames])
    assert noise <= 0.125  # two of sixteen by chance at most
    little = [frame.set_index("column").loc["b", "rise"] for frame in frames]
    assert 0 < np.mean(little) < frames[0]["rise"].iloc[0]


@pytest.mark.parametrize("method", ["tor", "auto"])
def test_any_kind_of_model_and_the_same_seed_the_same_result(method):
    rating = rated(0, 90, 60, method)
    one, two = column_importance(rating, 3), column_importance(rating, 3)
    assert one.equals(two)
    assert one["column"].iloc[0] == "a"
    assert set(one["column"]) == {"a", "b", "c", "shop"}


def test_too_few_ratings_tell_nothing():
    assert len(column_importance(rated(0, 40, 12))) == 0
