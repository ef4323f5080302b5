"""``planner whatif``: plans before and after edits, in every format."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from planner.cli.schemas import schema_text
from tests.cli.running import BIG, SMALL, call, cluster, write
from tests.conftest import ROOT

NEVER = "clusterqueue/lender.preemption.reclaimWithinCohort=Never"
MORE = "clusterqueue/borrower.quota.default/gpu.nominal=4"
YUNIKORN = ROOT / "instances" / "yunikorn" / "quickstart"


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return write(tmp_path, cluster())


def test_json_holds_both_plans_and_the_difference(dump: Path) -> None:
    result = call("whatif", dump, "--set", NEVER, "--format", "json")
    assert result.exit_code == 3
    value = json.loads(result.stdout)
    Draft202012Validator(json.loads(schema_text("whatif"))).validate(value)
    assert value["edits"] == [NEVER]
    assert value["preemptor"] == "ns/pending"
    assert value["optimum"]["no_longer"] == [BIG]
    assert set(value["greedy"]["no_longer"]) == set(SMALL)
    assert value["after"]["status"] == "infeasible"
    assert value["before"]["certificate"]["digest"] != value["after"]["certificate"]["digest"]


def test_plain_text_has_a_line_per_fact(dump: Path) -> None:
    lines = call("whatif", dump, "--set", NEVER).stdout.splitlines()
    assert f"plan_no_longer   {BIG}" in lines
    (after,) = (line for line in lines if line.startswith("plan_after "))
    assert after.split()[1] == "infeasible"
    (count,) = (line for line in lines if line.startswith("term             D2 "))
    assert "kueue_before=4 plan_before=1 " in count


def test_table_marks_who_goes_when(dump: Path) -> None:
    text = call("whatif", dump, "--set", NEVER, "--format", "table").stdout
    (row,) = (line for line in text.splitlines() if line.split()[:1] == [BIG])
    assert row.split()[-4:] == ["-", "-", "x", "-"]
    assert NEVER in text


def test_nothing_changes(dump: Path) -> None:
    edit = "workload/ns/pending.priority=11"
    result = call("whatif", dump, "--set", edit, "--format", "table")
    assert result.exit_code == 0
    assert "Nothing changes" in result.stdout


def test_edits_apply_in_order(dump: Path) -> None:
    """More nominal quota for the borrower leaves the lender less to take back."""
    back = MORE.replace("=4", "=0")
    assert (
        "Nothing changes"
        in call("whatif", dump, "--set", MORE, "--set", back, "--format", "table").stdout
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--set", "clusterqueue/lendr.fairSharing.weight=1"), 'did you mean "lender"?'),
        ((), "--set"),
    ],
)
def test_bad_use(dump: Path, options: tuple[str, ...], said: str) -> None:
    result = call("whatif", dump, *options)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stdout == ""


def test_yunikorn_is_refused() -> None:
    result = call("whatif", YUNIKORN, "--set", NEVER)
    assert result.exit_code == 2
    assert "YuniKorn" in result.stderr
