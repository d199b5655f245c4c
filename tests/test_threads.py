from tordinal import threads


def test_blocks_and_parts_cover_everything_in_order(monkeypatch):
    monkeypatch.setattr(threads, "CHUNK", 7)
    monkeypatch.setattr(threads, "SMALL", 0)
    numbers = range(50)
    for pieces in (threads.in_blocks(50, numbers.__getitem__), threads.in_parts(50, numbers.__getitem__, size=1)):
        assert [n for piece in pieces for n in piece] == list(numbers)
