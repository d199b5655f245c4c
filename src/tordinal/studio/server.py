"""The pages and the answers of the studio, and the server on 127.0.0.1."""

import json
import os
import socket
import threading
import webbrowser
from collections.abc import Callable
from importlib import resources
from typing import Any

import uvicorn
from jinja2 import Environment, PackageLoader, select_autoescape
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from tordinal.exceptions import InputError
from tordinal.studio.assessor import Assessor
from tordinal.studio.finishing import Finishing
from tordinal.studio.guard import Guard
from tordinal.studio.session import ConflictError, RatingSession
from tordinal.studio.view import estimates_view, history_view, keys_of, state_view

__all__ = ["Studio", "bind", "serve"]

HOST = "127.0.0.1"
STATIC = {"studio.js": "text/javascript", "studio.css": "text/css"}
LONGEST_ID, LONGEST_NOTE = 64, 10_000
REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'"


class Studio:
    """The web application over one session.

    Parameters
    ----------
    session : RatingSession
        What is rated, and by whom.
    assessor : Assessor
        The model behind it.
    finishing : Finishing
        Writes the rated table.
    path : str
        The file of the table.
    goal : float or None, default=None
        The error of the finished table, in steps, that is aimed at.
    guide : str, default=""
        Guidelines for raters, shown beside each row.
    """

    def __init__(
        self,
        session: RatingSession,
        assessor: Assessor,
        finishing: Finishing,
        path: str,
        *,
        goal: float | None = None,
        guide: str = "",
    ):
        self.session, self.assessor, self.finishing = session, assessor, finishing
        self.path, self.goal, self.guide = path, goal, guide
        self._stamp = _stamp(path)
        environment = Environment(
            loader=PackageLoader("tordinal.studio", "static"),
            autoescape=select_autoescape(default=True, default_for_string=True),
        )
        self._page = environment.get_template("page.html.j2")
        answers: list[tuple[str, str, Callable[[dict[str, Any]], Any]]] = [
            ("GET", "/api/state", lambda _: self.state()),
            ("GET", "/api/estimates", lambda _: self.estimates()),
            ("GET", "/api/history", lambda _: {"history": history_view(self.session)}),
            ("POST", "/api/rate", self._rate),
            ("POST", "/api/skip", self._skip),
            ("POST", "/api/unsure", self._unsure),
            ("POST", "/api/undo", self._undo),
            ("POST", "/api/look", lambda body: self.session.look_again(_place(body))),
            ("POST", "/api/back", lambda body: self.session.back(id=_text(body, "id", LONGEST_ID))),
            ("POST", "/api/finish", lambda _: self.finishing.start()),
        ]
        self.app = Starlette(
            routes=[
                Route("/", self._home),
                Route("/static/{name}", _static),
                Route("/favicon.ico", _no_icon),
                Route("/report", self._report),
                *(Route(path, self._answer(do), methods=[verb]) for verb, path, do in answers),
            ]
        )

    def state(self) -> dict[str, Any]:
        """What the page shows, without the estimates."""
        self.session.refresh()
        notes = []
        if _stamp(self.path) != self._stamp:
            notes.append(
                "The table has been changed on disk since the studio was started. Start the "
                "studio again to go on with the new one: rows are recognised by their cells, and "
                "no rating is lost."
            )
        return state_view(self.session, self.assessor, self.finishing, notes)

    def estimates(self) -> dict[str, Any]:
        """What the ratings say about the finished table."""
        self.session.refresh()  # others may have rated
        return estimates_view(self.session, self.assessor, self.goal)

    # Answers -------------------------------------------------------------------------------------

    def _rate(self, body: dict[str, Any]) -> None:
        self.session.rate(
            _place(body), _text(body, "rating", 1000), _text(body, "kind", 10),
            id=_text(body, "id", LONGEST_ID),
        )  # fmt: skip

    def _skip(self, body: dict[str, Any]) -> None:
        self.session.skip(_place(body), id=_text(body, "id", LONGEST_ID))

    def _undo(self, body: dict[str, Any]) -> None:
        self.session.undo(id=_text(body, "id", LONGEST_ID))

    def _unsure(self, body: dict[str, Any]) -> None:
        self.session.unsure(
            _place(body), id=_text(body, "id", LONGEST_ID), note=_text(body, "note", LONGEST_NOTE)
        )

    def _answer(self, do: Callable[[dict[str, Any]], Any]) -> Callable[[Request], Any]:
        """Make the endpoint of an action: a request with JSON, and the new state as the answer."""

        async def endpoint(request: Request) -> Response:
            body: Any = {}
            if request.method == "POST":
                try:
                    body = json.loads(await request.body() or b"{}")
                except (ValueError, RecursionError):
                    body = None
                if not isinstance(body, dict):
                    return JSONResponse({"problem": "Send a JSON object."}, 400)
            return await run_in_threadpool(self._do, do, body, request.method)

        return endpoint

    def _do(self, do: Callable[[dict[str, Any]], Any], body: dict[str, Any], verb: str) -> Response:
        try:
            result = do(body)
            return JSONResponse(self.state() if verb == "POST" else result)
        except ConflictError as error:
            return JSONResponse({**self.state(), "problem": str(error)}, 409)
        except (InputError, OSError) as error:  # a full disk, say: the page must not confirm
            return JSONResponse({"problem": str(error)}, 400)

    async def _home(self, request: Request) -> Response:
        classes = self.session.project.classes
        scale = [
            {"label": str(label), "key": key}
            for label, key in zip(classes, keys_of(classes), strict=True)
        ]
        page = self._page.render(
            file=os.path.basename(self.path), target=self.session.project.target, scale=scale,
            guide=self.guide, rater=self.session.rater, goal=self.goal,
        )  # fmt: skip
        return HTMLResponse(page)

    async def _report(self, request: Request) -> Response:
        if not self.finishing.report:
            return HTMLResponse("<!doctype html><title>No report</title><p>Finish first.", 404)
        headers = {"content-security-policy": REPORT_POLICY, "x-frame-options": "SAMEORIGIN"}
        return HTMLResponse(self.finishing.report, headers=headers)


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in STATIC:
        return Response(status_code=404)
    content = resources.files("tordinal.studio").joinpath("static", name).read_bytes()
    return Response(content, media_type=STATIC[name])


async def _no_icon(request: Request) -> Response:
    return Response(status_code=204)


def _place(body: dict[str, Any]) -> int:
    place = body.get("place")
    if not isinstance(place, int) or isinstance(place, bool):
        raise InputError(f"place {place!r} must be the place of a row")
    return place


def _text(body: dict[str, Any], name: str, longest: int) -> str:
    text = body.get(name, "")
    if not isinstance(text, str) or len(text) > longest:
        raise InputError(f"{name} must be text of at most {longest:,} letters")
    # Half of a character outside the BMP, as from a text that was cut, cannot be written as UTF-8.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _stamp(path: str) -> tuple[float, int]:
    """Time of change and size of a file; zeros where there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return 0.0, 0
    return status.st_mtime, status.st_size


def bind(port: int = 0) -> socket.socket:
    """A socket of 127.0.0.1, which only this machine can reach; port 0: one that is free."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name != "nt":  # on Windows this would let another program take the port
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise InputError(f"port {port} cannot be used: {error.strerror}; name another") from None
    return listener


def serve(
    studio: Studio,
    listener: socket.socket,
    *,
    announce: Callable[[str], None],
    browser: bool = True,
) -> None:
    """Serve until Ctrl-C.

    Parameters
    ----------
    studio : Studio
        The application.
    listener : socket
        From `bind`.
    announce : callable
        Told the address with the token.
    browser : bool, default=True
        Whether to open the browser.
    """
    port = listener.getsockname()[1]
    guard = Guard(studio.app, port)
    config = uvicorn.Config(
        guard, log_level="error", access_log=False, server_header=False, date_header=False,
        lifespan="off", ws="none", timeout_graceful_shutdown=2,
    )  # fmt: skip
    server = uvicorn.Server(config)
    address = f"http://{HOST}:{port}/?token={guard.token}"
    studio.assessor.start()
    announce(address)
    if browser:
        threading.Timer(0.5, webbrowser.open, [address]).start()
    try:
        server.run(sockets=[listener])
    except KeyboardInterrupt:  # how one stops it; the server has closed its connections
        pass
    finally:
        studio.assessor.stop()
        listener.close()
