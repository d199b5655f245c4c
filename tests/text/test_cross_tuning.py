import numpy as np

from tordinal.text.cross_tuning import deal_texts, pool_size


def test_equal_texts_are_held_out_together():
    texts = [f"text {i // 3}" for i in range(30)] + ["alone"]
    rank = np.array([i // 3 % 2 for i in range(30)] + [2])
    fold = deal_texts(texts, rank, 5)
    assert all(len(set(fold[i : i + 3])) == 1 for i in range(0, 30, 3))
    assert set(fold[:30]) == set(range(5))
    assert fold[30] >= 0, "the only text of a class is held out too"
    assert deal_texts(["a", "b", "c", "d"], np.array([0, 0, 1, 1]), 5).max() == 3


def test_no_more_unlabelled_texts_take_part_than_are_seen():
    rank, held_out = np.array([0, 1, 0, 1, -1, -1, -1]), np.arange(7) < 1
    assert [pool_size(rank, held_out, most) for most in (2, 4, 9)] == [2, 4, 4]
    assert pool_size(rank[:4], held_out[:4], 9) == 0, "none is unlabelled"


def test_equal_texts_with_different_labels_are_held_out_together():
    rng = np.random.default_rng(0)
    for _ in range(50):
        texts = [f"text {i}" for i in rng.integers(0, 12, 30)]
        rank = rng.integers(-1, 3, 30)
        fold = deal_texts(texts, rank, 3)
        for text in set(texts):
            copies = [k for t, k, r in zip(texts, fold, rank, strict=True) if t == text and r >= 0]
            assert len(set(copies)) <= 1
