"""KL-26: quota that the nodes of a flavor do not have, and what is none of that."""

from typing import Any

import pytest

from planner.operations.lint.lint import Finding
from tests.cluster import FLAVOR, Object, admission_check, cohort, queue
from tests.operations.lint.test_mistakes import looked
from tests.reference.topology.racks import flavor, node, topology
from tests.told import told

PLAIN = flavor(topology_name="")
A = {"pool": "a"}
EIGHT = node("n1", gpu=8)


def found(*parts: Any) -> list[Finding]:
    return [one for one in looked(*parts).findings if one.code == "KL-26"]


def in_flavor(name: str, *parts: list[Object]) -> list[Object]:
    """Return objects with their quota in another flavor."""
    items = [item for part in parts for item in part]
    for item in items:
        for group in item["spec"].get("resourceGroups", ()):
            group["flavors"][0]["name"] = name
    return items


def test_it_is_said_who_has_what() -> None:
    queues = (queue("a", 10), queue("b", 10), queue("poor", 0))
    (one,) = found(PLAIN, EIGHT, node("n2", gpu=8), *queues)
    assert one.objects == ("resourceflavor/default", "clusterqueue/a", "clusterqueue/b")
    told(one.reason)


def test_a_cohort_counts_with_all_that_is_below_it() -> None:
    tree = (cohort("top", nominal=2), cohort("org", "top", nominal=1), queue("a", 4, "org"))
    assert found(PLAIN, node("n1", gpu=7), *tree) == []
    (one,) = found(PLAIN, node("n1", gpu=6), *tree)
    assert set(one.objects) == {
        "resourceflavor/default", "cohort/top", "cohort/org", "clusterqueue/a",
    }  # fmt: skip


def test_labels_say_which_nodes() -> None:
    labelled = flavor(topology_name="", nodeLabels=A)
    mine, others = node("n1", labels=A, gpu=8), node("n2", gpu=8)
    assert found(labelled, mine, others, queue("a", 8)) == []
    assert len(found(labelled, mine, others, queue("a", 9))) == 1
    (one,) = found(labelled, others, queue("a", 1))
    told(one.reason)


def test_nodes_that_take_no_pods_now_count() -> None:
    cordoned = node("n2", gpu=8, unschedulable=True)
    tainted = node("n3", gpu=8, taints=[{"key": "gpu", "value": "yes", "effect": "NoSchedule"}])
    gone = node("n4", gpu=8, ready="False")
    assert found(PLAIN, EIGHT, cordoned, tainted, gone, queue("a", 32)) == []


def test_nodes_of_the_control_plane_do_not() -> None:
    taint = {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}
    master = node("m", cpu=8, taints=[taint])
    nodes = (master, node("n1", cpu=8))
    assert len(found(PLAIN, *nodes, queue("a", {"cpu": 16}))) == 1
    for field, value in (("nodeTaints", [taint]), ("tolerations", [{"operator": "Exists"}])):
        kind = flavor(topology_name="")
        kind[0]["spec"][field] = value
        assert found(kind, *nodes, queue("a", {"cpu": 16})) == []


def test_flavors_with_the_same_nodes_share_them() -> None:
    """Each has enough by itself; together they promise what is there twice."""
    every, some = flavor("every", ""), flavor("some", "", nodeLabels=A)
    quota = (in_flavor("every", queue("a", 12)), in_flavor("some", queue("b", 8)))
    nodes = (EIGHT, node("n2", labels=A, gpu=8))
    (one,) = found(every, some, *nodes, *quota)
    assert one.objects[:2] == ("resourceflavor/every", "resourceflavor/some")
    assert found(every, some, *nodes, node("n3", gpu=4), *quota) == []
    # Flavors of other nodes have nothing to do with each other.
    other = flavor("every", "", nodeLabels={"pool": "b"})
    apart = (node("n1", labels={"pool": "b"}, gpu=12), nodes[1])
    assert found(other, some, *apart, *quota) == []


def test_flavors_with_equal_nodes_are_one_finding() -> None:
    both = (flavor("x", ""), flavor("y", ""))
    quota = (in_flavor("x", queue("a", 8)), in_flavor("y", queue("b", 8)))
    assert len(found(*both, EIGHT, *quota)) == 1


@pytest.mark.parametrize("controller", ["multikueue", "provisioning-request"])
def test_nodes_that_are_made_for_it_or_are_elsewhere_are_not_missing(controller: str) -> None:
    own = queue("a", 9)
    own[0]["spec"]["admissionChecksStrategy"] = {"admissionChecks": [{"name": "check"}]}
    assert (
        found(PLAIN, EIGHT, own, [admission_check("check", f"kueue.x-k8s.io/{controller}")]) == []
    )


def test_what_is_on_no_node_at_all_is_not_missing() -> None:
    assert found(PLAIN, EIGHT, queue("a", {"example.com/credits": 100})) == []
    assert found(PLAIN, EIGHT, queue("a", {"pods": 1000, "gpu": 8})) == []


def test_unlimited_quota_promises_nothing() -> None:
    assert found(PLAIN, EIGHT, queue("a", 2**63)) == []


def test_without_nodes_nothing_is_known() -> None:
    assert found(PLAIN, queue("a", 9)) == []


def test_with_a_topology_kueue_itself_stops() -> None:
    """It places no more than there is, on nodes with a label for each level."""
    parts = (flavor(), topology(), node("n1", "r1", gpu=8), node("n2", gpu=8))
    assert found(*parts, queue("a", 8)) == []
    (one,) = found(*parts, queue("a", 9))
    told(one.reason)
    told(one.example.shows[-1])
    assert FLAVOR in one.objects[0]
