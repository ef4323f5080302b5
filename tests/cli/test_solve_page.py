"""``planner solve --format html`` and ``--format markdown``, into files and on standard output."""

import json
from pathlib import Path

import pytest

from planner.cli.option import FORMATS, PAGE_FORMATS
from tests.cli.running import BIG, SMALL, another_pending, call, cluster, write
from tests.report.page import Page
from tests.report.test_html import rows


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return write(tmp_path, cluster())


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
