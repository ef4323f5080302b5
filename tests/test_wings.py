"""The planner without its wings: what is left works, and what is missing is said in one message."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import planner
from tests.conftest import QUICKSTART, WINGS
from tests.wings import has

ROOT = Path(__file__).resolve().parents[1]
STATE = str(QUICKSTART)
MISSING = 'there are no rules "kep83:wait=5" to choose'


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the product without its wings."""
    folder = tmp_path_factory.mktemp("bare")
    for name in ("planner", "models"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    wings = [path.parent for path in (folder / "planner").glob("*/wing.py")]
    assert len(wings) == sum(map(has, WINGS))
    for wing in wings:
        shutil.rmtree(wing)
    return folder


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the planner in a folder."""
    command = [sys.executable, "-m", "planner", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_plans_are_made_and_checked(bare: Path) -> None:
    made = run(bare, "solve", STATE, "-o", "plan.json")
    assert (made.returncode, made.stderr) == (0, "")
    plan = json.loads((bare / "plan.json").read_text("utf-8"))
    victims = {one["workload"] for one in plan["victims"]}
    assert victims == {*planner.solve(planner.read(STATE)).keys}
    assert run(bare, "check", STATE, "plan.json").returncode == 0
    audited = run(bare, "audit", STATE, "--format", "json")
    assert (audited.returncode, audited.stderr) == (1, "")  # Kueue takes more than it needs
    (case,) = json.loads(audited.stdout)["cases"]
    assert case["fewest"] == 1


def test_only_the_laws_that_are_there_are_listed(bare: Path) -> None:
    listed = json.loads(run(bare, "laws", "--format", "json").stdout)["rule_sets"]
    assert [one["name"] for one in listed][:2] == ["kueue-classical", "kueue-fair"]
    assert "kep83" not in {one["name"] for one in listed}
    assert "kep83" not in run(bare, "solve", "--help").stdout


@pytest.mark.parametrize(
    "words",
    [
        ("solve", STATE, "--rules", "kep83:wait=5"),
        ("check", STATE, "plan.json", "--rules", "kep83:wait=5"),
        ("check", STATE, "by-rules.json"),
        ("compare", STATE, "--algorithm", "greedy", "--algorithm", "kep83:wait=5"),
    ],
    ids=lambda words: f"{words[0]} {words[-2]}",
)
def test_rules_that_are_not_there_are_named(bare: Path, words: tuple[str, ...]) -> None:
    (bare / "plan.json").write_text("{}")
    plan = planner.solve(planner.read(STATE)).model_copy(update={"rule_options": "kep83:wait=5"})
    (bare / "by-rules.json").write_text(plan.model_dump_json())
    found = run(bare, *words)
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.count("error:") == 1
    said = 'there is no algorithm "kep83:wait=5"' if words[0] == "compare" else MISSING
    assert said in found.stderr
