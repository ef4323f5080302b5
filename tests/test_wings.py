"""The planner without its wings: what is left works, and what is missing is said in one message."""

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

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
        shutil.copytree(ROOT / name, folder / name)  # and what is compiled already
    wings = [path.parent for path in (folder / "planner").glob("*/wing.py")]
    assert len(wings) == sum(map(has, WINGS))
    for wing in wings:
        shutil.rmtree(wing)
    return folder


class Said(NamedTuple):
    """What a command of the planner without its wings said."""

    code: int
    out: str
    error: str


SOLVED = ("solve", STATE, "-o", "plan.json")
CHECKED = ("check", STATE, "plan.json")
AUDITED = ("audit", STATE, "--jobs", "1", "--format", "json")
LISTED = ("laws", "--format", "json")
HELP = ("solve", "--help")
MISSED = (
    ("solve", STATE, "--rules", "kep83:wait=5"),
    ("check", STATE, "plan.json", "--rules", "kep83:wait=5"),
    ("check", STATE, "by-rules.json"),
    ("compare", STATE, "--algorithm", "greedy", "--algorithm", "kep83:wait=5"),
)
PROGRAM = """
import json, sys
from click.testing import CliRunner
from planner.cli.main import main
for words in json.load(sys.stdin):
    done = CliRunner().invoke(main, words)
    print(json.dumps([done.exit_code, done.stdout, done.stderr]))
"""


@pytest.fixture(scope="module")
def whole() -> planner.AnyPlan:
    """Give the plan that the planner makes with its wings."""
    return planner.solve(planner.read(STATE))


@pytest.fixture(scope="module")
def said(bare: Path, whole: planner.AnyPlan) -> Mapping[tuple[str, ...], Said]:
    """Give the answers to all commands, which one process gives."""
    by_rules = whole.model_copy(update={"rule_options": "kep83:wait=5"})
    (bare / "by-rules.json").write_text(by_rules.model_dump_json())
    asked = (SOLVED, CHECKED, AUDITED, LISTED, HELP, *MISSED)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps(asked),
        cwd=bare,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {
        words: Said(*json.loads(line))
        for words, line in zip(asked, done.stdout.splitlines(), strict=True)
    }


def test_plans_are_made_and_checked(
    bare: Path, whole: planner.AnyPlan, said: Mapping[tuple[str, ...], Said]
) -> None:
    assert (said[SOLVED].code, said[SOLVED].error) == (0, "")
    plan = json.loads((bare / "plan.json").read_text("utf-8"))
    assert {one["workload"] for one in plan["victims"]} == {*whole.keys}
    assert said[CHECKED].code == 0
    assert (said[AUDITED].code, said[AUDITED].error) == (1, "")  # Kueue takes more than it needs
    (case,) = json.loads(said[AUDITED].out)["cases"]
    assert case["fewest"] == 1


def test_only_the_laws_that_are_there_are_listed(said: Mapping[tuple[str, ...], Said]) -> None:
    listed = json.loads(said[LISTED].out)["rule_sets"]
    assert [one["name"] for one in listed][:2] == ["kueue-classical", "kueue-fair"]
    assert "kep83" not in {one["name"] for one in listed}
    assert "kep83" not in said[HELP].out


@pytest.mark.parametrize("words", MISSED, ids=lambda words: f"{words[0]} {words[-2]}")
def test_rules_that_are_not_there_are_named(
    said: Mapping[tuple[str, ...], Said], words: tuple[str, ...]
) -> None:
    found = said[words]
    assert (found.code, found.out) == (2, "")
    assert found.error.count("error:") == 1
    named = 'there is no algorithm "kep83:wait=5"' if words[0] == "compare" else MISSING
    assert named in found.error
