"""The figures of a watch over HTTP, as Prometheus reads them."""

from __future__ import annotations

import socket
from contextlib import suppress
from socketserver import ThreadingMixIn
from threading import Lock, Thread
from typing import Final
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from planner.errors import InputError
from planner.operations.watch.record import Figures

EXTRA: Final = "pip install 'preemption-planner[operations]', or '.[operations]' in a checkout"
MOST: Final = 32
"""The most connections at a time: the oldest makes room for a new one."""
Connection = socket.socket | tuple[bytes, socket.socket]
"""What the standard library's servers call a request; the latter is none of a stream."""
SILENT_S: Final = 10
"""Seconds after which a connection ends that says nothing, or takes nothing."""


def serve(figures: Figures, host: str, port: int) -> int:
    """Serve the figures over HTTP until the process ends; return the port.

    Raises ``InputError`` if prometheus-client is not installed, or the port cannot be had.
    """
    try:
        import prometheus_client  # noqa: PLC0415 # pyright: ignore[reportMissingImports]
    except ImportError:
        raise InputError("--metrics", "prometheus-client is not installed", hint=EXTRA) from None
    registry = prometheus_client.CollectorRegistry(auto_describe=False)
    registry.register(figures)
    try:
        server = _Server(host, port)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError("--metrics", f"{host}:{port} cannot be had: {reason}") from None
    server.set_app(prometheus_client.make_wsgi_app(registry))
    Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


class _Server(ThreadingMixIn, WSGIServer):
    """A thread for each connection, and few of these: whoever only connects shuts nobody out.

    ``prometheus_client.start_http_server`` has no bounds.
    """

    daemon_threads = True
    request_queue_size = MOST

    def __init__(self, host: str, port: int) -> None:
        kind, flags = socket.SOCK_STREAM, socket.AI_PASSIVE
        found = socket.getaddrinfo(host, port, type=kind, flags=flags)
        self.address_family, *_, address = found[0]
        self._open: dict[Connection, None] = {}
        self._changing = Lock()
        super().__init__((str(address[0]), port), _Handler)

    def process_request(self, request: Connection, client_address: object) -> None:
        """Answer in a thread; where there are too many, the oldest ends."""
        with self._changing:
            self._open[request] = None
            if len(self._open) > MOST:
                oldest = next(iter(self._open))
                del self._open[oldest]
                if isinstance(oldest, socket.socket):
                    with suppress(OSError):  # it ends by itself
                        oldest.shutdown(socket.SHUT_RDWR)
        super().process_request(request, client_address)

    def close_request(self, request: Connection) -> None:
        """Close a connection."""
        with self._changing:
            self._open.pop(request, None)
        super().close_request(request)

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: whoever asks may be silent, or go away."""


class _Handler(WSGIRequestHandler):
    timeout = SILENT_S

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as it is called
        """Say nothing of requests."""
