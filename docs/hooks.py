"""What MkDocs calls while it builds the site.

It adds the pages that are made from the code, and completes the navigation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

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
