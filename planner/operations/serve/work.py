"""The page to work in: fixed files, which look like any page and ask the service for answers."""

from __future__ import annotations

import html
from collections.abc import Mapping
from importlib.resources import files
from typing import Final, NamedTuple

from planner.report.html.page import STYLE, style_digest

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' '{digest}'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types answers"
)
"""What the page may load: its own script and styles, and answers, made HTML in one place only."""
_HERE: Final = "planner.operations.serve"
FILES: Final[Mapping[str, tuple[str, str, str]]] = {
    "/": (_HERE, "work.html", "text/html; charset=utf-8"),
    "/work.js": (_HERE, "work.js", "text/javascript; charset=utf-8"),
    "/work.css": (_HERE, "work.css", "text/css; charset=utf-8"),
    f"/{STYLE}": ("planner.report.html", STYLE, "text/css; charset=utf-8"),
}
"""The files by the paths they are fetched from, each with its package and its type."""


def policy() -> str:
    """Return the Content-Security-Policy of the page."""
    return POLICY.format(digest=style_digest())


class Dump(NamedTuple):
    """A dump that the page may open with, and its name."""

    name: str
    data: bytes


def read_files(example: bytes, state: Dump | None = None) -> dict[str, tuple[bytes, str]]:
    """Return the content and the type of each file, by its path.

    The page offers the ``example``, and begins with the ``state`` if there is one.
    """
    found = {
        path: (files(package).joinpath(name).read_bytes(), kind)
        for path, (package, name, kind) in FILES.items()
    }
    found["/example"] = example, _BYTES
    if state is not None:
        page, kind = found["/"]
        named = f'data-state="{html.escape(state.name)}"'
        found["/"] = page.replace(b'data-state=""', named.encode()), kind
        found["/state"] = state.data, _BYTES
    return found


_BYTES: Final = "application/octet-stream"
