import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from problems import ordinal_problem, problem_of

from tordinal.couplings import Explicit, Implicit, Reduction
from tordinal.kernels import RBF
from tordinal.reduction import signs
from tordinal.solvers.smo.steps import candidate_gradients, take_steps


def state(coupling, seed, n=30):
    X, y = ordinal_problem(n, 4, seed=seed)
    problem = problem_of("laplacian", coupling)
    cost = np.random.default_rng(seed).choice([0.0, 0.5, 2.0], n)
    C, s = problem.costs(y, cost), signs(y, 3)
    return problem, RBF(0.5)(X, X), y, cost, C, s


@given(seed=st.integers(0, 200), coupling=st.sampled_from([Reduction(), Implicit(), Explicit()]))
def test_candidate_gradients_are_those_of_every_variable(seed, coupling):
    problem, K, y, cost, C, s = state(coupling, seed)
    beta = s * C * np.random.default_rng(seed).choice([-1.0, 0.2, 1.0], C.shape)
    h = K @ beta.sum(axis=1)
    g = h[:, None] + coupling.r * beta.sum(axis=0) - s
    can_rise, can_fall = (C > 0) & (beta < C), (C > 0) & (beta > -C)
    least, most = np.where(can_rise, g, np.inf), np.where(can_fall, g, -np.inf)
    for raised, lowered in ((-1, -1), (0, 2)):
        view = candidate_gradients(
            h, coupling.r * beta.sum(axis=0), y, cost, beta, *problem.shape, raised, lowered
        )
        np.testing.assert_allclose(view.least, least.min(axis=0))
        np.testing.assert_allclose(view.most, most.max(axis=0))
        up = least.min(axis=1) if raised < 0 else least[:, raised]
        low = most.max(axis=1) if lowered < 0 else most[:, lowered]
        np.testing.assert_allclose(view.up, up)
        np.testing.assert_allclose(view.low, low)


@given(seed=st.integers(0, 200), steps=st.integers(1, 60))
def test_steps_never_raise_the_dual_stay_in_the_box_and_keep_the_sum(seed, steps):
    _, K, y, _, C, s = state(Reduction(), seed)
    beta, c, h = np.zeros_like(C), np.zeros(3), np.zeros(len(y))

    def dual():
        a = beta.sum(axis=1)
        return 0.5 * a @ K @ a + 0.5 * c @ c - (s * beta).sum()

    before = dual()
    taken = take_steps(
        K.astype(np.float32), np.ones(len(y), dtype=np.float32), h, beta, -C, C, s, c, 1.0,
        -1, -1, np.inf, 1e-3, steps,
    )  # fmt: skip
    assert taken <= steps
    assert dual() <= before + 1e-9
    assert (np.abs(beta) <= C + 1e-12).all()
    assert abs(beta.sum()) < 1e-9
    np.testing.assert_allclose(c, beta.sum(axis=0), atol=1e-9)
