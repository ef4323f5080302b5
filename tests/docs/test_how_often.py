"""Figures about the scheduler's own answers are those that the commands beside them print."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from click.testing import CliRunner

from planner.cli.main import main
from planner.commands.audit import Question, audit_states
from tests.conftest import FOR_EVER_S, ROOT, TEST_ALL

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
