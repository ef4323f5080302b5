"""The published schemas are valid, current, and what dumps and results obey."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

from planner.cli.schemas import SCHEMAS, schema_text
from tests.cli.running import call, cluster
from tests.published import validator
from tests.recorded import lines


@pytest.mark.parametrize("name", SCHEMAS)
def test_schema_is_valid(name: str) -> None:
    result = call("schema", name)
    assert result.exit_code == 0
    Draft202012Validator.check_schema(json.loads(result.stdout))


def test_list_of_schemas() -> None:
    result = call("schema")
    assert [line.split()[0] for line in result.stdout.splitlines()] == list(SCHEMAS)


def test_to_a_file(tmp_path: Path) -> None:
    file = tmp_path / "plan.schema.json"
    assert call("schema", "plan", "-o", file).stdout == ""
    assert file.read_text("utf-8") == schema_text("plan")


@pytest.mark.parametrize("name", ["classical-hier", "flavors", "edge"])
def test_recorded_states_obey_the_input_schema(name: str) -> None:
    state = validator("input")
    for _, line in zip(range(8), lines(name), strict=False):
        state.validate(line["state"])


def changed(**spec: Any) -> dict[str, Any]:
    """Return a dump whose first ClusterQueue has other fields in its spec."""
    dump = cluster()
    queue = next(item for item in dump["items"] if item["kind"] == "ClusterQueue")
    queue["spec"] |= spec
    return dump


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"cohort": "old name"},
        {"flavorFungibility": {"whenCanBorrow": "Borrow", "whenCanPreempt": "Preempt"}},
        {"something": {"new": []}},
    ],
)
def test_what_the_reader_takes_obeys_the_schema(spec: dict[str, Any]) -> None:
    validator("input").validate(changed(**spec))


@pytest.mark.parametrize(
    "spec",
    [
        {"cohortName": 7},
        {"preemption": {"withinClusterQueue": "Sometimes"}},
        {"resourceGroups": {}},
        {"stopPolicy": True},
    ],
)
def test_what_the_reader_refuses_does_not(spec: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        validator("input").validate(changed(**spec))


def test_one_object_or_another_kind() -> None:
    state = validator("input")
    for item in cluster()["items"]:
        state.validate(item)
    state.validate({"apiVersion": "v1", "kind": "Service", "spec": {"whatever": 1}})
    with pytest.raises(ValidationError):
        state.validate({"apiVersion": "v1"})


def test_costs() -> None:
    validator("costs").validate({"ns/a": 0})
    wrongs: list[object] = [{"ns/a": -1}, {"ns/a": "1"}, []]
    for wrong in wrongs:
        with pytest.raises(ValidationError):
            validator("costs").validate(wrong)
