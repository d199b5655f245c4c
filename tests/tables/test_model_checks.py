from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from damaged_models import fuzz

from tordinal.datasets import make_reviews
from tordinal.tables.columns import TableEncoder
from tordinal.tables.features import text_parts
from tordinal.tables.model_checks import check_model
from tordinal.tables.models import dump_model
from tordinal.tables.rating import Settings, rate
from tordinal.tables.target import read_target

TEXTS, STARS = make_reviews(120, random_state=0)
TABLE = {
    "review": TEXTS,
    "n": [str(i % 7) for i in range(120)],
    "shop": ["abcdefgh"[i % 8] for i in range(120)],
}
TARGET = read_target("stars", [str(s) if i < 40 else "" for i, s in enumerate(STARS)], None)


def model(**options):
    settings = Settings(choose_columns=False, **options)
    return rate(TABLE, TARGET, TableEncoder(), settings, lambda *_: None).model


@pytest.mark.parametrize("options", [{"C": 1.0}, {"method": "tor", "kernel": "rbf"}], ids=str)
def test_damaged_models_are_rejected_or_work_and_never_crash(options, tmp_path: Path):
    few = {name: cells[:20] for name, cells in TABLE.items()}
    outcomes = fuzz(dump_model(model(**options)), tmp_path, 60, few, at_once=30)
    assert set(outcomes) <= {"used", "rejected", "rejected on use"}, outcomes
    assert outcomes["rejected"] >= 10
    assert outcomes.total() == 60


def test_a_sound_model_passes_and_each_kind_of_damage_does_not():
    check_model(model(method="tor", kernel="rbf"))

    def damaged(change, message, **options):
        broken = model(method="tor", **options)
        change(broken)
        with pytest.raises(ValueError, match=message):
            check_model(broken)

    def outside(m):
        m.estimator._projection.support_vectors.indices[0] = 10**6

    def too_narrow(m):
        vectors = m.estimator._projection.support_vectors
        m.estimator._projection.support_vectors = sp.csr_matrix(vectors[:, :-1])

    def not_a_number(m):
        m.estimator._projection.coef[0] = np.nan

    def words(m):
        part = text_parts(m.encoder.encoder_)[0][1].words_
        part.vocabulary_ = {**part.vocabulary_, next(iter(part.vocabulary_)): 10**9}

    def categories(m):
        m.encoder.encoder_.named_transformers_["categories"]._n_features_outs = [10**9]

    def card(m):
        m.card["rows"] = None

    def training(name, change):
        def damage(m):
            m.encoder.training_[name] = change(m.encoder.training_[name])

        damaged(damage, "training table is damaged|not numbers")

    def counts(value):
        damaged(lambda m: m.card.update(counts=value), "description is damaged")

    for change in (lambda a: a[:-1], lambda a: a[0], lambda a: a.astype(np.float32), list):
        for name in ("missing", "strange", "quantiles", "at_most"):
            training(name, change)
    for name in ("missing", "strange", "at_most"):
        training(name, lambda a: a - 1000)
        training(name, lambda a: a + 1000)
    for name in ("quantiles", "at_most"):
        training(name, lambda a: -a if a.dtype == float else a[:, ::-1])
    training("quantiles", lambda a: a + np.nan)
    for value in (-1, 1.5, None, True, 10**30):
        training("rows", lambda _, value=value: value)
    damaged(lambda m: m.encoder.training_.pop("rows"), "training table is damaged")
    damaged(lambda m: setattr(m.encoder, "training_", []), "training table is damaged")
    for value in ([], {"given": [1] * 5}, {"given": [1] * 5, "predicted": [1] * 4}):
        counts(value)
    for n in (-1, 0.5, "1", None, 10**30):
        counts({"given": [1] * 5, "predicted": [n] * 5})
    damaged(outside, "", kernel="rbf")
    damaged(too_narrow, "support vectors do not fit", kernel="rbf")
    damaged(not_a_number, "not numbers")
    damaged(words, "words of a text")
    damaged(categories, "categories of a column")
    damaged(card, "'rows'")
    damaged(lambda m: setattr(m, "classes", ["a"]), "ratings are damaged")
