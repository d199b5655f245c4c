from tordinal._sklearn import NameOf


def test_a_name_is_looked_up_at_the_time_of_the_fit():
    table = {"one": 1}
    names = NameOf(table)
    assert names.is_satisfied_by("one")
    assert not names.is_satisfied_by("two")
    table["two"] = 2
    assert names.is_satisfied_by("two")
    assert not names.is_satisfied_by(2)
    assert str(names) == "a str among {'one', 'two'}"
