"""Every command of the tutorial, the how-to guides and "what optimal means" runs as shown there.

The blocks of a page run one after the other in an empty folder, with ``instances`` beside it, and a
kubectl that serves the quickstart cluster. What a block shows under its title becomes a file.
``PLANNER_UPDATE_PAGES=1 pytest tests/docs`` writes what the commands print into the pages.
"""

import doctest
import json
import os
import re
import socket
from pathlib import Path

import pytest

from tests import wings
from tests.cli.running import ONE_PROCESS, UNHURRIED
from tests.conftest import QUICKSTART, ROOT, WINGS
from tests.page import COLUMNS, blocks, check_printed, printed_by, run
from tests.stand_in import StandIn

DOCS = ROOT / "docs"
GUIDES = [*(DOCS / "tutorial").glob("*.md"), *(DOCS / "how-to").glob("*.md")]
EXPLAINED = [ROOT / "docs/explanation/bench.md", ROOT / "docs/explanation/optimal.md"]
ALL_PAGES = sorted([*GUIDES, *EXPLAINED])
PAGES = [page for page in ALL_PAGES if not wings.asks_in_vain(page)]
DASK_PORT = "8786"
"""The port of Dask's scheduler on the page, which something else may have here."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give the folder in which the commands of a page run."""
    (tmp_path / "instances").symlink_to(ROOT / "instances")
    return tmp_path


@pytest.fixture
def kubectl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder of a kubectl that serves the quickstart cluster."""
    dump = json.loads((QUICKSTART).read_bytes())
    return StandIn.make(tmp_path_factory.mktemp("path") / "bin", dump["items"]).folder


def test_the_first_page_leads_to_every_page_to_read() -> None:
    """The navigation has new ones by itself; the first page has to name them."""
    index = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\]\(([^)#]+)", index))
    pages = {
        page.relative_to(DOCS).as_posix()
        for folder in ("tutorial", "how-to", "explanation")
        for page in (DOCS / folder).glob("*.md")
    }
    assert sorted(pages - named) == []


def test_only_pages_of_wings_are_left_out_and_only_without_them() -> None:
    assert ALL_PAGES == PAGES or not all(map(wings.has, WINGS))
    assert len(PAGES) > len(ALL_PAGES) // 3


def free_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return str(server.getsockname()[1])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_run_and_print_what_the_page_shows(
    page: Path,
    folder: Path,
    kubectl: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", f"{kubectl}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("COLUMNS", COLUMNS)
    for variable, value in (UNHURRIED if page.stem == "dask" else UNHURRIED | ONE_PROCESS).items():
        monkeypatch.setenv(variable, value)
    scratch = tmp_path_factory.mktemp("printed")
    port, session = free_port(), {"__name__": page.stem}
    for block in blocks(page):
        if block.title:
            (folder / block.title).write_text(block.content, encoding="utf-8")
        elif block.language == "sh" and "&\n" in block.content:
            run(block.content.replace(DASK_PORT, port), folder)
        elif block.language == "sh":
            for line in block.content.splitlines():
                printed_by(line, folder, scratch)
        elif block.language == "console":
            check_printed(block, printed_by(block.command, folder, scratch))
        elif block.language == "pycon":
            test = doctest.DocTestParser().get_doctest(
                block.content, session, page.name, str(page), 0
            )
            assert doctest.DocTestRunner().run(test, clear_globs=False).failed == 0
            session = test.globs
        else:
            assert block.language == "text", f"{page.name}: who runs {block.language}?"
