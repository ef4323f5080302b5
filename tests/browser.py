"""A browser that a test works in as a person does: by keys, at a width, in light or dark.

It speaks the DevTools protocol over a pipe; there is no driver to install, and no port.
"""

import base64
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from tests.conftest import FOR_EVER_S

BROWSER: Final = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
# A chromium of root refuses to start with its sandbox; it reads nothing but our own pages.
OPTIONS: Final = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run")
KEYS: Final = {"Tab": 9, "Enter": 13, " ": 32, "ArrowUp": 38, "ArrowDown": 40, "End": 35}
SHIFT, CONTROL = 8, 2
POLL_S: Final = 0.02


class Tab:
    """One page in a browser."""

    def __init__(self, reads: int, writes: int) -> None:
        self._reads, self._writes = reads, writes
        self._rest = b""
        self._last = 0
        self._session = ""
        self.said: list[str] = []
        """What the page complains of: exceptions, and what its policy forbids."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> Any:
        """Call a method of the protocol and return its result."""
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._writes, json.dumps(message).encode() + b"\0")
        while True:
            heard = self._hear()
            if heard.get("id") == self._last:
                assert "error" not in heard, heard["error"]
                return heard["result"]

    def _hear(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            piece = os.read(self._reads, 2**16)
            assert piece, "the browser went away"
            self._rest += piece
        text, _, self._rest = self._rest.partition(b"\0")
        heard: dict[str, Any] = json.loads(text)
        if heard.get("method") == "Runtime.exceptionThrown":
            self.said.append(heard["params"]["exceptionDetails"]["exception"]["description"])
        if heard.get("method") == "Log.entryAdded":
            self.said.append(heard["params"]["entry"]["text"])
        return heard

    def run(self, script: str) -> Any:
        """Return the value of an expression, which may be a promise."""
        found = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait(self, script: str) -> Any:
        """Wait until an expression is true, and return its value."""
        end = time.monotonic() + FOR_EVER_S
        while not (value := self.run(script)):
            assert time.monotonic() < end, f"never: {script}"
            time.sleep(POLL_S)
        return value

    def go(self, address: str) -> None:
        """Open a page."""
        self.run("window.wasBefore = true")
        self.call("Page.navigate", url=address)
        self.wait("document.readyState === 'complete' && !window.wasBefore")

    def look(self, width: int, height: int = 900, *, dark: bool = False) -> None:
        """Make the window so wide, and light or dark."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def press(self, key: str, modifiers: int = 0) -> None:
        """Press a key and let it go."""
        code = KEYS.get(key, ord(key[0].upper()))
        what = {"key": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
        if key == "Enter":
            what["text"] = "\r"
        elif key == " ":
            what["text"] = " "
        self.call("Input.dispatchKeyEvent", type="keyDown", **what)
        self.call("Input.dispatchKeyEvent", type="keyUp", **what)

    def write(self, text: str) -> None:
        """Write a text where the focus is, in place of what stands there."""
        self.call(
            "Input.dispatchKeyEvent",
            type="keyDown",
            key="a",
            modifiers=CONTROL,
            windowsVirtualKeyCode=65,
            commands=["selectAll"],
        )
        self.call("Input.insertText", text=text)

    def tab_to(self, selector: str, most: int = 60) -> None:
        """Press Tab until what a selector names has the focus."""
        for _ in range(most):
            if self.run(f"!!document.activeElement.closest({json.dumps(selector)})"):
                return
            self.press("Tab")
        raise AssertionError(f"Tab never comes to {selector}")

    def picture(self, file: Path, *, whole: bool = True) -> None:
        """Write what is seen to a PNG file."""
        found = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        file.write_bytes(base64.b64decode(found["data"]))


@contextmanager
def browsing(folder: Path) -> Iterator[Tab]:
    """Give a page in a browser whose profile is in a folder."""
    reads, theirs_out = os.pipe()
    theirs_in, writes = os.pipe()
    # The browser reads from 3 and writes to 4.
    words = f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}'
    profile = f"--user-data-dir={folder}/profile"
    command = [BROWSER, *OPTIONS, profile, "--remote-debugging-pipe"]
    with subprocess.Popen(
        ["bash", "-c", words, "bash", *command],  # noqa: S607
        pass_fds=(theirs_in, theirs_out),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        os.close(theirs_in)
        os.close(theirs_out)
        try:
            yield Tab(reads, writes)
        finally:
            os.close(writes)
            os.close(reads)
            process.terminate()
            process.wait()
