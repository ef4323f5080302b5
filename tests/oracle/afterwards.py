"""The objects of a state once some workloads have gone and a pending one is admitted."""

from collections.abc import Mapping, Sequence

from tests.oracle.assignment import only_flavors
from tests.oracle.cluster import Json, key_of
from tests.oracle.question import Question
from tests.oracle.random_states import NOW
from tests.oracle.random_workloads import as_text

HELD, EVICTION = ("QuotaReserved", "Admitted"), ("Evicted", "Preempted")


def admitted(objects: Sequence[Json], pending: str, question: Question) -> list[Json]:
    """Return objects in which a pending workload holds what it asks for."""
    return [
        {**item, "status": _admission(item, question)} if _is(item, pending) else item
        for item in objects
    ]


def without(objects: Sequence[Json], gone: frozenset[str]) -> list[Json]:
    """Return objects without some workloads."""
    return [item for item in objects if item["kind"] != "Workload" or key_of(item) not in gone]


def requeued(objects: Sequence[Json], gone: Mapping[str, str]) -> list[Json]:
    """Return objects in which some workloads wait again; ``gone`` says the reason of each."""
    return [
        {**item, "status": _waiting(item, gone[key_of(item)])}
        if item["kind"] == "Workload" and key_of(item) in gone
        else item
        for item in objects
    ]


def _is(item: Json, key: str) -> bool:
    return bool(item["kind"] == "Workload") and key_of(item) == key


def _admission(item: Json, question: Question) -> Json:
    (pod_set,) = item["spec"]["podSets"]
    (container,) = pod_set["template"]["spec"]["containers"]
    only = only_flavors(question.cluster)
    flavors = {name: only[name]["flavor"] for name in container["resources"]["requests"]}
    usage = {
        resource: as_text(resource, question.request.get((flavor, resource), 0))
        for resource, flavor in flavors.items()
    }
    assigned = {"name": pod_set["name"], "count": pod_set.get("count", 1)}
    return {
        "admission": {
            "clusterQueue": question.queue[1],
            "podSetAssignments": [{**assigned, "flavors": flavors, "resourceUsage": usage}],
        },
        "conditions": [_condition(kind, "True", kind) for kind in HELD],
    }


def _waiting(item: Json, reason: str) -> Json:
    kept = [each for each in item["status"]["conditions"] if each["type"] not in HELD]
    reasons = dict(zip(EVICTION, ("Preempted", reason), strict=True))
    if not any(each["type"] == "Evicted" and each["status"] == "True" for each in kept):
        kept = [each for each in kept if each["type"] not in EVICTION]
        kept += [_condition(kind, "True", why) for kind, why in reasons.items()]
    status = {key: value for key, value in item["status"].items() if key != "admission"}
    return {**status, "conditions": [*kept, *(_condition(k, "False", "Pending") for k in HELD)]}


def _condition(kind: str, status: str, reason: str) -> Json:
    return {"type": kind, "status": status, "reason": reason, "lastTransitionTime": NOW}
