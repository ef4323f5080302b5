"""Requests to the service, without a server around it; and the service as a process."""

import asyncio
import json
import subprocess
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import urlencode

from fastapi import FastAPI

from tests.cli.running import command, environment


class Answer(NamedTuple):
    """What the service answered."""

    status: int
    headers: dict[str, str]
    data: bytes

    @property
    def json(self) -> Any:
        """The content as a value."""
        return json.loads(self.data)


async def ask(  # noqa: PLR0913 - what a request may have
    app: FastAPI,
    path: str,
    *pieces: bytes | asyncio.Event | None,
    method: str = "POST",
    host: str = "localhost",
    origin: str = "",
    upgrade: str = "",
    **query: str | list[str],
) -> Answer:
    """Send a request in pieces; None is the client's going away, an event that it does so then."""
    waiting = [*pieces]
    sent: list[MutableMapping[str, Any]] = []

    async def receive() -> MutableMapping[str, Any]:
        await asyncio.sleep(0)
        if not waiting:
            await asyncio.Event().wait()  # nothing comes any more, and the client stays
        piece = waiting.pop(0)
        if isinstance(piece, asyncio.Event):
            await piece.wait()
        if not isinstance(piece, bytes):
            return {"type": "http.disconnect"}
        more = bool(waiting) and not isinstance(waiting[0], asyncio.Event)
        return {"type": "http.request", "body": piece, "more_body": more}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": urlencode(query, doseq=True).encode(),
        "headers": [
            (name.encode(), value.encode())
            for name, value in {"host": host, "origin": origin, "upgrade": upgrade}.items()
            if value
        ],
    }
    await app(scope, receive, send)
    start, *bodies = sent
    data = b"".join(body["body"] for body in bodies)
    found = {name.decode(): value.decode() for name, value in start["headers"]}
    assert found["content-length"] == str(len(data))
    return Answer(start["status"], found, data)


@contextmanager
def serving_at(*words: str) -> Iterator[tuple[subprocess.Popen[str], tuple[str, int]]]:
    """Run the service; give its process, and where it listens."""
    listening = command("serve", *words, "--listen", ":0")
    with subprocess.Popen(
        listening, env=environment(), stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        said = process.stderr.readline()
        assert said.startswith("serve: http://127.0.0.1:")
        try:
            yield process, ("127.0.0.1", int(said.rpartition(":")[2]))
        finally:
            process.kill()
