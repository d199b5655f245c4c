import numpy as np
import pytest

from tordinal.active import Coverage, Entropy, ExpectedError, Mixture

P = np.array([[0.5, 0.5], [0.6, 0.4], [0.7, 0.3], [0.8, 0.2], [0.9, 0.1]])
X, UNRATED = np.arange(5.0)[:, None], [None] * 5


@pytest.mark.parametrize("power", [None, 1.0, 3.0])
def test_recorded_probabilities_are_frequencies(power):
    counts, recorded = np.zeros(5), np.full(5, np.nan)
    for seed in range(3000):
        strategy = Mixture(Entropy(power=power), audit=0.4, random_state=seed)
        rows, probabilities = strategy.query(X, UNRATED, 1, y_proba=P)
        counts[rows[0]] += 1
        recorded[rows[0]] = probabilities[0]
    assert recorded.sum() == pytest.approx(1.0)
    error = np.sqrt(recorded * (1 - recorded) / 3000)
    assert (np.abs(counts / 3000 - recorded) < 4 * error).all()


def test_audit_rows_are_a_uniform_sample():
    counts, flagged, total = np.zeros(5), 0, 0
    for seed in range(2000):
        strategy = Mixture(Entropy(), audit=0.25, random_state=seed)
        rows, _ = strategy.query(X, UNRATED, 1, y_proba=P)
        counts[rows[strategy.audit_]] += 1
        flagged, total = flagged + strategy.audit_.sum(), total + 1
    assert abs(flagged / total - 0.25) < 4 * np.sqrt(0.25 * 0.75 / 2000)
    share = counts / counts.sum()
    assert np.abs(share - 0.2).max() < 4 * np.sqrt(0.2 * 0.8 / counts.sum())


def test_coins_differ_when_rows_are_asked_for_one_at_a_time():
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(80, 2)), np.full(80, -1)
    y[:4] = 0, 1, 0, 1
    strategy, flags = Mixture(audit=0.5), []
    for _ in range(40):
        chosen = strategy.query(rows, y, 1)[0]
        flags.append(bool(strategy.audit_[0]))
        y[chosen] = int(rows[chosen[0], 0] > 0)
    assert 8 <= sum(flags) <= 32


def test_the_strategy_decides_on_the_other_rows():
    strategy = Mixture(Entropy(), audit=1e-9)
    rows, probabilities = strategy.query(X, UNRATED, 5, y_proba=P)
    assert rows.tolist() == [0, 1, 2, 3, 4]
    assert np.allclose(probabilities, 1.0)
    assert not strategy.audit_.any()


def test_all_audit_is_random():
    strategy = Mixture(Coverage(), audit=1.0)
    probabilities = strategy.query(X, UNRATED, 5)[1]
    assert np.allclose(probabilities, [1 / 5, 1 / 4, 1 / 3, 1 / 2, 1.0])
    assert strategy.audit_.all()


def test_classes_are_those_of_the_strategy():
    y = [-1, 0, None, None, None]
    rows = Mixture(ExpectedError(classes=[-1, 0])).query(X, y, 5)[0]
    assert sorted(rows.tolist()) == [2, 3, 4]


def test_parameters_are_checked():
    with pytest.raises(ValueError, match="audit"):
        Mixture(audit=0.0).query(X, UNRATED)
    with pytest.raises(ValueError, match="diversity"):
        Mixture(ExpectedError(diversity=-1.0)).query(X, UNRATED)
    with pytest.raises(ValueError, match="strategy"):
        Mixture("random").query(X, UNRATED)
