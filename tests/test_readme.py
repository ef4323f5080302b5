"""What people read first is true: the README's commands and tables, and the notebooks.

``PLANNER_UPDATE_PAGES=1 pytest tests/test_readme.py`` writes what the commands print into the
README, and what their cells print into the notebooks, to be looked at before it is committed.
"""

import doctest
import os
import re
from collections.abc import Iterator
from inspect import signature
from pathlib import Path
from textwrap import indent

import nbformat
import pytest
from click.testing import CliRunner
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient

import planner
from planner.cli.main import COMMANDS, main
from planner.cli.option import TIME_LIMIT
from planner.laws import RULE_SETS
from planner.objective.annotation import DEFAULT_RESTART_S, PREFIX
from planner.objective.profiles import PROFILES
from planner.wing import rule_sets
from tests.cli.running import ONE_PROCESS, UNHURRIED
from tests.conftest import ROOT, TEST_ALL
from tests.page import COLUMNS, UPDATE, Block, blocks, check_printed, printed_by, statements

README = ROOT / "README.md"
TEXT = README.read_text(encoding="utf-8")
GUIDE = ROOT / "docs/how-to/python.md"
SESSIONS = ROOT / "tests" / "sessions.py"
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
LONGEST = 900
"""Words."""
FEW_COMMANDS = 8
SECONDS_PER_NOTEBOOK = 900
LARGEST_PICTURE = 150_000
"""Bytes."""
SMALLER = {
    # The README's own command audits all of these files.
    "03_greedy_and_optimum": {
        '("classical-flat", "classical-hier", "classical-nocohort", "fair-flat", "fair-hier")': (
            '("quickstart", "fair-sharing", "regressions/kueue-1405-priority-threshold.yaml", '
            '"regressions/kueue-840-newest-first.yaml")'
        ),
        "{name}.jsonl.gz": "../{name}",
    },
    "04_fairness": {"SEEDS = range(10)": "SEEDS = range(1)"},
    "05_price_of_objectives": {
        '"hierarchical", range(10)': '"small", range(1)',
        "generate(PRESET, 4)": "states[0]",
    },
    "07_traces": {'{"philly": 30, "openb": 10}': '{"philly": 4, "openb": 3}'},
    "08_topology": {
        "range(10)": "range(1)",
        "(0, 20, 40, 60, 80)": "(0, 40)",
        "fits=True,": "fits=True, workloads=20,",
    },
    "09_weeks": {"HOURS = 24": "HOURS = 1"},
    "06_scale": {
        "(100, 300, 1000, 3000)": "(30,)",
        "(3, 10, 20, 40)": "(3,)",
        "workloads=1000": "workloads=30",
        "workloads=1500": "workloads=60",
    },
}
"""What is less in ordinary runs, which also leave the public traces aside; all of it with
PLANNER_TEST_ALL set."""


def rows(header: str, text: str = TEXT) -> list[list[str]]:
    """Return the rows of the table whose header starts so, cell by cell."""
    _, _, after = text.partition(f"\n| {header} |")
    lines = after.partition("\n\n")[0].rstrip("\n").split("\n")[2:]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


@pytest.mark.parametrize("block", blocks(README, "console"), ids=str)
def test_commands_print_what_the_readme_shows(
    block: Block, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(ROOT)
    for variable, value in ({"COLUMNS": COLUMNS} | UNHURRIED | ONE_PROCESS).items():
        monkeypatch.setenv(variable, value)
    check_printed(block, printed_by(block.command, ROOT, tmp_path))


def test_python_session_is_true(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    (session,) = blocks(README, "pycon")
    test = doctest.DocTestParser().get_doctest(session.content, {}, "README.md", None, 0)
    assert doctest.DocTestRunner().run(test).failed == 0


def test_objectives_are_counted() -> None:
    text = " ".join((ROOT / "docs/how-to/objectives.md").read_text("utf-8").split())
    assert f"The [{len(PROFILES)} named ones]" in text


def test_annotations_are_those_of_the_program() -> None:
    page = (ROOT / "docs/how-to/annotations.md").read_text("utf-8")
    names = [name.strip("`").removeprefix(PREFIX) for name, _ in rows("annotation", page)]
    assert names == [
        "tier",
        "last-checkpoint",
        "checkpoint-seconds",
        "milestones",
        "min-runtime-seconds",
        "run-seconds",
        "restart-seconds",
    ]
    assert rows("annotation", page)[-1][1].endswith(f"{DEFAULT_RESTART_S} by default")


def test_the_front_is_short() -> None:
    """All commands and exit codes are in the reference, which is made from the code."""
    assert len(TEXT.split()) <= LONGEST
    commands = [command.split()[1].strip("`") for command, _ in rows("command")]
    assert len({*commands}) == len(commands) == FEW_COMMANDS
    assert {*commands} <= COMMANDS.keys()


def test_what_is_to_be_trusted_stands_first() -> None:
    first = " ".join(TEXT.split("\n")[:10])
    assert "recorded decisions of Kueue" in first
    assert "a small checker verifies without a solver" in first


def test_only_the_command_line_has_a_time_limit_of_its_own() -> None:
    page = CliRunner().invoke(main, ["solve", "--help"]).output
    assert f"[default: {TIME_LIMIT}]" in " ".join(page.split())
    assert signature(planner.solve).parameters["time_limit"].default is None


def test_rules_are_counted() -> None:
    kueue = {
        "kueue-classical": "classical preemption",
        "kueue-fair": "fair sharing",
        "topology": "places on nodes",
        "flavors": "chosen flavors",
    }
    counted = [f"{len(RULE_SETS[name])} of {title}" for name, title in kueue.items()]
    of_yunikorn = {law for name in RULE_SETS.keys() - kueue.keys() for law in RULE_SETS[name]}
    counted.append(f"{len(of_yunikorn)} of YuniKorn")
    counted += [f"{len(one.laws)} of {one.scheduler or one.title}" for one in rule_sets()]
    page = " ".join((ROOT / "docs/explanation/limits.md").read_text("utf-8").split())
    assert f"`planner laws` lists the rules: {', '.join(counted)}." in page


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", TEXT)
    files = [link for link in links if "://" not in link]
    assert files
    assert [file for file in files if not (ROOT / file).exists()] == []


def test_pictures_have_a_text_and_a_modest_size() -> None:
    """On this page and on the site, which itself refuses a picture that is not there."""
    pages = {README: TEXT} | {p: p.read_text("utf-8") for p in (ROOT / "docs").rglob("*.md")}
    found = [
        (text, page.parent / file)
        for page, content in pages.items()
        for text, file in re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", content)
    ]
    assert {file.name for _, file in found} >= {"plan.png", "audit.png", "week.svg"}
    assert all(text for text, _ in found)
    assert [file for _, file in found if file.stat().st_size > LARGEST_PICTURE] == []


def test_marked_commands_are_one_line_each() -> None:
    """`.ci/run` takes them from here."""
    for name in ("quickstart", "tests"):
        found = re.search(f"<!-- ci:{name} -->\n```sh\n(.+)\n```\n", TEXT)
        assert found, name


def outputs(notebook: nbformat.NotebookNode) -> Iterator[nbformat.NotebookNode]:
    """Yield everything that the cells of a notebook have printed."""
    for cell in notebook.cells:
        yield from cell.get("outputs", ())


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_holds_what_it_prints(path: Path) -> None:
    """The site shows it: all cells were run, in order, without errors, and name no folder."""
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    counts = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"]
    assert counts == [*range(1, len(counts) + 1)]
    found = list(outputs(notebook))
    assert {output.output_type for output in found} <= {"display_data", "execute_result"}
    assert not re.search(r"/(home|root|tmp|work)/", str(found))


@pytest.fixture(scope="module")
def kernel() -> Iterator[KernelManager | None]:
    """Give one kernel for all notebooks, which imports what they import once.

    Thorough runs, and those that write the notebooks, have a new one for each.
    """
    if TEST_ALL or UPDATE:
        yield None
        return
    environment = {name: text for name, text in os.environ.items() if name != "PLANNER_CONFORMANCE"}
    manager = KernelManager()
    manager.start_kernel(cwd=str(ROOT / "notebooks"), env=environment)
    yield manager
    manager.shutdown_kernel(now=True)


@pytest.mark.filterwarnings("ignore")  # those of Jupyter's own machinery
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs_and_draws(path: Path, kernel: KernelManager | None) -> None:
    """No name of one notebook is known to the next."""
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    for full, less in () if TEST_ALL or UPDATE else SMALLER.get(path.stem, {}).items():
        (cell,) = (cell for cell in notebook.cells if full in cell.source)
        cell.source = cell.source.replace(full, less)
    forget = nbformat.v4.new_code_cell("%reset -f")  # type: ignore[no-untyped-call]
    empty = nbformat.v4.new_notebook(cells=[forget])  # type: ignore[no-untyped-call]
    for one in (notebook,) if kernel is None else (empty, notebook):
        client = NotebookClient(
            one,
            km=kernel,
            timeout=SECONDS_PER_NOTEBOOK,
            resources={"metadata": {"path": str(path.parent)}},
            record_timing=False,
        )
        client.execute()
        if client.kc is not None:  # it is kept where the kernel is
            client.kc.stop_channels()
    if UPDATE:
        nbformat.write(notebook, path)  # type: ignore[no-untyped-call]
    shown = [output.get("data", {}) for output in outputs(notebook)]
    assert any("image/png" in data for data in shown)


@pytest.mark.parametrize("page", [README, GUIDE], ids=lambda page: page.stem)
def test_python_sessions_are_typed(page: Path) -> None:
    """They stand in tests/sessions.py, which mypy and pyright check with everything else."""
    typed = SESSIONS.read_text("utf-8").replace("\n\n", "\n")
    assert f"def {page.stem.lower()}() -> None:\n{indent(statements(page), '    ')}\n" in typed
