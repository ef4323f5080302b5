"""One GET: directly and nowhere else, within a time and a number of bytes, clear where it fails."""

import socket
import time
from http.server import BaseHTTPRequestHandler
from threading import Event

import pytest

from planner.errors import InputError, ParseError
from planner.operations.rest.call import Service
from tests.operations.rest.service import Said, serving
from tests.told import told

HOUR_S = 3600.0


def service(url: str, timeout_s: float | None = HOUR_S, max_bytes: int = 10_000) -> Service:
    return Service(
        url, option="--url", opened_by="open it", timeout_s=timeout_s, max_bytes=max_bytes
    )


def plain(data: bytes) -> Said:
    return Said(200, data, "text/plain")


def test_nobody_but_the_url_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(lambda path, _: plain(path.encode())) as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        monkeypatch.setenv("no_proxy", "")
        with serving(lambda path, _: Said(301, b"", "text/html", f"{proxy.url}{path}")) as asked:
            reply = service(f"{asked.url}/below/").get("/x")
        assert (reply.status, asked.paths, proxy.paths) == (301, ["/below/x"], [])
    (headers,) = asked.headers
    assert headers["Accept"] == "application/json"
    assert headers["Accept-Encoding"] == "identity"
    assert "Authorization" not in headers


@pytest.mark.parametrize(
    "url",
    [
        *("", "localhost:9080", "ftp://a", "file:///etc/passwd", "http://", "http:///x"),
        *("http://[::1", "http://a:x", "http://a:0", "http://a:99999", "http://a b", "http://é"),
        *("http://a\r\nX: y", "http://a/\x00", "http://a?x=1", "http://a#b"),
    ],
)
def test_what_is_no_url_of_a_service(url: str) -> None:
    with pytest.raises(InputError, match="--url: "):
        service(url)


def test_secrets_in_a_url_are_not_repeated() -> None:
    with pytest.raises(InputError) as caught:
        service("http://ada:sesame@localhost")
    assert "sesame" not in str(caught.value)


def test_nothing_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
    with pytest.raises(InputError, match=f"{url}/x: nothing listens there\n  hint: open it"):
        service(url).get("/x")


def test_a_host_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(InputError) as caught:
        service("http://nowhere:9080").get("/x")
    told(caught.value)


def test_tls_to_a_service_without() -> None:
    with serving(lambda _, __: plain(b"x")) as asked:
        url = asked.url.replace("http:", "https:")
        with pytest.raises(InputError, match=f"{url}/x: does not speak TLS"):
            service(url).get("/x")


def test_an_answer_that_drips_ends_in_time() -> None:
    """Each byte comes soon enough; all of them would take for ever."""
    done = Event()

    def drip(_: str, handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while not done.wait(0.01):
            try:
                handler.wfile.write(b" ")
            except OSError:
                break

    with serving(drip) as asked:
        started = time.monotonic()
        with pytest.raises(InputError, match=r"no answer when the 0\.2 s were over"):
            service(asked.url, timeout_s=0.2, max_bytes=10**9).get("/x")
        assert time.monotonic() - started < HOUR_S
        done.set()


def test_headers_that_never_come() -> None:
    done = Event()

    def silent(_: str, __: BaseHTTPRequestHandler) -> None:
        done.wait(HOUR_S)

    with serving(silent) as asked:
        with pytest.raises(InputError, match="--timeout SECONDS gives it longer"):
            service(asked.url, timeout_s=0.1).get("/x")
        done.set()


def test_time_is_for_all_calls_together() -> None:
    with serving(lambda _, __: plain(b"x")) as asked:
        one = service(asked.url, timeout_s=0.3)
        time.sleep(0.4)
        with pytest.raises(InputError, match="no answer when"):
            one.get("/x")


def test_what_is_too_large_is_not_read() -> None:
    with serving(lambda _, __: plain(b"x" * 10_001)) as asked, pytest.raises(ParseError) as caught:
        service(asked.url).get("/x")
    assert "more than" in str(caught.value)
    assert "max_bytes=BYTES" in str(caught.value)


def test_what_does_not_say_how_large_it_is() -> None:
    def endless(_: str, handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        try:
            while True:
                handler.wfile.write(b"x" * 65536)
        except OSError:
            pass

    with serving(endless) as asked, pytest.raises(ParseError, match="has more than"):
        service(asked.url).get("/x")


def test_size_is_for_all_calls_together() -> None:
    with serving(lambda _, __: plain(b"x" * 6_000)) as asked:
        one = service(asked.url)
        assert len(one.get("/x").data) == 6_000
        with pytest.raises(ParseError):
            one.get("/x")


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", "broke off after 3 of 9 bytes"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", "gave no answer"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "gave no answer"),
        (b"", "gave no answer"),
        (b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 200 + b"\r\n", "gave no answer"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n" + b"x" * 20_000, "more than"),
    ],
)
def test_what_is_no_whole_answer(written: bytes, said: str) -> None:
    def answer(_: str, handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(written)
        handler.close_connection = True

    with serving(answer) as asked, pytest.raises(InputError, match=said) as caught:
        service(asked.url).get("/x")
    assert str(caught.value).startswith(f"{asked.url}/x: ")
