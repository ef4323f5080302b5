"""``planner solve --rules kep83``: exit codes, formats, and what cannot be used."""

from pathlib import Path

import pytest

from tests.cli.running import BIG, SMALL, call, refused, valid
from tests.told import told


def test_plan_obeys_its_schema_and_names_its_options(dump: Path) -> None:
    result = call("solve", dump, "--rules", "kep83:wait=0", "--format", "json")
    assert (result.exit_code, result.stderr) == (0, "")
    plan = valid("plan", result.stdout)
    assert (plan["rules"], plan["status"]) == ("kep83", "optimal")
    assert plan["rule_options"] == "kep83"
    assert [victim["workload"] for victim in plan["victims"]] == [BIG]
    assert {victim["workload"] for victim in plan["greedy"]["victims"]} == set(SMALL)


@pytest.mark.parametrize("style", ["table", "plain", "markdown", "html"])
def test_every_format_says_by_whose_rules(dump: Path, style: str) -> None:
    rules = "kep83:cohort=ReclaimFromLowerPriority"
    result = call("solve", dump, "--rules", rules, "--format", style, "--details")
    assert result.exit_code == 0
    assert BIG in result.stdout
    assert "K83-05" in result.stdout
    assert rules in result.stdout.replace("\\", "")
    assert ("rules            kep83" if style == "plain" else "KEP-83") in result.stdout


def test_infeasible_is_an_answer(dump: Path) -> None:
    result = call("solve", dump, "--rules", "kep83:wait=1000000", "--format", "plain")
    assert result.exit_code == 3
    assert "may not preempt before 1000000 s" in result.stdout


@pytest.mark.parametrize("rules", ["kueue", "kep83:cohort=Any", "kep83:order=ByAge"])
def test_what_cannot_be_used(dump: Path, rules: str) -> None:
    said = refused("solve", dump, "--rules", rules)
    assert "--rules" in said
    told(said)


def test_front(dump: Path) -> None:
    result = call("solve", dump, "--rules", "kep83", "--objective", "pareto:workloads,lost_work")
    assert result.exit_code == 0
    assert BIG in result.stdout
