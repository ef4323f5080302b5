"""``--format markdown`` and ``--format html`` of every command that answers about a state."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from planner.cli.option import FORMATS, PAGE_FORMATS
from tests.cli.running import BIG, SMALL, another_pending, call, cluster, write
from tests.cluster import NOW
from tests.conftest import YUNIKORN
from tests.report.page import Page
from tests.report.test_audit_page import WORST
from tests.report.test_html import rows
from tests.report.test_markdown import MADE_TAGS, read_back

MESSAGE = (
    "Preempted to accommodate a workload (UID: 1, JobUID: 2) due to prioritization in the "
    "ClusterQueue"
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


def test_a_front_has_its_points_and_the_schedulers_own(trade: Path) -> None:
    more = ("--objective", "pareto:workloads,lost_work", "--now", NOW, "--format", "html")
    table = rows(
        Page.of(call("solve", trade, *more).stdout),
        "Plans of which none is better than another in both measures",
    )
    assert [row[0] for row in table[1:]] == ["1", "2", "Kueue"]
    assert [row[1] for row in table[1:]] == ["1", "2", "2"]
    assert table[1][-1] == "ns/big"


def test_several_fronts_are_one_page(tmp_path: Path) -> None:
    path = write(tmp_path, cluster(another_pending("second", amount=2)))
    more = ("--all", "--objective", "pareto:workloads,lost_work")
    read = Page.of(call("solve", path, *more, "--format", "html").stdout)
    assert read.texts("title") == ["2 fronts"]
    assert read.texts("h2", "title") == ["ns/pending", "ns/second"]
    assert call("solve", path, *more, "--format", "markdown").stdout.count("\n---\n") == 1


def test_the_page_of_a_joint_plan_says_what_the_json_does(dump: Path) -> None:
    plan = json.loads(printed(TOGETHER, dump, "json"))
    victims = [one["workload"] for step in plan["steps"] for one in step["victims"]]
    assert victims == [BIG]
    steps = rows(Page.of(printed(TOGETHER, dump, "html")), "Whom to evict for whom, step by step")
    assert [row[2] for row in steps[1:]] == ["", BIG, "1 victim"]


def test_a_message_is_told_fact_by_fact(dump: Path) -> None:
    text = printed(WHY, dump, "markdown")
    assert "- Reason: InClusterQueue\n- Law: KQ-04/FS-03\n" in text


def test_commands_of_boosts_are_to_be_copied(dump: Path) -> None:
    lines = printed(("boost",), dump, "plain").splitlines()
    commands = [line for line in lines if "kubectl" in line]
    assert commands
    assert "\n".join(["```", *commands, "```"]) in printed(("boost",), dump, "markdown")
    (listing,) = Page.of(printed(("boost",), dump, "html")).all("pre")
    assert listing.text.splitlines() == commands


def test_a_checked_plan_has_a_page(dump: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    call("solve", dump, "--format", "json", "-o", plan)
    read = Page.of(call("check", dump, plan, "--format", "html").stdout)
    assert read.texts("span", "badge") == ["Accepted"]
    assert rows(read, "Claims")[0][0] == "Claim"


def test_a_page_is_written_to_a_file(dump: Path, tmp_path: Path) -> None:
    page = tmp_path / "boosts.html"
    assert call("boost", dump, "--format", "html", "-o", page).stdout == ""
    assert Page.of(page.read_text(encoding="utf-8")).texts("h1") == ["ns/pending"]


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


def test_markdown_of_an_audit_on_standard_output(dump: Path) -> None:
    done = call("audit", dump, "--jobs", "1", "--format", "markdown")
    assert done.exit_code == 1, done.stderr
    assert done.stdout.startswith("## 1 state, 1 case\n\n**1 case with findings**")


def test_page_has_the_victims_of_the_json(dump: Path, tmp_path: Path) -> None:
    page = tmp_path / "plan.html"
    done = call("solve", dump, "--format", "html", "-o", page)
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")
    read = Page.of(page.read_text(encoding="utf-8"))
    plan = json.loads(call("solve", dump, "--format", "json").stdout)
    assert [victim["workload"] for victim in plan["victims"]] == [BIG]
    assert rows(read, "Whom to evict")[1][0] == BIG
    labels, names = read.texts("p", "label"), [text for text in read.texts("li") if text in SMALL]
    assert labels[:2] == ["Spared 4", "Only in this plan 1"]
    assert sorted(names[:4]) == sorted(SMALL)


def test_usage_of_the_tree_is_on_the_page(dump: Path) -> None:
    """All 8 GPUs are the lender's; the borrower uses 8 of its 0 today, and 4 after the plan."""
    read = Page.of(call("solve", dump, "--format", "html").stdout)
    said = [picture.attributes["aria-label"] for picture in read.all("svg")]
    assert said == [
        "all: 8 used today, 8 after the plan, quota 8",
        "lender: 0 used today, 4 after the plan, quota 8",
        "borrower: 8 used today, 4 after the plan, quota 0",
    ]


def test_all_plans_are_one_page(tmp_path: Path) -> None:
    path = write(
        tmp_path, cluster(another_pending("second", amount=2), another_pending("huge", amount=100))
    )
    done = call("solve", path, "--all", "--format", "html")
    read = Page.of(done.stdout)
    assert read.texts("h2", "title") == ["ns/pending", "ns/second", "ns/huge"]
    assert read.texts("span", "badge")[-1] == "Proved infeasible"


def test_markdown_on_standard_output(dump: Path) -> None:
    done = call("solve", dump, "--format", "markdown")
    assert done.exit_code == 0
    assert done.stdout.startswith("## `ns/pending`\n\n**Proved optimal**: ")
    assert f"| `{BIG}` |" in done.stdout


def test_pages_are_offered_beside_the_usual_formats() -> None:
    assert (*FORMATS, "markdown", "html") == PAGE_FORMATS
    usage = call("solve", "--help").stdout
    assert "[table|plain|json|markdown|html]" in usage
