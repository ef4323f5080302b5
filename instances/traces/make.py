"""Print a small trace of the form of a public one; everything in it is made up.

    cd instances/traces
    python make.py philly > philly.csv
    python make.py openb-pods > openb-pods.csv
    python make.py openb-nodes > openb-nodes.csv

The public traces themselves may not be passed on; docs/how-to/study-traces.md says where they are.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from random import Random
from typing import Final, TypeVar

Thing = TypeVar("Thing", int, str)

CLUSTERS: Final = {"a11ce0": 9, "b0b000": 6, "ca5e10": 4, "dad000": 2, "e7e000": 1}
"""Virtual clusters, and how much each submits."""

SIZES: Final = {1: 70, 2: 8, 4: 10, 8: 9, 16: 2, 12: 1}
MODELS: Final = {"T4": (8, 2, 48, 192), "G2": (5, 8, 96, 384), "P100": (3, 2, 32, 128)}
"""GPU models: nodes, and the GPUs, cores and GiB of each."""

QOS: Final = {"LS": 55, "BE": 40, "Burstable": 4, "Guaranteed": 1}
SHARES: Final = {1000: 70, 470: 15, 810: 15}
JOBS: Final = 500
PODS: Final = 400


def main() -> None:
    """Print the file that is asked for."""
    files = {"philly": philly, "openb-pods": openb_pods, "openb-nodes": openb_nodes}
    sys.stdout.writelines(f"{line}\n" for line in files[sys.argv[1]]())


def philly() -> Iterator[str]:
    """Yield a header and jobs of ten days, in no order."""
    yield "timestamp,duration,num_gpus,gpu_time,cluster"
    random = Random(1)  # noqa: S311 - no secret
    first = datetime(2025, 3, 3, 8)  # noqa: DTZ001 - the trace has no time zone
    for _ in range(JOBS):
        start = first + timedelta(seconds=int(random.random() * 10 * 86400))
        gpus = pick(random, SIZES)
        seconds = float(int(600 * 400 ** random.random()))
        cluster = pick(random, CLUSTERS)
        yield f"{start},{seconds},{gpus},{seconds * gpus},{cluster}"


def openb_pods() -> Iterator[str]:
    """Yield a header and pods of a day, some of which never ran."""
    yield (
        "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
        "deletion_time,scheduled_time"
    )
    random = Random(2)  # noqa: S311 - no secret
    for number in range(PODS):
        gpus = pick(random, {0: 12, 1: 80, 2: 4, 8: 4})
        milli = pick(random, SHARES) if gpus == 1 else 1000 * (gpus > 0)
        cores = pick(random, {4: 1, 8: 2, 12: 1}) * max(1, gpus)
        created = int(random.random() * 86400)
        ended = created + int(120 * 500 ** random.random())
        ran = random.random() < 0.9  # noqa: PLR2004 - one in ten never ran
        phase, scheduled = ("Running", created) if ran else ("Pending", "")
        qos = pick(random, QOS)
        spec = "G2|P100" if gpus and random.random() < 0.05 else ""  # noqa: PLR2004 - some choose
        yield (
            f"pod-{number:04},{1000 * cores},{4096 * cores},{gpus},{milli},{spec},{qos},{phase},"
            f"{created},{ended},{scheduled}"
        )


def openb_nodes() -> Iterator[str]:
    """Yield a header and nodes."""
    yield "sn,cpu_milli,memory_mib,gpu,model"
    number = 0
    for model, (nodes, gpus, cores, memory) in MODELS.items():
        for _ in range(nodes):
            yield f"node-{number:04},{1000 * cores},{1024 * memory},{gpus},{model}"
            number += 1


def pick(random: Random, weights: dict[Thing, int]) -> Thing:
    """Return one of some things, as likely as their weights say."""
    left = random.random() * sum(weights.values())
    for thing, weight in weights.items():
        left -= weight
        if left < 0:
            return thing
    return list(weights)[-1]


if __name__ == "__main__":
    main()
