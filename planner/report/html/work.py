"""The page to work in: fixed files, which look like any page and ask the service for answers."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Final

from planner.report.html.page import STYLE, style_digest

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' '{digest}'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types answers"
)
"""What the page may load: its own script and styles, and answers, made HTML in one place only."""
FILES: Final[Mapping[str, tuple[str, str]]] = {
    "/": ("work.html", "text/html; charset=utf-8"),
    "/work.js": ("work.js", "text/javascript; charset=utf-8"),
    "/work.css": ("work.css", "text/css; charset=utf-8"),
    f"/{STYLE}": (STYLE, "text/css; charset=utf-8"),
}
"""The files by the paths they are fetched from, each with its type."""


def policy() -> str:
    """Return the Content-Security-Policy of the page."""
    return POLICY.format(digest=style_digest())


def read_files() -> dict[str, tuple[bytes, str]]:
    """Return the content and the type of each file, by its path."""
    folder = files("planner.report.html")
    return {
        path: (folder.joinpath(name).read_bytes(), kind) for path, (name, kind) in FILES.items()
    }
