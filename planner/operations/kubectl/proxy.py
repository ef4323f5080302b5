"""One kept connection to the API server: HTTP through a ``kubectl proxy``, which logs in by itself.

A call of kubectl is a process of 0.07 s of processor time, a request through the proxy takes 2 ms.
Whoever may open the proxy's socket has our rights in the cluster: it stands in a folder that only
this user may enter, only the paths that it was started for go through, and it ends when we do,
however that is.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from planner.errors import InputError
from planner.operations.kubectl.call import MAX_ERROR_BYTES, TIMEOUT_S, Kubectl, kill, last_words

MAX_ANSWER: Final = 2**23
"""More bytes than any object has: the API server stores none above 1.5 MiB."""
_WHERE: Final = "kubectl proxy"


class Reply(NamedTuple):
    """An answer over HTTP: its status code, its object, and why, in the words of kubectl.

    What is no object is an empty one.
    """

    code: int
    value: dict[str, Any]
    said: str


class Proxy:
    """Requests to the API server; the proxy is started with the first, and again if it has ended.

    ``connect`` makes the kubectl that is run, and ``paths`` is a regular expression for the whole
    paths that may be asked for. ``process`` and ``folder`` are those of a proxy that runs.
    """

    def __init__(self, connect: Callable[[], Kubectl], paths: str) -> None:
        self._connect, self._paths = connect, paths
        self.process: subprocess.Popen[bytes] | None = None
        self.folder: TemporaryDirectory[str] | None = None
        self._http: HTTPConnection | None = None

    def ask(self, method: str, path: str, change: object = None, kind: str = "") -> Reply:
        """Send a request, with a patch of a kind such as ``merge`` if it is one.

        Raises ``InputError`` if there is no answer.
        """
        body = None if change is None else json.dumps(change)
        headers = {"Content-Type": f"application/{kind}-patch+json"} if kind else {}
        try:
            http = self._http or self._start()
            http.request(method, path, body, headers)
            with http.getresponse() as response:
                data = response.read(MAX_ANSWER + 1)
                code = response.status
        except (OSError, HTTPException) as error:
            said = str(error) or type(error).__name__
            if self.process is not None and self.process.stderr is not None:
                os.set_blocking(self.process.stderr.fileno(), False)
                told = self.process.stderr.read(MAX_ERROR_BYTES) or b""
                said = last_words(told.decode(errors="replace")) or said
            self.close()
            raise InputError(_WHERE, f"failed: {said}") from None
        if len(data) > MAX_ANSWER:
            self.close()
            raise InputError(_WHERE, f"answered with more than {MAX_ANSWER} bytes")
        try:
            found = json.loads(data)
        except (ValueError, RecursionError):
            found = None
        value = found if isinstance(found, dict) else {}
        said = last_words(data.decode(errors="replace")) or f"HTTP {code}"
        if "reason" in value:
            said = f"{value.get('message')} ({value['reason']})"
        return Reply(code, value, said)

    def close(self) -> None:
        """End the proxy."""
        if self._http is not None:
            self._http.close()
        if self.process is not None:
            kill(self.process)
            with self.process:
                pass
        if self.folder is not None:
            with suppress(OSError):
                self.folder.cleanup()
        self._http = self.process = self.folder = None

    def _start(self) -> HTTPConnection:
        self.folder = TemporaryDirectory(prefix="planner-")  # it may be entered by us alone
        place = str(Path(self.folder.name, "socket"))
        how = ("--reject-methods=POST,PUT,DELETE", f"--accept-paths=^{self._paths}$")
        words = ("proxy", f"--unix-socket={place}", *how)
        self.process = self._connect().start(*words, until_we_end=True)
        # It says so once it serves; it asks nobody before that.
        if self.process.stdout is None or not self.process.stdout.readline():
            raise OSError("it does not serve")
        self._http = _OverSocket(place)
        return self._http


class _OverSocket(HTTPConnection):
    """A connection over a socket in the file system."""

    def __init__(self, place: str) -> None:
        super().__init__("localhost", timeout=TIMEOUT_S)
        self._place = place

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._place)
