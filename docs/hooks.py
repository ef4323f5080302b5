"""What MkDocs calls while it builds the site.

It adds the pages that are made from the code, completes the navigation, and puts parts of the
README where a page says ``<!-- README: TITLE OF THE PART -->``.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from generator import cli, laws, library, objectives, schemas

Nav = str | list["Nav"] | dict[str, "Nav"]
"""A part of the navigation: a page, a list, or titles with what they stand for."""

PAGES: Final[dict[str, Callable[[], str]]] = {
    "reference/cli.md": cli.page,
    "reference/exit-codes.md": cli.exit_codes,
    "reference/library.md": library.page,
    "reference/laws.md": laws.page,
    "reference/objectives.md": objectives.page,
    "reference/schemas.md": schemas.page,
}
ALL_OTHERS: Final = "*"
PART: Final = re.compile(r"^<!-- README: (.+) -->$", re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what is made from the code, and complete the navigation."""
    made = {path: make() for path, make in PAGES.items()} | schemas.files()
    for path, content in made.items():
        files.append(File.generated(config, path, content=content))
    known = [file.src_uri for file in files.documentation_pages()]
    nav: Nav = config.nav or []
    config.nav = _complete(nav, [*_named(nav)], known)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: object) -> str:
    """Put in the parts of the README that a page asks for; their links lead on from the page."""
    readme = Path(config.config_file_path).with_name("README.md")
    top = posixpath.relpath(".", posixpath.dirname(page.file.src_uri))

    def part(mark: re.Match[str]) -> str:
        text = readme.read_text(encoding="utf-8")
        _, _, rest = text.partition(f"\n## {mark[1]}\n")
        if not rest:
            message = f'README.md has no part "{mark[1]}"'
            raise PluginError(message)
        return rest.partition("\n## ")[0].strip().replace("](docs/", f"]({top}/")

    return PART.sub(part, markdown)


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
