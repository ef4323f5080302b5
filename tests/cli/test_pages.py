"""``--format markdown`` and ``--format html`` of every command that answers about a state."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.running import SMALL, another_pending, call, cluster, write
from tests.conftest import YUNIKORN
from tests.report.page import Page
from tests.report.test_audit_page import WORST
from tests.report.test_html import rows
from tests.report.test_markdown import MADE_TAGS, read_back

MESSAGE = (
    "Preempted to accommodate a workload (UID: uid-pending, JobUID: 2) due to prioritization in "
    "the ClusterQueue"
)
FRONT = ("solve", "--objective", "pareto:workloads,lost_work")
TOGETHER = ("solve", "--joint", "--all")
WHY = ("explain", "--message", MESSAGE)
COMMANDS = (
    FRONT,
    TOGETHER,
    WHY,
    ("compare",),
    ("whatif", "--set", "workload/ns/pending.priority=11"),
    ("explain",),
    ("boost",),
)
OF_YUNIKORN = (FRONT, ("compare",), ("explain",))


def printed(words: Sequence[str], source: Path, style: str) -> str:
    command, *more = words
    result = call(command, source, *more, "--format", style)
    # Of joint plans there are no trees: the solver's word is all there is.
    assert result.exit_code == (4 if "--joint" in words else 0), result.stderr
    return result.stdout


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_result_is_a_page_of_its_own(words: Sequence[str], dump: Path) -> None:
    read = Page.of(printed(words, dump, "html"))
    assert len(read.all("h1", "title")) == 1
    assert not read.all("script")
    # Drawings have titles, too, behind that of the page.
    assert read.texts("title")[:1] == [f"{read.texts('p', 'kind')[0]}: {read.texts('h1')[0]}"]


@pytest.mark.parametrize("words", OF_YUNIKORN, ids=" ".join)
def test_the_same_of_the_other_scheduler(words: Sequence[str]) -> None:
    assert Page.of(printed(words, YUNIKORN, "html")).all("dt")
    assert printed(words, YUNIKORN, "markdown").startswith("## ")


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_markdown_has_the_tables_of_the_page(words: Sequence[str], dump: Path) -> None:
    text = printed(words, dump, "markdown")
    page = Page.of(printed(words, dump, "html"))
    tables = [*page.all("table"), *page.all("figure", "gauges")]  # Markdown has bars as a table
    assert text.startswith("## ")
    assert "\n\n\n" not in text
    assert {element.tag for element in read_back(text).elements} <= {*MADE_TAGS, "pre"}
    assert sum(set(line) <= set("|-: ") and "-" in line for line in text.splitlines()) == len(
        tables
    )


def test_several_fronts_are_one_page(tmp_path: Path) -> None:
    path = write(tmp_path, cluster(another_pending("second", amount=2)))
    more = ("--all", "--objective", "pareto:workloads,lost_work")
    read = Page.of(call("solve", path, *more, "--format", "html").stdout)
    assert read.texts("title") == ["2 fronts"]
    assert read.texts("h2", "title") == ["ns/pending", "ns/second"]
    assert call("solve", path, *more, "--format", "markdown").stdout.count("\n---\n") == 1


def test_commands_of_boosts_are_to_be_copied(dump: Path) -> None:
    lines = printed(("boost",), dump, "plain").splitlines()
    commands = [line for line in lines if "kubectl" in line]
    assert commands
    assert "\n".join(["```", *commands, "```"]) in printed(("boost",), dump, "markdown")
    (listing,) = Page.of(printed(("boost",), dump, "html")).all("pre")
    assert listing.text.splitlines() == commands


def test_page_links_the_state_from_where_it_is(dump: Path, tmp_path: Path) -> None:
    """Four new workloads of 1 GPU go where one old one would do."""
    folder = tmp_path / "pages"
    folder.mkdir()
    page = folder / "audit.html"
    done = call("audit", dump, "--jobs", "1", "--format", "html", "-o", page)
    assert done.exit_code == 1, done.stderr
    read = Page.of(page.read_text(encoding="utf-8"))
    (link,) = read.all("a")
    assert (folder / link.attributes["href"]).resolve() == dump.resolve()
    assert rows(read, WORST)[1][2:5] == [str(len(SMALL)), "1", "1"]
