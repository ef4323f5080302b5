"""The site builds strictly, and its reference has everything that the code has."""

import html
import os
import posixpath
import re
import subprocess
import sys
from pathlib import Path

import pytest
from mkdocs.config import load_config

import planner
from planner.cli.exit_code import MEANINGS
from planner.cli.main import COMMANDS
from planner.cli.schemas import SCHEMAS, schema_text
from planner.laws import RULE_SETS
from planner.objective.profiles import PROFILES
from planner.operations.lint.lint import KINDS
from planner.term import TERMS
from planner.wing import rule_sets
from tests.browser import BROWSER, browsing
from tests.conftest import ROOT
from tests.docs.search import Search

FROM_ELSEWHERE = re.compile(r'<(?:script|img|iframe)[^>]*src="(?:https?:)?//|<link[^>]*href="//')


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site, as a visitor gets it."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def shown(site: Path, page: str) -> str:
    """Return the text of a page, without its marks."""
    text = (site / page).read_text(encoding="utf-8")
    return html.unescape(re.sub(r"<[^>]+>", "", text))


def ids(site: Path, page: str) -> set[str]:
    """Return what links can lead to on a page."""
    return set(re.findall(r' id="([^"]+)"', (site / page).read_text(encoding="utf-8")))


def test_commands_and_exit_codes(site: Path) -> None:
    assert {f"planner-{name}" for name in COMMANDS} <= ids(site, "reference/cli.html")
    page = shown(site, "reference/exit-codes.html")
    assert all(meaning in page for meaning in MEANINGS.values())
    assert "in the order 0, 1, 3, 6, 4, 5, 7, 2, 70." in " ".join(page.split())


def test_options_and_their_variables(site: Path) -> None:
    page = shown(site, "reference/cli.html")
    assert "--time-limit SECONDS" in page
    assert "PLANNER_SOLVE_TIME_LIMIT" in page


def test_public_names(site: Path) -> None:
    of_no_entry = {"__version__", "AnyPlan", "AnyState"}  # these are either of two
    known = (getattr(planner, name) for name in planner.__all__ if name not in of_no_entry)
    expected = {f"{thing.__module__}.{thing.__qualname__}" for thing in known}
    assert expected <= ids(site, "reference/library.html")


def test_types_in_signatures_lead_to_what_they_are(site: Path) -> None:
    """What a function takes and returns, but for Python's own."""
    text = (site / "reference/library.html").read_text(encoding="utf-8")
    functions = text.partition('id="functions"')[2].partition('id="classes"')[0]
    shown = "".join(re.findall(r'<div class="doc-signature.*?</div>', functions, re.DOTALL))
    plain = re.sub(r"<a .*?</a>|<[^>]+>", " ", shown, flags=re.DOTALL)
    unquoted = re.sub("""".*?"|'.*?'""", "", html.unescape(plain))  # quoted as the formatter likes
    bare = set(re.findall(r"\b[A-Z]\w+", unquoted))
    assert bare <= {"None", "True", "False", "Mapping", "Sequence"}
    # Of parameters that are described together each has its own type.
    assert "pending (str | None, default: None )" in " ".join(
        html.unescape(re.sub(r"<[^>]+>", "", functions)).split()
    )


def test_laws(site: Path) -> None:
    added = [rules.laws for rules in rule_sets()]
    laws = {law.id: law for rules in (*RULE_SETS.values(), *added) for law in rules}
    assert {law.lower() for law in laws} <= ids(site, "reference/laws.html")
    page = " ".join(shown(site, "reference/laws.html").split())
    assert [law.id for law in laws.values() if law.statement not in page] == []
    links = (site / "reference/laws.html").read_text(encoding="utf-8")
    assert 'href="../semantics/kueue.html#66-second-pass"' in links
    # Who keeps it in the replay, and what its record says besides.
    assert "Kept in the replay by planner.reference.kueue.context.Context.workload_fits" in page
    assert (
        "Reason code of its victims: InCohortReclamation or InCohortReclaimWhileBorrowing" in page
    )
    assert "No step of the replay keeps it: the core does not enforce it." in page
    # The mathematics of a law, from the docstring of its model.
    assert "touched(n) => w(n, fr) >= subtree(n, fr) + 1" in page


def test_terms_and_objectives(site: Path) -> None:
    page = shown(site, "reference/objectives.html")
    assert "Amounts of work are measured in accelerators" in page
    assert [term.id for term in TERMS.values() if term.title not in page] == []
    assert [profile.name for profile in PROFILES.values() if profile.summary not in page] == []


def test_lint_codes(site: Path) -> None:
    """Each has what it finds, why, an example, what helps, and where that is from."""
    assert {code.lower() for code in KINDS} <= ids(site, "reference/lint.html")
    said = shown(site, "reference/lint.html")
    assert [kind for kind in KINDS.values() if kind.title not in said] == []
    assert said.count("What helps:") == said.count("Source: docs/semantics/") == len(KINDS)
    linked = (site / "how-to/lint.html").read_text(encoding="utf-8")
    assert 'href="../reference/lint.html"' in linked


def test_notebooks_stand_there_with_what_they_print(site: Path) -> None:
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        page = (site / "notebooks" / f"{path.stem}.html").read_text(encoding="utf-8")
        pictures = re.findall(r'<img alt="([^"]+)" src="([^"]+\.png)"', page)
        assert pictures
        assert all((site / "notebooks" / picture).stat().st_size for _, picture in pictures)
    assert "InCohortReclamation" in shown(site, "notebooks/01_first_plan.html")


def test_schemas(site: Path) -> None:
    assert ids(site, "reference/schemas.html") >= set(SCHEMAS)
    for name in SCHEMAS:
        file = site / "reference" / "schema" / f"{name}.schema.json"
        assert file.read_text(encoding="utf-8") == schema_text(name)


def test_links_within_the_site_lead_somewhere(site: Path) -> None:
    """Also those to a heading: MkDocs by itself lets a wrong one pass."""
    pages = [page.relative_to(site).as_posix() for page in site.rglob("*.html")]
    targets = {page: ids(site, page) | {""} for page in pages}
    broken = [
        f"{page}: {link}"
        for page in pages
        if page != "404.html"
        for link in re.findall(r' href="([^":]+)"', (site / page).read_text(encoding="utf-8"))
        for path, _, anchor in [html.unescape(link).partition("#")]
        for target in [posixpath.normpath(posixpath.join(posixpath.dirname(page), path))]
        if not (anchor in targets[page] if not path else leads(site, target, anchor, targets))
    ]
    assert broken == []


def leads(site: Path, target: str, anchor: str, targets: dict[str, set[str]]) -> bool:
    """Say whether there is such a file, and in a page such a place."""
    return (site / target).exists() and (not anchor or anchor in targets.get(target, set()))


def test_every_page_is_in_the_navigation(site: Path) -> None:
    pages = {p.relative_to(site).as_posix() for p in site.rglob("*.html")} - {"404.html"}
    home = (site / "index.html").read_text(encoding="utf-8")
    linked = set(re.findall(r'href="([^"#:]+\.html)"', home))
    assert pages <= linked


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    pages = (page for page in site.rglob("*.html"))
    assert [str(p) for p in pages if FROM_ELSEWHERE.search(p.read_text(encoding="utf-8"))] == []
    styles = (style for style in site.rglob("*.css"))
    assert [str(s) for s in styles if "url(http" in s.read_text(encoding="utf-8")] == []


QUESTIONS = {
    "how do I know why my job was preempted": "how-to/explain.html",
    "why does my job wait": "how-to/explain.html",
    "what would another quota change": "how-to/what-if.html",
    "what is wrong with my configuration": "how-to/lint.html",
    "how can Kueue evict what is planned": "how-to/steer.html",
}


@pytest.fixture(scope="module")
def search(site: Path) -> Search:
    return Search(site)


@pytest.mark.parametrize("question", QUESTIONS)
def test_questions_find_the_guide_first(search: Search, question: str) -> None:
    assert search.pages(question)[:1] == [QUESTIONS[question]]


@pytest.mark.skipif(not BROWSER, reason="no browser")
def test_the_search_works_in_a_folder(site: Path, tmp_path: Path) -> None:
    question, guide = next(iter(QUESTIONS.items()))
    with browsing(tmp_path) as tab:
        tab.go(f"{(site / 'glossary.html').as_uri()}?q={question.replace(' ', '+')}")
        found = tab.wait("document.querySelector('.md-search-result__link')?.href")
        assert found == (site / guide).as_uri()
        assert tab.said == []


def test_tabs() -> None:
    """Administrators find what is theirs in one tab, grouped as on the first page."""
    nav = load_config(str(ROOT / "mkdocs.yml")).nav
    tabs = {title: pages for tab in nav or () for title, pages in tab.items()}
    assert [*tabs] == ["Use", "Research", "Reference", "Explanation", "Develop"]
    first, *groups = tabs["Use"]
    named = {title: set(pages) for group in groups for title, pages in group.items()}
    assert f"docs/{first}" == "docs/index.md"
    assert len([first, *(page for pages in named.values() for page in pages)]) <= 22
    index = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    for title, pages in named.items():
        _, heading, text = index.partition(
            f"**{title}**" if title != "Tutorial" else "**[Tutorial]"
        )
        assert heading
        assert set(re.findall(r"\]?\(([^)#]+\.md)", text.partition("\n\n")[0])) == pages
