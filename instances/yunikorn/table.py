"""The facts of the YuniKorn examples: clusters, nodes, PriorityClasses, and who runs where.

Queues stand in queues.yaml of each folder; make.py makes the state dumps.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

NOW: Final = datetime(2026, 11, 12, 9, 42, 10, tzinfo=UTC)


@dataclass(frozen=True)
class PriorityClass:
    """A PriorityClass; ``allow_preemption`` is what its annotation says."""

    value: int
    allow_preemption: bool = True


@dataclass(frozen=True)
class Run:
    """Pods of one size of one application, oldest first.

    ``on`` names the node of each pod, ``node*3`` for three on one node; ``age`` is that of the
    oldest in seconds, each next one is ``step`` seconds younger. ``waiting`` pods have no node;
    the oldest of them waits for ``since`` seconds. The first pod of an application is its
    originator. ``daemon`` pods must run on their node.
    """

    app: str
    queue: str
    size: tuple[int, int]  # milli-cores, MiB
    on: str = ""
    age: int = 0
    step: int = 1
    waiting: int = 0
    since: int = 0
    pod: str = ""
    priority: str = ""
    daemon: bool = False

    @property
    def nodes(self) -> list[str]:
        """Return the node of each running pod."""
        pairs = (each.partition("*") for each in self.on.split())
        return [node for node, _, count in pairs for _ in range(int(count or 1))]


@dataclass(frozen=True)
class Cluster:
    """A cluster: what its nodes have, and what other schedulers occupy on each of them."""

    nodes: dict[str, tuple[int, int]]  # milli-cores, MiB
    runs: tuple[Run, ...]
    classes: dict[str, PriorityClass] = field(default_factory=dict)
    occupied: tuple[int, int] = (0, 0)


CORE: Final = (1000, 1024)
SMALL: Final = {"node-a": (16_000, 32_768), "node-b": (16_000, 32_768)}
LARGE: Final = {**SMALL, "node-c": (16_000, 32_768)}

NORMAL: Final = Cluster(
    nodes=SMALL,
    runs=(
        Run("nightly", "root.normal.queue-1", CORE, "node-a*5 node-b*5", 600),
        Run("hourly", "root.normal.queue-2", CORE, "node-a node-b", 300, waiting=8, since=120),
    ),
)

PRIORITY_CLASS: Final = Cluster(
    nodes=SMALL,
    classes={"spared": PriorityClass(0, allow_preemption=False)},
    runs=(
        Run("etl", "root.rt.queue-1", CORE, "node-a*4 node-b*4", 600),
        Run("notebooks", "root.rt.queue-2", CORE, "node-a*4 node-b*4", 400, priority="spared"),
        Run("reports", "root.rt.queue-3", CORE, waiting=8, since=120),
    ),
)

PRIORITY_QUEUE: Final = Cluster(
    nodes=SMALL,
    runs=(
        Run("steady", "root.shared.norm-pri", (3000, 3072), "node-a*3 node-b*3", 600),
        Run("urgent", "root.shared.high-pri", (3000, 3072), waiting=5, since=120),
        Run("leisure", "root.shared.low-pri", (3000, 3072), waiting=5, since=110),
    ),
)

FENCE_TENANT: Final = Cluster(
    nodes=LARGE,
    runs=(
        Run("ingest", "root.rt.ten-a.queue-1", CORE, "node-a*5 node-b*5 node-c*5", 600),
        Run("score", "root.rt.ten-a.queue-2", CORE, waiting=15, since=200),
    ),
)

FENCE_SYSTEM: Final = Cluster(
    nodes=LARGE,
    runs=(
        Run("ingest", "root.rt.ten-a.queue-1", CORE, "node-a*5 node-b*5 node-c*5", 600),
        Run("score", "root.rt.ten-a.queue-2", CORE, waiting=15, since=200),
        Run("render", "root.rt.ten-b.queue-3", CORE, "node-a*5 node-b*5 node-c*5", 400),
        Run("mesh", "root.rt.sys", CORE, waiting=15, since=120),
    ),
)

MINUTE: Final = 60
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR
NODES: Final = [f"worker-{i}" for i in range(1, 6)]
EVERYWHERE: Final = " ".join(NODES)

QUICKSTART: Final = Cluster(
    nodes=dict.fromkeys(NODES, (32_000, 131_072)),
    occupied=(500, 1024),
    classes={
        "batch": PriorityClass(100),
        "training": PriorityClass(200),
        "interactive": PriorityClass(300, allow_preemption=False),
        "serving": PriorityClass(500),
        "system-node-critical": PriorityClass(2_000_001_000),
    },
    runs=(
        Run(
            "log-agent",
            "root.system",
            (250, 512),
            EVERYWHERE,
            40 * DAY,
            11,
            priority="system-node-critical",
            daemon=True,
        ),
        Run(
            "node-exporter",
            "root.system",
            (100, 128),
            EVERYWHERE,
            40 * DAY - HOUR,
            13,
            priority="system-node-critical",
            daemon=True,
        ),
        Run(
            "search-api",
            "root.serving",
            (3000, 12_288),
            f"{EVERYWHERE} worker-1",
            6 * DAY,
            97,
            priority="serving",
        ),
        Run(
            "ranker",
            "root.serving",
            (8000, 32_768),
            "worker-2",
            2 * DAY,
            waiting=1,
            since=4 * MINUTE,
            priority="serving",
        ),
        Run(
            "tune-ranker",
            "root.training",
            (4000, 16_384),
            "worker-4*2 worker-5",
            5 * HOUR,
            41,
            priority="training",
        ),
        Run(
            "train-embedder",
            "root.training",
            (1000, 4096),
            "worker-1",
            9 * HOUR,
            pod="train-embedder-launcher",
            priority="training",
        ),
        Run(
            "train-embedder",
            "root.training",
            (6000, 24_576),
            "worker-1 worker-2 worker-5",
            9 * HOUR - 2 * MINUTE,
            5,
            pod="train-embedder-worker",
            priority="training",
        ),
        Run(
            "train-embedder",
            "root.training",
            (6000, 24_576),
            "worker-3",
            20 * MINUTE,
            pod="train-embedder-worker",
            priority="training",
        ),
        Run(
            "jupyter-ada",
            "root.analytics.notebooks",
            (2000, 8192),
            "worker-3",
            7 * HOUR,
            priority="interactive",
        ),
        Run(
            "jupyter-bela",
            "root.analytics.notebooks",
            (2000, 8192),
            "worker-4",
            6 * HOUR,
            priority="interactive",
        ),
        Run(
            "jupyter-chris",
            "root.analytics.notebooks",
            (2000, 8192),
            "worker-3",
            5 * HOUR,
            priority="interactive",
        ),
        Run(
            "jupyter-dana",
            "root.analytics.notebooks",
            (2000, 8192),
            "worker-1",
            4 * HOUR,
            priority="interactive",
        ),
        Run(
            "jupyter-eli",
            "root.analytics.notebooks",
            (2000, 8192),
            "worker-5",
            2 * HOUR,
            priority="interactive",
        ),
        Run(
            "sessions-hourly",
            "root.analytics.etl",
            (1000, 4096),
            "worker-4",
            34 * MINUTE,
            pod="sessions-hourly-driver",
            priority="batch",
        ),
        Run(
            "sessions-hourly",
            "root.analytics.etl",
            (4000, 16_384),
            "worker-1 worker-2*3 worker-3*2 worker-4*2 worker-5*2",
            32 * MINUTE,
            7,
            pod="sessions-hourly-exec",
            priority="batch",
        ),
        Run(
            "clicks-backfill",
            "root.analytics.etl",
            (1000, 4096),
            "worker-4",
            31 * MINUTE,
            pod="clicks-backfill-driver",
            priority="batch",
        ),
        Run(
            "clicks-backfill",
            "root.analytics.etl",
            (2000, 8192),
            "worker-1*5 worker-2 worker-5*3 worker-4*2 worker-3*3",
            30 * MINUTE,
            31,
            pod="clicks-backfill-exec",
            priority="batch",
        ),
    ),
)

CLUSTERS: Final = {
    "quickstart": QUICKSTART,
    "guide-normal": NORMAL,
    "guide-priority-class": PRIORITY_CLASS,
    "guide-priority-queue": PRIORITY_QUEUE,
    "guide-fence-tenant": FENCE_TENANT,
    "guide-fence-system": FENCE_SYSTEM,
}
