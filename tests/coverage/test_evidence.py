"""Where Kueue says another thing than the planner works out, it is said, with both."""

from typing import Any

import pytest

import planner
from planner.plan import Plan
from tests.cluster import PENDING, at, configuration, dump_of, pending, queue, running
from tests.kueue_state import read_objects

Object = dict[str, Any]
NOW = "2026-05-01T13:00:00Z"


def dump(*more: list[Object]) -> dict[str, Object]:
    """Return the objects of a small cluster by their names, 2 short for the pending workload."""
    parts = [queue("a", 4, within="LowerPriority"), running("one", "a", 2), running("two", "a", 2)]
    items = dump_of(*parts, pending("a", 2), *more)["items"]
    return {f"{one['kind']} {one.get('metadata', {}).get('name', '')}": one for one in items}


def solved(objects: dict[str, Object]) -> Plan:
    """Solve for the pending workload of some objects."""
    value = {"apiVersion": "v1", "kind": "List", "items": list(objects.values())}
    return planner.solve(read_objects(value, where="test", now=NOW), PENDING)


def condition(kind: str, status: str, message: str = "", reason: str = "R") -> Object:
    """Return a condition of a minute ago."""
    said = {"type": kind, "status": status, "message": message, "reason": reason}
    return {**said, "lastTransitionTime": at(59)}


def found(plan: Plan) -> list[tuple[str, str]]:
    """Return what a plan leaves out: features and kinds."""
    return [(one.feature, one.kind) for one in plan.coverage]


def test_nothing_is_said_where_all_agree() -> None:
    objects = dump(configuration())
    objects["ClusterQueue a"]["status"] = {
        "conditions": [condition("Active", "True")],
        "pendingWorkloads": 1,
        "flavorsReservation": [
            {"name": "default", "resources": [{"name": "gpu", "total": "4", "borrowed": "0"}]}
        ],
    }
    objects["Workload pending"]["status"] = {
        "conditions": [
            condition(
                "QuotaReserved",
                "False",
                "couldn't assign flavors to pod set main: insufficient unused quota for gpu in "
                "flavor default, 2 more needed",
            )
        ],
        "resourceRequests": [{"name": "main", "resources": {"gpu": "2"}}],
    }
    plan = solved(objects)
    assert (plan.status, plan.coverage, plan.notes) == ("optimal", (), ())


def test_another_request_than_the_template_makes() -> None:
    """E1: such as a transformation that the Configuration in the dump does not have."""
    objects = dump(configuration())
    requests = [{"name": "main", "resources": {"gpu": "3"}}]
    objects["Workload pending"]["status"] = {"resourceRequests": requests}
    plan = solved(objects)
    assert found(plan) == [("requests", "contradiction")]
    assert "gpu 3" in plan.coverage[0].evidence
    assert "gpu 2" in plan.coverage[0].evidence
    assert plan.status == "conditional"


@pytest.mark.parametrize("status", ["True", "False"])
def test_a_queue_that_is_active_or_not_against_its_objects(status: str) -> None:
    """E2 and E3: with the flavor missing the queue cannot be active, with it nothing stops it."""
    objects = dump(configuration())
    objects["ClusterQueue a"]["status"] = {"conditions": [condition("Active", status)]}
    if status == "True":
        del objects["ResourceFlavor default"]
    plan = solved(objects)
    assert ("queues", "contradiction") in found(plan)


def test_fair_sharing_in_use_without_a_configuration() -> None:
    """E5: its defaults are taken, and the plan says so."""
    objects = dump()
    objects["ClusterQueue a"]["status"] = {"fairSharing": {"weightedShare": 0}}
    plan = solved(objects)
    assert found(plan) == [("configuration", "assumed")]
    assert plan.rules == "kueue-fair"


def test_another_shortage_than_kueue_says() -> None:
    """E19: 2 are asked for, nothing is free, and Kueue says 5."""
    objects = dump(configuration())
    text = "insufficient unused quota for gpu in flavor default, 5 more needed"
    objects["Workload pending"]["status"] = {
        "conditions": [condition("QuotaReserved", "False", text)]
    }
    plan = solved(objects)
    assert found(plan) == [("quota", "contradiction")]
    assert "5 more gpu" in plan.coverage[0].evidence
    assert "it is 2" in plan.coverage[0].evidence


def test_nodes_that_kueue_speaks_of() -> None:
    """E20."""
    objects = dump(configuration())
    text = 'topology "default" doesn\'t allow to fit any of 2 pod(s)'
    objects["Workload pending"]["status"] = {
        "conditions": [condition("QuotaReserved", "False", text)]
    }
    assert found(solved(objects)) == [("topology", "contradiction")]


@pytest.mark.parametrize(
    ("reason", "feature"),
    [
        ("Fair Sharing within the cohort", "configuration"),
        ("reclamation within the cohort while borrowing", "policies"),
        ("prioritization in the ClusterQueue", None),
    ],
)
def test_reasons_of_recent_victims(reason: str, feature: str | None) -> None:
    """E26: Kueue preempted by a rule that is off in this state."""
    objects = dump(configuration())
    text = f"Preempted to accommodate a workload (UID: u, JobUID: j) due to {reason}; ..."
    objects["Workload one"]["status"]["conditions"].append(condition("Preempted", "True", text))
    expected = [] if feature is None else [(feature, "contradiction")]
    assert found(solved(objects)) == expected


def test_what_a_dump_lacks_is_remarked_and_changes_no_status() -> None:
    objects = dump()
    objects["ClusterQueue a"]["status"] = {
        "conditions": [condition("Active", "True")],
        "pendingWorkloads": 3,
        "flavorsReservation": [{"name": "default", "resources": [{"name": "gpu", "total": "9"}]}],
    }
    plan = solved(objects)
    assert plan.status == "optimal"
    said = "\n".join(plan.notes)
    assert "no Configuration of Kueue" in said
    assert "3 workloads are pending, the state has 1" in said
    assert "9 gpu of flavor default are reserved, its workloads in the state hold 4" in said
