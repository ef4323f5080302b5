"""What can be set: all of it is an edit, and with the value that is listed nothing changes."""

import json
from typing import Any

import pytest

import planner
from planner.commands.whatif import edit as listing
from planner.commands.whatif.edit import Settings, edit, settings
from planner.errors import SchemaError
from planner.objective.profiles import PROFILES
from planner.solver.start import pending_workloads
from planner.state import AnyState
from tests.cli.running import call
from tests.cluster import cohort, pending, queue, running, state_of
from tests.conftest import QUICKSTART, ROOT

QUICKSTARTS = (
    "instances/quickstart",
    "instances/yunikorn/quickstart",
    "instances/two-resources.yaml",
)


def settings_of(state: AnyState) -> Settings:
    return settings(state, pending_workloads(state), {"min-count": "few"})


@pytest.mark.parametrize("path", QUICKSTARTS)
def test_the_listed_values_are_those_of_the_state(path: str) -> None:
    state = planner.read(ROOT / path)
    found = [one for thing in settings_of(state).objects for one in thing.settings if one.value]
    assert found
    same = edit(state, [f"{one.target}={one.value}" for one in found])
    assert same.model_copy(update={"digest": state.digest}) == state


@pytest.mark.parametrize("path", QUICKSTARTS)
def test_every_choice_can_be_made_and_no_other(path: str) -> None:
    state = planner.read(ROOT / path)
    things = settings_of(state).objects
    chosen = [one for thing in things for one in thing.settings if one.choices]
    assert chosen
    for one in chosen[:20]:
        for choice in one.choices:
            edit(state, [f"{one.target}={choice}"])
        with pytest.raises(SchemaError):
            edit(state, [f"{one.target}=Nonesuch"])


def test_a_small_cluster_in_full() -> None:
    state = state_of(
        cohort("all", nominal=4),
        queue("team", 8, "all", borrowing=2, within="LowerPriority", threshold=5),
        running("job", "team", 4, 7),
        pending("team", 4),
    )
    found = settings_of(state)
    assert [(one.key, one.queue) for one in found.pending] == [("ns/pending", "team")]
    values = {one.target: one.value for thing in found.objects for one in thing.settings}
    team = "clusterqueue/team"
    assert values == {
        "cohort/all.quota.default/gpu.nominal": "4",
        "cohort/all.quota.default/gpu.borrowingLimit": "none",
        "cohort/all.quota.default/gpu.lendingLimit": "none",
        f"{team}.quota.default/gpu.nominal": "8",
        f"{team}.quota.default/gpu.borrowingLimit": "2",
        f"{team}.quota.default/gpu.lendingLimit": "none",
        f"{team}.preemption.withinClusterQueue": "LowerPriority",
        f"{team}.preemption.reclaimWithinCohort": "Never",
        f"{team}.preemption.borrowWithinCohort.policy": "Never",
        f"{team}.preemption.borrowWithinCohort.maxPriorityThreshold": "5",
        "workload/ns/pending.priority": str(state.workloads[1].priority),
        "workload/ns/job.priority": str(state.workloads[0].priority),
    }


def test_of_very_many_workloads_the_rest_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "MOST_WORKLOADS", 2)
    runs = [one for n in range(3) for one in running(f"job-{n}", "team", 1, n)]
    found = settings_of(state_of(queue("team", 8), runs, pending("team", 8)))
    names = [thing.name for thing in found.objects if thing.kind == "Workload"]
    assert (names, found.left_out) == (["ns/pending", "ns/job-0"], 2)


@pytest.mark.parametrize("style", ["table", "plain", "json", "markdown", "html"])
def test_the_command_lists(style: str) -> None:
    result = call("whatif", QUICKSTART, "--list", "--format", style)
    assert result.exit_code == 0
    assert "nlp/jobset-train-translator-8974c" in result.stdout
    assert "clusterqueue/nlp.preemption.reclaimWithinCohort" in result.stdout
    if style == "json":
        value: Any = json.loads(result.stdout)
        assert [one["name"] for one in value["objectives"]] == list(PROFILES)


@pytest.mark.parametrize("more", [("--set", "a=b"), ("--pending", "x"), ("--workload", "x.yaml")])
def test_it_goes_with_nothing_that_is_planned(more: tuple[str, str]) -> None:
    result = call("whatif", QUICKSTART, "--list", *more)
    assert result.exit_code == 2
    assert "--list goes with none of" in result.stderr
