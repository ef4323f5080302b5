"""Small random states: cohort trees up to four levels deep, with all limits, and full of ties.

Numbers are tiny on purpose: with quotas and requests of a few units, usage meets quotas exactly
again and again, which is where a rule and its neighbour differ.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from hypothesis import strategies as st

from planner.quota.kueue.assignment import Assignment
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import Preemptor, Snapshot, take_snapshot
from planner.reader.kueue import read_kueue_objects
from planner.state.kueue import State
from tests.brute_force import BySets, Gone, legal_by_attempt, legal_sets, question_of
from tests.oracle.question import Question

NOW = "2026-03-01T12:00:00Z"
RESOURCES = ("cpu", "nvidia.com/gpu")
PREEMPTOR = "team/incoming"

Pick = Callable[[int, int], int]
"""Choose an integer between two bounds, both included."""

Json = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True)
class Instance:
    """A state with a pending workload and the flavors assigned to it."""

    state: State
    snapshot: Snapshot
    preemptor: Preemptor
    assignment: Assignment

    @cached_property
    def question(self) -> Question:
        """What the enumeration is asked."""
        return question_of(self.snapshot, self.preemptor, self.assignment)

    @property
    def holders(self) -> list[Admitted]:
        """Everybody who holds quota."""
        return [one for held in self.snapshot.admitted.values() for one in held]

    def legal(self, *, fair: bool) -> set[Gone]:
        """Return all legal sets, by enumeration."""
        return legal_sets(self.snapshot, self.preemptor, self.assignment, fair=fair)

    def legal_by_attempt(self) -> BySets:
        """Return all legal sets of each attempt without fair sharing, by enumeration."""
        return legal_by_attempt(self.question)


def make_instance(objects: list[Json], assignment: Assignment) -> Instance:
    """Read objects that hold the pending workload ``team/incoming``."""
    state = read_kueue_objects(objects, where="random", now=NOW)
    snapshot = take_snapshot(state)
    return Instance(state, snapshot, find_preemptor(state, snapshot, PREEMPTOR), assignment)


@st.composite
def instances(draw: st.DrawFn) -> Instance:
    """Instances for hypothesis: smaller numbers are simpler."""
    return random_instance(lambda low, high: draw(st.integers(low, high)))


@st.composite
def fair_instances(draw: st.DrawFn) -> Instance:
    """Instances under fair sharing."""
    return random_instance(lambda low, high: draw(st.integers(low, high)), fair=True)


def random_instance(pick: Pick, workloads: int = 6, *, fair: bool = False) -> Instance:
    """Build an instance from integers; ``workloads`` is how many hold quota at most."""
    resources = RESOURCES[: pick(1, 2)]
    cohorts = _cohorts(pick, resources)
    names = [cohort["metadata"]["name"] for cohort in cohorts]
    queues = [
        _cluster_queue(pick, index, resources, names, preemptor=index == 0)
        for index in range(pick(2, 5))
    ]
    held = [_workload(pick, index, resources, len(queues)) for index in range(pick(1, workloads))]
    incoming = {
        "kind": "Workload",
        "metadata": _metadata("incoming", pick(0, 3)),
        "spec": {
            "queueName": "main",
            "priority": pick(1, 2),
            "podSets": [_pod_set({r: pick(0 if i else 1, 4) for i, r in enumerate(resources)})],
        },
    }
    modes = ["Preempt", *("Fit" if pick(0, 3) == 3 else "Preempt" for _ in resources[1:])]
    chosen = {r: {"flavor": "any", "mode": m} for r, m in zip(resources, modes, strict=True)}
    local = {
        "kind": "LocalQueue",
        "metadata": {"name": "main", "namespace": "team"},
        "spec": {"clusterQueue": "cq-0"},
    }
    flavor = {"kind": "ResourceFlavor", "metadata": {"name": "any"}}
    objects = [flavor, local, *cohorts, *queues, *held, incoming]
    if fair:
        for item in (*cohorts, *queues):
            item["spec"]["fairSharing"] = {"weight": _one_of(pick, "1", "1", "2", "0.3", "0")}
        objects.append(_fair_configuration(pick))
    return make_instance(
        [{"apiVersion": "kueue.x-k8s.io/v1beta2", **item} for item in objects],
        Assignment.model_validate(
            {"mode": "Preempt", "podSets": [{"name": "main", "count": 1, "flavors": chosen}]}
        ),
    )


def random_waiting(
    pick: Pick, waiting: int, workloads: int = 5, *, fair: bool = False, flavors: int = 1
) -> list[Json]:
    """Build objects with several pending workloads ``team/incoming-N``, each in any queue.

    With two flavors, those of a queue come in either order.
    """
    resources = RESOURCES[: pick(1, 2)]
    names = ("any", "other")[:flavors]
    cohorts = _cohorts(pick, resources)[: pick(0, 3)]
    known = [cohort["metadata"]["name"] for cohort in cohorts]
    queues = [
        _cluster_queue(pick, index, resources, known, preemptor=True) for index in range(pick(2, 3))
    ]
    held = [_workload(pick, index, resources, len(queues)) for index in range(pick(2, workloads))]
    incoming = [
        {
            "kind": "Workload",
            "metadata": _metadata(f"incoming-{index}", pick(0, 3)),
            "spec": {
                "queueName": f"local-{pick(0, len(queues) - 1)}",
                "priority": pick(1, 2),
                "podSets": [_pod_set({r: pick(0 if i else 1, 3) for i, r in enumerate(resources)})],
            },
        }
        for index in range(waiting)
    ]
    local = [
        {
            "kind": "LocalQueue",
            "metadata": {"name": f"local-{index}", "namespace": "team"},
            "spec": {"clusterQueue": f"cq-{index}"},
        }
        for index in range(len(queues))
    ]
    for each in (*cohorts, *queues) if flavors > 1 else ():
        for group in each["spec"].get("resourceGroups", ()):
            more = _quotas(pick, resources, limits="cohortName" in each["spec"])[0]["flavors"][0]
            group["flavors"].insert(pick(0, 1), {**more, "name": names[1]})
    for each in held if flavors > 1 else ():
        for admitted in each["status"]["admission"]["podSetAssignments"]:
            admitted["flavors"] = dict.fromkeys(admitted["flavors"], names[pick(0, 1)])
    kinds = [{"kind": "ResourceFlavor", "metadata": {"name": name}} for name in names]
    objects = [*kinds, *local, *cohorts, *queues, *held, *incoming]
    if fair:
        for item in (*cohorts, *queues):
            item["spec"]["fairSharing"] = {"weight": _one_of(pick, "1", "1", "2", "0.3", "0")}
        objects.append(_fair_configuration(pick))
    return [{"apiVersion": "kueue.x-k8s.io/v1beta2", **item} for item in objects]


def _one_of(pick: Pick, *options: T) -> T:
    return options[pick(0, len(options) - 1)]


def _fair_configuration(pick: Pick) -> Json:
    final, initial = "LessThanOrEqualToFinalShare", "LessThanInitialShare"
    return {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "fairSharing": {
            "preemptionStrategies": _one_of(pick, [], [final], [initial], [final, initial])
        },
        "featureGates": {"FairSharingPreemptWithinNominal": pick(0, 2) == 0},
    }


def _metadata(name: str, minute: int) -> Json:
    return {
        "name": name,
        "namespace": "team",
        "uid": f"uid-{name}",
        "creationTimestamp": f"2026-03-01T10:0{minute}:00Z",
    }


def _quantity(resource: str, amount: int) -> str:
    return f"{amount}m" if resource == "cpu" else str(amount)


def _quotas(pick: Pick, resources: tuple[str, ...], *, limits: bool) -> list[Json]:
    rows = []
    for resource in resources:
        row = {"name": resource, "nominalQuota": _quantity(resource, pick(0, 3))}
        for name in ("borrowingLimit", "lendingLimit") if limits else ():
            limit = pick(-3, 3)
            if limit >= 0:
                row[name] = _quantity(resource, limit)
        rows.append(row)
    flavor = {"name": "any", "resources": rows}
    return [{"coveredResources": list(resources), "flavors": [flavor]}]


def _cohorts(pick: Pick, resources: tuple[str, ...]) -> list[Json]:
    depths: list[int] = []
    cohorts: list[Json] = []
    for index in range(pick(0, 6)):
        parent = pick(-1, index - 1) if pick(0, 7) == 0 else (pick(0, index - 1) if index else -1)
        if parent >= 0 and depths[parent] >= 3:
            parent = 0
        depths.append(depths[parent] + 1 if parent >= 0 else 0)
        spec: Json = {"parentName": f"cohort-{parent}"} if parent >= 0 else {}
        if pick(0, 1):
            spec["resourceGroups"] = _quotas(pick, resources, limits=parent >= 0)
        cohorts.append({"kind": "Cohort", "metadata": {"name": f"cohort-{index}"}, "spec": spec})
    return cohorts


def _cluster_queue(
    pick: Pick, index: int, resources: tuple[str, ...], cohorts: list[str], *, preemptor: bool
) -> Json:
    spec: Json = {}
    if cohorts and pick(0, 9):
        spec["cohortName"] = _one_of(pick, *cohorts)
    spec["resourceGroups"] = _quotas(pick, resources, limits="cohortName" in spec)
    if preemptor:
        borrow: Json = {"policy": _one_of(pick, "Never", "LowerPriority")}
        if borrow["policy"] != "Never" and pick(0, 1):
            borrow["maxPriorityThreshold"] = pick(-1, 1)
        spec["preemption"] = {
            "withinClusterQueue": _one_of(
                pick, "Never", "LowerPriority", "LowerOrNewerEqualPriority"
            ),
            "reclaimWithinCohort": _one_of(pick, "Any", "LowerPriority", "Any", "Never"),
            "borrowWithinCohort": borrow,
        }
    elif pick(0, 9) == 9:
        spec["stopPolicy"] = "Hold"
    return {"kind": "ClusterQueue", "metadata": {"name": f"cq-{index}"}, "spec": spec}


def _pod_set(requests: dict[str, int]) -> Json:
    texts = {resource: _quantity(resource, amount) for resource, amount in requests.items()}
    container = {"name": "main", "resources": {"requests": texts}}
    return {"name": "main", "count": 1, "template": {"spec": {"containers": [container]}}}


def _workload(pick: Pick, index: int, resources: tuple[str, ...], queues: int) -> Json:
    named = [r for i, r in enumerate(resources) if i == 0 or pick(0, 3)]
    usage = {resource: pick(0, 3) for resource in named}
    reserved = {
        "type": "QuotaReserved",
        "status": "True",
        "lastTransitionTime": f"2026-03-01T11:0{pick(0, 3)}:00Z",
    }
    evicted = {"type": "Evicted", "status": "True", "reason": "Preempted"}
    admission = {
        "clusterQueue": f"cq-{pick(0, queues - 1)}",
        "podSetAssignments": [
            {
                "name": "main",
                "count": 1,
                "flavors": dict.fromkeys(named, "any"),
                "resourceUsage": {r: _quantity(r, amount) for r, amount in usage.items()},
            }
        ],
    }
    return {
        "kind": "Workload",
        "metadata": _metadata(f"job-{index}", pick(0, 3)),
        "spec": {"queueName": "main", "priority": pick(0, 2), "podSets": [_pod_set(usage)]},
        "status": {
            "admission": admission,
            "conditions": [reserved, evicted] if pick(0, 9) == 9 else [reserved],
        },
    }
