import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import hide, ordinal_problem

from tordinal import TOR, TORCV
from tordinal.losses import LOSSES, check_loss, swap_gain
from tordinal.reduction import ranks, signs

NAMES = sorted(LOSSES)
finite = st.floats(-20, 20)


@pytest.mark.parametrize("name", NAMES)
@given(a=st.floats(1e-6, 30))
def test_definition_3_wrong_side_costs_more(name, a):
    loss = LOSSES[name]()
    wrong, right = loss.value(np.array([-a, a]))
    assert wrong > right


@pytest.mark.parametrize("name", NAMES)
def test_slope_and_curvature_match_finite_differences(name):
    loss, eps = LOSSES[name](), 1e-6
    g = np.random.default_rng(0).uniform(-4, 4, 200)
    g = g[np.abs(g - 1) > 1e-3]  # away from the kink
    np.testing.assert_allclose(
        loss.slope(g), (loss.value(g + eps) - loss.value(g - eps)) / (2 * eps), atol=1e-6
    )
    if hasattr(loss, "curvature"):
        np.testing.assert_allclose(
            loss.curvature(g), (loss.slope(g + eps) - loss.slope(g - eps)) / (2 * eps), atol=1e-6
        )


@pytest.mark.parametrize("name", NAMES)
@given(st.lists(finite, min_size=1, max_size=6, unique=True), finite, st.data())
def test_proposition_4_superimposed_losses_satisfy_definition_1(name, thresholds, h, data):
    """Between neighbouring classes, the one nearer to the prediction has the smaller loss."""
    loss, t = LOSSES[name](), np.sort(thresholds)
    m = len(t)
    lower = data.draw(st.integers(0, m - 1))
    predicted = int(ranks([h], t)[0])

    def ordinal_loss(y):
        return float(loss.value(signs(np.array([y]), m)[0] * (h - t)).sum())

    distance = abs(h - t[lower])
    if distance < 1e-6:
        return
    if predicted < lower + 1:
        assert ordinal_loss(lower) < ordinal_loss(lower + 1)
    if predicted > lower:
        assert ordinal_loss(lower) > ordinal_loss(lower + 1)


@pytest.mark.parametrize("name", NAMES)
@given(a=finite, b=finite)
def test_swap_gain_never_falls_with_the_distance(name, a, b):
    """This monotonicity makes the optimal labels a sort."""
    gain = swap_gain(LOSSES[name](), np.sort([a, b]))
    assert gain[1] >= gain[0] - 1e-9


@pytest.mark.parametrize("name", NAMES)
def test_known_losses_pass_the_check(name):
    with np.errstate(divide="raise", invalid="raise"):
        assert type(check_loss(LOSSES[name]())) is LOSSES[name]


def test_a_loss_that_breaks_definition_3_is_rejected_with_the_place():
    class Flat:
        def value(self, g):
            return np.where(np.abs(g) < 2, np.maximum(0, 1 - g), 1.0)

        def slope(self, g):
            return np.where(g < 1, -1.0, 0.0)

        def curvature(self, g):
            return np.zeros_like(g)

    with pytest.raises(
        ValueError, match=r"first property of Definition 3\).* 1 at the margin -2 and 1 at 2"
    ):
        check_loss(Flat())


def test_a_loss_that_is_not_convex_or_not_finite_is_rejected():
    class Ramp:
        def value(self, g):
            return 1 / (1 + np.exp(g))

        def slope(self, g):
            return -np.exp(g) / (1 + np.exp(g)) ** 2

        def curvature(self, g):
            return g

    class Infinite(Ramp):
        def value(self, g):
            return np.where(g < -10, np.inf, -g)

    with pytest.raises(ValueError, match="convex"):
        check_loss(Ramp())
    with pytest.raises(ValueError, match="finite"):
        check_loss(Infinite())


def test_a_slope_that_is_not_that_of_the_values_is_rejected():
    class Hinge(LOSSES["squared_hinge"]):
        def slope(self, g):
            return np.where(g < 1, -1.0, 0.0)

    with pytest.raises(ValueError, match=r"slope\(g\) must be the derivative of value\(g\)"):
        check_loss(Hinge())


def test_a_class_instead_of_an_object_is_rejected_with_the_remedy():
    with pytest.raises(TypeError, match=r"is a class. Pass an object: loss=Hinge\(\)"):
        check_loss(LOSSES["hinge"])


def test_an_object_without_the_methods_is_rejected():
    with pytest.raises(TypeError, match="no slope and no curvature"):
        check_loss(type("Half", (), {"value": lambda self, g: g})())
    with pytest.raises(ValueError, match="'hinge'"):
        check_loss("huber")


def test_a_new_loss_is_one_class(monkeypatch):
    """With its name in the table it is known to the estimators and the search."""

    class Huber:
        def value(self, g):
            short = np.maximum(0.0, 1.0 - g)
            return np.where(short < 1.0, 0.5 * short**2, short - 0.5)

        def slope(self, g):
            return -np.clip(1.0 - g, 0.0, 1.0)

        def curvature(self, g):
            return np.where((g < 1.0) & (g > 0.0), 1.0, 0.0)

    monkeypatch.setitem(LOSSES, "huber", Huber)
    X, y = ordinal_problem(60, 3)
    labels = hide(y, 30)
    for kernel in ("linear", "rbf"):
        by_name = TOR(loss="huber", kernel=kernel).fit(X, labels)
        by_object = TOR(loss=Huber(), kernel=kernel).fit(X, labels)
        assert by_name.objective_ == by_object.objective_
        h, t = by_name.predict_projection(X), by_name.thresholds_
        g = np.where(by_name.transduction_[:, None] > np.arange(2), 1, -1) * (h[:, None] - t)
        cost = np.where(labels < 0, by_name.history_[-1]["C2"], 1.0)
        assert by_name.objective_ >= float((cost[:, None] * Huber().value(g)).sum())
    searched = TORCV(loss=["huber"], kernel="linear", C=[1.0], cv=3).fit(X, labels)
    assert searched.best_params_["loss"] == "huber"


def test_a_loss_that_takes_single_margins_only_is_rejected_with_the_remedy():
    class Single:
        def value(self, g):
            return max(0.0, 1.0 - g) ** 2

        def slope(self, g):
            return -2.0 * np.maximum(0.0, 1.0 - g)

        def curvature(self, g):
            return 2.0 * (g < 1.0)

    with pytest.raises(TypeError, match=r"np\.maximum"):
        check_loss(Single())
