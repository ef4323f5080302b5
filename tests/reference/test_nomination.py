"""Why a workload is not nominated, or nothing is done for it; and what Kueue says of it.

docs/semantics/kueue-features.md §1, §5 and §7.
"""

from collections.abc import Iterable
from typing import Any

import pytest

import planner
from planner.quota.kueue.preemptor import as_preemptor, find_workload
from planner.quota.kueue.request import in_kueues_order
from planner.quota.kueue.snapshot import take_snapshot
from planner.reference.kueue.cycle.nomination import NotNominated, why_held_back
from planner.reference.kueue.decision import decide
from tests.cluster import KUEUE, Object, configuration, queue, running, state_of
from tests.reference.cycles import (
    condition,
    container,
    names,
    namespace,
    ran,
    story,
    strict,
    waits,
    with_pod,
    with_spec,
)
from tests.told import told

A = queue("a", 4)
ONE = waits("one", "a")
LATER = "2026-05-01T14:00:00Z"


def held(*parts: Iterable[Object], release: str = "main") -> NotNominated | None:
    """Return what holds back the workload ns/one."""
    state = state_of(*parts, release=release)
    snapshot = take_snapshot(state)
    preemptor = as_preemptor(state, snapshot, find_workload(state, "ns/one"))
    return why_held_back(state, snapshot, preemptor, decide(snapshot, preemptor))


def why(*parts: Iterable[Object]) -> str:
    found = held(*parts)
    return found.why if found else ""


def test_a_head_is_nominated() -> None:
    assert held(A, ONE) is None


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (waits("one", "a", conditions=[condition("QuotaReserved", "False", "OnHold")]), "on hold"),
        (waits("one", "a", conditions=[condition("WaitingForReplacementPods")]), "replacement"),
        (waits("one", "a", conditions=[condition("Finished")]), "finished"),
        (with_spec(ONE, active=False), "spec.active"),
    ],
)
def test_who_is_inadmissible_stands_in_no_queue(part: list[Object], text: str) -> None:
    found = held(A, part)
    assert found is not None
    told((found.why, found.message))
    assert text in found.text


def test_older_releases_do_not_know_on_hold() -> None:
    """Kueue v0.17.6 pkg/workload/workload.go ``IsAdmissible``, and v0.17.7."""
    on_hold = waits("one", "a", conditions=[condition("QuotaReserved", "False", "OnHold")])
    assert held(A, on_hold, release="0.17.6") is None
    assert held(A, on_hold, release="0.18.2") is None
    found = [held(A, on_hold, release=release) for release in ("0.17.7", "0.18.3")]
    assert [one and one.why for one in found] == ["notQueued"] * 2


@pytest.mark.parametrize("policy", ["Hold", "HoldAndDrain"])
def test_a_stopped_local_queue_is_none(policy: str) -> None:
    cluster_queue, local = A
    found = held([cluster_queue], with_spec([local], stopPolicy=policy), ONE)
    assert found is not None
    told((found.why, found.message))
    assert policy in found.text


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({"requeueState": {"requeueAt": LATER}}, "backOff"),
        ({"requeueState": {"requeueAt": "2026-05-01T13:00:00Z"}}, ""),  # the clock itself
        ({"conditions": [condition("Requeued", "False", "Deactivated")]}, "backOff"),
    ],
)
def test_a_back_off_holds_until_its_time(status: dict[str, Any], expected: str) -> None:
    assert why(A, waits("one", "a", **status)) == expected


@pytest.mark.parametrize(
    ("more", "templates", "expected"),
    [
        ({}, ["t"], ""),
        ({}, [], "notQueued"),  # the claim is not valid yet
        ({"requeueState": {"requeueAt": LATER}}, ["t"], "backOff"),
    ],
)
def test_once_its_claims_are_valid_a_workload_is_queued(
    more: Object, templates: list[str], expected: str
) -> None:
    """Without claims Requeued=False parks for ever."""
    exactly = {"deviceClassName": "big", "count": 1, "allocationMode": "ExactCount"}
    spec = {"spec": {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}}
    kind = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "spec": spec}
    there = [{**kind, "metadata": {"name": name, "namespace": "ns"}} for name in templates]
    mapping = {"name": "gpus", "deviceClassNames": ["big"]}
    mapped = configuration(resources={"deviceClassMappings": [mapping]})
    requeued = condition("Requeued", "False", "Inadmissible")
    rejected = waits("one", "a", conditions=[requeued], **more)
    claims = [{"name": "c", "resourceClaimTemplateName": "t"}]
    claiming = with_pod(rejected, resourceClaims=claims)
    assert why(queue("a", {"gpu": 4, "gpus": 4}), mapped, there, claiming) == expected
    assert why(queue("a", 4), mapped, there, rejected) == "backOff"


def test_the_first_filter_is_the_reason() -> None:
    backing_off = waits("one", "a", requeueState={"requeueAt": LATER})
    assert why(queue("a", 4, stop="Hold"), backing_off) == "backOff"
    assert why(queue("a", 4, stop="Hold"), ONE, waits("high", "a", priority=1)) == (
        "clusterQueueInactive"
    )
    failed = waits("one", "a", admissionChecks=[{"name": "c", "state": "Retry"}])
    assert why(A, failed) == "inadmissible"


def test_what_would_refuse_it_as_the_head_is_said_of_a_plan_although_it_is_not() -> None:
    """Its turn is no help; Kueue itself looks at it only then."""
    failed = waits("one", "a", admissionChecks=[{"name": "c", "state": "Retry"}])
    plan = planner.solve(state_of(A, failed, waits("high", "a", priority=1)), "ns/one")
    assert plan.held_back is not None
    assert (plan.held_back.why, plan.held_back.head) == ("inadmissible", None)
    assert any("; the plan is what would be if it did" in note for note in plan.notes)


def test_who_is_parked_is_before_nobody() -> None:
    found = held(A, ONE, waits("high", "a", priority=1))
    assert found is not None
    assert (found.why, found.head) == ("notHead", "ns/high")
    parked = waits("high", "a", priority=1, requeueState={"requeueAt": LATER})
    assert held(A, ONE, parked) is None
    assert held(A, with_spec(waits("high", "a", priority=1), active=False), ONE) is None


@pytest.mark.parametrize(
    ("selector", "labels", "nominated"),
    [
        (None, {}, False),
        ({}, {}, True),
        ({"matchLabels": {"team": "a"}}, {"team": "a"}, True),
        ({"matchLabels": {"team": "a"}}, {"team": "b"}, False),
        ({"matchLabels": {"kubernetes.io/metadata.name": "ns"}}, {}, True),
    ],
)
def test_the_selector_matches_the_namespace(
    selector: Object | None, labels: dict[str, str], *, nominated: bool
) -> None:
    found = held(with_spec(A, namespaceSelector=selector), namespace("ns", **labels), ONE)
    message = "workload namespace doesn't match ClusterQueue selector"
    assert (found.message if found else "") == ("" if nominated else message)


def test_without_a_selector_no_namespace_matches() -> None:
    """Whichever the dump has. What was never in a cluster may have been cut short by hand."""
    nowhere = with_spec(A, namespaceSelector=None)
    assert held(nowhere, ONE) is None
    nowhere[0]["status"] = {"conditions": [{"type": "Active", "status": "True"}]}
    found = held(nowhere, ONE)
    assert found is not None
    told(found.message)


def test_a_namespace_must_be_there() -> None:
    found = held(with_spec(A, namespaceSelector={}), namespace("other"), ONE)
    assert found is not None
    told(found.message)


def test_older_releases_say_it_in_other_words() -> None:
    """Kueue v0.18.4 pkg/scheduler/scheduler.go ``nominate``."""
    gone = held(with_spec(A, namespaceSelector={}), namespace("other"), ONE, release="0.18.4")
    assert gone is not None
    told(gone.message)
    other = held(with_spec(A, namespaceSelector=None), namespace("ns"), ONE, release="0.18.4")
    assert other is not None
    told(other.message)


def limit_range(kind: str, **bounds: Object) -> list[Object]:
    item = {"type": kind, **bounds}
    metadata = {"name": "limits", "namespace": "ns"}
    return [
        {"apiVersion": "v1", "kind": "LimitRange", "metadata": metadata, "spec": {"limits": [item]}}
    ]


@pytest.mark.parametrize(
    "pod",
    [
        {"containers": [container({"gpu": 2, "cpu": 2}, {"gpu": 1, "cpu": 1})]},
        {
            "initContainers": [container({"gpu": 2}, {"gpu": 1})],
            "containers": [container({"gpu": 2}, {"gpu": 1})],
        },
    ],
)
def test_requests_keep_to_limits(pod: Object) -> None:
    found = held(A, with_pod(ONE, **pod))
    assert found is not None
    told(found.message)


@pytest.mark.parametrize(
    ("bounds", "requests"),
    [
        (limit_range("Container", max={"gpu": 1}), 2),
        (limit_range("Container", min={"gpu": 3}), 2),
        (limit_range("Pod", max={"gpu": 1}), 2),
        (limit_range("Pod", min={"gpu": 3}), 2),
    ],
)
def test_pods_keep_to_limit_ranges(bounds: list[Object], requests: int) -> None:
    found = held(A, bounds, with_pod(ONE, containers=[container({"gpu": requests})]))
    "above the limitRange max" if "max" in str(bounds) else "below the limitRange min"
    assert found is not None
    told(found.message)


@pytest.mark.parametrize(
    ("bounds", "requests", "limits"),
    [
        ([], "1500m", "1200m"),
        (limit_range("Container", max={"gpu": "1200m"}), "1500m", None),
        (limit_range("Pod", min={"gpu": "1500m"}), "1200m", None),
    ],
)
def test_parts_of_a_unit_count_in_older_releases(
    bounds: list[Object], requests: str, limits: str | None
) -> None:
    """Kueue v0.16.9 pkg/util/resource/resource.go ``GetGreaterKeys`` compares quantities.

    v0.17.0 pkg/resources/requests.go ``GreaterKeys`` compares units: 1500m and 1200m are 2 of both.
    """
    upper = {"gpu": limits} if limits else None
    pod = with_pod(ONE, containers=[container({"gpu": requests}, upper)])
    found = held(A, bounds, pod, release="0.16.9")
    assert found is not None
    assert found.why == "inadmissible"
    assert held(A, bounds, pod, release="0.17.0") is None


@pytest.mark.parametrize("release", ["0.17.6", "0.18.2", "0.17.7", "0.18.3"])
def test_limits_of_whole_pods(release: str) -> None:
    """Kueue v0.17.7 and v0.18.3 pkg/workload/resources.go ``ValidateResources`` look at them."""
    whole = {"resources": {"requests": {"cpu": 2}, "limits": {"cpu": 1}}}
    found = held(A, with_pod(ONE, **whole), release=release)
    assert (found is None) == (release in {"0.17.6", "0.18.2"})


GATED = with_spec(waits("one", "a", 2, 10), preemptionGates=[{"name": "g"}])
FULL = [*queue("a", 4, within="LowerPriority"), *running("low", "a", 4)]


@pytest.mark.parametrize("gate", ["MultiKueueOrchestratedPreemption", "ConcurrentAdmission"])
def test_a_closed_gate_keeps_from_preempting(gate: str) -> None:
    assert why(FULL, GATED) == ""
    on = configuration(featureGates={gate: True})
    assert why(on, FULL, GATED) == "preemptionGated"
    told(story(ran(on, FULL, GATED)))
    assert story(ran(on, queue("a", 4), GATED)) == ["one admitted"]


@pytest.mark.parametrize(("release", "expected"), [("0.18.6", ""), ("0.19.0", "preemptionGated")])
def test_concurrent_admission_closes_gates_from_0_19_on(release: str, expected: str) -> None:
    """Kueue v0.18.6 pkg/scheduler/scheduler.go ``processEntry``, and v0.19.0."""
    found = held(
        configuration(featureGates={"ConcurrentAdmission": True}), FULL, GATED, release=release
    )
    assert (found.why if found else "") == expected


BLOCKS = configuration(waitForPodsReady={"blockAdmission": True})


def test_nobody_is_admitted_while_pods_are_not_ready() -> None:
    starting = running("starting", "b", 1)
    parts = A, queue("b", 4), starting, ONE
    assert why(*parts) == ""
    assert why(BLOCKS, *parts) == "waitsForPodsReady"
    cycle = ran(BLOCKS, *parts)
    assert (story(cycle), cycle.blocked) == (["one waitsForPodsReady"], True)
    (workload,) = starting
    ready = {**workload["status"], "conditions": [*workload["status"]["conditions"]]}
    ready["conditions"].append(condition("PodsReady"))
    assert story(ran(BLOCKS, A, queue("b", 4), [{**workload, "status": ready}], ONE)) == [
        "one admitted"
    ]


@pytest.mark.parametrize("release", ["0.19.0", "main"])
@pytest.mark.parametrize(("on", "expected"), [(True, ""), (False, "waitsForPodsReady")])
def test_a_gate_keeps_admission_from_being_blocked(release: str, on: bool, expected: str) -> None:  # noqa: FBT001 - a gate
    """Kueue v0.19.0 cmd/kueue/main.go ``blockForPodsReady``, pkg/util/waitforpodsready."""
    gated = configuration(
        featureGates={"DisableWaitForPodsReady": on}, waitForPodsReady={"blockAdmission": True}
    )
    found = held(gated, A, queue("b", 4), running("starting", "b", 1), ONE, release=release)
    assert (found.why if found else "") == expected


def test_who_preempts_is_not_kept_from_it() -> None:
    assert why(BLOCKS, FULL, waits("one", "a", 2, 10)) == ""


CONCURRENT = configuration(featureGates={"ConcurrentAdmission": True})
PARENT = {"kueue.x-k8s.io/concurrent-admission-parent": "true"}


def with_metadata(parts: Iterable[Object], **metadata: Any) -> list[Object]:
    return [{**one, "metadata": {**one["metadata"], **metadata}} for one in parts]


def variant(parts: Iterable[Object], parent: str = "p") -> list[Object]:
    version = f"{KUEUE.rpartition('/')[0]}/v1beta2"
    owner = {"apiVersion": version, "kind": "Workload", "name": parent, "uid": parent}
    return with_metadata(parts, ownerReferences=[owner])


def concurrent(*args: Any, **fields: Any) -> list[Object]:
    return with_spec(queue(*args, **fields), concurrentAdmissionPolicy={"migration": {}})


def test_a_parent_stands_in_no_queue_with_the_gate() -> None:
    parent = with_metadata(ONE, labels=PARENT)
    assert why(CONCURRENT, A, parent) == "notQueued"
    assert why(concurrent("a", 4), parent) == ""
    found = held(CONCURRENT, concurrent("a", 4), parent)
    assert found is not None
    assert (found.why, found.message) == ("notQueued", "")
    assert names(ran(CONCURRENT, concurrent("a", 4), parent).left) == {}


def test_what_is_no_variant_becomes_a_parent_where_variants_compete() -> None:
    """Kueue labels it before it is queued; behind it others are heads all the same."""
    behind = variant(waits("behind", "a", minute=5))
    assert why(CONCURRENT, concurrent("a", 4), ONE) == "notQueued"
    assert why(concurrent("a", 4), ONE) == why(CONCURRENT, A, ONE) == ""
    assert story(ran(CONCURRENT, concurrent("a", 4), ONE, behind)) == ["behind admitted"]


def test_a_strict_queue_keeps_its_head() -> None:
    """The head asks for more than there is; without the strategy the next one comes at once."""
    parts = ONE, waits("high", "a", 10, 1)
    assert (why(strict("a", 4), *parts), why(A, *parts)) == ("notHead", "")


def test_resources_are_walked_by_their_hash() -> None:
    """FNV-1a of 64 bits, as published: foobar 85944171f73967e8, a af63dc4c8601ec8c."""
    assert in_kueues_order(["", "a", "foobar"]) == ["foobar", "a", ""]
