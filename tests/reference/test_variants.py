"""The variants of one workload compete: a better flavor is worth an eviction, a worse one not.

docs/semantics/kueue-features.md §7.
"""

from typing import Any

import pytest

from planner.quota.kueue.assignment import Assignment, Mode
from planner.quota.kueue.preemptor import as_preemptor, find_workload
from planner.quota.kueue.snapshot import take_snapshot
from planner.reference.kueue.cycle.run import schedule
from planner.reference.kueue.cycle.waiting import waiting_queues
from planner.reference.kueue.decision import Decision, decide
from planner.reference.kueue.permitted import permitted_assignments
from planner.verifier.kueue.case import setting_of
from planner.verifier.kueue.flavors import permitted_flavors
from tests.cluster import Object, configuration, queue, running, state_of
from tests.reference.cycles import (
    condition,
    flavors,
    names,
    ran,
    several_flavors,
    story,
    waits,
    with_spec,
)
from tests.told import told

ON = configuration(featureGates={"ConcurrentAdmission": True})
ALLOWED = "kueue.x-k8s.io/workload-allowed-resource-flavors"


def variant(parts: list[Object], flavor: str | None, parent: str = "p") -> list[Object]:
    (workload,) = parts
    owner = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "uid": parent}
    metadata = {**workload["metadata"], "ownerReferences": [{**owner, "name": parent}]}
    metadata["annotations"] = {} if flavor is None else {ALLOWED: flavor}
    return [{**workload, "metadata": metadata}]


def holds(name: str, flavor: str, *, parent: str = "p", admitted: bool = True) -> list[Object]:
    (workload,) = running(name, "a", 2)
    assignment = {"name": "main", "count": 1, "flavors": {"gpu": flavor}}
    assignment["resourceUsage"] = {"gpu": "2"}
    conditions = [*workload["status"]["conditions"]]
    conditions += [condition("Admitted")] if admitted else []
    admission = {"clusterQueue": "a", "podSetAssignments": [assignment]}
    status = {"admission": admission, "conditions": conditions}
    return variant([{**workload, "status": status}], flavor, parent)


def concurrent(policy: Object | None = None, **fields: Any) -> list[Object]:
    groups = several_flavors(best=2, good=2, poor=2)
    policy = {"migration": policy or {}}
    return with_spec(queue("a", 0, **fields), concurrentAdmissionPolicy=policy, **groups)


FLAVORS = flavors("best", "good", "poor")
NEW = variant(waits("new", "a", 2), "good")


@pytest.mark.parametrize(
    ("sibling", "said"),
    [
        (holds("old", "poor"), "new migrating old"),
        (holds("old", "best"), "new skipped"),
        (holds("old", "poor", parent="other"), "new admitted"),
        (holds("old", "poor", admitted=False), "new admitted"),
    ],
)
def test_a_better_flavor_is_worth_an_eviction(sibling: list[Object], said: str) -> None:
    cycle = ran(ON, FLAVORS, concurrent(), sibling, NEW)
    assert story(cycle) == [said]
    going = [target.workload.key for target in cycle.evicted]
    assert going == (["ns/old"] if "migrating" in said else [])


@pytest.mark.parametrize(
    ("last", "said"), [("best", "new notMigrated"), ("good", "new migrating old")]
)
def test_a_flavor_must_be_worth_a_migration(last: str, said: str) -> None:
    policy = {"constraints": {"lastAcceptableFlavorName": last}}
    assert story(ran(ON, FLAVORS, concurrent(policy), holds("old", "poor"), NEW)) == [said]


@pytest.mark.parametrize(
    ("sibling", "runs", "own", "said"),
    [
        ("poor,best", "best", "good", "new migrating old"),
        ("best,poor", "poor", "good", "new skipped"),
        ("good", "good", "poor , best", "new skipped"),
        ("good", "good", "other,best", "new admitted"),  # the queue has no such flavor
        ("good", "good", ",best", "new admitted"),
    ],
)
def test_the_first_name_in_the_annotation_is_the_place(
    sibling: str, runs: str, own: str, said: str
) -> None:
    old = variant(holds("old", runs), sibling)
    assert story(ran(ON, FLAVORS, concurrent(), old, variant(waits("new", "a", 2), own))) == [said]


def test_of_several_worse_siblings_one_is_evicted() -> None:
    siblings = [*holds("one", "good"), *holds("two", "poor")]
    cycle = ran(ON, FLAVORS, concurrent(), siblings, variant(waits("new", "a", 2), "best"))
    told(story(cycle))
    assert [target.workload.key for target in cycle.evicted] == ["ns/one"]


@pytest.mark.parametrize(("last", "said"), [("best", "notMigrated"), ("good", "migrating old")])
def test_who_migrates_or_may_not_takes_the_room_all_the_same(last: str, said: str) -> None:
    """The other workload could borrow of the flavor good only, and comes second."""
    policy = {"constraints": {"lastAcceptableFlavorName": last}}
    borrows = with_spec(queue("b", 0, "c"), **several_flavors(good=0))
    parts = [*concurrent(policy, cohort="c"), *borrows, *waits("other", "b", 2, minute=5)]
    cycle = ran(ON, FLAVORS, parts, holds("old", "poor"), NEW)
    assert story(cycle) == [f"new {said}", "other skipped"]
    assert names(cycle.left) == {"a": ["new"], "b": ["other"]}


def test_a_queue_without_the_policy_has_siblings_and_no_parents() -> None:
    plain = with_spec(queue("a", 0), **several_flavors(best=2, good=2, poor=2))
    (parent,) = waits("p", "a", 2, priority=9)
    parent["metadata"]["labels"] = {"kueue.x-k8s.io/concurrent-admission-parent": "true"}
    cycle = ran(ON, FLAVORS, plain, [parent], holds("old", "best"), NEW)
    assert story(cycle) == ["new skipped"]
    assert names(cycle.left) == {"a": ["new"]}
    assert story(ran(FLAVORS, plain, [parent])) == ["p admitted"]


def test_who_migrates_stays_the_head_until_it_is_admitted() -> None:
    state = state_of(ON, FLAVORS, concurrent(), holds("old", "poor"), NEW)
    snapshot = take_snapshot(state)
    queues = waiting_queues(state, snapshot)
    schedule(state, snapshot, queues)
    assert [waiting.sticky for waiting in queues.values()] == ["ns/new"]


def decided(allowed: str | None, *parts: list[Object]) -> tuple[Mode, list[str], Decision]:
    state = state_of(*parts, FLAVORS, concurrent(), variant(waits("new", "a", 2), allowed))
    snapshot = take_snapshot(state)
    preemptor = as_preemptor(state, snapshot, find_workload(state, "ns/new"))
    decision = decide(snapshot, preemptor)
    found = [choice.flavor for _, choice in decision.assignment.choices()]
    permitted = permitted_assignments(snapshot, preemptor).assignments
    possible = {choice.flavor for each in permitted for _, choice in each.choices()}
    if found:
        setting = setting_of(snapshot, preemptor, decision.assignment)
        assert permitted_flavors(setting, decision.assignment).holds
        if parts and allowed:
            taken = decide(snapshot, preemptor).assignment.model_dump_json()
            other = taken.replace(f'"{found[0]}"', '"best"')
            verdict = permitted_flavors(setting, Assignment.model_validate_json(other))
            assert not verdict.holds
    if allowed is not None and parts:
        assert possible <= {name.strip() for name in allowed.split(",")}
    return decision.assignment.mode, found, decision


def test_a_variant_has_its_own_flavors_only() -> None:
    assert decided("good")[:2] == ("Fit", ["best"])  # the gate is off
    assert decided("good", ON)[:2] == ("Fit", ["good"])
    assert decided(" poor , good", ON)[:2] == ("Fit", ["good"])
    assert decided(None, ON)[:2] == ("Fit", ["best"])
    mode, found, decision = decided("", ON)
    assert (mode, found) == ("NoFit", [])
    assert decision.assigned.message.count("due to WorkloadAllowedResourceFlavorAnnotation") == 3
