"""Edits of a state: each field that can be set, what is listed of them, each way to be wrong."""

import json
from typing import Any

import pytest

import planner
from planner.commands.whatif import edit as listing
from planner.commands.whatif.edit import Settings, edit, settings
from planner.commands.whatif.kueue_edit import KINDS, NODE_FIELDS, OBJECTS, QUOTA
from planner.errors import SchemaError
from planner.objective.profiles import PROFILES
from planner.state import AnyState
from planner.state.kueue import State
from tests.cli.running import call, refused
from tests.cluster import (
    PENDING,
    cohort,
    configuration,
    fair_sharing,
    pending,
    queue,
    running,
    state_of,
)
from tests.conftest import QUICKSTART, ROOT
from tests.reference.cycles import waits
from tests.told import told

GIGA = 10**9
"""Nano-units in a unit: quantities are kept exactly."""


@pytest.fixture
def state() -> State:
    return state_of(
        cohort("all", nominal=4),
        queue("team", 8, "all", borrowing=2, reclaim="Any", borrow="LowerPriority", threshold=5),
        queue("team.a", 3, "all"),
        running("job", "team", 4, 7),
        running("job.v1", "team", 4, 8),
        pending("team", 4),
    )


def edited_queue(state: State, *texts: str, name: str = "team") -> object:
    queues = edit(state, texts).cluster_queues
    return next(one.spec for one in queues if one.name == name)


@pytest.mark.parametrize(
    ("text", "steps", "value"),
    [
        ("preemption.withinClusterQueue=LowerPriority", "preemption.within_cluster_queue",
         "LowerPriority"),
        ("preemption.reclaimWithinCohort=Never", "preemption.reclaim_within_cohort", "Never"),
        ("preemption.borrowWithinCohort.policy=Never", "preemption.borrow_within_cohort.policy",
         "Never"),
        ("preemption.borrowWithinCohort.maxPriorityThreshold=-3",
         "preemption.borrow_within_cohort.max_priority_threshold", -3),
        ("preemption.borrowWithinCohort.maxPriorityThreshold=none",
         "preemption.borrow_within_cohort.max_priority_threshold", None),
        ("fairSharing.weight=1.5", "fair_sharing.weight", 3 * GIGA // 2),
        ("flavorFungibility.whenCanBorrow=TryNextFlavor", "flavor_fungibility.when_can_borrow",
         "TryNextFlavor"),
        ("flavorFungibility.whenCanPreempt=MayStopSearch", "flavor_fungibility.when_can_preempt",
         "MayStopSearch"),
        ("flavorFungibility.preference=PreemptionOverBorrowing", "flavor_fungibility.preference",
         "PreemptionOverBorrowing"),
        ("flavorFungibility.preference=none", "flavor_fungibility.preference", None),
    ],
)  # fmt: skip
def test_field_of_a_queue(state: State, text: str, steps: str, value: object) -> None:
    found = edited_queue(state, f"clusterqueue/team.{text}")
    for step in steps.split("."):
        found = getattr(found, step)
    assert found == value


def test_the_rest_of_a_queue_stays(state: State) -> None:
    before = state.cluster_queues[0]
    text = "clusterqueue/team.preemption.borrowWithinCohort.policy=Never"
    after = edit(state, [text]).cluster_queues[0]
    assert after.spec.resource_groups == before.spec.resource_groups
    assert after.spec.preemption.reclaim_within_cohort == "Any"
    assert after.spec.preemption.borrow_within_cohort.max_priority_threshold == 5
    assert before.spec.preemption.borrow_within_cohort.policy == "LowerPriority"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("nominal=40", (40 * GIGA, 2 * GIGA, None)),
        ("nominal=500m", (GIGA // 2, 2 * GIGA, None)),
        ("borrowingLimit=none", (8 * GIGA, None, None)),
        ("borrowingLimit=0", (8 * GIGA, 0, None)),
        ("lendingLimit=1", (8 * GIGA, 2 * GIGA, GIGA)),
    ],
)
def test_quota(state: State, text: str, expected: tuple[int | None, ...]) -> None:
    edited = edit(state, [f"clusterqueue/team.quota.default/gpu.{text}"])
    quota = edited.cluster_queues[0].spec.resource_groups[0].flavors[0].resources[0]
    assert (quota.name, quota.nominal_quota, quota.borrowing_limit, quota.lending_limit) == (
        "gpu",
        *expected,
    )


def test_cohort(state: State) -> None:
    edited = edit(
        state, ["cohort/all.quota.default/gpu.nominal=9", "cohort/all.fairSharing.weight=0"]
    )
    spec = edited.cohorts[0].spec
    assert spec.resource_groups[0].flavors[0].resources[0].nominal_quota == 9 * GIGA
    assert spec.fair_sharing.weight == 0


def test_names_may_hold_points(state: State) -> None:
    texts = ["clusterqueue/team.a.quota.default/gpu.nominal=1", "workload/ns/job.v1.priority=-1"]
    edited = edit(state, texts)
    assert [
        one.spec.resource_groups[0].flavors[0].resources[0].nominal_quota
        for one in edited.cluster_queues
    ] == [8 * GIGA, GIGA]
    assert [one.spec.priority for one in edited.workloads] == [7, -1, 10]


LEVEL = "topology.example/rack"


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (
            "clusterqueue/team.queueingStrategy=StrictFIFO",
            "cluster_queues.0.spec.queueing_strategy",
        ),
        ("clusterqueue/team.stopPolicy=HoldAndDrain", "cluster_queues.0.spec.stop_policy"),
        ("clusterqueue/team.stopPolicy=None", "cluster_queues.0.spec.stop_policy"),
        ("clusterqueue/team.cohortName=other", "cluster_queues.0.spec.cohort_name"),
        ("clusterqueue/team.cohortName=none", "cluster_queues.0.spec.cohort_name"),
        ("localqueue/ns/team.stopPolicy=Hold", "local_queues.0.spec.stop_policy"),
        ("resourceflavor/default.topologyName=racks", "resource_flavors.0.spec.topology_name"),
        ("resourceflavor/default.topologyName=none", "resource_flavors.0.spec.topology_name"),
        ("workload/ns/job.podSets.main.count=2", "workloads.0.spec.pod_sets.0.count"),
    ],
)
def test_what_hints_of_lint_name(state: State, text: str, path: str) -> None:
    """Every value reads back, and only that field is another one."""
    found: Any = edit(state, [text])
    for step in path.split("."):
        found = found[int(step)] if step.isdigit() else getattr(found, step)
    value = text.partition("=")[2]
    assert found == {"none": "", "2": 2}.get(value, value)


def test_the_topology_of_a_podset_is_set_where_it_asks_for_one(state: State) -> None:
    field = "workload/ns/job.podSets.main.topologyRequest"
    with pytest.raises(SchemaError, match=r"podSets\.main\.count"):
        edit(state, [f"{field}.required={LEVEL}"])
    asked = pending("team", 1)
    asked[0]["spec"]["podSets"][0]["topologyRequest"] = {"required": LEVEL}
    texts = [f"workload/{PENDING}{field.removeprefix('workload/ns/job')}.{each}" for each in FIELDS]
    edited = edit(state_of(queue("team", 1), asked), [f"{texts[0]}=none", f"{texts[1]}={LEVEL}"])
    request = edited.workloads[0].spec.pod_sets[0].topology_request
    assert request is not None
    assert (request.required, request.preferred) == (None, LEVEL)


FIELDS = ("required", "preferred")


def test_after_an_edit_who_was_tried_in_vain_competes_again() -> None:
    """Kueue wakes what it parked when a ClusterQueue changes."""
    said = {"type": "QuotaReserved", "status": "False", "reason": "WaitingForQuota"}
    first = waits("first", "team", 3, 9, conditions=[said])
    there = state_of(queue("team", 4), first, waits("one", "team", 3))
    before = planner.solve(there, "ns/one")
    after = planner.solve(edit(there, ["clusterqueue/team.stopPolicy=None"]), "ns/one")
    assert (before.held_back, after.held_back and after.held_back.head) == (None, "ns/first")


def test_configuration(state: State) -> None:
    assert not state.configuration.gate("PriorityBoost")
    texts = [
        "configuration.featureGates.PriorityBoost=true",
        "configuration.fairSharing.enable=true",
    ]
    found = edit(state, texts).configuration
    assert found.gate("PriorityBoost")
    assert found.fair_sharing_on
    kept = fair_sharing("LessThanInitialShare")
    off = edit(state_of(kept), ["configuration.fairSharing.enable=false"]).configuration
    assert not off.fair_sharing_on
    assert off.strategies == ("LessThanInitialShare",)


@pytest.mark.parametrize("before", [True, False])
def test_gates_that_others_need_are_noted_as_where_they_are_read(*, before: bool) -> None:
    """FlavorFungibilityPreserveScanProgress is on, and needs FlavorFungibility."""
    text = f"configuration.featureGates.FlavorFungibility={str(not before).lower()}"
    gates = (configuration(featureGates={"FlavorFungibility": on}) for on in (False, True))
    off, on = (state_of(queue("team", 4), one) for one in gates)
    was, now = (on, off) if before else (off, on)
    assert len(off.notes) == len(on.notes) + 1
    assert edit(was, [text]).notes == now.notes


def test_later_edits_win_and_the_digest_tells_states_apart(state: State) -> None:
    once = edit(state, ["workload/ns/job.priority=1"])
    twice = edit(state, ["workload/ns/job.priority=1", "workload/ns/job.priority=2"])
    assert twice.workloads[0].spec.priority == 2
    assert len({state.digest, once.digest, twice.digest}) == 3
    assert edit(state, []) == state


@pytest.mark.parametrize(
    "text",
    [
        "nonsense",
        "clusterqueue/team.fairSharing.weight=",
        "pod/a.priority=1",
        "clusterqueue/taem.fairSharing.weight=1",
        "clusterqueue/team=1",
        "clusterqueue/team.preemption.reclaim=Any",
        "clusterqueue/team.preemption.reclaimWithinCohort=Lower",
        "clusterqueue/team.preemption.borrowWithinCohort.maxPriorityThreshold=high",
        "clusterqueue/team.quota.gpu.nominal=1",
        "clusterqueue/team.quota.default/gpu.nominal=-1",
        "clusterqueue/team.quota.default/gpu.nominal=none",
        "clusterqueue/team.quota.default/gpu.nominal=lots",
        "workload/ns/jbo.priority=1",
        "workload/ns/job.size=1",
        "workload/ns/job.priority=99999999999",
        "configuration.featureGates.Nonsense=true",
        "configuration.featureGates.PriorityBoost=yes",
        "configuration.fairSharing.enable=maybe",
        "configuration=1",
    ],
)
def test_what_is_wrong_is_said(state: State, text: str) -> None:
    with pytest.raises(SchemaError) as caught:
        edit(state, [text])
    told(caught.value)


QUICKSTARTS = (
    "instances/quickstart",
    "instances/yunikorn/quickstart",
    "instances/two-resources.yaml",
)


def settings_of(state: AnyState) -> Settings:
    return settings(state, state.pending, {"min-count": "few"})


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


def test_the_page_and_the_list_have_every_field_of_the_table(state: State) -> None:
    """A short name, such as ``.whenCanPreempt``, stands in the row of the whole one."""
    page = ROOT.joinpath("docs", "explanation", "settings" + ".md").read_text("utf-8")
    table = page[: page.index("In a state of YuniKorn")]
    names = {"localqueue": "NAMESPACE/NAME", "workload": "NAMESPACE/NAME"}
    every = {kind: {*own} for kind, (_, _, own) in OBJECTS.items()}
    every["node"] = {*NODE_FIELDS} - {"like"}
    every["clusterqueue"] |= {f"quota.FLAVOR/RESOURCE.{limit}" for limit in QUOTA}
    for kind, some in every.items():
        for field in some:
            target = f"{kind}/{names.get(kind, 'NAME')}.{field}"
            beside = f"`{target.rpartition('.')[0]}.", f"`.{field.rpartition('.')[2]}`"
            rows = table.splitlines()
            assert any(f"`{target}`" in row or all(one in row for one in beside) for row in rows)
    assert all(f"| `{kind}" in table for kind in KINDS)
    listed = {one.target for thing in settings_of(state).objects for one in thing.settings}
    for kind, (_, _, own) in OBJECTS.items():
        for field in own:
            assert any(one.startswith(kind) and one.endswith(f".{field}") for one in listed), field


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
        "cohort/all.fairSharing.weight": "1",
        f"{team}.fairSharing.weight": "1",
        f"{team}.flavorFungibility.whenCanBorrow": "MayStopSearch",
        f"{team}.flavorFungibility.whenCanPreempt": "TryNextFlavor",
        f"{team}.flavorFungibility.preference": "none",
        f"{team}.queueingStrategy": "BestEffortFIFO",
        f"{team}.stopPolicy": "None",
        f"{team}.cohortName": "all",
        "localqueue/ns/team.stopPolicy": "None",
        "resourceflavor/default.topologyName": "none",
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
    told(refused("whatif", QUICKSTART, "--list", *more))


@pytest.mark.parametrize("target", ["clusterqueue/team.a", "localqueue/ns/team.a"])
def test_a_stop_that_drains_says_who_is_evicted(target: str) -> None:
    """Hold leaves those who run where they are, HoldAndDrain does not."""
    state = state_of(
        *(queue("team", 8), queue("team.a", 3), running("job", "team.a", 3), pending("team", 4))
    )
    for policy, said in (("Hold", False), ("HoldAndDrain", True)):
        plan = planner.solve(edit(state, [f"{target}.stopPolicy={policy}"]), PENDING)
        assert any("Kueue evicts" in note for note in plan.notes) == said
    told(note for note in plan.notes if "Kueue evicts" in note)
