"""Hand-made clusters and plans, a line each; everything is about GPUs of flavor h200.

``broken`` says which laws a plan breaks. A test of a law asserts that exactly this law is broken
in the forbidden case and none in the permitted one: it fails if the check is dropped, and if it
is too strict.
"""

from collections.abc import Sequence
from typing import Any

from planner.plan import Verdict
from planner.plan.kueue import Plan, Victim
from planner.quota.kueue.assignment import Assignment
from planner.reader.kueue import read_kueue_objects
from planner.state.kueue import State
from planner.verifier.kueue.plan import match_plan, verify_plan
from planner.verifier.kueue_strict import judge_strictly
from tests.cluster import PENDING, preempt

Json = dict[str, Any]

GPU = "nvidia.com/gpu"
NOW = "2026-03-01T12:00:00Z"
OWN = "InClusterQueue"
RECLAIM = "InCohortReclamation"
WHILE_BORROWING = "InCohortReclaimWhileBorrowing"
BY_SHARE = "InCohortFairSharing"
FINAL = "LessThanOrEqualToFinalShare"
INITIAL = "LessThanInitialShare"


def cluster(*objects: Json) -> State:
    """Read objects, with the flavors h200 and l4 and a LocalQueue that leads to queue "mine"."""
    common: list[Json] = [
        {"kind": "ResourceFlavor", "metadata": {"name": "h200"}},
        {"kind": "ResourceFlavor", "metadata": {"name": "l4"}},
        {
            "kind": "LocalQueue",
            "metadata": {"name": "door", "namespace": "team"},
            "spec": {"clusterQueue": "mine"},
        },
    ]
    items = [{"apiVersion": "kueue.x-k8s.io/v1beta2", **item} for item in (*common, *objects)]
    return read_kueue_objects(items, where="cluster", now=NOW)


def quotas(gpus: int, borrowing: int | None = None, lending: int | None = None) -> list[Json]:
    """Give quota of h200, and none of l4."""
    row: Json = {"name": GPU, "nominalQuota": gpus}
    row |= {} if borrowing is None else {"borrowingLimit": borrowing}
    row |= {} if lending is None else {"lendingLimit": lending}
    none: Json = {"name": GPU, "nominalQuota": 0}
    flavors = [{"name": "h200", "resources": [row]}, {"name": "l4", "resources": [none]}]
    return [{"coveredResources": [GPU], "flavors": flavors}]


def queue(
    name: str,
    gpus: int,
    cohort: str = "",
    *,
    borrowing: int | None = None,
    lending: int | None = None,
    **spec: Any,
) -> Json:
    """Make a ClusterQueue; policies are given as fields of its spec."""
    groups = quotas(gpus, borrowing, lending)
    spec = {"cohortName": cohort, "resourceGroups": groups, **spec}
    return {"kind": "ClusterQueue", "metadata": {"name": name}, "spec": spec}


def weight(value: str) -> Json:
    """Give the weight of a ClusterQueue or Cohort, as a field of its spec."""
    return {"fairSharing": {"weight": value}}


def fair_sharing(*strategies: str, within_nominal: bool = True) -> Json:
    """Make a Configuration that turns fair sharing on, with both strategies unless named."""
    return {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "fairSharing": {"preemptionStrategies": list(strategies)},
        "featureGates": {"FairSharingPreemptWithinNominal": within_nominal},
    }


def policies(
    within: str = "Never",
    reclaim: str = "Never",
    borrow: str = "Never",
    threshold: int | None = None,
) -> Json:
    """Give the three preemption policies of a ClusterQueue."""
    limit = {} if threshold is None else {"maxPriorityThreshold": threshold}
    return {
        "withinClusterQueue": within,
        "reclaimWithinCohort": reclaim,
        "borrowWithinCohort": {"policy": borrow, **limit},
    }


def cohort(
    name: str, parent: str = "", gpus: int = 0, lending: int | None = None, **spec: Any
) -> Json:
    """Make a Cohort; further fields of its spec are given by name."""
    spec = {"parentName": parent, "resourceGroups": quotas(gpus, lending=lending), **spec}
    return {"kind": "Cohort", "metadata": {"name": name}, "spec": spec}


def running(  # noqa: PLR0913 - a workload has that many sides
    name: str,
    holder: str,
    gpus: int,
    *,
    priority: int = 0,
    flavor: str = "h200",
    created: str = "2026-03-01T10:00:00Z",
) -> Json:
    """Make a workload ``team/name`` that holds GPUs in a ClusterQueue."""
    usage = {"name": "main", "flavors": {GPU: flavor}, "resourceUsage": {GPU: gpus}, "count": 1}
    reserved = {"type": "QuotaReserved", "status": "True", "lastTransitionTime": created}
    workload = waiting(name, gpus, priority=priority, created=created)
    workload["status"] = {
        "admission": {"clusterQueue": holder, "podSetAssignments": [usage]},
        "conditions": [reserved],
    }
    return workload


def waiting(
    name: str, gpus: int, *, priority: int = 0, created: str = "2026-03-01T11:00:00Z"
) -> Json:
    """Make a workload ``team/name`` that waits for queue "mine"."""
    container = {"name": "main", "resources": {"requests": {GPU: gpus}}}
    template = {"spec": {"containers": [container]}}
    return {
        "kind": "Workload",
        "metadata": {
            "name": name,
            "namespace": "team",
            "uid": f"uid-{name}",
            "creationTimestamp": created,
        },
        "spec": {
            "queueName": "door",
            "priority": priority,
            "podSets": [{"name": "main", "count": 1, "template": template}],
        },
    }


def assigned(mode: str = "Preempt", flavor: str = "h200") -> Assignment:
    """Assign a flavor to the preemptor's GPUs."""
    choice = {"flavor": flavor, "mode": mode}
    pods = {"name": "main", "count": 1, "flavors": {GPU: choice}}
    return Assignment.model_validate({"mode": mode, "podSets": [pods]})


def plan_of(
    state: State,
    *taken: tuple[str, str] | Victim,
    borrowing: bool | None = True,
    assignment: Assignment | None = None,
    **fields: Any,
) -> Plan:
    """Make a plan for ``incoming`` or ``pending``; it takes workloads, given as (name, reason)."""
    preemptor = next((w for w in state.workloads if w.key in {PENDING, "team/incoming"}), None)
    small = preemptor is not None and preemptor.key == PENDING
    made: Json = {
        "algorithm": "optimum",
        "objective": "min-count",
        "status": "feasible",
        "explanation": "",
        "preemptor": PENDING if small else "team/incoming",
        "cluster_queue": "a" if small else "mine",
        "priority": (preemptor.spec.priority or 0) if preemptor else 0,
        "now": state.now,
        "assignment": assignment or (all_assigned(state) if small else assigned()),
        "borrowing": borrowing,
        "victims": tuple(
            item if isinstance(item, Victim) else victim_of(state, *item) for item in taken
        ),
    }
    return Plan(**{**made, **fields})


def all_assigned(state: State, mode: str = "Preempt") -> Assignment:
    """Assign the only flavor to all that the pending workload of a ``tests.cluster`` asks for."""
    flavors = {name: {**one, "mode": mode} for name, one in preempt(state)["main"].items()}
    pods = {"name": "main", "count": 1, "flavors": flavors}
    return Assignment.model_validate({"mode": mode, "podSets": [pods]})


def fair_plan(state: State, *taken: tuple[str, str] | Victim, **fields: Any) -> Plan:
    """Make a plan by the rules of fair sharing."""
    return plan_of(state, *taken, **{"rules": "kueue-fair", **fields})


def victim_of(state: State, name: str, reason: str) -> Victim:
    """Describe a victim as the state does, if it knows it."""
    namespace = state.workloads[0].metadata.namespace if state.workloads else "team"
    key = name if "/" in name else f"{namespace}/{name}"
    workload = next((w for w in state.workloads if w.key == key), None)
    admission = workload.status.admission if workload else None
    return Victim(
        workload=key,
        cluster_queue=admission.cluster_queue if admission else "nowhere",
        reason=reason,
        priority=(workload.spec.priority or 0) if workload else 0,
        position=1,
        age_s=0,
        evicted=workload.is_true("Evicted") if workload else False,
        usage=(),
        costs={},
    )


def verdicts(state: State, plan: Plan) -> dict[str, Verdict]:
    """Return the verdict of every law."""
    return {verdict.law: verdict for verdict in verify_plan(state, plan).verdicts}


def broken(state: State, plan: Plan) -> Sequence[str]:
    """Return the ids of the laws a plan breaks."""
    return [law for law, verdict in verdicts(state, plan).items() if not verdict.holds]


def strictly_broken(state: State, plan: Plan) -> set[str]:
    """Return which laws of precedence a plan breaks that today's laws accept."""
    assert verify_plan(state, plan).accepted
    found = judge_strictly(match_plan(state, plan))
    laws = {verdict.law for verdict in found.verdicts if not verdict.holds}
    assert found.legal is not bool(laws)
    return laws
