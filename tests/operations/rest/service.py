"""A stand-in for the REST service of YuniKorn's core, on loopback.

Source: yunikorn-core be3bb487, webservice/routes.go and webservice/handlers.go.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, NamedTuple

Json = dict[str, Any]
JSON = "application/json; charset=UTF-8"


class Said(NamedTuple):
    """An answer: the status, the content, its type, and where it has moved."""

    status: int
    data: bytes
    kind: str = JSON
    location: str = ""


class Asked(NamedTuple):
    """What was asked: paths and headers, in order."""

    url: str
    paths: list[str]
    headers: list[dict[str, str]]


Answer = Callable[[str, BaseHTTPRequestHandler], Said | None]
"""Answers a path; None where it has written to the handler itself."""


@contextmanager
def serving(answer: Answer) -> Iterator[Asked]:
    """Serve on loopback, and keep what was asked."""
    asked: list[str] = []
    headers: list[dict[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            headers.append(dict(self.headers.items()))
            said = answer(self.path, self)
            if said is None:
                return
            self.send_response(said.status)
            self.send_header("Content-Type", said.kind)
            self.send_header("Content-Length", str(len(said.data)))
            if said.location:
                self.send_header("Location", said.location)
            self.end_headers()
            self.wfile.write(said.data)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing on standard error."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        try:
            yield Asked(f"http://127.0.0.1:{server.server_port}", asked, headers)
        finally:
            server.shutdown()


def as_json(value: object, status: int = 200) -> Said:
    return Said(status, json.dumps(value).encode())


def error(status: int, message: str) -> Said:
    """Return an error as the core writes it (webservice/dao, YAPIError)."""
    return as_json({"status_code": status, "message": message, "description": message}, status)


def core(dump: Json, *, dump_at: str | None = "/debug/fullstatedump") -> Answer:
    """Answer as a core does in the state of a dump; ``dump_at`` is where it gives all of it."""
    parts = {one["name"]: one for one in dump["partitions"]}
    active = [one for one in dump["applications"] if one.get("applicationState") != "Completed"]
    routes: dict[str, object] = {
        "/ws/v1/partitions": dump["partitions"],
        "/ws/v1/config": dump["config"],
        "/ws/v1/clusters": dump.get("clusterInfo"),
    }
    for name in parts:
        below = f"/ws/v1/partition/{name}"
        (routes[f"{below}/queues"],) = dump["queues"]
        routes[f"{below}/nodes"] = dump["nodes"][0]["nodesInfo"]
        routes[f"{below}/applications/active"] = active
    if dump_at:
        routes[dump_at] = dump

    def answer(path: str, _: BaseHTTPRequestHandler) -> Said:
        if path == "/ws/v1/fullstatedump" != dump_at:
            moved = "/debug/fullstatedump"
            return Said(301, b"<a>moved</a>", "text/html; charset=utf-8", moved)
        return (
            as_json(routes[path])
            if path in routes
            else Said(404, b"404 page not found\n", "text/plain")
        )

    return answer
