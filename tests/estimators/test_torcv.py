import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from problems import hide, islands, ordinal_problem
from sklearn import config_context
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from tordinal import REDSVM, TOR, TORCV
from tordinal.costs import cost_matrix, decide
from tordinal.search.experts import fit_expert, read_experts

QUICK = {"C": [0.1, 1.0], "kernel": ["linear", "rbf"], "cv": 3}


@parametrize_with_checks(
    [TORCV(C=[1.0], kernel="linear", ensemble_size=3)],
    expected_failed_checks=lambda _: {
        "check_classifiers_classes": "it uses -1 as a class, which here marks unlabelled rows",
        # They pass splits as cv. Repeated rows have folds of their own.
        "check_sample_weight_equivalence_on_dense_data": "cv is a number of folds",
        "check_sample_weight_equivalence_on_sparse_data": "cv is a number of folds",
    },
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_the_search_reports_what_it_did():
    X, y = ordinal_problem(150, 3)
    hidden = hide(y, 40)
    model = TORCV(**QUICK).fit(X, hidden)
    results = model.cv_results_
    n = len(results["params"])
    assert n > 4
    assert results["transductive"].any()
    assert not results["transductive"].all()  # the supervised model is always a candidate
    assert len(results["mean_test_score"]) == len(results["rank_test_score"]) == n
    assert results["rank_test_score"].min() == 1
    assert len(model.estimators_) >= min(9, int((~results["dropped"]).sum()))
    assert isinstance(model.best_estimator_, (REDSVM, TOR))
    assert model.best_params_["C"] in (0.1, 1.0)
    assert "MAE" in model.verdict_
    assert "3-fold, 40 labels" in model.verdict_
    labelled = hidden != -1
    np.testing.assert_array_equal(model.transduction_[labelled], y[labelled])
    assert all(v is not None for v in model.cv_predictions_[labelled])
    assert all(v is None for v in model.cv_predictions_[~labelled])
    assert np.mean(model.transduction_ == y) > 0.6


def test_the_old_name_of_the_ensemble_size_still_works():
    X, y = ordinal_problem(60, 3)
    hidden = hide(y, 20)
    old = TORCV(**QUICK, committee=1)
    with pytest.warns(FutureWarning, match=r"Pass ensemble_size=1\.") as caught:
        old.fit(X, hidden)
    assert [warning.filename for warning in caught] == [__file__]  # the caller's line
    assert len(old.estimators_) == 1
    new = TORCV(**QUICK, ensemble_size=1).fit(X, hidden)
    np.testing.assert_array_equal(old.predict_proba(X), new.predict_proba(X))
    with pytest.raises(ValueError, match="'committee' parameter"):
        TORCV(committee=0).fit(X, hidden)


def test_a_search_that_version_0_2_has_saved_still_predicts():
    X, y = ordinal_problem(60, 3)
    model = TORCV(**QUICK).fit(X, hide(y, 20))
    state = dict(model.compact().__getstate__())
    added = ("ensemble_size",)
    old = TORCV.__new__(TORCV)
    old.__setstate__({k: v for k, v in state.items() if k not in added} | {"committee": 5})
    assert old.get_params()["ensemble_size"] == 5
    np.testing.assert_array_equal(old.predict_proba(X), model.predict_proba(X))
    assert clone(old).fit(X, hide(y, 20)).get_params() == old.get_params()


def test_supervised_only_and_no_unlabelled_rows():
    X, y = ordinal_problem(100, 3)
    for model in (TORCV(**QUICK, transduce=False).fit(X, hide(y, 40)), TORCV(**QUICK).fit(X, y)):
        assert not model.cv_results_["transductive"].any()
        assert "supervised only" in model.verdict_


def test_results_do_not_depend_on_n_jobs():
    X, y = ordinal_problem(120, 3)
    hidden = hide(y, 30)
    one, two = TORCV(**QUICK, n_jobs=1).fit(X, hidden), TORCV(**QUICK, n_jobs=2).fit(X, hidden)
    np.testing.assert_array_equal(one.transduction_, two.transduction_)
    np.testing.assert_allclose(
        one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"]
    )
    assert one.best_params_ == two.best_params_


def test_a_class_with_one_label_stays_in_training():
    X, y = ordinal_problem(100, 4)
    hidden = hide(y, 40)
    extra = np.flatnonzero(hidden == 3)[1:]
    hidden[extra] = -1
    model = TORCV(**QUICK).fit(X, hidden)
    assert model.classes_.tolist() == [0, 1, 2, 3]


def test_a_scorer_that_fails_marks_the_candidate_and_the_search_goes_on():
    X, y = ordinal_problem(120, 3)
    calls = []

    def moody(estimator, X, y):
        calls.append(1)
        if len(calls) == 2:
            raise RuntimeError("not today")
        return float(np.mean(estimator.predict(X) == y))

    with pytest.warns(FitFailedWarning, match="not today"):
        model = TORCV(**QUICK, scoring=moody).fit(X, hide(y, 40))
    assert np.isnan(model.cv_results_["mean_test_score"]).sum() >= 1
    assert np.mean(model.transduction_ == y) > 0.5


@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss", "quadratic_weighted_kappa"])
def test_any_scorer_of_scikit_learn_and_ours(scoring):
    X, y = ordinal_problem(100, 3)
    model = TORCV(**QUICK, scoring=scoring).fit(X, hide(y, 40))
    assert "score" in model.verdict_
    assert np.isfinite(model.best_score_)


def test_words_sparse_rows_and_a_gram_matrix():
    X, y = ordinal_problem(90, 3)
    hidden = hide(y, 30)
    words = np.array(["poor", "fair", "good"])
    target = [words[k] if k >= 0 else None for k in hidden]
    given = {"C": [1.0], "kernel": "linear", "cv": 3}
    numbers = TORCV(**given).fit(X, hidden)
    spelled = TORCV(**given, classes=words.tolist()).fit(sp.csr_array(X), target)
    assert np.mean(spelled.predict(sp.csr_array(X)) == words[numbers.predict(X)]) > 0.95
    gram = TORCV(**{**given, "kernel": "precomputed"}).fit(X @ X.T, hidden)
    assert np.mean(gram.transduction_ == numbers.transduction_) > 0.95
    np.testing.assert_allclose(
        gram.cv_results_["mean_test_score"], numbers.cv_results_["mean_test_score"], atol=0.05
    )


def test_fewer_unlabelled_rows_in_the_folds():
    X, y = ordinal_problem(200, 3)
    given = {**QUICK, "C2_max": ["balanced", None]}
    few = TORCV(**given, cv_unlabeled=20).fit(X, hide(y, 40)).cv_results_
    many = TORCV(**given).fit(X, hide(y, 40)).cv_results_
    supervised = ~many["transductive"]
    np.testing.assert_array_equal(
        few["split0_test_score"][supervised], many["split0_test_score"][supervised]
    )
    assert (few["split0_test_score"][~supervised] != many["split0_test_score"][~supervised]).any()
    ends = {(p["C"], p["C2_max"]) for p in few["params"] if "C2_max" in p}
    assert {end for C, end in ends} - {None} <= {0.25 * 0.1, 0.25 * 1.0}  # 40 of 160
    assert all(end in (None, 0.25 * C) for C, end in ends)
    assert len({end for _, end in ends}) >= 2


def test_progress_and_verdict_are_printed(capsys):
    X, y = ordinal_problem(90, 3)
    TORCV(**QUICK, verbose=1).fit(X, hide(y, 30))
    printed = capsys.readouterr().out
    assert "transductive candidates: " in printed
    assert "transduction" in printed.splitlines()[-1]


def test_class_ratios_as_numbers_and_repeated_options():
    X, y = ordinal_problem(90, 3)
    hidden = hide(y, 30)
    model = TORCV(
        C=[1.0, 1.0], kernel="linear", cv=3, class_ratio=[0.2, 0.3, 0.5], swaps=("single", "single")
    ).fit(X, hidden)
    params = [tuple(sorted(p.items(), key=str)) for p in model.cv_results_["params"]]
    assert len(set(params)) == len(params) == 3  # two losses, and one way to transduce
    (variant,) = (p for p in model.cv_results_["params"] if "class_ratio" in p)
    assert variant["class_ratio"] == (0.2, 0.3, 0.5)
    members = [m for m in model.estimators_ if isinstance(m, TOR)]
    assert members
    for member in members:  # 60 unlabelled rows, shared out by the ratio
        assert np.bincount(member.transduction_[hidden == -1]).tolist() == [12, 18, 30]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"C": [-1.0, 1.0]}, "'C' parameter"),
        ({"C": [[1.0, 2.0], [3.0, 4.0]]}, "list of numbers"),
        ({"kernel": "foo"}, "'kernel' parameter"),
        ({"kernel": []}, "kernel is empty"),
        ({"swaps": "foo"}, "'swaps' parameter"),
        ({"class_ratio": "foo"}, "'class_ratio' parameter"),
        ({"class_ratio": [0.5, 0.5]}, "class_ratio"),
    ],
)
def test_bad_options_are_named(change, message):
    X, y = ordinal_problem(60, 3)
    with pytest.raises(ValueError, match=message):
        TORCV(**{**QUICK, **change}).fit(X, hide(y, 30))


def test_too_few_labels_to_choose_by():
    X, y = ordinal_problem(40, 3)
    with pytest.raises(ValueError, match="hold out labels"):
        TORCV(**QUICK).fit(X, hide(y, 3))


def test_views_are_chosen_by_cross_validation():
    X, y = ordinal_problem(150, 3)
    noise = np.random.default_rng(0).standard_normal((150, 30))
    both, hidden = np.hstack([noise, X]), hide(y, 45)
    views = {"noise": slice(0, 30), "signal": np.arange(30, both.shape[1])}
    model = TORCV(**QUICK, views=views, ensemble_size=1).fit(both, hidden)
    assert model.views_ == ["signal"]
    assert set(model.cv_results_["view"]) == {"noise", "signal"}
    alone = TORCV(**QUICK, ensemble_size=1).fit(X, hidden)
    np.testing.assert_array_equal(model.transduction_, alone.transduction_)
    np.testing.assert_array_equal(model.predict(both), alone.predict(X))
    np.testing.assert_array_equal(model.seen(both), both[:, 30:])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"views": {}}, "not empty"),
        ({"views": [0, 1]}, "mapping from names"),
        ({"views": {"a": [99]}}, r"views\['a'\] must select some of the"),
        ({"views": {"a": []}}, "at least one column"),
        ({"views": {"a": [0]}, "kernel": "precomputed"}, "precomputed"),
    ],
)
def test_bad_views_are_named(change, message):
    X, y = ordinal_problem(40, 2)
    X = X @ X.T if "kernel" in change else X
    with pytest.raises(ValueError, match=message):
        TORCV(**change).fit(X, hide(y, 20))


def test_the_error_that_counts_is_chosen_by():
    X, y = ordinal_problem(100, 4)
    hidden = hide(y, 40)
    scores = {
        name: TORCV(**QUICK, scoring=name, transduce=False).fit(X, hidden).cv_results_
        for name in ("absolute", "zero_one", "both")
    }
    absolute, zero_one, both = (scores[n]["mean_test_score"] for n in scores)
    np.testing.assert_allclose(both, 0.5 * (absolute + zero_one))
    assert (absolute <= zero_one + 1e-12).all()
    usual = TORCV(**QUICK, transduce=False).fit(X, hidden)
    np.testing.assert_array_equal(usual.cv_results_["mean_test_score"], both)


FOREST = RandomForestClassifier(50, random_state=0)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_an_expert_that_is_better_earns_its_place(make):
    X, y = islands()
    hidden = hide(y, 100)
    given = {"C": [0.1, 1.0], "kernel": "linear", "cv": 3}
    experts = [("forest", FOREST, [0]), ("constant", DummyClassifier(strategy="prior"))]
    alone = TORCV(**given).fit(make(X), hidden)
    model = TORCV(**given, experts=experts).fit(make(X), hidden)
    assert model.best_params_ == {"expert": "forest"}
    assert isinstance(model.best_estimator_, RandomForestClassifier)
    assert model.best_estimator_.n_features_in_ == 1  # its own columns
    assert not any(isinstance(m, DummyClassifier) for m in model.estimators_)
    rest = hidden < 0
    error, before = (np.abs(m.transduction_ - y)[rest].mean() for m in (model, alone))
    assert error < 0.1 < before
    assert model.cv_errors_["this model"][1] < alone.cv_errors_["this model"][1]
    names = [params.get("expert") for params in model.cv_results_["params"]]
    assert names[-2:] == ["forest", "constant"]
    assert model.cv_results_["rank_test_score"][-2] == 1
    p = model.predict_proba(make(X))
    np.testing.assert_array_equal(model.predict(make(X)), p.argmax(axis=1))
    np.testing.assert_array_equal(model.transduction_[rest], p.argmax(axis=1)[rest])
    for same in (
        pickle.loads(pickle.dumps(model)),
        model.compact(),
        clone(model).fit(make(X), hidden),
    ):
        np.testing.assert_array_equal(same.predict_proba(make(X)), p)
    assert clone(model).get_params()["experts"][0][0] == "forest"


def test_an_expert_that_is_no_better_changes_nothing():
    X, y = ordinal_problem(90, 3)
    hidden = hide(y, 40)
    experts = [("constant", DummyClassifier(strategy="prior"))]
    alone = TORCV(**QUICK).fit(X, hidden)
    model = TORCV(**QUICK, experts=experts).fit(X, hidden)
    np.testing.assert_array_equal(model.predict_proba(X), alone.predict_proba(X))
    assert model.cv_errors_ == alone.cv_errors_
    assert "constant" in [params.get("expert") for params in model.cv_results_["params"]]


def test_a_transductive_expert_sees_all_rows():
    X, y = ordinal_problem(90, 3)
    hidden = hide(y, 30)
    noise = np.random.default_rng(0).normal(size=(90, 1))
    model = TORCV(
        C=[1.0], kernel="linear", cv=3, transduce=False, ensemble_size=1,
        views={"noise": [3]}, experts=[("tor", TOR(), [0, 1, 2])],
    ).fit(np.hstack([X, noise]), hidden)  # fmt: skip
    assert model.best_params_ == {"expert": "tor"}
    np.testing.assert_array_equal(
        model.best_estimator_.transduction_, TOR().fit(X, hidden).transduction_
    )
    X_new = np.hstack([X, noise])
    assert model.compact().predict(X_new).tolist() == model.predict(X_new).tolist()


def test_experts_and_a_gram_matrix_exclude_each_other():
    X, y = ordinal_problem(60, 3)
    with pytest.raises(ValueError, match="experts cannot be combined"):
        TORCV(kernel="precomputed", experts=[FOREST]).fit(X @ X.T, hide(y, 30))


COST = np.array([[0.0, 1.0, 5.0], [4.0, 0.0, 2.0], [9.0, 3.0, 0.0]])


@pytest.mark.parametrize("size", [1, 9])
@pytest.mark.parametrize(
    "params",
    [{"cost": {"low": 4}}, {"cost": COST}, {"class_weight": {2: 5}}, {"scoring": "accuracy"}],
    ids=["low", "matrix", "weights", "scorer"],
)
def test_predictions_have_the_least_expected_cost(params, size):
    """Brute force over all predictions, by the probabilities that users see."""
    X, y = ordinal_problem(120, 3)
    hidden = hide(y, 40)
    cost = cost_matrix(params.get("cost", "both"), 3)
    if "scoring" in params:
        params = {**params, "cost": COST}
        cost = COST
    weights = np.array([1.0, 1.0, 5.0 if "class_weight" in params else 1.0])
    model = TORCV(C=[0.1, 1.0], kernel="linear", cv=3, ensemble_size=size, **params).fit(X, hidden)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    best = [
        int(np.argmin([
            round(sum(q[truth] * weights[truth] * cost[truth, k] for truth in range(3)), 9)
            for k in range(3)
        ]))
        for q in p
    ]  # fmt: skip
    np.testing.assert_array_equal(model.predict(X), best)
    rest = hidden == -1
    assert np.mean(model.transduction_[rest] == np.array(best)[rest]) > 0.98  # but for rounding
    evidence = model.evidence()
    np.testing.assert_array_equal(
        evidence.ranks, decide(evidence.probability, weights[:, None] * cost)
    )


def test_costs_lower_the_cost_on_new_rows():
    """The point of it: held-out rows cost less than by predictions that know no costs."""
    X, y = ordinal_problem(900, 4)
    X += 0.8 * np.random.default_rng(0).normal(size=X.shape)
    hidden = hide(y, 120)
    rest = hidden == -1
    costs = cost_matrix({"low": 6}, 4)
    paid = []
    for cost in (None, {"low": 6}):
        model = TORCV(C=[0.1, 1.0], kernel="linear", transduce=False, cost=cost).fit(X, hidden)
        paid.append(costs[y[rest], model.predict(X[rest])].mean())
    assert paid[1] < 0.8 * paid[0]


def test_rows_of_weight_zero_are_not_there():
    X, y = ordinal_problem(90, 3)
    hidden = hide(y, 45)
    kept = np.arange(90) % 3 > 0
    weight = np.where(kept, 1.0, 0.0)
    params = {"C": [0.1, 1.0], "kernel": "linear", "cv": 3}
    weighted = TORCV(**params).fit(X, hidden, sample_weight=weight)
    removed = TORCV(**params).fit(X[kept], hidden[kept])
    np.testing.assert_allclose(weighted.predict_proba(X), removed.predict_proba(X), atol=1e-2)
    assert weighted.cv_errors_ == removed.cv_errors_


def test_weights_count_in_fit_calibration_and_choice():
    """Rows of weight 30 and of a group of their own decide what is predicted there."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = (X[:, 0] > 0).astype(int)
    heavy = rng.random(200) < 0.3
    y[heavy] = (X[heavy, 0] < 0).astype(int)  # the other way round
    model = TORCV(C=[1.0], kernel="linear", transduce=False)
    plain = model.fit(X, y).predict(X)
    weighted = model.fit(X, y, sample_weight=np.where(heavy, 30.0, 1.0)).predict(X)
    assert np.mean(plain[~heavy] == y[~heavy]) > 0.9
    assert np.mean(weighted[heavy] == y[heavy]) > 0.9


def test_weights_are_routed_by_scikit_learn():
    X, y = ordinal_problem(60, 3)
    weight = np.where(np.arange(60) < 30, 20.0, 0.05)
    params = {"C": [1.0], "kernel": "linear", "cv": 3, "transduce": False}
    expected = TORCV(**params).fit(X, y, sample_weight=weight)
    with config_context(enable_metadata_routing=True):
        model = TORCV(**params).set_fit_request(sample_weight=True)
        routed = make_pipeline(model).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(routed.predict_proba(X), expected.predict_proba(X))
    unweighted = TORCV(**params).fit(X, y)
    assert np.abs(unweighted.predict_proba(X) - expected.predict_proba(X)).max() > 0.01


def test_experts_get_the_weights_alone_or_at_the_end_of_a_pipeline():
    X, y = ordinal_problem(60, 3)
    weight = np.where(y == 2, 50.0, 1.0)
    last = DummyClassifier(strategy="prior")
    for expert in (last, make_pipeline(StandardScaler(), last)):
        model = TORCV(
            C=[1.0], kernel="linear", cv=3, experts=[("mine", expert)], transduce=False
        ).fit(X, y, sample_weight=weight)
        assert "mine" in {p.get("expert") for p in model.cv_results_["params"]}
        fitted = fit_expert(read_experts([("mine", expert)], 3)[0], X, y, weight)
        assert fitted.predict_proba(X[:1])[0, 2] > 0.9
