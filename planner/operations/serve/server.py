"""The server around the service: uvicorn, with an end to connections that ask for nothing."""

from __future__ import annotations

import json
from asyncio import Transport
from typing import Final

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

SECONDS_TO_ASK: Final = 10
"""How long a connection may take to send the head of its request."""
MOST_CONNECTIONS: Final = 100
"""How many there may be before those that have asked for nothing yet are closed, oldest first."""
_MALFORMED: Final = (
    "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\n"
    "Content-Length: {length}\r\nConnection: close\r\n\r\n{said}"
)


class Impatient(H11Protocol):
    """A connection for one request, closed when its head does not come in time.

    uvicorn itself waits for a first request without end.
    """

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Begin to wait for the head of the request."""
        super().connection_made(transport)
        self.begun = self.loop.time()
        self.loop.call_later(SECONDS_TO_ASK, self._give_up)
        if len(self.connections) > MOST_CONNECTIONS:
            others = [one for one in self.connections if isinstance(one, Impatient)]
            idle = [one for one in others if one.cycle is None and one is not self]
            if oldest := min(idle, key=lambda one: one.begun, default=None):
                oldest.transport.abort()

    def _give_up(self) -> None:
        if self.cycle is None:
            self.transport.close()

    def send_400_response(self, msg: str) -> None:
        """Say that a request is malformed, as the service says what is wrong."""
        said = json.dumps({"error": msg})
        self.transport.write(_MALFORMED.format(length=len(said), said=said).encode())
        self.transport.close()


def server(app: ASGIApp) -> uvicorn.Server:
    """Return a server of an application, to be run on a socket."""
    config = uvicorn.Config(
        app,
        http=Impatient,
        ws="none",
        log_level="error",
        access_log=False,
        server_header=False,
        headers=[("Connection", "close")],
    )
    return uvicorn.Server(config)
