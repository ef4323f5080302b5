"""The quickstart's facts: quotas, queues, and what runs in them; make.py makes objects of them.

Three teams share two kinds of GPUs. ``nlp`` has the largest quota of H100s, little running on
them, and lends the rest: ``research`` borrows 14 of them, ``platform`` 18. Then ``nlp`` submits a
training job of 16 GPUs, which its own quota covers. One GPU is free, so it wants 15 back.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

GPU: Final = "nvidia.com/gpu"

NOW: Final = datetime(2026, 11, 12, 9, 42, 10, tzinfo=UTC)
"""When the pending workload was created, and the dump taken."""
FOUNDED: Final = datetime(2026, 3, 2, 8, 15, tzinfo=UTC)
"""When the queues were set up."""

PRIORITIES: Final = {
    "low": (10, "Sweeps, ablations and whatever can wait"),
    "standard": (100, "Training and evaluation"),
    "high": (1000, "Work with a deadline"),
    "production": (10000, "Answers users of the product"),
}

# Flavor: product label of its nodes, and CPU cores and GiB of memory in quota for each GPU.
FLAVORS: Final = {
    "a100": ("NVIDIA-A100-SXM4-80GB", 16, 128),
    "h100": ("NVIDIA-H100-80GB-HBM3", 24, 256),
}
COHORTS: Final = {"company": "", "product": "company", "science": "company"}

# Owner of a quota: per flavor the GPUs, and where set a limit on borrowing or lending them.
QUOTAS: Final[dict[str, dict[str, dict[str, int]]]] = {
    "science": {"h100": {"nominalQuota": 8}},
    "product": {"h100": {"nominalQuota": 0, "borrowingLimit": 12}},
    "nlp": {"a100": {"nominalQuota": 32}, "h100": {"nominalQuota": 32}},
    "platform-batch": {
        "a100": {"nominalQuota": 16},
        "h100": {"nominalQuota": 8, "borrowingLimit": 24},
    },
    "research": {
        "a100": {"nominalQuota": 40},
        "h100": {"nominalQuota": 24, "borrowingLimit": 16},
    },
    "serving": {
        "a100": {"nominalQuota": 24, "lendingLimit": 8},
        "h100": {"nominalQuota": 24, "lendingLimit": 8},
    },
}

# ClusterQueue: cohort, team, and its policies within itself, to reclaim, and while borrowing.
QUEUES: Final = {
    "nlp": ("science", "nlp", "LowerPriority", "Any", "LowerPriority"),
    "platform-batch": ("product", "platform", "LowerPriority", "LowerPriority", "Never"),
    "research": ("science", "research", "LowerPriority", "Any", "Never"),
    "serving": ("product", "platform", "LowerPriority", "Any", "Never"),
}

LOCAL_QUEUES: Final = {
    ("nlp", "interactive"): "nlp",
    ("nlp", "training"): "nlp",
    ("platform", "batch"): "platform-batch",
    ("platform", "serving"): "serving",
    ("research", "interactive"): "research",
    ("research", "training"): "research",
}

# What runs: image, and CPU cores and GiB of memory that a pod asks for with each GPU.
WORK: Final = {
    "train": ("trainer:2026.10", 16, 192),
    "tune": ("trainer:2026.10", 12, 96),
    "sweep": ("sweep:1.14", 8, 64),
    "eval": ("evaluation:0.9", 8, 96),
    "notebook": ("notebook:5.3", 4, 32),
    "serve": ("inference:3.2", 10, 80),
}

OWNER_VERSIONS: Final = {
    "Job": "batch/v1",
    "JobSet": "jobset.x-k8s.io/v1alpha2",
    "LeaderWorkerSet": "leaderworkerset.x-k8s.io/v1",
    "PyTorchJob": "kubeflow.org/v1",
    "RayJob": "ray.io/v1",
    "StatefulSet": "apps/v1",
}


def duration(text: str) -> timedelta:
    """Read a duration such as ``1d03h20m44s``."""
    parts = re.fullmatch(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?", text)
    days, hours, minutes, seconds = (int(part or 0) for part in parts.groups()) if parts else ()
    return timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)


@dataclass(frozen=True)
class Run:
    """One workload: who owns it, what it asks for, since when it runs (nothing: it waits).

    ``waited`` and ``runs`` are durations such as ``2h07m41s``; ``checkpoint`` is how long ago
    the last one was written, ``on_signal`` how many seconds one takes when the pod is told to
    stop.
    """

    queue: str
    owner: str
    name: str
    work: str
    priority: str
    flavor: str
    pods: int
    gpus: int
    runs: str
    waited: str = "2s"
    checkpoint: str = ""
    on_signal: int = 0
    restart: int = 0
    finished: str = ""
    last_tier: bool = False

    @property
    def namespace(self) -> str:
        """The team's namespace."""
        return self.queue.partition("/")[0]

    @property
    def local_queue(self) -> str:
        """The LocalQueue it was submitted to."""
        return self.queue.partition("/")[2]

    @property
    def cluster_queue(self) -> str:
        """The ClusterQueue behind it."""
        return LOCAL_QUEUES[self.namespace, self.local_queue]

    @property
    def reserved_at(self) -> datetime:
        """When its quota was reserved."""
        return NOW - duration(self.runs)

    @property
    def created_at(self) -> datetime:
        """When it was submitted."""
        return self.reserved_at - duration(self.waited) if self.runs else NOW

    @property
    def pod_sets(self) -> list[tuple[str, int, dict[str, int]]]:
        """Name, count and requests of a pod (cores, GiB, GPUs) of each podset."""
        _, cores, memory = WORK[self.work]
        pod = {"cpu": cores * self.gpus, "memory": memory * self.gpus, GPU: self.gpus}
        if self.owner == "PyTorchJob":
            return [("master", 1, pod), ("worker", self.pods - 1, pod)]
        if self.owner == "RayJob":
            return [("head", 1, {"cpu": 4, "memory": 16}), ("workers", self.pods, pod)]
        return [("workers" if self.owner == "JobSet" else "main", self.pods, pod)]


RUNS: Final = (
    # The H100s: 96 in all, 95 in use. nlp has most of them, and uses 15.
    Run("nlp/training", "JobSet", "train-translator", "train", "high", "h100", 2, 8, ""),
    Run("nlp/training", "PyTorchJob", "finetune-legal", "train", "standard", "h100", 2, 4,
        "1d03h20m44s", checkpoint="38m10s"),
    Run("nlp/training", "Job", "eval-translation", "eval", "standard", "h100", 2, 2, "3h51m08s"),
    Run("nlp/training", "Job", "embed-index", "eval", "standard", "h100", 1, 2, "7h12m30s"),
    Run("nlp/interactive", "StatefulSet", "notebook-kim", "notebook", "standard", "h100", 1, 1,
        "2h26m02s", last_tier=True),
    # research borrows 14 H100s within its department.
    Run("research/training", "JobSet", "train-diffusion", "train", "standard", "h100", 2, 4,
        "1d06h02m19s", checkpoint="21m35s"),
    Run("research/training", "Job", "ablation", "train", "low", "h100", 2, 4,
        "9h17m53s", checkpoint="4m06s", restart=240),
    Run("research/training", "RayJob", "maze", "tune", "low", "h100", 1, 4,
        "6h40m27s", on_signal=45),
    Run("research/training", "RayJob", "walk", "tune", "low", "h100", 1, 4,
        "5h05m59s", on_signal=45),
    Run("research/training", "Job", "eval-long-context", "eval", "low", "h100", 2, 2, "2h50m14s"),
    Run("research/training", "Job", "sweep-lr-21", "sweep", "low", "h100", 1, 2, "1h14m36s"),
    Run("research/training", "Job", "sweep-lr-22", "sweep", "low", "h100", 1, 2, "1h02m05s"),
    Run("research/training", "Job", "sweep-lr-23", "sweep", "low", "h100", 1, 2, "48m51s"),
    Run("research/training", "Job", "sweep-lr-24", "sweep", "low", "h100", 1, 2, "31m22s"),
    Run("research/interactive", "StatefulSet", "notebook-ada", "notebook", "low", "h100", 1, 1,
        "2h05m40s", last_tier=True),
    Run("research/interactive", "StatefulSet", "notebook-noor", "notebook", "standard", "h100", 1,
        1, "55m17s", last_tier=True),
    # platform borrows 18 more, across departments.
    Run("platform/batch", "Job", "ranker", "train", "standard", "h100", 2, 8,
        "1d17h08m33s"),
    Run("platform/batch", "Job", "distill", "train", "low", "h100", 2, 4,
        "6h31m15s", checkpoint="7m44s", restart=240),
    Run("platform/batch", "Job", "sweep-ctr-07", "sweep", "low", "h100", 1, 2, "44m03s"),
    # serving uses what it never lends.
    Run("platform/serving", "LeaderWorkerSet", "chat-0", "serve", "production", "h100", 1, 4,
        "8d02h11m40s"),
    Run("platform/serving", "LeaderWorkerSet", "chat-1", "serve", "production", "h100", 1, 4,
        "8d02h11m38s"),
    Run("platform/serving", "LeaderWorkerSet", "chat-2", "serve", "production", "h100", 1, 4,
        "3d20h47m12s"),
    Run("platform/serving", "LeaderWorkerSet", "code-0", "serve", "production", "h100", 1, 4,
        "5d00h30m26s"),
    # The A100s: 112 in all, 98 in use.
    Run("nlp/training", "PyTorchJob", "finetune-summary", "tune", "standard", "a100", 2, 2,
        "11h48m21s", checkpoint="52m30s"),
    Run("nlp/training", "Job", "sweep-prompt-1", "sweep", "low", "a100", 1, 2, "4h33m09s"),
    Run("nlp/training", "Job", "sweep-prompt-2", "sweep", "low", "a100", 1, 2, "4h33m07s"),
    Run("nlp/training", "Job", "sweep-prompt-3", "sweep", "low", "a100", 1, 2, "2h18m55s"),
    Run("nlp/training", "Job", "eval-bleu", "eval", "standard", "a100", 1, 1, "22m48s"),
    Run("nlp/training", "Job", "embed-corpus", "eval", "standard", "a100", 2, 1, "1h36m20s"),
    Run("nlp/interactive", "StatefulSet", "notebook-lena", "notebook", "standard", "a100", 1, 1,
        "5h10m31s", last_tier=True),
    Run("nlp/interactive", "StatefulSet", "notebook-omar", "notebook", "standard", "a100", 1, 1,
        "3h44m57s", last_tier=True),
    Run("nlp/interactive", "StatefulSet", "notebook-yuki", "notebook", "standard", "a100", 1, 1,
        "1h21m16s", last_tier=True),
    Run("research/training", "PyTorchJob", "train-gnn", "tune", "standard", "a100", 2, 4,
        "2d09h15m03s", checkpoint="1h12m00s"),
    Run("research/training", "JobSet", "train-segmentation", "tune", "standard", "a100", 4, 2,
        "16h54m45s", checkpoint="29m18s"),
    Run("research/training", "Job", "simulate-flow", "tune", "standard", "a100", 1, 4, "13h07m34s"),
    Run("research/training", "Job", "denoise-scans", "tune", "standard", "a100", 2, 2, "8h26m11s"),
    Run("research/training", "RayJob", "warehouse", "tune", "low", "a100", 2, 2,
        "10h39m50s", on_signal=45),
    Run("research/training", "Job", "sweep-gnn-1", "sweep", "low", "a100", 1, 2, "3h58m42s"),
    Run("research/training", "Job", "sweep-gnn-2", "sweep", "low", "a100", 1, 2, "3h58m39s"),
    Run("research/training", "Job", "sweep-gnn-3", "sweep", "low", "a100", 1, 2, "2h41m26s"),
    Run("research/training", "Job", "sweep-gnn-4", "sweep", "low", "a100", 1, 2, "1h53m58s",
        waited="12m20s"),
    Run("research/training", "Job", "sweep-gnn-5", "sweep", "low", "a100", 1, 2, "35m44s",
        waited="1h30m02s"),
    Run("research/training", "Job", "eval-vision", "eval", "standard", "a100", 1, 2, "1h08m23s"),
    Run("research/training", "Job", "eval-audio", "eval", "standard", "a100", 1, 1, "17m05s"),
    Run("research/interactive", "StatefulSet", "notebook-ines", "notebook", "standard", "a100", 1,
        1, "6h02m49s", last_tier=True),
    Run("research/interactive", "StatefulSet", "notebook-raj", "notebook", "standard", "a100", 1,
        1, "4h19m28s", last_tier=True),
    Run("research/interactive", "StatefulSet", "notebook-tom", "notebook", "low", "a100", 1, 1,
        "26m37s", last_tier=True),
    Run("platform/batch", "JobSet", "embed-catalogue", "tune", "standard", "a100", 4, 2,
        "7h42m10s", checkpoint="1h02m10s"),
    Run("platform/batch", "Job", "backfill-features", "tune", "low", "a100", 2, 2, "5h27m52s"),
    Run("platform/batch", "Job", "sweep-ctr-05", "sweep", "low", "a100", 1, 2, "2h34m18s"),
    Run("platform/batch", "Job", "sweep-ctr-06", "sweep", "low", "a100", 1, 2, "1h47m01s"),
    Run("platform/batch", "Job", "eval-ranking", "eval", "standard", "a100", 1, 2, "41m29s"),
    Run("platform/batch", "Job", "report-quality", "eval", "standard", "a100", 2, 1, "13m56s"),
    Run("platform/serving", "LeaderWorkerSet", "search-0", "serve", "production", "a100", 1, 4,
        "12d05h39m14s"),
    Run("platform/serving", "LeaderWorkerSet", "search-1", "serve", "production", "a100", 1, 4,
        "12d05h39m11s"),
    Run("platform/serving", "LeaderWorkerSet", "rank-0", "serve", "production", "a100", 1, 4,
        "6d22h03m47s"),
    Run("platform/serving", "LeaderWorkerSet", "rank-1", "serve", "production", "a100", 1, 4,
        "6d22h03m45s"),
    Run("platform/serving", "LeaderWorkerSet", "speech-0", "serve", "production", "a100", 1, 2,
        "2d14h52m06s"),
    # Done, and not yet cleaned up: they hold nothing.
    Run("nlp/training", "Job", "eval-baseline", "eval", "standard", "h100", 1, 2, "5h00m12s",
        finished="3h51m30s"),
    Run("research/training", "Job", "sweep-lr-20", "sweep", "low", "h100", 1, 2, "2h20m51s",
        finished="31m40s"),
    Run("platform/batch", "Job", "report-drift", "eval", "standard", "a100", 2, 1, "1h30m25s",
        finished="14m10s"),
)  # fmt: skip
