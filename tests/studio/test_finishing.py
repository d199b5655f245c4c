import threading

import pytest

from tordinal.exceptions import InputError
from tordinal.studio.finishing import Finishing, Written


def test_progress_and_result():
    told, go_on = threading.Event(), threading.Event()

    def finish(listen):
        listen("searching", 3, 10)
        told.set()
        assert go_on.wait(30)
        return Written({"table": "a.csv"}, "Useful.", "<p>report")

    finishing = Finishing(finish)
    assert finishing.status.state == "idle"
    assert finishing.start()
    assert told.wait(30)
    assert (finishing.status.state, finishing.status.task) == ("running", "searching")
    assert (finishing.status.done, finishing.status.total) == (3, 10)
    assert not finishing.start()  # one at a time
    go_on.set()
    finishing.wait()
    assert finishing.status.state == "done"
    assert finishing.status.message == "Useful."
    assert finishing.report == "<p>report"


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (InputError("too few ratings"), "too few ratings"),
        (OSError("disk full"), "disk full"),
        (ZeroDivisionError("division by zero"), "bug in tordinal"),
    ],
)
def test_errors_are_reported_and_it_can_be_tried_again(error, told):
    def finish(listen):
        raise error

    finishing = Finishing(finish)
    for _ in range(2):
        assert finishing.start()
        finishing.wait()
        assert finishing.status.state == "failed"
        assert told in finishing.status.message
