"""Which ClusterQueues are inactive, with the reasons in Kueue's order.

docs/semantics/kueue-features.md §1.3.
"""

from typing import Any

import pytest

from planner.quota.kueue.activity import Activity
from planner.quota.kueue.snapshot import take_snapshot
from tests.cluster import (
    NOW,
    Object,
    admission_check,
    cohort,
    configuration,
    dump_of,
    queue,
    state_of,
)
from tests.kueue_state import read_objects

MULTI = "kueue.x-k8s.io/multikueue"
PROVISIONING = "kueue.x-k8s.io/provisioning-request"


def check(name: str, controller: str = "example.com/other", status: str = "True") -> list[Object]:
    return [admission_check(name, controller, status)]


def rules(*names: str, **on_flavors: list[str]) -> Object:
    each: list[Object] = [{"name": name} for name in names]
    each += [{"name": name, "onFlavors": flavors} for name, flavors in on_flavors.items()]
    return {"admissionChecksStrategy": {"admissionChecks": each}}


def codes(*parts: list[Object], **spec: Any) -> list[str]:
    """Return why the ClusterQueue a is inactive; ``parts`` are other objects."""
    (cluster_queue, local) = queue("a", 4, "pool")
    cluster_queue = {**cluster_queue, "spec": {**cluster_queue["spec"], **spec}}
    found = Activity.in_state(state_of([cluster_queue, local], *parts)).hindrances
    return [one.code for one in found.get("a", ())]


def test_a_dump_of_multikueue_is_one_cluster() -> None:
    (cluster_queue, local) = queue("a", 4)
    asking = {**cluster_queue, "spec": {**cluster_queue["spec"], **rules("m")}}
    for controller, said in ((MULTI, True), (PROVISIONING, False)):
        notes = take_snapshot(state_of([asking, local], check("m", controller))).notes
        assert any("one cluster" in note for note in notes) == said


@pytest.mark.parametrize(("gate", "unread"), [(True, ()), (False, ("hidden",))])
def test_all_cohorts_that_are_but_names_are_named_in_one_note(
    *, gate: bool, unread: tuple[str, ...]
) -> None:
    names = ("two", "one", "hidden")
    state = state_of(
        *(queue(f"q-{name}", 4, name) for name in names),
        cohort("hidden", nominal=2),
        configuration(featureGates={"HierarchicalCohorts": gate}),
    )
    notes = take_snapshot(state).notes
    bare, *others = [note for note in notes if note.startswith("cohorts ")]
    assert bare.endswith("without quota or parent: one, two")
    assert [note.rpartition(": ")[2] for note in others] == [*unread]


@pytest.mark.parametrize(
    ("parts", "named", "expected"),
    [
        ([], rules("c"), "AdmissionCheckNotFound"),
        ([check("c", status="False")], rules("c"), "AdmissionCheckInactive"),
        (
            [check("m", MULTI), check("n", MULTI)],
            rules("m", "n"),
            "MultipleMultiKueueAdmissionChecks",
        ),
        ([check("m", MULTI)], rules(m=["another"]), "MultiKueueAdmissionCheckAppliedPerFlavor"),
        (
            [check("m", MULTI), check("p", PROVISIONING)],
            rules("m", "p"),
            "MultiKueueWithProvisioningRequest",
        ),
    ],
)
def test_what_is_wrong_with_its_checks(
    parts: list[list[Object]], named: Object, expected: str
) -> None:
    assert codes(*parts, **named) == [expected]


@pytest.mark.parametrize("dumped", [True, False])
def test_a_dump_without_flavors_may_lack_the_kind(*, dumped: bool) -> None:
    """Queues and workloads are what people show of a cluster; of flavors one shows all."""
    whole = dump_of(queue("a", 4))
    for one in whole["items"]:
        if one["kind"] == "ResourceFlavor":
            one["metadata"]["name"] = "another"
    whole["items"] = [one for one in whole["items"] if dumped or one["kind"] != "ResourceFlavor"]
    reason = take_snapshot(read_objects(whole, where="t", now=NOW)).inactive["a"]
    assert 'its flavor "default" does not exist' in reason
    assert ("add resourceflavors to the kinds" in reason) != dumped


def test_the_reasons_stand_in_kueues_order() -> None:
    rows = [{"name": "gpu", "nominalQuota": 1}]
    group = {"coveredResources": ["gpu"], "flavors": [{"name": "gone", "resources": rows}]}
    parts = check("m", MULTI), check("n", MULTI, "False"), check("p", PROVISIONING)
    named = rules("m", "n", "p", "missing")
    assert codes(*parts, stopPolicy="Hold", resourceGroups=[group], **named) == [
        "Stopped",
        "FlavorNotFound",
        "AdmissionCheckNotFound",
        "AdmissionCheckInactive",
        "MultipleMultiKueueAdmissionChecks",
        "MultiKueueWithProvisioningRequest",
    ]
