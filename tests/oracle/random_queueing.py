"""Random states in which every ClusterQueue may preempt, several workloads wait, and victims too.

The states are those of ``random_states``, with fewer workloads. What holds quota says in its pod
template what it would ask for once it waits again, in a LocalQueue of its own ClusterQueue.
"""

import random
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from tests.oracle.cluster import key_of
from tests.oracle.random_states import PENDING, RandomState, StateDraw
from tests.oracle.random_workloads import Object, as_text


@dataclass(frozen=True)
class QueueingState:
    """A random state, and everything that waits."""

    given: RandomState
    objects: list[Object]
    pending: list[str]


def queueing_state(
    seed: int, waiting: int = 1, most: int = 6, *, classical: bool = False
) -> QueueingState:
    """Return the state of a seed, in which ``most`` workloads hold quota at most.

    Under fair sharing with several that wait, amounts are a few units, as the numbers of shares
    are products of them.
    """
    chance = random.Random(f"queueing/{seed}")  # noqa: S311 - test data
    draw = _Fewer(seed, chance.randint(2, most), few=waiting > 1)
    draw.fair &= not classical
    draw.crowded |= waiting == 1 and chance.random() < 0.7  # it takes several to make room
    given = draw.state()
    objects = [deepcopy(item) for item in given.objects]
    queues = [item["metadata"]["name"] for item in objects if item["kind"] == "ClusterQueue"]
    bold = chance.random() < 0.6  # borrows while it preempts, and gives somebody reason to reclaim
    for item in objects:
        if item["kind"] == "ClusterQueue" and (bold or item["metadata"]["name"] != queues[0]):
            item["spec"]["preemption"] = _preemption(chance, bold=bold)
        if bold and item["kind"] == "Workload" and key_of(item) == PENDING:
            item["spec"]["priority"] = 5
        if item["kind"] == "Workload" and key_of(item) != PENDING:
            _tell_requests(item, chance)
    incoming = next(
        each for each in objects if each["kind"] == "Workload" and key_of(each) == PENDING
    )
    more = [_another(incoming, place, objects, chance) for place in range(1, waiting)]
    (local,) = (item for item in objects if item["kind"] == "LocalQueue")
    doors = [
        {**local, "metadata": {**local["metadata"], "name": queue}, "spec": {"clusterQueue": queue}}
        for queue in queues
    ]
    objects += [*more, *doors]
    _gates(objects, chance)
    return QueueingState(given, objects, [PENDING, *map(key_of, more)])


class _Fewer(StateDraw):
    """A state with this many workloads that hold quota."""

    def __init__(self, seed: int, held: int, *, few: bool) -> None:
        super().__init__(seed)
        self.held = held
        if self.fair and few:
            self.units = dict.fromkeys(self.resources, 1)

    def how_many(self) -> int:
        """Return how many workloads hold quota."""
        return self.held


def _preemption(chance: random.Random, *, bold: bool) -> Object:
    reclaim = chance.choice(("Never", "LowerPriority", "Any", "Any")[bold:])
    found: Object = {
        "withinClusterQueue": chance.choice(
            ("Never", "LowerPriority", "LowerOrNewerEqualPriority", "LowerOrNewerEqualPriority")
        ),
        "reclaimWithinCohort": reclaim,
    }
    if reclaim != "Never" and chance.random() < (0.9 if bold else 0.5):
        borrow: Object = {"policy": "LowerPriority"}
        if chance.random() < 0.3:
            borrow["maxPriorityThreshold"] = chance.randint(-1, 2)
        found["borrowWithinCohort"] = borrow
    return found


def _usage(item: Object) -> dict[str, int]:
    (assigned,) = item["status"]["admission"]["podSetAssignments"]
    return {name: int(text.removesuffix("m")) for name, text in assigned["resourceUsage"].items()}


def _tell_requests(item: Object, chance: random.Random) -> None:
    """Let a workload ask for about what it holds, and wait where it runs."""
    (pod_set,) = item["spec"]["podSets"]
    requests = {
        name: as_text(name, max(0, (amount + chance.choice((0, 0, 1))) // pod_set["count"]))
        for name, amount in _usage(item).items()
    }
    pod_set["template"]["spec"]["containers"][0]["resources"] = {"requests": requests}
    if chance.random() < 0.15:  # is being evicted, and out of reach for most
        item["spec"]["priority"] = 6
        since = {"lastTransitionTime": "2026-03-01T11:40:00Z", "reason": "Preempted"}
        conditions = item["status"]["conditions"]
        conditions[:] = [each for each in conditions if each["type"] != "Evicted"]
        conditions.append({"type": "Evicted", "status": "True", **since})
    if chance.random() < 0.9:
        item["spec"]["queueName"] = item["status"]["admission"]["clusterQueue"]


def _another(like: Object, place: int, objects: list[Object], chance: random.Random) -> Object:
    """Return one more pending workload, in any of the queues."""
    item: Object = deepcopy(like)
    held = [each for each in objects if each["kind"] == "Workload" and key_of(each) != PENDING]
    queues = [each["metadata"]["name"] for each in objects if each["kind"] == "ClusterQueue"]
    item["metadata"] |= {"name": f"incoming-{place}", "uid": f"uid-{chance.randint(0, 99)}-{place}"}
    item["spec"] |= {
        "queueName": chance.choice(queues),
        "priority": chance.choice((1, 2, 3, 5, like["spec"]["priority"])),
    }
    (container,) = item["spec"]["podSets"][0]["template"]["spec"]["containers"]
    requests: dict[str, Any] = container["resources"]["requests"]
    if chance.random() < 0.8:
        usages = [_usage(each) for each in chance.sample(held, chance.randint(1, 2))]
        for name in requests:
            amount = sum(usage.get(name, 0) for usage in usages) + chance.choice((0, 0, 0, 1, -1))
            requests[name] = as_text(name, max(0, amount))
    return item


def _gates(objects: list[Object], chance: random.Random) -> None:
    """Let Kueue sort what was preempted by when it was, in some states."""
    if chance.random() < 0.8:
        return
    configuration: Object | None = next(
        (each for each in objects if each["kind"] == "Configuration"), None
    )
    if configuration is None:
        version = "config.kueue.x-k8s.io/v1beta2"
        configuration = {"apiVersion": version, "kind": "Configuration"}
        objects.append(configuration)
    configuration.setdefault("featureGates", {})["PrioritySortingWithinCohort"] = False
