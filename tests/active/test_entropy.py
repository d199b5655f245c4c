from tordinal.active import Entropy


def test_all_classes_count():
    # The first row's best class is the less probable one, the second one has more entropy.
    p = [[0.5, 0.5, 0.0], [0.52, 0.24, 0.24]]
    rows, _ = Entropy().query([[0.0], [1.0]], [None] * 2, 1, y_proba=p)
    assert rows.tolist() == [1]
