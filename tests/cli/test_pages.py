"""``--format markdown`` and ``--format html`` of every command that answers about a state."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import BIG, another_pending, call, cluster, listed, write
from tests.cluster import NOW, pending, queue, running
from tests.conftest import ROOT
from tests.report.page import Page
from tests.report.test_html import rows
from tests.report.test_markdown import MADE_TAGS, read_back

YUNIKORN = ROOT / "instances" / "yunikorn" / "quickstart"
MESSAGE = (
    "Preempted to accommodate a workload (UID: 1, JobUID: 2) due to prioritization in the "
    "ClusterQueue"
)
COMMANDS = {
    "solve a front": ("solve", "--objective", "pareto:D2,D4"),
    "solve together": ("solve", "--joint", "--all"),
    "compare": ("compare",),
    "risk": ("risk",),
    "simulate": ("simulate", "--fail-on", "never"),
    "whatif": ("whatif", "--set", "workload/ns/pending.priority=11"),
    "explain": ("explain",),
    "explain a message": ("explain", "--message", MESSAGE),
    "lint": ("lint", "--fail-on", "never"),
    "boost": ("boost",),
}
OF_YUNIKORN = ("solve a front", "compare", "risk", "simulate", "explain", "lint")


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return write(tmp_path, cluster())


def printed(what: str, source: Path, style: str) -> str:
    command, *more = COMMANDS[what]
    result = call(command, source, *more, "--format", style)
    assert result.exit_code == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize("what", COMMANDS)
def test_every_result_is_a_page_of_its_own(what: str, dump: Path) -> None:
    read = Page.of(printed(what, dump, "html"))
    assert len(read.all("h1", "title")) == 1
    assert not read.all("script")
    # Drawings have titles, too, behind that of the page.
    assert read.texts("title")[:1] == [f"{read.texts('p', 'kind')[0]}: {read.texts('h1')[0]}"]


@pytest.mark.parametrize("what", OF_YUNIKORN)
def test_the_same_of_the_other_scheduler(what: str) -> None:
    assert Page.of(printed(what, YUNIKORN, "html")).all("dt")
    assert printed(what, YUNIKORN, "markdown").startswith("## ")


@pytest.mark.parametrize("what", COMMANDS)
def test_markdown_has_the_tables_of_the_page(what: str, dump: Path) -> None:
    text = printed(what, dump, "markdown")
    page = Page.of(printed(what, dump, "html"))
    tables = [*page.all("table"), *page.all("figure", "gauges")]  # Markdown has bars as a table
    assert text.startswith("## ")
    assert "\n\n\n" not in text
    assert {element.tag for element in read_back(text).elements} <= {*MADE_TAGS, "pre"}
    assert sum(set(line) <= set("|-: ") and "-" in line for line in text.splitlines()) == len(
        tables
    )


def test_a_front_has_its_points_and_the_schedulers_own(tmp_path: Path) -> None:
    """One workload of 4 gpus that ran 3000 s, or two of 2 that ran 1200 s; Kueue takes the two."""
    halves = [item for i in (1, 2) for item in running(f"half-{i}", "a", 2, minute=40)]
    big = running("big", "a", 4, minute=10)
    parts = (queue("a", 8, within="LowerPriority"), big, halves, pending("a", 4))
    path = write(tmp_path, listed(*parts))
    more = ("--objective", "pareto:D2,D4", "--now", NOW, "--format", "html")
    table = rows(
        Page.of(call("solve", path, *more).stdout),
        "Plans of which none is better than another in both measures",
    )
    assert [row[0] for row in table[1:]] == ["1", "2", "Kueue"]
    assert [row[1] for row in table[1:]] == ["1", "2", "2"]
    assert table[1][-1] == "ns/big"


def test_several_fronts_are_one_page(tmp_path: Path) -> None:
    path = write(tmp_path, cluster(another_pending("second", amount=2)))
    more = ("--all", "--objective", "pareto:D2,D4")
    read = Page.of(call("solve", path, *more, "--format", "html").stdout)
    assert read.texts("title") == ["2 fronts"]
    assert read.texts("h2", "title") == ["ns/pending", "ns/second"]
    assert call("solve", path, *more, "--format", "markdown").stdout.count("\n---\n") == 1


def test_the_page_of_a_joint_plan_says_what_the_json_does(dump: Path) -> None:
    plan = json.loads(printed("solve together", dump, "json"))
    victims = [one["workload"] for step in plan["steps"] for one in step["victims"]]
    assert victims == [BIG]
    steps = rows(
        Page.of(printed("solve together", dump, "html")), "Whom to evict for whom, step by step"
    )
    assert [row[2] for row in steps[1:]] == ["", BIG, "1 victim"]


def test_a_message_is_told_fact_by_fact(dump: Path) -> None:
    text = printed("explain a message", dump, "markdown")
    assert "- Reason: InClusterQueue\n- Law: KQ-04/FS-03\n" in text


def test_commands_of_boosts_are_to_be_copied(dump: Path) -> None:
    commands = [line for line in printed("boost", dump, "plain").splitlines() if "kubectl" in line]
    assert commands
    assert "\n".join(["```", *commands, "```"]) in printed("boost", dump, "markdown")
    (listing,) = Page.of(printed("boost", dump, "html")).all("pre")
    assert listing.text.splitlines() == commands


def test_a_checked_plan_has_a_page(dump: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    call("solve", dump, "--format", "json", "-o", plan)
    read = Page.of(call("check", dump, plan, "--format", "html").stdout)
    assert read.texts("span", "badge") == ["Accepted"]
    assert rows(read, "What the plan claims")[0][0] == "Claim"


def test_a_page_is_written_to_a_file(dump: Path, tmp_path: Path) -> None:
    page = tmp_path / "risk.html"
    assert call("risk", dump, "--format", "html", "-o", page).stdout == ""
    assert Page.of(page.read_text(encoding="utf-8")).texts("h1") == ["Risk of preemption"]
