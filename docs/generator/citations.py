"""Citations of the pages on semantics and design, such as docs/semantics/kueue.md §5.6, as links.

A ``§`` belongs to the page that was named last before it.
"""

from __future__ import annotations

import posixpath
import re
from functools import cache
from pathlib import Path

DOCS = Path(__file__).parents[1]
CITED = re.compile(r"docs/(?P<page>(?:semantics|design)/[\w-]+\.md)|§(?P<section>\d+(?:\.\d+)?)")
HEADING = re.compile(r"^#+ (?P<title>(?P<section>\d+(?:\.\d+)?) .+)$", re.MULTILINE)


def linked(text: str, here: str) -> str:
    """Return the text with a link for every page and every section that it cites.

    Parameters
    ----------
    text
        Markdown.
    here
        The page on which it will stand, below docs/.

    Raises
    ------
    KeyError
        If a section is cited that the page does not have.
    """
    page = ""

    def link(cited: re.Match[str]) -> str:
        nonlocal page
        page = cited["page"] or page
        target = posixpath.relpath(page, posixpath.dirname(here))
        anchor = f"#{_anchors(page)[cited['section']]}" if cited["section"] else ""
        return f"[{cited[0]}]({target}{anchor})"

    return CITED.sub(link, text)


@cache
def _anchors(page: str) -> dict[str, str]:
    """Return where links to the sections of a page lead, as MkDocs calls their headings."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return {heading["section"]: _anchor(heading["title"]) for heading in HEADING.finditer(text)}


def _anchor(title: str) -> str:
    words = re.sub(r"[^\w\s-]", "", title).strip().lower()
    return re.sub(r"[-\s]+", "-", words)
