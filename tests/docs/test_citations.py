"""Every citation leads to a page, and to a section of it, that the repository has.

Code cites a page by its path from the root and its sections by number, as in
``docs/semantics/kueue.md §5.6``; a ``§`` that follows in the same file belongs to the page that was
named last. Pages cite one another by links.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import ROOT

FOLDERS = ("planner", "models", "tests", "docs", "instances", "notebooks")
CODE = sorted(
    path
    for folder in FOLDERS
    for path in (ROOT / folder).rglob("*")
    if path.suffix in {".py", ".ipynb", ".toml"}
    and path != Path(__file__)  # which makes citations up
)
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "instances").rglob("*.md")]
)
NOT_OF_HERE = {
    # Made while the site is built, as all of the reference.
    "exit-codes.md",
    "library.md",
    "schemas.md",
    "scale.md",  # written by tests.benchmarks.scale
    "CHANGELOG-0.15.md",  # Kueue's
}

CITED = re.compile(r"(?P<page>[\w./-]*\w\.md)\b|§(?P<section>\d+(?:\.\d+)*)")
HEADING = re.compile(r"^#{1,6} (?P<title>.+)$", re.MULTILINE)
NUMBERED = re.compile(r"(?P<number>\d+(?:\.\d+)*) ")
LINK = re.compile(r"\]\((?P<inline>[^)\s]+)\)|^\[[^\]]+\]: (?P<defined>\S+)$", re.MULTILINE)
SHORT = re.compile(r"(?<![\w!\]])\[(?P<name>(?:[A-Z] )?\d+(?:\.\d+)?)\](?![(:\w])")
DEFINED = re.compile(r"^\[(?P<name>[^\]]+)\]: ", re.MULTILINE)
VERBATIM = re.compile(r"^```.*?^```|`[^`]+`", re.MULTILINE | re.DOTALL)


@cache
def sections(page: Path) -> tuple[str, ...]:
    """Return the numbers that the headings of a page begin with."""
    titles = (heading["title"] for heading in HEADING.finditer(prose(page)))
    return tuple(found["number"] for title in titles if (found := NUMBERED.match(title)))


@cache
def anchors(page: Path) -> frozenset[str]:
    """Return what links to the headings of a page end in, on the site and on GitHub alike."""
    titles = (
        re.sub(r"[`*]|\s*\{.*\}$", "", heading["title"]) for heading in HEADING.finditer(raw(page))
    )
    return frozenset(re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", one).lower()) for one in titles)


@cache
def raw(page: Path) -> str:
    return page.read_text(encoding="utf-8")


@cache
def prose(page: Path) -> str:
    """Return a page without what it shows word by word."""
    return VERBATIM.sub("", raw(page))


def broken_in_code(text: str, beside: Path = ROOT) -> Iterator[str]:
    """Yield the citations in a file that lead nowhere; ``beside`` is its folder."""
    page: Path | None = None
    for cited in CITED.finditer(text):
        if cited["page"]:
            named = [ROOT / cited["page"], beside / cited["page"]]
            page = next((one for one in named if one.is_file()), None)
            if page is None and not (is_made(cited["page"]) or cited["page"] in NOT_OF_HERE):
                yield cited["page"]
        elif page is None or cited["section"] not in sections(page):
            yield f"{page.name if page else 'no page'} {cited[0]}"


def broken_in_page(text: str, beside: Path = ROOT) -> Iterator[str]:
    """Yield the links of a page that lead nowhere; ``beside`` is its folder."""
    plain = VERBATIM.sub("", text)
    for link in LINK.finditer(plain):
        target = link["inline"] or link["defined"]
        path, _, anchor = target.partition("#")
        if ":" in target or not path or is_made("/".join(path.split("/")[-2:])):
            continue
        file = beside / path
        if not file.exists() or (anchor and anchor not in anchors(file)):
            yield target
    defined = {one["name"] for one in DEFINED.finditer(plain)}
    yield from (one[0] for one in SHORT.finditer(plain) if one["name"] not in defined)


def is_made(path: str) -> bool:
    """Say whether a page is of the reference or a notebook, made while the site is built."""
    return path.startswith(("reference/", "notebooks/"))


@pytest.mark.parametrize("folder", FOLDERS)
def test_citations_in_code_lead_to_sections(folder: str) -> None:
    broken = [
        f"{path.relative_to(ROOT)}: {citation}"
        for path in CODE
        if path.is_relative_to(ROOT / folder)
        for citation in broken_in_code(raw(path), path.parent)
    ]
    assert broken == []


def test_links_of_pages_lead_to_headings() -> None:
    broken = [
        f"{path.relative_to(ROOT)}: {link}"
        for path in PAGES
        for link in broken_in_page(raw(path), path.parent)
    ]
    assert broken == []


def test_no_page_gives_a_number_twice() -> None:
    numbers = {page.name: sections(page) for page in PAGES}
    assert [name for name, given in numbers.items() if len(set(given)) < len(given)] == []
    assert "5.6" in numbers["kueue.md"]


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("Source: docs/semantics/kueue.md §5.6 and §6.5; then §3.", []),
        ("docs/semantics/kueue.md §7.4, docs/semantics/yunikorn.md §13.10", []),
        ("docs/semantics/kueue.md §5.9", ["kueue.md §5.9"]),
        ("docs/semantics/kueue.md §13.10", ["kueue.md §13.10"]),
        ("docs/semantics/kueue.md §5.6 and §9", ["kueue.md §9"]),
        ("docs/semantics/borg.md §1", ["docs/semantics/borg.md", "no page §1"]),
        ("kueue-semantics.md, section 5.6", ["kueue-semantics.md"]),
        ("by §5.6 of no page", ["no page §5.6"]),
    ],
)
def test_made_up_citations_are_found(text: str, broken: list[str]) -> None:
    assert list(broken_in_code(text)) == broken


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("[Kueue](docs/semantics/kueue.md#56-one-attempt), [1]\n\n[1]: CONTRIBUTING.md", []),
        ("`[7]`, and [made](docs/reference/laws.md#kq-01)", []),
        (
            "[1]: docs/semantics/kueue.md#56-two-attempts",
            ["docs/semantics/kueue.md#56-two-attempts"],
        ),
        ("[Borg](docs/semantics/borg.md)", ["docs/semantics/borg.md"]),
        ("see [K 5.6]", ["[K 5.6]"]),
        ("see [K 5.6]\n\n[K 5.6]: docs/borg.md#56", ["docs/borg.md#56"]),
    ],
)
def test_made_up_links_are_found(text: str, broken: list[str]) -> None:
    assert list(broken_in_page(text)) == broken
