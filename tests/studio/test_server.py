import http.client
import json
import re
import threading

import pytest
import uvicorn

from tordinal.exceptions import InputError
from tordinal.studio.assessor import Assessor
from tordinal.studio.finishing import Finishing, Written
from tordinal.studio.guard import Guard
from tordinal.studio.server import HOST, Studio, bind
from tordinal.studio.session import RatingSession


class Client:
    """Talks to a studio as its page does."""

    def __init__(self, guard, port):
        self.guard, self.port = guard, port
        answer = self.send("GET", f"/?token={guard.token}")
        self.cookie = answer.getheader("set-cookie").split(";")[0]

    def send(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection(HOST, self.port, timeout=60)
        sent = {"origin": f"http://{HOST}:{self.port}", "content-type": "application/json"}
        if hasattr(self, "cookie"):
            sent["cookie"] = self.cookie
        connection.request(method, path, body, sent | headers)
        return connection.getresponse()

    def get(self, path):
        return json.loads(self.send("GET", path).read())

    def post(self, path, **body):
        answer = self.send("POST", path, json.dumps(body))
        return answer.status, json.loads(answer.read())


@pytest.fixture
def studio(opened, grades):
    session = RatingSession(opened())
    written = Written({"table": "a.csv"}, "Useful.", "<!doctype html><title>A report</title>")
    return Studio(
        session, Assessor(session), Finishing(lambda listen: written), str(grades[0]),
        guide="Be <b>fair</b>.", goal=0.3,
    )  # fmt: skip


@pytest.fixture
def client(studio):
    listener = bind()
    port = listener.getsockname()[1]
    guard = Guard(studio.app, port)
    config = uvicorn.Config(guard, log_level="error", lifespan="off", ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    yield Client(guard, port)
    server.should_exit = True
    thread.join(10)
    listener.close()


def test_the_page_holds_the_scale_and_escapes_the_guide(client):
    answer = client.send("GET", "/")
    page = answer.read().decode()
    assert re.findall(r'data-rating="(\d)"', page) == ["1", "2", "3"]
    assert "Be &lt;b&gt;fair&lt;/b&gt;." in page
    assert "grades.csv" in page
    for name in ("studio.js", "studio.css"):
        assert f"/static/{name}" in page
        assert client.send("GET", f"/static/{name}").status == 200
    assert client.send("GET", "/static/page.html.j2").status == 404
    assert client.send("GET", "/static/../server.py").status == 404


def test_rating(client, studio):
    item = client.get("/api/state")["item"]
    status, state = client.post(
        "/api/rate", place=item["place"], kind="new", rating="2", id="0" * 32
    )
    assert (status, state["mine"]) == (200, 1)
    assert state["item"]["place"] != item["place"]
    status, state = client.post("/api/skip", place=state["item"]["place"])
    assert (status, state["skipped"]) == (200, 1)
    status, state = client.post("/api/unsure", place=state["item"]["place"], note="<script>")
    assert (status, state["history"][0]["note"]) == (200, "<script>")
    assert client.post("/api/undo")[1]["skipped"] == 1
    assert client.post("/api/look", place=item["place"])[1]["item"]["rating"] == "2"
    assert client.post("/api/back")[1]["item"]["kind"] == "new"
    assert len(client.get("/api/history")["history"]) == 2
    assert studio.session.logged.combined() == {item["place"]: 2}


def test_a_note_with_half_a_character_is_saved_and_shown(client):
    status, state = client.post("/api/unsure", place=0, note="cut \ud83d off \U0001f600")
    assert status == 200
    assert state["history"][0]["note"] == "cut \ufffd off \U0001f600"


def test_rated_in_another_window(client):
    item = client.get("/api/state")["item"]
    client.post("/api/rate", place=item["place"], kind="new", rating="2")
    status, state = client.post("/api/rate", place=item["place"], kind="new", rating="3")
    assert status == 409
    assert "in another window" in state["problem"]
    assert state["history"][0]["rating"] == "2"


@pytest.mark.parametrize(
    "body",
    [
        {}, {"place": "1"}, {"place": True}, {"place": 10**9}, {"place": 0, "rating": 2},
        {"place": 0, "rating": "9", "kind": "new"}, {"place": 0, "kind": ["new"]},
        {"place": 0, "rating": "1", "kind": "other"}, {"place": 0, "rating": "1"},
        {"place": 0, "rating": "1", "kind": "new", "id": "x" * 65},
        {"place": 0, "rating": "1", "kind": "new", "id": "no spaces"},
        {"place": None, "rating": None},
    ],
)  # fmt: skip
def test_wrong_requests_are_answered_and_change_nothing(client, studio, body):
    status, answer = client.post("/api/rate", **body)
    assert status == 400
    assert answer["problem"]
    assert studio.session.logged.combined() == {}


def test_ratings_of_others_are_counted_without_an_action(client, opened, grades):
    other = RatingSession(opened(), rater="other")
    item = other.item()
    other.rate(item.place, 2, item.kind)
    assert client.get("/api/estimates")["rated"] == 1


def test_what_is_not_json(client):
    for body in ("", "x", "[]", "[" * 50_000, "1", '{"a":'):
        answer = client.send("POST", "/api/rate", body)
        assert answer.status == 400
        assert json.loads(answer.read())["problem"]


def test_a_full_disk_is_reported_and_nothing_is_confirmed(client, studio, monkeypatch):
    item = client.get("/api/state")["item"]

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tordinal.tables.ratings_log.RatingsLog._write", full)
    status, answer = client.post("/api/rate", place=item["place"], kind="new", rating="2")
    assert status == 400
    assert "No space left" in answer["problem"]
    monkeypatch.undo()
    assert client.get("/api/state")["mine"] == 0


def test_estimates_and_finish(client, studio):
    assert client.get("/api/estimates")["error"] is None
    assert client.send("GET", "/report").status == 404
    client.post("/api/finish")
    studio.finishing.wait()
    state = client.get("/api/state")
    assert state["finish"]["state"] == "done"
    assert state["finish"]["paths"] == {"table": "a.csv"}
    report = client.send("GET", "/report")
    assert "A report" in report.read().decode()
    assert "frame-ancestors 'self'" in report.getheader("content-security-policy")
    assert "script" not in report.getheader("content-security-policy")


def test_the_table_was_changed_while_the_studio_runs(client, grades):
    assert client.get("/api/state")["notes"] == []
    with grades[0].open("a") as file:
        file.write("new,1.0\n")
    assert "changed on disk" in client.get("/api/state")["notes"][0]


def test_strangers_get_nothing(client):
    client.cookie = "tordinal=x"
    for path in ("/", "/api/state", "/api/estimates", "/static/studio.js", "/report"):
        assert client.send("GET", path).status == 403
    assert client.send("GET", f"/?token={client.guard.token}").status == 403


def test_only_this_machine_can_reach_it():
    listener = bind()
    try:
        assert listener.getsockname()[0] == "127.0.0.1"
        with pytest.raises(InputError, match="cannot be used"):
            bind(listener.getsockname()[1])
    finally:
        listener.close()
