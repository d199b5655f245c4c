"""What Algorithm 1 may rely on, wherever it runs. A new engine is an entry of `ENGINES`."""

import numpy as np
import pytest
from conformance import ENGINES, TOL
from convex import convex_minimum
from problems import hide, ordinal_problem, problem_of

from tordinal.losses import LOSSES
from tordinal.swapping import greatest_losses, initial_labels, labeling_gain, swap_labels

N, K = 90, 4
COUNTS = np.array([10, 25, 15, 10])


@pytest.fixture(
    params=[pytest.param(e, marks=pytest.mark.cuda if e == "cuda" else ()) for e in sorted(ENGINES)]
)
def start(request, client):
    """Start an engine on rows of which a third are labelled."""
    contexts = []

    def engine_for(loss, seed=0):
        X, y = ordinal_problem(N, K, noise=1.0, seed=seed)
        rank = hide(y, 30)
        weight = np.random.default_rng(seed).choice([0.5, 1.0, 2.0], N)
        contexts.append(ENGINES[request.param](X, rank, weight, problem_of(loss), client))
        return X, rank, weight, contexts[-1].__enter__()

    yield engine_for
    for context in contexts:
        context.__exit__(None, None, None)


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_a_training_ends_at_the_minimum(start, loss):
    X, rank, weight, engine = start(loss)
    fit = engine.trainer.train(2.0, 0.0, None, 1.0)
    given = rank >= 0
    coupling = problem_of(loss).coupling
    best, status = convex_minimum(X[given], rank[given], 2.0 * weight[given], loss, coupling, K - 1)
    assert status == "optimal"
    assert fit.converged
    assert fit.objective == pytest.approx(best, rel=1e-5)
    # Thresholds are free and projections have one scale: the loss is that of the rows.
    h = engine.project(fit)[given]
    value = problem_of(loss).objective(rank[given], 2.0 * weight[given], h, 0.0, fit.thresholds)
    assert value < fit.objective


@pytest.mark.parametrize("swaps", ["single", "all", "optimal", 3])
def test_labels_are_assigned_swapped_and_restored(start, swaps):
    _, rank, weight, engine = start("hinge")
    trainer, labels, free = engine.trainer, engine.labels, rank < 0
    assert (labels.n_rows, labels.n_unlabeled) == (N, int(free.sum()))
    supervised = trainer.train(1e-3, 0.0, None, 1.0)
    labels.assign(supervised, lambda fit: COUNTS)
    h = engine.project(supervised)[free]
    first = engine.read_labels()
    np.testing.assert_array_equal(first[~free], rank[~free])
    np.testing.assert_array_equal(first[free], initial_labels(h, COUNTS))
    bound = labels.greatest_losses(supervised, trainer.wrong_side_loss)
    t = supervised.thresholds
    expected = greatest_losses(h, t, weight[free], trainer.wrong_side_loss)
    assert bound == pytest.approx(expected)

    fit = trainer.train(10.0, 0.01, supervised, 1.0)  # another direction: there is much to swap
    h, t = engine.project(fit)[free], fit.thresholds
    new, n_swaps = swap_labels(h, t, first[free], weight[free], trainer.gain, swaps)
    assert n_swaps > 0
    assert labels.swap(fit, trainer.gain, swaps) == n_swaps
    np.testing.assert_array_equal(engine.read_labels()[free], new)
    gain = labeling_gain(h, t, first[free], new, weight[free], trainer.gain)
    assert labels.gain(fit, trainer.gain) == pytest.approx(gain)
    labels.undo()
    np.testing.assert_array_equal(engine.read_labels(), first)


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_after_a_swap_the_objective_has_fallen(start, loss):
    """Also by a training that stops early: the warm start is kept where it is better."""
    _, _, _, engine = start(loss)
    trainer, labels = engine.trainer, engine.labels
    fit = trainer.train(1.0, 0.0, None, 1.0)
    labels.assign(fit, lambda fit: COUNTS)
    fit = trainer.train(1.0, 0.3, fit, 1.0)
    for _ in range(3):
        if not labels.swap(fit, trainer.gain, "single"):
            break
        gained = 0.3 * labels.gain(fit, trainer.gain)
        after = trainer.train(1.0, 0.3, fit, 0.1 / TOL)
        assert after.objective <= fit.objective - gained * (1.0 - 1e-6)
        fit = after


def test_the_same_work_gives_the_same_bits(start):
    answers = []
    for _ in range(2):
        _, _, _, engine = start("squared_hinge")
        fit = engine.trainer.train(1.0, 0.0, None, 1.0)
        engine.labels.assign(fit, lambda fit: COUNTS)
        answers.append(engine.trainer.train(1.0, 0.1, fit, 1.0))
    assert answers[0].objective == answers[1].objective
    np.testing.assert_array_equal(answers[0].thresholds, answers[1].thresholds)
