"""A week of a thousand workloads on twenty ClusterQueues, the same in every run."""

import random
from datetime import UTC, datetime, timedelta
from typing import Final

from planner.reader.kueue import read_kueue_objects
from planner.state.kueue import State
from tests.cluster import KUEUE, Object, dump_of, fair_sharing, quotas

WEEK_S: Final = 7 * 86_400
START: Final = datetime(2026, 5, 4, tzinfo=UTC)
COHORTS: Final = 4
QUEUES: Final = 20
GPUS: Final = 16
SIZES: Final = (1, 2, 4, 8, 12)
RUN_S: Final = (1_800, 7_200, 43_200, 172_800)


def week(workloads: int = 1000, *, fair: bool = False, load: float = 1.0, seed: int = 1) -> State:
    """Return a cluster to which workloads come all week long, each with its run time.

    ``load`` is how much of its GPUs they would keep busy, about, if nothing was ever evicted.
    """
    draw = random.Random(seed)  # noqa: S311 - a workload, not a secret
    queues = [part for number in range(QUEUES) for part in _queue(number)]
    sizes = [draw.choice(SIZES) for _ in range(workloads)]
    runs = [draw.choice(RUN_S) for _ in range(workloads)]
    work = sum(size * run_s for size, run_s in zip(sizes, runs, strict=True))
    scale = load * QUEUES * GPUS * WEEK_S / work
    coming = [
        _workload(draw, number, size, max(60, int(run_s * scale)))
        for number, (size, run_s) in enumerate(zip(sizes, runs, strict=True))
    ]
    more = fair_sharing() if fair else []
    return read_kueue_objects(
        dump_of(queues, coming, more), where="week", now=START.isoformat().replace("+00:00", "Z")
    )


def _queue(number: int) -> list[Object]:
    name = f"q{number:02d}"
    spec: Object = {
        "cohortName": f"c{number % COHORTS}",
        "namespaceSelector": {},
        "resourceGroups": quotas({"nvidia.com/gpu": GPUS}),
        "queueingStrategy": "StrictFIFO" if number % 5 == 0 else "BestEffortFIFO",
        "preemption": {
            "withinClusterQueue": "LowerPriority",
            "reclaimWithinCohort": "Any" if number % 2 else "LowerPriority",
            "borrowWithinCohort": {"policy": "LowerPriority" if number % 3 else "Never"},
        },
    }
    local = {"clusterQueue": name}
    return [
        {"apiVersion": KUEUE, "kind": "ClusterQueue", "metadata": {"name": name}, "spec": spec},
        {
            "apiVersion": KUEUE,
            "kind": "LocalQueue",
            "metadata": {"name": name, "namespace": "ns"},
            "spec": local,
        },
    ]


def _workload(draw: random.Random, number: int, gpus: int, run_s: int) -> Object:
    created = START + timedelta(seconds=draw.randrange(1, WEEK_S))
    container = {"name": "main", "resources": {"requests": {"nvidia.com/gpu": gpus}}}
    return {
        "apiVersion": KUEUE,
        "kind": "Workload",
        "metadata": {
            "name": f"w{number:04d}",
            "namespace": "ns",
            "uid": f"uid-{number:04d}",
            "creationTimestamp": created.isoformat().replace("+00:00", "Z"),
            "annotations": {"preemption-planner.io/run-seconds": str(run_s)},
        },
        "spec": {
            "queueName": f"q{draw.randrange(QUEUES):02d}",
            "priority": draw.choice((0, 0, 0, 10, 10, 100)),
            "podSets": [
                {"name": "main", "count": 1, "template": {"spec": {"containers": [container]}}}
            ],
        },
    }
