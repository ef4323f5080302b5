"""What a dump lacks shows in what Kueue counted, or in a name that leads nowhere."""

import pytest

import planner
from tests.cluster import PENDING, configuration, queue
from tests.coverage.test_evidence import Object, asking, condition, dump, found, solved, state_of
from tests.told import told


def reserving(name: str, total: str) -> Object:
    """Return the status of a ClusterQueue in which so much of a resource is reserved."""
    row = {"name": "default", "resources": [{"name": name, "total": total}]}
    return {"conditions": [condition("Active", "True")], "flavorsReservation": [row]}


@pytest.mark.parametrize(
    ("name", "resource", "total", "cohort", "conditional"),
    [
        ("a", "gpu", "4", "", False),
        ("a", "gpu", "3", "", False),  # more came since it was counted
        ("a", "gpu", "5", "", True),
        ("a", "gpu", "0", "", False),
        ("a", "cpu", "1", "", True),
        ("b", "gpu", "1", "", False),  # none of its concern
        ("b", "gpu", "1", "c", True),
        ("b", "gpu", "0", "c", False),
    ],
)
def test_a_queue_that_counts_more_than_the_state_has(
    name: str, resource: str, total: str, cohort: str, *, conditional: bool
) -> None:
    """E29: the dump has not all namespaces, say: others may have room, or be better victims."""
    objects = dump(configuration(), queue("b", 0, cohort))
    objects["ClusterQueue a"]["spec"]["cohortName"] = cohort
    objects[f"ClusterQueue {name}"]["status"] = reserving(resource, total)
    state = state_of(objects)
    plan = planner.solve(state, PENDING)
    assert found(plan) == [("holdings", "contradiction")] * conditional
    assert plan.status == ("conditional" if conditional else "optimal")
    joint = planner.solve_joint(state)
    assert [one.feature for one in joint.coverage] == ["holdings"] * conditional
    if conditional:
        assert plan.coverage[0].objects == (f"ClusterQueue {name}",)
        held = 0 if name == "b" or resource == "cpu" else 4
        words = (
            f"{total} {resource} of flavor default are reserved, its workloads in the state hold "
        )
        assert f"ClusterQueue {name} says that {words}{held}:" in plan.coverage[0].evidence


def test_a_state_that_has_changed_since_is_only_remarked_upon() -> None:
    """E29: changes bring workloads, and no counts of queues."""
    objects = dump(configuration())
    objects["ClusterQueue a"]["status"] = reserving("gpu", "4")
    state = state_of(objects)
    assert found(planner.solve(state, PENDING)) == []
    later = state.apply(planner.Changes(gone=["ns/one"]))
    plan = planner.solve(later, PENDING)
    assert found(plan) == []
    told(plan.notes)


@pytest.mark.parametrize(
    ("named", "there", "recorded", "expected"),
    [
        (False, False, None, []),
        (True, True, None, []),
        (True, False, None, [("requests", "assumed")]),
        (True, False, "2", []),  # Kueue counts what the template says: there is no overhead
        (True, False, "3", [("requests", "contradiction")]),
    ],
)
def test_a_runtime_class_that_the_state_lacks(
    recorded: str | None, expected: list[tuple[str, str]], *, named: bool, there: bool
) -> None:
    """E31: with an overhead of 1 it would ask for 3, and need other victims."""
    objects = dump(configuration())
    if named:
        template = objects["Workload pending"]["spec"]["podSets"][0]["template"]
        template["spec"]["runtimeClassName"] = "boxed"
    if there:
        made = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass"}
        overhead = {"podFixed": {"gpu": "1"}}
        objects["boxed"] = {**made, "metadata": {"name": "boxed"}, "overhead": overhead}
    if recorded is not None:
        asking(objects, gpu=recorded)
    plan = solved(objects)
    assert found(plan) == expected
    assert any("RuntimeClass boxed of ns/pending" in one for one in plan.notes) == (
        named and not there
    )
