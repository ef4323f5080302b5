"""``planner audit --format html`` and ``--format markdown``."""

from pathlib import Path

import pytest

from tests.cli.running import SMALL, call, cluster, write
from tests.report.page import Page
from tests.report.test_audit_page import WORST
from tests.report.test_html import rows


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return write(tmp_path, cluster())


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


def test_markdown_on_standard_output(dump: Path) -> None:
    done = call("audit", dump, "--jobs", "1", "--format", "markdown")
    assert done.exit_code == 1, done.stderr
    assert done.stdout.startswith("## 1 state, 1 case\n\n**1 case with findings**")
