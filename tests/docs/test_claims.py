"""Figures on pages are those that were recorded, or that the commands beside them print."""

import re
import runpy
from functools import cache
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from planner.cli.main import COMMANDS, main
from planner.commands.audit import Question, audit_states
from planner.commands.compare.confidence import clustered, share
from tests.conftest import FOR_EVER_S, ROOT, TEST_ALL
from tests.docs.blocks import check_block, lines_of

FOLDER = ROOT / "docs" / "explanation" / "sensitivity"
PAGE = FOLDER.with_name("claims").with_suffix(".md")
LINK = re.compile(r"\]\(([^)]+)\)")
CODE = re.compile(r"`([^`]+)`")
SENSITIVITY = SimpleNamespace(**run_path(str(ROOT / "instances/traces/sensitivity.py")))


TRACES = {"philly": "sensitivity", "openb": "sensitivity-openb"}
"""The traces, and what their tables are marked with on the page."""
trace = pytest.mark.parametrize("name", TRACES)


@cache
def recorded(name: str = "philly") -> dict[str, list[Any]]:
    """Return the recorded states of a trace by setting."""
    found: dict[str, list[Any]] = SENSITIVITY.read(FOLDER / f"{name}.csv")
    return found


@trace
def test_every_setting_was_run_at_the_same_instants(name: str) -> None:
    found = recorded(name)
    assert list(found) == list(SENSITIVITY.SETTINGS)
    for some in found.values():
        assert len(some) == SENSITIVITY.INSTANTS
        assert [one.day for one in some] == [one.day for one in found["base"]]
        assert all(one.regretless <= one.fewer <= one.evicts for one in some)


@trace
def test_the_table_is_what_was_recorded(name: str) -> None:
    wanted = f"\n{SENSITIVITY.table(recorded(name))}\n"
    check_block(PAGE, TRACES[name], "tests/docs/test_claims.py", wanted)


@trace
def test_the_picture_is_of_what_was_recorded(name: str) -> None:
    found = lines_of((FOLDER / f"{name}.svg").read_text("utf-8"))
    assert len(found) > 2 * len(SENSITIVITY.SETTINGS)
    assert found == lines_of(SENSITIVITY.drawn(recorded(name)))


def test_states_of_openb_are_one_observation_each() -> None:
    days = [one.day for one in recorded("openb")["base"]]
    assert len({*days}) == len(days)


def test_days_and_pairs_are_what_intervals_are_of() -> None:
    """Each share is of the states that the page says, and differences are instant by instant."""
    found = recorded()
    base, other = found["base"], found["gang 128"]
    few = [one for one in base if one.evicts]
    expected = clustered([one.fewer for one in few], [one.day for one in few])
    assert SENSITIVITY.interval(SENSITIVITY.evicting(base), lambda one: one.fewer) == expected
    more = [late.fewer - early.fewer for late, early in zip(other, base, strict=True)]
    assert SENSITIVITY.more_than(base, other).value == sum(more) / len(more)


def test_what_precedence_leaves_has_its_intervals() -> None:
    text = PAGE.with_stem("precedence").read_text("utf-8")
    for kept in (189, 185):
        one = share(kept, 224)
        said = f"{one.value:.0%} ({100 * one.low:.0f} to {100 * one.high:.0f})"
        assert f"| {kept} | {said} |" in text


def test_every_other_figure_has_a_page_and_a_command() -> None:
    """The last table names pages and commands that there are."""
    table = PAGE.read_text("utf-8").partition("## Every other figure")[2]
    rows = [
        line.strip("| ").split(" | ")
        for line in table.splitlines()
        if line.startswith(("| [", "| README"))
    ]
    assert len(rows) > 10
    for page, *_, made_by in rows:
        (link,) = LINK.findall(page) or [str(ROOT / "README.md")]
        assert page == "README" or "](" in page
        assert (PAGE.parent / link.partition("#")[0]).is_file()
        commands = CODE.findall(made_by)
        assert commands or made_by.endswith("not by a command")
        for command in commands:
            word = command.removeprefix("planner ")
            path = ROOT / command
            module = ROOT / f"{command.replace('.', '/')}.py"
            assert word in COMMANDS or path.exists() or module.is_file(), command


SCRIPT = ROOT / "instances" / "recorded" / "figures.py"
TEXT = (ROOT / "docs/explanation/how-often.md").read_text(encoding="utf-8")
GENERATED = ("flat", "hierarchical", "fair", "fair-hierarchical")
UNSELECTED = (
    *("classical-flat", "classical-nocohort", "classical-hier"),
    *("fair-flat", "fair-hier", "flavors", "edge"),
)


def printed(name: str, files: list[Path]) -> list[str]:
    """Return the rows that the script prints of an audit of files, without its header."""
    audit = audit_states([str(file) for file in files], Question(time_limit=FOR_EVER_S))
    lines: str = runpy.run_path(str(SCRIPT))["figures"]({name: audit})
    return [line for line in lines.splitlines() if line.startswith(f"| {name} |")]


def test_columns_are_those_of_the_script() -> None:
    columns = runpy.run_path(str(SCRIPT))["COLUMNS"]
    assert f"| {' | '.join(columns)} |\n" in TEXT


@pytest.mark.skipif(not TEST_ALL, reason="takes minutes")
@pytest.mark.parametrize("preset", GENERATED)
def test_figures_of_generated_states(preset: str, tmp_path: Path) -> None:
    file = tmp_path / f"{preset}.jsonl.gz"
    call = CliRunner().invoke(main, ["generate", preset, "--count", "100", "-o", str(file)])
    assert call.exit_code == 0
    (row,) = printed(preset, [file])
    assert f"{row}\n" in TEXT


@pytest.mark.skipif(not TEST_ALL, reason="takes ten minutes")
def test_figures_of_the_recorded_states(conformance: Path) -> None:
    rows = printed("recorded", [conformance / "kueue" / f"{n}.jsonl.gz" for n in UNSELECTED])
    assert len(rows) == 2
    assert all(f"{row}\n" in TEXT for row in rows)
