"""Who may talk to the studio: this machine, this browser, this page, and nobody else.

A page of another site can make a browser send requests to 127.0.0.1. It knows neither the token
nor the cookie, and its requests carry another Origin, or another Host after DNS rebinding.
"""

import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs

__all__ = ["Guard"]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LARGEST_BODY = 2**16  # bytes of a request
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Guard:
    """Let a request through only with the right Host, Origin, cookie and size.

    The token in the address of the first request is good for once; it is replaced by a cookie that
    scripts cannot read.

    Parameters
    ----------
    app : ASGI application
        What is guarded.
    port : int
        The port of the server.

    Attributes
    ----------
    token : str
        For the address that the browser opens.
    """

    def __init__(self, app: App, port: int):
        self.app = app
        names = ("127.0.0.1", "localhost")
        self.hosts = {f"{name}:{port}" for name in names}
        if port == 80:  # browsers leave it out
            self.hosts |= set(names)
        self.cookie = f"tordinal-studio-{port}"  # browsers share cookies between ports
        self.token = secrets.token_urlsafe(32)
        self._session = secrets.token_urlsafe(32)
        self._is_token_used = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        pairs = [(k.decode("latin-1").lower(), v.decode("latin-1")) for k, v in scope["headers"]]
        headers = dict(pairs)
        problem = self._problem(scope, headers)
        if problem is not None:
            await _answer(send, *problem)
            return
        if self._takes_token(scope):
            cookie = f"{self.cookie}={self._session}; HttpOnly; SameSite=Strict; Path=/"
            await _answer(send, 303, "", {"location": "/", "set-cookie": cookie})
            return
        if not self._has_cookie(";".join(v for k, v in pairs if k == "cookie")):
            await _answer(
                send, 403,
                "This page belongs to another browser, or the studio has been started again. Open "
                "the address that the terminal shows; it is good for once. Start the studio again "
                "for a new one: no rating is lost.",
            )  # fmt: skip
            return
        body = await _read_body(receive)
        if body is None:
            await _answer(send, 413, "The request is too large.")
            return
        await self.app(scope, _replay(body, receive), _with_headers(send))

    def _problem(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        if headers.get("host", "") not in self.hosts:
            return 403, "Wrong Host."
        origin = headers.get("origin")
        if origin is not None and origin not in {f"http://{host}" for host in self.hosts}:
            return 403, "Wrong Origin."
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return 403, "Requests from other sites are not answered."
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return 405, "Method not allowed."
        if scope["method"] == "POST":
            if origin is None:
                return 403, "Wrong Origin."
            if headers.get("content-type", "").split(";")[0].strip() != "application/json":
                return 415, "Send JSON."
        return None

    def _takes_token(self, scope: Scope) -> bool:
        """Whether the request brings the token, for the first time."""
        query = parse_qs(scope["query_string"].decode("latin-1"))
        given = query.get("token", [""])[0]
        right = secrets.compare_digest(given.encode(), self.token.encode())
        if scope["method"] != "GET" or scope["path"] != "/" or not right or self._is_token_used:
            return False
        self._is_token_used = True
        return True

    def _has_cookie(self, cookies: str) -> bool:
        # Not http.cookies, which gives up at the first odd cookie: those of other programs on
        # 127.0.0.1 are sent along, whatever they hold.
        given = (cookie.strip().partition("=") for cookie in cookies.split(";"))
        return any(
            name == self.cookie and secrets.compare_digest(value.encode(), self._session.encode())
            for name, _, value in given
        )


async def _read_body(receive: Receive) -> bytes | None:
    """The body of a request; None if it is too large."""
    body = b""
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return body
        body += message.get("body", b"")
        if len(body) > LARGEST_BODY:
            return None
        if not message.get("more_body", False):
            return body


def _replay(body: bytes, receive: Receive) -> Receive:
    """Hand out a body that has been read, once."""
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay


def _with_headers(send: Send) -> Send:
    """Add the headers of safety where the answer has not set them."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            present = {name.lower() for name, _ in message["headers"]}
            message["headers"] = [
                *message["headers"],
                *(
                    (n.encode(), v.encode())
                    for n, v in HEADERS.items()
                    if n.encode() not in present
                ),
            ]
        await send(message)

    return send_with_headers


async def _answer(
    send: Send, status: int, text: str, headers: dict[str, str] | None = None
) -> None:
    """Answer with plain text."""
    sent = {"content-type": "text/plain; charset=utf-8", **HEADERS, **(headers or {})}
    await send({
        "type": "http.response.start", "status": status,
        "headers": [(name.encode(), value.encode()) for name, value in sent.items()],
    })  # fmt: skip
    await send({"type": "http.response.body", "body": text.encode()})
