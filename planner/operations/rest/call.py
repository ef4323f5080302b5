"""One GET of a REST service: no proxy, no redirect, within a time and a number of bytes."""

from __future__ import annotations

import socket
import ssl
import time
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from threading import TIMEOUT_MAX
from typing import Final, NamedTuple
from urllib.parse import SplitResult, urlsplit

from planner.errors import InputError
from planner.reader.show import shown
from planner.reader.source import MAX_BYTES, too_large
from planner.solver.deadline import OutOfTime, waited_for

TIMEOUT_S: Final = 120.0
EXPECTED: Final = "such as http://localhost:9080"
_PIECE: Final = 2**16
_CONNECTION: Final = {"http": HTTPConnection, "https": HTTPSConnection}


class Reply(NamedTuple):
    """An answer of a service: the status code, the type of the content, and the content."""

    status: int
    kind: str
    data: bytes


class Service:
    """A REST service at a URL, with the limits of all calls of it together.

    It is asked directly, whatever proxy the environment names, and redirects are not followed: no
    other server is ever asked. The URL, which ``option`` gave, is its scheme, host and port, and
    perhaps a path before those of the service; ``opened_by`` says what to do where nothing answers.
    All calls together have ``timeout_s`` seconds from now on, ``None`` for no limit, and their
    answers ``max_bytes``.

    Raises `InputError` if ``url`` is no such URL.
    """

    def __init__(
        self,
        url: str,
        *,
        option: str,
        opened_by: str,
        timeout_s: float | None = TIMEOUT_S,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self._parts = _address(url, option)
        self._opened_by = opened_by
        self.url = f"{self._parts.scheme}://{self._parts.netloc}{self._parts.path}"
        self._timeout_s = timeout_s
        self._deadline = None if timeout_s is None else time.monotonic() + timeout_s
        self._max_bytes = self._room = max_bytes

    def get(self, path: str) -> Reply:
        """Ask for a path below the URL, and wait for the whole answer.

        Raises `InputError` if the service cannot be reached, breaks off, takes too long or says too
        much.
        """
        where = f"{self.url}{path}"
        try:
            # Time may also run out in the lookup of a name, or while bytes come singly.
            said = waited_for(lambda: self._ask(path, where), seconds=self._left())
        except OutOfTime:
            raise self._failed(where, TimeoutError()) from None
        except (OSError, HTTPException, ValueError) as error:
            raise self._failed(where, error) from None
        self._room -= len(said.data)
        return said

    def _ask(self, path: str, where: str) -> Reply:
        connection = _CONNECTION[self._parts.scheme](
            self._parts.hostname or "", self._parts.port, timeout=self._left()
        )
        headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
        with closing(connection):
            connection.request("GET", f"{self._parts.path}{path}", headers=headers)
            # A response may outlive its connection, and keeps the socket until it is closed.
            with connection.getresponse() as response:
                promised, data = response.length, bytearray()
                if promised is not None and promised > self._room:
                    raise too_large(where, self._max_bytes, promised)
                while piece := response.read1(_PIECE):
                    data += piece
                    self._left()
                    if len(data) > self._room:
                        raise too_large(where, self._max_bytes)
                if promised is not None and len(data) < promised:
                    broken = f"the answer broke off after {len(data)} of {promised} bytes"
                    raise HTTPException(broken)
                return Reply(response.status, response.headers.get_content_type(), bytes(data))

    def _left(self) -> float | None:
        """Return the seconds that are left; raises ``TimeoutError`` if none are."""
        if self._deadline is None:
            return None
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return min(left, TIMEOUT_MAX)

    def _failed(self, where: str, error: Exception) -> InputError:
        if isinstance(error, TimeoutError):
            found = f"had no answer when the {self._timeout_s:g} s were over"
            hint = "--timeout SECONDS gives it longer"
        elif isinstance(error, ssl.SSLCertVerificationError):
            found = f"its certificate is not trusted: {error.verify_message}"
            hint = "the variable SSL_CERT_FILE names a file with the certificate of its authority"
        elif isinstance(error, ssl.SSLError):
            found, hint = "does not speak TLS", "http:// asks without it"
        elif isinstance(error, socket.gaierror):
            found, hint = f"there is no host {shown(self._parts.hostname)}", self._opened_by
        elif isinstance(error, ConnectionRefusedError):
            found, hint = "nothing listens there", self._opened_by
        else:
            said = getattr(error, "strerror", None) or str(error) or type(error).__name__
            found, hint = f"gave no answer: {said}", ""
        return InputError(where, found, hint=hint)


def _address(url: str, option: str) -> SplitResult:
    parts = None
    with suppress(ValueError):  # a port that is no number, brackets that do not close
        found = urlsplit(url)
        whole = url.isascii() and url.isprintable() and " " not in url
        if whole and found.scheme in _CONNECTION and found.hostname and found.port != 0:
            parts = found
    if parts is None:
        said = f"{shown(url)} is no URL of a service"
        raise InputError(option, said, f"http:// or https://, {EXPECTED}")
    if "@" in parts.netloc or parts.query or parts.fragment:
        said = "the URL holds more than where the service is"  # which may be secret
        raise InputError(option, said, f"a URL {EXPECTED}")
    return parts._replace(path=parts.path.rstrip("/"))
