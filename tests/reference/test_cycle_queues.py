"""Scheduling cycles: who is a head, who is turned down, and where everybody waits afterwards.

docs/semantics/kueue.md §7.1, §7.2 and §7.5.
"""

from typing import Any

import pytest

from tests.cluster import Object, cohort, configuration, queue, running
from tests.reference.cycles import (
    condition,
    container,
    flavors,
    names,
    namespace,
    ran,
    several_flavors,
    story,
    strict,
    waits,
    with_pod,
    with_spec,
)

A = queue("a", 4)
ONE = waits("one", "a")


def test_head_has_the_highest_priority() -> None:
    cycle = ran(A, waits("old", "a", minute=1), waits("high", "a", priority=1, minute=2))
    assert story(cycle) == ["high admitted"]
    assert names(cycle.left) == {"a": ["old"]}


def test_then_the_earliest_is_the_head_then_the_smallest_uid() -> None:
    parts = [waits(name, "a", minute=minute) for name, minute in (("z", 1), ("b", 2), ("a", 2))]
    cycle = ran(A, *parts)
    assert story(cycle) == ["z admitted"]
    assert names(cycle.left) == {"a": ["a", "b"]}


def test_only_one_head_of_a_queue_is_looked_at() -> None:
    cycle = ran(A, ONE, waits("two", "a", minute=1))
    assert story(cycle) == ["one admitted"]
    assert not cycle.parked


@pytest.mark.parametrize(
    "part",
    [
        with_spec(ONE, active=False),
        waits("one", "a", conditions=[condition("Finished")]),
        waits("one", "a", conditions=[condition("QuotaReserved")]),
        waits("one", "a", conditions=[condition("QuotaReserved", "False", "OnHold")]),
        waits("one", "a", conditions=[condition("WaitingForReplacementPods")]),
        waits("one", "nowhere"),
    ],
)
def test_who_is_in_no_queue(part: list[Object]) -> None:
    cycle = ran(A, part)
    assert (cycle.entries, cycle.left, cycle.parked) == ((), {}, {})


def test_a_stopped_local_queue_lets_nobody_in() -> None:
    cluster_queue, local = A
    cycle = ran([cluster_queue], with_spec([local], stopPolicy="Hold"), ONE)
    assert (cycle.entries, cycle.left) == ((), {})


@pytest.mark.parametrize("conditions", [[condition("QuotaReserved", "False", "Pending")], []])
def test_what_keeps_nobody_out(conditions: list[Object]) -> None:
    assert story(ran(A, waits("one", "a", conditions=conditions))) == ["one admitted"]


@pytest.mark.parametrize(
    ("value", "gate", "is_queued"),
    [("who", True, False), ("", True, True), ("who", False, True)],
)
def test_a_gated_workload_is_in_no_queue(value: str, gate: bool, is_queued: bool) -> None:  # noqa: FBT001
    (workload,) = waits("one", "a")
    workload["metadata"]["annotations"] = {"kueue.x-k8s.io/admission-gated-by": value}
    cycle = ran(configuration(featureGates={"AdmissionGatedBy": gate}), A, [workload])
    assert story(cycle) == (["one admitted"] if is_queued else [])
    assert not cycle.left


@pytest.mark.parametrize(
    ("status", "is_head"),
    [
        ({"requeueState": {"requeueAt": "2026-05-01T13:00:00Z"}}, True),
        ({"requeueState": {"requeueAt": "2026-05-01T13:00:01Z"}}, False),
        ({"requeueState": {"count": 1}}, True),
        ({"conditions": [condition("Requeued", "False", "Backoff")]}, False),
        ({"conditions": [condition("Requeued")]}, True),
    ],
)
def test_a_back_off_parks(status: dict[str, Any], is_head: bool) -> None:  # noqa: FBT001
    cycle = ran(A, waits("one", "a", priority=5, **status), waits("two", "a"))
    assert story(cycle) == [f"{'one' if is_head else 'two'} admitted"]
    assert names(cycle.parked) == ({} if is_head else {"a": ["one"]})


def test_an_inactive_queue_has_no_head_and_keeps_its_workloads() -> None:
    cycle = ran(queue("a", 4, stop="Hold"), ONE)
    assert (cycle.entries, cycle.inadmissible) == ((), ())
    assert names(cycle.left) == {"a": ["one"]}


def refused(*parts: list[Object]) -> tuple[str, str]:
    """Return the reasons for which the only head is turned down."""
    cycle = ran(*parts)
    (entry,) = cycle.inadmissible
    assert (cycle.entries, entry.outcome, entry.assignment, entry.targets) == (
        (),
        "inadmissible",
        None,
        (),
    )
    assert (names(cycle.left) | names(cycle.parked)) == {"a": ["one"]}
    return entry.requeue_reason, entry.quota_reserved_reason


@pytest.mark.parametrize("state", ["Retry", "Rejected"])
def test_failed_checks_are_turned_down(state: str) -> None:
    one = waits("one", "a", admissionChecks=[{"name": "c", "state": state}])
    assert refused(A, one) == ("", "PendingEvaluation")


@pytest.mark.parametrize("state", ["Pending", "Ready"])
def test_other_checks_are_not(state: str) -> None:
    one = waits("one", "a", admissionChecks=[{"name": "c", "state": state}])
    assert story(ran(A, one)) == ["one admitted"]


def row(operator: str, *values: str) -> dict[str, Any]:
    """Return a label selector of one row about the label ``dep``."""
    return {"matchExpressions": [{"key": "dep", "operator": operator, "values": list(values)}]}


@pytest.mark.parametrize(
    ("selector", "labels", "matches"),
    [
        ({}, {}, True),
        (None, {}, False),
        ({"matchLabels": {"dep": "x"}}, {"dep": "x"}, True),
        ({"matchLabels": {"dep": "x"}}, {"dep": "y"}, False),
        ({"matchLabels": {"dep": "x", "more": ""}}, {"dep": "x"}, False),
        (row("In", "x", "y"), {"dep": "y"}, True),
        (row("In", "x"), {"dep": "y"}, False),
        (row("In", "x"), {}, False),
        (row("NotIn", "x"), {"dep": "y"}, True),
        (row("NotIn", "x"), {"dep": "x"}, False),
        (row("NotIn", "x"), {}, True),
        (row("Exists"), {"dep": "x"}, True),
        (row("Exists"), {}, False),
        (row("DoesNotExist"), {}, True),
        (row("DoesNotExist"), {"dep": "x"}, False),
    ],
)
def test_namespaces_have_to_match(
    selector: dict[str, Any] | None,
    labels: dict[str, str],
    matches: bool,  # noqa: FBT001
) -> None:
    parts = with_spec(A, namespaceSelector=selector), ONE, namespace("ns", **labels)
    if matches:
        assert story(ran(*parts)) == ["one admitted"]
    else:
        assert refused(*parts) == ("NamespaceMismatch", "Misconfigured")


def test_a_namespace_that_is_not_there() -> None:
    assert refused(with_spec(A, namespaceSelector={}), ONE, namespace("other")) == (
        "",
        "Misconfigured",
    )


def test_a_dump_without_namespaces_says_nothing_of_them() -> None:
    assert story(ran(with_spec(A, namespaceSelector=row("In", "x")), ONE)) == ["one admitted"]


def limit_range(kind: str, namespace: str = "ns", **bounds: dict[str, str]) -> list[Object]:
    """Return a LimitRange of one item."""
    metadata = {"name": f"{kind}-{namespace}-{'-'.join(bounds)}".lower(), "namespace": namespace}
    spec = {"limits": [{"type": kind, **bounds}]}
    return [{"apiVersion": "v1", "kind": "LimitRange", "metadata": metadata, "spec": spec}]


CPU = queue("a", {"cpu": 4})


@pytest.mark.parametrize(
    ("requests", "limits", "valid"),
    [
        ({"cpu": "2"}, {"cpu": "2"}, True),
        ({"cpu": "2"}, {"cpu": "1999m"}, False),
        ({"cpu": "1900u"}, {"cpu": "1500u"}, True),  # both are 2 milli
        ({"cpu": "2"}, {}, True),
    ],
)
def test_requests_above_limits(
    requests: dict[str, str],
    limits: dict[str, str],
    valid: bool,  # noqa: FBT001
) -> None:
    for field in ("containers", "initContainers"):
        one = with_pod(ONE, **{"containers": [], field: [container(requests, limits)]})
        if valid:
            assert story(ran(CPU, one)) == ["one admitted"]
        else:
            assert refused(CPU, one) == ("", "Misconfigured")


@pytest.mark.parametrize(
    ("bounds", "valid"),
    [
        (limit_range("Container", max={"cpu": "2"}), True),
        (limit_range("Container", max={"cpu": "1"}), False),
        (limit_range("Container", max={"memory": "1"}), True),
        (limit_range("Container", "other", max={"cpu": "1"}), True),
        (limit_range("Container", min={"cpu": "2"}), True),
        (limit_range("Container", min={"cpu": "3"}), False),
        (limit_range("Pod", max={"cpu": "3"}), False),
        (limit_range("Pod", max={"cpu": "4"}), True),
        (limit_range("Pod", min={"cpu": "5"}), False),
        (limit_range("Pod", min={"cpu": "4"}), True),
        (limit_range("Container", default={"cpu": "1"}), False),
        (limit_range("PersistentVolumeClaim", max={"cpu": "1"}), True),
        (
            limit_range("Container", max={"cpu": "3"})
            + limit_range("Container", max={"cpu": "1"}, min={"cpu": "1"}),
            False,
        ),
        (
            limit_range("Container", min={"cpu": "3"})
            + limit_range("Container", min={"cpu": "1"}, max={"cpu": "4"}),
            False,
        ),
    ],
)
def test_limit_ranges(bounds: list[Object], valid: bool) -> None:  # noqa: FBT001
    """Two containers of 2 CPUs; a default limit of 1 is below what they ask for."""
    one = with_pod(ONE, containers=[container({"cpu": "2"})] * 2)
    if valid:
        assert story(ran(CPU, one, bounds)) == ["one admitted"]
    else:
        assert refused(CPU, one, bounds) == ("", "Misconfigured")


def test_requests_of_the_whole_pod_above_its_limits() -> None:
    one = with_pod(ONE, resources={"requests": {"cpu": "2"}, "limits": {"cpu": "1"}})
    assert refused(CPU, one) == ("", "Misconfigured")


def test_a_limit_above_the_maximum_is_turned_down() -> None:
    one = with_pod(ONE, containers=[container({"cpu": "1"}, {"cpu": "3"})])
    bounds = limit_range("Container", max={"cpu": "2"})
    assert refused(CPU, one, bounds) == ("", "Misconfigured")


MISMATCH = [*namespace("ns")]
UNFIT = waits("one", "a", 9)


@pytest.mark.parametrize("make", [strict, queue])
def test_where_the_inadmissible_go(make: Any) -> None:
    """A StrictFIFO queue keeps every head but one of a wrong namespace."""
    is_strict = make is strict
    rejected = waits("one", "a", admissionChecks=[{"name": "c", "state": "Rejected"}])
    cycle = ran(make("a", 4), rejected)
    assert bool(cycle.left) is is_strict
    assert bool(cycle.parked) is not is_strict
    cycle = ran(with_spec(make("a", 4), namespaceSelector=row("In", "x")), ONE, MISMATCH)
    assert not cycle.left
    assert names(cycle.parked) == {"a": ["one"]}


def test_a_strict_queue_keeps_a_head_that_does_not_fit() -> None:
    cycle = ran(strict("a", 4), UNFIT, waits("two", "a", 9, minute=1))
    assert story(cycle) == ["one noFit"]
    assert names(cycle.left) == {"a": ["one", "two"]}
    assert not cycle.parked


def test_a_best_effort_queue_parks_a_head_that_does_not_fit() -> None:
    cycle = ran(queue("a", 4), UNFIT, waits("two", "a", minute=1))
    assert story(cycle) == ["one noFit"]
    assert names(cycle.left) == {"a": ["two"]}
    assert names(cycle.parked) == {"a": ["one"]}


def test_a_head_without_candidates_is_parked() -> None:
    cycle = ran(queue("a", 4), running("r", "a", 4), waits("one", "a"))
    assert story(cycle) == ["one noCandidates"]
    assert names(cycle.parked) == {"a": ["one"]}


def test_who_preempts_goes_back_to_the_front() -> None:
    parts = queue("a", 4, within="LowerPriority"), running("r", "a", 4)
    cycle = ran(*parts, waits("one", "a", 1, 2), waits("two", "a", 1, 1))
    assert story(cycle) == ["one preempting r"]
    assert names(cycle.left) == {"a": ["one", "two"]}


@pytest.mark.parametrize(
    ("release", "parked"),
    [
        ("0.15.6", ["noFit"]),
        ("0.16.3", ["noFit"]),
        ("0.17.8", ["noFit", "noCandidates", "inadmissible"]),
        ("0.18.0", ["noFit", "noCandidates"]),
    ],
)
def test_when_those_alike_are_parked_too(release: str, parked: list[str]) -> None:
    """Kueue v0.15.6 pkg/scheduler/scheduler.go ``schedule``: where the mode is NoFit.

    v0.17.8 and v0.18.0 pkg/cache/queue/cluster_queue.go ``requeueIfNotPresent``: whoever does not
    go back at once; or for either of two reasons.
    """
    gate = configuration(featureGates={"SchedulingEquivalenceHashing": True})
    full = *queue("a", 4), *running("r", "a", 4)
    refused = [{"name": "c", "state": "Retry"}]
    heads = {
        "noFit": (queue("a", 4), waits("one", "a", 9)),
        "noCandidates": (full, waits("one", "a")),
        "inadmissible": (queue("a", 4), waits("one", "a", admissionChecks=refused)),
    }
    found = []
    for outcome, (there, head) in heads.items():
        other = waits("two", "a", 9 if outcome == "noFit" else 1, minute=1)
        cycle = ran(gate, there, head, other, release=release)
        assert [one.outcome for one in (*cycle.entries, *cycle.inadmissible)] == [outcome]
        found += [outcome] if names(cycle.parked) == {"a": ["one", "two"]} else []
    assert found == parked


def alike(head: list[Object], other: list[Object], **gates: bool) -> bool:
    """Say whether a workload is parked along with a head of the same queue that does not fit."""
    cycle = ran(configuration(featureGates=gates), queue("a", 4), head, other)
    assert story(cycle) == ["one noFit"]
    parked = names(cycle.parked)["a"]
    assert parked[0] == "one"
    return parked == ["one", "two"]


TWIN = waits("two", "a", 9, minute=1)


def test_workloads_that_cannot_be_told_apart_are_parked_together() -> None:
    assert alike(UNFIT, TWIN)
    assert alike(UNFIT, TWIN, PriorityBoost=True)
    assert not alike(UNFIT, TWIN, SchedulingEquivalenceHashing=False)


@pytest.mark.parametrize(
    "pod",
    [
        {"nodeSelector": {"k": "v"}},
        {"tolerations": [{"key": "k", "operator": "Exists"}]},
        {"runtimeClassName": "gvisor"},
        {"overhead": {"gpu": "0"}},
        {"resources": {"requests": {"gpu": "1"}}},
        {"containers": [container({"gpu": "8"})]},
        {"containers": [container({"gpu": "8"}), container({"gpu": "1"})]},
        {"initContainers": [container({"gpu": "9"})]},
        {
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {"matchExpressions": [{"key": "k", "operator": "Exists"}]}
                        ]
                    }
                }
            }
        },
    ],
)
def test_another_pod_is_not_parked(pod: dict[str, Any]) -> None:
    """Most of them ask for 9 GPUs as well."""
    assert not alike(UNFIT, with_pod(TWIN, **pod))


@pytest.mark.parametrize("release", ["0.18.2", "0.18.3"])
def test_older_releases_do_not_look_at_whole_pods(release: str) -> None:
    """Kueue v0.18.2 pkg/util/pod/pod.go ``SpecShape`` leaves them out, v0.18.3 has them.

    Here they change no amount: requests of GPUs count container by container.
    """
    whole = with_pod(TWIN, resources={"requests": {"gpu": "1"}})
    cycle = ran(queue("a", 4), UNFIT, whole, release=release)
    assert names(cycle.parked) == {"a": ["one", "two"] if release == "0.18.2" else ["one"]}


def test_a_sidecar_is_not_an_init_container() -> None:
    """Kueue leaves the restart policy out of the shape, but what all pods ask for differs."""
    helper = container({"gpu": "1"})
    assert alike(with_pod(UNFIT, initContainers=[helper]), with_pod(TWIN, initContainers=[helper]))
    sidecar = {**helper, "restartPolicy": "Always"}
    assert not alike(
        with_pod(UNFIT, initContainers=[helper]), with_pod(TWIN, initContainers=[sidecar])
    )


def test_names_of_containers_do_not_tell_workloads_apart() -> None:
    renamed = [{"name": "other", "resources": {"requests": {"gpu": "9"}}}]
    assert alike(UNFIT, with_pod(TWIN, containers=renamed))


def test_a_limit_counts_as_the_request_that_is_missing() -> None:
    limited = [{"name": "main", "resources": {"limits": {"gpu": "9"}}}]
    assert alike(UNFIT, with_pod(TWIN, containers=limited))


def test_other_counts_names_and_priorities_are_not_parked() -> None:
    (two,) = TWIN
    (pods,) = two["spec"]["podSets"]
    for change in ({"count": 2}, {"minCount": 1}, {"name": "other"}):
        assert not alike(UNFIT, with_spec(TWIN, podSets=[{**pods, **change}]))
    assert not alike(UNFIT, with_spec(TWIN, priority=-1))
    grouped = {**pods, "topologyRequest": {"podSetGroupName": "g"}}
    assert not alike(UNFIT, with_spec(TWIN, podSets=[grouped]))
    free = {"name": "free", "template": {"spec": {"containers": []}}}
    head = with_spec(UNFIT, podSets=[pods, {**free, "count": 1}])
    assert alike(head, with_spec(TWIN, podSets=[pods, {**free, "count": 1}]))
    assert not alike(head, with_spec(TWIN, podSets=[pods, {**free, "count": 2}]))
    reclaimed = {**two, "status": {"reclaimablePods": [{"name": "main", "count": 1}]}}
    assert not alike(UNFIT, [reclaimed])


def test_a_strict_queue_parks_none_of_them() -> None:
    cycle = ran(strict("a", 4), UNFIT, TWIN)
    assert not cycle.parked


def test_none_is_parked_along_with_a_head_that_was_turned_down() -> None:
    rejected = waits("one", "a", admissionChecks=[{"name": "c", "state": "Rejected"}])
    cycle = ran(A, rejected, waits("two", "a", minute=1))
    assert names(cycle.left) == {"a": ["two"]}
    assert names(cycle.parked) == {"a": ["one"]}


def test_a_skipped_head_goes_back_to_the_front() -> None:
    """The head of b finds the room of the cohort taken; its twin stays as well."""
    parts = [queue("a", 0, "all"), queue("b", 0, "all"), cohort("all", nominal=1)]
    heads = [waits("one", "a"), waits("two", "b", minute=1), waits("twin", "b", minute=2)]
    cycle = ran(*parts, *heads)
    assert story(cycle) == ["one admitted", "two skipped"]
    assert names(cycle.left) == {"b": ["two", "twin"]}


@pytest.mark.parametrize(
    ("stops", "quotas", "goes_back"),
    [
        ("MayStopSearch", {"x": 1, "y": 0}, True),
        ("TryNextFlavor", {"x": 1, "y": 0}, False),
        ("MayStopSearch", {"x": 1}, False),
    ],
)
def test_an_untried_flavor_brings_a_head_back(
    stops: str,
    quotas: dict[str, Any],
    goes_back: bool,  # noqa: FBT001
) -> None:
    """GPUs of flavor x could be preempted: the walk may stop there, or see y as well.

    The workload also asks for CPUs, in a group of one flavor, where nobody may be preempted.
    """
    groups = several_flavors(**quotas)["resourceGroups"]
    groups += several_flavors("cpu", x=1)["resourceGroups"]
    a = with_spec(
        queue("a", 0, within="LowerPriority"),
        resourceGroups=groups,
        flavorFungibility={"whenCanPreempt": stops},
    )
    held = [hold("low", {"gpu": 1}, -1), hold("high", {"cpu": 1}, 9)]
    cycle = ran(flavors("x", "y"), a, *held, waits("one", "a", {"gpu": 1, "cpu": 1}))
    assert story(cycle) == ["one noCandidates"]
    assert names(cycle.left if goes_back else cycle.parked) == {"a": ["one"]}


def hold(name: str, amount: dict[str, int], priority: int) -> list[Object]:
    """Return a workload that holds an amount of flavor x in queue a."""
    (workload,) = running(name, "a", amount, priority)
    (assignment,) = workload["status"]["admission"]["podSetAssignments"]
    assignment["flavors"] = dict.fromkeys(amount, "x")
    return [workload]


def test_without_fungibility_every_flavor_counts_as_untried() -> None:
    """The gate off: Kueue does not note how far it came, and takes that for the first of many."""
    gates = {"FlavorFungibility": False}
    parts = queue("a", 4), running("r", "a", 4), waits("one", "a")
    cycle = ran(configuration(featureGates=gates), *parts)
    assert story(cycle) == ["one noCandidates"]
    assert names(cycle.left) == {"a": ["one"]}
