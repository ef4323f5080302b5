"""What MkDocs calls while it builds the site.

It adds the pages that are made from the code, completes the navigation, and says which pages the
search finds first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from generator import cli, laws, library, lint, notebooks, objectives, schemas

Nav = str | list["Nav"] | dict[str, "Nav"]
"""A part of the navigation: a page, a list, or titles with what they stand for."""

PAGES: Final[dict[str, Callable[[], str]]] = {
    "reference/cli.md": cli.page,
    "reference/exit-codes.md": cli.exit_codes,
    "reference/library.md": library.page,
    "reference/records.md": library.records,
    "reference/laws.md": laws.page,
    "reference/objectives.md": objectives.page,
    "reference/lint.md": lint.page,
    "reference/schemas.md": schemas.page,
}
ALL_OTHERS: Final = "*"
BOOST: Final = {
    "tutorial": 2,
    "how-to": 2,
    "reference": 0.5,
    "architecture.md": 0.5,
    "design": 0.5,
    "semantics": 0.5,
}
"""What the search multiplies the score of pages by: guides first, what developers read last."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what is made from the code, and complete the navigation."""
    made: dict[str, str | bytes] = {path: make() for path, make in PAGES.items()}
    made |= schemas.files() | notebooks.files()
    for path, content in made.items():
        files.append(File.generated(config, path, content=content))
    known = [file.src_uri for file in files.documentation_pages()]
    nav: Nav = config.nav or []
    config.nav = _complete(nav, [*_named(nav)], known)
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Give a page its place in the search."""
    page.meta["search"] = {"boost": BOOST.get(PurePosixPath(page.file.src_uri).parts[0], 1)}
    return markdown


def _named(nav: Nav) -> Iterator[str]:
    """Yield the pages that the navigation names."""
    if isinstance(nav, str):
        yield nav
    else:
        for item in nav.values() if isinstance(nav, dict) else nav:
            yield from _named(item)


def _complete(nav: Nav, named: list[str], known: list[str]) -> Nav:
    """Replace the entries that stand for all other pages of a folder."""
    if isinstance(nav, dict):
        return {title: _complete(item, named, known) for title, item in nav.items()}
    if isinstance(nav, str):
        return nav
    complete: list[Nav] = []
    for item in nav:
        if isinstance(item, str) and PurePosixPath(item).name == ALL_OTHERS:
            others = (page for page in known if PurePosixPath(page).match(item))
            complete += sorted(page for page in others if page not in named)
        else:
            complete.append(_complete(item, named, known))
    return complete
