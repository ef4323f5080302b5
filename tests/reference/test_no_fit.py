"""Why an assignment does not fit, in Kueue's words."""

from __future__ import annotations

from planner.quota.kueue.request import in_kueues_order
from tests.cluster import KUEUE, Object, cohort, queue, running
from tests.reference.cycles import flavors, ran, several_flavors, waits, with_spec


def reason(*parts: list[Object]) -> str:
    """Return why the only head does not fit."""
    (entry,) = ran(*parts).entries
    assert entry.outcome == "noFit"
    return entry.quota_reserved_reason


def tainted(name: str) -> list[Object]:
    """Return a ResourceFlavor which nobody tolerates."""
    spec = {"nodeTaints": [{"key": "k", "effect": "NoSchedule"}]}
    metadata = {"name": name}
    return [{"apiVersion": KUEUE, "kind": "ResourceFlavor", "metadata": metadata, "spec": spec}]


ONE = waits("one", "a")
NINE = waits("one", "a", 9)


def test_more_than_there_will_ever_be() -> None:
    assert reason(queue("a", 4), NINE) == "ExceedsMaxQuota"


def test_more_than_there_is_now() -> None:
    """The queue may not preempt: the quota is another's, and so is who holds it."""
    parts = cohort("all"), queue("a", 0, "all"), queue("b", 4, "all"), running("r", "b", 4)
    assert reason(*parts, ONE) == "WaitingForQuota"


def test_no_flavor_for_these_pods() -> None:
    a = with_spec(queue("a", 0), **several_flavors(x=4))
    assert reason(tainted("x"), a, ONE) == "NoMatchingFlavor"


def test_a_resource_that_nobody_covers() -> None:
    assert reason(queue("a", 4), waits("one", "a", {"other": 1})) == "NoMatchingFlavor"


def test_of_alternative_flavors_the_mildest_reason_counts() -> None:
    a = with_spec(queue("a", 0), **several_flavors(x=9, y=4))
    assert reason(tainted("x"), flavors("y"), a, NINE) == "ExceedsMaxQuota"
    a = with_spec(queue("a", 0, "all"), **several_flavors(y=0, x=0))
    owner = with_spec(queue("b", 0, "all"), **several_flavors(x=4))
    (held,) = running("r", "b", 4)
    (assignment,) = held["status"]["admission"]["podSetAssignments"]
    assignment["flavors"] = {"gpu": "x"}
    parts = flavors("x", "y"), cohort("all"), a, owner, [held]
    assert reason(*parts, ONE) == "WaitingForQuota"


def test_of_several_groups_the_worst_reason_counts() -> None:
    """Kueue looks at GPUs before CPUs; a flavor of theirs is tainted, though the next one fits."""
    groups = several_flavors(x=1, y=1)["resourceGroups"]
    groups += several_flavors("cpu", z=1)["resourceGroups"]
    a = with_spec(queue("a", 0), resourceGroups=groups)
    both = waits("one", "a", {"gpu": 1, "cpu": 9})
    assert in_kueues_order(["cpu", "gpu"]) == ["gpu", "cpu"]
    assert reason(tainted("x"), flavors("y", "z"), a, both) == "NoMatchingFlavor"
    assert reason(flavors("x", "y", "z"), a, both) == "ExceedsMaxQuota"


def test_where_all_that_was_looked_at_fits_there_is_no_reason() -> None:
    """GPUs fit; CPUs are covered by no group, and come after them."""
    assert reason(queue("a", 4), waits("one", "a", {"gpu": 1, "cpu": 1})) == ""


def test_resources_are_walked_by_their_hash() -> None:
    """FNV-1a of 64 bits, as published: foobar 85944171f73967e8, a af63dc4c8601ec8c."""
    assert in_kueues_order(["", "a", "foobar"]) == ["foobar", "a", ""]
