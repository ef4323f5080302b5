"""``planner laws``: everything there is to look up."""

import json

import pytest

from planner.laws import RULE_SETS
from planner.objective.profiles import PROFILES
from planner.term import TERMS
from tests.cli.running import answer, call


@pytest.mark.parametrize("style", ["table", "plain", "json"])
def test_every_law_term_and_objective_is_listed(style: str) -> None:
    result = call("laws", "--format", style, env={"COLUMNS": "600"})
    assert result.exit_code == 0
    assert result.stderr == ""
    shown = result.stdout.replace(r"\u00a7", "§")  # JSON is ASCII
    for laws in RULE_SETS.values():
        for law in laws:
            assert law.id in result.stdout
            assert law.title in result.stdout
            assert law.source in shown
            assert all(reason in shown for reason in law.reasons)
    for term in TERMS.values():
        assert term.title in result.stdout
        assert term.name in result.stdout
    for profile in PROFILES.values():
        assert profile.name in result.stdout
        assert profile.summary in result.stdout


def test_json_is_what_the_schema_says() -> None:
    value = answer("laws", "laws")
    default = next(entry for entry in value["objectives"] if entry["name"] == "no-regret")
    assert default["caps"] == [
        "last_resort",
        "highest_priority",
        "workloads",
        "lost_work+restart_cost",
    ]


@pytest.mark.parametrize(
    ("law", "codes"), [("KQ-05", "InCohortReclamation"), ("KQ-06", "InCohortReclaimWhileBorrowing")]
)
def test_reason_codes_stand_in_the_line_of_their_law(law: str, codes: str) -> None:
    lines = call("laws", "--format", "plain").stdout.splitlines()
    (found,) = [line for line in lines if line.split()[:2] == ["law", law]]
    assert f" reasons={codes} " in found


def test_a_law_of_several_rule_sets_is_told_once() -> None:
    lines = call("laws", "--format", "plain").stdout.splitlines()
    (found,) = [line for line in lines if line.split()[:2] == ["law", "YK-08"]]
    assert "rules=yunikorn-design,yunikorn-written,yunikorn-code,yunikorn-required-node " in found
    screen = call("laws", "--format", "table", env={"COLUMNS": "600"}).stdout
    law = next(law for law in RULE_SETS["yunikorn-code"] if law.id == "YK-08")
    assert screen.count(law.title) == 4
    assert screen.count(law.statement) == screen.count(law.source) == 1


def test_to_a_file(tmp_path: object) -> None:
    file = f"{tmp_path}/laws.json"
    assert call("laws", "--format", "json", "-o", file).stdout == ""
    with open(file, encoding="utf-8") as text:  # noqa: PTH123
        assert json.load(text)["schema"] == "planner/v1"
