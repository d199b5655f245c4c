from tordinal.active import LeastConfidence


def test_the_order_of_the_classes_does_not_count():
    p = [[0.5, 0.0, 0.5], [0.34, 0.33, 0.33], [0.1, 0.8, 0.1]]
    rows, _ = LeastConfidence().query([[0.0], [1.0], [2.0]], [None] * 3, 3, y_proba=p)
    assert rows.tolist() == [1, 0, 2]
