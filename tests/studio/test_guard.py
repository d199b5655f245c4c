import asyncio

import pytest

from tordinal.studio.guard import LARGEST_BODY, Guard

HOST = {"host": "127.0.0.1:8000"}


async def inner(scope, receive, send):
    body = (await receive())["body"]
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"inside " + body})


@pytest.fixture
def guard():
    return Guard(inner, 8000)


def ask(guard, path="/", headers=HOST, method="GET", query="", body=b""):
    """Status, headers and body of an answer."""
    sent, parts = [], [body[i : i + 5000] for i in range(0, len(body), 5000)] or [b""]

    async def receive():
        part = parts.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(parts)}

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http", "method": method, "path": path, "query_string": query.encode(),
        "headers": [(k.encode(), v.encode()) for k, v in headers.items()],
    }  # fmt: skip
    asyncio.run(guard(scope, receive, send))
    found = {k.decode(): v.decode() for k, v in sent[0]["headers"]}
    return sent[0]["status"], found, sent[1]["body"].decode()


@pytest.fixture
def cookie(guard):
    status, headers, _ = ask(guard, query=f"token={guard.token}")
    assert status == 303
    assert headers["location"] == "/"
    assert "HttpOnly" in headers["set-cookie"]
    assert "SameSite=Strict" in headers["set-cookie"]
    return {"cookie": headers["set-cookie"].split(";")[0]}


def test_with_the_cookie_all_is_well(guard, cookie):
    status, headers, body = ask(guard, "/api/state", HOST | cookie)
    assert (status, body) == (200, "inside ")
    assert headers["content-security-policy"].startswith("default-src 'none'")
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert not any(name.startswith("access-control") for name in headers)


def test_the_token_is_good_for_once(guard, cookie):
    assert ask(guard, query=f"token={guard.token}")[0] == 403


@pytest.mark.parametrize("query", ["", "token=", "token=x", "token=%C3%BC", "token=x&token=y"])
def test_without_the_token(guard, query):
    status, headers, body = ask(guard, query=query)
    assert status == 403
    assert "set-cookie" not in headers
    assert "inside" not in body


def test_the_token_is_no_password_elsewhere(guard):
    assert ask(guard, "/api/state", query=f"token={guard.token}")[0] == 403
    assert ask(guard, query=f"token={guard.token}")[0] == 303  # it was not used up


@pytest.mark.parametrize(
    "host", ["evil.example:8000", "127.0.0.1:8001", "127.0.0.1", "localhost.evil.example:8000", ""]
)
def test_another_host(guard, cookie, host):
    assert ask(guard, "/api/state", {"host": host} | cookie)[0] == 403


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "https://127.0.0.1:8000", "null", "http://127.0.0.1:9000", ""]
)
def test_another_origin(guard, cookie, origin):
    headers = HOST | cookie | {"origin": origin, "content-type": "application/json"}
    assert ask(guard, "/api/rate", headers, "POST")[0] == 403
    assert ask(guard, "/api/state", headers)[0] == 403


def test_posts_need_an_origin_and_json(guard, cookie):
    own = {"origin": "http://127.0.0.1:8000"}
    json = {"content-type": "application/json; charset=utf-8"}
    assert ask(guard, "/api/rate", HOST | cookie | json, "POST")[0] == 403
    assert ask(guard, "/api/rate", HOST | cookie | own, "POST")[0] == 415
    form = {"content-type": "text/plain"}
    assert ask(guard, "/api/rate", HOST | cookie | own | form, "POST")[0] == 415
    status, _, body = ask(guard, "/api/rate", HOST | cookie | own | json, "POST", body=b"{}")
    assert (status, body) == (200, "inside {}")


def test_other_sites_and_methods(guard, cookie):
    for site in ("cross-site", "same-site"):
        assert ask(guard, "/", HOST | cookie | {"sec-fetch-site": site})[0] == 403
    for method in ("PUT", "DELETE", "OPTIONS"):
        assert ask(guard, "/", HOST | cookie, method)[0] == 405


def test_large_requests(guard, cookie):
    headers = (
        HOST | cookie | {"origin": "http://localhost:8000", "content-type": "application/json"}
    )
    assert ask(guard, "/", headers, "POST", body=b"x" * LARGEST_BODY)[0] == 200
    assert ask(guard, "/", headers, "POST", body=b"x" * (LARGEST_BODY + 1))[0] == 413


@pytest.mark.parametrize("value", ["", "x", "a=b; c", "tordinal-studio-8000=", '"', "\xff"])
def test_wrong_cookies(guard, value):
    headers = [(b"host", b"127.0.0.1:8000"), (b"cookie", value.encode("latin-1"))]
    sent = []

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": headers}
    asyncio.run(guard(scope, None, send))
    assert sent[0]["status"] == 403


@pytest.mark.parametrize(
    "others", ['settings={"a":1}', "foo[bar]=1", "a=b c", "nameless", ";", "tordinal-studio-8000=x"]
)
def test_cookies_of_other_programs_on_this_machine_do_not_matter(guard, cookie, others):
    for both in (f"{others}; {cookie['cookie']}", f"{cookie['cookie']}; {others}"):
        assert ask(guard, "/api/state", HOST | {"cookie": both})[0] == 200


def test_other_connections_are_not_answered(guard):
    sent = []
    asyncio.run(guard({"type": "websocket"}, None, sent.append))
    assert sent == []
