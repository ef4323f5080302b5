"""KQ-03: a victim holds quota in an active queue of the tree, and names what is contested."""

from __future__ import annotations

import pytest

from planner.state import State
from tests.verifier.cases import (
    GPU,
    OWN,
    RECLAIM,
    broken,
    cluster,
    cohort,
    plan_of,
    policies,
    queue,
    running,
    verdicts,
    victim_of,
    waiting,
)


def state_with_everything() -> State:
    finished = running("finished", "mine", 4)
    finished["status"]["conditions"].append({"type": "Finished", "status": "True"})
    return cluster(
        cohort("all"),
        queue("mine", 4, "all", preemption=policies("LowerPriority", "Any")),
        queue("stopped", 0, "all", stopPolicy="Hold"),
        queue("alone", 0),
        running("needed", "mine", 4),
        running("zero", "mine", 0),
        running("other-flavor", "mine", 1, flavor="l4"),
        running("elsewhere", "alone", 2),
        running("held", "stopped", 2),
        finished,
        waiting("incoming", 2, priority=10),
        waiting("pending", 2),
    )


def test_own_workload_with_the_contested_flavor_is_permitted() -> None:
    state = state_with_everything()
    assert not broken(state, plan_of(state, ("needed", OWN)))


def test_the_amount_is_irrelevant() -> None:
    state = state_with_everything()
    assert not broken(state, plan_of(state, ("needed", OWN), ("zero", OWN)))


@pytest.mark.parametrize(
    ("name", "reason", "detail"),
    [
        ("other-flavor", OWN, "team/other-flavor holds nothing of what is contested"),
        (
            "elsewhere",
            RECLAIM,
            (
                "team/elsewhere holds its quota in ClusterQueue alone, which shares no cohort "
                "with ClusterQueue mine"
            ),
        ),
        ("incoming", OWN, "team/incoming is the preemptor itself"),
        ("pending", OWN, "team/pending is not among the workloads that hold quota"),
        ("finished", OWN, "team/finished is not among the workloads that hold quota"),
        ("unheard-of", OWN, "team/unheard-of is not among the workloads that hold quota"),
    ],
)
def test_others_are_forbidden(name: str, reason: str, detail: str) -> None:
    state = state_with_everything()
    plan = plan_of(state, ("needed", OWN), (name, reason))
    assert broken(state, plan) == ["KQ-03"]
    assert verdicts(state, plan)["KQ-03"].detail == detail


def test_a_workload_of_an_inactive_queue_is_forbidden() -> None:
    """The queue is over quota, so its stopPolicy alone protects the workload."""
    state = state_with_everything()
    plan = plan_of(state, ("needed", OWN), ("held", RECLAIM), borrowing=True)
    assert "KQ-03" in broken(state, plan)
    assert "stopPolicy" in verdicts(state, plan)["KQ-03"].detail


def test_a_victim_named_twice_is_forbidden() -> None:
    state = state_with_everything()
    plan = plan_of(state, ("needed", OWN), ("needed", OWN))
    assert broken(state, plan) == ["KQ-03"]
    assert verdicts(state, plan)["KQ-03"].detail == "team/needed is named 2 times"


def test_a_victim_frees_its_quota_once_however_often_it_is_named() -> None:
    state = cluster(
        queue("mine", 4, preemption=policies("LowerPriority")),
        running("small", "mine", 2),
        running("big", "mine", 2, priority=99),
        waiting("incoming", 4, priority=10),
    )
    plan = plan_of(state, ("small", OWN), ("small", OWN))
    assert broken(state, plan) == ["KQ-01", "KQ-03"]


def test_the_wrong_queue_is_forbidden() -> None:
    state = state_with_everything()
    forged = victim_of(state, "needed", OWN).model_copy(update={"cluster_queue": "alone"})
    assert broken(state, plan_of(state, forged)) == ["KQ-03"]


def test_what_only_fits_is_not_contested() -> None:
    """GPUs need preemption, CPUs fit: a workload that holds only CPUs is no candidate."""
    rows = [{"name": "cpu", "nominalQuota": 9}, {"name": GPU, "nominalQuota": 4}]
    group = {"coveredResources": ["cpu", GPU], "flavors": [{"name": "h200", "resources": rows}]}
    only_cpu = running("only-cpu", "mine", 0)
    held = only_cpu["status"]["admission"]["podSetAssignments"][0]
    held |= {"flavors": {"cpu": "h200"}, "resourceUsage": {"cpu": 1}}
    mine = queue("mine", 0, preemption=policies("LowerPriority"))
    mine["spec"]["resourceGroups"] = [group]
    state = cluster(
        mine, running("needed", "mine", 4), only_cpu, waiting("incoming", 2, priority=10)
    )
    assert not broken(state, plan_of(state, ("needed", OWN)))
    assert broken(state, plan_of(state, ("needed", OWN), ("only-cpu", OWN))) == ["KQ-03"]
