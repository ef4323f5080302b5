"""The figures over HTTP: whoever only connects takes little, and shuts nobody out."""

import socket
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from planner.operations.watch.endpoint import MOST, serve
from planner.operations.watch.record import CONNECTED, Figures
from tests.conftest import FOR_EVER_S

pytest.importorskip("prometheus_client")
HOST = "127.0.0.1"


@pytest.fixture
def connections() -> Iterator[ExitStack]:
    with ExitStack() as some:
        yield some


def connect(port: int, some: ExitStack) -> socket.socket:
    return some.enter_context(socket.create_connection((HOST, port), timeout=FOR_EVER_S))


def scraped(port: int) -> str:
    """Return the page of figures."""
    with urllib.request.urlopen(f"http://{HOST}:{port}/metrics", timeout=FOR_EVER_S) as page:
        found: str = page.read().decode()
    return found


@pytest.mark.parametrize("sent", [b"", b"GET /metrics HT", b"GET /metrics HTTP/1.1\r\nHost: x\r\n"])
def test_more_idle_connections_than_there_may_be(connections: ExitStack, sent: bytes) -> None:
    """Each beyond the most ends the oldest, at once: no time has to go by."""
    port = serve(Figures(), HOST, 0)
    some = []
    for _ in range(3 * MOST):
        some.append(connect(port, connections))
        some[-1].sendall(sent)
    assert f"{CONNECTED.name} 0.0" in scraped(port)
    for one in some[: 2 * MOST]:
        assert one.recv(1) == b""


def test_a_connection_that_says_nothing_ends(
    connections: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("planner.operations.watch.endpoint._Handler.timeout", 0.01)
    port = serve(Figures(), HOST, 0)
    assert connect(port, connections).recv(1) == b""
