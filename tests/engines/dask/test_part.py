import numpy as np

from tordinal.engines.dask.part import Part, add_up, bytes_of


def test_results_are_added_up():
    assert add_up([None, 2, 3]) == 5
    assert add_up([(1, 2.0), (3, 4.0)]) == (4, 6.0)
    assert add_up([{1: "a"}, {2: "b"}]) == {1: "a", 2: "b"}
    assert add_up([None, None]) is None


def test_bytes_are_those_of_arrays_wherever_they_are():
    assert bytes_of([np.zeros(3), {"a": (np.zeros(2), 1.0)}, "text"]) == 40


def test_of_the_snapshots_a_part_holds_the_last_two():
    part = Part.__new__(Part)  # without a worker
    part.held = {}
    for version in (1, 2, 3):
        part.hold(version, {0: (np.full(2, version), None)})
        part.hold(version, {1: (np.full(3, version), None)})
    assert sorted(part.held) == [2, 3]
    assert sorted(part.held[3]) == [0, 1]
